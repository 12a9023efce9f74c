package commit

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
)

// checkSandbox returns the sandbox with its links resolved, once.
func checkSandbox(sandbox string, private []string) (string, error) {
	abs, err := filepath.Abs(sandbox)
	if err != nil {
		return "", fault.New(fault.Usage, "sandbox %q: %w", sandbox, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(fault.Usage, "sandbox %q does not exist", sandbox).Hint("make it, or name another with --sandbox DIR")
	}
	if err != nil {
		return "", fault.New(fault.Usage, "sandbox %q cannot be read: %w", sandbox, err)
	}
	info, err := os.Lstat(real)
	switch {
	case err != nil:
		return "", fault.New(fault.Usage, "sandbox %q cannot be read: %w", sandbox, err)
	case !info.IsDir():
		return "", fault.New(fault.Usage, "sandbox %q is not a folder", sandbox).Hint("name a folder with --sandbox DIR")
	}
	if err := mayBeSandbox(private, sandbox, real); err != nil {
		return "", err
	}
	names, err := os.ReadDir(real)
	if err != nil {
		return "", fault.New(fault.Usage, "sandbox %q cannot be read: %w", sandbox, err)
	}
	for _, n := range names {
		if strings.EqualFold(n.Name(), abi.SkillDir) || strings.EqualFold(n.Name(), abi.TmpDir) {
			return "", fault.New(fault.Refused, "sandbox %q holds %q, a name that stepbox uses itself", sandbox, n.Name()).
				Hint("rename it, or name another folder with --sandbox DIR")
		}
		if strings.EqualFold(n.Name(), abi.HiddenDir) && !n.IsDir() {
			return "", fault.New(fault.Refused, "sandbox %q holds %q, which is no folder of stepbox", sandbox, n.Name()).
				Hint("rename it, or name another folder with --sandbox DIR")
		}
	}
	return real, nil
}

// mayBeSandbox refuses folders in which a mistake costs too much, and those
// that would show stepbox's own folders to a guest.
func mayBeSandbox(private []string, given, real string) error {
	hint := "name the folder the request is about with --sandbox DIR"
	if real == string(filepath.Separator) || filepath.VolumeName(real) != "" && len(real) <= len(filepath.VolumeName(real))+1 {
		return fault.New(fault.Refused, "sandbox %q is the whole file system", given).Hint("%s", hint)
	}
	homes := []string{os.Getenv("HOME")}
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		homes = append(homes, u.HomeDir)
	}
	for i, home := range homes {
		if home == "" || home == "/" {
			continue
		}
		if h, err := filepath.EvalSymlinks(home); err == nil {
			home = h
		}
		if real == home || i > 0 && within(real, home) {
			return fault.New(fault.Refused, "sandbox %q is or holds your whole home folder", given).Hint("%s", hint)
		}
	}
	for _, dir := range private {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		if within(real, dir) || within(dir, real) {
			return fault.New(fault.Refused, "sandbox %q and stepbox's own folder %q lie one in the other", given, dir).
				Hint("name another folder with --sandbox DIR, or move stepbox's with XDG_STATE_HOME and XDG_CACHE_HOME")
		}
	}
	return nil
}

// within reports whether path is dir or lies below it; both are clean.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
