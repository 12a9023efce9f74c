//go:build !linux

package worker

import (
	"os"
	"os/exec"
)

func childCommand(role string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return &exec.Cmd{Path: exe, Args: []string{childName, role}, Dir: "/"}
}

func startChild(cmd *exec.Cmd) error { return cmd.Start() }
