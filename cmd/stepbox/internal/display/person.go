package display

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/lexicon"
)

// Person asks the person at a terminal. It implements host.Person.
type Person struct {
	in    io.Reader
	text  *Text
	flush func()
}

// NewPerson returns somebody who is asked on text's Err and answers on in.
// flush throws away what was typed before a question was there to read: a key
// pressed earlier is not an answer. It may be nil.
func NewPerson(in io.Reader, text *Text, flush func()) *Person {
	if flush == nil {
		flush = func() {}
	}
	return &Person{in: in, text: text, flush: flush}
}

// Clarify implements host.Person. The candidates are numbered; their number is
// an answer too.
func (p *Person) Clarify(ctx context.Context, d event.Decision) (string, error) {
	if d.From == "" {
		p.text.tell("%s", p.text.bold(Clean(d.Question)))
	} else {
		p.text.tell("%s asks:", Clip(d.From, 100))
		p.quote(d.Question)
	}
	for i, c := range d.Candidates {
		if i == listed {
			p.text.tell("  … and %d more", len(d.Candidates)-i)
			break
		}
		p.text.tell("  %d) %s", i+1, Clip(c, 400))
	}
	answer, err := p.ask(ctx, "answer (empty to give up): ")
	if err != nil {
		return "", err
	}
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(d.Candidates) {
		return d.Candidates[n-1], nil
	}
	return answer, nil
}

// Approve implements host.Person. Protected changes are asked about one by one.
func (p *Person) Approve(ctx context.Context, c *commit.Changes) (yes bool, names []string, err error) {
	return p.approve(ctx, c.List())
}

func (p *Person) approve(ctx context.Context, list []commit.Change) (bool, []string, error) {
	yes, err := p.decide(ctx, "do this?", func() {
		for _, c := range list {
			p.text.tell("  %s", Describe(c))
		}
	})
	if err != nil || !yes {
		return false, nil, err
	}
	var names []string
	for _, c := range list {
		if c.Protected == "" {
			continue
		}
		p.text.tell("  %s", Describe(c))
		yes, err := p.decide(ctx, "  this one is protected; do it as well?", nil)
		if err != nil {
			return false, nil, err
		}
		if !yes {
			return false, nil, nil
		}
		names = append(names, c.Path)
	}
	return true, names, nil
}

// Proceed implements host.Person.
func (p *Person) Proceed(ctx context.Context, summary string) (bool, error) {
	p.text.tell("next:")
	p.quote(Clean(summary))
	return p.decide(ctx, "go on?", nil)
}

// Agree asks a question of stepbox's own.
func (p *Person) Agree(ctx context.Context, question string) (bool, error) {
	return p.decide(ctx, question, nil)
}

// Confirm implements host.Person. The question is a guest's, so every line of
// it is marked as such.
func (p *Person) Confirm(ctx context.Context, r abi.ConfirmRequest) (bool, error) {
	p.text.tell("%s asks:", p.text.asker())
	for _, words := range []string{r.Prompt, r.Preview} {
		if words != "" {
			p.quote(words)
		}
	}
	return p.decide(ctx, "your answer?", nil)
}

// quote shows words that are not stepbox's own, marked.
func (p *Person) quote(words string) {
	for _, l := range head(Lines(words), saidLines) {
		p.text.tell("%s%s", bar, cut(l, saidColumns))
	}
}

// head keeps a guest from scrolling away what stepbox said before.
func head(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n:n], fmt.Sprintf("… %d more lines", len(lines)-n))
}

// decide asks until the answer is yes or no, in any language that requests are
// read in; nothing and the end of input are no. list, when not nil, shows
// everything.
func (p *Person) decide(ctx context.Context, question string, list func()) (bool, error) {
	keys := " [y/N] "
	if list != nil {
		keys = " [y/N, l to list all] "
	}
	for {
		answer, err := p.ask(ctx, question+keys)
		if err != nil {
			return false, err
		}
		if answer == "" {
			return false, nil
		}
		switch lexicon.ReplyOf(answer) {
		case lexicon.Yes:
			return true, nil
		case lexicon.No:
			return false, nil
		}
		if word := strings.ToLower(answer); list != nil && (word == "l" || word == "list") {
			list()
			continue
		}
		p.text.tell("please answer y or n")
	}
}

// ask prints a prompt and reads one line. The end of the input is an empty
// answer. It returns when ctx ends, though the read itself cannot be stopped.
func (p *Person) ask(ctx context.Context, prompt string) (string, error) {
	p.flush()
	p.text.open(prompt)
	type line struct {
		s   string
		err error
	}
	got := make(chan line, 1)
	go func() {
		s, err := readLine(p.in)
		got <- line{s, err}
	}()
	select {
	case <-ctx.Done():
		p.text.answered(true)
		return "", ctx.Err()
	case l := <-got:
		ended := errors.Is(l.err, io.EOF)
		p.text.answered(ended)
		if ended {
			l.err = nil
		}
		return strings.TrimSpace(l.s), l.err
	}
}

// maxAnswer is how many bytes of an answer are kept.
const maxAnswer = 4096

// readLine reads a byte at a time, so that nothing after the line is taken: the
// next question flushes what it finds.
func readLine(r io.Reader) (string, error) {
	var line []byte
	b := make([]byte, 1)
	for {
		n, err := r.Read(b)
		if n == 1 {
			if b[0] == '\n' {
				return string(line), nil
			}
			if len(line) < maxAnswer {
				line = append(line, b[0])
			}
		}
		if err != nil {
			return string(line), err
		}
	}
}
