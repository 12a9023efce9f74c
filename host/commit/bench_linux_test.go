package commit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkOneFile is a run that changes one file: Begin, Read, Apply, syncs
// included.
func BenchmarkOneFile(b *testing.B) {
	base := b.TempDir()
	box := filepath.Join(base, "box")
	require.NoError(b, os.Mkdir(box, 0o755))
	makeTree(b, box, "a")
	for b.Loop() {
		b.StopTimer()
		r, err := Begin(context.Background(), filepath.Join(base, "state"), box)
		require.NoError(b, err)
		s := newStager(b, r)
		s.write("a", "changed")
		b.StartTimer()
		apply(b, r)
		b.StopTimer()
		require.NoError(b, r.Close())
		b.StartTimer()
	}
}

// BenchmarkMoves is 10,000 files that move into folders by their names, and
// back.
func BenchmarkMoves(b *testing.B) {
	const files = 10_000
	base := b.TempDir()
	box := filepath.Join(base, "box")
	require.NoError(b, os.MkdirAll(filepath.Join(box, "in"), 0o755))
	for i := range files {
		require.NoError(b, os.WriteFile(filepath.Join(box, "in", fmt.Sprintf("file-%05d.txt", i)), []byte("x"), 0o644))
	}
	stage := func() *Run {
		r, err := Begin(context.Background(), filepath.Join(base, "state"), box)
		require.NoError(b, err)
		s := newStager(b, r)
		for d := range 10 {
			s.mkdir(fmt.Sprintf("out%d", d))
		}
		for i := range files {
			s.move(fmt.Sprintf("in/file-%05d.txt", i), fmt.Sprintf("out%d/file-%05d.txt", i%10, i))
		}
		return r
	}
	b.Run("read", func(b *testing.B) {
		r := stage()
		defer r.Close()
		for b.Loop() {
			_, err := Read(context.Background(), r, writeOnce)
			require.NoError(b, err)
		}
	})
	b.Run("read+apply", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			r := stage()
			b.StartTimer()
			apply(b, r)
			b.StopTimer()
			require.Empty(b, undo(b, r).Refused)
			require.NoError(b, r.Close())
			b.StartTimer()
		}
	})
	b.Run("undo", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			r := stage()
			apply(b, r)
			b.StartTimer()
			require.Empty(b, undo(b, r).Refused)
			b.StopTimer()
			require.NoError(b, r.Close())
			b.StartTimer()
		}
	})
}

// BenchmarkRecoverNothing is what every start of stepbox pays.
func BenchmarkRecoverNothing(b *testing.B) {
	r, _ := begin(b, "a")
	for b.Loop() {
		require.NoError(b, Recover(context.Background(), r.state()))
	}
}
