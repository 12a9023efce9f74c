package main

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// renameArgs are the arguments of rename_files.
type renameArgs struct {
	Path  []string `json:"path" role:"input"`
	Items []string `json:"items" role:"input"`
	Filter
	Find         string `json:"find"`
	Replace      string `json:"replace"`
	UseRegex     bool   `json:"use_regex"`
	Prefix       string `json:"prefix"`
	Suffix       string `json:"suffix"`
	RemovePrefix string `json:"remove_prefix"`
	RemoveSuffix string `json:"remove_suffix"`
	Case         string `json:"case" enum:"lower,upper,title"`
	Extension    string `json:"extension"`
	Number       bool   `json:"number"`
	Start        *int   `json:"start" min:"0"`
	Digits       int    `json:"digits" min:"1" max:"9"`
	NewName      string `json:"new_name"`
}

func renameFiles(ctx guest.Context, in renameArgs) (Moved, error) {
	if err := refuseRoot(in.Items); err != nil {
		return Moved{}, err
	}
	roots := in.Path
	if roots == nil && in.Items == nil {
		roots = []string{"."}
	}
	found, err := collect(ctx, selection{roots: roots, items: in.Items, Filter: in.Filter})
	if err != nil {
		return Moved{}, err
	}
	r, err := newRenamer(in, len(found))
	if err != nil {
		return Moved{}, err
	}
	var moves []move
	var bad []string
	same := 0
	for i, e := range found {
		name, err := r.name(e, i)
		switch to := path.Join(path.Dir(e.Path), name); {
		case name == path.Base(e.Path): // however odd it is
			same++
		case err != nil:
			bad = append(bad, quoted(e.Path)+": "+err.Error())
		default:
			moves = append(moves, move{From: e.Path, To: to, folder: e.folder()})
		}
	}
	if len(bad) > 0 {
		return Moved{}, guest.Errorf(abi.CodeBadRequest, "nothing was changed: %s", some(bad, clashesShown))
	}
	// The deepest first: then the paths of what is in a renamed folder still
	// hold when it is their turn.
	slices.SortStableFunc(moves, func(a, b move) int { return strings.Count(b.From, "/") - strings.Count(a.From, "/") })
	return runMoves(ctx, moves, same, "renaming")
}

// renamer makes new names.
type renamer struct {
	renameArgs
	find   *regexp.Regexp
	start  int
	digits int
}

func newRenamer(in renameArgs, n int) (*renamer, error) {
	r := &renamer{renameArgs: in, start: 1, digits: max(3, in.Digits)}
	if in.Digits > 0 {
		r.digits = in.Digits
	}
	if in.Start != nil {
		r.start = *in.Start
	}
	// All numbers get the same width, so that names sort as they count.
	r.digits = max(r.digits, len(strconv.Itoa(r.start+n-1)))
	switch {
	case in.Find == "" && (in.Replace != "" || in.UseRegex):
		return nil, guest.Errorf(abi.CodeBadRequest, "replace and use_regex need find: the text to look for")
	case !in.Number && (in.Start != nil || in.Digits > 0):
		return nil, guest.Errorf(abi.CodeBadRequest, "start and digits are about numbering; set number to true")
	}
	if in.NewName != "" && n > 1 && !in.Number {
		return nil, guest.Errorf(abi.CodeBadRequest, "%s match, and only one can be called %q; number them, or name one", count(n, "file", "files"), in.NewName)
	}
	if in.Find == "" {
		return r, nil
	}
	pattern := in.Find
	if !in.UseRegex {
		pattern = regexp.QuoteMeta(pattern)
		r.Replace = strings.ReplaceAll(in.Replace, "$", "$$")
	}
	if in.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, guest.Errorf(abi.CodeBadRequest, "find %q is no regular expression: %v", in.Find, err)
	}
	r.find = re
	return r, nil
}

// name is the new name of the i-th file. Its error is a reason.
func (r *renamer) name(e *entry, i int) (string, error) {
	old, folder := path.Base(e.Path), e.folder()
	stem, ext := splitName(old, folder)
	if r.NewName != "" {
		kept := ext
		name := r.NewName
		if dir, base := path.Split(name); dir != "" && path.Clean(dir) == path.Dir(e.Path) {
			name = base // said with the folder that the file is in
		}
		if stem, ext = splitName(name, folder); ext == "" && r.Number {
			ext = kept // many files are called trip: each stays what it is
		}
	}
	stem = r.cut(stem)
	if r.find != nil {
		if !r.find.MatchString(stem) && r.Find != "." && r.find.MatchString(stem+ext) {
			// What goes on into the extension means that too: .jpeg to .jpg.
			stem, ext = splitName(r.find.ReplaceAllString(stem+ext, r.Replace), folder)
		} else {
			stem = r.find.ReplaceAllString(stem, r.Replace)
		}
	}
	switch r.Case {
	case "lower":
		stem, ext = strings.ToLower(stem), strings.ToLower(ext)
	case "upper":
		stem = strings.ToUpper(stem)
	case "title":
		stem = titleCase(stem)
	}
	stem = r.Prefix + stem + r.Suffix
	if r.Number {
		number := strconv.Itoa(r.start + i)
		number = strings.Repeat("0", max(0, r.digits-len(number))) + number
		if stem != "" {
			number = "-" + number
		}
		stem += number
	}
	if r.Extension != "" && !folder {
		ext = "." + strings.TrimLeft(r.Extension, ".")
	}
	if stem == "" && ext != "" || stem+ext == "" {
		return "", errReason("nothing would be left of the name")
	}
	return stem + ext, checkName(old, stem+ext)
}

// cut takes remove_prefix and remove_suffix away.
func (r *renamer) cut(stem string) string {
	if n := len(r.RemovePrefix); n > 0 && len(stem) >= n && r.same(stem[:n], r.RemovePrefix) {
		stem = stem[n:]
	}
	if n := len(r.RemoveSuffix); n > 0 && len(stem) >= n && r.same(stem[len(stem)-n:], r.RemoveSuffix) {
		stem = stem[:len(stem)-n]
	}
	return stem
}

func (r *renamer) same(a, b string) bool {
	return a == b || r.IgnoreCase && strings.EqualFold(a, b)
}

// errReason is an error that is only a reason.
type errReason string

func (e errReason) Error() string { return string(e) }

// checkName refuses what cannot be a name, would lead elsewhere, or cannot be
// shown when the old name could.
func checkName(old, name string) error {
	hides := func(c rune) bool { return unicode.IsControl(c) && !strings.ContainsRune(old, c) }
	switch {
	case strings.ContainsAny(name, "/\x00"):
		return errReason("the name " + quoted(name) + " would lead into another folder; use move for that")
	case name == "." || name == "..":
		return errReason(quoted(name) + " is no name")
	case len(name) > 255:
		return errReason("the name would be longer than 255 bytes")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, hides):
		return errReason("the name " + quoted(name) + " would hold characters that cannot be shown")
	}
	return nil
}

// splitName parts a name before its extension. Folders and names such as
// .profile have none; that of an archive may have two parts.
func splitName(name string, folder bool) (stem, ext string) {
	if folder {
		return name, ""
	}
	ext = path.Ext(name)
	stem = strings.TrimSuffix(name, ext)
	if strings.Trim(stem, ".") == "" {
		return name, ""
	}
	if strings.HasSuffix(strings.ToLower(stem), ".tar") && len(stem) > len(".tar") {
		cut := len(stem) - len(".tar")
		return stem[:cut], stem[cut:] + ext
	}
	return stem, ext
}

// titleCase makes the first letter of each word upper case and the others lower.
func titleCase(s string) string {
	var b strings.Builder
	inWord := false
	for _, c := range s {
		letter := unicode.IsLetter(c) || unicode.IsDigit(c) || c == '\'' || c == '’'
		switch {
		case letter && !inWord:
			b.WriteRune(unicode.ToUpper(c))
		case letter:
			b.WriteRune(unicode.ToLower(c))
		default:
			b.WriteRune(c)
		}
		inWord = letter
	}
	return b.String()
}
