package host_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the path that the rooms' import paths begin with.
const module = "stepbox.dev"

// room is what one folder (and the folders below it that have no row of their
// own) may import of this module, beside itself and its own folders.
type room struct {
	dir string
	may []string
	why string // what would go wrong with more
}

// layers is the import table. It reads bottom-up: a room imports only what
// stands above it. host/fault and abi are leaves that every host room may use.
var layers = []room{
	{"abi", nil, "guests of any age compile it: it must stay standard library and free of host code"},
	{"guest-sdk", []string{"abi"}, "it ends up inside every skill, where host code has no place"},
	{"skills", []string{"guest-sdk", "abi"}, "a skill is what a stranger could have written: the SDK has to be enough"},
	{"host/fault", nil, "every room names its failures with it, so it can import none of them"},
	{"host/stage", []string{"abi"}, "worker and host read one on-disk format; the format must know neither"},
	{"host/registry", []string{"abi"}, "a contract is text: reading it needs no plan, skill or file of a sandbox"},
	{"host/lexicon", []string{"abi", "host/registry"}, "words about a contract, not about a request"},
	{"host/plan", []string{"abi", "host/registry"}, "the intermediate form is pure: no file, clock, process or skill code"},
	{"host/skill", []string{"abi", "host/registry", "host/lexicon"}, "loading a contract decides nothing and runs nothing"},
	{"host/retrieval", []string{"abi", "host/registry", "host/skill", "host/lexicon"}, "ranking sees contracts, never plans or runs"},
	{"host/prompt", []string{"abi", "host/registry", "host/skill", "host/plan", "host/retrieval"}, "the text for a model comes from the contract alone"},
	{"host/planner", []string{"abi", "host/registry", "host/skill", "host/plan", "host/retrieval", "host/lexicon", "host/prompt"},
		"a planner proposes; it must not reach what runs, stages or commits"},
	{"host/gate", []string{"abi", "host/registry", "host/plan"}, "a gate is deterministic: it sees contract, plan and names, no model and no skill code"},
	{"host/sandbox", []string{"abi", "host/stage"}, "it runs in the worker beside hostile code; what it can reach, an escape can reach"},
	{"host/admission", []string{"abi"}, "it reads the most hostile bytes of all; nothing else may share its fate"},
	{"host/worker", []string{"abi", "host/sandbox", "host/admission", "host/stage"}, "the child must not hold code that plans, approves or commits"},
	{"host/commit", []string{"abi", "host/plan", "host/registry", "host/stage"}, "it trusts no worker: it reads the stage itself and shares no code with the jail but the format"},
	{"host/approval", []string{"abi", "host/plan", "host/commit"}, "only an answer about exact changes makes an approval"},
	{"host/event", []string{"abi", "host/commit"}, "front ends read events; events drive nothing"},
	{"host/expand", []string{"abi", "host/registry", "host/plan", "host/gate"}, "it declares the one method it needs, and cannot start a worker itself"},
	{"host/execute", []string{"abi", "host/registry", "host/plan", "host/event"}, "it declares the one method it needs: embedding programs bring other runners"},
	{"host/lint", []string{"abi", "host/registry", "host/skill", "host/plan", "host/expand"}, "it judges a contract and expands its examples; it runs no step"},
	{"host/store", []string{"abi", "host/registry", "host/skill", "host/admission"}, "installing never runs what it installs"},
	{"host/config", []string{"host/registry"}, "it reads what a person set, with the reader of contracts; what that means is for the host to say"},
	{"host/evaluate", []string{"host", "host/*", "abi"}, "scores the façade from outside"},
	{"host", []string{"abi", "host/*"}, "the façade joins the rooms; nothing below may know it"},
	{"cmd", []string{"abi", "host", "host/commit", "host/config", "host/evaluate", "host/event", "host/fault", "host/lexicon", "host/lint", "host/plan", "host/registry", "host/retrieval", "host/skill", "host/store", "host/worker"},
		"the command line goes through the façade and reads its types; a verb that plans, gates, stages or commits by itself skips a stage"},
	{"internal/hometest", nil, "test data knows no room"},
	{"internal/moduletest", []string{"abi", "guest-sdk", "host", "host/lint", "host/skill"}, "tests of skills go through the façade, as whoever runs them does"},
}

// runtimes are third-party imports with one owner each.
var runtimes = []struct {
	prefix  string
	allowed []string // packages below prefix that run nothing
	owners  []string
	why     string
}{
	{"github.com/extism/go-sdk", nil, []string{"host/worker"}, "a module runs in the confined child and nowhere else"},
	{"github.com/tetratelabs/wazero", []string{"github.com/tetratelabs/wazero/experimental/sys", "github.com/tetratelabs/wazero/sys"}, []string{"host/worker"},
		"a module runs in the confined child and nowhere else; host/sandbox implements the file system interface, which is types"},
	{"github.com/extism/go-pdk", nil, []string{"guest-sdk"}, "the SDK owns every export and host call of a guest"},
	{"net", []string{"net/url"}, []string{"host/planner/chat", "host/planner/plannertest"},
		"stepbox talks to one thing over a network, the model that a person configured, and only a request for a plan may go there"},
	{"github.com/spf13/cobra", nil, []string{"cmd"}, "a library takes no flags"},
	{"gopkg.in/yaml.v3", nil, []string{"host/registry", "host/lexicon", "host/skill"}, "contract files are hostile: who reads YAML sets its limits"},
}

// file is one Go file of the repository and what it imports.
type file struct {
	path, pkg string // slash path, and the folder it lies in
	imports   []string
	doc       string // package comment
	name      string // of the package
	test      bool
}

func sources(t *testing.T) []file {
	t.Helper()
	var out []file
	fset := token.NewFileSet()
	root := ".."
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			base := path.Base(rel)
			if rel != "." && (base[0] == '.' || base == "testdata" || rel == "fixtures" || rel == "wasm" || rel == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if path.Ext(rel) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		s := file{path: rel, pkg: path.Dir(rel), name: f.Name.Name, test: strings.HasSuffix(rel, "_test.go")}
		if f.Doc != nil {
			s.doc = f.Doc.Text()
		}
		for _, i := range f.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, name)
		}
		out = append(out, s)
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, out)
	return out
}

// roomOf is the row of the table for a folder: the longest that fits.
func roomOf(pkg string) (room, bool) {
	best := -1
	for i, r := range layers {
		if within(pkg, r.dir) && (best < 0 || len(r.dir) > len(layers[best].dir)) {
			best = i
		}
	}
	if best < 0 {
		return room{}, false
	}
	if layers[best].dir == "host" && pkg != "host" { // a new room needs a row of its own
		return room{}, false
	}
	return layers[best], true
}

func within(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

// allowed says that a room may import a package of this module.
func (r room) allowed(pkg string) bool {
	target, ok := roomOf(pkg)
	switch {
	case !ok:
		return false
	case target.dir == r.dir:
		return true
	case target.dir == "host/fault" && strings.HasPrefix(r.dir, "host"):
		return true
	case slices.Contains(r.may, target.dir):
		return true
	}
	return strings.HasPrefix(target.dir, "host/") && slices.Contains(r.may, "host/*")
}

// A room that imports against the table makes the stages of a request
// reachable from where they must not be. Tests of a room may use more.
func TestLayeringImports(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		r, ok := roomOf(f.pkg)
		require.True(t, ok, "%s: %s has no row in the import table: say what it may import, and why", f.path, f.pkg)
		for _, i := range f.imports {
			if i != module && !strings.HasPrefix(i, module+"/") {
				continue
			}
			pkg := strings.TrimPrefix(strings.TrimPrefix(i, module), "/")
			require.True(t, r.allowed(pkg), "%s imports %s: %s", f.path, i, r.why)
		}
	}
}

// Third-party code that runs modules, parses contracts or talks to a person has
// one owner.
func TestLayeringOwners(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, i := range f.imports {
			for _, ban := range runtimes {
				if !within(i, ban.prefix) || slices.Contains(ban.allowed, i) {
					continue
				}
				owned := slices.ContainsFunc(ban.owners, func(o string) bool { return within(f.pkg, o) })
				require.True(t, owned, "%s imports %s, which belongs to %v: %s", f.path, i, ban.owners, ban.why)
			}
			if f.pkg == "abi" {
				require.NotContains(t, strings.Split(i, "/")[0], ".", "%s imports %s: abi is standard library only, so that any guest can compile it", f.path, i)
			}
		}
	}
}

// The table itself must stay free of cycles, or "bottom-up" means nothing.
func TestLayeringTableIsOrdered(t *testing.T) {
	seen := map[string]int{}
	for i, r := range layers {
		require.NotContains(t, seen, r.dir)
		require.Greater(t, len(r.why), 20, "%s gives no reason", r.dir)
		seen[r.dir] = i
	}
	var visit func(dir string, trail []string)
	visit = func(dir string, trail []string) {
		require.NotContains(t, trail, dir, "cycle")
		i, ok := seen[dir]
		require.True(t, ok, "%v may import %q, which has no row", trail, dir)
		for _, to := range layers[i].may {
			if to != "host/*" {
				visit(to, append(slices.Clone(trail), dir))
			}
		}
	}
	for _, r := range layers {
		visit(r.dir, nil)
	}
}

// A package without a comment is one that nobody can find their way in, and a
// package called util is one that everything ends up in.
func TestLayeringPackages(t *testing.T) {
	doc, names := map[string]bool{}, map[string]string{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		doc[f.pkg] = doc[f.pkg] || strings.HasPrefix(f.doc, "Package "+f.name+" ") || f.name == "main" && len(f.doc) > 20
		names[f.pkg] = f.name
	}
	for pkg, has := range doc {
		require.True(t, has, "%s has no package comment", pkg)
		require.NotContains(t, []string{"util", "utils", "common", "helpers", "helper", "types", "misc", "shared"}, names[pkg],
			"%s: name a package by what it provides", pkg)
	}
}
