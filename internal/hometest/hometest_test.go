package hometest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/internal/hometest"
)

// Other tests rely on what the copy holds and on its times.
func TestCopy(t *testing.T) {
	a, b := hometest.Copy(t), hometest.Copy(t)
	for _, name := range []string{"inbox/invoice-2026-01.pdf", "pictures/2025/sea-copy.png", "build/link.tmp", "logs/app.log"} {
		x, err := os.Stat(filepath.Join(a, name))
		require.NoError(t, err)
		y, err := os.Stat(filepath.Join(b, name))
		require.NoError(t, err)
		require.True(t, x.ModTime().Equal(y.ModTime()))
		require.NotZero(t, x.Size())
	}
	x, err := os.ReadFile(filepath.Join(a, "pictures/sea.png"))
	require.NoError(t, err)
	y, err := os.ReadFile(filepath.Join(a, "pictures/2026/sea (2).png"))
	require.NoError(t, err)
	require.Equal(t, x, y, "the photos have duplicates")
}

func TestNewOdd(t *testing.T) {
	o := hometest.NewOdd(t)
	for _, name := range o.Names {
		_, err := os.Lstat(filepath.Join(o.Dir, filepath.FromSlash(name)))
		require.NoError(t, err, "%q", name)
	}
	info, err := os.Stat(filepath.Join(o.Dir, "large.bin"))
	require.NoError(t, err)
	require.EqualValues(t, hometest.Large, info.Size())
	require.FileExists(t, filepath.Join(o.Outside, "secret.txt"))
}
