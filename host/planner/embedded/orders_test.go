package embedded_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Orders that name several places at once never become one that means another.
func TestSeveralOrders(t *testing.T) {
	b := files(t)
	for in, want := range map[string]string{
		"rename a.txt to b.txt": `rename_files {"items":["a.txt"],"new_name":"b.txt"}`,
		"delete a.txt/..":       `delete_files {"items":["a.txt/.."]}`, // which the host refuses; never a.txt
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, short(calls), in)
	}
	for _, in := range []string{
		"rename a.txt to t.txt, b.txt to a.txt and t.txt to b.txt",
		"rename a.txt to t.txt, then b.txt to a.txt, then t.txt to b.txt",
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, "clarify", calls[0].Tool, in)
	}
}
