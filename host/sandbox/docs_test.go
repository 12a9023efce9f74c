package sandbox

import (
	"fmt"
	"os"
	"testing"

	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/require"
)

// TestQuotasAreDocumented keeps the page that people read and the defaults the
// same.
func TestQuotasAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/changes.md")
	require.NoError(t, err)
	q := DefaultQuotas
	for what, limit := range map[string]string{
		"bytes that are written, holes and scratch too": humanize.IBytes(uint64(q.Bytes)),
		"bytes of one file, holes too":                  humanize.IBytes(uint64(q.FileBytes)),
		"files, folders and links that are made":        humanize.Comma(int64(q.Files)),
		"folders in each other":                         fmt.Sprint(q.Depth),
		"files and folders open at once":                fmt.Sprint(q.OpenFiles),
		"bytes of a name":                               fmt.Sprint(q.NameBytes),
	} {
		require.Contains(t, string(b), fmt.Sprintf("| %s | %s |\n", what, limit))
	}
}
