// Package config is how a person sets stepbox up: a file, environment variables
// over it, and flags over both. It says where each value came from. It holds no
// secret: a key's place is an environment variable, and the configuration names
// it.
package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry/nearest"
)

// Settings are the values as the host uses them. The zero value asks no model.
type Settings struct {
	Planner       string // auto, embedded, openai, ollama, mock; "" is auto
	Backend       string // the model that auto asks: openai, ollama; "" is none
	URL           string // of the backend's server; "" is its default
	Model         string
	KeyVariable   string // names the environment variable that holds the key; "" sends none
	Timeout       time.Duration
	Attempts      int
	MaxTokens     int
	ContextTokens int
	NoSchema      bool
	MissingWalls  string // refuse, allow: what to do where the system lacks a wall of the sandbox; "" is refuse
}

// Key is one thing that can be set.
type Key struct {
	Name    string
	Help    string
	Default string
	apply   func(s *Settings, v string) error
}

// Variable is the environment variable that sets the key.
func (k Key) Variable() string { return "STEPBOX_" + strings.ToUpper(k.Name) }

// Planners and Backends are what the keys of these names take.
var (
	planners = []string{"auto", "embedded", "openai", "ollama", "mock"}
	backends = []string{"openai", "ollama"}
)

// keys is everything that can be set, in the order in which it is shown.
var keys = []Key{
	{"planner", "who plans: " + strings.Join(planners, ", "), "auto", oneOf(planners, func(s *Settings) *string { return &s.Planner })},
	{"backend", "the protocol of the model that auto asks when it is not sure: openai, ollama, or empty for none", "", oneOf(append([]string{""}, backends...), func(s *Settings) *string { return &s.Backend })},
	{"url", "where the backend's server listens", "", address},
	{"model", "the name of the model", "", text(func(s *Settings) *string { return &s.Model })},
	{"key_variable", "the environment variable that holds the server's key; empty sends none", "", variable},
	{"timeout", "how long a plan of a model may take", "2m", duration(func(s *Settings) *time.Duration { return &s.Timeout })},
	{"attempts", "how often a server that is busy or fails is asked", "3", number(1, 10, func(s *Settings) *int { return &s.Attempts })},
	{"max_tokens", "the longest answer of a model", "1024", number(64, 1<<20, func(s *Settings) *int { return &s.MaxTokens })},
	{"context_tokens", "the model's context, for question and answer", "8192", number(1024, 1<<24, func(s *Settings) *int { return &s.ContextTokens })},
	{"schema", "hold the model to the schema of the plan, where the server can", "true", func(s *Settings, v string) error {
		on, err := strconv.ParseBool(v)
		if err != nil {
			return fault.New(fault.Usage, "must be true or false, not %q", v)
		}
		s.NoSchema = !on
		return nil
	}},
	{"missing_walls", "what to do on a machine that lacks a wall of the sandbox (stepbox doctor says which stand): refuse to run, or allow", "refuse",
		oneOf([]string{"refuse", "allow"}, func(s *Settings) *string { return &s.MissingWalls })},
}

// Keys returns everything that can be set.
func Keys() []Key { return append([]Key(nil), keys...) }

func find(name string) (Key, error) {
	var names []string
	for _, k := range keys {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Key{}, fault.New(fault.Usage, "unknown key %q%s", name, nearest.Hint(name, names)).
		Hint("`stepbox config show` lists every key")
}

func text(at func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) || len(v) > 2000 {
			return fault.New(fault.Usage, "must be one line of text")
		}
		*at(s) = v
		return nil
	}
}

// address takes no place in which a secret could hide, and repeats none.
func address(s *Settings, v string) error {
	if v != "" && !strings.HasPrefix(v, "http://") && !strings.HasPrefix(v, "https://") || strings.ContainsAny(v, "@?#") {
		return fault.New(fault.Usage, "must be a web address and nothing more, such as http://127.0.0.1:8080/v1")
	}
	return text(func(s *Settings) *string { return &s.URL })(s, v)
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variable refuses, without repeating it, what could be the key itself.
func variable(s *Settings, v string) error {
	if v != "" && !identifier.MatchString(v) {
		return fault.New(fault.Usage, "must be the name of an environment variable, such as OPENAI_API_KEY, not the key")
	}
	s.KeyVariable = v
	return nil
}

func oneOf(values []string, at func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		for _, known := range values {
			if v == known {
				*at(s) = v
				return nil
			}
		}
		return fault.New(fault.Usage, "must be one of %s, not %q%s", strings.TrimPrefix(strings.Join(values, ", "), ", "), v, nearest.Hint(v, values))
	}
}

func duration(at func(*Settings) *time.Duration) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return fault.New(fault.Usage, `must be a time such as "90s" or "5m", not %q`, v)
		}
		*at(s) = d
		return nil
	}
}

func number(least, most int, at func(*Settings) *int) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fault.New(fault.Usage, "must be a whole number from %d to %d, not %q", least, most, v)
		}
		*at(s) = n
		return nil
	}
}

// Path returns where the file is: $XDG_CONFIG_HOME/stepbox/config.yaml, else
// ~/.config/stepbox/config.yaml.
func Path(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "stepbox", "config.yaml"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fault.New(fault.Usage, "no home folder: %w", err).Hint("set HOME or XDG_CONFIG_HOME")
	}
	return filepath.Join(home, ".config", "stepbox", "config.yaml"), nil
}
