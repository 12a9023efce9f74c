package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
)

func newRunsOpen(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "open ID",
		Short: "Open the files that a run made, or would make",
		Long: `Open prints the files that a committed run created and, on a terminal, opens
them. Of a run that waits for approval they are copies, to be looked at before
anybody agrees. Documents, pictures, sound and films are opened; other files are
named only, since opening a stranger's script or page may run it.`,
		Example:           `  stepbox runs open 20261129-193045-x7f3q`,
		Args:              args(1, 1, "the ID of a run"),
		Annotations:       exitCodes(fault.Usage, fault.CheckFailed),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			made, err := h.Made(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(made)
			}
			return a.open(cmd.Context(), made)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the files as one JSON object and open none")
	return cmd
}

// openMost is how many files are opened one by one; of more, their folder is.
const openMost = 5

// open prints what a run made and, with a person at a terminal, opens it.
func (a *app) open(ctx context.Context, made host.Made) error {
	if len(made.Files) == 0 {
		display.Failure(a.errs, "run "+display.Clean(made.RunID)+" made no files", nil, "")
		return nil
	}
	var shown []string
	for _, f := range made.Files {
		if err := a.printf("%s\n", display.Clean(f)); err != nil {
			return err
		}
		if showable(f) {
			shown = append(shown, f)
		}
	}
	if !a.there() || !a.screen() || len(shown) == 0 {
		return nil
	}
	if len(shown) > openMost {
		shown = []string{folderOf(shown)}
	}
	for _, f := range shown {
		if err := start(ctx, f); err != nil { // the files are named: that has to do
			display.Failure(a.errs, "cannot open "+display.Clean(f)+": "+display.Clean(err.Error()), nil, "")
			return nil
		}
	}
	return nil
}

// screen reports whether there is a desktop to open files on. Without one,
// xdg-open tries programs that take over the terminal.
func (a *app) screen() bool {
	return runtime.GOOS != "linux" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// start hands a file to the program that the system opens it with. The path is
// absolute, one argument, and no shell sees it.
func start(ctx context.Context, path string) error {
	argv := []string{"xdg-open", path}
	switch runtime.GOOS {
	case "darwin":
		argv[0] = "open"
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", path}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...)
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release() // it lives on when stepbox has ended
}

// shows are the kinds of files that programs show. What they may run is not
// among them: scripts, programs, launchers, pages, documents with macros.
var shows = set(`pdf txt md csv tsv log json yaml yml xml rtf docx xlsx pptx odt ods odp epub
	jpg jpeg png gif bmp webp tif tiff heic avif
	mp4 mov mkv webm avi m4v mpg mpeg ogv mp3 wav flac aac ogg opus m4a`)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// showable reports whether a file is of such a kind, by its name, and cannot be
// executed.
func showable(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 == 0 &&
		shows[strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))]
}

// folderOf is the innermost folder that holds all the files.
func folderOf(files []string) string {
	dir := filepath.Dir(files[0])
	for _, f := range files[1:] {
		for dir != filepath.Dir(dir) && !strings.HasPrefix(f, dir+string(filepath.Separator)) {
			dir = filepath.Dir(dir)
		}
	}
	return dir
}
