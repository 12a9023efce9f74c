package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
	"stepbox.dev/host/store"
)

// inspected is skills inspect --json, and what install and try show first.
type inspected struct {
	Kind        string `json:"kind"` // skill or engine
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	identity
	// Problem is why it can be neither installed nor tried.
	Problem  string            `json:"problem,omitempty"`
	Declares store.Declaration `json:"declares"`
	// Protected says that it may ask for changes to protected names.
	Protected bool          `json:"may_ask_for_protected_names"`
	ABI       int           `json:"abi"`
	Size      int64         `json:"size"`
	Digest    string        `json:"digest"` // of the manifest
	File      string        `json:"file"`   // SHA-256 of the whole file
	Module    bundle.Part   `json:"module"`
	Files     []bundle.File `json:"files"`
}

func newSkillsInspect(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect FILE.wasm",
		Short: "Say who made a bundle and what it can do, without running any of it",
		Long: `Inspect reads a bundle, checks every part of it against its manifest, and says who
signed it, what its tools may touch, which engines and limits it asks for, and
its sizes and digests. The module is not run.`,
		Example:     `  stepbox skills inspect files.wasm`,
		Args:        args(1, 1, "a FILE.wasm"),
		Annotations: exitCodes(fault.Usage, fault.Stopped, fault.CheckFailed),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			c, err := store.Examine(args[0])
			if err != nil {
				return err
			}
			i, err := inspect(h.Store(), c)
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(i)
			} else {
				err = a.write([]byte(i.text()))
			}
			if err != nil {
				return err
			}
			return c.Sound()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func inspect(s *store.Store, c *store.Candidate) (inspected, error) {
	m := c.Bundle.Manifest
	i := inspected{
		Kind: m.Kind, Name: m.Name, Version: m.Version, Declares: c.Declares, ABI: m.ABI,
		Size: c.Size(), Digest: c.Digest(), File: c.FileDigest(), Module: m.Module, Files: m.Files,
	}
	if c.Skill != nil {
		i.Description = c.Skill.Description()
	} else {
		i.Description = c.Engine.Description()
	}
	for _, t := range c.Declares.Tools {
		i.Protected = i.Protected || t.May == "create" || t.May == "write"
	}
	var err error
	if i.identity, err = identify(s, c.Signer, c.SignatureError); err != nil {
		return i, err
	}
	if err := c.Sound(); err != nil {
		i.Problem = err.Error()
	}
	return i, nil
}

// text is it in words.
func (i inspected) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, %s\n", display.Clean(i.Name), display.Clean(i.Version), map[string]string{bundle.KindEngine: "an engine", bundle.KindSkill: "a skill"}[i.Kind])
	display.Said(&b, i.Description)
	rows := [][]string{{"made by", i.maker()}}
	if i.Problem != "" {
		rows = append(rows, []string{"REFUSED", i.Problem})
	}
	if i.Declares.Licence != "" {
		rows = append(rows, []string{"licence", display.Clip(i.Declares.Licence, 100)})
	}
	display.Table(&b, rows)
	if i.Kind == bundle.KindSkill {
		i.tools(&b)
	}
	b.WriteString("it gets no network, no environment, and no file outside the sandbox\n")
	l := i.Declares.Limits
	rows = [][]string{
		{"limits", strings.Join([]string{limit("memory", l.MemoryMB, "MB"), limit("a step", l.StepSeconds, "s"), limit("output", l.OutputMB, "MB"), limit("files", l.Files, "")}, ", ")},
	}
	if len(i.Declares.WasmFeatures) > 0 {
		rows = append(rows, []string{"features", strings.Join(i.Declares.WasmFeatures, ", ")})
	}
	rows = append(rows,
		[]string{"size", fmt.Sprintf("%s: module %s, %d files", display.Size(i.Size), display.Size(i.Module.Size), len(i.Files))},
		[]string{"digest", i.Digest}, []string{"module", i.Module.SHA256}, []string{"file", i.File})
	display.Table(&b, rows)
	return b.String()
}

// tools groups tools by what they may do, the most harmful first.
func (i inspected) tools(b *strings.Builder) {
	byMode := map[string][]string{}
	for _, t := range i.Declares.Tools {
		byMode[t.May] = append(byMode[t.May], t.Name)
	}
	for _, mode := range []string{"write", "create", "read", "none"} {
		if names := byMode[mode]; len(names) > 0 {
			fmt.Fprintf(b, "%s:\n  %s\n", display.May(mode), display.Clip(strings.Join(names, ", "), 2000))
		}
	}
	if i.Protected {
		b.WriteString("it may ask to change protected names (.git, .envrc, .bashrc, keys and the like), each of which needs a yes of its own\n")
	}
	for _, e := range i.Declares.Engines {
		fmt.Fprintf(b, "it runs the engine %s  %s\n", display.Clean(e.Name), display.Clean(e.Digest))
	}
}

func limit(what string, n int, unit string) string {
	if n == 0 {
		return what + " as usual"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", what, n, unit))
}
