package mock_test

import (
	"testing"

	"stepbox.dev/host/planner/mock"
	"stepbox.dev/host/planner/plannertest"
)

func TestConforms(t *testing.T) { plannertest.Conform(t, &mock.Planner{}) }
