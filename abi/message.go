package abi

import "encoding/json"

// Description is what a module says about itself. The host compares it with
// the skill's tools.yaml and refuses the skill when they differ.
type Description struct {
	ABI   int               `json:"abi"`
	SDK   string            `json:"sdk"` // "NAME/VERSION" of the SDK that made it
	Tools []ToolDescription `json:"tools"`
}

// ToolDescription is one tool as the module implements it.
type ToolDescription struct {
	Name string               `json:"name"`
	Kind Kind                 `json:"kind"`
	Args map[string]ArgSchema `json:"args"`
	// Preflight says that stepbox_preflight has something to say about the
	// tool; others are not asked.
	Preflight bool `json:"preflight,omitempty"`
}

// ArgType is the type of an argument.
type ArgType string

// The argument types. Size, Date and Duration travel as strings.
const (
	TypeString   ArgType = "string"
	TypeInteger  ArgType = "integer"
	TypeNumber   ArgType = "number"
	TypeBoolean  ArgType = "boolean"
	TypeEnum     ArgType = "enum"  // a string, one of Enum
	TypeArray    ArgType = "array" // of Items
	TypeObject   ArgType = "object"
	TypeSize     ArgType = "size"     // bytes: "10MB" (10⁶), "10MiB" (2²⁰), or a bare number
	TypeDate     ArgType = "date"     // RFC 3339 date-time, or a date alone: "2026-01-31"
	TypeDuration ArgType = "duration" // Go's form: "1h30m", "90s"
)

// PathRole says how a path argument is used. A role other than RoleNone makes
// the argument a path (or a list of paths) below the sandbox root.
type PathRole string

// The path roles.
const (
	RoleNone   PathRole = ""
	RoleInput  PathRole = "input"  // must exist
	RoleOutput PathRole = "output" // will be made
)

// ArgSchema is the shape of one argument.
type ArgSchema struct {
	Type     ArgType  `json:"type"`
	Items    ArgType  `json:"items,omitempty"` // of an array; an enum there uses Enum
	Enum     []string `json:"enum,omitempty"`
	Min      *float64 `json:"min,omitempty"` // of a number; of the length of an array
	Max      *float64 `json:"max,omitempty"`
	PathRole PathRole `json:"path_role,omitempty"`
	Help     string   `json:"help,omitempty"`
	Required bool     `json:"required,omitempty"`
}

// Context is what a call knows about the run it belongs to.
type Context struct {
	RunID string `json:"run_id"`
	// Call is the call's index in the program, from 0.
	Call int `json:"call"`
	// DryRun says that the stage will be thrown away: expensive work may be
	// skipped. Nothing depends on a handler honouring it.
	DryRun bool `json:"dry_run"`
	// Confirmed says that a person has already agreed to this program.
	Confirmed bool `json:"confirmed"`
	// IdempotencyKey is the same when the same call of the same run is retried.
	IdempotencyKey string `json:"idempotency_key"`
	Now            string `json:"now"`    // RFC 3339, when the run began
	Zone           string `json:"zone"`   // IANA name, "UTC" when unknown
	Locale         string `json:"locale"` // BCP 47, "en" when unknown
	// Cores is how many runs of an engine go on at once, at most; 0 when unknown.
	Cores int `json:"cores,omitempty"`
}

// ExpandRequest asks an intent for its calls.
type ExpandRequest struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

// ExpandResponse holds the calls that an intent stands for.
type ExpandResponse struct {
	Plan []Call `json:"plan"`
}

// SummarizeRequest asks for one sentence about a call.
type SummarizeRequest struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

// SummarizeResponse is that sentence, for a person.
type SummarizeResponse struct {
	Text string `json:"text"`
}

// PreflightRequest asks whether a call can work, before anything is staged.
type PreflightRequest struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
	Ctx  Context        `json:"ctx"`
}

// Problem kinds.
const (
	ProblemMissing = "missing" // something the call needs is not there
	ProblemEscape  = "escape"  // a path leads out of the sandbox
	ProblemOther   = "other"
)

// Problem is one reason why a call cannot work.
type Problem struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// PreflightResponse lists the problems; none means go ahead.
type PreflightResponse struct {
	Problems []Problem `json:"problems"`
}

// StepRequest runs one step. Variables are resolved before it is sent.
type StepRequest struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
	Ctx  Context        `json:"ctx"`
}

// StepResponse is what a step made. A step that returns no output at all has
// failed.
type StepResponse struct {
	Result json.RawMessage `json:"result"`
	// Verified is false when the step looked at its own output and found it
	// wrong; that fails the run. Nil means it did not look.
	Verified *bool    `json:"verified,omitempty"`
	Issues   []string `json:"issues,omitempty"` // why, or remarks for a person
}

// CallResult is the result of one call of a finished program, as format gets it.
type CallResult struct {
	Tool   string          `json:"tool"`
	Args   map[string]any  `json:"args"`
	Result json.RawMessage `json:"result"`
	Issues []string        `json:"issues,omitempty"`
}

// FormatRequest asks the skill to tell a person what happened.
type FormatRequest struct {
	Results []CallResult `json:"results"`
	DryRun  bool         `json:"dry_run"`
}

// Item kinds of a formatted result.
const (
	ItemError   = "error"
	ItemCommand = "command"
	ItemOutput  = "output"
	ItemInfo    = "info"
)

// Item is one line or block of a formatted result.
type Item struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"` // a file it is about, below the sandbox root
}

// FormatResponse is the result in words.
type FormatResponse struct {
	Items []Item `json:"items"`
}

// ConfirmRequest asks the person something in the middle of a step.
type ConfirmRequest struct {
	Prompt  string `json:"prompt"`
	Preview string `json:"preview,omitempty"`
}

// ConfirmResponse is the person's answer. Nobody to ask means false.
type ConfirmResponse struct {
	Confirmed bool `json:"confirmed"`
}

// Progress is how far a step has come. Total 0 means unknown.
type Progress struct {
	Done  float64 `json:"done"`
	Total float64 `json:"total"`
	Label string  `json:"label,omitempty"`
}

// EngineRequest runs an engine, once for each of Runs.
type EngineRequest struct {
	Engine string      `json:"engine"`
	Runs   []EngineRun `json:"runs"`
	Jobs   int         `json:"jobs,omitempty"` // how many at once; 0 means one
	// A call that makes several requests tells its progress as one: Whole is what
	// it does in all, Before what it had done before this request, in the unit of
	// the weights of the runs. Whole 0: this request is all of it.
	Before float64 `json:"before,omitempty"`
	Whole  float64 `json:"whole,omitempty"`
}

// EngineRun is one command line of an engine. There is no shell. An engine
// sees the sandbox as the step does, with the same mode, and the call's
// /@tmp; relative names are below the sandbox root.
type EngineRun struct {
	Argv []string `json:"argv"` // the program's name first
	// Env may set variables of [EngineEnv]. There is no other environment.
	Env   map[string]string `json:"env,omitempty"`
	Stdin []byte            `json:"stdin,omitempty"`
	// StdoutFile is a file that takes the standard output, made or emptied
	// before the engine starts: for output that is not text, or long.
	StdoutFile string          `json:"stdout_file,omitempty"`
	Progress   *EngineProgress `json:"progress,omitempty"`
}

// EngineEnv are the variables that a step may set for an engine.
var EngineEnv = []string{"HOME", "LANG", "LC_ALL", "NO_COLOR", "SOURCE_DATE_EPOCH", "TERM", "TMPDIR", "TZ"}

// EngineProgress turns an engine's output lines into progress: the first group
// of the RE2 expression Pattern is the number done, out of Total. A line ends
// with \n or \r.
type EngineProgress struct {
	Pattern string  `json:"pattern"`
	Total   float64 `json:"total"`
	Label   string  `json:"label,omitempty"`
	// Weight is how much of what is done together this run is; 0 means Total.
	Weight float64 `json:"weight,omitempty"`
}

// EngineResponse holds one result a run, in order.
type EngineResponse struct {
	Runs []EngineResult `json:"runs"`
	// Error says why no run began: the engine is not there, or the request
	// cannot be served.
	Error *Error `json:"error,omitempty"`
}

// EngineResult is how one engine run ended. An exit code is a result, not an
// error. What a run made that did not end with 0 is gone again.
type EngineResult struct {
	ExitCode int `json:"exit_code"`
	// Stdout and Stderr are text: bytes that are none are replaced. Of a long
	// one only the beginning of Stdout and the end of Stderr are kept.
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	StdoutCut bool   `json:"stdout_cut,omitempty"`
	StderrCut bool   `json:"stderr_cut,omitempty"`
}

// ExitCrashed is the exit code of an engine that crashed: a trap, an endless
// recursion, an abort. Its last line on Stderr says which.
const ExitCrashed = 134
