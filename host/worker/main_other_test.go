//go:build !linux

package worker_test

import (
	"os"
	"testing"

	"stepbox.dev/host/worker"
)

func TestMain(m *testing.M) {
	worker.RunIfAsked()
	os.Exit(m.Run())
}
