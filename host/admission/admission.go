// Package admission reads an untrusted WebAssembly module before any decoder
// sees it, and refuses what would hurt one: declared counts that do not fit
// into the bytes that follow, absurd numbers of locals, nesting that makes a
// compiler quadratic, imports from outside the ABI. It runs in linear time,
// allocates nothing from a declared count, and does not validate types: that is
// left to the compiler, in its own process.
package admission

import (
	"fmt"

	"stepbox.dev/abi"
)

// Caps on what a module may declare. They are far above what compilers emit: a
// large Go program nests 3,337 blocks, the next deepest a few hundred.
const (
	MaxModuleBytes = 256 << 20
	MaxTypes       = 1_000_000
	MaxParams      = 1_000
	MaxImports     = 100_000
	MaxFunctions   = 1_000_000
	MaxTables      = 100
	MaxTableSize   = 10_000_000
	MaxMemories    = 1
	MaxPages       = 65_536 // 4 GiB, the format's own bound
	MaxGlobals     = 1_000_000
	MaxExports     = 1_000_000
	MaxElements    = 10_000_000 // in all segments
	MaxSegments    = 100_000
	MaxBodyBytes   = 8 << 20
	MaxLocals      = 50_000 // of one function
	MaxNesting     = 16_384 // blocks within blocks
	MaxBranches    = 65_536 // of one br_table
	MaxNameBytes   = 100_000
)

// Policy says which imports a kind of module may have.
type Policy uint8

// The policies.
const (
	// Structure allows any import; only the shape is checked.
	Structure Policy = iota
	// Skill allows WASI preview 1, Extism without HTTP, and stepbox's own host
	// functions.
	Skill
	// Engine allows WASI preview 1 alone.
	Engine
)

// Module is what a scan learned. Names are the module's own, hence hostile.
type Module struct {
	Imports []Import
	Exports []string // of functions
	// Start is true when the module has a start function.
	Start bool
	// Data is the number of bytes in data segments.
	Data int64
}

// Import is one imported item. Kind is func, table, memory, global or tag.
type Import struct{ Module, Name, Kind string }

// Check refuses a module that is malformed in a way that endangers a decoder,
// or that imports what the policy does not allow. The error says what and
// where.
func Check(wasm []byte, p Policy) error {
	m, err := Scan(wasm)
	if err != nil {
		return err
	}
	return m.Allowed(p)
}

// Allowed checks the imports against the policy.
func (m *Module) Allowed(p Policy) error {
	if p == Structure {
		return nil
	}
	for _, i := range m.Imports {
		if i.Kind != "func" {
			return fmt.Errorf("imports the %s %q of %q: only functions may be imported", i.Kind, clip(i.Name), clip(i.Module))
		}
		names, ok := importable[p][i.Module]
		switch {
		case !ok:
			return fmt.Errorf("imports %q from %q, which is not part of the ABI", clip(i.Name), clip(i.Module))
		case !names[i.Name]:
			return fmt.Errorf("imports %q from %q, which does not offer it", clip(i.Name), i.Module)
		}
	}
	return nil
}

// Names of the modules that imports may come from.
const (
	wasiModule   = "wasi_snapshot_preview1"
	extismModule = "extism:host/env"
)

var importable = map[Policy]map[string]map[string]bool{
	Skill: {
		wasiModule:        wasiNames,
		extismModule:      extismNames,
		abi.HostNamespace: set(abi.HostConfirm, abi.HostProgress, abi.HostEngine),
	},
	Engine: {wasiModule: wasiNames},
}

// wasiNames are the functions of WASI preview 1.
var wasiNames = set(
	"args_get", "args_sizes_get", "clock_res_get", "clock_time_get", "environ_get", "environ_sizes_get",
	"fd_advise", "fd_allocate", "fd_close", "fd_datasync", "fd_fdstat_get", "fd_fdstat_set_flags",
	"fd_fdstat_set_rights", "fd_filestat_get", "fd_filestat_set_size", "fd_filestat_set_times", "fd_pread",
	"fd_prestat_dir_name", "fd_prestat_get", "fd_pwrite", "fd_read", "fd_readdir", "fd_renumber", "fd_seek",
	"fd_sync", "fd_tell", "fd_write", "path_create_directory", "path_filestat_get", "path_filestat_set_times",
	"path_link", "path_open", "path_readlink", "path_remove_directory", "path_rename", "path_symlink",
	"path_unlink_file", "poll_oneoff", "proc_exit", "proc_raise", "random_get", "sched_yield", "sock_accept",
	"sock_recv", "sock_send", "sock_shutdown",
)

// extismNames are Extism's own functions, without http_*: a step has no network.
var extismNames = set(
	"alloc", "config_get", "error_get", "error_set", "free", "get_log_level", "input_length", "input_load_u64",
	"input_load_u8", "input_offset", "input_set", "length", "length_unsafe", "load_u64", "load_u8", "log_debug",
	"log_error", "log_info", "log_trace", "log_warn", "memory_bytes", "output_length", "output_offset", "output_set",
	"reset", "store_u64", "store_u8", "var_get", "var_set",
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
