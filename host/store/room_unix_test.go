//go:build unix

package store

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
)

// Where there is no room, wherever the writing of an installation ends, nothing is
// installed, no key is pinned, nothing is left behind, and the person is told to
// make room.
func TestNoRoom(t *testing.T) {
	if os.Getenv("STEPBOX_TEST_LIMITED") == "" { // in a process whose other files no limit can hurt
		exe, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.Command(exe, "-test.run=^TestNoRoom$", "-test.v")
		cmd.Env = append(os.Environ(), "STEPBOX_TEST_LIMITED=yes")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "--- PASS: TestNoRoom")
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	limited := func(bytes uint64, f func() error) error {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: before.Max}))
		defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)) }()
		return f()
	}
	wasm := sign(t, signer(t, "eve"), pack(t, "demo", "1.0.0", "", "look read"))
	refused := 0
	for bytes := uint64(100); ; bytes += 100 {
		s := newStore(t)
		p, err := s.Propose(examine(t, wasm), Terms{})
		require.NoError(t, err)
		err = limited(bytes, func() error { return s.Install(context.Background(), p) })
		if err == nil {
			break
		}
		refused++
		require.Equal(t, fault.Usage, fault.Of(err))
		require.ErrorContains(t, err, "there is no room, and nothing was changed")
		require.Contains(t, fault.Next(err), "free some space")
		entries, err := s.Entries()
		require.NoError(t, err)
		require.Empty(t, entries)
		ring, err := s.Ring()
		require.NoError(t, err)
		require.Empty(t, ring.Trusted, "no key is pinned")
		for _, pattern := range []string{"*.json", newPrefix + "*", "bundles/*"} {
			left, err := filepath.Glob(filepath.Join(s.Dir(), pattern))
			require.NoError(t, err)
			require.Empty(t, left)
		}
	}
	require.Greater(t, refused, 3)

	s := newStore(t)
	require.NoError(t, install(t, s, wasm, Terms{}))
	err := limited(1, func() error { return s.Remove(context.Background(), "skill", "demo") })
	require.ErrorContains(t, err, "there is no room")
	entries, err := s.Entries()
	require.NoError(t, err)
	require.Len(t, entries, 1)
	err = limited(1, func() error { _, err := s.NewSigningKey(context.Background(), "ada"); return err })
	require.ErrorContains(t, err, "there is no room")
	require.NoFileExists(t, s.signingPath("ada"))
	_, err = s.NewSigningKey(context.Background(), "ada")
	require.NoError(t, err, "nothing of the first one is in the way")
}

// A key is not pinned when its bundle cannot be put in place.
func TestPinsComeAfterBundles(t *testing.T) {
	s := newStore(t)
	p, err := s.Propose(examine(t, sign(t, signer(t, "eve"), pack(t, "demo", "1.0.0", "", "look read"))), Terms{})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(s.Dir(), "bundles", p.New.File+".wasm", "full"), 0o700))
	require.Error(t, s.Install(context.Background(), p))
	ring, err := s.Ring()
	require.NoError(t, err)
	require.Empty(t, ring.Trusted)
}

// Only its owner can change a file's mode, so that is what is advised for a mode
// and not for an owner.
func TestWhatPutsItRight(t *testing.T) {
	s := newStore(t)
	require.NoError(t, install(t, s, pack(t, "demo", "1.0.0", "", "look read"), Terms{Unsigned: true}))
	for _, path := range []string{s.Dir(), filepath.Join(s.Dir(), "lock.json")} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, info.Mode()|0o022))
		_, err = s.Entries()
		require.Equal(t, fault.Stopped, fault.Of(err))
		require.Equal(t, "make it yours alone: chmod go-w "+path, fault.Next(err))
		require.NoError(t, os.Chmod(path, info.Mode()))
		if os.Geteuid() != 0 {
			continue
		}
		require.NoError(t, os.Chown(path, 65534, -1))
		_, err = s.Entries()
		require.Equal(t, fault.Stopped, fault.Of(err))
		require.Contains(t, fault.Next(err), "sudo chown -R 0 "+path)
		require.NotContains(t, fault.Next(err), "chmod")
		require.NoError(t, os.Chown(path, 0, -1))
	}
}
