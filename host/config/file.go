package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry/yamldoc"
)

// maxFile bounds the file, in bytes.
const maxFile = 64 << 10

// Value is one key as it is set.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // default, the file's path, or the variable's name
	Help   string `json:"help"`
}

// Config is what is set.
type Config struct {
	Path     string  `json:"path"` // of the file, there or not
	Values   []Value `json:"values"`
	Settings `json:"-"`
}

// Load reads the file, which need not exist, and lays the environment over it.
// Its error lists every fault of the file.
func Load(path string, getenv func(string) string) (Config, error) {
	c := Config{Path: path}
	data, err := read(path)
	if err != nil {
		return c, err
	}
	given, err := parse(path, data)
	if err != nil {
		return c, err
	}
	for _, k := range keys {
		v := Value{Key: k.Name, Value: k.Default, Source: "default", Help: k.Help}
		if in, ok := given[k.Name]; ok {
			v.Value, v.Source = in, path
		}
		if in := getenv(k.Variable()); in != "" {
			v.Value, v.Source = in, k.Variable()
			if err := k.apply(&c.Settings, in); err != nil {
				return c, fault.New(fault.Usage, "environment variable %s %w", k.Variable(), err)
			}
		} else if err := k.apply(&c.Settings, v.Value); err != nil { // parse has checked the file's
			return c, fault.New(fault.Internal, "default of %s: %w", k.Name, err)
		}
		c.Values = append(c.Values, v)
	}
	return c, nil
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Usage, "configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fault.New(fault.Usage, "configuration %q: %w", path, err)
	case len(data) > maxFile:
		return nil, fault.New(fault.Usage, "configuration %q is larger than %d KiB", path, maxFile>>10)
	}
	return data, nil
}

// parse returns what the file sets.
func parse(path string, data []byte) (map[string]string, error) {
	root, err := yamldoc.Read(path, data)
	if err != nil {
		return nil, fault.New(fault.Usage, "%w", err)
	}
	if root.Kind == yamldoc.Null {
		return nil, nil
	}
	var faults yamldoc.Faults
	if root.Kind != yamldoc.Map {
		faults.Add(root, "the configuration must be a mapping, not %s", root.Kind)
		return nil, faults.Err()
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	faults.Keys(root, "key", names)
	given := map[string]string{}
	for _, k := range keys {
		n := root.Get(k.Name)
		if n == nil || n.Kind == yamldoc.Null {
			continue
		}
		v := faults.Text(root, k.Name)
		if !n.Scalar() {
			continue
		}
		if err := k.apply(new(Settings), v); err != nil {
			faults.Add(n, "%s %s", k.Name, err)
			continue
		}
		given[k.Name] = v
	}
	return given, faults.Err()
}

// plain is a value that YAML reads as it stands.
var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./:@-]*[A-Za-z0-9_/]$|^[A-Za-z0-9]$`)

// Set writes one key to the file and leaves all else in it as it is, comments
// too. An empty value takes the key out.
func Set(path, name, value string) error {
	k, err := find(name)
	if err != nil {
		return err
	}
	if value != "" {
		if err := k.apply(new(Settings), value); err != nil {
			return fault.New(fault.Usage, "%s %w", name, err).Hint("it is %s", k.Help)
		}
	}
	data, err := read(path)
	if err != nil {
		return err
	}
	if _, err := parse(path, data); err != nil { // what is there must not be made worse
		return err
	}
	data = replaced(data, name, value)
	if given, err := parse(path, data); err != nil || given[name] != value {
		return fault.New(fault.Usage, "%q is written in a way that cannot be changed here", path).
			Hint("set %s in it by hand", name)
	}
	return write(path, data)
}

// replaced is the file with a line of the key changed, added or taken out.
func replaced(data []byte, name, value string) []byte {
	line := ""
	if value != "" {
		text := value
		if !plain.MatchString(value) || strings.EqualFold(value, "null") {
			quoted, err := json.Marshal(value) // a JSON string is a YAML string
			if err != nil {
				return data
			}
			text = string(quoted)
		}
		line = name + ": " + text + "\n"
	}
	own := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `[ \t]*:.*(\n|$)`)
	if at := own.FindIndex(data); at != nil {
		return append(append(bytes.Clone(data[:at[0]]), line...), data[at[1]:]...)
	}
	data = bytes.Clone(data)
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	return append(data, line...)
}

// write replaces the file: it is never half written.
func write(path string, data []byte) (err error) {
	defer func() {
		if err != nil {
			err = fault.New(fault.Usage, "configuration: %w", err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*.yaml")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it has its name
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
