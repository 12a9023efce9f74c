//go:build !wasip1

package guest

import "stepbox.dev/abi"

func runEngine(c *call, r abi.EngineRequest) (abi.EngineResponse, error) {
	if c.engine == nil {
		return abi.EngineResponse{}, Errorf(abi.CodeUnavailable, "engine %q is not there: set Native.Engine", r.Engine)
	}
	return c.engine(r)
}
