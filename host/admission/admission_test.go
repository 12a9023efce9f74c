package admission

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the header and the sections.
func module(sections ...[]byte) []byte {
	b := append([]byte{}, header...)
	for _, s := range sections {
		b = append(b, s...)
	}
	return b
}

func section(id byte, body ...byte) []byte {
	return append(append([]byte{id}, leb(len(body))...), body...)
}

func leb(n int) (b []byte) {
	for {
		c := byte(n & 0x7f)
		if n >>= 7; n == 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// function is a module of one function with the given body.
func function(body ...byte) []byte {
	code := append(leb(len(body)), body...)
	return module(section(1, 1, 0x60, 0, 0), section(3, 1, 0), section(10, join([]byte{1}, code)...))
}

func imports(mod, name string) []byte {
	return module(section(1, 1, 0x60, 0, 0),
		section(2, join([]byte{1}, leb(len(mod)), []byte(mod), leb(len(name)), []byte(name), []byte{0, 0})...))
}

// Each of these has ended, or stalled, a decoder or compiler somewhere.
func TestHostileStructureIsRefused(t *testing.T) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		require.NoError(t, err)
		return b
	}
	name := func(b []byte) []byte { return section(0, join([]byte{4}, []byte("name"), b)...) }
	for what, c := range map[string]struct {
		wasm []byte
		want string
	}{
		"nothing":               {nil, "magic"},
		"text":                  {[]byte("#!/bin/sh\n"), "magic"},
		"component":             {unhex("0061736d 0d000100"), "magic"},
		"four billion imports":  {unhex("0061736d 01000000 02 05 ffffffff0f"), "over the cap"},
		"imports without bytes": {module(section(2, leb(99_999)...)), "do not fit"},
		"four billion locals":   {function(1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 0x0b), "locals"},
		"many groups of locals": {function(join(leb(40_000), make([]byte, 100))...), "do not fit"},
		"four billion types":    {module(section(1, 0xff, 0xff, 0xff, 0xff, 0x0f)), "types"},
		"huge table":            {module(section(4, join([]byte{1, 0x70, 0}, leb(1<<31))...)), "table"},
		"huge memory":           {module(section(5, join([]byte{1, 0}, leb(70_000))...)), "memory"},
		"two memories":          {module(section(5, 2, 0, 1, 0, 1)), "over the cap"},
		"deep blocks":           {function(join([]byte{0}, rep(MaxNesting+1, 0x02, 0x40), rep(MaxNesting+2, 0x0b))...), "nested"},
		"endless blocks":        {function(join([]byte{0}, rep(100, 0x02, 0x40))...), "ends within a block"},
		"huge br_table": {function(join([]byte{0, 0x0e}, leb(1_000_000), make([]byte, 1_000_001), []byte{0x0b})...),
			"br_table"},
		"lying br_table":        {function(0, 0x0e, 0xff, 0x7f, 0, 0x0b), "do not fit"},
		"body past its end":     {module(section(1, 1, 0x60, 0, 0), section(3, 1, 0), section(10, 1, 0x7f, 0, 0x0b)), "does not fit"},
		"code after the end":    {function(0, 0x0b, 0x01), "follow the end"},
		"unknown instruction":   {function(0, 0xff, 0x0b), "unknown instruction"},
		"section twice":         {module(section(1, 0), section(1, 0)), "out of order"},
		"sections out of order": {module(section(3, 0), section(1, 0)), "out of order"},
		"tag before memory":     {module(section(13, 0), section(5, 0)), "out of order"},
		"unknown section":       {module(section(14, 0)), "does not fit"},
		"section past the end":  {module([]byte{1, 100, 0}), "does not fit"},
		"left over":             {module(section(1, 0, 0)), "left over"},
		"functions, no bodies":  {module(section(1, 1, 0x60, 0, 0), section(3, 1, 0)), "have a body"},
		"long number":           {module(section(1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01)), "number"},
		"large number":          {module(section(1, 0xff, 0xff, 0xff, 0xff, 0x7f)), "too large"},
		"data past the end":     {module(section(11, 1, 0, 0x41, 0, 0x0b, 0x7f)), "do not fit"},
		"elements past the end": {module(section(9, join([]byte{1, 0, 0x41, 0, 0x0b}, leb(1_000_000))...)),
			"do not fit"},
		"block in a constant":   {module(section(6, 1, 0x7f, 0, 0x02, 0x40, 0x0b, 0x0b)), "constant expression"},
		"names without bytes":   {module(name(join([]byte{1, 5}, unhex("ffffffff0f")))), "over the cap"},
		"names that do not fit": {module(name(join([]byte{1, 3}, leb(99_999)))), "do not fit"},
		"long import name":      {imports("env", strings.Repeat("x", MaxNameBytes+1)), "name of"},
		"name not UTF-8":        {imports("env", "\xff\xfe"), "UTF-8"},
	} {
		t.Run(what, func(t *testing.T) {
			err := Check(c.wasm, Structure)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func rep(n int, b ...byte) (out []byte) {
	for range n {
		out = append(out, b...)
	}
	return out
}

// A count must not be believed before its bytes are seen.
func TestDeclaredCountsCostNothing(t *testing.T) {
	bombs := [][]byte{
		module(section(2, 0xff, 0xff, 0xff, 0xff, 0x0f)),
		module(section(1, leb(999_999)...)),
		function(join(leb(50_000), []byte{0x0b})...),
	}
	for _, b := range bombs {
		n := testing.AllocsPerRun(10, func() { _, _ = Scan(b) })
		require.Less(t, n, 30.0)
	}
}

func TestImportsFollowThePolicy(t *testing.T) {
	for name, c := range map[string]struct {
		mod, fn string
		p       Policy
		ok      bool
	}{
		"wasi in a skill":            {"wasi_snapshot_preview1", "fd_write", Skill, true},
		"wasi in an engine":          {"wasi_snapshot_preview1", "fd_write", Engine, true},
		"unknown wasi":               {"wasi_snapshot_preview1", "sock_open", Skill, false},
		"old wasi":                   {"wasi_unstable", "fd_write", Skill, false},
		"extism in a skill":          {"extism:host/env", "alloc", Skill, true},
		"extism in an engine":        {"extism:host/env", "alloc", Engine, false},
		"http in a skill":            {"extism:host/env", "http_request", Skill, false},
		"http status in a skill":     {"extism:host/env", "http_status_code", Skill, false},
		"confirm in a skill":         {"extism:host/user", "stepbox_confirm", Skill, true},
		"own function in a skill":    {"extism:host/user", "stepbox_exec", Skill, false},
		"another module's export":    {"main", "stepbox_step", Skill, false},
		"env":                        {"env", "system", Skill, false},
		"anything, structure alone":  {"env", "system", Structure, true},
		"the kernel under its name":  {"extism:runtime", "alloc", Skill, false},
		"host function in an engine": {"extism:host/user", "stepbox_confirm", Engine, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(imports(c.mod, c.fn), c.p)
			if c.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.mod)
		})
	}
	memory := module(section(2, join([]byte{1, 3}, []byte("env"), []byte{1, 'm', 2, 0, 1})...))
	require.ErrorContains(t, Check(memory, Skill), "only functions")
}

// Everything the runtime's own tests hold is well formed, so none may be
// refused, whichever compiler made it.
func TestLegitimateModulesPass(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil || len(strings.TrimSpace(string(out))) == 0 {
		t.Skip("the runtime's sources are not in the module cache")
	}
	root := strings.TrimSpace(string(out))
	n := 0
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".wasm" || strings.Contains(path, "spectest") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		if _, err := Scan(b); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, n, 20)
}
