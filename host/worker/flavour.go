package worker

import (
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"stepbox.dev/host/admission"
	"stepbox.dev/host/fault"
)

// flavour is what a module is compiled as.
type flavour struct {
	Engine   bool     `json:"engine,omitempty"`
	Features []string `json:"features,omitempty"` // of an engine, sorted
}

func (f flavour) policy() admission.Policy {
	if f.Engine {
		return admission.Engine
	}
	return admission.Skill
}

// String is empty for a skill.
func (f flavour) String() string {
	if !f.Engine {
		return ""
	}
	return "engine " + strings.Join(f.Features, " ")
}

// engineFeatures are what an engine's manifest may ask for.
var engineFeatures = map[string]api.CoreFeatures{
	"simd":               api.CoreFeatureSIMD,
	"exception-handling": experimental.CoreFeaturesExceptionHandling,
	"tail-call":          experimental.CoreFeaturesTailCall,
	"extended-const":     experimental.CoreFeaturesExtendedConst,
}

// core is what the runtime takes of the language, and nothing more.
func (f flavour) core() (api.CoreFeatures, error) {
	if !f.Engine {
		return api.CoreFeaturesV2, nil
	}
	core := api.CoreFeaturesV2.SetEnabled(api.CoreFeatureSIMD, false)
	for _, name := range f.Features {
		feature, ok := engineFeatures[name]
		if !ok {
			var known []string
			for k := range engineFeatures {
				known = append(known, k)
			}
			slices.Sort(known)
			return 0, fault.New(fault.CheckFailed, "the engine needs the WebAssembly feature %q, which is not offered", name).
				Hint("features on offer: %s", strings.Join(known, ", "))
		}
		core = core.SetEnabled(feature, true)
	}
	return core, nil
}
