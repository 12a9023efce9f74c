package main

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// browser runs a headless Chromium on a page and returns what it prints.
func browser(t *testing.T, page string, flags ...string) []byte {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium here to look at the page with; Debian has it: apt-get install chromium")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, path, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir=" + filepath.Join(dir, "profile"),
	}, append(flags, "file://"+page)...)...)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	require.NoError(t, cmd.Run(), errs.String())
	return out.Bytes()
}

// picture is how a page looks in a window of that size.
func picture(t *testing.T, page, size string) image.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.png")
	browser(t, page, "--window-size="+size, "--screenshot="+file)
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	require.NoError(t, err)
	return img
}

// ink is the share of the pixels between two columns that are not background,
// in every third line.
func ink(img image.Image, from, to int) float64 {
	b := img.Bounds()
	paper, n, all := img.At(b.Min.X, b.Min.Y), 0, 0
	for y := b.Min.Y; y < b.Max.Y; y += 3 {
		for x := from; x < to; x++ {
			if all++; img.At(x, y) != paper {
				n++
			}
		}
	}
	return float64(n) / float64(all)
}

// The page of a skill is made of a stranger's words. A real browser shows them
// as text, runs nothing of them, and has room for all of it.
func TestPageInABrowser(t *testing.T) {
	work := home(t)
	dir := filepath.Join(work, "home", "evil")
	for name, text := range map[string]string{
		"skill.yaml": "name: evil\ndescription: '" + `</title><script>document.title="taken"</script>` + "'\ndisplay: {title: '" + `<img src=x onerror="document.title=1">` + "'}\n",
		"tools.yaml": "look:\n  description: \"" + `</p><style>body{display:none}</style> \u202e javascript:alert(1)` + "\"\n  keywords: [look]\n  readonly: true\n" +
			"  optional_args: [" + "a_name_that_is_longer_than_a_column_of_a_table_should_ever_be___" + "]\n",
		"evil.wasm": "\x00asm\x01\x00\x00\x00",
	} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, c := range []struct{ name, skill, says string }{
		{"the skill files", "files", "delete_files"}, {"a hostile skill", "./evil", "javascript:alert(1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("stepbox", "skills", "show", c.skill, "--html")
			cmd.Dir = filepath.Join(work, "home")
			cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
			prepare(t).setenv(func(k, v string) { cmd.Env = append(cmd.Env, k+"="+v) }, work)
			text, err := cmd.CombinedOutput()
			require.NoError(t, err, string(text))
			page := filepath.Join(work, c.name+".html")
			require.NoError(t, os.WriteFile(page, text, 0o644))

			dom := string(browser(t, page, "--dump-dom"))
			require.Contains(t, dom, c.says)
			require.NotContains(t, dom, "<script")
			require.NotContains(t, dom, "<img")
			require.NotContains(t, dom, "display:none}</style>")
			require.NotContains(t, dom, ">taken<")
			require.NotContains(t, dom, "\u202e")
			for _, size := range []string{"1000,3500", "520,4500"} {
				img := picture(t, page, size)
				if keep := os.Getenv("STEPBOX_PICTURES"); keep != "" { // for somebody to look at
					f, err := os.Create(filepath.Join(keep, c.name+" "+size+".png"))
					require.NoError(t, err)
					require.NoError(t, png.Encode(f, img))
					require.NoError(t, f.Close())
				}
				wide := img.Bounds().Dx()
				require.Greater(t, ink(img, 0, wide), 0.001, "there is something to see at %s", size)
				require.Zero(t, ink(img, wide-6, wide), "nothing runs over the edge at %s", size)
			}
		})
	}
}
