package chat

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
)

// read collects an answer, streamed or not: what a server sends, not what it
// was asked for, decides.
func (p *Planner) read(resp *http.Response, asking func(int)) (string, error) {
	a := &reader{planner: p, asking: asking}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	body := &capped{r: resp.Body, left: maxAnswer}
	switch kind {
	case "text/event-stream":
		err = a.lines(body, true)
	case "application/x-ndjson":
		err = a.lines(body, false)
	default:
		var whole []byte
		if whole, err = io.ReadAll(body); err == nil {
			err = a.message(whole)
		}
	}
	switch {
	case body.left < 0, errors.Is(err, errLarge), errors.Is(err, bufio.ErrTooLong):
		return "", fault.New(fault.Usage, "the model's answer is longer than any plan").Hint("try another model")
	case err != nil:
		return "", &retryError{err: fault.New(fault.Internal, "the answer of %s at %s: %s", p.protocol.Name(), p.o.URL, p.clean(err.Error())).Hint(another)}
	case !a.done:
		return "", &retryError{err: fault.New(fault.Internal, "the answer of %s at %s broke off", p.protocol.Name(), p.o.URL).Hint(another)}
	case a.cut:
		return "", fault.New(fault.Usage, "%w at %d tokens", errCut, p.o.MaxTokens).
			Hint("ask for less at once, or raise max_tokens in the configuration")
	}
	return a.text.String(), nil
}

type reader struct {
	planner   *Planner
	asking    func(int)
	text      strings.Builder
	seen      int // bytes of text and thinking
	done, cut bool
}

// lines reads a stream: server-sent events, or JSON a line.
func (a *reader) lines(body io.Reader, events bool) error {
	s := bufio.NewScanner(body)
	s.Buffer(nil, plan.MaxBytes)
	for s.Scan() {
		line := bytes.TrimSpace(s.Bytes())
		if events {
			data, ok := bytes.CutPrefix(line, []byte("data:"))
			if !ok { // comments keep a connection open
				continue
			}
			line = bytes.TrimSpace(data)
		}
		if len(line) == 0 {
			continue
		}
		if events && string(line) == "[DONE]" {
			a.done = true
			return nil
		}
		if err := a.message(line); err != nil {
			return err
		}
		if a.done && !events {
			return nil
		}
	}
	return s.Err()
}

func (a *reader) message(raw []byte) error {
	part, err := a.planner.protocol.Decode(raw)
	if err != nil {
		return err
	}
	if part.Error != "" {
		return errors.New(part.Error)
	}
	a.text.WriteString(part.Text)
	if a.text.Len() > plan.MaxBytes {
		return errLarge
	}
	a.seen += len(part.Text) + part.Extra
	a.asking(a.seen)
	a.done, a.cut = a.done || part.Done, a.cut || part.Cut
	return nil
}

const another = "try again; `stepbox doctor` says more about the server"

var (
	errLarge = errors.New("too large")
	errCut   = errors.New("the model's answer was cut off")
)

// capped is a reader that fails beyond its cap, where io.LimitReader would make
// a cut answer look like a whole one.
type capped struct {
	r    io.Reader
	left int
}

func (c *capped) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if c.left -= n; c.left < 0 {
		return n, errLarge
	}
	return n, err
}
