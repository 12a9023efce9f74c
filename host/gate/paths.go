package gate

import (
	"fmt"
	"os"
	"path"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

// roleOf says how a tool uses an argument. A value that looks like a file name
// is an input even where the contract has no schema to say so.
func roleOf(t *registry.Tool, name string, given any) abi.PathRole {
	a := t.Args[name]
	switch {
	case a != nil && a.PathRole != abi.RoleNone:
		return a.PathRole
	case a == nil || a.Declared || t.Core:
		return abi.RoleNone
	}
	all := texts(given)
	for _, s := range all {
		if !extensions[extension(s)] || strings.ContainsAny(s, "\n\t") {
			return abi.RoleNone
		}
	}
	if len(all) == 0 {
		return abi.RoleNone
	}
	return abi.RoleInput
}

// isProduct says that an output argument names what a call makes, so that a
// default name does; any other output ("dst") is where a person wants things,
// and only they know.
func isProduct(arg string) bool { return strings.HasPrefix(arg, "output") }

// isVariable says that a value is a reference to an earlier call's result.
func isVariable(s string) bool {
	_, _, ok := plan.Reference(s)
	return ok
}

// outside refuses the first path that leads out of the sandbox, or hides where
// it leads. Paths inside were made relative by normalization.
func (c *check) outside() Decision {
	for i := range c.calls {
		for _, v := range append(c.values(i, abi.RoleInput), c.values(i, abi.RoleOutput)...) {
			out, hidden := leadsOut(v.text), plan.HidesUp(v.text)
			if !out && !hidden {
				continue
			}
			d := Decision{Outcome: Reject, Call: i, Arg: v.arg, Reason: fmt.Sprintf("%q lies outside the sandbox", v.text)}
			if !out {
				d.Reason = fmt.Sprintf(`%q goes up with ".." behind a name, which may lead elsewhere than it seems`, v.text)
			} else if c.SandboxPath != "" {
				d.Reason += " " + c.SandboxPath
			}
			if hidden {
				d.Next = `write the path without ".." behind a name`
			} else if dir := c.allowing(v.text); dir != "" {
				d.Next = "run it with --sandbox " + shellQuote(dir)
			}
			return d
		}
	}
	return proceed
}

// leadsOut looks at the path alone; links are the jail's matter.
func leadsOut(p string) bool {
	slashed := strings.ReplaceAll(p, `\`, "/")
	switch {
	case strings.HasPrefix(p, "/"), p == "~", strings.HasPrefix(slashed, "~/"):
		return true
	case len(slashed) > 2 && slashed[1] == ':' && slashed[2] == '/' && isWord(rune(slashed[0])):
		return true // C:\x
	}
	clean := path.Clean(slashed)
	return clean == ".." || strings.HasPrefix(clean, "../")
}

// allowing is the sandbox that would allow a path: the folder both have in
// common, so that the request's other paths keep working; when no sandbox may
// be that wide, the path's own folder.
func (c *check) allowing(p string) string {
	if !path.IsAbs(p) && !strings.HasPrefix(p, "~") {
		if c.SandboxPath == "" {
			return ""
		}
		p = path.Join(c.SandboxPath, p)
	}
	own := path.Clean(p)
	if info, err := os.Stat(own); err != nil || !info.IsDir() {
		own = path.Dir(own)
	}
	for dir := own; path.IsAbs(dir) && path.Dir(dir) != "/" && !tooWide(dir); dir = path.Dir(dir) {
		if strings.HasPrefix(c.SandboxPath+"/", dir+"/") {
			return dir
		}
	}
	if tooWide(own) {
		return ""
	}
	return own
}

// tooWide says that a folder is the root, holds homes, or is a home.
func tooWide(dir string) bool {
	switch dir {
	case "/", ".", "~", "/home", "/Users", "/root":
		return true
	}
	parent := path.Dir(dir)
	return parent == "/home" || parent == "/Users"
}

// shellQuote makes a path one word of a command line.
func shellQuote(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !isWord(r) && !strings.ContainsRune("/._-~+,@", r)
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
