package embedded_test

import (
	"testing"

	"stepbox.dev/host/planner/embedded"
	"stepbox.dev/host/planner/plannertest"
)

func TestConforms(t *testing.T) { plannertest.Conform(t, &embedded.Planner{}) }
