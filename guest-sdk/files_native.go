//go:build !wasip1

package guest

import (
	"io/fs"
	"time"
)

// Accessed is when a file was last opened, as far as its file system notes
// that; when it was last changed on a system that tells nothing.
func Accessed(info fs.FileInfo) time.Time {
	if t, ok := accessed(info.Sys()); ok {
		return t
	}
	return info.ModTime()
}

// corrected is for modules, whose system tells less.
func corrected(info fs.FileInfo) fs.FileInfo { return info }
