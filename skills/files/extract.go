package main

import (
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// extractArgs are the arguments of extract_archive.
type extractArgs struct {
	Input []string `json:"input" role:"input"`
	Path  []string `json:"path" role:"input"`
	Items []string `json:"items" role:"input"`
	Filter
	Dst string `json:"dst" role:"output"`
}

// unpackArgs are the arguments of unpack_files.
type unpackArgs struct {
	Files []Entry `json:"files" required:"true"`
	Dst   string  `json:"dst" role:"output"`
}

func expandExtract(in extractArgs) ([]guest.Call, error) {
	if in.Kind == kindFolders {
		return nil, guest.Errorf(abi.CodeUnsupported, "archives are files; folders cannot be unpacked")
	}
	in.Kind = kindFiles
	items := append(slices.Clone(in.Input), in.Items...)
	if len(items)+len(in.Path) == 0 {
		return nil, guest.Errorf(abi.CodeBadRequest, "it is not said what to unpack: name archives in input, or folders to look in")
	}
	unpack := map[string]any{"files": "$found.entries"}
	if in.Dst != "" {
		unpack["dst"] = in.Dst
	}
	return []guest.Call{
		{Tool: "scan_files", Args: guest.ArgsOf(scanArgs{Path: in.Path, Items: items, Filter: in.archives()}), Output: "$found"},
		{Tool: "unpack_files", Args: unpack, Output: "$unpacked"},
	}, nil
}

// archives is the filter, narrowed to archives where folders are looked in and
// the request names no kind of file itself: what else lies there is not meant.
func (in extractArgs) archives() Filter {
	f := in.Filter
	named := len(f.Pattern) > 0
	for _, p := range f.Pattern {
		named = named && strings.Trim(path.Ext(p), ".*?") != ""
	}
	if len(in.Path) > 0 && len(f.FileType) == 0 && !named {
		f.FileType = []string{"archive"}
	}
	return f
}

// What an archive may unpack to. A bomb is small and unpacks to very much: the
// ratio counts only beyond a size that hurts nobody.
const (
	maxEntries      = 200_000
	maxUnpacked     = 32 << 30 // bytes
	maxRatio        = 200
	ratioFrom       = 256 << 20 // bytes
	maxArchiveDepth = 64
)

// member is one file or folder in an archive.
type member struct {
	name     string // cleaned, with slashes
	folder   bool
	size     int64
	modified time.Time
}

// source reads one archive. each calls visit for every file and folder, in
// order; read is nil for a folder. It may be called more than once.
type source interface {
	each(visit func(m member, read io.Reader) error) error
}

// unpacking is one archive on its way into a folder.
type unpacking struct {
	archive string
	src     source
	dst     string
	strip   string // a first folder that is left out: dst is it
	bytes   int64
}

func unpackFiles(ctx guest.Context, in unpackArgs) (Made, error) {
	var all []*unpacking
	p := &unpackPlan{ctx: ctx, made: map[string]string{}, folded: map[string]string{}, folders: map[string]bool{},
		places: map[string]string{}, taken: newNames(ctx)}
	for _, e := range in.Files {
		u, closer, err := openArchive(ctx, guest.Clean(e.Path))
		var failed *abi.Error
		if errors.As(err, &failed) && failed.Code == abi.CodeUnsupported && !e.Named {
			ctx.Issue("%v; it is left out", err)
			continue
		}
		if err != nil {
			return Made{}, err
		}
		defer closer.Close()
		// One archive that was named goes right into the folder that was named.
		direct := e.Named && len(in.Files) == 1
		if err := p.plan(u, in.Dst, direct); err != nil {
			return Made{}, err
		}
		all = append(all, u)
	}
	if len(p.clashes) > 0 {
		return Made{}, guest.Errorf(abi.CodeConflict, "nothing was unpacked: %s", some(p.clashes, clashesShown))
	}
	return p.unpack(all)
}

// unpackPlan looks through archives before anything is written.
type unpackPlan struct {
	ctx     guest.Context
	made    map[string]string // path → the archive it comes from
	folded  map[string]string // the same without regard to case → path
	folders map[string]bool   // which of made are folders
	places  map[string]string // folder unpacked into → the archive it is for
	taken   *names
	clashes []string
	entries int
	bytes   int64
}

// plan checks every name and size of an archive, and where each would go.
func (p *unpackPlan) plan(u *unpacking, dst string, direct bool) error {
	var members []member
	err := u.src.each(func(m member, read io.Reader) error {
		if p.entries++; p.entries > maxEntries {
			return guest.Errorf(abi.CodeLimit, "%s holds more than %d files", u.archive, maxEntries)
		}
		if strings.Count(m.name, "/") >= maxArchiveDepth {
			return guest.Errorf(abi.CodeBadInput, "%s holds folders within folders too deep: %q", u.archive, m.name)
		}
		p.bytes += m.size
		if p.bytes > maxUnpacked {
			return guest.Errorf(abi.CodeLimit, "%s would unpack to more than %s", u.archive, guest.Size(maxUnpacked))
		}
		members = append(members, m)
		return nil
	})
	if err != nil {
		return err
	}
	u.place(dst, direct, members)
	if other, ok := p.places[u.dst]; ok && !isSingle(u.src) {
		p.clashes = append(p.clashes, quoted(other)+" and "+quoted(u.archive)+" would both be unpacked into "+quoted(u.dst))
		return nil
	}
	if !isSingle(u.src) {
		p.places[u.dst] = u.archive
	}
	for _, m := range members {
		if name := u.target(m.name); name != "" {
			p.claim(u, name, m)
		}
	}
	return nil
}

// place chooses the folder to unpack into: the one that was named when direct,
// else one named after the archive, in the one that was named or beside the
// archive. When all that an archive holds lies in a folder of that very name
// already, it is not put into another one.
func (u *unpacking) place(dst string, direct bool, members []member) {
	if dst != "" && direct {
		u.dst = guest.Clean(dst)
		return
	}
	u.dst = strings.TrimSuffix(u.archive, archiveExtension(u.archive))
	if dst != "" {
		u.dst = path.Join(guest.Clean(dst), path.Base(u.dst))
	}
	if isSingle(u.src) {
		u.dst = path.Dir(u.dst)
		return
	}
	first := path.Base(u.dst)
	for _, m := range members {
		if m.name != first && !strings.HasPrefix(m.name, first+"/") || m.name == first && !m.folder {
			return
		}
	}
	u.strip = first
}

// target is the path that a member gets, "" for the folder that is left out.
func (u *unpacking) target(name string) string {
	if u.strip != "" {
		name = strings.TrimPrefix(strings.TrimPrefix(name, u.strip), "/")
		if name == "" {
			return ""
		}
	}
	return path.Join(u.dst, name)
}

// claim notes that a path will be made, and every reason why it cannot be.
func (p *unpackPlan) claim(u *unpacking, name string, m member) {
	clash := func(why string) { p.clashes = append(p.clashes, why) }
	if other, ok := p.made[name]; ok {
		if !m.folder || !p.folders[name] {
			if other == u.archive {
				clash(u.archive + " holds " + quoted(m.name) + " twice")
			} else {
				clash(other + " and " + u.archive + " both hold " + quoted(m.name))
			}
		}
		return
	}
	// Folders above it come first: a file where a folder must be is a clash.
	for dir := path.Dir(name); dir != "." && !p.folders[dir]; dir = path.Dir(dir) {
		if _, ok := p.made[dir]; ok {
			clash(quoted(dir) + " would be a file and a folder")
			return
		}
		p.note(u, dir, true, clash)
	}
	p.note(u, name, m.folder, clash)
	if p.taken.taken(name) {
		info, err := p.ctx.Files().Lstat(name)
		if !m.folder || err != nil || !info.IsDir() {
			clash(quoted(name) + " is there already")
		}
	}
}

func (p *unpackPlan) note(u *unpacking, name string, folder bool, clash func(string)) {
	p.made[name], p.folders[name] = u.archive, folder
	low := strings.ToLower(name)
	if other, ok := p.folded[low]; ok && other != name {
		clash(quoted(other) + " and " + quoted(name) + " differ only in case")
		return
	}
	p.folded[low] = name
}

// unpack writes what was planned.
func (p *unpackPlan) unpack(all []*unpacking) (Made, error) {
	out := Made{Paths: []string{}}
	w := &unpackWriter{ctx: p.ctx, total: p.bytes, buffer: make([]byte, 256<<10), made: map[string]bool{}}
	tops := map[string]bool{}
	for _, u := range all {
		err := u.src.each(func(m member, read io.Reader) error {
			name := u.target(m.name)
			if name == "" {
				return nil
			}
			if top := u.top(name); !tops[top] {
				tops[top] = true
				out.Paths = append(out.Paths, top)
			}
			if m.folder {
				w.folderTimes = append(w.folderTimes, member{name: name, modified: m.modified})
				return w.folder(name)
			}
			out.Count++
			return w.file(name, m, read)
		})
		if err != nil {
			return Made{}, err
		}
	}
	out.Bytes = w.done
	return out, w.times()
}

// top is what a result names of a path that was made: the folder that was
// unpacked into, or the file itself when that folder was there before.
func (u *unpacking) top(name string) string {
	if u.dst == "." || u.strip == "" && isSingle(u.src) {
		rest := strings.TrimPrefix(name, u.dst+"/")
		first, _, _ := strings.Cut(rest, "/")
		return path.Join(u.dst, first)
	}
	return u.dst
}

func isSingle(s source) bool { _, ok := s.(*gzipSource); return ok }

// unpackWriter writes members.
type unpackWriter struct {
	ctx         guest.Context
	buffer      []byte
	made        map[string]bool
	folderTimes []member
	done, total int64
}

func (w *unpackWriter) folder(name string) error {
	if w.made[name] {
		return nil
	}
	w.made[name] = true
	return w.ctx.Files().MkdirAll(name)
}

func (w *unpackWriter) file(name string, m member, read io.Reader) error {
	if err := w.folder(path.Dir(name)); err != nil {
		return err
	}
	// One byte more than announced shows that the announcement lied.
	limited := io.LimitReader(read, m.size+1)
	n, err := writeFile(w.ctx.Files(), name, limited, w.buffer, m.modified, func(n int64) {
		w.ctx.Progress(float64(w.done+n), float64(w.total), "unpacking")
	})
	w.done += n
	if err == nil && n != m.size {
		return guest.Errorf(abi.CodeBadInput, "%q in the archive is not as long as the archive says", m.name)
	}
	return broken(err, m.name)
}

// times gives folders the times they had, the deepest first.
func (w *unpackWriter) times() error {
	slices.SortStableFunc(w.folderTimes, func(a, b member) int { return strings.Count(b.name, "/") - strings.Count(a.name, "/") })
	for _, m := range w.folderTimes {
		if !m.modified.IsZero() {
			if err := w.ctx.Files().Chtimes(m.name, m.modified, m.modified); err != nil {
				return err
			}
		}
	}
	return nil
}

// memberName cleans a name from an archive, or says why the archive is refused;
// an errReason says why this member alone is left out. An empty name without
// error is the archive's own top folder.
func memberName(archive, name string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", guest.Errorf(abi.CodeBadInput, "%s is refused: it holds the name %q, which %s", archive, name, why)
	}
	slashed := strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(slashed, "/") {
		return refuse("leads out of the folder")
	}
	var parts []string
	for _, part := range strings.Split(slashed, "/") {
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			return refuse("leads out of the folder")
		case len(part) == 2 && part[1] == ':' && len(parts) == 0:
			return refuse("leads out of the folder")
		case len(part) > 255:
			return refuse("is too long")
		case strings.ContainsRune(part, 0):
			return refuse("is no name")
		case strings.ContainsFunc(part, unicode.IsControl):
			// Odd, and no reason to refuse the rest of the archive.
			return "", errReason("its name holds characters that cannot be shown")
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "/"), nil
}

// pathsShown is how many of the paths that were made a result names.
const pathsShown = 20

func formatExtracted(out Made, dryRun bool) []guest.Item {
	if len(out.Paths) == 0 {
		return []guest.Item{{Kind: abi.ItemInfo, Message: "nothing to unpack"}}
	}
	text := done(dryRun, "unpacked") + " " + count(out.Count, "file", "files") + ", " + guest.Size(out.Bytes).String()
	items := []guest.Item{{Kind: abi.ItemInfo, Message: text}}
	for i, p := range out.Paths {
		if i == pathsShown {
			return append(items, moreItem(len(out.Paths)-i))
		}
		items = append(items, guest.Item{Kind: abi.ItemOutput, Message: p, Path: p})
	}
	return items
}
