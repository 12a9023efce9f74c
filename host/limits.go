package host

import (
	"time"

	"stepbox.dev/host/sandbox"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/worker"
)

// Granted is what a skill or an engine gets of the limits that it asks for: the
// host's own where it asks for nothing, no more than the host's ceilings, and
// in a trial those of a trial.
func Granted(asked skill.Limits, trial bool) skill.Limits {
	l, most, usual := limits(asked), worker.MaxLimits, worker.DefaultLimits
	most.Quotas = sandbox.DefaultQuotas
	if l.MemoryBytes == 0 {
		l.MemoryBytes = usual.MemoryBytes
	}
	if l.Step == 0 {
		l.Step = usual.Step
	}
	l = capped(l, most)
	if trial {
		l = capped(l, strict)
	}
	return skill.Limits{
		MemoryMB: int(l.MemoryBytes >> 20), StepSeconds: int(l.Step / time.Second),
		OutputMB: int(l.Quotas.Bytes >> 20), Files: l.Quotas.Files,
	}
}
