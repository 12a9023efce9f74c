package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// archiveArgs are the arguments of make_archive.
type archiveArgs struct {
	Path  []string `json:"path" role:"input"`
	Items []string `json:"items" role:"input"`
	Filter
	Output string `json:"output" role:"output"`
	Format string `json:"format" enum:"zip,tar.gz"`
}

// packArgs are the arguments of pack_files.
type packArgs struct {
	Files  []Entry `json:"files" required:"true"`
	Output string  `json:"output" role:"output" required:"true"`
	Format string  `json:"format" enum:"zip,tar.gz" required:"true"`
}

const (
	formatZip   = "zip"
	formatTarGz = "tar.gz"
)

func expandArchive(in archiveArgs) ([]guest.Call, error) {
	output, format, err := archiveName(in)
	if err != nil {
		return nil, err
	}
	scan := guest.ArgsOf(scanArgs{Path: in.Path, Items: in.Items, Filter: in.Filter, Whole: true})
	return []guest.Call{
		{Tool: "scan_files", Args: scan, Output: "$found"},
		{Tool: "pack_files", Args: map[string]any{"files": "$found.entries", "output": output, "format": format}, Output: "$packed"},
	}, nil
}

// archiveName is the name and format of an archive, from what was asked.
func archiveName(in archiveArgs) (output, format string, err error) {
	output, format = strings.TrimSuffix(in.Output, "/"), in.Format
	if output == "" {
		output = defaultArchive(in)
	}
	byName := ""
	switch lower := strings.ToLower(output); {
	case strings.HasSuffix(lower, ".zip"):
		byName = formatZip
	case strings.HasSuffix(lower, ".tar.gz"), strings.HasSuffix(lower, ".tgz"):
		byName = formatTarGz
	case in.Output != "" && unpackable(lower):
		return "", "", guest.Errorf(abi.CodeUnsupported, "%q cannot be made; name a .zip or .tar.gz file", in.Output)
	}
	switch {
	case format == "" && byName == "":
		format = formatZip
	case format == "":
		format = byName
	case byName != "" && byName != format:
		return "", "", guest.Errorf(abi.CodeBadRequest, "%q is the name of a %s archive, and %s was asked for", in.Output, byName, format)
	}
	if byName == "" {
		output += "." + format
	}
	return output, format, nil
}

// unpackable reports whether a name is that of an archive of another kind.
func unpackable(name string) bool {
	switch path.Ext(name) {
	case ".tar", ".gz", ".7z", ".rar", ".bz2", ".xz", ".zst":
		return true
	}
	return false
}

// defaultArchive names an archive after the one thing that is packed, and puts
// it beside that.
func defaultArchive(in archiveArgs) string {
	things := append(append([]string{}, in.Path...), in.Items...)
	if len(things) != 1 || guest.IsVariable(things[0]) || guest.Clean(things[0]) == "." {
		return "archive"
	}
	name := guest.Clean(things[0])
	if len(in.Items) == 1 {
		stem, _ := splitName(path.Base(name), false)
		return path.Join(path.Dir(name), stem)
	}
	return name
}

func packFiles(ctx guest.Context, in packArgs) (Made, error) {
	if len(in.Files) == 0 {
		return Made{}, guest.Errorf(abi.CodeNotFound, "nothing matches, so there is nothing to pack into %q", in.Output)
	}
	output := guest.Clean(in.Output)
	if err := free(ctx, output); err != nil {
		return Made{}, err
	}
	p := &packer{ctx: ctx, files: ctx.Files(), buffer: make([]byte, 256<<10), names: map[string]string{}}
	for _, e := range in.Files {
		if err := p.plan(guest.Clean(e.Path), guest.Clean(cmp.Or(e.Name, e.Path))); err != nil {
			return Made{}, err
		}
	}
	if len(p.clashes) > 0 {
		return Made{}, guest.Errorf(abi.CodeConflict, "nothing was packed: %s", some(p.clashes, clashesShown))
	}
	if err := ctx.Files().MkdirAll(path.Dir(output)); err != nil {
		return Made{}, err
	}
	file, err := ctx.Files().Create(output)
	if err != nil {
		return Made{}, err
	}
	if err := p.write(newArchive(file, in.Format)); err != nil {
		file.Close()
		return Made{}, err
	}
	if err := file.Close(); err != nil {
		return Made{}, err
	}
	return Made{Paths: []string{output}, Count: p.count, Bytes: p.bytes}, nil
}

// packer puts files and folders into an archive. The same files with the same
// times give the same bytes.
type packer struct {
	ctx     guest.Context
	files   *guest.Files
	buffer  []byte
	head    []byte        // of the file at hand
	taster  *flate.Writer // tells how dense that is
	planned []packed
	names   map[string]string // name in the archive → path
	clashes []string
	count   int
	bytes   int64
	total   int64
}

// packed is one file or folder to be packed.
type packed struct {
	path, inside string
	info         fs.FileInfo
}

// plan notes a file, or a folder with all that is in it.
func (p *packer) plan(name, inside string) error {
	info, err := p.files.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		p.ctx.Issue("%s is no file and is not packed", name)
		return nil
	}
	if other, ok := p.names[inside]; ok {
		p.clashes = append(p.clashes, quoted(other)+" and "+quoted(name)+" would both be "+quoted(inside)+" in the archive")
		return nil
	}
	p.names[inside] = name
	p.planned = append(p.planned, packed{name, inside, info})
	if !info.IsDir() {
		p.total += info.Size()
		return nil
	}
	entries, err := p.files.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		full := path.Join(name, e.Name())
		if !isText(p.ctx, full) {
			continue
		}
		if err := p.plan(full, path.Join(inside, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (p *packer) write(out archive) error {
	for _, m := range p.planned {
		var err error
		if m.info.IsDir() {
			err = out.folder(m.inside, m.info.ModTime())
		} else {
			err = p.file(out, m)
		}
		if err != nil {
			return err
		}
	}
	return out.close()
}

func (p *packer) file(out archive, m packed) error {
	in, err := p.files.Open(m.path)
	if err != nil {
		return err
	}
	defer in.Close()
	if p.head == nil {
		p.head = make([]byte, sample)
	}
	head := p.head[:min(sample, m.info.Size())]
	k, err := io.ReadFull(in, head)
	if err != nil && !ended(err) {
		return err
	}
	to, err := out.file(m.inside, m.info.Size(), m.info.ModTime(), p.dense(head[:k]))
	if err != nil {
		return err
	}
	c := &counter{w: to, progress: func(n int64) { p.ctx.Progress(float64(p.bytes+n), float64(p.total), "packing") }}
	n, err := io.CopyBuffer(c, io.MultiReader(bytes.NewReader(head[:k]), onlyReader{in}), p.buffer)
	p.bytes += n
	p.count++
	if err == nil && n != m.info.Size() {
		return guest.Errorf(abi.CodeFailed, "%s changed while it was packed", m.path)
	}
	return err
}

// sample is how much of a file tells whether packing it is worth the time.
const sample = 64 << 10

// dense reports whether bytes are as good as random, as those of photos, films
// and archives are.
func (p *packer) dense(head []byte) bool {
	if len(head) < 1024 {
		return false
	}
	if p.taster == nil {
		p.taster, _ = flate.NewWriter(nil, flate.BestSpeed) // fails only for a level that does not exist
	}
	var packed bytes.Buffer
	p.taster.Reset(&packed)
	p.taster.Write(head) // a buffer takes all
	p.taster.Close()
	return packed.Len() > len(head)*95/100
}

// squeezer lends one compressor to one file after the other: a new one for each
// of ten thousand small files would be most of the work.
type squeezer struct{ w *flate.Writer }

func (s *squeezer) compress(to io.Writer) (io.WriteCloser, error) {
	if s.w != nil {
		s.w.Reset(to)
		return s.w, nil
	}
	w, err := flate.NewWriter(to, level)
	s.w = w
	return w, err
}

// archive is one being written.
type archive interface {
	folder(name string, modified time.Time) error
	// file begins a file; dense says that packing will not make it smaller.
	file(name string, size int64, modified time.Time, dense bool) (io.Writer, error)
	close() error
}

// level is nearly as small as the default one and almost three times as fast,
// which counts in a module.
const level = 4

func newArchive(w io.Writer, format string) archive {
	if format == formatZip {
		z := zip.NewWriter(w)
		z.RegisterCompressor(zip.Deflate, new(squeezer).compress)
		return zipArchive{z}
	}
	gz, err := gzip.NewWriterLevel(w, level)
	if err != nil { // only for a level that does not exist
		gz = gzip.NewWriter(w)
	}
	return tarArchive{tar.NewWriter(gz), gz}
}

type zipArchive struct{ *zip.Writer }

func (a zipArchive) folder(name string, modified time.Time) error {
	_, err := a.CreateHeader(&zip.FileHeader{Name: name + "/", Modified: modified.UTC()})
	return err
}

func (a zipArchive) file(name string, _ int64, modified time.Time, dense bool) (io.Writer, error) {
	method := zip.Deflate
	if dense {
		method = zip.Store
	}
	return a.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: modified.UTC()})
}

func (a zipArchive) close() error { return a.Close() }

type tarArchive struct {
	*tar.Writer
	gz *gzip.Writer
}

func (a tarArchive) folder(name string, modified time.Time) error {
	return a.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: modified.Truncate(time.Second)})
}

func (a tarArchive) file(name string, size int64, modified time.Time, _ bool) (io.Writer, error) {
	err := a.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: modified.Truncate(time.Second)})
	return a.Writer, err
}

func (a tarArchive) close() error {
	if err := a.Close(); err != nil {
		return err
	}
	return a.gz.Close()
}

func formatPacked(out Made, dryRun bool) []guest.Item {
	if len(out.Paths) == 0 {
		return nil
	}
	text := done(dryRun, "packed") + " " + count(out.Count, "file", "files") + ", " + guest.Size(out.Bytes).String() + ", into " + out.Paths[0]
	return []guest.Item{{Kind: abi.ItemInfo, Message: text, Path: out.Paths[0]}}
}
