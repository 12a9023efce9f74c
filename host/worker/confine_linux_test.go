package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/worker"
)

// The test binary is also two other programs: one that is confined and tries
// to get out, as if a guest had taken over the worker, and one that hosts a
// worker and is killed.
const (
	roleProbe = "confined-probe"
	roleHost  = "doomed-host"
)

func TestMain(m *testing.M) {
	worker.RunIfAsked()
	switch os.Args[0] {
	case roleProbe:
		probe(os.Args[1])
		os.Exit(0)
	case roleHost:
		doomedHost()
	}
	if len(os.Args) == 6 && os.Args[1] == roleStock {
		stockHost(os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	}
	code := m.Run()
	if hostileDir != "" {
		os.RemoveAll(hostileDir)
	}
	if engineDir != "" {
		os.RemoveAll(engineDir)
	}
	os.Exit(code)
}

func self(t testing.TB, role string, args ...string) *exec.Cmd {
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Args = append([]string{role}, args...)
	return cmd
}

// attempt is something that a worker must not be able to do.
type attempt struct {
	name string
	try  func(dir string) error
}

func sys(n uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, e := unix.Syscall6(n, a[0], a[1], a[2], a[3], a[4], a[5]); e != 0 {
		return e
	}
	return nil
}

func cstr(s string) uintptr {
	b := append([]byte(s), 0)
	return uintptr(unsafe.Pointer(&b[0]))
}

func withFile(path string, flags int, f func(fd int) error) error {
	fd, err := unix.Open(path, flags, 0o600)
	if err != nil {
		return fmt.Errorf("cannot even be opened: %w", err)
	}
	defer unix.Close(fd)
	return f(fd)
}

func opens(path string, flags int) error {
	fd, err := unix.Open(path, flags, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// attempts: everything but reading the sandbox and writing to the stage. The
// folder holds sandbox/old and other, stage/mine and other, outside/secret.
var attempts = []attempt{
	{"read outside", func(d string) error { return opens(d+"/outside/secret", unix.O_RDONLY) }},
	{"list outside", func(d string) error { return opens(d+"/outside", unix.O_RDONLY|unix.O_DIRECTORY) }},
	{"read the host's memory", func(string) error { return opens("/proc/"+strconv.Itoa(os.Getppid())+"/mem", unix.O_RDONLY) }},
	{"read /etc/passwd", func(string) error { return opens("/etc/passwd", unix.O_RDONLY) }},
	{"read /proc", func(string) error { return opens("/proc/self/environ", unix.O_RDONLY) }},
	{"write in the sandbox", func(d string) error { return opens(d+"/sandbox/old", unix.O_WRONLY) }},
	{"truncate in the sandbox", func(d string) error { return unix.Truncate(d+"/sandbox/old", 0) }},
	{"open and truncate", func(d string) error { return opens(d+"/sandbox/old", unix.O_RDONLY|unix.O_TRUNC) }},
	{"create in the sandbox", func(d string) error { return opens(d+"/sandbox/new", unix.O_WRONLY|unix.O_CREAT) }},
	{"make a folder in the sandbox", func(d string) error { return unix.Mkdir(d+"/sandbox/dir", 0o700) }},
	{"delete in the sandbox", func(d string) error { return unix.Unlink(d + "/sandbox/old") }},
	{"rename in the sandbox", func(d string) error { return unix.Rename(d+"/sandbox/old", d+"/sandbox/new") }},
	{"rename out of the sandbox", func(d string) error { return unix.Rename(d+"/sandbox/old", d+"/stage/old") }},
	{"rename into the sandbox", func(d string) error { return unix.Rename(d+"/stage/mine", d+"/sandbox/mine") }},
	{"exchange with the sandbox", func(d string) error {
		return unix.Renameat2(unix.AT_FDCWD, d+"/stage/mine", unix.AT_FDCWD, d+"/sandbox/old", unix.RENAME_EXCHANGE)
	}},
	{"link from the sandbox", func(d string) error { return unix.Link(d+"/sandbox/old", d+"/stage/old") }},
	{"link in the stage", func(d string) error { return unix.Link(d+"/stage/mine", d+"/stage/mine2") }},
	{"symlink in the stage", func(d string) error { return unix.Symlink("/etc/passwd", d+"/stage/link") }},
	{"FIFO in the stage", func(d string) error { return unix.Mkfifo(d+"/stage/fifo", 0o600) }},
	{"device in the stage", func(d string) error { return unix.Mknod(d+"/stage/dev", unix.S_IFCHR|0o600, 0x103) }},
	{"open a device", func(string) error { return opens("/dev/null", unix.O_RDWR) }},
	{"chmod in the sandbox", func(d string) error { return unix.Chmod(d+"/sandbox/other", 0o777) }},
	{"chmod in the stage", func(d string) error { return unix.Chmod(d+"/stage/other", 0o4755) }},
	{"fchmod of a read-only descriptor", func(d string) error {
		return withFile(d+"/sandbox/other", unix.O_RDONLY, func(fd int) error { return unix.Fchmod(fd, 0o777) })
	}},
	{"fchmodat2", func(d string) error { return sys(452, ^uintptr(99), cstr(d+"/sandbox/other"), 0o777, 0) }},
	{"chown", func(d string) error { return unix.Lchown(d+"/sandbox/other", os.Getuid(), os.Getgid()) }},
	{"utimes", func(d string) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, d+"/sandbox/other", []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0)
	}},
	{"futimens of a descriptor", func(d string) error {
		return withFile(d+"/sandbox/other", unix.O_RDONLY, func(fd int) error { return sys(unix.SYS_UTIMENSAT, uintptr(fd), 0, 0, 0) })
	}},
	{"setxattr", func(d string) error { return unix.Setxattr(d+"/stage/other", "user.x", []byte("x"), 0) }},
	{"fsetxattr", func(d string) error {
		return withFile(d+"/sandbox/other", unix.O_RDONLY, func(fd int) error { return unix.Fsetxattr(fd, "user.x", []byte("x"), 0) })
	}},
	{"setxattrat", func(d string) error { return sys(463, ^uintptr(99), cstr(d+"/stage/other"), 0, cstr("user.x"), 0, 0) }},
	{"file_setattr", func(d string) error { return sys(469, ^uintptr(99), cstr(d+"/stage/other"), 0, 0, 0) }},
	{"flags of a file", func(d string) error {
		return withFile(d+"/sandbox/other", unix.O_RDONLY, func(fd int) error { return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, 0x40) })
	}},
	{"flock", func(d string) error {
		return withFile(d+"/sandbox/other", unix.O_RDONLY, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	}},
	{"a lease", func(d string) error {
		return withFile(d+"/stage/other", unix.O_RDONLY, func(fd int) error {
			_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
			return err
		})
	}},
	{"a notification", func(d string) error { _, err := unix.InotifyInit1(0); return err }},
	{"TCP", func(string) error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); return err }},
	{"UDP", func(string) error { _, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM, 0); return err }},
	{"a local socket", func(string) error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }},
	{"a socket pair", func(string) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }},
	{"netlink", func(string) error { _, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0); return err }},
	{"exec", func(string) error { return unix.Exec("/bin/true", []string{"true"}, nil) }},
	{"execveat", func(string) error { return sys(unix.SYS_EXECVEAT, ^uintptr(99), cstr("/bin/true"), 0, 0, 0) }},
	{"a process", func(string) error {
		_, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
		return err
	}},
	{"ptrace", func(string) error { return unix.PtraceAttach(os.Getppid()) }},
	{"another process's memory", func(string) error { return sys(unix.SYS_PROCESS_VM_READV, uintptr(os.Getppid()), 0, 0, 0, 0, 0) }},
	{"a signal to the host", func(string) error { return unix.Kill(os.Getppid(), 0) }},
	{"a signal to a thread of the host", func(string) error { return unix.Tgkill(os.Getppid(), os.Getppid(), 0) }},
	{"a pidfd", func(string) error { _, err := unix.PidfdOpen(os.Getppid(), 0); return err }},
	{"io_uring", func(string) error { return sys(unix.SYS_IO_URING_SETUP, 1, 0) }},
	{"a namespace", func(string) error { return unix.Unshare(unix.CLONE_NEWUSER) }},
	{"a mount", func(d string) error { return unix.Mount("none", d+"/stage", "tmpfs", 0, "") }},
	{"chroot", func(d string) error { return unix.Chroot(d + "/stage") }},
	{"a file handle", func(d string) error { return sys(unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(99), 0, 0) }},
	{"bpf", func(string) error { return sys(unix.SYS_BPF, 0, 0, 0) }},
	{"userfaultfd", func(string) error { return sys(unix.SYS_USERFAULTFD, 0) }},
	{"keys", func(string) error { return sys(unix.SYS_KEYCTL, 0, 0, 0) }},
	{"memory as a file", func(string) error { _, err := unix.MemfdCreate("x", 0); return err }},
	{"more memory", func(string) error {
		return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
	}},
	{"being dumped", func(string) error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }},
	{"outliving the host", func(string) error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }},
	{"another working folder", func(d string) error { return unix.Chdir(d + "/outside") }},
}

// probe confines itself and prints what it could do all the same.
func probe(dir string) {
	if err := worker.Confine([]string{dir + "/sandbox"}, []string{dir + "/stage"}); err != nil {
		fmt.Println("confine:", err)
		return
	}
	for _, a := range attempts {
		if a.try(dir) == nil {
			fmt.Println("could:", a.name)
		}
	}
	// What it has to be able to do.
	b, err := os.ReadFile(dir + "/sandbox/old")
	if err != nil || string(b) != "old" {
		fmt.Println("could not read the sandbox:", err)
	}
	f, err := os.Create(dir + "/stage/new")
	if err == nil {
		_, err = f.WriteString("new")
		err = errors.Join(err, f.Sync(), f.Close(), os.Mkdir(dir+"/stage/d", 0o700), os.Rename(dir+"/stage/new", dir+"/stage/d/new"),
			os.Remove(dir+"/stage/d/new"))
	}
	if err != nil {
		fmt.Println("could not write to the stage:", err)
	}
	fmt.Println("done")
}

// layOut makes what the attempts are made on.
func layOut(t testing.TB, dir string) {
	t.Helper()
	for path, text := range map[string]string{"sandbox/old": "old", "sandbox/other": "x", "stage/mine": "mine",
		"stage/other": "x", "outside/secret": "secret"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644))
	}
}

// Wall 4 alone: a worker that a guest has taken over can read the sandbox,
// write to its stage, and do nothing else.
func TestTakenOverWorkerIsConfined(t *testing.T) {
	dir := t.TempDir()
	layOut(t, dir)
	before, err := os.Stat(filepath.Join(dir, "sandbox/other"))
	require.NoError(t, err)
	out, err := self(t, roleProbe, dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "done\n", string(out))
	after, err := os.Stat(filepath.Join(dir, "sandbox/other"))
	require.NoError(t, err)
	require.Equal(t, before.Mode(), after.Mode())
	require.Equal(t, before.ModTime(), after.ModTime())
	require.Equal(t, before.Size(), after.Size())
}

// The same attempts succeed without walls, or the test above shows nothing.
func TestAttemptsMeanSomething(t *testing.T) {
	dir := t.TempDir()
	try := func(name string) error {
		layOut(t, dir)
		for _, a := range attempts {
			if a.name == name {
				return a.try(dir)
			}
		}
		return errors.New("no such attempt")
	}
	for _, name := range []string{"read outside", "write in the sandbox", "truncate in the sandbox", "create in the sandbox",
		"make a folder in the sandbox", "delete in the sandbox", "rename out of the sandbox", "rename into the sandbox",
		"link from the sandbox", "symlink in the stage", "FIFO in the stage", "open a device", "chmod in the sandbox",
		"fchmod of a read-only descriptor", "utimes", "futimens of a descriptor", "flock", "a lease", "a notification", "a local socket",
		"a signal to the host", "memory as a file", "chown"} {
		t.Run(name, func(t *testing.T) {
			if name == "a signal to the host" && os.Geteuid() != 0 {
				t.Skip("the parent may be another user's")
			}
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, try(name))
		})
	}
}

func TestWallsStandHere(t *testing.T) {
	ws, err := worker.Walls(t.Context())
	require.NoError(t, err)
	require.Len(t, ws, 4)
	for _, w := range ws {
		require.True(t, w.Stands, "%+v", w)
		require.NotEmpty(t, w.Detail)
	}
}

// doomedHost starts a worker whose guest spins, prints the worker's process id
// and waits to be killed.
func doomedHost() {
	fail := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	// A descriptor that leaks: whoever started this host forgot to close it.
	_, err := unix.Open(filepath.Join(filepath.Dir(os.Args[1]), "leaked"), unix.O_RDONLY|unix.O_CREAT, 0o600)
	fail(err)
	ctx := context.Background()
	c, err := worker.OpenCache(os.Args[1])
	fail(err)
	m, err := c.Module(ctx, stepping(func(*plug) []byte { return cat(busy, ok) }), nil)
	fail(err)
	w, err := worker.Start(ctx, worker.Options{Module: m})
	fail(err)
	_, err = w.Describe(ctx)
	fail(err)
	go func() { _, _ = w.Step(ctx, abi.ModeRead, abi.StepRequest{Tool: "go"}) }()
	time.Sleep(200 * time.Millisecond) // the guest spins now
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	fail(err)
	for _, f := range tasks {
		b, err := os.ReadFile(f)
		fail(err)
		os.Stdout.Write(b)
	}
	fmt.Println()
	select {}
}

// A worker shares nothing with its host, and must not outlive it, not even while its guest spins and never
// sees that the socket is closed.
func TestWorkerDiesWithItsHost(t *testing.T) {
	cmd := self(t, roleHost, filepath.Join(t.TempDir(), "cache"))
	cmd.Env = append(os.Environ(), "SECRET=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var line bytes.Buffer
	for b := make([]byte, 1); ; {
		if n, err := out.Read(b); n == 0 || err != nil || b[0] == '\n' {
			break
		}
		line.Write(b)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line.String()))
	require.NoError(t, err, "%q", line.String())
	require.NoError(t, unix.Kill(pid, 0), "the worker runs")

	// It has nothing of its host's environment and descriptors, and a session
	// of its own.
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	require.NoError(t, err)
	require.Empty(t, env)
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	require.NoError(t, err)
	require.NotEmpty(t, fds)
	for _, fd := range fds {
		to, err := os.Readlink(fd)
		require.NoError(t, err)
		require.NotContains(t, to, "leaked")
	}
	sid, err := unix.Getsid(pid)
	require.NoError(t, err)
	require.Equal(t, pid, sid)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || bytes.Contains(b, []byte(") Z "))
	}, 2*time.Second, 5*time.Millisecond)
}
