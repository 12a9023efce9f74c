package main

import "slices"

// What the engine does in a second on one core, in pixels of all frames. They
// were measured with a noisy clip of 640×360, of which encoders have more work
// than of most.
const decoding = 12e6

var encodings = map[string]float64{
	"vp9": 2e6, "vp8": 2e6, "av1": 1e6, "mpeg4": 6e6, "mjpeg": 6e6, "prores": 3e6, "gif": 3e6,
}

var presets = map[string]float64{"ultrafast": 6e6, "veryfast": 2.5e6, "faster": 1.5e6, "fast": 1.2e6}

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
