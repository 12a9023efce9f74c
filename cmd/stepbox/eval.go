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
	"stepbox.dev/host/evaluate"
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
exist, unless --execute is given. With --snapshot the scores become a bar: the
first time FILE is written, later any score below it fails.

With --execute the plans that are right run as well, as many at once as there are
processors, and nothing that they change is kept; a row with "grade": "routing"
is scored by its plan alone. What a row says in success_criteria is compared
with the results of the run:

  expected_tool, output_exists   are about the plan, and whether a file is made
  NAME: "a,b"     the field NAME of the last result that has it, a list of names
                  with commas too, has one of them. Other names of a value are
                  those that the skill's contract has for its argument NAME;
                  "none" is an empty field
  NAME: ["a","b"] the field, one text or several, contains each of these
  max_N, min_N    bounds of the field N
  NAME: anything  the field is the same

Where a row has outputs, a list with criteria for each call of the plan in order,
these count instead, each for the results of its call; the score of a request is
then the mean over the outputs. A request passes when its plan ends well and all
its criteria are met; one that no result has a field for is not met. What the
skill refuses before a step runs is told apart.

A row with a fixture runs in a folder of its own with that file and those of
--sandbox that the plan reads, and nothing else. What it reads and is nowhere is
the fixture under that name when the plan reads nothing that is there, or when
another row's fixture is called so. Without --sandbox the files are those that the
skill's own testdata/fixtures makes, when it is a source folder that has one, and
else those of the working directory. What has no file to run on is not run and
counts nowhere.`,
		Example: `  echo '{"utterance":"list the pdf files in inbox","expected_outcome":"plan","expected_tool":"list_files"}' |
    stepbox eval files --corpus -`,
		Args:              args(1, 1, "SKILL"),
		Annotations:       exitCodes(fault.Usage, fault.CheckFailed),
		ValidArgsFunction: a.completeSkill,
		RunE: func(cmd *cobra.Command, given []string) error {
			rows, err := a.readCorpus(cmd.Context(), corpus)
			if err != nil {
				return err
			}
			_, s, err := a.skill(cmd.Context(), given[0])
			if err != nil {
				return err
			}
			report, cases, err := evaluate.Run(cmd.Context(), s, nil, rows)
			if err != nil {
				return err
			}
			var broken error
			if execute {
				r := rehearsal{app: a, skill: s, name: given[0], sandbox: sandbox}
				if report.Execution, broken = r.run(cmd.Context(), cases); report.Execution == nil {
					return broken
				}
			}
			if err := a.printReport(report, cases, asJSON, wrong); err != nil {
				return err
			}
			if broken != nil || snapshot == "" {
				return broken
			}
			return compareSnapshot(snapshot, report)
		},
	}
	f := cmd.Flags()
	f.StringVar(&corpus, "corpus", "", "the corpus, `FILE` (- is standard input)")
	f.StringVar(&snapshot, "snapshot", "", "the scores to hold, `FILE`; written when it is not there")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.BoolVar(&execute, "execute", false, "run the plans too, and keep nothing of what they do")
	f.StringVar(&sandbox, "sandbox", "", "the folder with the files that --execute runs on, `DIR`")
	f.BoolVar(&wrong, "wrong", false, "list what was understood wrongly too")
	return cmd
}

// readCorpus reads the corpus, until ctx ends: what is given may be a pipe that
// nobody writes to.
func (a *app) readCorpus(ctx context.Context, name string) ([]evaluate.Row, error) {
	if name == "" {
		return nil, fault.New(fault.Usage, "no corpus given").Hint("add --corpus FILE")
	}
	type corpus struct {
		rows []evaluate.Row
		err  error
	}
	done := make(chan corpus, 1)
	go func() {
		rows, err := a.loadCorpus(name)
		done <- corpus{rows, err}
	}()
	select {
	case c := <-done:
		return c.rows, c.err
	case <-ctx.Done():
		return nil, fault.New(fault.Interrupted, "interrupted: the corpus %q was not read to its end", name)
	}
}

func (a *app) loadCorpus(name string) ([]evaluate.Row, error) {
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
	if r.Execution != nil && len(r.Execution.Failed) > 0 {
		b.WriteString("\nexecuted, and not as it should be\n")
		for _, f := range r.Execution.Failed {
			name, uncounted := "", ""
			if f.ID != "" {
				name = display.Clean(f.ID) + ": "
			}
			if !f.Judged {
				uncounted = " (no criteria: not counted)"
			}
			fmt.Fprintf(&b, "  %s%s%s\n    %s\n", name, display.Clean(f.Utterance), uncounted, display.Clip(f.Reason(), 400))
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
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fault.New(fault.Usage, "snapshot: %q is no regular file", name)
	}
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
