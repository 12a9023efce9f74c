//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// The scripts that use these skip themselves elsewhere.
func tmpfs(ts *testscript.TestScript, neg bool, args []string) { ts.Fatalf("tmpfs needs Linux") }
func stops(ts *testscript.TestScript, neg bool, args []string) { ts.Fatalf("stops needs Linux") }
