package worker

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// wallRules say what a child needs in spite of its walls.
type wallRules struct {
	read   []string // folders to read
	write  []string // folders to read and write
	memory int64    // bytes of a guest's linear memory; 0 for a compile
	cpu    time.Duration
	files  uint64 // largest file it may write, 0 for the default
}

// minLandlock is the oldest Landlock that holds: version 3 covers truncation,
// and without that a read-only file could be emptied.
const minLandlock = 3

// confine builds every wall around this process, all threads, for good. It
// comes after the descriptors are open and before anything of the module is
// looked at. With missingOK a wall that this kernel does not have is skipped.
func confine(r wallRules, missingOK bool) error {
	if err := limitResources(r); err != nil {
		return fmt.Errorf("resource limits: %w", err)
	}
	var missing []error
	if wallOn("landlock") {
		if err := restrictFiles(r); err != nil {
			missing = append(missing, fmt.Errorf("landlock: %w", err))
		}
	}
	if wallOn("seccomp") {
		if err := restrictCalls(); err != nil {
			missing = append(missing, fmt.Errorf("seccomp: %w", err))
		}
	}
	if missingOK {
		return nil
	}
	return errors.Join(missing...)
}

// Resource limits. RLIMIT_DATA is the one on memory that works: address space
// is 1.6 GB before anything happens, and linear memories are reserved whole.
const (
	baseData = 256 << 20 // Go, the runtime, native code, a result on its way
	maxFile  = 64 << 30
	maxOpen  = 1024 // above the view's own cap, which names itself
	minCPU   = time.Hour
)

func limitResources(r wallRules) error {
	data := uint64(compileData)
	if r.memory > 0 {
		data = baseData + uint64(r.memory)
	}
	file := r.files
	if file == 0 {
		file = maxFile
	}
	// A backstop only: a deadline or the host's end kills long before.
	cpu := uint64(max(minCPU, 8*r.cpu).Seconds())
	for _, l := range []struct {
		what  int
		limit uint64
	}{
		{unix.RLIMIT_DATA, data}, {unix.RLIMIT_FSIZE, file}, {unix.RLIMIT_NOFILE, maxOpen},
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_CPU, cpu},
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.what, &now); err != nil {
			return err
		}
		n := min(l.limit, now.Max)
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
	}
	// The collector works harder before the limit is reached.
	debug.SetMemoryLimit(int64(data) * 3 / 4)
	return nil
}

// Rights on files, by Landlock. Nothing may be executed, and no links,
// devices, sockets or FIFOs made: links that a guest makes are records.
const (
	readRights  = ll.AccessFSReadFile | ll.AccessFSReadDir
	writeRights = readRights | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRemoveDir |
		ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSRefer
)

func restrictFiles(r wallRules) error {
	if err := wallMissing("landlock"); err != nil {
		return err
	}
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return fmt.Errorf("the kernel does not offer it: %w", err)
	}
	if v < minLandlock {
		return fmt.Errorf("the kernel has version %d, and %d is needed", v, minLandlock)
	}
	var rules []landlock.Rule
	if len(r.read) > 0 {
		rules = append(rules, landlock.PathAccess(readRights, r.read...))
	}
	if len(r.write) > 0 {
		rules = append(rules, landlock.PathAccess(writeRights, r.write...))
	}
	// Newer kernels restrict more: TCP, device ioctls, signals, abstract sockets.
	return landlock.V8.BestEffort().Restrict(rules...)
}

// closeInherited closes every descriptor from the given one on that came from
// the host's own parent: Go marks what it opens, so what has no mark has leaked.
func closeInherited(from int) error {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}
	for _, e := range names {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < from {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = syscall.Close(fd)
		}
	}
	return nil
}
