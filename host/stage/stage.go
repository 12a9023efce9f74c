// Package stage is the on-disk form of a stage: an append-only log of effects
// and flat blobs beside it. host/sandbox writes it inside the worker;
// host/commit reads it back as hostile data. The package knows the format and
// its hard rules (bounds, checksums, canonical names, one place a node); it
// knows no policy.
//
// Layout of a stage folder:
//
//	log      magic and version, then records: length, CRC-32C, payload
//	b/ID     content, a regular file
//	used     how many bytes the writers count in b, for their quota
//
// A record is a list of effects that apply at once. Effects, not intentions,
// so that a reader rebuilds the view's changes without the lower layer.
//
// A node is a file, folder or link that the view knows by number. One with an
// origin stands for something of the sandbox, whatever its place is now; one
// without was made by the run. An entry is what a folder's name leads to. An
// entry that hides says that the sandbox has something of its own at that
// place, which the view shows only through the entry's node: so a hiding entry
// with no node is a whiteout, and one that does not hide is a new name.
// Folders of the sandbox that lie on the way to a change have nodes too, in
// their own place.
//
// Content is never changed once the call that wrote it is sealed: a later call
// writes a new blob, so that what sealed calls made can be kept without what a
// failed one did.
package stage

import (
	"math"

	"stepbox.dev/abi"
)

// ID numbers nodes and blobs, which share one ascending sequence.
type ID uint64

// Root is the node of the sandbox itself: a folder with the origin "".
const Root ID = 1

// Bounds of the format. A log beyond one of them is refused.
const (
	MaxLog    = 256 << 20 // bytes of a log: moving a million files fits
	MaxRecord = 1 << 20   // bytes of a payload
	MaxID     = 1 << 32
	MaxNodes  = 2 << 20
	MaxName   = 255   // bytes of one path element
	MaxPath   = 64000 // bytes of an origin
	MaxTarget = 4095  // bytes of a link's target
	MaxDepth  = 1024  // folders
	MaxCall   = 1 << 20
)

// Kind of a node.
type Kind uint8

// The kinds of node.
const (
	File   Kind = 1
	Folder Kind = 2
	Link   Kind = 3
)

// Own in a time means that nothing was recorded: the content, or the origin,
// has its own.
const Own int64 = math.MinInt64

// Origin is what a node stands for in the sandbox.
type Origin struct {
	// Path below the sandbox's root when the run began, with slashes. It never
	// changes, wherever the node goes.
	Path string
	// Dev and Ino are what the worker saw there; the host does not trust them.
	Dev, Ino uint64
}

// Op says what an effect does.
type Op uint8

// The effects.
const (
	OpNode    Op = 1 // define node ID: Kind, HasOrigin and Origin, or the Target of a new link
	OpContent Op = 2 // the content of file ID is from now on b/Blob
	OpTimes   Op = 3 // the times of ID are Atime and Mtime, nanoseconds or Own
	OpEntry   Op = 4 // Name in folder Parent leads to ID, or to nothing when ID is 0
	OpDies    Op = 5 // node ID, which has no place, is gone
	OpSeal    Op = 6 // the call ended well; alone in its record
)

// Effect is one change of the tree; Op says which fields count.
type Effect struct {
	Op           Op
	ID           ID
	Kind         Kind
	HasOrigin    bool
	Origin       Origin
	Target       string
	Blob         ID
	Atime, Mtime int64
	Parent       ID
	Name         string
	Hides        bool
}

// Record is what one operation did.
type Record struct {
	Call    int      // index of the call in the program
	Mode    abi.Mode // of the call, as the worker says
	Time    int64    // nanoseconds since 1970, as the worker says
	Effects []Effect
}
