// Package abi is the contract between the stepbox host and a skill's
// WebAssembly module: the names of exports and host functions, the JSON that
// crosses them, error codes and the version. Host and guest both import it, so
// it uses the standard library alone. It holds no behaviour beyond small
// methods on its own types.
//
// A module is a WASI preview 1 reactor that is also an Extism plug-in. Every
// export takes no parameters, reads its input and writes its output through
// Extism, and returns 0 for success or 1 after setting an [Error] as the
// Extism error.
package abi

// Version is the ABI version that this package describes. A module states the
// version it was built for in [Description.ABI].
const Version = 1

// Names of the functions a module exports. Only Describe and Step are required.
const (
	ExportDescribe  = "stepbox_describe"  // – → Description
	ExportExpand    = "stepbox_expand"    // ExpandRequest → ExpandResponse
	ExportSummarize = "stepbox_summarize" // SummarizeRequest → SummarizeResponse
	ExportPreflight = "stepbox_preflight" // PreflightRequest → PreflightResponse
	ExportStep      = "stepbox_step"      // StepRequest → StepResponse
	ExportFormat    = "stepbox_format"    // FormatRequest → FormatResponse
)

// HostNamespace is the import module of the host functions below. Each takes
// and returns one Extism memory offset that holds JSON.
const HostNamespace = "extism:host/user"

// Names of the host functions a module may import.
const (
	HostConfirm  = "stepbox_confirm"  // ConfirmRequest → ConfirmResponse
	HostProgress = "stepbox_progress" // Progress → {}
	HostEngine   = "stepbox_engine"   // EngineRequest → EngineResponse
)

// Names that the view of a sandbox answers itself at its top. They are hidden
// from listings, and a sandbox that holds one of them is refused.
const (
	SkillDir = "@skill" // the skill's own files, read-only
	TmpDir   = "@tmp"   // scratch of one call, gone when it ends
)

// HiddenDir is where stepbox keeps stage and undo data at a sandbox's top when
// its state folder cannot serve. No guest sees it, in any spelling of case.
const HiddenDir = ".stepbox"

// Mode is what a call may do on its view of the sandbox.
type Mode uint8

// The modes, each a superset of the one before it.
const (
	ModeNone   Mode = iota // sees no files but /@skill
	ModeRead               // looks
	ModeCreate             // also adds files and folders, and changes what this run added
	ModeWrite              // also changes, replaces, moves and deletes
)

// String returns "none", "read", "create" or "write".
func (m Mode) String() string {
	switch m {
	case ModeNone:
		return "none"
	case ModeRead:
		return "read"
	case ModeCreate:
		return "create"
	case ModeWrite:
		return "write"
	}
	return "invalid"
}

// Kind says what a tool is.
type Kind string

// The kinds of tool.
const (
	KindStep   Kind = "step"   // does one thing
	KindIntent Kind = "intent" // expands into calls before anything runs
)

// Call is one entry of a plan.
type Call struct {
	Tool string `json:"tool"`
	// Args are the arguments by name. Numbers decoded by the host are
	// json.Number, so that nothing is lost on the way.
	Args map[string]any `json:"args"`
	// Output is "" or "$name", the variable that receives the call's result.
	Output string `json:"output,omitempty"`
}
