// Package lint finds what a contract allows and its author will regret: what
// loads, and bites when somebody asks for it. It expands the contract's
// examples with the skill's own module when it is given one, and runs no step.
package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/expand"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
	"stepbox.dev/host/skill"
)

// Finding is one thing to mend.
type Finding struct {
	Code     string        `json:"code"`
	Severity plan.Severity `json:"severity"`
	File     string        `json:"file"` // tools.yaml, prompt.yaml, …
	Line     int           `json:"line"` // 0: the whole file
	Message  string        `json:"message"`
}

// String is "file:line: message".
func (f Finding) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Message
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
}

// Codes of findings.
const (
	CodeDefault     = "default"      // a default that its schema refuses
	CodeRequired    = "required"     // a required argument with a default
	CodeReadonly    = "readonly"     // a readonly tool with output paths
	CodeAlias       = "alias"        // an alias that shadows a value or another alias
	CodeExample     = "example"      // an example that does not validate
	CodeDescription = "description"  // the skill does not say what it is
	CodeKeywords    = "keywords"     // a public tool that nothing leads to
	CodeDescribed   = "described"    // the module tells a different story
	CodeExpansion   = "expansion"    // an intent that expands into what cannot run
	CodeUnused      = "unused"       // an internal tool that nothing emits
	CodeUntested    = "no_expansion" // an intent without an example
)

// Module is what Skill needs of a skill's module. *worker.Worker is one.
type Module interface {
	expand.Expander
	Describe(ctx context.Context) (abi.Description, error)
}

// Skill returns the findings about a skill, in the order of its files. m may be
// nil: then what only the module knows is not looked at. The error is that of a
// module that does not answer at all.
func Skill(ctx context.Context, s *skill.Skill, m Module) ([]Finding, error) {
	l := linter{skill: s, registry: s.Registry()}
	if strings.TrimSpace(s.Description()) == "" {
		l.warn(CodeDescription, "skill.yaml", 0, "the skill has no description: nobody can choose it")
	}
	for _, t := range l.registry.Tools() {
		l.tool(t)
	}
	examples := l.examples()
	if m != nil {
		if err := l.module(ctx, m, examples); err != nil {
			return nil, err
		}
	}
	return l.found, nil
}

type linter struct {
	skill    *skill.Skill
	registry *registry.Registry
	found    []Finding
}

func (l *linter) add(code, file string, line int, format string, args ...any) {
	l.found = append(l.found, Finding{code, plan.SeverityError, file, line, fmt.Sprintf(format, args...)})
}

func (l *linter) warn(code, file string, line int, format string, args ...any) {
	l.found = append(l.found, Finding{code, plan.SeverityWarning, file, line, fmt.Sprintf(format, args...)})
}

const toolsFile, promptFile = "tools.yaml", "prompt.yaml"

func (l *linter) tool(t *registry.Tool) {
	if t.Core {
		return
	}
	if !t.Internal && len(t.Keywords) == 0 {
		l.warn(CodeKeywords, toolsFile, t.Line, "tool %q has no keywords: only the words of its name and description lead to it", t.Name)
	}
	for _, name := range t.ArgOrder {
		a := t.Args[name]
		if v, ok := t.Defaults[name]; ok {
			for _, d := range plan.CheckValue(a, v) {
				l.add(CodeDefault, toolsFile, t.Line, "the default of %q in %q does not fit its schema: %s", name, t.Name, d.Message)
			}
			if a.Required {
				l.add(CodeRequired, toolsFile, t.Line, "argument %q of %q is required and has a default: it is never missing", name, t.Name)
			}
		}
		if t.Readonly && a.PathRole == abi.RoleOutput {
			l.add(CodeReadonly, toolsFile, t.Line, "tool %q is readonly, but argument %q is a path to make", t.Name, name)
		}
		l.aliases(t, a)
	}
}

// aliases finds other spellings that do not do what they say: a value wins over
// an alias of the same name, and two aliases that differ only in case or
// separators cancel each other.
func (l *linter) aliases(t *registry.Tool, a *registry.Arg) {
	if len(a.Synonyms) == 0 {
		return
	}
	keys := make([]string, 0, len(a.Synonyms))
	for k := range a.Synonyms {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	values, first := map[string][]string{}, map[string]string{} // by the word that they are
	for _, v := range a.Enum {
		values[plan.Word(v)] = append(values[plan.Word(v)], v)
	}
	for _, k := range keys {
		word, to := plan.Word(k), a.Synonyms[k]
		for _, v := range values[word] {
			if v != to {
				l.add(CodeAlias, toolsFile, t.Line, "alias %q of %q in %q stands for %q, but %q is a value itself", k, a.Name, t.Name, to, v)
				break
			}
		}
		if other, taken := first[word]; !taken {
			first[word] = k
		} else if a.Synonyms[other] != to {
			l.add(CodeAlias, toolsFile, t.Line, "aliases %q and %q of %q in %q are one word with two meanings", other, k, a.Name, t.Name)
		}
	}
}

// examples returns the examples that validate.
func (l *linter) examples() []example {
	var valid []example
	for _, e := range l.skill.Prompt().Examples {
		v, err := plan.Validate(plan.Normalize(plan.NewDraft(e.Plan), l.registry, plan.Paths{}), l.registry)
		if err != nil {
			l.add(CodeExample, promptFile, e.Line, "the example %q does not validate: %v", e.Request, err)
			continue
		}
		valid = append(valid, example{e, v})
	}
	return valid
}

type example struct {
	skill.Example
	valid plan.Valid
}
