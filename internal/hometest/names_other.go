//go:build !linux

package hometest

// systemNames are none: other systems take Unicode names only.
func systemNames() []string { return nil }
