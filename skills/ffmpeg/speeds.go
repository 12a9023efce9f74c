package main

import "slices"

// What the engine does in a second on one core, in pixels of all frames,
// measured with a noisy clip of 640×360, which gives encoders more work than
// most. A decoder has more work with what was encoded with care than it had
// there (60).
const decoding = 30e6

var encodings = map[string]float64{"vp9": 1.9e6, "vp8": 1.9e6, "av1": 3.8e6, "mpeg4": 29e6, "mjpeg": 29e6, "prores": 3.1e6, "gif": 10e6}

// presets are those of libx264.
var presets = map[string]float64{"ultrafast": 9.3e6, "veryfast": 3.4e6, "faster": 1.2e6, "fast": 0.8e6}

// encoding is the speed of what the options encode to.
func encoding(codec string, args []string) float64 {
	if i := slices.Index(args, "-preset"); i >= 0 && i+1 < len(args) {
		if v := presets[args[i+1]]; v > 0 {
			return v
		}
	}
	if v := encodings[codec]; v > 0 {
		return v
	}
	return 1e6
}
