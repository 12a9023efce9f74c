package main

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/registry"
)

// tools is the contract as the host reads it.
type tools struct{ *registry.Registry }

var readContract = sync.OnceValues(func() (*registry.Registry, error) {
	text, err := os.ReadFile("tools.yaml")
	if err != nil {
		return nil, err
	}
	return registry.Parse(text, registry.Options{File: "tools.yaml"})
})

func contract(t *testing.T) tools {
	t.Helper()
	r, err := readContract()
	require.NoError(t, err)
	return tools{r}
}

func (c tools) defaults(tool string) map[string]any {
	if t, ok := c.Tool(tool); ok {
		return t.Defaults
	}
	return nil
}
