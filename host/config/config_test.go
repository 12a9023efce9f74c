package config_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/config"
	"stepbox.dev/host/fault"
)

func nothing(string) string { return "" }

func file(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Flags aside, the environment wins over the file and the file over the
// defaults, and each value says where it is from.
func TestLayers(t *testing.T) {
	path := file(t, "# mine\nbackend: ollama\nmodel: llama3.2:3b\ntimeout: 90s\nschema: false\n")
	c, err := config.Load(path, func(name string) string {
		return map[string]string{"STEPBOX_MODEL": "other", "STEPBOX_ATTEMPTS": "5"}[name]
	})
	require.NoError(t, err)
	require.Equal(t, config.Settings{
		Planner: "auto", Backend: "ollama", Model: "other", Timeout: 90 * time.Second, Attempts: 5,
		MaxTokens: 1024, ContextTokens: 8192, NoSchema: true, MissingWalls: "refuse",
	}, c.Settings)
	sources := map[string]string{}
	for _, v := range c.Values {
		sources[v.Key] = v.Source
	}
	require.Equal(t, map[string]string{
		"planner": "default", "backend": path, "url": "default", "model": "STEPBOX_MODEL", "key_variable": "default", "timeout": path,
		"attempts": "STEPBOX_ATTEMPTS", "max_tokens": "default", "context_tokens": "default", "schema": path, "missing_walls": "default",
	}, sources)

	c, err = config.Load(filepath.Join(t.TempDir(), "none.yaml"), nothing)
	require.NoError(t, err)
	require.Equal(t, "", c.Backend, "a model is asked though nobody configured one")
}

func TestFaults(t *testing.T) {
	for text, part := range map[string]string{
		"modle: x\n":                        `config.yaml:1: unknown key "modle"`,
		"planner: best\n":                   `config.yaml:1: planner must be one of auto, embedded, openai, ollama, mock, not "best"`,
		"model: x\ntimeout: soon\n":         "config.yaml:2: timeout must be a time",
		"attempts: 99\n":                    "from 1 to 10",
		"- a\n":                             "must be a mapping",
		"model: [a]\n":                      "must be a string",
		"model: x\nmodel: y\n":              "model",
		"key_variable: sk-0123-secret\n":    "must be the name of an environment variable",
		"url: http://me:secret@host/v1\n":   "must be a web address and nothing more",
		"url: https://host/v1?key=secret\n": "must be a web address and nothing more",
		"\xff":                              "UTF-8",
	} {
		_, err := config.Load(file(t, text), nothing)
		require.ErrorContains(t, err, part, "%q", text)
		require.Equal(t, fault.Usage, fault.Of(err))
		require.NotContains(t, err.Error(), "secret")
	}
	_, err := config.Load(file(t, ""), func(name string) string {
		return map[string]string{"STEPBOX_PLANNER": "best"}[name]
	})
	require.ErrorContains(t, err, "environment variable STEPBOX_PLANNER must be one of")
}

// What a person wrote besides the key stays.
func TestSet(t *testing.T) {
	path := file(t, "# mine\nmodel: old # the small one\ntimeout: 5m")
	require.NoError(t, config.Set(path, "model", `odd: "name" #1`))
	require.NoError(t, config.Set(path, "url", "http://127.0.0.1:8080/v1"))
	require.NoError(t, config.Set(path, "backend", "openai"))
	require.NoError(t, config.Set(path, "timeout", ""))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "# mine\nmodel: \"odd: \\\"name\\\" #1\"\nurl: http://127.0.0.1:8080/v1\nbackend: openai\n", string(got))
	c, err := config.Load(path, nothing)
	require.NoError(t, err)
	require.Equal(t, `odd: "name" #1`, c.Model)

	require.ErrorContains(t, config.Set(path, "modle", "x"), `unknown key "modle"`)
	require.ErrorContains(t, config.Set(path, "timeout", "never"), "timeout must be a time")
	require.ErrorContains(t, config.Set(path, "key_variable", "sk-abc-secret"), "must be the name of an environment variable")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(got), string(after), "a refused value changed the file")

	// A form that cannot be changed line by line is left alone.
	odd := file(t, "model: >-\n  x\n")
	require.ErrorContains(t, config.Set(odd, "model", "y"), "cannot be changed here")

	fresh := filepath.Join(t.TempDir(), "a", "config.yaml")
	require.NoError(t, config.Set(fresh, "model", "m"))
	info, err := os.Stat(fresh)
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // which has other rights
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	entries, err := os.ReadDir(filepath.Dir(fresh))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// Every value that can be set reads back as itself.
func FuzzSet(f *testing.F) {
	for _, s := range []string{"a", "null", "~", "yes", "a: b", "'", "0x1f", "#", "- x", "é", "*a", "|", "a:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if config.Set(path, "model", value) != nil {
			return
		}
		c, err := config.Load(path, nothing)
		require.NoError(t, err)
		require.Equal(t, value, c.Model)
	})
}
