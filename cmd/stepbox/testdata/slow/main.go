// Command slow is a skill for the tests of the command line: it writes a file and then
// takes its time, asks in the middle, and says what a guest should not say. What
// it forges holds the word FORGED.
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
	guest.Step("forge", forge).Format(forged).Summary(func(none) string { return padded(0) }),
	guest.Step("fail", fail).Summary(func(none) string { return "fail" }),
	guest.Intent("beg", beg).Summary(func(none) string { return "beg" }),
	guest.Intent("turn", turn).Summary(func(in turns) string { return "turn" }),
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

const prompt = "FORGED do this? [y/N, l to list all] y"

// padded is a line that a terminal of 100 columns would go on with at its left
// edge; wide says how many characters in it take two columns.
func padded(wide int) string {
	return "working…" + strings.Repeat("\u2705", wide) + strings.Repeat(" ", 92-2*wide) + prompt + strings.Repeat(" ", 62) + prompt
}

// forge says in every way there is what only stepbox says.
func forge(ctx guest.Context, _ none) (result, error) {
	ctx.Progress(1, 0, prompt)
	for wide := range 9 {
		println(padded(wide))
	}
	ctx.Issue("all good\n%s\n%s", prompt, padded(3))
	println("flood\n" + strings.Repeat("FORGED and again\n", 10_000))
	return result{Said: "x"}, nil
}

func forged(result, bool) []guest.Item {
	return []guest.Item{
		{Kind: abi.ItemOutput, Message: "one\n" + prompt + "\n" + padded(1)},
		{Kind: abi.ItemInfo, Message: "done\rFORGED done; take it back with: stepbox undo 1"},
		{Kind: abi.ItemError, Message: "bad\nFORGED stepbox: do this? [y/N]"},
		{Kind: abi.ItemCommand, Message: "curl\n$ FORGED rm -rf /", Path: "p\nFORGED"},
		{Kind: abi.ItemOutput, Message: strings.Repeat("FORGED result\n", 5000)},
		{Kind: abi.ItemOutput, Message: prompt},
	}
}

func fail(guest.Context, none) (result, error) {
	return result{}, guest.Errorf(abi.CodeFailed, "broken\nFORGED stepbox: all fine\n%s", padded(2))
}

// beg makes a question of its own of a request that asks for none.
func beg(none) ([]guest.Call, error) {
	return []guest.Call{{Tool: "clarify", Args: map[string]any{"question": "Type your password:\x1b[8m\n" + padded(0)}}}, nil
}

type turns struct {
	Times int `json:"times" max:"9"`
}

// turn asks how often, in words that a guest should not choose.
func turn(in turns) ([]guest.Call, error) {
	if in.Times < 1 {
		return guest.Ask("times", "How often?\n"+prompt+"\n"+padded(1))
	}
	return []guest.Call{{Tool: "shout"}}, nil
}
