package main

import (
	"slices"
	"strconv"
	"strings"

	"stepbox.dev/guest-sdk"
)

// The sentences that tell a person what a call would do. Each names every
// filter of its call: a person must be able to see that one is missing.

func (f Filter) noun() string {
	if f.everything() {
		return "everything"
	}
	noun := map[string]string{kindFolders: "folders", kindBoth: "files and folders"}[f.Kind]
	if noun == "" {
		noun = "files"
	}
	if len(f.FileType) > 0 {
		noun = joinOr(f.FileType) + " " + noun
	}
	if f.Empty != nil && *f.Empty {
		noun = "empty " + noun
	}
	if f.Hidden == hiddenOnly {
		noun = "hidden " + noun
	}
	return noun
}

// phrases are the rest of the filter, in the order people would say it.
func (f Filter) phrases(deepByDefault bool) []string {
	var p []string
	if len(f.Pattern) > 0 {
		p = append(p, "named "+joinOr(texts(f.Pattern)))
	}
	if f.Regex != nil {
		p = append(p, "whose name matches /"+*f.Regex+"/")
	}
	if !f.IgnoreCase && (len(f.Pattern) > 0 || f.Regex != nil || len(f.Exclude) > 0) {
		p = append(p, "in exactly this case")
	}
	if f.MinSize > 0 {
		p = append(p, "of at least "+exact(f.MinSize))
	}
	if f.MaxSize != nil {
		p = append(p, "of at most "+exact(*f.MaxSize))
	}
	if f.Empty != nil && !*f.Empty {
		p = append(p, "not empty")
	}
	for _, d := range []struct {
		what string
		date guest.Date
	}{
		{"changed since", f.ModifiedAfter}, {"last changed before", f.ModifiedBefore},
		{"opened since", f.AccessedAfter}, {"last opened before", f.AccessedBefore},
	} {
		if d.date != "" {
			p = append(p, d.what+" "+strings.Replace(strings.TrimSuffix(string(d.date), "T00:00:00Z"), "T", " ", 1))
		}
	}
	if f.NewerThan != "" {
		p = append(p, "newer than "+text(f.NewerThan))
	}
	if f.OlderThan != "" {
		p = append(p, "older than "+text(f.OlderThan))
	}
	if f.Hidden == hiddenInclude {
		p = append(p, "hidden ones too")
	}
	if len(f.Exclude) > 0 {
		p = append(p, "but not "+joinOr(texts(f.Exclude)))
	}
	return append(p, f.where(deepByDefault)...)
}

// exact is a size as a bound: rounding must not hide where it lies.
func exact(s guest.Size) string {
	short := s.String()
	if same, err := guest.ParseSize(short); err == nil && same == s {
		return short
	}
	return short + " (" + thousands(int(s)) + " bytes)"
}

// where says how deep is looked and how many are taken.
func (f Filter) where(deepByDefault bool) []string {
	var p []string
	switch max := f.maxDepth(); {
	case max == 1 && deepByDefault:
		p = append(p, "not in folders below")
	case max == 0 && !deepByDefault:
		p = append(p, "in all folders below too")
	case max > 1:
		p = append(p, strconv.Itoa(max)+" levels deep")
	}
	if f.Limit > 0 {
		p = append(p, "the first "+strconv.Itoa(f.Limit))
	}
	switch {
	case f.Sort != "":
		p = append(p, "sorted by "+sorted(f.Sort, f.Order))
	case f.Order == "desc":
		p = append(p, "in reverse order")
	case f.Order != "":
		p = append(p, "in order")
	}
	return p
}

func sorted(by, order string) string {
	first := map[string]string{"size": "largest first", "modified": "newest first", "accessed": "last opened first"}
	last := map[string]string{"size": "smallest first", "modified": "oldest first", "accessed": "longest unopened first"}
	switch {
	case first[by] == "":
		if order == "desc" {
			return by + ", backwards"
		}
		return by
	case order == "asc":
		return by + ", " + last[by]
	}
	return by + ", " + first[by]
}

// text is a path or pattern in a sentence, quoted where it would be misread.
func text(s string) string {
	if guest.IsVariable(s) {
		return earlier(s)
	}
	s = guest.Plain(s)
	if s == "" || strings.ContainsAny(s, " ,;:\"'\n\t") {
		return strconv.Quote(s)
	}
	return s
}

// earlier names what a variable stands for: deleting the duplicates that were
// found is not deleting the files that would be kept.
func earlier(variable string) string {
	_, field, _ := strings.Cut(variable, ".")
	switch field {
	case "", "paths", "entries":
		return "what an earlier step found"
	case "duplicates":
		return "the duplicates that an earlier step found"
	case "kept":
		return "the files that an earlier step would keep"
	}
	return "what an earlier step found (" + field + ")"
}

func texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}

// place is a path in a sentence.
func place(p string) string {
	if guest.Clean(p) == "." {
		return "this folder"
	}
	return text(p)
}

func places(paths []string) string {
	if len(paths) == 0 {
		return "this folder"
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = place(p)
	}
	return joinAnd(out)
}

// what names the things a call is about: "pdf files in inbox, of at least 1 MB".
func what(f Filter, paths, items []string, deep bool) string {
	if len(items) == 0 && len(f.Pattern) == 0 && allFiles(paths) {
		items, paths = paths, nil
	}
	if len(items) > 0 && len(paths) == 0 {
		// Items are meant themselves: kind and depth say nothing of them.
		f.Kind, f.Recursive, f.Depth = "", deep, 0
		p := append([]string{places(items)}, f.phrases(deep)...)
		if noun := f.noun(); noun != "files" && noun != "everything" {
			p = slices.Insert(p, 1, "only "+noun)
		}
		return strings.Join(p, ", ")
	}
	s := f.noun() + " in " + places(paths)
	if p := f.phrases(deep); len(p) > 0 {
		s += ", " + strings.Join(p, ", ")
	}
	if len(items) > 0 {
		s += "; and of " + places(items) + " what fits"
	}
	return s
}

// allFiles reports whether all names to look in are names of files, as far as a
// name tells: nothing lies in inbox/todo.txt.
func allFiles(paths []string) bool {
	for _, p := range paths {
		if guest.IsVariable(p) || len(typesOfExtension(extension(p))) == 0 {
			return false
		}
	}
	return len(paths) > 0
}

func saved(saveTo string) string {
	if saveTo == "" {
		return ""
	}
	return "; save the list to " + text(saveTo)
}

func detailed(details bool) string {
	if details {
		return ", with details"
	}
	return ""
}

func listSummary(in lookArgs) string {
	return "list " + what(in.Filter, in.Path, nil, false) + detailed(in.Details) + saved(in.SaveTo)
}

func findSummary(in lookArgs) string {
	return "find " + what(in.Filter, in.Path, nil, true) + detailed(in.Details) + saved(in.SaveTo)
}

func summarySummary(in summaryArgs) string {
	by := in.By
	switch by {
	case "", "folder":
		by = "for each folder"
	case "total":
		by = "in total"
	default:
		by = "for each " + by
	}
	return "add up the sizes, " + by + ", of " + what(in.Filter, in.Path, nil, true) + detailed(in.Details) + saved(in.SaveTo)
}

func duplicatesSummary(in lookArgs) string {
	return "find files of the same content among " + what(in.Filter, in.Path, nil, true) + detailed(in.Details) + saved(in.SaveTo)
}

func transferSummary(verb string) func(transferArgs) string {
	return func(in transferArgs) string {
		if in.KeepFolders && in.Kind == "" {
			in.Kind = kindFiles
		}
		s := verb + " " + what(in.Filter, in.Src, in.Items, true) + ", to " + place(in.Dst)
		if in.KeepFolders {
			s += ", with the folders they lie in"
		}
		return s
	}
}

func deleteSummary(in deleteArgs) string {
	return "delete " + what(in.Filter, in.Path, in.Items, true)
}

func renameSummary(in renameArgs) string {
	var how []string
	add := func(given bool, s string) {
		if given {
			how = append(how, s)
		}
	}
	add(in.NewName != "", "call it "+text(in.NewName))
	add(in.RemovePrefix != "", "take away "+strconv.Quote(in.RemovePrefix)+" from the start")
	add(in.RemoveSuffix != "", "take away "+strconv.Quote(in.RemoveSuffix)+" from the end")
	find := strconv.Quote(in.Find)
	if in.UseRegex {
		find = "/" + in.Find + "/"
	}
	if !in.IgnoreCase {
		find += ", in exactly this case,"
	}
	add(in.Find != "" && in.Replace == "", "take away "+find)
	add(in.Find != "" && in.Replace != "", "replace "+find+" by "+strconv.Quote(in.Replace))
	add(in.Case != "", "make it "+in.Case+" case")
	add(in.Prefix != "", "put "+strconv.Quote(in.Prefix)+" in front")
	add(in.Suffix != "", "put "+strconv.Quote(in.Suffix)+" at the end")
	numbers := "number them"
	if in.Start != nil {
		numbers += " from " + strconv.Itoa(*in.Start)
	}
	if in.Digits > 0 {
		numbers += " with " + count(in.Digits, "digit", "digits")
	}
	add(in.Number, numbers)
	add(in.Extension != "", "change the extension to "+strings.TrimLeft(in.Extension, "."))
	return "rename " + what(in.Filter, in.Path, in.Items, true) + ": " + strings.Join(how, ", ")
}

func foldersSummary(in folderArgs) string {
	if len(in.Paths) == 1 {
		return "make the folder " + text(in.Paths[0])
	}
	return "make the folders " + joinAnd(texts(in.Paths))
}

func archiveSummary(in archiveArgs) string {
	output, format, err := archiveName(in)
	if err != nil {
		output, format = in.Output, in.Format
	}
	return "pack " + what(in.Filter, in.Path, in.Items, true) + ", into " + text(output) + " (" + format + ")"
}

func extractSummary(in extractArgs) string {
	items := append(slices.Clone(in.Input), in.Items...)
	s := "unpack " + what(in.archives(), in.Path, items, true)
	own := len(in.Path) > 0 || len(items) > 1 || len(items) == 1 && guest.IsVariable(items[0])
	switch {
	case in.Dst != "" && own:
		return s + ", each into a folder of its name in " + place(in.Dst)
	case in.Dst != "":
		return s + ", into " + place(in.Dst)
	case own:
		return s + ", each into a folder of its name"
	}
	return s + ", into a folder of its name"
}

func organizeSummary(in organizeArgs) string {
	by := in.By
	if by == "" {
		by = "type"
	}
	s := "sort " + what(in.Filter, in.Path, nil, false) + ", into a folder for each " + by
	if in.Dst != "" {
		s += ", below " + place(in.Dst)
	}
	return s
}
