package guest

import "stepbox.dev/abi"

//go:wasmimport extism:host/user stepbox_engine
func hostEngine(offset uint64) uint64

// runEngine is a function and no field of call, so that only the module of a
// skill that runs engines imports the host's.
func runEngine(_ *call, r abi.EngineRequest) (response abi.EngineResponse, err error) {
	err = ask(hostEngine, r, &response)
	return response, err
}
