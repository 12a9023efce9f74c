package host

import (
	"context"
	"sync"
	"time"
)

// deadline cancels a context after a time that rests while a person is asked.
type deadline struct {
	mu     sync.Mutex
	timer  *time.Timer
	left   time.Duration
	began  time.Time
	asking int
}

// withDeadline returns a context that ends after d of working time, with
// context.DeadlineExceeded as its cause. d of 0 means never.
func withDeadline(ctx context.Context, d time.Duration) (context.Context, *deadline, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &deadline{left: d}
	if d > 0 {
		t.began = time.Now()
		t.timer = time.AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	}
	return ctx, t, func() {
		if t.timer != nil {
			t.timer.Stop()
		}
		cancel(context.Canceled)
	}
}

// rest stops the clock until the returned function is called.
func (t *deadline) rest() (resume func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil {
		return func() {}
	}
	if t.asking++; t.asking == 1 && t.timer.Stop() {
		t.left -= time.Since(t.began)
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.asking--; t.asking == 0 {
			t.began = time.Now()
			t.timer.Reset(max(t.left, time.Millisecond))
		}
	}
}
