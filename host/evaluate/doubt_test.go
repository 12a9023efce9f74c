package evaluate

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/planner"
	"stepbox.dev/host/planner/plannertest"
)

// byWords is as sure as the request says.
type byWords struct{}

func (byWords) Plan(_ context.Context, r planner.Request) (planner.Answer, error) {
	a := planner.Answer{Text: []byte(plannertest.Plan("list_files", map[string]any{"path": []string{"inbox"}})), Confidence: 0.97}
	if strings.Contains(r.Utterance, "perhaps") {
		a.Confidence = 0.3
	}
	return a, nil
}

// The report says what share of a corpus would go to a model.
func TestDoubted(t *testing.T) {
	rows, err := Load(strings.NewReader(`
{"utterance":"list inbox","expected_outcome":"plan","expected_tool":"list_files"}
{"utterance":"perhaps list inbox","expected_outcome":"plan","expected_tool":"list_files"}
{"utterance":"list inbox now","expected_outcome":"plan","expected_tool":"list_files"}
{"utterance":"list the inbox","expected_outcome":"plan","expected_tool":"list_files"}
`), "rows")
	require.NoError(t, err)
	r, _, err := Run(context.Background(), plannertest.Skill(t), byWords{}, rows)
	require.NoError(t, err)
	require.Equal(t, 0.25, r.Doubted)
	require.Contains(t, r.Text(), "not sure                 0.250 of all")
}
