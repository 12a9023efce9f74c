package plan

import (
	"path"
	"path/filepath"
	"strings"

	"stepbox.dev/abi"
)

// Paths tells Normalize which paths lie inside the sandbox. Its zero value
// knows none.
type Paths struct {
	Sandbox string // absolute
	Home    string
	Work    string // the person's working directory
	// Exists tells whether a slash path names something in the sandbox; nil
	// when nobody can say. It decides whether "fixtures/home/inbox", said in
	// the folder above a sandbox fixtures/home, is the sandbox's inbox, and
	// whether a backslash separates or is part of a name.
	Exists func(slashPath string) bool
}

// prepared is Paths with what every path needs computed once.
type prepared struct {
	sandbox, home, work string
	// prefix is the sandbox as seen from the working directory, when it lies
	// below it and holds nothing of that name itself.
	prefix string
	exists func(slashPath string) bool
}

func (p Paths) prepare() prepared {
	q := prepared{sandbox: slash(p.Sandbox), home: slash(p.Home), work: slash(p.Work), exists: p.Exists}
	if rel, ok := below(q.work, q.sandbox); ok && rel != "." && p.Exists != nil && !p.Exists(rel) {
		q.prefix = rel
	}
	return q
}

func slash(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(p, `\`, "/"))
}

// below returns p relative to root when it lies in it. Both are clean.
func below(root, p string) (string, bool) {
	switch {
	case root == "" || p == "":
		return "", false
	case p == root:
		return ".", true
	case root == "/":
		return strings.TrimPrefix(p, "/"), p[0] == '/'
	case strings.HasPrefix(p, root) && p[len(root)] == '/':
		return p[len(root)+1:], true
	}
	return "", false
}

// clean returns a path relative to the sandbox's root, with slashes, without
// "." and without ".." at its front where that can be resolved. One slash at the
// end of an output stays: it says that a folder is meant. A path that leads out
// comes back leading out, and one that [HidesUp] as it is.
func (p *prepared) clean(s string, role abi.PathRole) string {
	if p.prefix == "" && isClean(s) {
		return s
	}
	if s == "" {
		return s
	}
	if strings.IndexByte(s, '\\') >= 0 && !p.named(s) {
		s = strings.ReplaceAll(s, `\`, "/")
	}
	if HidesUp(s) {
		return s
	}
	folder := role == abi.RoleOutput && strings.HasSuffix(s, "/")
	out := p.relative(s)
	if folder && out != "." && !strings.HasSuffix(out, "/") {
		out += "/"
	}
	return out
}

// named reports whether a path with a backslash is what something is called, or
// lies in a folder that is called so: then the backslash separates nothing, and
// reading it so would name another file.
func (p *prepared) named(s string) bool {
	if p.exists == nil || filepath.Separator == '\\' || HidesUp(s) {
		return false
	}
	rel := p.relative(s)
	dir := path.Dir(rel)
	return p.exists(rel) || strings.IndexByte(dir, '\\') >= 0 && p.exists(dir)
}

// HidesUp reports whether a path goes up again from a name: "todo.txt/..". What
// that is depends on what the name stands for, a folder, a file or a link, and
// cleaning it by its text alone would name something that nobody said.
func HidesUp(s string) bool {
	if !strings.Contains(s, "..") {
		return false
	}
	named := false
	for element := range strings.SplitSeq(s, "/") {
		switch element {
		case "", ".":
		case "..":
			if named {
				return true
			}
		default:
			named = true
		}
	}
	return false
}

func (p *prepared) relative(s string) string {
	switch {
	case s == "~" || strings.HasPrefix(s, "~/"):
		if p.home != "" {
			if rel, ok := below(p.sandbox, path.Join(p.home, s[1:])); ok {
				return rel
			}
		}
		return path.Clean(s)
	case s[0] == '/':
		s = path.Clean(s)
		if rel, ok := below(p.sandbox, s); ok {
			return rel
		}
		return s
	}
	s = path.Clean(s)
	if leadsUp(s) {
		if p.work != "" {
			if rel, ok := below(p.sandbox, path.Join(p.work, s)); ok {
				return rel
			}
		}
		return s
	}
	for p.prefix != "" {
		rel, ok := below(p.prefix, s)
		if !ok {
			break
		}
		s = rel
	}
	return s
}

func leadsUp(s string) bool { return s == ".." || strings.HasPrefix(s, "../") }

// isClean reports without copying that clean would change nothing: the usual
// case.
func isClean(s string) bool {
	if s == "" || s[0] == '/' || s[0] == '~' || s == "." {
		return s == "."
	}
	start := 0 // of the current element
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '/' {
			if s[i] == '\\' {
				return false
			}
			continue
		}
		switch element := s[start:i]; element {
		case "", ".", "..":
			return false
		}
		start = i + 1
	}
	return true
}

// leadsOut reports whether a normalized path is outside of the sandbox: it is
// absolute on some system, goes up, or starts at a home folder.
func leadsOut(s string) bool {
	s = strings.ReplaceAll(s, `\`, "/")
	switch {
	case strings.HasPrefix(s, "/") || s == "~" || strings.HasPrefix(s, "~/"):
		return true
	case len(s) >= 2 && s[1] == ':' && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z') && (len(s) == 2 || s[2] == '/'):
		return true // C:, C:/x
	}
	return leadsUp(path.Clean(s))
}
