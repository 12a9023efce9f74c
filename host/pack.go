package host

import (
	"context"
	"path/filepath"

	"stepbox.dev/host/skill"
)

// Pack makes a bundle of the skill or the engine in a folder, building it with
// Go when it is source. signAs names one of the person's signing keys; "" signs
// nothing.
func (h *Host) Pack(ctx context.Context, dir, signAs string) (name string, wasm []byte, err error) {
	if skill.IsEngine(dir) {
		name, wasm, err = packEngine(ctx, dir)
	} else {
		name, wasm, err = h.packSkill(ctx, dir)
	}
	if err != nil || signAs == "" {
		return name, wasm, err
	}
	key, err := h.store.SigningKey(signAs)
	if err != nil {
		return name, nil, err
	}
	wasm, err = key.Sign(wasm)
	return name, wasm, err
}

func (h *Host) packSkill(ctx context.Context, dir string) (string, []byte, error) {
	s, err := skill.Load(dir, skill.Options{})
	if err != nil {
		return "", nil, err
	}
	module, err := s.Module(ctx, filepath.Join(h.cache, "built"), nil)
	if err != nil {
		return "", nil, err
	}
	wasm, err := s.Pack(module)
	return s.Name(), wasm, err
}

func packEngine(ctx context.Context, dir string) (string, []byte, error) {
	e, err := skill.LoadEngine(dir)
	if err != nil {
		return "", nil, err
	}
	wasm, err := e.Pack(ctx)
	return e.Name(), wasm, err
}
