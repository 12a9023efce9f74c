package main

import (
	"runtime"
	"runtime/debug"
)

// version is set by who makes a release: -ldflags "-X main.version=v1.2.3".
var version string

// versionText says which stepbox this is: the release, else the commit that the
// go command noted.
func versionText() string {
	v := version
	if info, ok := debug.ReadBuildInfo(); ok && v == "" {
		v = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && (v == "" || v == "(devel)") {
				v = s.Value
			}
		}
	}
	if v == "" || v == "(devel)" {
		v = "of an unknown commit"
	}
	return v + ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
}
