package worker

import (
	"context"
	"time"

	"stepbox.dev/host/fault"
)

// Wall is one wall of the sandbox, for stepbox doctor.
type Wall struct {
	Name   string `json:"name"`
	Stands bool   `json:"stands"`
	Detail string `json:"detail"`
}

// Walls reports which walls stand on this machine, by trying them in a child.
func Walls(ctx context.Context) ([]Wall, error) {
	p, err := spawn(ctx, roleWalls, 0)
	if err != nil {
		return []Wall{{Name: "worker", Detail: err.Error()}}, nil
	}
	defer p.kill()
	f, err := p.exchange(ctx, 10*time.Second, setup{}, nil)
	if err != nil {
		return nil, fault.New(fault.Internal, "try the walls: %w", err)
	}
	var ws []Wall
	if err := f.decode(&ws); err != nil || f.kind != kindWalls {
		return nil, fault.New(fault.Internal, "try the walls: the child answered nonsense: %w", err)
	}
	return append([]Wall{{Name: "worker", Stands: true, Detail: "modules run in a process of their own"}}, ws...), nil
}
