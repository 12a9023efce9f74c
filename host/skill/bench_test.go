package skill

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// manyTools writes a contract of n tools as large as real ones are.
func manyTools(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `
tool_%[1]d:
  description: "Convert one or more files of kind %[1]d to another format, keeping their names."
  keywords: [convert%[1]d, transform%[1]d, change%[1]d, umwandeln%[1]d]
  required_args: [inputs, to_format]
  optional_args: [quality, output]
  safety_category: safe
  defaults: {quality: balanced}
  mock_args: {inputs: ["{utterance_after:convert}"], to_format: pdf}
  arg_schemas:
    inputs: {type: array, items: string, path_role: input}
    to_format: {type: enum, enum: [pdf, txt, md, png], aliases: {markdown: md, text: txt}}
    quality: {type: enum, enum: [small, balanced, high]}
    output: {type: string, path_role: output}
`, i)
	}
	return b.String()
}

// BenchmarkLoadTenThousandTools loads 100 skills of 100 tools and says how much
// memory they hold.
func BenchmarkLoadTenThousandTools(b *testing.B) {
	dirs := make([]string, 100)
	for i := range dirs {
		dirs[i] = folder(b, map[string]string{"skill.yaml": fmt.Sprintf("name: s%d\n", i), "tools.yaml": manyTools(100)})
	}
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		skills := make([]*Skill, len(dirs))
		for i, dir := range dirs {
			s, err := Load(dir, Options{})
			require.NoError(b, err)
			skills[i] = s
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(skills)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-held")
}

// BenchmarkLoadFiles is what a run of the files skill pays before it can plan.
func BenchmarkLoadFiles(b *testing.B) {
	for b.Loop() {
		_, err := Load("../../skills/files", Options{})
		require.NoError(b, err)
	}
}
