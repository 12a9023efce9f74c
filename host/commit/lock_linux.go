package commit

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile opens or makes the file and locks it. Without wait it returns nil
// and no error when somebody else holds the lock. The lock belongs to the open
// file, so it goes when the process dies, and two openings in one process
// exclude each other.
func lockFile(path string, wait bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := unix.F_OFD_SETLK
	if wait {
		cmd = unix.F_OFD_SETLKW
	}
	for {
		lk := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
		err = unix.FcntlFlock(f.Fd(), cmd, &lk)
		if err != unix.EINTR {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if !wait && (errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES)) {
		return nil, nil
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}

// held reports whether somebody holds the lock of the file.
func held(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	lk := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lk) == nil && lk.Type != unix.F_UNLCK
}

// tick waits until the coarse clock that stamps files has passed this moment,
// and returns it: every change so far has an earlier stamp, every later one has
// this or a later one. The clock may lag by more than a tick, and newer kernels
// stamp some changes with the fine clock, so the fine one is what to pass.
func tick() time.Time {
	for start := time.Now(); ; time.Sleep(250 * time.Microsecond) {
		var ts unix.Timespec
		if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts) != nil {
			return time.Now()
		}
		if now := time.Unix(ts.Unix()); now.After(start) {
			return now
		}
	}
}

// umask returns the process's umask without setting it, which would race with
// every other thread.
func umask() uint32 {
	b, err := os.ReadFile("/proc/self/status")
	if err == nil {
		for line := range strings.SplitSeq(string(b), "\n") {
			if v, ok := strings.CutPrefix(line, "Umask:"); ok {
				if m, err := strconv.ParseUint(strings.TrimSpace(v), 8, 32); err == nil {
					return uint32(m)
				}
			}
		}
	}
	return 0o077
}

// sameMount reports whether a rename from folder a can work into folder b,
// changing nothing: the kernel compares the mounts before it notices that "."
// is no name to rename to.
func sameMount(a, b string) (bool, error) {
	probe := filepath.Join(a, ".probe")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		return false, err
	}
	defer os.Remove(probe)
	err := unix.Renameat2(unix.AT_FDCWD, probe, unix.AT_FDCWD, b+"/.", unix.RENAME_NOREPLACE)
	switch {
	case err == nil, isOtherMount(err):
		return false, nil
	case errors.Is(err, unix.EEXIST), errors.Is(err, unix.EBUSY):
		return true, nil
	}
	return false, err
}

// mayWrite says why the process may not add names to the folder, if it may not.
func mayWrite(dir string) error {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}

// ownedByMe reports whether the file is this user's and nobody else may use it.
func ownedByMe(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
