package guest

import (
	"fmt"
	"time"

	"stepbox.dev/abi"
)

// Context is what a step knows about the call it serves, and how it reaches
// files and the person. It is good for one call.
type Context struct{ call *call }

// call is the state of one call.
type call struct {
	abi.Context
	files    *Files
	skill    func(name string) ([]byte, error)
	tmp      string
	confirm  func(abi.ConfirmRequest) (bool, error)
	progress func(abi.Progress)
	engine   func(abi.EngineRequest) (abi.EngineResponse, error) // of native tests
	told     time.Time                                           // when progress was last told
	issues   []string
	dropped  int // issues beyond maxIssues
	verified *bool
}

// maxIssues bounds the remarks of one call, so that one bad folder does not
// drown the rest.
const maxIssues = 50

// Files is the sandbox, as this call may see it.
func (c Context) Files() *Files { return c.call.files }

// SkillFile returns a file of the skill itself, by slash path: data, profiles,
// templates.
func (c Context) SkillFile(name string) ([]byte, error) { return c.call.skill(name) }

// TempDir is a folder for scratch, a path for Files. It is gone after the call
// and never part of what the call made.
func (c Context) TempDir() string { return c.call.tmp }

// DryRun says that nothing this call makes will be kept: expensive work may be
// skipped. Ignoring it harms nobody.
func (c Context) DryRun() bool { return c.call.DryRun }

// Confirmed says that a person has already agreed to the program.
func (c Context) Confirmed() bool { return c.call.Confirmed }

// RunID identifies the run.
func (c Context) RunID() string { return c.call.RunID }

// IdempotencyKey is the same when this call of this run is tried again.
func (c Context) IdempotencyKey() string { return c.call.IdempotencyKey }

// Locale is the person's language, a BCP 47 tag.
func (c Context) Locale() string { return c.call.Locale }

// Cores is how many runs of an engine go on at once, at most; 0 when nobody
// knows.
func (c Context) Cores() int { return c.call.Cores }

// Now is when the run began, in the person's zone.
func (c Context) Now() time.Time {
	t, err := time.Parse(time.RFC3339, c.call.Context.Now)
	if err != nil {
		t = time.Now()
	}
	return t.In(c.zone(t))
}

// Zone is the person's time zone. Without a zone table in the module (import
// _ "time/tzdata" to have one) it is the offset that was valid when the run
// began.
func (c Context) Zone() *time.Location { return c.Now().Location() }

func (c Context) zone(now time.Time) *time.Location {
	if c.call.Context.Zone == "" || c.call.Context.Zone == "UTC" {
		return time.UTC
	}
	if zone, err := time.LoadLocation(c.call.Context.Zone); err == nil {
		return zone
	}
	name, offset := now.Zone()
	return time.FixedZone(name, offset)
}

// Progress tells the person how far the call has come. total 0 means unknown.
// It may be called often: most calls cost nothing.
func (c Context) Progress(done, total float64, label string) {
	const pause = 50 * time.Millisecond
	now := time.Now()
	if c.call.progress == nil || now.Sub(c.call.told) < pause && (done != total || total == 0) {
		return
	}
	c.call.told = now
	c.call.progress(abi.Progress{Done: done, Total: total, Label: label})
}

// Confirm asks the person and waits. With nobody to ask the answer is no.
func (c Context) Confirm(prompt, preview string) (bool, error) {
	if c.call.confirm == nil {
		return false, nil
	}
	return c.call.confirm(abi.ConfirmRequest{Prompt: prompt, Preview: preview})
}

// Issue adds a remark to the result of the call: something was left out, or is
// not as asked. It does not make the call fail.
func (c Context) Issue(format string, args ...any) {
	if len(c.call.issues) >= maxIssues {
		c.call.dropped++
		return
	}
	c.call.issues = append(c.call.issues, fmt.Sprintf(format, args...))
}

// Verified records that the call looked at what it made. False makes the run
// fail; say why with Issue.
func (c Context) Verified(ok bool) { c.call.verified = &ok }

func (c *call) remarks() []string {
	if c.dropped > 0 {
		return append(c.issues, fmt.Sprintf("and %d more remarks", c.dropped))
	}
	return c.issues
}
