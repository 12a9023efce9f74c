//go:build !wasip1

package guest

import (
	"io/fs"
	"time"
)

// Accessed is when a file was last opened. Natively it is when it was last
// changed: access times differ from system to system, and handlers that depend
// on them are tested as modules.
func Accessed(info fs.FileInfo) time.Time { return info.ModTime() }

// corrected is for modules, whose system tells less.
func corrected(info fs.FileInfo) fs.FileInfo { return info }
