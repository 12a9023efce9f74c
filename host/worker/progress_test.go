package worker

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
)

// Whatever a guest and its engine say of how far they are is a share of a whole,
// in numbers that JSON has.
func TestProgressIsAShare(t *testing.T) {
	numbers := []float64{0, -1, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1, 4, math.MaxFloat64}
	for _, weight := range numbers {
		for _, total := range numbers {
			for _, told := range numbers {
				for _, whole := range numbers {
					run := abi.EngineRun{Progress: &abi.EngineProgress{Total: total, Weight: weight}}
					b := &batch{r: abi.EngineRequest{Runs: []abi.EngineRun{run, run, run}, Whole: whole, Before: told}, done: []float64{told, told, told}}
					done, all := b.sum()
					require.Falsef(t, math.IsNaN(done) || math.IsInf(done, 0) || math.IsInf(all, 0) || done < 0 || done > all,
						"%g of %g: weight %g, total %g, told %g, whole %g", done, all, weight, total, told, whole)
				}
			}
		}
	}
}
