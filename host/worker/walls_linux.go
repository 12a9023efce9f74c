package worker

import (
	"errors"
	"fmt"
	"os"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// walls builds each wall in this child and then runs against it: what a wall
// is said to stop has to be seen to fail.
func (c *child) walls() error {
	limits := Wall{Name: "limits", Stands: true, Detail: "memory, file size, descriptors, processor time, no core dumps"}
	if err := limitResources(wallRules{memory: 64 << 20}); err != nil {
		limits.Stands, limits.Detail = false, err.Error()
	}
	files := Wall{Name: "landlock"}
	if v, err := ll.LandlockGetABIVersion(); err == nil {
		files.Detail = fmt.Sprintf("version %d", v)
	}
	files.add(restrictFiles(wallRules{}), func() error {
		if f, err := os.Open("/"); err == nil {
			f.Close()
			return errors.New("a forbidden folder could be opened")
		}
		return nil
	})
	calls := Wall{Name: "seccomp", Detail: "no processes, sockets, modes, owners, times, attributes"}
	calls.add(restrictCalls(), func() error {
		if fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
			_ = unix.Close(fd)
			return errors.New("a socket could be made")
		}
		if err := unix.Fchmod(fdSocket, 0o700); err == nil {
			return errors.New("a mode could be changed")
		}
		return nil
	})
	return writeFrame(c.conn, kindWalls, []Wall{limits, files, calls})
}

// add fills in how building a wall went, and then trying it.
func (w *Wall) add(err error, try func() error) {
	if err == nil {
		err = try()
	}
	w.Stands = err == nil
	if err != nil {
		w.Detail = err.Error()
	}
}
