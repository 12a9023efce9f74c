package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/evaluate"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

func newEval(a *app) *cobra.Command {
	var corpus, snapshot, sandbox string
	var asJSON, wrong, execute bool
	cmd := &cobra.Command{
		Use:   "eval SKILL --corpus FILE",
		Short: "Score how well a skill's requests are understood",
		Long: `Eval plans every request of a corpus, a file with one JSON object a line, and
scores the plans against what is expected: outcome, tool, the sequence of tools,
and the arguments where the corpus has gold plans. Nothing runs and no file need
exist, unless --execute is given. With --snapshot the scores become a bar: the first time FILE is written,
later any score below it fails.

With --execute the plans run as well, each on a stage of the folder --sandbox
that is thrown away: nothing in it changes. What a row says in success_criteria is
compared with the fields of the last result that have these names (max_ and min_
before a name are bounds); expected_tool and output_exists are about the run.`,
		Example: `  echo '{"utterance":"list the pdf files in inbox","expected_outcome":"plan","expected_tool":"list_files"}' |
    stepbox eval files --corpus -`,
		Args:              args(1, 1, "SKILL"),
		Annotations:       exitCodes(fault.Usage, fault.CheckFailed),
		ValidArgsFunction: a.completeSkill,
		RunE: func(cmd *cobra.Command, given []string) error {
			rows, err := a.readCorpus(corpus)
			if err != nil {
				return err
			}
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			s, err := h.Skill(cmd.Context(), given[0])
			if err != nil {
				return err
			}
			report, cases, err := evaluate.Run(cmd.Context(), s, nil, rows)
			if err != nil {
				return err
			}
			if execute {
				if report.Execution, err = a.rehearse(cmd.Context(), given[0], sandbox, cases); err != nil {
					return err
				}
			}
			if err := a.printReport(report, cases, asJSON, wrong); err != nil {
				return err
			}
			if snapshot == "" {
				return nil
			}
			return compareSnapshot(snapshot, report)
		},
	}
	f := cmd.Flags()
	f.StringVar(&corpus, "corpus", "", "the corpus, `FILE` (- is standard input)")
	f.StringVar(&snapshot, "snapshot", "", "the scores to hold, `FILE`; written when it is not there")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.BoolVar(&execute, "execute", false, "run the plans too, on stages that are thrown away")
	f.StringVar(&sandbox, "sandbox", "", "the folder that --execute runs on, `DIR` (default: the working directory)")
	f.BoolVar(&wrong, "wrong", false, "list what was understood wrongly too")
	return cmd
}

// rehearse runs the plans. Their records belong to no list of runs: they lie in a
// state folder of their own.
func (a *app) rehearse(ctx context.Context, skill, sandbox string, cases []evaluate.Case) (*evaluate.Execution, error) {
	state, err := os.MkdirTemp("", "stepbox-eval-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(state)
	h, err := host.New(ctx, host.Options{State: state, Skills: a.skills, Overrides: a.overrides})
	if err != nil {
		return nil, err
	}
	e, err := evaluate.Execute(ctx, rehearsal{h, host.Request{Skill: skill, Sandbox: sandbox, DryRun: true, Rehearse: true}}, cases)
	return &e, err
}

// rehearsal runs plans on stages that are thrown away.
type rehearsal struct {
	host    *host.Host
	request host.Request
}

// Rehearse implements evaluate.Runner.
func (r rehearsal) Rehearse(ctx context.Context, plan []byte) (host.Result, error) {
	r.request.Plan = plan
	return r.host.Run(ctx, r.request, nil, event.Discard)
}

func (a *app) readCorpus(name string) ([]evaluate.Row, error) {
	if name == "" {
		return nil, fault.New(fault.Usage, "no corpus given").Hint("add --corpus FILE")
	}
	if name == "-" && a.in != nil {
		return evaluate.Load(a.in, "standard input")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fault.New(fault.Usage, "corpus: %w", err)
	}
	defer f.Close()
	return evaluate.Load(f, name)
}

func (a *app) printReport(r evaluate.Report, cases []evaluate.Case, asJSON, wrong bool) error {
	listed := []evaluate.Case(nil)
	if wrong {
		listed = evaluate.Wrong(cases)
	}
	if asJSON {
		return a.printJSON(struct {
			evaluate.Report
			Wrong []evaluate.Case `json:"wrong,omitempty"`
		}{r, listed})
	}
	var b strings.Builder
	b.WriteString(r.Text())
	if wrong && r.Execution != nil {
		for _, f := range r.Execution.Failed {
			fmt.Fprintf(&b, "\n%s\n  ran: %s\n", display.Clean(f.Utterance), display.Clean(strings.Join(append(f.Missed, f.Error), " ")))
		}
	}
	for _, c := range listed {
		want, err := json.Marshal(c.Want)
		if err != nil {
			return err
		}
		got, err := json.Marshal(c.Got)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n%s\n  want %s %s %s\n  got  %s %s\n", display.Clean(c.Utterance), c.Expected, c.WantTool, want, c.Outcome, got)
	}
	return a.write([]byte(b.String()))
}

// compareSnapshot holds the scores against the bar in a file, or writes it.
func compareSnapshot(name string, r evaluate.Report) error {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		out, err := json.MarshalIndent(r.Snapshot(), "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, append(out, '\n'), 0o644); err != nil {
			return fault.New(fault.Usage, "snapshot: %w", err)
		}
		return nil
	}
	if err != nil {
		return fault.New(fault.Usage, "snapshot: %w", err)
	}
	bar, err := evaluate.ParseSnapshot(data)
	if err != nil {
		return err
	}
	if below := bar.Below(r); len(below) > 0 {
		return fault.New(fault.CheckFailed, "below the bar of %q: %s", name, strings.Join(below, "; ")).Hint("mend the contract, or remove the file to set a new bar")
	}
	return nil
}
