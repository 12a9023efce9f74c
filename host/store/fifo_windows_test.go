package store

import "testing"

func fifo(t *testing.T, _ string, _ func(path string)) { t.Skip("there are no such files") }
