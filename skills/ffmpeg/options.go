package main

// options are what an intent asks of each file, once its words have been read.
// They travel from the intent to build_recipes.
type options struct {
	Mode      string   `json:"mode"`
	Suffix    string   `json:"suffix"` // of names that nobody chose
	Container string   `json:"container,omitempty"`
	Video     string   `json:"video,omitempty"`
	Audio     string   `json:"audio,omitempty"`
	Quality   string   `json:"quality,omitempty"`
	CRF       *int     `json:"crf,omitempty"`
	Kbps      int      `json:"kbps,omitempty"` // of the sound
	Output    string   `json:"output,omitempty"`
	Named     bool     `json:"named,omitempty"` // a person chose Output
	Preview   bool     `json:"preview,omitempty"`
	Platform  string   `json:"platform,omitempty"`
	SizeMB    float64  `json:"size_mb,omitempty"`
	Width     int      `json:"width,omitempty"`
	Height    int      `json:"height,omitempty"`
	Fit       string   `json:"fit,omitempty"`
	Aspect    string   `json:"aspect,omitempty"`
	Keep      *bool    `json:"keep,omitempty"`
	Start     float64  `json:"start,omitempty"`
	End       float64  `json:"end,omitempty"`
	Duration  float64  `json:"duration,omitempty"`
	Last      float64  `json:"last,omitempty"`
	CutLast   float64  `json:"cut_last,omitempty"`
	At        *float64 `json:"at,omitempty"`
	Image     string   `json:"image,omitempty"`
	Speed     float64  `json:"speed,omitempty"`
	Gain      string   `json:"gain,omitempty"` // of the filter volume
	Normalize bool     `json:"normalize,omitempty"`
	Angle     int      `json:"angle,omitempty"`
	Flip      string   `json:"flip,omitempty"`
	FPS       float64  `json:"fps,omitempty"`
	Sound     bool     `json:"sound,omitempty"` // reverse it too
}

// The values of options.Mode.
const (
	modePlatform  = "platform"
	modeCompress  = "compress"
	modeConvert   = "convert"
	modeResize    = "resize"
	modeTrim      = "trim"
	modeExtract   = "extract_audio"
	modeThumbnail = "thumbnail"
	modeReverse   = "reverse"
	modeStrip     = "strip_audio"
	modeSpeed     = "adjust_speed"
	modeVolume    = "adjust_volume"
	modeRotate    = "rotate"
	modeConcat    = "concat"
)
