package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/abi"
	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

func newPlan(a *app) *cobra.Command {
	var r requestFlags
	var expanded bool
	var batch string
	cmd := &cobra.Command{
		Use:   "plan [SKILL] REQUEST",
		Short: "Show the plan of a request and run nothing",
		Long: `Plan shows the validated plan of a request. With --expanded it also shows the
steps that will run: intents are expanded in the guest, which sees no file.
With --batch every line of a file is a request, and a line of JSON comes out for
each; only SKILL is given then.`,
		Example:           `  stepbox plan files "zip every log file in logs into logs.zip" --expanded`,
		Args:              cobra.ArbitraryArgs,
		Annotations:       exitCodes(fault.Usage, fault.Question, fault.Refused, fault.Stopped, fault.CheckFailed, fault.Interrupted),
		ValidArgsFunction: a.completeSkill,
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := r.check(); err != nil {
				return err
			}
			if batch != "" {
				return a.planBatch(cmd, r.Request, given, expanded, batch)
			}
			if err := args(1, 2, "[SKILL] REQUEST")(cmd, given); err != nil {
				return err
			}
			r.Skill, r.Utterance = skillAndRequest(given)
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			p, err := h.Plan(cmd.Context(), r.Request, expanded, notices{a.front(false)})
			if p.Skill == "" { // it ended before there was anything to plan
				return err
			}
			if r.json {
				if jerr := a.printJSON(p); jerr != nil {
					return jerr
				}
				return err
			}
			if err != nil {
				return err
			}
			return a.printPlan(p)
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.Sandbox, "sandbox", "", "the folder that the plan is for, `DIR` (default: the working directory)")
	f.BoolVar(&r.json, "json", false, "print one JSON object")
	f.BoolVar(&expanded, "expanded", false, "show the steps that the plan stands for too")
	f.StringVar(&batch, "batch", "", "plan each line of `FILE` (- is standard input)")
	r.addPlanner(f)
	return cmd
}

// notices passes on only what a plan cannot say itself.
type notices struct{ next event.Handler }

func (n notices) Handle(e event.Event) error {
	switch e.(type) {
	case event.Notice, event.Asking:
		return n.next.Handle(e)
	}
	return nil
}

func (a *app) printPlan(p host.Planned) error {
	var b strings.Builder
	fmt.Fprintf(&b, "skill %s, planned by %s", display.Clean(p.Skill), display.Clean(p.Planner))
	if p.Model != "" {
		fmt.Fprintf(&b, " (%s)", display.Clean(p.Model))
	}
	if p.Confidence > 0 {
		fmt.Fprintf(&b, ", confidence %.2f", p.Confidence)
	}
	b.WriteString("\n")
	if p.Why != "" {
		fmt.Fprintf(&b, "%s\n", display.Clip(p.Why, 400))
	}
	for i, c := range p.Plan {
		if i < len(p.Summaries) && p.Summaries[i] != "" {
			fmt.Fprintf(&b, "%s\n", display.Quote(p.Summaries[i]))
		}
		fmt.Fprintf(&b, "%d. %s\n", i+1, display.Call(c))
		if i < len(p.May) {
			fmt.Fprintf(&b, "   %s\n", display.May(p.May[i]))
		}
	}
	if p.Program != nil {
		fmt.Fprintf(&b, "steps, digest %s\n", display.Clean(p.Program.Digest))
		writeCalls(&b, p.Program.Calls)
	}
	for _, d := range p.Diagnostics {
		fmt.Fprintf(&b, "%s at %s: %s\n", display.Clean(string(d.Severity)), display.Clean(d.Pointer), display.Clean(d.Message))
	}
	return a.write([]byte(b.String()))
}

func writeCalls(w io.Writer, calls []abi.Call) {
	for i, c := range calls {
		fmt.Fprintf(w, "  %d. %s\n", i+1, display.Call(c))
	}
}

// planBatch plans one request a line. A request that ends in a question, a
// refusal or an invalid plan is a line like any other.
func (a *app) planBatch(cmd *cobra.Command, r host.Request, given []string, expanded bool, file string) error {
	if len(given) > 1 {
		return fault.New(fault.Usage, "with --batch only the skill is given").Hint("the requests are the lines of %q", file)
	}
	in := io.Reader(a.in)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return fault.New(fault.Usage, "batch: %w", err)
		}
		defer f.Close()
		in = f
	}
	h, err := a.host(cmd.Context())
	if err != nil {
		return err
	}
	if len(given) == 1 {
		r.Skill = given[0]
		if _, err := h.Skill(cmd.Context(), r.Skill); err != nil {
			return err
		}
	}
	b, err := h.Batch(cmd.Context(), r, expanded, event.Discard)
	if err != nil {
		return err
	}
	defer b.Close()
	out := bufio.NewWriter(a.raw)
	a.printed = true
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		p, err := b.Plan(cmd.Context(), strings.TrimSpace(lines.Text()))
		switch fault.Of(err) {
		case 0, fault.Question, fault.Refused, fault.Usage:
		default:
			out.Flush()
			return fmt.Errorf("line %d of %q: %w", n, file, err)
		}
		if err != nil && p.Reason == "" && p.Question == "" {
			p.Reason = err.Error()
		}
		line, err := event.Encode(p)
		if err != nil {
			return fault.New(fault.Internal, "line %d of %q: %w", n, file, err)
		}
		out.Write(append(line, '\n'))
	}
	if err := lines.Err(); err != nil {
		return fault.New(fault.Usage, "batch %q: %w", file, err)
	}
	if err := out.Flush(); err != nil {
		return fault.New(fault.Internal, "cannot write the result: %w", err)
	}
	return nil
}
