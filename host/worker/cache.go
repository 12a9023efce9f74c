package worker

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"stepbox.dev/host/admission"
	"stepbox.dev/host/fault"
)

// Cache is a folder of compiled modules. What is in it is native code: the
// folder is 0700 and every entry carries a MAC.
//
//	key            of the MACs
//	ENTRY/         one module's code: module.wasm, the module without its code,
//	               and as the runtime keeps it a folder named after its version
//	               with a file each for the module and for Extism's own kernel
//	ENTRY/sum      names, sizes and tags of those files, and the MAC
//	new-…/         an entry in the making
type Cache struct {
	// AllowMissingWalls compiles even where the system cannot confine the
	// child that does it. It is set before the first use; see Options.
	AllowMissingWalls bool

	dir string
	key []byte

	expected sync.Map // entry → *check
}

// Module is an admitted module whose compiled code lies in the cache.
type Module struct {
	Digest   string // SHA-256 of the wasm, hex
	flavour  flavour
	compiled string // the entry
	// usable waits until the entry is verified, or says why it cannot be used.
	usable func() error
}

// Bounds of a compile. The largest module met takes 20 s on two slow cores.
const (
	compileTime = 5 * time.Minute
	maxCompiled = 1 << 30 // of one file
	compileData = 2 << 30 // of memory; a 19 MB module takes 500 MB
)

// OpenCache opens or makes the cache. A folder that others may write to, or
// that somebody else owns, is refused.
func OpenCache(dir string) (*Cache, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fault.New(fault.Internal, "open the compile cache %q: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unwritten("make the compile cache", dir, err)
	}
	if err := private(dir); err != nil {
		return nil, fault.New(fault.Stopped, "the compile cache %q holds code that will run, but %w", dir, err).
			Hint("remove that folder, or make it yours alone: chmod 700")
	}
	c := &Cache{dir: dir}
	c.sweep()
	if c.key, err = cacheKey(filepath.Join(dir, "key")); err != nil {
		return nil, unwritten("make the key of the compile cache", dir, err)
	}
	return c, nil
}

// What a cache keeps: enough for everything in use and the last few versions
// of it. An entry is several times as large as its module.
const (
	maxEntries = 40
	staleAfter = time.Hour // of an entry in the making: nobody waits that long
)

// sweep removes what a crash left, and the entries that were used longest ago.
// It is housekeeping: what cannot be removed now is removed another time.
func (c *Cache) sweep() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	type used struct {
		path string
		at   time.Time
	}
	var all []used
	for _, e := range entries {
		path := filepath.Join(c.dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil || !e.IsDir():
		case strings.HasPrefix(e.Name(), "new-"):
			if time.Since(info.ModTime()) > staleAfter {
				_ = os.RemoveAll(path)
			}
		default:
			all = append(all, used{path, info.ModTime()})
		}
	}
	if len(all) <= maxEntries {
		return
	}
	slices.SortFunc(all, func(a, b used) int { return a.at.Compare(b.at) })
	for _, u := range all[:len(all)-maxEntries] {
		_ = os.RemoveAll(u.path)
	}
}

const keyBytes = 32

// cacheKey reads the MAC key, or makes one. Of two processes that make one at
// once the first wins.
func cacheKey(path string) ([]byte, error) {
	if b, err := os.ReadFile(path); err == nil && len(b) == keyBytes {
		return b, private(path)
	}
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "key-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(key)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(tmp.Name(), path); err == nil {
		return key, nil
	} else if !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	if b, err := os.ReadFile(path); err == nil && len(b) == keyBytes {
		return b, private(path)
	}
	// A damaged key makes every entry worthless; they are compiled again.
	return key, os.Rename(tmp.Name(), path)
}

// Module admits the module of a skill and compiles it in a compile-only child unless its code
// is in the cache. compiling, when not nil, is told that a compile starts.
//
// Code from the cache is verified in the background, while a worker starts:
// no worker loads it before that is done. Should it turn out to be damaged, it
// is compiled again then.
func (c *Cache) Module(ctx context.Context, wasm []byte, compiling func()) (*Module, error) {
	return c.module(ctx, wasm, digestOf(wasm), flavour{}, compiling)
}

// Checked is Module for a module whose SHA-256, hex, was computed already.
func (c *Cache) Checked(ctx context.Context, wasm []byte, digest string, compiling func()) (*Module, error) {
	return c.module(ctx, wasm, digest, flavour{}, compiling)
}

// Expect has the code of a skill's module verified meanwhile: that module, by
// its SHA-256, hex, is asked for next. Code that is not there is no concern yet.
func (c *Cache) Expect(digest string) {
	entry := filepath.Join(c.dir, entryName(digest, flavour{}))
	if k := c.check(entry); k.err == nil {
		c.expected.Store(entry, k)
		_ = k.files()
	}
}

// check is the verification of an entry. It serves one use of the entry.
type check struct {
	err   error        // why the entry is none
	files func() error // verifies them, once
}

func (c *Cache) check(entry string) *check {
	s, err := c.readSum(entry)
	return &check{err, sync.OnceValue(func() error { return c.verifyFiles(entry, s) })}
}

func digestOf(wasm []byte) string {
	sum := sha256.Sum256(wasm)
	return hex.EncodeToString(sum[:])
}

// Engine is Module for the module of an engine, a WASI command. features are
// what its manifest says that it needs beyond the second version of the core
// specification without SIMD.
func (c *Cache) Engine(ctx context.Context, wasm []byte, features []string, compiling func()) (*Module, error) {
	f := flavour{Engine: true, Features: slices.Sorted(slices.Values(features))}
	if _, err := f.core(); err != nil {
		return nil, err
	}
	return c.module(ctx, wasm, digestOf(wasm), f, compiling)
}

func (c *Cache) module(ctx context.Context, wasm []byte, digest string, f flavour, compiling func()) (*Module, error) {
	m := &Module{Digest: digest, flavour: f}
	m.compiled = filepath.Join(c.dir, entryName(m.Digest, f))
	compile := func() error {
		if err := admission.Check(wasm, f.policy()); err != nil {
			return fault.New(fault.Stopped, "the module is refused: %w", err)
		}
		if compiling != nil {
			compiling()
		}
		return c.compile(ctx, m, wasm)
	}
	var k *check
	if expected, ok := c.expected.LoadAndDelete(m.compiled); ok {
		k = expected.(*check)
	} else {
		k = c.check(m.compiled)
	}
	if k.err != nil {
		m.usable = func() error { return nil }
		return m, compile()
	}
	m.usable = sync.OnceValue(func() error {
		if k.files() == nil {
			now := time.Now()
			_ = os.Chtimes(m.compiled, now, now) // for sweep, which can do without
			return nil
		}
		return compile()
	})
	go func() { _ = m.usable() }()
	return m, nil
}

// compile fills a private folder in a child that does nothing else, takes the
// files that belong there, and puts them in place.
func (c *Cache) compile(ctx context.Context, m *Module, wasm []byte) error {
	tmp, err := os.MkdirTemp(c.dir, "new-")
	if err != nil {
		return unwritten("make a folder to compile in", c.dir, err)
	}
	defer os.RemoveAll(tmp)
	if err := c.compileIn(ctx, tmp, wasm, m.flavour); err != nil {
		return err
	}
	s, err := c.take(tmp, m.compiled)
	if err != nil {
		return fault.New(fault.Stopped, "the compiler left what it may not: %w", err)
	}
	if err := c.sign(tmp, s); err != nil {
		return unwritten("sign compiled code", c.dir, err)
	}
	if err := os.Rename(tmp, m.compiled); err == nil {
		return nil
	}
	// Somebody was faster, or what lies there does not verify.
	if c.verify(m.compiled) == nil {
		return nil
	}
	if err := os.RemoveAll(m.compiled); err != nil {
		return fault.New(fault.Internal, "replace damaged code in the compile cache: %w", err)
	}
	if err := os.Rename(tmp, m.compiled); err != nil {
		return fault.New(fault.Internal, "put compiled code into the cache: %w", err)
	}
	return nil
}

func (c *Cache) compileIn(ctx context.Context, dir string, wasm []byte, f flavour) error {
	p, err := spawn(ctx, roleCompile, 0)
	if err != nil {
		return err
	}
	defer p.kill()
	answer, err := p.exchange(ctx, compileTime, setup{Module: len(wasm), Compiled: dir, Flavour: f,
		MissingWallsOK: c.AllowMissingWalls}, wasm)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fault.New(fault.Stopped, "the module takes longer than %s to compile", compileTime)
	case ctx.Err() != nil:
		return ended("compile", context.Cause(ctx))
	case err != nil:
		if strings.Contains(p.lastWords(), "out of memory") {
			return fault.New(fault.Stopped, "the module takes more than %d MiB to compile", int64(compileData)>>20)
		}
		return fault.New(fault.Stopped, "the compiler was ended by the module: %w", err)
	}
	var r ready
	if err := answer.decode(&r); err != nil || answer.kind != kindReady {
		return fault.New(fault.Stopped, "the compiler answered nonsense: %w", err)
	}
	switch {
	case r.Wall:
		return fault.New(fault.Stopped, "the sandbox cannot be built on this machine: %s", r.Fault).
			Hint("run stepbox doctor to see which walls stand")
	case r.DiskFull:
		return full(c.dir, errors.New(clean(r.Fault, 400)))
	case r.Fault != "":
		return fault.New(fault.CheckFailed, "the module does not compile: %s", clean(r.Fault, 400))
	}
	return nil
}

// unwritten is an error about what could not be written in the cache.
func unwritten(what, dir string, err error) error {
	if fault.NoRoom(err) {
		return full(dir, err)
	}
	return fault.New(fault.Internal, "%s: %w", what, err)
}

func full(dir string, err error) error {
	return fault.New(fault.Usage, "there is no room for compiled code in %q: %w", dir, err).Hint("free some space there, then try again")
}

// entryName is what an entry depends on: the module, the runtime and the way
// it is used. The runtime itself tells processors apart.
func entryName(digest string, f flavour) string {
	s := sha256.Sum256([]byte(strings.Join([]string{digest, runtimeVersion(), runtime.GOARCH, cacheFormat, f.String()}, "\n")))
	return hex.EncodeToString(s[:16])
}

// cacheFormat changes when compiled code or what is admitted changes without
// the runtime's version.
const cacheFormat = "3"

// runtimeVersion is the runtime's version as linked.
func runtimeVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	var v []string
	for _, d := range info.Deps {
		if d.Path == "github.com/tetratelabs/wazero" || d.Path == "github.com/extism/go-sdk" {
			v = append(v, d.Path+"@"+d.Version)
		}
	}
	return strings.Join(v, " ")
}
