package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/sandbox"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/skill/bundle"
	"stepbox.dev/host/worker"
)

// loading is a worker on its way: the module is built and compiled when it
// must be, the child started, and what the module says about itself compared
// with its contract, all while the request is planned.
type loading struct {
	cancel context.CancelFunc
	ready  chan struct{}

	skill  *skill.Skill
	worker *worker.Worker
	module *worker.Module
	tools  map[string]abi.ToolDescription
	err    error
}

// expect has the compiled code of an installed skill verified while its bundle
// is read. It makes nothing: the cache's folder may turn out to lie in a sandbox
// that is refused.
func (h *Host) expect(name string) {
	if _, err := os.Stat(filepath.Join(h.cache, compiledName, "key")); err != nil || name == "" {
		return
	}
	entry, found, err := h.store.Find(bundle.KindSkill, name)
	if err != nil || !found {
		return // who loads it says why
	}
	if cache, err := h.compiled(); err == nil {
		cache.Expect(entry.Module)
	}
}

// load starts the worker for a skill. o carries what the run adds to it; its
// limits are ceilings.
func (h *Host) load(ctx context.Context, s *skill.Skill, o worker.Options, e event.Handler) *loading {
	ctx, cancel := context.WithCancel(ctx)
	l := &loading{cancel: cancel, ready: make(chan struct{}), skill: s}
	go func() {
		defer close(l.ready)
		l.err = l.start(ctx, h, o, e)
	}()
	return l
}

func (l *loading) start(ctx context.Context, h *Host, o worker.Options, e event.Handler) error {
	name := l.skill.Name()
	wasm, err := l.skill.Module(ctx, filepath.Join(h.cache, "built"), func() {
		e.Handle(event.Notice{Message: fmt.Sprintf("building skill %s with Go", name)})
	})
	if err != nil {
		return err
	}
	cache, err := h.compiled()
	if err != nil {
		return err
	}
	compiling := func() {
		e.Handle(event.Notice{Message: fmt.Sprintf("compiling skill %s (the first time only)", name)})
	}
	if b := l.skill.Bundle(); b != nil { // whose module was compared with its digest when it was read
		l.module, err = cache.Checked(ctx, wasm, b.Manifest.Module.SHA256, compiling)
	} else {
		l.module, err = cache.Module(ctx, wasm, compiling)
	}
	if err != nil {
		return err
	}
	o.Engine = h.engines(l.skill, o.Limits, e)
	o.Module, o.SkillFiles, o.Limits = l.module, l.skill.Files(), capped(limits(l.skill.Limits()), o.Limits)
	if o.AllowMissingWalls = h.settings.MissingWalls == "allow"; o.AllowMissingWalls {
		e.Handle(event.Notice{Message: "missing_walls is set to allow: a wall of the sandbox that this machine lacks stops nothing"})
	}
	if l.worker, err = worker.Start(ctx, o); err != nil {
		return err
	}
	d, err := l.worker.Describe(ctx)
	if err != nil {
		return err
	}
	if diff := l.skill.Registry().Check(d); len(diff) > 0 {
		return fault.New(fault.CheckFailed, "skill %s describes other tools than its tools.yaml declares:\n  %s", name, strings.Join(diff, "\n  ")).
			Hint("the module and its contract do not belong together: do not use it")
	}
	l.tools = make(map[string]abi.ToolDescription, len(d.Tools))
	for _, t := range d.Tools {
		l.tools[t.Name] = t
	}
	return nil
}

// wait returns the worker, and which kind each tool is.
func (l *loading) wait(ctx context.Context) (*worker.Worker, func(tool string) abi.Kind, error) {
	select {
	case <-l.ready:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	return l.worker, func(tool string) abi.Kind { return l.tools[tool].Kind }, l.err
}

// identity is what the digest of a run covers beside its program.
func (l *loading) identity() []string {
	id := []string{
		"skill " + l.skill.Name() + " " + l.skill.Version() + " " + l.skill.Digest(),
		"module " + l.module.Digest,
		fmt.Sprintf("limits %+v", l.skill.Limits()),
	}
	for _, e := range l.skill.Engines() {
		id = append(id, "engine "+e.Name+" "+e.Digest)
	}
	return id
}

// stop ends the worker, or the way to it, and waits until it is gone.
func (l *loading) stop() {
	l.cancel()
	<-l.ready
	if l.worker != nil {
		l.worker.Close()
	}
}

// limits are a skill's own limits as the worker takes them.
func limits(s skill.Limits) worker.Limits {
	return worker.Limits{
		MemoryBytes: int64(s.MemoryMB) << 20,
		Step:        time.Duration(s.StepSeconds) * time.Second,
		Quotas:      sandbox.Quotas{Bytes: int64(s.OutputMB) << 20, Files: s.Files},
	}
}
