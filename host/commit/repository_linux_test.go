package commit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRepositories guards that no folder becomes a git repository unseen, with
// any name, in any order, in one run or several, and that none is changed.
func TestRepositories(t *testing.T) {
	for _, tc := range []struct {
		name   string
		has    []string
		do     func(s *stager)
		path   string // protected, "" when none is
		within string
	}{
		{"made at once", nil, func(s *stager) {
			s.mkdir("r/objects")
			s.mkdir("r/refs")
			s.write("r/HEAD", "ref: refs/heads/m\n")
			s.write("r/config", "x")
		}, "r/config", "r"},
		{"at the top", nil, func(s *stager) { s.mkdir("objects"); s.mkdir("refs"); s.write("HEAD", "x"); s.write("config", "x") }, "config", ""},
		{"below another folder", nil, func(s *stager) { s.write("a/b/HEAD", "x"); s.mkdir("a/b/refs"); s.write("a/b/refs/k", "x") }, "a/b/refs/k", "a/b"},
		{"with a common folder elsewhere", nil, func(s *stager) { s.write("r/HEAD", "x"); s.write("r/commondir", "../x") }, "r/commondir", "r"},
		{"the last piece comes later", []string{"r/objects/x", "r/config"}, func(s *stager) { s.write("r/HEAD", "x") }, "r/HEAD", "r"},
		{"a piece gets its name by a move", []string{"r/objects/x", "r/references/y"}, func(s *stager) { s.move("r/references", "r/refs") }, "r/refs", "r"},
		{"a piece is a link", []string{"r/objects/x"}, func(s *stager) { s.link("objects", "r/refs") }, "r/refs", "r"},
		{"in other letters", []string{"r/Objects/x"}, func(s *stager) { s.write("r/he\u200cad", "x") }, "r/he\u200cad", "r"},
		{"unseen by HFS+", []string{"r/refs/x"}, func(s *stager) { s.write("r/"+strings.Repeat("\u200d", 40)+"HEAD", "x") }, "r/" + strings.Repeat("\u200d", 40) + "HEAD", "r"},
		{"settings of one that is there", []string{"r/HEAD", "r/objects/x", "r/refs/y"}, func(s *stager) { s.write("r/config", "x") }, "r/config", "r"},
		{"a hook of one that is there", []string{"r/HEAD", "r/objects/x", "r/refs/y"}, func(s *stager) { s.mkdir("r/hooks"); s.write("r/hooks/post-checkout", "x") }, "r/hooks/post-checkout", "r"},
		{"out of one that is there", []string{"r/HEAD", "r/objects/x", "r/refs/y"}, func(s *stager) { s.move("r/HEAD", "h") }, "h", "r"},
		{"one of the pieces goes", []string{"r/HEAD", "r/objects/x"}, func(s *stager) { s.remove("r/HEAD") }, "r/HEAD", "r"},
		{"one piece alone", []string{"a/objects/x"}, func(s *stager) { s.write("b/refs", "x"); s.write("a/config", "x") }, "", ""},
		{"the folder moves as it is", []string{"r/HEAD", "r/objects/x"}, func(s *stager) { s.move("r", "q") }, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := begin(t, append(tc.has, "a/b/", "r/", "b/")...)
			r.Began = tick()
			tc.do(s)
			c, err := Read(context.Background(), r, writeOnce)
			require.NoError(t, err)
			got := make(map[string]string)
			for _, ch := range c.Protected() {
				got[ch.Path] = ch.Within
			}
			if tc.path == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, got, tc.path)
			require.Equal(t, tc.within, got[tc.path])
		})
	}
}

// TestMovedFoldersAreLookedThrough guards that what comes along with a folder
// is said where other programs execute it.
func TestMovedFoldersAreLookedThrough(t *testing.T) {
	for _, tc := range []struct{ name, from, to, note string }{
		{"a hook", "p", "z", `"p/x/.git" comes along: version control runs hooks and commands from it`},
		{"a repository without that name", "q", "p/q", `"q/bare" comes along: it is a git repository`},
		{"nothing", "n", "z", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := begin(t, "p/x/.git/hooks/pre-commit", "q/bare/HEAD", "q/bare/refs/x", "n/a")
			s.move(tc.from, tc.to)
			c, err := Read(context.Background(), r, writeOnce)
			require.NoError(t, err)
			require.Len(t, c.List(), 1)
			require.Equal(t, tc.note, c.List()[0].Note)
			require.Empty(t, c.List()[0].Protected)
		})
	}
}

// TestLinksThroughLinks guards that a new link leads out when a link on its way
// does, whichever was there first.
func TestLinksThroughLinks(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(s *stager)
		path string // protected, "" when none is
	}{
		{"to one that is there", func(s *stager) { s.link("d/out", "l") }, "l"},
		{"below one that is there", func(s *stager) { s.link("out/x/y", "d/l") }, "d/l"},
		{"through two", func(s *stager) { s.link("two/x", "l") }, "l"},
		{"to one of the same run", func(s *stager) { s.link("d", "k"); s.link("k/out", "l") }, "l"},
		{"round in circles", func(s *stager) { s.link("round", "l") }, "l"},
		{"through one that stays inside", func(s *stager) { s.link("in/x", "l") }, ""},
		{"to nothing", func(s *stager) { s.link("none/x", "l") }, ""},
		{"to one that goes in the same run", func(s *stager) { s.remove("d/out"); s.link("d/out", "l") }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := begin(t, "d/x")
			for link, target := range map[string]string{"d/out": "/etc", "two": "d/out", "in": "d", "round": "round2", "round2": "round"} {
				require.NoError(t, os.Symlink(target, filepath.Join(r.Sandbox, link)))
			}
			r.Began = tick()
			tc.do(s)
			c, err := Read(context.Background(), r, writeOnce)
			require.NoError(t, err)
			var got []string
			for _, ch := range c.Protected() {
				if ch.Kind == Create {
					got = append(got, ch.Path)
				}
			}
			if tc.path == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, got, tc.path)
		})
	}
}
