package main

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// Filter says which files and folders are meant. Every tool that looks at files
// or acts on them takes all of it. Zero fields narrow nothing, but for those
// whose zero value is the narrow side: not recursive, case matters, hidden ones
// skipped, files alone. tools.yaml holds the defaults that people get. What is
// given and empty narrows nothing either, and is refused: a list that an earlier
// step left empty must not turn into no filter at all.
type Filter struct {
	Pattern        []string    `json:"pattern" min:"1"`
	Exclude        []string    `json:"exclude" min:"1"`
	FileType       []string    `json:"file_type" enum:"executable,text,image,document,script,archive,log,config,video,audio,code,spreadsheet,presentation,temporary,ebook,font,backup,data" min:"1"`
	Kind           string      `json:"kind" enum:"files,folders,both"`
	MinSize        guest.Size  `json:"min_size"`
	MaxSize        *guest.Size `json:"max_size"`
	ModifiedAfter  guest.Date  `json:"modified_after"`
	ModifiedBefore guest.Date  `json:"modified_before"`
	AccessedAfter  guest.Date  `json:"accessed_after"`
	AccessedBefore guest.Date  `json:"accessed_before"`
	NewerThan      string      `json:"newer_than" role:"input"`
	OlderThan      string      `json:"older_than" role:"input"`
	Recursive      bool        `json:"recursive"`
	Depth          int         `json:"depth" min:"1"`
	IgnoreCase     bool        `json:"ignore_case"`
	Hidden         string      `json:"hidden" enum:"skip,include,only"`
	Empty          *bool       `json:"empty"`
	Regex          *string     `json:"regex"`
	Sort           string      `json:"sort" enum:"name,size,modified,accessed,extension"`
	Order          string      `json:"order" enum:"asc,desc"`
	Limit          int         `json:"limit" min:"1"`
}

// The values of Filter.Kind and Filter.Hidden.
const (
	kindFiles   = "files"
	kindFolders = "folders"
	kindBoth    = "both"

	hiddenInclude = "include"
	hiddenOnly    = "only"
)

// narrows reports whether the filter leaves anything out by what it is, not
// only by where it lies.
func (f Filter) narrows() bool {
	for _, p := range f.Pattern {
		if strings.Trim(p, "*./") != "" {
			return true
		}
	}
	return len(f.Exclude) > 0 || len(f.FileType) > 0 || f.MinSize > 0 || f.MaxSize != nil ||
		f.ModifiedAfter != "" || f.ModifiedBefore != "" || f.AccessedAfter != "" || f.AccessedBefore != "" ||
		f.NewerThan != "" || f.OlderThan != "" || f.Empty != nil || f.Regex != nil || f.Limit > 0 || f.Hidden == hiddenOnly
}

// everything reports whether all that is in a folder is meant, exclusions aside:
// nothing is said about which files, nor how deep. What is in it then stays
// together, folders as folders.
func (f Filter) everything() bool {
	f.Exclude = nil
	return f.Kind == "" && f.Recursive && f.Depth == 0 && !f.narrows()
}

// maxDepth is how many levels to look in, 0 for all.
func (f Filter) maxDepth() int {
	switch {
	case f.Depth > 0:
		return f.Depth
	case f.Recursive:
		return 0
	}
	return 1
}

// matcher is a Filter made ready for one call.
type matcher struct {
	Filter
	include  []*glob
	exclude  []*glob
	regex    *regexp.Regexp
	types    map[string]bool
	modified span
	accessed span
	// stat says that size or times are needed to decide or to sort.
	stat bool
	// sum says that folders need the size and times of all that is in them.
	sum bool
}

// span is a range of time: from is in it, until is not. Zero bounds are open.
type span struct{ from, until time.Time }

func (s span) holds(t time.Time) bool {
	return (s.from.IsZero() || !t.Before(s.from)) && (s.until.IsZero() || t.Before(s.until))
}

func (s span) open() bool { return s.from.IsZero() && s.until.IsZero() }

func newMatcher(ctx guest.Context, f Filter) (*matcher, error) {
	m := &matcher{Filter: f}
	for _, p := range f.Pattern {
		m.include = append(m.include, newGlob(p, f.IgnoreCase))
	}
	for _, p := range f.Exclude {
		m.exclude = append(m.exclude, newGlob(p, f.IgnoreCase))
	}
	if f.Regex != nil {
		if *f.Regex == "" {
			return nil, guest.Errorf(abi.CodeBadRequest, "regex is empty, which every name matches; leave it out to take all")
		}
		flags := ""
		if f.IgnoreCase {
			flags = "(?i)"
		}
		re, err := regexp.Compile(flags + *f.Regex)
		if err != nil {
			return nil, guest.Errorf(abi.CodeBadRequest, "regex %q: %v", *f.Regex, err)
		}
		m.regex = re
	}
	if len(f.FileType) > 0 {
		m.types = map[string]bool{}
		for _, t := range f.FileType {
			m.types[t] = true
		}
	}
	if err := m.times(ctx); err != nil {
		return nil, err
	}
	if err := m.possible(ctx); err != nil {
		return nil, err
	}
	bySizeOrTime := f.MinSize > 0 || f.MaxSize != nil || !m.modified.open() || !m.accessed.open() ||
		f.Sort == "size" || f.Sort == "modified" || f.Sort == "accessed"
	m.stat = bySizeOrTime || f.Empty != nil
	m.sum = bySizeOrTime
	return m, nil
}

// times turns dates and the files to compare with into spans.
func (m *matcher) times(ctx guest.Context) error {
	zone := ctx.Zone()
	for _, d := range []struct {
		date guest.Date
		to   *time.Time
	}{
		{m.ModifiedAfter, &m.modified.from}, {m.ModifiedBefore, &m.modified.until},
		{m.AccessedAfter, &m.accessed.from}, {m.AccessedBefore, &m.accessed.until},
	} {
		t, err := d.date.In(zone)
		if err != nil {
			return guest.Errorf(abi.CodeBadRequest, "%v", err)
		}
		*d.to = t
	}
	if m.NewerThan != "" {
		info, err := ctx.Files().Lstat(m.NewerThan)
		if err != nil {
			return guest.Errorf(abi.CodeNotFound, "newer_than: there is no %q to compare with", m.NewerThan)
		}
		// Newer means later than, by the finest step there is.
		if t := info.ModTime().Add(1); t.After(m.modified.from) {
			m.modified.from = t
		}
	}
	if m.OlderThan != "" {
		info, err := ctx.Files().Lstat(m.OlderThan)
		if err != nil {
			return guest.Errorf(abi.CodeNotFound, "older_than: there is no %q to compare with", m.OlderThan)
		}
		if t := info.ModTime(); m.modified.until.IsZero() || t.Before(m.modified.until) {
			m.modified.until = t
		}
	}
	return nil
}

// possible refuses bounds that exclude each other: they would match nothing,
// and nobody would be told why.
func (m *matcher) possible(ctx guest.Context) error {
	if m.MaxSize != nil && m.MinSize > *m.MaxSize {
		return guest.Errorf(abi.CodeBadRequest, "min_size and max_size exclude each other: nothing is at least %s and at most %s", exact(m.MinSize), exact(*m.MaxSize))
	}
	for _, t := range []struct {
		what string
		span
	}{{"changed", m.modified}, {"opened", m.accessed}} {
		if !t.from.IsZero() && !t.until.IsZero() && !t.from.Before(t.until) {
			at := func(t time.Time) string { return t.In(ctx.Zone()).Format("2006-01-02 15:04:05") }
			return guest.Errorf(abi.CodeBadRequest, "the times exclude each other: nothing was last %s at or after %s and before %s", t.what, at(t.from), at(t.until))
		}
	}
	return nil
}

// patterns refuses patterns that are none, once it is known what there is.
func (m *matcher) patterns(files *guest.Files) error {
	for _, g := range m.include {
		if err := g.fault(files, "pattern"); err != nil {
			return err
		}
	}
	for _, g := range m.exclude {
		if err := g.fault(files, "exclude"); err != nil {
			return err
		}
	}
	return nil
}

// named reports whether the names and the type of an entry fit: everything that
// needs no look at it.
func (m *matcher) named(e *entry) bool {
	if len(m.include) > 0 && !matchAny(m.include, e) {
		return false
	}
	return m.regex == nil || m.regex.MatchString(path.Base(e.Path))
}

// measured reports whether size and times fit. Folders count with all that is
// in them when sum is set: a folder is as new as the newest thing in it.
func (m *matcher) measured(e *entry) bool {
	if e.size < int64(m.MinSize) || m.MaxSize != nil && e.size > int64(*m.MaxSize) {
		return false
	}
	return m.modified.holds(e.modified) && m.accessed.holds(e.accessed)
}

// kindFits reports whether files or folders are wanted. Links count as files.
func (m *matcher) kindFits(mode fs.FileMode) bool {
	switch m.Kind {
	case kindBoth:
		return true
	case kindFolders:
		return mode.IsDir()
	}
	return !mode.IsDir()
}
