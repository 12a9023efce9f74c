package guest

import "stepbox.dev/abi"

// EngineRun is one command line of an engine.
type EngineRun = abi.EngineRun

// EngineProgress turns an engine's output lines into progress.
type EngineProgress = abi.EngineProgress

// EngineResult is how one engine run ended.
type EngineResult = abi.EngineResult

// Engine is a program that steps may run like a subprocess, in a sandbox of its
// own with the files and the mode of the step. The skill's manifest names it
// under engines.
type Engine struct {
	call          *call
	name          string
	before, whole float64
}

// Engine returns the engine of that name. Whether it is there shows when it is
// run.
func (c Context) Engine(name string) Engine { return Engine{call: c.call, name: name} }

// Part is the engine for a part of what a call does: its runs continue the
// progress of those before. whole is what the call does in all, before what it
// has done, in the unit of [EngineProgress.Weight].
func (e Engine) Part(before, whole float64) Engine {
	e.before, e.whole = before, whole
	return e
}

// Run runs one command line and waits for its end. An exit code other than 0 is
// no error: look at the result. An error of code [abi.CodeUnavailable] says
// that the engine is not there, and what brings it.
func (e Engine) Run(r EngineRun) (EngineResult, error) {
	results, err := e.RunAll(1, []EngineRun{r})
	if err != nil {
		return EngineResult{}, err
	}
	return results[0], nil
}

// RunAll runs many command lines, at most jobs of them at once, and waits for
// the end of all. Results come in the order of runs. No two runs may write one
// file: the second to try fails the call.
func (e Engine) RunAll(jobs int, runs []EngineRun) ([]EngineResult, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	response, err := runEngine(e.call, abi.EngineRequest{Engine: e.name, Runs: runs, Jobs: jobs, Before: e.before, Whole: e.whole})
	switch {
	case err != nil:
		return nil, err
	case response.Error != nil:
		return nil, response.Error
	case len(response.Runs) != len(runs):
		return nil, Errorf(abi.CodeFailed, "engine %q answered %d runs of %d", e.name, len(response.Runs), len(runs))
	}
	return response.Runs, nil
}
