package main

import (
	"bytes"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"stepbox.dev/guest-sdk"
)

// extensions lists what each type of file is called, by its last extension. The
// first type that names an extension is the one that organizing goes by.
const extensions = `
image: jpg jpeg png gif bmp webp tif tiff heic heif svg raw cr2 nef arw dng ico psd avif jfif
video: mp4 mkv mov avi webm wmv flv m4v mpg mpeg 3gp ogv mts m2ts vob
audio: mp3 wav flac aac ogg oga opus m4a wma aiff aif mid midi
document: pdf doc docx odt rtf pages tex wpd xps djvu ps
spreadsheet: xls xlsx xlsm ods csv tsv numbers
presentation: ppt pptx odp pps ppsx
ebook: epub mobi azw azw3 fb2
archive: zip tar gz tgz bz2 tbz2 xz txz 7z rar zst lz lzma cab iso jar z
log: log
temporary: tmp temp swp swo part crdownload download
backup: bak old orig save bkp backup
script: sh bash zsh fish ps1 bat cmd awk
executable: exe msi bin app run appimage com dll so dylib deb rpm dmg apk elf
config: ini cfg conf config yaml yml toml env properties plist reg
code: go py js ts jsx tsx java c h cpp cc cxx hpp cs rb rs php swift kt kts scala pl pm lua r m mm sql html htm css scss less vue dart ex exs erl hs clj asm s ipynb sh bash zsh fish ps1 bat
text: txt text md markdown rst org adoc asc nfo me srt
font: ttf otf woff woff2 eot
data: json jsonl ndjson xml db sqlite sqlite3 parquet avro dat
script: py rb pl lua js
config: json xml
`

// plurals are how types are called in folders and sentences.
var plurals = map[string]string{
	"image": "images", "video": "videos", "audio": "audio", "document": "documents", "spreadsheet": "spreadsheets",
	"presentation": "presentations", "ebook": "ebooks", "archive": "archives", "log": "logs", "temporary": "temporary",
	"backup": "backups", "script": "scripts", "executable": "executables", "config": "config", "code": "code",
	"text": "text", "font": "fonts", "data": "data", "": "other",
}

// byExtension is made from extensions when a call first needs it.
var byExtension map[string][]string

func typesOfExtension(ext string) []string {
	if byExtension == nil {
		byExtension = map[string][]string{}
		for line := range strings.Lines(extensions) {
			kind, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
			for _, e := range strings.Fields(list) {
				byExtension[e] = append(byExtension[e], kind)
			}
		}
	}
	return byExtension[ext]
}

// extension is the last extension of a path, lower case, without its dot; "" of
// a name like .profile.
func extension(name string) string {
	base := strings.TrimLeft(path.Base(name), ".")
	i := strings.LastIndexByte(base, '.')
	if i <= 0 {
		return ""
	}
	return strings.ToLower(base[i+1:])
}

// typesOf returns the types of a file: by its extension, and when it has none,
// by its first bytes. A name like app.log.1 or notes.txt~ counts as what it
// was before.
func typesOf(files *guest.Files, e *entry) []string {
	name := path.Base(e.Path)
	if strings.HasSuffix(name, "~") {
		return []string{"backup"}
	}
	if strings.HasPrefix(name, "~$") || strings.HasPrefix(name, ".~") {
		return []string{"temporary"}
	}
	ext := extension(name)
	if ext != "" && digits(ext) == len(ext) {
		if inner := extension(strings.TrimSuffix(name, "."+ext)); inner != "" {
			return typesOfExtension(inner)
		}
	}
	if ext != "" {
		return typesOfExtension(ext)
	}
	if info, err := files.Lstat(e.Path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return sniff(files, e.Path)
}

// magics are first bytes that tell what a file is.
var magics = []struct{ bytes, kind string }{
	{"\x7fELF", "executable"}, {"MZ", "executable"}, {"\xcf\xfa\xed\xfe", "executable"}, {"\xca\xfe\xba\xbe", "executable"},
	{"%PDF-", "document"}, {"\x89PNG", "image"}, {"\xff\xd8\xff", "image"}, {"GIF8", "image"},
	{"PK\x03\x04", "archive"}, {"\x1f\x8b", "archive"}, {"BZh", "archive"}, {"7z\xbc\xaf", "archive"}, {"Rar!", "archive"},
	{"ID3", "audio"}, {"OggS", "audio"}, {"fLaC", "audio"}, {"SQLite format 3", "data"},
}

// sniff tells the type of a file without extension from its first bytes.
func sniff(files *guest.Files, name string) []string {
	file, err := files.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(file, head)
	head = head[:n]
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return []string{m.kind}
		}
	}
	if bytes.HasPrefix(head, []byte("#!")) {
		return []string{"script", "executable"}
	}
	if n == len(head) && n > utf8.UTFMax { // the cut may go through a rune
		for i := 0; i < utf8.UTFMax && !utf8.Valid(head); i++ {
			head = head[:len(head)-1]
		}
	}
	if n > 0 && utf8.Valid(head) && bytes.IndexByte(head, 0) < 0 {
		return []string{"text"}
	}
	return nil
}

// mainType is the one type that a file is organized under, "" for none.
func mainType(files *guest.Files, e *entry) string {
	if types := typesOf(files, e); len(types) > 0 {
		return types[0]
	}
	return ""
}
