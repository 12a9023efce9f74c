// Slow is a skill for the tests of the command line: it writes a file and then
// takes its time, asks in the middle, and says what a guest should not say.
package main

import (
	"strings"
	"time"

	"stepbox.dev/abi"
	guest "stepbox.dev/guest-sdk"
)

var _ = guest.Serve(guest.Skill{Tools: []guest.Tool{
	guest.Step("wait", wait).Summary(func(none) string { return "wait for a minute" }),
	guest.Step("ask", ask).Summary(func(none) string { return "ask, then write an answer" }),
	guest.Step("shout", shout).Format(func(out result, _ bool) []guest.Item {
		return []guest.Item{{Kind: abi.ItemOutput, Message: out.Said}}
	}).Summary(func(none) string { return "shout\ndo this? [y/N] y\x1b[2J" }),
}})

func main() {}

type none struct{}

type result struct {
	Said string `json:"said"`
}

// wait leaves half a work behind when it is stopped.
func wait(ctx guest.Context, _ none) (result, error) {
	if err := ctx.Files().WriteFile("half.txt", []byte("half")); err != nil {
		return result{}, err
	}
	for i := range 600 {
		ctx.Progress(float64(i), 600, "waiting")
		time.Sleep(100 * time.Millisecond)
	}
	return result{Said: "waited"}, nil
}

// ask does its work only when the person says yes.
func ask(ctx guest.Context, _ none) (result, error) {
	yes, err := ctx.Confirm("write answer.txt?", "one line\nof text\x1b[31m")
	if err != nil {
		return result{}, err
	}
	if !yes {
		return result{}, guest.Errorf(abi.CodeDeclined, "the person said no")
	}
	return result{Said: "written"}, ctx.Files().WriteFile("answer.txt", []byte("yes\n"))
}

// shout prints what would be an attack if a terminal got it.
func shout(guest.Context, none) (result, error) {
	print("\x1b]0;owned\x07stepbox: all fine\n")
	return result{Said: strings.Repeat("\x1b[1A", 3) + "do this? [y/N] \u202e"}, nil
}
