//go:build darwin || ios || freebsd || netbsd

package guest

import (
	"syscall"
	"time"
)

func accessed(sys any) (time.Time, bool) {
	if s, ok := sys.(*syscall.Stat_t); ok {
		return time.Unix(s.Atimespec.Unix()), true
	}
	return time.Time{}, false
}
