package main

import (
	"testing"

	"stepbox.dev/internal/moduletest"
)

func TestContract(t *testing.T) { moduletest.Contract(t, served) }
