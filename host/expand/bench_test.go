package expand_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/expand"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

// eight expands into eight calls, as a skill's code would.
type eight struct{}

func (eight) Expand(_ context.Context, r abi.ExpandRequest) (abi.ExpandResponse, error) {
	calls := make([]abi.Call, 0, 8)
	scan := func(out string) abi.Call {
		return abi.Call{Tool: "scan", Args: map[string]any{"path": r.Args["path"]}, Output: out}
	}
	drop := func(in string) abi.Call { return abi.Call{Tool: "drop", Args: map[string]any{"items": in}} }
	calls = append(calls, scan("$a"), drop("$a.paths"), scan("$b"), drop("$b.paths"), scan("$c"), drop("$c.paths"), scan("$d"), drop("$d.paths"))
	return abi.ExpandResponse{Plan: calls}, nil
}

// BenchmarkPlan takes a one-intent plan from text to an optimized program: at
// least 55,000 a second on one core, 25,000 with the digest.
func BenchmarkPlan(b *testing.B) {
	r, err := registry.Parse([]byte(contract), registry.Options{File: "tools.yaml"})
	require.NoError(b, err)
	text := []byte(`{"plan":[{"tool":"tidy","args":{"path":"inbox"}}]}`)
	run := func(b *testing.B) plan.Program {
		d, err := plan.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		v, err := plan.Validate(plan.Normalize(d, r, plan.Paths{}), r)
		if err != nil {
			b.Fatal(err)
		}
		p, err := expand.Expand(context.Background(), v, eight{}, expand.Options{Kind: kind})
		if err != nil {
			b.Fatal(err)
		}
		return plan.Optimize(p)
	}
	b.Run("digest=no", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(run(b).Calls()) != 8 {
				b.Fatal("not eight calls")
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "plans/s")
	})
	b.Run("digest=yes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if run(b).Digest() == (plan.Digest{}) {
				b.Fatal("no digest")
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "plans/s")
	})
}
