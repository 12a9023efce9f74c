package guest

import (
	"syscall"
	"time"
)

func accessed(sys any) (time.Time, bool) {
	if s, ok := sys.(*syscall.Win32FileAttributeData); ok {
		return time.Unix(0, s.LastAccessTime.Nanoseconds()), true
	}
	return time.Time{}, false
}
