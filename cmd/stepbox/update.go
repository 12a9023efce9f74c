package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/host"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/store"
)

func newUpdate(a *app) *cobra.Command {
	var o host.InstallOptions
	o.Update = true
	cmd := &cobra.Command{
		Use:               "update [NAME|FILE.wasm…]",
		ValidArgsFunction: a.completeInstalled,
		Short:             "Update what is installed, and show what that changes",
		Long: `Update takes a newer bundle: the given file, or for a name the file that it was
installed from. It shows what changes in what the skill may do, in its engines,
limits and signer, and asks. Without arguments it looks at everything installed.`,
		Example:     `  stepbox update`,
		Args:        args(0, -1, "names or files"),
		Annotations: exitCodes(installCodes...),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			paths, bad, err := sources(h.Store(), args)
			if err != nil {
				return err
			}
			for _, path := range paths {
				if err := a.install(cmd.Context(), h, path, o); len(paths)+len(bad) == 1 || cmd.Context().Err() != nil {
					return err
				} else if err != nil {
					bad = append(bad, err)
				}
			}
			if len(paths)+len(bad) == 0 {
				return a.printf("what is installed is as new as the files that it came from\n")
			}
			return all(bad)
		},
	}
	installFlags(cmd, &o)
	return cmd
}

// all joins what went wrong with some of several: the others are done. It is of
// the kind that all of them are of.
func all(bad []error) error {
	if len(bad) == 0 {
		return nil
	}
	if len(bad) == 1 {
		return bad[0]
	}
	kind := fault.Of(bad[0])
	var lines []string
	for _, err := range bad {
		if fault.Of(err) != kind {
			kind = fault.CheckFailed
		}
		line := err.Error()
		if next := fault.Next(err); next != "" {
			line += ": " + next
		}
		lines = append(lines, line)
	}
	return fault.New(kind, "%d could not be updated:\n%s", len(bad), strings.Join(lines, "\n"))
}

// sources are the files to update from: those that are given, and of what is
// installed, or of the given names of it, those that hold something else by now.
// bad says which of them cannot be looked at, or are something else altogether.
func sources(s *store.Store, given []string) (paths []string, bad []error, err error) {
	entries, err := s.Entries()
	if err != nil {
		return nil, nil, err
	}
	// The newest comes first; an older engine stays for a skill that names it.
	entries = slices.CompactFunc(entries, func(a, b store.Entry) bool { return a.Kind == b.Kind && a.Name == b.Name })
	wanted := entries
	if len(given) > 0 {
		wanted = nil
	}
	for _, g := range given {
		if strings.HasSuffix(g, ".wasm") {
			paths = append(paths, g)
			continue
		}
		before := len(wanted)
		for _, e := range entries {
			if e.Name == g {
				wanted = append(wanted, e)
			}
		}
		if len(wanted) == before {
			return nil, nil, fault.New(fault.Usage, "nothing called %q is installed", g).Hint("stepbox skills list says what is; a file ends in .wasm")
		}
	}
	for _, e := range wanted {
		c, err := store.Examine(e.Source)
		switch {
		case err != nil:
			bad = append(bad, fault.New(fault.CheckFailed, "%s cannot be updated from where it came: %w", e.Name, err).
				Hint("stepbox update FILE.wasm takes it from elsewhere"))
		case c.Bundle.Manifest.Name != e.Name || c.Bundle.Manifest.Kind != e.Kind:
			bad = append(bad, fault.New(fault.CheckFailed, "%s cannot be updated from where it came: %q holds the %s %q by now", e.Name, e.Source, c.Bundle.Manifest.Kind, c.Bundle.Manifest.Name).
				Hint("stepbox update FILE.wasm takes it from elsewhere"))
		case c.FileDigest() != e.File && !slices.Contains(paths, e.Source):
			paths = append(paths, e.Source)
		}
	}
	return paths, bad, nil
}
