package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// openArchive finds out from its first bytes what an archive is.
func openArchive(ctx guest.Context, name string) (*unpacking, io.Closer, error) {
	info, err := ctx.Files().Lstat(name)
	switch {
	case err != nil && guest.IsNotExist(err):
		return nil, nil, guest.Errorf(abi.CodeNotFound, "there is no %q", name)
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, guest.Errorf(abi.CodeBadRequest, "%q is no archive file", name)
	}
	file, err := ctx.Files().Open(name)
	if err != nil {
		return nil, nil, err
	}
	src, err := detect(ctx, name, file, info)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return &unpacking{archive: name, src: src}, file, nil
}

func detect(ctx guest.Context, name string, file *os.File, info fs.FileInfo) (source, error) {
	head := make([]byte, 512)
	n, _ := io.ReadFull(file, head)
	head = head[:n]
	switch text := string(head); {
	case strings.HasPrefix(text, "PK\x03\x04"), strings.HasPrefix(text, "PK\x05\x06"):
		r, err := zip.NewReader(file, info.Size())
		if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
			return nil, broken(err, name)
		}
		return &zipSource{teller: teller{ctx: ctx, archive: name}, size: info.Size(), r: r}, nil
	case isTar(name, head):
		return &tarSource{teller: teller{ctx: ctx, archive: name}, size: info.Size(), open: rewound(file)}, nil
	case strings.HasPrefix(text, "\x1f\x8b"):
		open := unzipped(file)
		first, err := open()
		if err != nil {
			return nil, broken(err, name)
		}
		inner := make([]byte, 512)
		n, err := io.ReadFull(first, inner)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, broken(err, name)
		}
		if isTar(name, inner[:n]) {
			return &tarSource{teller: teller{ctx: ctx, archive: name}, size: info.Size(), open: open}, nil
		}
		return &gzipSource{archive: name, size: info.Size(), modified: info.ModTime(), open: open}, nil
	}
	return nil, guest.Errorf(abi.CodeUnsupported, "%q cannot be unpacked: it is no zip, tar, tar.gz or gz file", name)
}

// isTar reports whether a file begins like a tar archive. The oldest kind has no
// mark, and an empty archive is all zeros: there the name decides.
func isTar(name string, head []byte) bool {
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return true
	}
	ext := strings.ToLower(archiveExtension(name))
	return len(head) == 512 && (ext == ".tar" || ext == ".tgz" || ext == ".tar.gz") && !strings.HasPrefix(string(head), "\x1f\x8b")
}

// rewound reads a file from its start.
func rewound(file *os.File) func() (io.Reader, error) {
	return func() (io.Reader, error) {
		_, err := file.Seek(0, io.SeekStart)
		return file, err
	}
}

func unzipped(file *os.File) func() (io.Reader, error) {
	return func() (io.Reader, error) {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		return gzip.NewReader(file)
	}
}

// archiveExtension is the part of a name that says what archive it is.
func archiveExtension(name string) string {
	lower := strings.ToLower(name)
	for _, ext := range []string{".tar.gz", ".tgz", ".tar", ".zip", ".gz"} {
		if strings.HasSuffix(lower, ext) && len(path.Base(name)) > len(ext) {
			return name[len(name)-len(ext):]
		}
	}
	if ext := path.Ext(name); ext != "" && ext != path.Base(name) {
		return ext
	}
	return ""
}

// broken says of errors from decoders that the archive is at fault.
func broken(err error, name string) error {
	var e *abi.Error
	var pe *fs.PathError
	if err == nil || errors.As(err, &e) || errors.As(err, &pe) {
		return err
	}
	return guest.Errorf(abi.CodeBadInput, "%q is damaged: %v", name, err)
}

// bomb reports whether so much cannot honestly come from an archive so small.
func bomb(archive string, unpacked, packed int64) error {
	if unpacked > ratioFrom && unpacked/maxRatio > packed {
		return guest.Errorf(abi.CodeBadInput, "%s is refused: it is %s and would unpack to more than %s", archive, guest.Size(packed), guest.Size(unpacked))
	}
	return nil
}

// teller says what of an archive is left out, in the first pass over it.
type teller struct {
	ctx     guest.Context
	archive string
	told    bool
}

const notAFile = "it is a link or no file"

func (t *teller) leaveOut(name, why string) {
	if !t.told {
		t.ctx.Issue("%q in %s is left out: %s", name, t.archive, why)
	}
}

// zipSource reads a zip archive.
type zipSource struct {
	teller
	size int64
	r    *zip.Reader
}

func (z *zipSource) each(visit func(member, io.Reader) error) error {
	var total int64
	for _, f := range z.r.File {
		name, err := memberName(z.archive, zipName(f))
		if reason, ok := err.(errReason); ok {
			z.leaveOut(f.Name, string(reason))
			continue
		}
		if err != nil {
			return err
		}
		mode := f.Mode()
		switch {
		case name == "":
			continue
		case f.Flags&1 != 0:
			return guest.Errorf(abi.CodeUnsupported, "%s is encrypted and cannot be unpacked", z.archive)
		case !mode.IsDir() && !mode.IsRegular():
			z.leaveOut(name, notAFile)
			continue
		case f.UncompressedSize64 > maxUnpacked:
			return guest.Errorf(abi.CodeLimit, "%q in %s would be larger than %s", name, z.archive, guest.Size(maxUnpacked))
		}
		m := member{name: name, folder: mode.IsDir(), modified: f.Modified}
		if m.folder {
			if err := visit(m, nil); err != nil {
				return err
			}
			continue
		}
		m.size = int64(f.UncompressedSize64)
		total += m.size
		if err := bomb(z.archive, total, z.size); err != nil {
			return err
		}
		if err := visit(m, &lazyFile{f: f}); err != nil {
			return broken(err, name)
		}
	}
	z.told = true
	return nil
}

// lazyFile opens a file of a zip archive at the first read: planning reads none.
type lazyFile struct {
	f *zip.File
	r io.ReadCloser
}

func (l *lazyFile) Read(p []byte) (int, error) {
	if l.r == nil {
		r, err := l.f.Open()
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	return l.r.Read(p)
}

// zipName is a name as text: UTF-8 where it is, else the code page of DOS.
func zipName(f *zip.File) string {
	if utf8.ValidString(f.Name) {
		return f.Name
	}
	upper := []rune(codePage437)
	var b strings.Builder
	for i := range len(f.Name) {
		if c := f.Name[i]; c < 0x80 {
			b.WriteByte(c)
		} else {
			b.WriteRune(upper[c-0x80])
		}
	}
	return b.String()
}

// codePage437 is the upper half of the code page that zip names without the
// UTF-8 mark are in.
const codePage437 = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0"

// tarSource reads a tar archive, packed or not.
type tarSource struct {
	teller
	size int64
	open func() (io.Reader, error)
}

func (t *tarSource) each(visit func(member, io.Reader) error) error {
	stream, err := t.open()
	if err != nil {
		return broken(err, t.archive)
	}
	var total int64 // as announced: a sparse file unpacks to more than it holds
	r := tar.NewReader(&gauge{r: stream, archive: t.archive, packed: t.size})
	for {
		h, err := r.Next()
		if err == io.EOF {
			t.told = true
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return broken(err, t.archive)
		}
		name, err := memberName(t.archive, tarName(h.Name))
		if reason, ok := err.(errReason); ok {
			t.leaveOut(h.Name, string(reason))
			continue
		}
		if err != nil {
			return err
		}
		m := member{name: name, modified: h.ModTime}
		switch h.Typeflag {
		case tar.TypeDir:
			m.folder = true
		case tar.TypeReg:
			m.size = h.Size
			if total += h.Size; total < 0 {
				return guest.Errorf(abi.CodeBadInput, "%s is damaged: its sizes make no sense", t.archive)
			}
			if err := bomb(t.archive, total, t.size); err != nil {
				return err
			}
		case tar.TypeXGlobalHeader:
			continue
		default:
			t.leaveOut(name, notAFile)
			continue
		}
		if name == "" {
			continue
		}
		if err := visit(m, r); err != nil {
			return broken(err, name)
		}
	}
}

func tarName(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		b.WriteRune(rune(name[i])) // as Latin-1
	}
	return b.String()
}

// gzipSource is one packed file that is no archive.
type gzipSource struct {
	archive  string
	size     int64
	unpacked int64 // known after the first pass
	modified time.Time
	open     func() (io.Reader, error)
}

func (g *gzipSource) each(visit func(member, io.Reader) error) error {
	stream, err := g.open()
	if err != nil {
		return broken(err, g.archive)
	}
	counted := &gauge{r: stream, archive: g.archive, packed: g.size}
	name := strings.TrimSuffix(path.Base(g.archive), archiveExtension(g.archive))
	if g.unpacked > 0 {
		return visit(member{name: name, size: g.unpacked, modified: g.modified}, counted)
	}
	n, err := io.Copy(io.Discard, counted)
	if err != nil {
		return broken(err, g.archive)
	}
	g.unpacked = n
	return visit(member{name: name, size: n, modified: g.modified}, strings.NewReader(""))
}

// gauge stops a stream that has become a bomb.
type gauge struct {
	r       io.Reader
	archive string
	n       int64
	packed  int64
}

func (g *gauge) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	g.n += int64(n)
	if b := bomb(g.archive, g.n, g.packed); b != nil {
		return 0, b
	}
	if g.n > maxUnpacked+maxEntries*1024 {
		return 0, guest.Errorf(abi.CodeLimit, "%s would unpack to more than %s", g.archive, guest.Size(maxUnpacked))
	}
	return n, err
}
