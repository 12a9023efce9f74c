package commit

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProtected guards row 26 with the jail switched off.
func TestProtected(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(s *stager)
		path string // protected, "" when none is
	}{
		{"a git hook", func(s *stager) { s.mkdir(".git/hooks"); s.write(".git/hooks/pre-commit", "x") }, ".git/hooks/pre-commit"},
		{"git in another case", func(s *stager) { s.mkdir("repo"); s.mkdir("repo/.GIT") }, "repo/.GIT"},
		{"git with an ignorable character", func(s *stager) { s.mkdir(".g\u200cit") }, ".g\u200cit"},
		{"envrc in full-width letters", func(s *stager) { s.write(".ｅｎｖｒｃ", "x") }, ".ｅｎｖｒｃ"},
		{"a shell's start file moves away", func(s *stager) { s.move(".bashrc", "b") }, "b"},
		{"a shell's start file goes", func(s *stager) { s.remove(".bashrc") }, ".bashrc"},
		{"a desktop entry", func(s *stager) { s.write("run me.DESKTOP", "x") }, "run me.DESKTOP"},
		{"build services", func(s *stager) { s.mkdir(".github"); s.write(".github/x", "1") }, ".github/x"},
		{"an absolute link", func(s *stager) { s.link("/etc/passwd", "l") }, "l"},
		{"a link that climbs out", func(s *stager) { s.link("../x", "l") }, "l"},
		{"a link that climbs inside", func(s *stager) { s.link("../a", "d/l") }, ""},
		{"a link that climbs after a name", func(s *stager) { s.link("d/../../x", "l") }, "l"},
		{"a link that moves so that it leads out", func(s *stager) { s.move("d/up", "up") }, "up"},
		{"a folder moves so that a link in it leads out", func(s *stager) { s.move("p/q", "q") }, "q"},
		{"the same, below the folder that moves", func(s *stager) { s.mkdir("n"); s.move("p/q", "n/q"); s.move("n/q", "r") }, "r"},
		{"a folder goes deeper with its links", func(s *stager) { s.move("p", "d/p") }, ""},
		{"a folder goes up without the link", func(s *stager) { s.remove("p/q/r/up"); s.move("p/q", "q") }, ""},
		{"a folder goes up, its link stays", func(s *stager) { s.move("p/q/r/up", "p/q/up"); s.move("p/q/up", "p/up2"); s.move("p/q", "q") }, "p/up2"},
		{"a folder goes up with links inside it", func(s *stager) { s.move("p/s", "s") }, ""},
		{"a twin by case", func(s *stager) { s.write("A", "x") }, "A"},
		{"a twin by Unicode form", func(s *stager) { s.write("cafe\u0301", "x") }, "cafe\u0301"},
		{"a stream of a file", func(s *stager) { s.write("a:x", "x") }, "a:x"},
		{"a file whose stream lies there", func(s *stager) { s.write("tape", "x") }, "tape"},
		{"a twin with a stream", func(s *stager) { s.write("Tape:1.mp4", "x") }, "Tape:1.mp4"},
		{"another name with a colon", func(s *stager) { s.write("tape:1.mkv", "x") }, ""},
		{"a change of case is no twin", func(s *stager) { s.move("a", "A") }, ""},
		{"plain names", func(s *stager) { s.write("report.pdf", "x"); s.write("d/git", "x") }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := begin(t, "a", "d/x", "tape:1.mp4", ".bashrc", "caf\u00e9", ".git/config")
			require.NoError(t, os.Symlink("../a", filepath.Join(r.Sandbox, "d/up")))
			for link, target := range map[string]string{"p/q/r/up": "../../../a", "p/s/t/in": "../u", "p/s/out": "/etc/passwd"} {
				require.NoError(t, os.MkdirAll(filepath.Join(r.Sandbox, filepath.Dir(link)), 0o755))
				require.NoError(t, os.Symlink(target, filepath.Join(r.Sandbox, link)))
			}
			r.Began = tick()
			tc.do(s)
			c, err := Read(context.Background(), r, writeOnce)
			require.NoError(t, err)
			var got []string
			for _, ch := range c.Protected() {
				got = append(got, ch.Path)
			}
			if tc.path == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, got, tc.path)
			require.False(t, c.Safe())
		})
	}
}

// TestNamesThatAct draws the line: what acts by itself is protected, what a
// person starts is not.
func TestNamesThatAct(t *testing.T) {
	for _, name := range []string{
		"conftest.py", "tests/conftest.py", "Sitecustomize.py", "usercustomize.py", "x.pth", "lib/python3.13/site-packages/a.py", ".nvim.lua", ".lvimrc", ".ghci",
		".mvn/jvm.config", ".pnp.cjs", ".venv/bin/x", "venv/bin/activate", "env/bin/activate.fish", "env/pyvenv.cfg", "node_modules/.bin/tsc",
		".ipython/profile_default/startup/x.py", ".jupyter/x.py", ".lesskey", ".ideavimrc", "go.work", ".env.local", ".eslintrc.cjs", "lefthook.toml",
		"my.code-workspace", "a.sublime-project", ".bsp/x.json", "rust-toolchain.toml", ".luarc.json", "CONFTEST.PY", "conftest.py.", "conftest.py:x",
		".stepbox", ".stepbox-x",
	} {
		require.True(t, ProtectedName(name), name)
	}
	for _, name := range []string{
		"Makefile", "package.json", "setup.py", "pyproject.toml", "build.rs", "Gemfile", "Rakefile", "justfile", "Dockerfile", "CMakeLists.txt", "gradlew",
		"go.mod", "main.go", "node_modules/x/index.js", "venv/lib", "activate.txt", "deactivate", "my.env", "env", "data.bin", "conftest.txt", "pth", "HEAD",
		"lefthook", "aider.md", "photo.jpg", "",
	} {
		require.False(t, ProtectedName(name), name)
	}
}
