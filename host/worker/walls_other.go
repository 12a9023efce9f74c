//go:build !linux

package worker

import "runtime"

// walls says that there are none here.
func (c *child) walls() error {
	const what = "not available on " + runtime.GOOS + ": a run refuses unless missing walls are allowed"
	return writeFrame(c.conn, kindWalls, []Wall{{Name: "landlock", Detail: what}, {Name: "seccomp", Detail: what}})
}
