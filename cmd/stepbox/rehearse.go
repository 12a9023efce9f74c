package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stepbox.dev/host"
	"stepbox.dev/host/evaluate"
	"stepbox.dev/host/skill"
)

// rehearsal runs the plans of a corpus. Their records belong to no list of runs:
// they lie in a state folder of their own.
type rehearsal struct {
	app     *app
	skill   *skill.Skill
	name    string // of the skill, as it was given
	sandbox string
}

// run returns what came of the plans, and an error when not all of them could
// run; nil is what came of none.
func (r rehearsal) run(ctx context.Context, cases []evaluate.Case) (*evaluate.Execution, error) {
	scratch, err := os.MkdirTemp("", "stepbox-eval-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	o := host.Options{State: filepath.Join(scratch, "state"), Skills: r.app.skills}
	if r.sandbox == "" {
		if r.sandbox, err = r.fixtures(ctx, o, filepath.Join(scratch, "files")); err != nil {
			return nil, err
		}
	}
	o.Overrides = r.app.overrides
	h, err := host.New(ctx, o)
	if err != nil {
		return nil, err
	}
	bar := &progressLine{app: r.app, began: time.Now()}
	e, err := evaluate.Execute(ctx, evaluate.Rehearsal{Host: h, Skill: r.name, Sandbox: r.sandbox, Scratch: scratch}, r.skill.Registry(), cases, bar.show)
	bar.clear()
	if e.Ran == 0 && err != nil {
		return nil, err
	}
	return &e, err
}

// fixtures is the folder of the files that the plans run on when none is given:
// the skill's own, made anew, else the working directory.
func (r rehearsal) fixtures(ctx context.Context, o host.Options, dir string) (string, error) {
	from := evaluate.Fixtures(r.skill)
	if from == "" {
		return ".", nil
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	h, err := host.New(ctx, o)
	if err != nil {
		return "", err
	}
	fmt.Fprintln(r.app.errs, "making the files of the corpus")
	if err := evaluate.MakeFixtures(ctx, h, from, dir, notices{r.app.front(false)}); err != nil {
		return "", fmt.Errorf("the files of the corpus: %w", err)
	}
	return dir, nil
}

// progressLine tells how far an execution has come: on a terminal one line that
// changes, elsewhere a line now and then.
type progressLine struct {
	app         *app
	began, last time.Time
	drawn       bool
}

func (l *progressLine) show(p evaluate.Progress) {
	now, terminal := time.Now(), l.app.errColumns() > 0
	pace := 15 * time.Second
	if terminal {
		pace = 200 * time.Millisecond
	}
	if now.Sub(l.last) < pace && p.Done < p.Of {
		return
	}
	l.last = now
	text := fmt.Sprintf("%d of %d executed, %d not as it should be", p.Done, p.Of, p.Failed)
	if spent := now.Sub(l.began); p.Done < p.Of && spent > 3*time.Second {
		left := time.Duration(float64(spent) / float64(p.Done) * float64(p.Of-p.Done))
		text += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	if terminal {
		fmt.Fprintf(l.app.errs, "\r\x1b[K%s", text)
		l.drawn = true
	} else {
		fmt.Fprintln(l.app.errs, text)
	}
}

// clear takes the line away.
func (l *progressLine) clear() {
	if l.drawn {
		fmt.Fprint(l.app.errs, "\r\x1b[K")
	}
}
