package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill"
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
			_, c, i, err := a.examine(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(i)
			} else {
				err = a.write([]byte(i.text(false)))
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

// examine reads a stranger's bundle and what is known about it.
func (a *app) examine(ctx context.Context, path string) (*host.Host, *store.Candidate, inspected, error) {
	h, err := a.host(ctx)
	if err != nil {
		return nil, nil, inspected{}, err
	}
	c, err := store.Examine(path)
	if err != nil {
		return nil, nil, inspected{}, err
	}
	i, err := inspect(h.Store(), c)
	return h, c, i, err
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
	if i.identity, err = identify(s, m, c.Signer, c.SignatureError); err != nil {
		return i, err
	}
	if err := c.Sound(); err != nil {
		i.Problem = err.Error()
	}
	return i, nil
}

// text is it in words: who made it first, before anything that it says itself.
// trial says that it would run with the limits of a trial.
func (i inspected) text(trial bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, %s\n", display.Clean(i.Name), display.Clean(i.Version), map[string]string{bundle.KindEngine: "an engine", bundle.KindSkill: "a skill"}[i.Kind])
	rows := [][]string{{"made by", i.maker()}}
	if i.Problem != "" {
		rows = append(rows, []string{"REFUSED", display.Clip(i.Problem, 1000)})
	}
	display.Table(&b, rows)
	display.Said(&b, i.Description)
	if i.Kind == bundle.KindSkill {
		i.tools(&b)
	}
	b.WriteString("it gets no network, no environment, and no file outside the sandbox\n")
	rows = nil
	if i.Declares.Licence != "" {
		rows = append(rows, []string{"licence", display.Clip(i.Declares.Licence, 100)})
	}
	rows = append(rows, []string{"limits", i.limits(trial)})
	if len(i.Declares.WasmFeatures) > 0 {
		rows = append(rows, []string{"features", display.Clip(strings.Join(i.Declares.WasmFeatures, ", "), 200)})
	}
	rows = append(rows,
		[]string{"size", fmt.Sprintf("%s: module %s, %d files", display.Size(i.Size), display.Size(i.Module.Size), len(i.Files))},
		[]string{"digest", i.Digest}, []string{"module", i.Module.SHA256}, []string{"file", i.File})
	display.Table(&b, rows)
	return b.String()
}

// maxNames is how many tools of one kind are named.
const maxNames = 40

// tools groups tools by what they may do, the most harmful first.
func (i inspected) tools(b *strings.Builder) {
	byMode := map[string][]string{}
	for _, t := range i.Declares.Tools {
		byMode[t.May] = append(byMode[t.May], t.Name)
	}
	for _, mode := range []string{"write", "create", "read", "none"} {
		names := byMode[mode]
		if len(names) == 0 {
			continue
		}
		more := ""
		if n := len(names) - maxNames; n > 0 {
			names, more = names[:maxNames], fmt.Sprintf(" and %d more, which stepbox skills tools lists", n)
		}
		fmt.Fprintf(b, "%s:\n  %s%s\n", display.May(mode), display.Clean(strings.Join(names, ", ")), more)
	}
	if i.Protected {
		b.WriteString("it may ask to change protected names (.git, .envrc, .bashrc, keys and the like), each of which needs a yes of its own\n")
	}
	for _, e := range i.Declares.Engines {
		fmt.Fprintf(b, "it runs the engine %s  %s\n", display.Clean(e.Name), display.Clean(e.Digest))
	}
}

// limits are those that it gets, not those that it asks for.
func (i inspected) limits(trial bool) string {
	l := host.Granted(skill.Limits(i.Declares.Limits), trial)
	if i.Kind == bundle.KindEngine {
		return fmt.Sprintf("memory %s, silent for at most %d s", megabytes(l.MemoryMB), l.StepSeconds)
	}
	return fmt.Sprintf("memory %s, a step %d s, output %s, files %d", megabytes(l.MemoryMB), l.StepSeconds, megabytes(l.OutputMB), l.Files)
}

func megabytes(n int) string {
	if n >= 1024 && n%1024 == 0 {
		return fmt.Sprintf("%d GB", n/1024)
	}
	return fmt.Sprintf("%d MB", n)
}
