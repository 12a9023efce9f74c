package execute

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

// The bounds on what steps answer. The worker has bounds of its own on what
// crosses its pipe; these hold for any runner.
const (
	MaxResult    = 32 << 20 // bytes of one result
	MaxVariables = 64 << 20 // bytes of all results that variables keep
	maxIssues    = 100      // a call; more are counted, not kept
	maxIssue     = 2000     // bytes of one issue
)

// leaves finds the first path argument that does not lie below the sandbox. It
// looks at literal bytes: by now a "~" or a backslash is part of a name, so the
// rules for what a planner wrote would turn one file's name into another's.
func leaves(t *registry.Tool, args map[string]any) (arg, value, why string) {
	for _, name := range t.ArgOrder {
		a := t.Args[name]
		if a == nil || a.PathRole == abi.RoleNone {
			continue
		}
		given, ok := args[name]
		if !ok || given == nil {
			continue
		}
		list, isList := given.([]any)
		if !isList {
			list = []any{given}
		}
		for _, v := range list {
			s, isText := v.(string)
			if !isText {
				return name, fmt.Sprint(v), "is not a path"
			}
			if why := leavesPath(s); why != "" {
				return name, s, why
			}
		}
	}
	return "", "", ""
}

// leavesPath says why p is no path below the sandbox, or "".
func leavesPath(p string) string {
	switch {
	case strings.HasPrefix(p, "/"):
		return "leads out of the sandbox"
	case strings.ContainsRune(p, 0):
		return "holds a NUL byte"
	case len(p) > 4096:
		return "is longer than 4096 bytes"
	}
	// Lexical on purpose: a link inside is the jail's matter.
	if c := path.Clean(p); c == ".." || strings.HasPrefix(c, "../") {
		return "leads out of the sandbox"
	}
	if plan.HidesUp(p) {
		return `goes up with ".." behind a name`
	}
	return ""
}

// checkResult refuses a result that later code could read in two ways: no JSON,
// duplicate keys, text that is not Unicode, nesting without end.
func checkResult(raw json.RawMessage) error {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return errors.New("the step answered no result")
	case len(raw) > MaxResult:
		return fmt.Errorf("its result has %d bytes, more than %d", len(raw), MaxResult)
	}
	var v plan.Variables
	return v.Set("$result", raw) // the strict reader of everything a plan holds
}

// cutIssues bounds what a guest can say about its own output.
func cutIssues(issues []string) []string {
	var out []string
	for i, s := range issues {
		if i == maxIssues {
			return append(out, fmt.Sprintf("and %d more", len(issues)-maxIssues))
		}
		if len(s) > maxIssue {
			s = strings.ToValidUTF8(s[:maxIssue], "") + " …"
		}
		out = append(out, s)
	}
	return out
}
