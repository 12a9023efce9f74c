package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
	"stepbox.dev/host/store"
)

var installCodes = []fault.Kind{fault.Usage, fault.NotApproved, fault.Stopped, fault.CheckFailed, fault.Interrupted}

func newInstall(a *app) *cobra.Command {
	var o host.InstallOptions
	cmd := &cobra.Command{
		Use:   "install FILE.wasm",
		Short: "Install a bundle: a skill that can then be named, or an engine",
		Long: `Install shows who signed the bundle and what it can do, asks, compiles it without
running it, and pins what was agreed to: the digest, which is checked at every
run, and the signer, who alone can update it.`,
		Example:     `  stepbox install files.wasm --allow-unsigned --yes`,
		Args:        args(1, 1, "a FILE.wasm"),
		Annotations: exitCodes(installCodes...),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			return a.install(cmd.Context(), h, args[0], o)
		},
	}
	installFlags(cmd, &o)
	return cmd
}

func installFlags(cmd *cobra.Command, o *host.InstallOptions) {
	cmd.Flags().BoolVar(&o.Unsigned, "allow-unsigned", false, "take a bundle that nobody signed; this is remembered and shown")
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "agree to what it declares; a signer who is new for it still needs a person")
}

// install installs or updates one bundle.
func (a *app) install(ctx context.Context, h *host.Host, path string, o host.InstallOptions) error {
	c, err := store.Examine(path)
	if err != nil {
		return err
	}
	f := a.front(false)
	asked := false
	if f.person != nil {
		o.Agree = func(ctx context.Context, p *store.Proposal) (bool, error) {
			asked = true
			i, err := inspect(h.Store(), c)
			if err != nil {
				return false, err
			}
			return f.agree(ctx, proposal(p, i), agreement(p))
		}
	}
	o.Compiling = func() { fmt.Fprintf(a.errs, "compiling %s\n", display.Clean(c.Bundle.Manifest.Name)) }
	p, err := h.Install(ctx, c, o)
	if err != nil {
		return err
	}
	if p.Old != nil && !asked { // agreed to beforehand, not unseen
		fmt.Fprint(a.errs, changed(p.Differences))
	}
	for _, e := range p.Missing {
		fmt.Fprintf(a.errs, "it runs the engine %s, which is not installed: get %s.wasm where this came from, and stepbox install it (its module is %s)\n",
			display.Clean(e.Name), display.Clean(e.Name), display.Clean(e.Digest))
	}
	by := ""
	if p.New.Signer != nil {
		by = ", signed by " + p.New.Signer.Name
	} else {
		by = ", unsigned"
	}
	line := fmt.Sprintf("installed %s %s%s", display.Clean(p.New.Name), display.Clean(p.New.Version), display.Clean(by))
	return a.done(line, line)
}

// proposal is what a person agrees to, in words.
func proposal(p *store.Proposal, i inspected) string {
	var b strings.Builder
	if p.Old == nil {
		b.WriteString(i.text(false))
	} else {
		fmt.Fprintf(&b, "%s %s, installed as %s\nmade by  %s\n", display.Clean(i.Name), display.Clean(i.Version), display.Clean(p.Old.Version), display.Clean(i.maker()))
		b.WriteString(changed(p.Differences))
	}
	if p.SignerIs != "" {
		fmt.Fprintf(&b, "who signed it is %s\ninstalling it means trusting this key, and only this one, for %s: compare it with its maker\n  %s\n",
			display.Clean(p.SignerIs), display.Clean(p.New.Name), display.Clean(string(p.New.Signer.Key)))
	}
	return b.String()
}

// agreement is the question. Who made it stands in it: a long list may have
// scrolled that away.
func agreement(p *store.Proposal) string {
	by := "UNSIGNED"
	if p.New.Signer != nil {
		by = "signed by " + display.Clean(p.New.Signer.Name)
	}
	return fmt.Sprintf("install %s %s, %s?", display.Clean(p.New.Name), display.Clean(p.New.Version), by)
}

// maxDifferences is how many of them are shown: what a stranger lists must not
// push the rest away.
const maxDifferences = 80

// changed says what an update changes.
func changed(list []store.Difference) string {
	word := func(what, s string) string {
		switch {
		case s == "":
			return "none"
		case what == "tool":
			return display.May(s)
		}
		return s
	}
	// Tools come last, of which there may be many, the most harmful of them first.
	harm := func(d store.Difference) int {
		if d.What != "tool" {
			return -1
		}
		return slices.Index([]string{"write", "create", "read", "none", ""}, d.After)
	}
	slices.SortStableFunc(list, func(a, b store.Difference) int { return harm(a) - harm(b) })
	var rows [][]string
	for _, d := range list {
		rows = append(rows, []string{"  " + d.What, d.Name, display.Clip(word(d.What, d.Before), 200) + " → " + display.Clip(word(d.What, d.After), 200)})
	}
	var b strings.Builder
	if len(rows) > 0 {
		b.WriteString("what changes\n")
	}
	display.Table(&b, rows[:min(len(rows), maxDifferences)])
	if n := len(rows) - maxDifferences; n > 0 {
		fmt.Fprintf(&b, "  … and %d more tools, none of them more harmful\n", n)
	}
	return b.String()
}

func newRemove(a *app) *cobra.Command {
	var engine bool
	cmd := &cobra.Command{
		Use:               "remove NAME",
		ValidArgsFunction: a.completeInstalled,
		Short:             "Remove an installed skill or engine",
		Example:           `  stepbox install files.wasm --allow-unsigned --yes && stepbox remove files`,
		Args:              args(1, 1, "the NAME of an installed skill or engine"),
		Annotations:       exitCodes(fault.Usage, fault.Stopped, fault.CheckFailed),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			kind, name := bundle.KindSkill, args[0]
			if _, found, err := h.Store().Find(kind, name); err != nil {
				return err
			} else if !found || engine {
				kind = bundle.KindEngine
			}
			if err := h.Store().Remove(cmd.Context(), kind, name); err != nil {
				return err
			}
			line := "removed " + display.Clean(name)
			return a.done(line, line)
		},
	}
	cmd.Flags().BoolVar(&engine, "engine", false, "remove the engine of that name, not the skill")
	return cmd
}
