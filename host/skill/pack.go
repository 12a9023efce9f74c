package skill

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
)

// Pack returns the skill as a bundle with the given module. The version is that
// of the contract; what a user's overrides changed is not the skill.
func (s *Skill) Pack(module []byte) ([]byte, error) {
	if s.layered {
		return nil, fault.New(fault.Usage, "skill %q was loaded with overrides, which are not packed: load it without", s.name)
	}
	return bundle.Pack(bundle.KindSkill, s.name, s.version, module, s.files)
}

// Unpack writes the files and the module of a bundle into a new folder, which
// loads as the same skill. Nothing is left of it when that fails.
func (s *Skill) Unpack(dir string) (err error) {
	if s.bundle == nil {
		return fault.New(fault.Usage, "skill %q is a folder already: %q", s.name, s.dir)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fault.New(fault.Usage, "%q is there already", dir).Hint("name a folder that does not exist")
		}
		return fault.New(fault.Usage, "folder %q cannot be made: %w", dir, plainCause(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault.New(fault.Internal, "folder %q: %w", dir, err)
	}
	defer root.Close()
	files := maps.Clone(s.bundle.Files)
	if _, taken := files[s.module]; taken {
		return fault.New(fault.CheckFailed, "the bundle holds a file called %q, which is the module's name", s.module)
	}
	files[s.module] = s.bundle.Module
	for _, name := range slices.Sorted(maps.Keys(files)) {
		local := filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
			return fault.New(fault.Internal, "unpack %q: %w", name, plainCause(err))
		}
		if err := root.WriteFile(local, files[name], 0o644); err != nil {
			return fault.New(fault.Internal, "unpack %q: %w", name, plainCause(err))
		}
	}
	return nil
}
