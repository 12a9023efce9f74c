package plan

import (
	"strconv"
	"strings"
)

// Severity of a diagnostic.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Codes of diagnostics.
const (
	CodeEmptyPlan      = "empty_plan"
	CodeTooMany        = "too_many" // calls, or values in a call
	CodeTooDeep        = "too_deep" // nesting of an argument
	CodeUnknownTool    = "unknown_tool"
	CodeInternalTool   = "internal_tool"
	CodeMissingArg     = "missing_arg"
	CodeAnyOf          = "any_of"
	CodeUnsupportedArg = "unsupported_arg"
	CodeType           = "type"
	CodeEnum           = "enum"
	CodeBounds         = "bounds"
	CodePattern        = "pattern"
	CodeText           = "text" // bytes that no argument may hold
	CodeOutput         = "output"
	CodeVariable       = "variable"
	CodePathOutside    = "path_outside" // a path that leads out of the sandbox
	CodeMode           = "mode"         // a step that may do more than its intent
)

// Diagnostic is one fault of a plan.
type Diagnostic struct {
	Code       string   `json:"code"`
	Severity   Severity `json:"severity"`
	Pointer    string   `json:"pointer"` // RFC 6901, into the plan document
	Message    string   `json:"message"`
	Suggestion string   `json:"suggestion,omitempty"`
}

// InvalidError carries every fault of a plan that did not validate.
type InvalidError struct{ Diagnostics []Diagnostic }

// Error lists the faults, one a line.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Diagnostics))
	for i, d := range e.Diagnostics {
		lines[i] = d.Pointer + ": " + d.Message
		if d.Suggestion != "" {
			lines[i] += " (" + d.Suggestion + ")"
		}
	}
	return strings.Join(lines, "\n")
}

// pointer is a JSON pointer as a chain, rendered only when there is a fault: a
// plan without faults pays nothing for it.
type pointer struct {
	up    *pointer
	name  string
	index int // when name is ""
}

func (p *pointer) String() string {
	if p == nil {
		return ""
	}
	if p.name == "" {
		return p.up.String() + "/" + strconv.Itoa(p.index)
	}
	return p.up.String() + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p.name)
}
