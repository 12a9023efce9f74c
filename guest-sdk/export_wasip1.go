package guest

import (
	"encoding/json"

	pdk "github.com/extism/go-pdk"

	"stepbox.dev/abi"
)

//go:wasmexport stepbox_describe
func exportDescribe() int32 { return answer(served.describe) }

//go:wasmexport stepbox_expand
func exportExpand() int32 {
	return answer(func() (abi.ExpandResponse, error) { return served.expand(pdk.Input()) })
}

//go:wasmexport stepbox_summarize
func exportSummarize() int32 {
	return answer(func() (abi.SummarizeResponse, error) { return served.summarize(pdk.Input()) })
}

//go:wasmexport stepbox_preflight
func exportPreflight() int32 {
	return answer(func() (abi.PreflightResponse, error) { return served.preflight(pdk.Input(), newCall()) })
}

//go:wasmexport stepbox_step
func exportStep() int32 {
	return answer(func() (abi.StepResponse, error) { return served.step(pdk.Input(), newCall()) })
}

//go:wasmexport stepbox_format
func exportFormat() int32 {
	return answer(func() (abi.FormatResponse, error) { return served.format(pdk.Input()) })
}

// answer runs f and gives its value, or its error, to the host.
func answer[T any](f func() (T, error)) int32 {
	value, failed := guarded(f)
	if failed == nil {
		out, err := json.Marshal(value)
		if err == nil {
			pdk.Output(out)
			return 0
		}
		failed = asError(err)
	}
	pdk.SetErrorString(failed.JSON())
	return 1
}

// newCall is the state of a call in a module.
func newCall() call {
	files := newFiles()
	return call{
		files:    files,
		skill:    func(name string) ([]byte, error) { return files.ReadFile(abi.SkillDir + "/" + Clean(name)) },
		tmp:      abi.TmpDir,
		confirm:  confirm,
		progress: progress,
	}
}

//go:wasmimport extism:host/user stepbox_confirm
func hostConfirm(offset uint64) uint64

//go:wasmimport extism:host/user stepbox_progress
func hostProgress(offset uint64) uint64

func confirm(r abi.ConfirmRequest) (bool, error) {
	var answer abi.ConfirmResponse
	err := ask(hostConfirm, r, &answer)
	return answer.Confirmed, err
}

func progress(p abi.Progress) {
	// Progress is a courtesy: a host that does not take it stops no work.
	_ = ask(hostProgress, p, nil)
}

// ask calls a host function, JSON in and out.
func ask(host func(uint64) uint64, in, out any) error {
	mem, err := pdk.AllocateJSON(in)
	if err != nil {
		return err
	}
	defer mem.Free()
	offset := host(mem.Offset())
	if out == nil || offset == 0 {
		return nil
	}
	return pdk.JSONFrom(offset, out)
}
