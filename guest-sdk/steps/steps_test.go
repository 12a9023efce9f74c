package steps_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
	"stepbox.dev/guest-sdk/steps"
)

func box(t *testing.T, names ...string) guest.Native {
	dir := t.TempDir()
	for _, n := range names {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(n)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), nil, 0o644))
	}
	return guest.Native{Dir: dir}
}

func run(n guest.Native, paths, extensions []string) ([]string, error) {
	skill := &guest.Skill{Tools: []guest.Tool{steps.ResolveInputs()}}
	results, err := n.Run(skill, guest.Call{Tool: "resolve_inputs", Args: guest.ArgsOf(steps.ResolveArgs{Paths: paths, Extensions: extensions})})
	if err != nil {
		return nil, err
	}
	var out steps.Resolved
	return out.Files, json.Unmarshal(results[0].Result, &out)
}

func TestResolveInputs(t *testing.T) {
	n := box(t, "a.mov", "b.MP4", "notes.txt", "clips/c.mov", "clips/deep/d.mov", "clips/.hidden.mov", "odd [1].mov", "-dash.mov", "клип 片.mov")
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(n.Dir, "clips/link.mov")))
	for name, c := range map[string]struct{ paths, extensions, want []string }{
		"files in their order": {[]string{"b.MP4", "./a.mov"}, nil, []string{"b.MP4", "a.mov"}},
		"a folder":             {[]string{"clips"}, nil, []string{"clips/c.mov"}},
		"a glob":               {[]string{"*.mov"}, nil, []string{"-dash.mov", "a.mov", "odd [1].mov", "клип 片.mov"}},
		"a deep glob":          {[]string{"clips/**/*.mov"}, nil, []string{"clips/c.mov", "clips/deep/d.mov"}},
		"a hidden glob":        {[]string{"clips/.h*"}, nil, []string{"clips/.hidden.mov"}},
		"braces":               {[]string{"{a,b}.*"}, nil, []string{"a.mov", "b.MP4"}},
		"extensions":           {[]string{"."}, []string{".mp4", "txt"}, []string{"b.MP4", "notes.txt"}},
		"a name like a glob":   {[]string{"odd [1].mov"}, nil, []string{"odd [1].mov"}},
		"each once":            {[]string{"clips/c.mov", "clips", "clips/*.mov"}, []string{"mov"}, []string{"clips/c.mov"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := run(n, c.paths, c.extensions)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestResolveInputsRepeats(t *testing.T) {
	n := box(t, "a.mov", "b.mov")
	skill := &guest.Skill{Tools: []guest.Tool{steps.ResolveInputs()}}
	results, err := n.Run(skill, guest.Call{Tool: "resolve_inputs", Args: guest.ArgsOf(steps.ResolveArgs{Paths: []string{"a.mov", "b.mov", "./a.mov"}, Repeat: true})})
	require.NoError(t, err)
	var out steps.Resolved
	require.NoError(t, json.Unmarshal(results[0].Result, &out))
	require.Equal(t, []string{"a.mov", "b.mov", "a.mov"}, out.Files)
}

// What a request names and is not there must not be dropped silently.
func TestResolveInputsRefuses(t *testing.T) {
	n := box(t, "a.mov", "dir/b.txt")
	require.NoError(t, os.Symlink("a.mov", filepath.Join(n.Dir, "link.mov")))
	for name, c := range map[string]struct {
		paths, extensions []string
		code              abi.Code
		want              string
	}{
		"missing":         {[]string{"a.mov", "gone.mov"}, nil, abi.CodeNotFound, `there is no "gone.mov"`},
		"no match":        {[]string{"*.avi"}, nil, abi.CodeNotFound, `"*.avi" names no file`},
		"no folder":       {[]string{"gone/*.mov"}, nil, abi.CodeNotFound, "names no file"},
		"wrong extension": {[]string{"dir"}, []string{"mov"}, abi.CodeNotFound, `"dir" names no file of type mov`},
		"another kind":    {[]string{"a.mov"}, []string{"mp3"}, abi.CodeNotFound, `"a.mov" is of none of the types that this works on: mp3`},
		"of many kinds":   {[]string{"a.mov"}, strings.Split("a b c d e f g h i j", " "), abi.CodeNotFound, "works on: a, b, c, d, e, f, g, h and 2 more"},
		"a link":          {[]string{"link.mov"}, nil, abi.CodeBadRequest, `"link.mov" is a link, and links are not followed`},
		"bad pattern":     {[]string{"[a"}, nil, abi.CodeBadRequest, "no valid pattern"},
		"nothing":         {[]string{}, nil, abi.CodeBadRequest, "no input"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(n, c.paths, c.extensions)
			var e *abi.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.code, e.Code)
			require.Contains(t, e.Message, c.want)
		})
	}
}
