//go:build !stepbox_nowalls

package worker

// wallOn reports whether a wall is to be built. In a normal build every wall
// is, and nothing can change that.
func wallOn(string) bool { return true }

// wallMissing is never: only a test build can pretend.
func wallMissing(string) error { return nil }

// childEnv is what a child sees of the environment: nothing.
func childEnv() []string { return []string{} }
