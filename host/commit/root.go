package commit

import "errors"

// errUnsupported is what every operation answers where the kernel lacks what a
// safe commit needs: openat2, renameat2 and locks of open files.
var errUnsupported = errors.New("this system cannot commit changes safely; stepbox needs Linux 5.6 or later")

// maxHeld is how many folders a root holds open: enough for maxDoubt operations.
const maxHeld = 2 * maxDoubt

// kindOf is a file's kind in stages and journals.
type kindOf byte

const (
	isFile   kindOf = 'f'
	isFolder kindOf = 'd'
	isLink   kindOf = 'l'
	isOther  kindOf = 'o' // a device, FIFO or socket: never touched
)

// entry returns the kind as changes name it.
func (k kindOf) entry() Entry {
	switch k {
	case isFolder:
		return Folder
	case isLink:
		return Link
	}
	return File
}

// identity is what the host saw of an object: enough to notice that somebody
// changed it since. Times are nanoseconds since 1970.
type identity struct {
	kind                kindOf
	dev, ino            uint64
	size                int64
	mtime, ctime, atime int64
	mode                uint32 // permission bits, with setuid, setgid, sticky
	uid, gid            uint32
	links               uint64
}

// same reports whether now is still the object that id describes, content and
// permissions included. A folder's times and size move with its entries, which
// are objects of their own, so only its identity counts. The change time is
// not compared: a rename moves it.
func (id identity) same(now identity) bool {
	if id.kind != now.kind || id.dev != now.dev || id.ino != now.ino || id.mode != now.mode || id.uid != now.uid || id.gid != now.gid {
		return false
	}
	return id.kind == isFolder || id.size == now.size && id.mtime == now.mtime
}

// untouched is same, with nothing done to the object at all since.
func (id identity) untouched(now identity) bool {
	return id.same(now) && (id.kind == isFolder || id.ctime == now.ctime)
}
