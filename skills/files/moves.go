package main

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// move is one file or folder and the path it is to get.
type move struct {
	From   string `json:"from"`
	To     string `json:"to"`
	folder bool
	size   int64
	stays  bool // it could not be moved, and the others were
}

// names tells which names are taken, reading each folder once: for ten
// thousand moves into one folder that is one look instead of ten thousand.
type names struct {
	files *guest.Files
	dirs  map[string]map[string]bool
}

func newNames(ctx guest.Context) *names {
	return &names{files: ctx.Files(), dirs: map[string]map[string]bool{}}
}

func (n *names) taken(name string) bool {
	dir := path.Dir(name)
	list, ok := n.dirs[dir]
	if !ok {
		// A folder that is not there, or cannot be read, holds nothing that is
		// known; making it will say what is wrong with it.
		entries, _ := n.files.ReadDir(dir)
		list = make(map[string]bool, len(entries))
		for _, e := range entries {
			list[e.Name()] = true
		}
		n.dirs[dir] = list
	}
	return list[path.Base(name)]
}

// clashesShown bounds how many clashes an error names.
const clashesShown = 100

// checkMoves refuses, before anything is changed, moves that would give two
// things one name or take a name that is in use. A name that is given up by
// another of the moves is free, when vacating says that the moves give up names.
func checkMoves(ctx guest.Context, moves []move, vacating bool) error {
	from := make(map[string]bool, len(moves))
	to := make(map[string]string, len(moves))
	for _, m := range moves {
		from[m.From] = true
	}
	taken := newNames(ctx)
	var clashes []string
	for _, m := range moves {
		if other, ok := to[m.To]; ok {
			clashes = append(clashes, quoted(other)+" and "+quoted(m.From)+" would both be "+quoted(m.To))
			continue
		}
		to[m.To] = m.From
		if taken.taken(m.To) && !(vacating && from[m.To]) {
			clashes = append(clashes, quoted(m.To)+" is there already, so "+quoted(m.From)+" cannot get that name")
		}
		if m.folder && strings.HasPrefix(m.To+"/", m.From+"/") {
			clashes = append(clashes, quoted(m.From)+" cannot be put into itself")
		}
	}
	if len(clashes) > 0 {
		return guest.Errorf(abi.CodeConflict, "nothing was changed: %s", some(clashes, clashesShown))
	}
	return nil
}

func quoted(s string) string { return strconv.Quote(s) }

// doMoves carries out moves that were checked, in an order in which no name is
// needed before it is given up. A circle goes through a name of its own.
func doMoves(ctx guest.Context, moves []move, label string) error {
	waiting := make(map[string]int, len(moves)) // path given up → index
	for i, m := range moves {
		waiting[m.From] = i
	}
	made := map[string]bool{}
	state := make([]byte, len(moves)) // 0 open, 1 begun, 2 done
	finished := 0
	var do func(i int) error
	do = func(i int) error {
		m := &moves[i]
		state[i] = 1
		from := m.From
		if next, ok := waiting[m.To]; ok && next != i {
			switch state[next] {
			case 0:
				if err := do(next); err != nil {
					return err
				}
				if moves[next].stays {
					return guest.Errorf(abi.CodeConflict, "%q stays where it is, so %q cannot get that name", m.To, from)
				}
			case 1: // a circle: step aside
				aside := asideName(ctx, moves[next].From)
				if err := ctx.Files().Rename(moves[next].From, aside); err != nil {
					return err
				}
				moves[next].From = aside
			}
			from = m.From // it may have stepped aside meanwhile
		}
		var err error
		if m.stays, err = put(ctx, from, m.To, made); err != nil {
			return err
		}
		state[i] = 2
		finished++
		ctx.Progress(float64(finished), float64(len(moves)), label)
		return nil
	}
	for i := range moves {
		if state[i] == 0 {
			if err := do(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// put moves one thing, into a folder that is made when it is not in made. Pipes,
// sockets and devices stay where they are, and no folder is made for them.
func put(ctx guest.Context, from, to string, made map[string]bool) (stays bool, err error) {
	if dir := path.Dir(to); !made[dir] {
		if unmovable(ctx, from) {
			return true, nil
		}
		if err := ctx.Files().MkdirAll(dir); err != nil {
			return false, err
		}
		made[dir] = true
	}
	if err = ctx.Files().Rename(from, to); err != nil && unmovable(ctx, from) {
		return true, nil
	}
	return false, err
}

// unmovable reports whether something is neither file, folder nor link, and
// remarks on it.
func unmovable(ctx guest.Context, name string) bool {
	const known = fs.ModeDir | fs.ModeSymlink
	info, err := ctx.Files().Lstat(name)
	if err != nil || info.Mode()&fs.ModeType&^known == 0 {
		return false
	}
	ctx.Issue("%s is no file, folder or link and stays where it is", name)
	return true
}

// asideName is a free name beside another.
func asideName(ctx guest.Context, name string) string {
	for i := 1; ; i++ {
		aside := path.Join(path.Dir(name), "renaming-"+strconv.Itoa(i)+".tmp")
		if _, err := ctx.Files().Lstat(aside); err != nil {
			return aside
		}
	}
}

// Moved is the result of what gives files other paths.
type Moved struct {
	Paths []string `json:"paths"` // the new ones
	Moves []move   `json:"moves,omitempty"`
	Count int      `json:"count"`
	Bytes int64    `json:"bytes,omitempty"`
	// Same is how many are where and what they should be already.
	Same int    `json:"same,omitempty"`
	To   string `json:"to,omitempty"` // the one folder, when there is one
}

func movedOf(ctx guest.Context, moves []move, original []string, same int) Moved {
	out := Moved{Paths: []string{}, Count: len(moves), Same: same}
	room := budget(resultBytes)
	for i, m := range moves {
		out.Bytes += m.size
		if dir := path.Dir(m.To); i == 0 {
			out.To = dir
		} else if out.To != dir {
			out.To = ""
		}
		if len(out.Paths) == i && room.take(2*len(m.To)+len(original[i])+50) {
			out.Paths = append(out.Paths, m.To)
			out.Moves = append(out.Moves, move{From: original[i], To: m.To})
		}
	}
	if len(out.Paths) < len(moves) {
		ctx.Issue("only the first %s of %s are listed in the result", thousands(len(out.Paths)), thousands(len(moves)))
	}
	return out
}

// runMoves checks moves, does them, and tells the result.
func runMoves(ctx guest.Context, moves []move, same int, label string) (Moved, error) {
	original := make([]string, len(moves))
	for i, m := range moves {
		original[i] = m.From
	}
	if err := checkMoves(ctx, moves, true); err != nil {
		return Moved{}, err
	}
	if err := doMoves(ctx, moves, label); err != nil {
		return Moved{}, err
	}
	var done []move
	var from []string
	for i, m := range moves {
		if !m.stays {
			done, from = append(done, m), append(from, original[i])
		}
	}
	return movedOf(ctx, done, from, same), nil
}

// formatMoves tells how many went where. Which ones stands in the changes that
// the host shows, and in the result.
func formatMoves(verb string) func(Moved, bool) []guest.Item {
	return func(out Moved, dryRun bool) []guest.Item {
		if out.Count == 0 {
			text := "nothing matches"
			if out.Same > 0 {
				text = "nothing to do: " + sameAs(verb, out.Same)
			}
			return []guest.Item{{Kind: abi.ItemInfo, Message: text}}
		}
		text, same := done(dryRun, verb)+" "+count(out.Count, "item", "items"), ""
		if out.Same > 0 {
			same = "; " + sameAs(verb, out.Same)
		}
		switch {
		case verb == "renamed":
			return []guest.Item{{Kind: abi.ItemInfo, Message: text + same}}
		case out.To != "":
			return []guest.Item{{Kind: abi.ItemInfo, Message: text + " to " + folderName(out.To) + same, Path: beside(out.To)}}
		}
		return append([]guest.Item{{Kind: abi.ItemInfo, Message: text + same + ":"}}, perFolder(out.Moves)...)
	}
}

// sameAs tells of what was as it should be before.
func sameAs(verb string, n int) string {
	if verb == "renamed" {
		return count(n, "needs no change", "need no change")
	}
	return count(n, "is there already", "are there already")
}

// perFolder counts moves by the folder they went to, the fullest first.
func perFolder(moves []move) []guest.Item {
	counts := map[string]int{}
	var dirs []string
	for _, m := range moves {
		dir := path.Dir(m.To)
		if counts[dir] == 0 {
			dirs = append(dirs, dir)
		}
		counts[dir]++
	}
	slices.SortStableFunc(dirs, func(a, b string) int { return counts[b] - counts[a] })
	var items []guest.Item
	for _, dir := range dirs {
		items = append(items, guest.Item{Kind: abi.ItemOutput, Message: padLeft(thousands(counts[dir]), 9) + "  " + folderName(dir), Path: beside(dir)})
	}
	return items
}

// beside is the path that goes with a message: none for the top folder, which the
// message names already.
func beside(dir string) string {
	if dir == "." {
		return ""
	}
	return dir
}

func folderName(dir string) string {
	if dir == "." {
		return "the top folder"
	}
	return dir + "/"
}
