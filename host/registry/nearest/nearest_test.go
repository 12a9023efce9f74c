package nearest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	known := []string{"optional_args", "required_args", "readonly", "path", "dst", "src"}
	for word, want := range map[string]string{
		"optinal_args": "optional_args", "read-only": "readonly", "READONLY": "readonly", "paht": "path", "pth": "path", "ds": "dst",
		"completely_different": "", "": "", "x": "", strings.Repeat("path", 100): "",
	} {
		require.Equal(t, want, Of(word, known), word)
	}
	require.Equal(t, `; did you mean "path"?`, Hint("pathh", known))
	require.Empty(t, Hint("nothing_like_it", known))
}
