//go:build !(linux || openbsd || dragonfly || solaris || illumos || darwin || ios || freebsd || netbsd || windows || wasip1)

package guest

import "time"

func accessed(any) (time.Time, bool) { return time.Time{}, false }
