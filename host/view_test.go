package host

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// A planner that was told of half the names would take the other half for
// missing.
func TestListNamesSaysWhenItStopped(t *testing.T) {
	m := fstest.MapFS{"a/b.txt": &fstest.MapFile{}, "c.txt": &fstest.MapFile{}}
	paths, all := listNames(m)
	require.True(t, all)
	require.ElementsMatch(t, []string{"a", "a/b.txt", "c.txt"}, paths)
	for i := range maxNames {
		m[fmt.Sprintf("%06d", i)] = &fstest.MapFile{}
	}
	paths, all = listNames(m)
	require.False(t, all)
	require.Len(t, paths, maxNames)
}
