package worker

import (
	"errors"
	"os"
	"runtime"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// allowedCalls is what Go's runtime, wazero and the view need. What is not
// here fails with EPERM: exec, sockets, ptrace, io_uring, new namespaces, and
// every call that changes modes, owners, times, attributes, locks of others or
// leases, which Landlock does not cover.
var allowedCalls = []string{
	// memory
	"brk", "madvise", "mincore", "mmap", "mprotect", "mremap", "munmap",
	// threads and signals of this process
	"exit", "exit_group", "futex", "gettid", "getpid", "membarrier", "restart_syscall", "rseq", "rt_sigaction",
	"rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait", "sched_getaffinity", "sched_yield", "set_robust_list", "sigaltstack",
	// time and chance
	"clock_getres", "clock_gettime", "clock_nanosleep", "getrandom", "gettimeofday", "nanosleep",
	// waiting
	"epoll_create1", "epoll_ctl", "epoll_pwait", "eventfd2", "ppoll",
	// files, whose reach Landlock bounds
	"close", "copy_file_range", "dup", "dup3", "fadvise64", "fallocate", "fdatasync", "fstat", "fstatfs", "fsync",
	"ftruncate", "getdents64", "lseek", "mkdirat", "openat", "openat2", "pread64", "preadv", "pwrite64",
	"pwritev", "pwritev2", "read", "readlinkat", "readv", "renameat2", "statx", "sync_file_range", "unlinkat", "write", "writev",
	"faccessat", "faccessat2",
	// who am I
	"getegid", "geteuid", "getgid", "getuid", "getppid", "uname",
}

// olderCalls are names that only some machines have for the same things.
var olderCalls = []string{"access", "arch_prctl", "epoll_wait", "fstatat", "newfstatat", "lstat", "mkdir", "open", "pipe2", "poll",
	"readlink", "rename", "renameat", "rmdir", "stat", "unlink"}

// restrictCalls installs the allow-list on all threads.
func restrictCalls() error {
	if !seccomp.Supported() {
		return errors.New("the kernel does not offer it")
	}
	machine, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	// The filter reaches all threads; the bit that allows it is set here first.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: callPolicy(machine)})
}

// callPolicy is the allow-list on a machine.
func callPolicy(machine *arch.Info) seccomp.Policy {
	known := func(names []string) (here []string) {
		for _, n := range names {
			if _, ok := machine.SyscallNames[n]; ok {
				here = append(here, n)
			}
		}
		return here
	}
	only := func(name string, arg uint32, op seccomp.Operation, value uint64) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: name,
			Conditions: seccomp.ArgumentConditions{{Argument: arg, Operation: op, Value: value}}}
	}
	conditional := []seccomp.NameWithConditions{
		only("clone", 0, seccomp.BitsSet, unix.CLONE_THREAD), // no processes
		only("tgkill", 0, seccomp.Equal, uint64(os.Getpid())),
		only("ioctl", 1, seccomp.Equal, unix.FICLONE),
		only("prctl", 0, seccomp.Equal, unix.PR_SET_VMA), // Go names its mappings
	}
	// No leases, no owner, no notification, no flags but those of files.
	for _, cmd := range []uint64{unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL,
		unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_OFD_GETLK} {
		conditional = append(conditional, only("fcntl", 1, seccomp.Equal, cmd))
	}
	return seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow, Names: append(slices.Clone(allowedCalls), known(olderCalls)...),
				NamesWithCondtions: conditional},
			// C libraries fall back from these when they do not exist.
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: known([]string{"clone3"})},
		},
	}
}
