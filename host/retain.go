package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// Retention says which runs are kept, with what a commit or an undo of them
// needs. A zero field sets no bound.
type Retention struct {
	// Age is how old a run gets.
	Age time.Duration
	// Bytes is how much all runs may keep together; the oldest go first.
	Bytes int64
}

// DefaultRetention is applied at most once a day, when a run begins.
var DefaultRetention = Retention{Age: 30 * 24 * time.Hour, Bytes: 10 << 30}

// day is how long a run is safe from the bound on bytes when nobody asked for
// it: undoing what was done a moment ago must always work.
const day = 24 * time.Hour

// Prune removes runs that are not to be kept, and returns them. Never: runs
// that are under way, or in the middle of a commit; and for their size alone,
// runs that wait for approval.
func (h *Host) Prune(ctx context.Context, keep Retention) ([]RunInfo, error) {
	return h.prune(ctx, keep, 0)
}

// prune is Prune; runs younger than young never go for their size.
func (h *Host) prune(ctx context.Context, keep Retention, young time.Duration) ([]RunInfo, error) {
	runs, err := commit.List(h.state)
	if err != nil {
		return nil, err
	}
	infos := make(map[*commit.Run]RunInfo, len(runs))
	total := int64(0)
	for _, r := range runs {
		infos[r] = listed(r)
		total += infos[r].Bytes
	}
	slices.SortStableFunc(runs, func(a, b *commit.Run) int { return infos[a].Began.Compare(infos[b].Began) })
	var gone []RunInfo
	var errs []error
	for _, r := range runs {
		if err := ctx.Err(); err != nil {
			return gone, err
		}
		i := infos[r]
		age := time.Since(i.Began)
		old := keep.Age > 0 && age > keep.Age
		full := keep.Bytes > 0 && total > keep.Bytes && i.Status != statusWaiting && age >= young
		if i.Status == statusRunning || !old && !full {
			continue
		}
		switch err := commit.Remove(r); {
		case err == nil:
			total -= i.Bytes
			gone = append(gone, i)
		case fault.Of(err) != fault.Refused: // it is busy
			errs = append(errs, err)
		}
	}
	slices.Reverse(gone) // newest first, as in lists
	return gone, errors.Join(errs...)
}

// retain applies the default retention when that was not done today. What it
// cannot remove is left for the next time.
func (h *Host) retain(ctx context.Context, e event.Handler) error {
	stamp := filepath.Join(h.state, "pruned")
	if info, err := os.Stat(stamp); err == nil && time.Since(info.ModTime()) < day {
		return nil
	}
	if err := os.WriteFile(stamp, []byte("when old runs were removed last\n"), 0o600); err != nil {
		return nil
	}
	gone, _ := h.prune(ctx, DefaultRetention, day)
	if len(gone) == 0 {
		return ctx.Err()
	}
	bytes := int64(0)
	for _, i := range gone {
		bytes += i.Bytes
	}
	return e.Handle(event.Notice{Message: fmt.Sprintf("removed %d runs older than %d days or beyond %s (%s); they can no longer be undone",
		len(gone), DefaultRetention.Age/day, humanize.IBytes(uint64(DefaultRetention.Bytes)), humanize.Bytes(uint64(bytes)))})
}
