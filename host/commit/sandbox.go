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
	if dir := systemFolder(real); dir != "" {
		return fault.New(fault.Refused, "sandbox %q lies in %s, a folder of the system", given, dir).Hint("%s", hint)
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
		dir = resolved(dir)
		if within(real, dir) || within(dir, real) {
			return fault.New(fault.Refused, "sandbox %q and stepbox's own folder %q lie one in the other", given, dir).
				Hint("name another folder with --sandbox DIR, or move stepbox's with XDG_STATE_HOME and XDG_CACHE_HOME")
		}
	}
	return nil
}

// system are folders that the machine lives from, or that hold no files at all:
// a mistake there stops it, and many names there act when they are read.
var system = []string{
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr",
	"/private/etc", "/Library", "/System",
}

// peoples are folders below those that hold what people put there.
var peoples = []string{"/dev/shm", "/run/media", "/run/user", "/usr/local/src", "/usr/src"}

// systemFolder is the folder of the system that a folder is or lies in, "" when
// there is none. /var as a whole is one as well, what is below it is not.
func systemFolder(real string) string {
	for _, dir := range peoples {
		if real != dir && within(dir, real) {
			return ""
		}
	}
	for _, dir := range system {
		if within(dir, real) {
			return dir
		}
	}
	if real == "/var" || real == "/private/var" {
		return real
	}
	return ""
}

// resolved is a folder with its links resolved, as far as it is there.
func resolved(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	rest := ""
	for at := dir; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return dir
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// within reports whether path is dir or lies below it; both are clean.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
