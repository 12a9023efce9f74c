package gate

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// hasDefaultName says that a missing argument is named by default: it is what
// the call makes, and the tool has an input to name it after.
func hasDefaultName(t *registry.Tool, arg string) bool {
	a := t.Args[arg]
	if a == nil || a.PathRole != abi.RoleOutput || !isProduct(arg) {
		return false
	}
	for _, other := range t.Args {
		if other.PathRole == abi.RoleInput {
			return true
		}
	}
	return false
}

// outputs names what a call needs a name for and the plan gives none, after the
// call's first input and the tool's verb: "report-merge.pdf". The same plan
// over the same files always gets the same name.
func (c *check) outputs() Decision {
	for i := range c.calls {
		t, ok := c.tool(i)
		if !ok {
			continue
		}
		for _, arg := range t.Required {
			if absent(c.calls[i].Args[arg]) && hasDefaultName(t, arg) {
				c.calls[i].Args[arg] = shaped(t, arg, c.productName(i, t, arg))
				c.makers = nil
			}
		}
	}
	return proceed
}

func (c *check) productName(i int, t *registry.Tool, arg string) string {
	verb, _, _ := strings.Cut(t.Name, "_")
	dir, base, ext := ".", verb, ""
	for _, v := range c.values(i, abi.RoleInput) {
		if hasGlob(v.text) {
			if e := path.Ext(v.text); !hasGlob(e) {
				ext = e
			}
			dir = path.Dir(clean(v.text))
			break
		}
		if clean(v.text) == "." || v.text == "" {
			continue
		}
		dir, base = path.Dir(clean(v.text)), stem(clean(v.text))+"-"+verb
		if extension(v.text) != "" {
			ext = path.Ext(v.text)
		}
		break
	}
	if hasGlob(dir) {
		dir = "."
	}
	for _, name := range argNames(t, c.calls[i].Args) { // "convert to md" says the extension
		if s, ok := c.calls[i].Args[name].(string); ok && t.Args[name] != nil && slices.Contains(t.Args[name].Enum, s) && extensions[s] {
			ext = "." + s
		}
	}
	if strings.HasSuffix(arg, "_dir") {
		ext = ""
	}
	for n := 1; ; n++ {
		name := path.Join(dir, base+ext)
		if n > 1 {
			name = path.Join(dir, fmt.Sprintf("%s-%d%s", base, n, ext))
		}
		if !c.taken(name) {
			return name
		}
	}
}

// taken says that a name is in use, in the sandbox or by the plan.
func (c *check) taken(name string) bool {
	if c.stat(name) != nil {
		return true
	}
	for i := range c.calls {
		for _, v := range append(c.values(i, abi.RoleInput), c.values(i, abi.RoleOutput)...) {
			if sameName(clean(v.text), name) {
				return true
			}
		}
	}
	return false
}

// maxPairs bounds the comparing of a hostile plan.
const maxPairs = 4_000_000

// overwrites refuses a product that would replace an input: of its own call, or
// one of any call that was there before the run.
func (c *check) overwrites() Decision {
	var products, sources []value
	for i := range c.calls {
		products = append(products, c.values(i, abi.RoleOutput)...)
	}
	if len(products) == 0 {
		return proceed
	}
	for i := range c.calls {
		sources = append(sources, c.values(i, abi.RoleInput)...)
	}
	if len(products)*len(sources) > maxPairs {
		return Decision{
			Outcome: Reject, Call: products[0].call,
			Reason: fmt.Sprintf("the plan makes %d files from %d others: too many to see which overwrites which", len(products), len(sources)),
			Next:   "name a folder instead of its files",
		}
	}
	for _, out := range products {
		for _, in := range sources {
			if !c.replaces(out, in) || in.call != out.call && c.made(in.call, in.text) {
				continue
			}
			return Decision{
				Outcome: Reject, Call: out.call, Arg: out.arg,
				Reason: fmt.Sprintf("the output %q would overwrite the input %q", out.text, in.text),
				Next:   "give the output another name",
			}
		}
	}
	return proceed
}

// replaces says that writing to a product would overwrite a source. A folder is
// not overwritten by what is put into it.
func (c *check) replaces(product, source value) bool {
	out, in := product.text, source.text
	there := c.stat(out)
	if there != nil && there.IsDir() {
		return false
	}
	if hasGlob(in) {
		ok, err := path.Match(clean(in), clean(out))
		return err == nil && ok && there != nil
	}
	if sameName(clean(out), clean(in)) {
		// What is not there yet is a file when its name or the person says so;
		// else it may be a folder that is put in order.
		return there != nil || extension(in) != "" || c.isOffered(in)
	}
	info := c.stat(in)
	return there != nil && info != nil && os.SameFile(there, info)
}
