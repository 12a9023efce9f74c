package main

import (
	"fmt"
	"math"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// The values of fit.
const (
	fitContain = "contain" // inside the box, its shape kept
	fitCrop    = "crop"    // fills the box, what is over is cut off
	fitPad     = "pad"     // inside the box, with black bars
	fitStretch = "stretch" // the box, out of shape
)

// even rounds to an even number of pixels, which most encoders need.
func even(v float64) int { return max(2, 2*int(math.Round(v/2))) }

// maxSide bounds a picture's sides: beyond it an encoder would not have the
// memory.
const maxSide = 8192

// shape is a picture's new size and the filters that give it.
type shape struct {
	width, height int
	filters       []string
}

// scaled is the picture with the size, whatever its shape.
func scaled(w, h int) string { return fmt.Sprintf("scale=%d:%d", w, h) }

// plain is the picture as it is, made fit for an encoder.
func (v Video) plain() shape {
	w, h := even(float64(v.Width)), even(float64(v.Height))
	s := shape{width: w, height: h}
	if w != v.Width || h != v.Height || v.Squeezed {
		s.filters = []string{scaled(w, h), "setsar=1"}
	}
	return s
}

// within is the picture, made smaller where it does not fit into the box.
func (v Video) within(w, h int) shape {
	if w <= 0 || h <= 0 || v.Width <= w && v.Height <= h {
		return v.plain()
	}
	f := math.Min(float64(w)/float64(v.Width), float64(h)/float64(v.Height))
	s := shape{width: even(float64(v.Width) * f), height: even(float64(v.Height) * f)}
	s.filters = []string{scaled(s.width, s.height), "setsar=1"}
	return s
}

// boxed is the picture as exactly the box.
func (v Video) boxed(w, h int, fit string) shape {
	s := shape{width: w, height: h}
	fw, fh := float64(w)/float64(v.Width), float64(h)/float64(v.Height)
	switch fit {
	case fitStretch:
		s.filters = []string{scaled(w, h)}
	case fitCrop:
		f := math.Max(fw, fh)
		s.filters = []string{scaled(max(w, even(float64(v.Width)*f)), max(h, even(float64(v.Height)*f))), fmt.Sprintf("crop=%d:%d", w, h)}
	case fitPad:
		f := math.Min(fw, fh)
		s.filters = []string{scaled(min(w, even(float64(v.Width)*f)), min(h, even(float64(v.Height)*f))), fmt.Sprintf("pad=%d:%d:-1:-1", w, h)}
	default: // contain
		f := math.Min(fw, fh)
		s.width, s.height = even(float64(v.Width)*f), even(float64(v.Height)*f)
		s.filters = []string{scaled(s.width, s.height)}
	}
	s.filters = append(s.filters, "setsar=1")
	return s
}

// resize is the picture as a resize asks for it.
func (v Video) resize(width, height int, aspect, fit string, keep *bool) (shape, error) {
	w0, h0 := float64(v.Width), float64(v.Height)
	var want float64 // width over height
	if aspect != "" {
		if want = ratio(aspect, ":"); want < 0.1 || want > 10 {
			return shape{}, guest.Errorf(abi.CodeBadRequest, "aspect %q is none; write for example 16:9", aspect)
		}
	}
	loose := keep != nil && !*keep
	if fit == "" && loose {
		fit = fitStretch
	}
	switch {
	case width > 0 && height > 0:
		if fit == "" {
			if fit = fitPad; keep != nil {
				fit = fitContain
			}
		}
	case want == 0 && width > 0:
		width, height, fit = even(float64(width)), even(float64(width)*h0/w0), fitStretch
	case want == 0 && height > 0:
		width, height, fit = even(float64(height)*w0/h0), even(float64(height)), fitStretch
	case want == 0:
		return shape{}, guest.Errorf(abi.CodeBadRequest, "no width, height or aspect is given")
	default:
		switch {
		case width > 0:
			height = even(float64(width) / want)
		case height > 0:
			width = even(float64(height) * want)
		case fit == fitPad || fit == fitContain: // all of it stays: the box grows
			width, height = even(math.Max(w0, h0*want)), even(math.Max(h0, w0/want))
		default: // no pixel is made up: the box shrinks
			width, height = even(math.Min(w0, h0*want)), even(math.Min(h0, w0/want))
		}
		if fit == "" {
			fit = fitCrop
		}
		if fit == fitContain {
			fit = fitPad
		}
	}
	if width > maxSide || height > maxSide {
		return shape{}, guest.Errorf(abi.CodeLimit, "%d×%d is too large: no side may have more than %d pixels", width, height, maxSide)
	}
	return v.boxed(even(float64(width)), even(float64(height)), fit), nil
}

// resolutions are the sizes that have names.
var resolutions = map[string][2]int{
	"8k": {7680, 4320}, "4k": {3840, 2160}, "2160p": {3840, 2160}, "uhd": {3840, 2160}, "1440p": {2560, 1440}, "2k": {2560, 1440},
	"1080p": {1920, 1080}, "fhd": {1920, 1080}, "fullhd": {1920, 1080}, "720p": {1280, 720}, "hd": {1280, 720},
	"480p": {854, 480}, "sd": {854, 480}, "360p": {640, 360}, "240p": {426, 240},
}

// resolution reads "1280x720", "720p", "4k"; a bare number is a height.
func resolution(text string) (w, h int, ok bool) {
	t := strings.ToLower(strings.NewReplacer(" ", "", "×", "x", ":", "x", "*", "x").Replace(text))
	if size, known := resolutions[t]; known {
		return size[0], size[1], true
	}
	if n, err := fmt.Sscanf(t, "%dx%d", &w, &h); err == nil && n == 2 && fmt.Sprintf("%dx%d", w, h) == t {
		return w, h, w > 0 && h > 0 && w <= maxSide && h <= maxSide
	}
	t = strings.TrimSuffix(t, "p")
	if n, err := fmt.Sscanf(t, "%d", &h); err == nil && n == 1 && fmt.Sprint(h) == t {
		return 0, h, h > 0 && h <= maxSide
	}
	return 0, 0, false
}
