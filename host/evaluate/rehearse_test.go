package evaluate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A plan finds the file that its row is about, under the name that it says, and
// nothing else; and no name of a corpus leads out.
func TestFurnish(t *testing.T) {
	box := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(box, "in"), 0o755))
	for _, name := range []string{"clip.mp4", "clip.mov", "other.mp4", "in/deep.mp4"} {
		require.NoError(t, os.WriteFile(filepath.Join(box, name), []byte(name), 0o644))
	}
	from, err := os.OpenRoot(box)
	require.NoError(t, err)
	defer from.Close()
	for name, c := range map[string]struct {
		trial Trial
		want  map[string]string // name to what is in it
		fault string
	}{
		"a pattern":                {Trial{Fixture: "clip.mp4"}, map[string]string{"clip.mp4": "clip.mp4"}, ""},
		"another file":             {Trial{Fixture: "clip.mp4", Reads: []string{"clip.mov"}}, map[string]string{"clip.mp4": "clip.mp4", "clip.mov": "clip.mov"}, ""},
		"a file that is nowhere":   {Trial{Fixture: "clip.mp4", Reads: []string{"x/gone.mov"}}, map[string]string{"clip.mp4": "clip.mp4", "x/gone.mov": "clip.mp4"}, ""},
		"files that are nowhere":   {Trial{Fixture: "clip.mp4", Reads: []string{"a.mp4", "b.mp4"}}, map[string]string{"clip.mp4": "clip.mp4", "a.mp4": "clip.mp4", "b.mp4": "clip.mp4"}, ""},
		"a name made up":           {Trial{Fixture: "clip.mp4", Reads: []string{"clip.mp4", "merged.mp4"}}, map[string]string{"clip.mp4": "clip.mp4"}, ""},
		"another row's fixture":    {Trial{Fixture: "clip.mp4", Reads: []string{"clip.mp4", "clip9.mp4"}, Fixtures: map[string]bool{"clip9.mp4": true}}, map[string]string{"clip.mp4": "clip.mp4", "clip9.mp4": "clip.mp4"}, ""},
		"two that are gone":        {Trial{Fixture: "gone.mp4", Reads: []string{"clip.mp4", "gone.mp4"}, Fixtures: map[string]bool{"gone.mp4": true}}, nil, `there is no "gone.mp4"`},
		"a fixture that is gone":   {Trial{Fixture: "gone.mp4", Reads: []string{"in/deep.mp4"}}, map[string]string{"in/deep.mp4": "in/deep.mp4"}, ""},
		"a folder":                 {Trial{Fixture: "clip.mp4", Reads: []string{"in"}}, map[string]string{"clip.mp4": "clip.mp4"}, ""},
		"nothing":                  {Trial{Fixture: "gone.mp4", Reads: []string{"gone.mov"}}, nil, `there is no "gone.mp4"`},
		"a pattern and nothing":    {Trial{Fixture: "gone.mp4", Reads: []string{"."}}, nil, `there is no "gone.mp4"`},
		"a fixture that leads out": {Trial{Fixture: "../secret"}, nil, "escapes"},
		"a name that leads out":    {Trial{Fixture: "clip.mp4", Reads: []string{"../secret"}}, nil, "escapes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			err := furnish(from, dir, c.trial)
			if c.fault != "" {
				require.ErrorContains(t, err, c.fault)
				return
			}
			require.NoError(t, err)
			got := map[string]string{}
			require.NoError(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				data, err := os.ReadFile(p)
				rel, _ := filepath.Rel(dir, p)
				got[filepath.ToSlash(rel)] = string(data)
				return err
			}))
			require.Equal(t, c.want, got)
		})
	}
}
