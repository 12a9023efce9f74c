package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill"
)

func newSkillsPack(a *app) *cobra.Command {
	var out, signAs string
	cmd := &cobra.Command{
		Use:   "pack DIR",
		Short: "Make one .wasm file of a skill's or an engine's folder",
		Long: `Pack writes a bundle: the module with its contract and data in custom sections,
which every other tool skips. The same folder makes the same bytes. A source
folder is built with Go first.`,
		Example:     `  stepbox skills unpack files.wasm mine && stepbox skills pack mine -o mine.wasm`,
		Args:        args(1, 1, "a folder"),
		Annotations: exitCodes(fault.Usage, fault.Stopped, fault.CheckFailed, fault.Interrupted),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			name, wasm, err := h.Pack(cmd.Context(), args[0], signAs)
			if err != nil {
				return err
			}
			if out == "" {
				out = name + ".wasm"
			}
			if err := replaceFile(out, wasm); err != nil {
				return err
			}
			line := display.Clean(out) + "  " + display.Size(int64(len(wasm)))
			return a.done("written: "+line, line)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` (default: NAME.wasm)")
	cmd.Flags().StringVar(&signAs, "sign", "", "sign it with the key `NAME` (see stepbox keys new)")
	return cmd
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".pack-*")
	if err != nil {
		return fault.New(fault.Usage, "%q cannot be written: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fault.New(fault.Usage, "%q cannot be written: %w", path, err), os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func newSkillsUnpack(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "unpack FILE.wasm [DIR]",
		Short: "Make a skill's folder of a bundle again",
		Long: `Unpack writes the contract, the data and the module of a bundle into a new folder
(default: the name of the skill). Packing that folder gives the bundle back.`,
		Example:     `  stepbox skills unpack files.wasm mine`,
		Args:        args(1, 2, "FILE.wasm [DIR]"),
		Annotations: exitCodes(fault.Usage, fault.CheckFailed),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := unpackable(args[0])
			if err != nil {
				return err
			}
			dir := s.Name()
			if len(args) == 2 {
				dir = args[1]
			}
			if err := s.Unpack(dir); err != nil {
				return err
			}
			return a.done("written: "+display.Clean(dir), display.Clean(dir))
		},
	}
}

// unpacker is a skill or an engine that was loaded from a bundle.
type unpacker interface {
	Name() string
	Unpack(dir string) error
}

func unpackable(path string) (unpacker, error) {
	if skill.IsEngine(path) {
		return skill.LoadEngine(path)
	}
	return skill.Load(path, skill.Options{})
}
