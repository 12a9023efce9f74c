package skill

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
	"stepbox.dev/host/registry/nearest"
	"stepbox.dev/host/registry/yamldoc"
	"stepbox.dev/host/skill/bundle"
)

var (
	manifestFields = []string{
		"name", "description", "version", "status", "tools", "prompt", "module", "display", "arg_value_sets", "safety", "data",
		"lexicon", "limits", "engines", "kind", "licence", "wasm_features", "recommended_model", "disabled_tools",
		// Peers' keys, accepted and ignored.
		"skill_class", "runtimes", "dependencies", "pipeline",
	}
	displayFields = []string{"title", "tagline", "category"}
	safetyFields  = []string{"unsafe_phrases"}
	limitFields   = []string{"memory_mb", "step_seconds", "output_mb", "files"}
	engineFields  = []string{"name", "digest"}
	promptFields  = []string{"system_header", "examples"}
	exampleFields = []string{"request", "output"}
	callFields    = []string{"tool", "args", "output"}

	hexDigest   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	featureName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
)

// Caps on what a person is shown before they agree: no list of a stranger's may
// push the rest of it off the screen.
const (
	maxLicence  = 200
	maxFeatures = 16
	maxEngines  = 16
)

// contract reads every contract file and notes every fault in any of them.
func (l *loader) contract() {
	m := l.document(manifestFile, manifestFile)
	if m == nil { // a bundle without one: a folder was looked at before
		l.faults.AddAt(l.dir, 0, "no %s in it", manifestFile)
		return
	}
	if m.Kind != yamldoc.Map {
		l.faults.Add(m, "must be a mapping, not %s", m.Kind)
		return
	}
	s, f := l.skill, &l.faults
	f.Keys(m, "field", manifestFields)
	l.identity(m)
	l.details(m)
	l.limits(m)
	sets := l.valueSets(m)
	disabled := f.Texts(m, "disabled_tools")

	tools := l.fileName(m, "tools", toolsFile)
	if root := l.document(tools, toolsFile); root == nil {
		f.Add(m, "the contract has no %q", tools)
	} else {
		r, err := registry.Build(root, registry.Options{File: root.File, ValueSets: sets, Disabled: disabled})
		if err != nil {
			f.AddError(err)
		}
		s.registry = r
	}
	if root := l.optional(m, "prompt", promptFile); root != nil {
		l.prompt(root)
	}
	l.lexicon(m)
	l.markdown()
}

func (l *loader) identity(m *yamldoc.Node) {
	s, f := l.skill, &l.faults
	switch s.name = f.Text(m, "name"); {
	case s.name == "":
		f.Add(m, "the skill has no name")
	case !bundle.ValidName(s.name):
		f.Add(m.Get("name"), "the name %q must be lower case letters, digits, _ and -, at most 64, and begin with one of the first two", s.name)
	}
	for _, layer := range l.layers {
		data, ok := layer.files[manifestFile]
		if over, err := yamldoc.Read(layer.dir, data); ok && err == nil && over.Kind == yamldoc.Map && over.Has("name") && f.Text(over, "name") != l.baseName() {
			f.AddAt(path.Join(layer.dir, manifestFile), over.Get("name").Line, "an override cannot rename a skill")
		}
	}
	s.description = strings.TrimSpace(f.Text(m, "description"))
	if s.version = f.Text(m, "version"); s.version == "" {
		s.version = "0.0.0"
	} else if !bundle.ValidVersion(s.version) {
		f.Add(m.Get("version"), "the version %q must be three numbers, as 1.0.2", s.version)
	}
	switch status := f.Text(m, "status"); status {
	case "", "active":
	case "stale":
		s.stale = true
	default:
		f.Add(m.Get("status"), "status %q must be active or stale%s", status, nearest.Hint(status, []string{"active", "stale"}))
	}
	switch kind := f.Text(m, "kind"); kind {
	case "", "skill":
		if l.engine {
			f.Add(m, "this is a skill, not an engine: an engine says kind: engine")
		}
	case "engine":
		if !l.engine {
			f.Add(m.Get("kind"), "this is an engine, not a skill: skills name it, nobody runs it")
		}
	default:
		f.Add(m.Get("kind"), "kind %q must be skill or engine%s", kind, nearest.Hint(kind, []string{"skill", "engine"}))
	}
}

// baseName is the name before any layer was laid over it.
func (l *loader) baseName() string {
	root, err := yamldoc.Read(manifestFile, l.files[manifestFile])
	if err != nil || root.Get("name") == nil {
		return ""
	}
	return root.Get("name").Text
}

func (l *loader) details(m *yamldoc.Node) {
	s, f := l.skill, &l.faults
	s.title = s.name
	if d := f.Mapping(m, "display"); d != nil {
		f.Keys(d, "field", displayFields)
		if t := strings.TrimSpace(f.Text(d, "title")); t != "" {
			s.title = t
		}
		s.tagline = strings.TrimSpace(f.Text(d, "tagline"))
		s.category = f.Text(d, "category")
	}
	if d := f.Mapping(m, "safety"); d != nil {
		f.Keys(d, "field", safetyFields)
		s.unsafePhrases = f.Texts(d, "unsafe_phrases")
	}
	s.licence = f.Text(m, "licence")
	if strings.ContainsFunc(s.licence, unicode.IsControl) || len(s.licence) > maxLicence {
		f.Add(m.Get("licence"), "licence must be its name on one line, as Apache-2.0, of at most %d bytes", maxLicence)
	}
	s.recommended = f.Text(m, "recommended_model")
	s.wasmFeatures = f.Texts(m, "wasm_features")
	if len(s.wasmFeatures) > maxFeatures {
		f.Add(m.Get("wasm_features"), "wasm_features lists more than %d", maxFeatures)
	}
	for _, w := range s.wasmFeatures {
		if !featureName.MatchString(w) {
			f.Add(m.Get("wasm_features"), "%q is no WebAssembly feature", w)
		}
	}
	if s.module = f.Text(m, "module"); s.module != "" && (!local(s.module) || strings.Contains(s.module, "/") || path.Ext(s.module) != ".wasm") {
		f.Add(m.Get("module"), "module %q must name a .wasm file beside %s", s.module, manifestFile)
	}
	s.data = map[string]string{}
	if d := f.Mapping(m, "data"); d != nil {
		for _, e := range d.Entries {
			if !e.Value.Scalar() || !local(e.Value.Text) {
				f.AddAt(e.Value.File, e.Line, "data %q must name a file inside the skill", e.Key)
				continue
			}
			s.data[e.Key] = e.Value.Text
		}
	}
	l.engines(m)
}

func (l *loader) engines(m *yamldoc.Node) {
	list, f := m.Get("engines"), &l.faults
	if list == nil || list.Kind == yamldoc.Null {
		return
	}
	if list.Kind != yamldoc.List {
		f.Add(list, "engines must be a list, not %s", list.Kind)
		return
	}
	if len(list.Items) > maxEngines {
		f.Add(list, "engines lists more than %d", maxEngines)
		return
	}
	for _, n := range list.Items {
		if n.Kind != yamldoc.Map {
			f.Add(n, "an engine is a mapping of name and digest, not %s", n.Kind)
			continue
		}
		f.Keys(n, "field", engineFields)
		e := Engine{Name: f.Text(n, "name"), Digest: f.Text(n, "digest")}
		if !bundle.ValidName(e.Name) {
			f.Add(n, "the engine name %q must be lower case letters, digits, _ and -, at most 64", e.Name)
		}
		if !hexDigest.MatchString(e.Digest) {
			f.Add(n, "the engine %q needs the digest of its module: 64 hexadecimal digits in lower case", e.Name)
		}
		l.skill.engines = append(l.skill.engines, e)
	}
}

func (l *loader) limits(m *yamldoc.Node) {
	d, f := l.faults.Mapping(m, "limits"), &l.faults
	if d == nil {
		return
	}
	f.Keys(d, "limit", limitFields)
	read := func(key string, into *int) {
		v := d.Get(key)
		if v == nil {
			return
		}
		number, _ := v.Value().(json.Number)
		i, err := number.Int64()
		if err != nil || i <= 0 || i > 1<<30 {
			f.Add(v, "limit %s must be a whole number above 0; leave it out for the host's own", key)
			return
		}
		*into = int(i)
	}
	read("memory_mb", &l.skill.limits.MemoryMB)
	read("step_seconds", &l.skill.limits.StepSeconds)
	read("output_mb", &l.skill.limits.OutputMB)
	read("files", &l.skill.limits.Files)
}

func (l *loader) valueSets(m *yamldoc.Node) map[string][]string {
	d := l.faults.Mapping(m, "arg_value_sets")
	if d == nil {
		return nil
	}
	sets := make(map[string][]string, len(d.Entries))
	for _, e := range d.Entries {
		if sets[e.Key] = l.faults.Texts(d, e.Key); len(sets[e.Key]) == 0 {
			l.faults.AddAt(e.Value.File, e.Line, "arg_value_sets gives %q no values", e.Key)
		}
	}
	return sets
}

// fileName returns the contract file that key names, or its usual name.
func (l *loader) fileName(m *yamldoc.Node, key, usual string) string {
	name := l.faults.Text(m, key)
	if name == "" {
		return usual
	}
	if !local(name) {
		l.faults.Add(m.Get(key), "%s %q must name a file inside the skill", key, name)
		return usual
	}
	return path.Clean(name)
}

// optional returns a contract file that need not be there unless it is named.
func (l *loader) optional(m *yamldoc.Node, key, usual string) *yamldoc.Node {
	name := l.fileName(m, key, usual)
	root := l.document(name, usual)
	if root == nil && m.Has(key) {
		l.faults.Add(m.Get(key), "%s names %q, which is not there", key, name)
	}
	return root
}

// local reports whether a path stays in the skill's folder.
func local(name string) bool {
	return name != "" && !strings.ContainsAny(name, "\\\x00") && !path.IsAbs(name) && path.Clean(name) != "." &&
		!slices.Contains(strings.Split(name, "/"), "..") && !strings.Contains(name, ":")
}

func (l *loader) prompt(root *yamldoc.Node) {
	f := &l.faults
	if root.Kind == yamldoc.Null {
		return
	}
	if root.Kind != yamldoc.Map {
		f.Add(root, "must be a mapping, not %s", root.Kind)
		return
	}
	f.Keys(root, "field", promptFields)
	l.skill.prompt.Header = f.Text(root, "system_header")
	examples := root.Get("examples")
	if examples == nil || examples.Kind == yamldoc.Null {
		return
	}
	if examples.Kind != yamldoc.List {
		f.Add(examples, "examples must be a list, not %s", examples.Kind)
		return
	}
	for _, n := range examples.Items {
		if n.Kind != yamldoc.Map {
			f.Add(n, "an example is a mapping of request and output, not %s", n.Kind)
			continue
		}
		f.Keys(n, "field", exampleFields)
		e := Example{Request: f.Text(n, "request"), Plan: l.examplePlan(n), Line: n.Line}
		if strings.TrimSpace(e.Request) == "" {
			f.Add(n, "an example needs a request")
		}
		l.skill.prompt.Examples = append(l.skill.prompt.Examples, e)
	}
}

// examplePlan reads output: {plan: [{tool, args, output}]}.
func (l *loader) examplePlan(n *yamldoc.Node) []abi.Call {
	f := &l.faults
	output := f.Mapping(n, "output")
	list := output.Get("plan")
	if list == nil || list.Kind != yamldoc.List {
		f.Add(n, "an example needs an output with a plan: a list of calls")
		return nil
	}
	f.Keys(output, "field", []string{"plan"})
	calls := make([]abi.Call, 0, len(list.Items))
	for _, c := range list.Items {
		if c.Kind != yamldoc.Map {
			f.Add(c, "a call is a mapping of tool, args and output, not %s", c.Kind)
			continue
		}
		f.Keys(c, "field", callFields)
		call := abi.Call{Tool: f.Text(c, "tool"), Args: map[string]any{}, Output: f.Text(c, "output")}
		if args := f.Mapping(c, "args"); args != nil {
			call.Args, _ = args.Value().(map[string]any)
		}
		calls = append(calls, call)
	}
	return calls
}
