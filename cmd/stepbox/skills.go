package main

import (
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/store"
)

func newSkills(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:         "skills",
		Aliases:     []string{"skill"},
		Short:       "List and show skills, pack, unpack and inspect bundles",
		Example:     `  stepbox skills show files`,
		Annotations: exitCodes(fault.Usage),
	}, newSkillsList(a), newSkillsShow(a), newSkillsTools(a), newSkillsLint(a), newSkillsPack(a), newSkillsUnpack(a), newSkillsInspect(a))
}

// listedSkill is one skill in skills list --json.
type listedSkill struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Title       string `json:"title"`
	Tagline     string `json:"tagline"`
	Description string `json:"description"`
	Status      string `json:"status"` // active, stale, broken
	From        string `json:"from"`
	Path        string `json:"path"`
	// Signer of an installed skill; Unsigned is one that somebody allowed
	// although nobody signed it.
	Signer   *store.Signer `json:"signer,omitempty"`
	Unsigned bool          `json:"unsigned,omitempty"`
	Error    string        `json:"error,omitempty"`
}

func listed(f host.Found) listedSkill {
	l := listedSkill{Name: f.Name, From: f.From, Path: f.Path, Status: "active", Signer: f.Signer, Unsigned: f.Unsigned}
	if f.Skill == nil {
		l.Status = "broken"
		if f.Err != nil {
			l.Error = f.Err.Error()
		}
		return l
	}
	s := f.Skill
	if s.Stale() {
		l.Status = "stale"
	}
	l.Version, l.Title, l.Tagline, l.Description = s.Version(), s.Title(), s.Tagline(), s.Description()
	return l
}

func newSkillsList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "list",
		Short:       "List the skills that can be named",
		Example:     `  stepbox skills list`,
		Args:        args(0, 0, "no arguments"),
		Annotations: exitCodes(fault.Usage),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			found, err := h.Skills(cmd.Context())
			if err != nil {
				return err
			}
			all := make([]listedSkill, len(found))
			for i, f := range found {
				all[i] = listed(f)
			}
			if asJSON {
				return a.printJSON(struct {
					Skills []listedSkill `json:"skills"`
				}{all})
			}
			return a.printSkills(all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) printSkills(all []listedSkill) error {
	if len(all) == 0 {
		display.Failure(a.errs, "no skill is known", nil, "name a skill's folder, for example ./skills/files, or give --skills DIR")
		return nil
	}
	rows := [][]string{{"NAME", "VERSION", "FROM", ""}}
	for _, s := range all {
		about := s.Tagline
		if about == "" {
			about = s.Description
		}
		switch s.Status {
		case "stale":
			about = "(stale) " + about
		case "broken":
			about = "broken: " + s.Error
		}
		from := s.From
		if s.Unsigned {
			from += ", UNSIGNED"
		}
		rows = append(rows, []string{s.Name, s.Version, from, display.Clip(about, 200)})
	}
	var b strings.Builder
	display.Table(&b, rows)
	return a.write([]byte(b.String()))
}
