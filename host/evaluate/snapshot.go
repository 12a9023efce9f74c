package evaluate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"stepbox.dev/host/fault"
)

// Snapshot is the bar that later scores must not fall below. Latency is not
// part of it: it depends on the machine.
type Snapshot map[string]float64

// tolerance is how much a share may fall: less than any row.
const tolerance = 1e-9

// Snapshot takes the bar from a report.
func (r Report) Snapshot() Snapshot {
	s := Snapshot{}
	for name, v := range map[string]*float64{
		"outcome": r.Outcome, "first_tool": r.FirstTool, "strict": r.Strict, "chain_sequence": r.ChainSequence,
		"exact_single": r.ExactSingle, "exact_chain": r.ExactChain, "recall@5": r.Recall["5"],
	} {
		if v != nil {
			s[name] = *v
		}
	}
	return s
}

// ParseSnapshot reads a bar that was written as JSON.
func ParseSnapshot(data []byte) (Snapshot, error) {
	var s Snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fault.New(fault.Usage, "snapshot: %w", err)
	}
	return s, nil
}

// Below lists what fell below the bar; none means it holds.
func (s Snapshot) Below(now Report) []string {
	got := now.Snapshot()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		v, ok := got[name]
		if !ok || v < s[name]-tolerance {
			out = append(out, fmt.Sprintf("%s is %.4f, the bar is %.4f", name, v, s[name]))
		}
	}
	return out
}
