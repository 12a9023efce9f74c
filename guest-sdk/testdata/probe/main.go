// Command probe is a skill that tries what the SDK offers inside a module.
package main

import (
	"errors"
	"os"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

type probeArgs struct {
	Name string `json:"name" required:"true"`
}

type probed struct {
	Skill     string   `json:"skill"`
	Scratch   string   `json:"scratch"`
	Zone      string   `json:"zone"`
	Listed    []string `json:"listed"`
	Fifo      bool     `json:"fifo"`
	Confirmed bool     `json:"confirmed"`
	DryRun    bool     `json:"dry_run"`
	KeySet    bool     `json:"key_set"`
}

func probe(ctx guest.Context, in probeArgs) (probed, error) {
	out := probed{DryRun: ctx.DryRun(), Zone: ctx.Zone().String(), KeySet: ctx.IdempotencyKey() != "" && ctx.RunID() != ""}
	data, err := ctx.SkillFile("data/note.txt")
	if err != nil {
		return out, err
	}
	out.Skill = string(data)
	scratch := ctx.TempDir() + "/deep/x"
	f := ctx.Files()
	if err := errors.Join(f.MkdirAll(ctx.TempDir()+"/deep"), f.WriteFile(scratch, []byte("scratch"))); err != nil {
		return out, err
	}
	if data, err = f.ReadFile(scratch); err != nil {
		return out, err
	}
	out.Scratch = string(data)
	entries, err := f.ReadDir(".")
	if err != nil {
		return out, err
	}
	for _, e := range entries {
		out.Listed = append(out.Listed, e.Name())
		info, err := e.Info()
		if err != nil {
			return out, err
		}
		out.Fifo = out.Fifo || !info.IsDir() && !info.Mode().IsRegular()
	}
	ctx.Progress(1, 1, "probing")
	if out.Confirmed, err = ctx.Confirm("go on?", in.Name); err != nil {
		return out, err
	}
	ctx.Issue("a remark")
	return out, f.WriteFile(in.Name, []byte("made"))
}

func fail(ctx guest.Context, in probeArgs) (string, error) {
	switch in.Name {
	case "panic":
		var list []int
		return "", errors.New(string(rune(list[len(in.Name)])))
	case "missing":
		_, err := ctx.Files().ReadFile("nowhere/at all.txt")
		return "", err
	case "taken":
		return "", errors.Join(ctx.Files().WriteFile("new.txt", nil), ctx.Files().WriteFile("new.txt", nil))
	case "wrong":
		ctx.Verified(false)
		ctx.Issue("it is wrong")
		return "", nil
	}
	os.Exit(3)
	return "", guest.Errorf(abi.CodeFailed, "unreachable")
}

// churn makes far more garbage than a module has memory, looking at files all
// the while.
func churn(ctx guest.Context, in probeArgs) (int, error) {
	n := 0
	for range 2000 {
		if _, err := ctx.Files().ReadFile(in.Name); err != nil {
			return 0, err
		}
		garbage = new([80_000]*int)
		n += len(garbage)
	}
	return n, nil
}

var garbage *[80_000]*int

var skill = guest.Serve(guest.Skill{Tools: []guest.Tool{
	guest.Step("probe", probe),
	guest.Step("fail", fail),
	guest.Step("churn", churn),
}})

func main() {}
