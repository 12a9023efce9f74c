package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// app is what every verb shares: the streams and the flags of the root.
type app struct {
	in *os.File
	// out and errs fold lines at the width of a terminal; raw is stdout as it
	// is, for what programs read.
	out, errs, raw io.Writer
	outColumns     func() int // 0: stdout is no terminal
	errColumns     func() int

	skills    []string // --skills
	overrides []string // --override
	began     bool     // a verb runs: errors are no longer cobra's
	told      bool     // the event stream has said how it ended
	printed   bool     // an object was printed as JSON
}

func newApp(in *os.File, out, errs io.Writer) *app {
	a := &app{
		in: in, raw: out,
		outColumns: func() int { return columns(out) },
		errColumns: func() int { return columns(errs) },
	}
	a.out, a.errs = display.NewFolding(out, a.outColumns), display.NewFolding(errs, a.errColumns)
	return a
}

// host opens the façade.
func (a *app) host(ctx context.Context) (*host.Host, error) {
	c, err := configuration()
	if err != nil {
		return nil, err
	}
	h, err := host.New(ctx, host.Options{Skills: a.skills, Overrides: a.overrides, Settings: c.Settings})
	if err != nil {
		return nil, err
	}
	if err := h.Trouble(); err != nil {
		display.Failure(a.errs, "an interrupted commit is not settled: "+err.Error(), nil, "")
	}
	return h, nil
}

// front is how one run is shown, and who is asked.
type front struct {
	app    *app
	json   event.Handler // nil without --json
	text   *display.Text // nil with --json and nobody there
	person host.Person   // nil: nobody
	asked  *display.Person
}

// front returns the front end of a run. Somebody is asked only when both what
// they read and what they type is a terminal.
func (a *app) front(asJSON bool) *front {
	f := &front{app: a}
	there := a.there()
	o := display.Options{
		Out: a.out, Err: a.errs,
		Terminal: a.errColumns() > 0,
		Marked:   a.outColumns() > 0,
		Columns:  a.errColumns,
		Color:    a.errColumns() > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
	if asJSON {
		f.json, o.Out = event.NewJSON(a.raw), io.Discard
	}
	if !asJSON || there {
		f.text = display.NewText(o)
	}
	if there {
		f.asked = display.NewPerson(a.in, f.text, func() { flushInput(a.in) })
		f.person = f.asked
	}
	return f
}

// agree shows a text, which is clean, and asks.
func (f *front) agree(ctx context.Context, text, question string) (bool, error) {
	if _, err := fmt.Fprintln(f.app.errs, text); err != nil {
		return false, fault.New(fault.Internal, "cannot ask: %w", err)
	}
	return f.asked.Agree(ctx, question)
}

// there reports whether a person reads what is said and can answer.
func (a *app) there() bool {
	return a.in != nil && term.IsTerminal(int(a.in.Fd())) && a.errColumns() > 0
}

// Handle implements event.Handler.
func (f *front) Handle(e event.Event) error {
	if _, last := e.(event.End); last {
		f.app.told = true
	}
	if f.text != nil {
		if err := f.text.Handle(e); err != nil {
			return err
		}
	}
	if f.json != nil {
		return f.json.Handle(e)
	}
	return nil
}

// columns is the width of the terminal w, 0 when it is none.
func columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}

// printJSON prints one object on stdout.
func (a *app) printJSON(v any) error {
	b, err := event.Encode(v)
	if err != nil {
		return fault.New(fault.Internal, "cannot write the result as JSON: %w", err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, b, "", "  "); err != nil {
		return fault.New(fault.Internal, "cannot write the result as JSON: %w", err)
	}
	pretty.WriteByte('\n')
	a.printed = true
	return written(a.raw.Write(pretty.Bytes()))
}

// write writes a result.
func (a *app) write(b []byte) error { return written(a.out.Write(b)) }

func written(_ int, err error) error {
	if err != nil {
		return fault.New(fault.Internal, "cannot write the result: %w", err)
	}
	return nil
}

func (a *app) printf(format string, args ...any) error {
	return a.write(fmt.Appendf(nil, format, args...))
}

// done prints, on a line, that something was changed, which stays so when that
// cannot be printed.
func (a *app) done(changed, line string) error {
	if err := a.printf("%s\n", line); err != nil {
		return fault.New(fault.Of(err), "%s, but it cannot be printed: %w", changed, err)
	}
	return nil
}

func usage(err error) error {
	if fault.Of(err) != fault.Internal {
		return err
	}
	return fault.New(fault.Usage, "%w", err).Hint("see: stepbox --help")
}
