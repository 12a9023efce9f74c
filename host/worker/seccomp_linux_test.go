package worker

import (
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/require"
)

// A name that a machine's table lacks makes the filter fail there, and every
// run refuse: this is seen here and not on that machine.
func TestCallsAreKnownOnEveryMachine(t *testing.T) {
	for _, machine := range []*arch.Info{arch.X86_64, arch.AARCH64} {
		p := callPolicy(machine)
		for _, g := range p.Syscalls {
			for _, n := range g.Names {
				require.Contains(t, machine.SyscallNames, n, machine.Name)
			}
			for _, n := range g.NamesWithCondtions {
				require.Contains(t, machine.SyscallNames, n.Name, machine.Name)
			}
		}
	}
}

// What Landlock leaves open must not slip into the list: every family that
// changes metadata, and what makes processes and sockets.
func TestDangerousCallsAreNotListed(t *testing.T) {
	for _, n := range append(append([]string{}, allowedCalls...), olderCalls...) {
		require.NotContains(t, []string{"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime",
			"utimes", "utimensat", "futimesat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "setxattrat", "removexattrat",
			"file_setattr", "flock", "ioctl", "fcntl", "execve", "execveat", "fork", "vfork", "clone", "clone3", "socket", "socketpair",
			"connect", "bind", "sendto", "sendmsg", "ptrace", "process_vm_readv", "io_uring_setup", "unshare", "setns", "mount", "bpf",
			"prctl", "kill", "tgkill", "tkill", "setrlimit", "prlimit64", "link", "linkat", "symlink", "symlinkat", "mknod", "mknodat",
			"memfd_create", "userfaultfd", "keyctl", "pidfd_open", "open_by_handle_at"}, n)
	}
}
