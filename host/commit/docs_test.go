package commit

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the list of protected names in the documentation")

// TestProtectedNamesAreDocumented keeps the page that people read and the list
// that commits go by the same.
func TestProtectedNamesAreDocumented(t *testing.T) {
	names := make(map[string][]string)
	for n, why := range protectedNames {
		names[why] = append(names[why], "`"+n+"`")
	}
	var lines []string
	for why, list := range names {
		sort.Strings(list)
		lines = append(lines, fmt.Sprintf("- %s: %s", why, strings.Join(list, " ")))
	}
	sort.Strings(lines)
	want := strings.Join(lines, "\n")

	const page = "../../docs/changes.md"
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(b), "stand for everything below them.\n\n")
	require.True(t, ok)
	list, after, ok := strings.Cut(rest, "\n\n")
	require.True(t, ok)
	if *update {
		b = []byte(before + "stand for everything below them.\n\n" + want + "\n\n" + after)
		require.NoError(t, os.WriteFile(page, b, 0o644))
		return
	}
	require.Equal(t, want, list, "run go test ./host/commit -run Documented -update")
}
