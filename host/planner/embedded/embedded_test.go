package embedded_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/planner/embedded"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
)

var now = time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)

type bench struct {
	skill  *skill.Skill
	index  *retrieval.Index
	plan   *embedded.Planner
	exists func(string) (bool, bool)
	names  func() ([]string, bool)
}

func load(t testing.TB, dir string) *bench {
	t.Helper()
	s, err := skill.Load(dir, skill.Options{})
	require.NoError(t, err)
	return &bench{skill: s, index: retrieval.New([]*skill.Skill{s}), plan: &embedded.Planner{}}
}

func files(t testing.TB) *bench { return load(t, "../../../skills/files") }

func (b *bench) ask(t testing.TB, utterance string) (planner.Answer, []abi.Call) {
	t.Helper()
	a, err := b.plan.Plan(context.Background(), planner.Request{
		Utterance: utterance, Skill: b.skill, Tools: b.index.Search(utterance, 8), Now: now, Exists: b.exists, Names: b.names,
	})
	require.NoError(t, err)
	d, err := plan.Parse(a.Text)
	require.NoError(t, err, "%s", a.Text)
	require.NotEmpty(t, d.Calls())
	require.GreaterOrEqual(t, a.Confidence, 0.0)
	require.LessOrEqual(t, a.Confidence, 1.0)
	return a, d.Calls()
}

// short writes calls as "tool {args}", joined by "; ".
func short(calls []abi.Call) string {
	var out []string
	for _, c := range calls {
		args, err := json.Marshal(c.Args)
		if err != nil {
			return err.Error()
		}
		s := c.Tool + " " + string(args)
		if c.Output != "" {
			s += " → " + c.Output
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestPlans(t *testing.T) {
	b := files(t)
	for in, want := range map[string]string{
		"list the pdf files in inbox":                                     `list_files {"path":["inbox"],"pattern":["*.pdf"]}`,
		"find duplicate photos in pictures":                               `find_duplicates {"file_type":["image"],"path":["pictures"]}`,
		"organize downloads by type":                                      `organize_files {"by":"type","path":["downloads"]}`,
		"move the invoices from inbox to archive/2026":                    `move_files {"dst":"archive/2026","pattern":["*invoice*"],"src":["inbox"]}`,
		"zip every log file in logs into logs.zip":                        `make_archive {"file_type":["log"],"output":"logs.zip","path":["logs"]}`,
		"delete the tmp files in build":                                   `delete_files {"file_type":["temporary"],"path":["build"]}`,
		"how much space does each folder take":                            `folder_summary {"by":"folder"}`,
		"delete images older than 30 days but keep the ones in favorites": `delete_files {"exclude":["favorites"],"file_type":["image"],"modified_before":"2026-10-30","path":["."]}`,
		"find docs modified between January and March 2026":               `find_files {"file_type":["document"],"modified_after":"2026-01-01","modified_before":"2026-04-01"}`,
		"move everything but the pdfs from inbox to archive":              `move_files {"dst":"archive","exclude":["*.pdf"],"src":["inbox"]}`,
		"list files in inbox that aren't pdfs":                            `list_files {"exclude":["*.pdf"],"path":["inbox"]}`,
		"zip everything in site except node_modules into site.zip":        `make_archive {"exclude":["node_modules"],"output":"site.zip","path":["site"]}`,
		"delete inbox": `delete_files {"items":["inbox"]}`,
		"rename all .jpeg files in camera to .jpg":                             `rename_files {"extension":"jpg","path":["camera"],"pattern":["*.jpeg"]}`,
		"move photos from camera to album and rename them to lowercase":        `move_files {"dst":"album","file_type":["image"],"src":["camera"]} → $found; rename_files {"case":"lower","items":"$found.paths"}`,
		"delete the duplicate images in camera":                                `find_duplicates {"file_type":["image"],"path":["camera"]} → $found; delete_files {"items":"$found.duplicates"}`,
		"only list directories in src, two levels deep":                        `list_files {"depth":2,"kind":"folders","path":["src"]}`,
		"find files modified less than 3 days ago in work and home":            `find_files {"modified_after":"2026-11-26","path":["work","home"]}`,
		`create a folder named "old stuff"`:                                    `make_folder {"paths":["old stuff"]}`,
		"lösche alle Logs in logs, die älter als 30 Tage sind":                 `delete_files {"file_type":["log"],"modified_before":"2026-10-30","path":["logs"]}`,
		"把camera里的照片移动到album":                                                  `move_files {"dst":"album","file_type":["image"],"src":["camera"]}`,
		"list the 3 largest videos in media and save the list to big.csv":      `list_files {"file_type":["video"],"limit":3,"order":"desc","path":["media"],"save_to":"big.csv","sort":"size"}`,
		"delete the 3 oldest backups in backup":                                `delete_files {"file_type":["backup"],"limit":3,"order":"asc","path":["backup"],"sort":"modified"}`,
		"get rid of every file in downloads that I haven't opened in 6 months": `delete_files {"accessed_before":"2026-05-29","path":["downloads"]}`,
		"delete pdf files with draft in the name":                              `delete_files {"path":["."],"pattern":["*draft*.pdf"]}`,
		"delete the jpg and png files starting with tmp in work":               `delete_files {"path":["work"],"pattern":["tmp*.jpg","tmp*.png"]}`,
		"delete files not starting with keep in work":                          `delete_files {"exclude":["keep*"],"path":["work"]}`,
		"keep the pdfs in inbox and delete everything else":                    `delete_files {"exclude":["*.pdf"],"path":["inbox"]}`,
		"the largest video in media":                                           `find_files {"file_type":["video"],"limit":1,"order":"desc","path":["media"],"sort":"size"}`,
		"delete the largest video in media":                                    `delete_files {"file_type":["video"],"limit":1,"order":"desc","path":["media"],"sort":"size"}`,
		"list the songs and photos in media":                                   `list_files {"file_type":["audio","image"],"path":["media"]}`,
		"find the pdfs in inbox and delete them":                               `find_files {"path":["inbox"],"pattern":["*.pdf"]} → $found; delete_files {"items":"$found.paths"}`,
		"find the pdfs in inbox, copy them to bak and zip them into b.zip":     `find_files {"path":["inbox"],"pattern":["*.pdf"]} → $found; copy_files {"dst":"bak","items":"$found.paths"} → $found2; make_archive {"items":"$found2.paths","output":"b.zip"}`,
		"delete files between 1 and 5 MB in cache":                             `delete_files {"max_size":"5MB","min_size":"1MB","path":["cache"]}`,
		"delete yesterday's photos in camera":                                  `delete_files {"file_type":["image"],"modified_after":"2026-11-28","modified_before":"2026-11-29","path":["camera"]}`,
		"delete $RECYCLE.BIN":                                                  `delete_files {"items":["$$RECYCLE.BIN"]}`,
		"muéstrame los pdf de inbox":                                           `list_files {"path":["inbox"],"pattern":["*.pdf"]}`,
		"montre-moi les pdf dans inbox":                                        `list_files {"path":["inbox"],"pattern":["*.pdf"]}`,
		"borra todo menos los pdf en inbox":                                    `delete_files {"exclude":["*.pdf"],"path":["inbox"]}`,
		"packe die Texte aus arbeit in arbeit.zip":                             `make_archive {"file_type":["text"],"output":"arbeit.zip","path":["arbeit"]}`,
	} {
		t.Run(in, func(t *testing.T) {
			_, calls := b.ask(t, in)
			require.Equal(t, want, short(calls))
		})
	}
}

// A condition that is dropped makes a deletion delete too much. Each of these
// says something that no argument can carry: it must become a question that
// names it.
func TestNothingIsIgnored(t *testing.T) {
	b := files(t)
	for in, part := range map[string]string{
		"delete pdfs but not the ones from this year in inbox":           "year",
		"delete all photos except the 10 newest in camera":               "10 newest",
		"delete every second file in tmp":                                "second",
		"delete the pdfs forever":                                        "forever",
		"delete the photos in camera where nobody smiles":                "nobody smiles",
		"delete pdfs and files older than 30 days in inbox":              "and",
		"list files in inbox modified this week or larger than 5 MB":     "or",
		"delete files owned by bob in tmp":                               "owners",
		"delete the blurry photos in camera taken with the old phone":    "phone",
		"delete logs in logs larger than 5 bananas":                      "bananas",
		"move the pdfs from inbox to archive unless they are important":  "unless",
		"delete photos in camera without people":                         "people",
		"delete the log files in logs, never the ones of the webserver":  "never",
		"lösche die Logs in logs, aber bloß nicht die vom Server":        "nicht",
		"delete the biggest files in downloads":                          "biggest",
		"delete the pdfs in inbox written by hand":                       "hand",
		"delete tmp files in build newer than yesterday's build by noon": "noon",
		"delete the smallest photos in camera":                           "smallest",
		"delete files only bob can read in inbox":                        "bob",
		"clean up downloads":                                             "downloads",
		"keep the pdfs in inbox":                                         "keep",
		"delete some pdfs in inbox":                                      "some",
		"delete most of the pdfs in inbox":                               "most",
		"lösche einige Logs in logs":                                     "einige",
		"borra algunos pdf de inbox":                                     "algunos",
		"delete all files and the ones I like in work":                   "and",
		"delete the pdfs in inbox or whatever":                           "or",
		"delete the old files in work":                                   "old",
		"delete the important photos in camera":                          "important",
		"delete only the second pdf in inbox":                            "second",
		"delete the pdfs twice":                                          "twice",
		"delete the trash files in inbox":                                "trash",
		"remove empty folders purple in src":                             "purple",
		"delete the rest":                                                "rest",
		"delete files with tax in the name or older than a year":         "or",
	} {
		t.Run(in, func(t *testing.T) {
			a, calls := b.ask(t, in)
			require.Equal(t, "clarify", calls[0].Tool, "%s", a.Text)
			require.Contains(t, calls[0].Args["question"], part)
		})
	}
}

func TestAsksAndRefuses(t *testing.T) {
	b := files(t)
	for in, want := range map[string]string{
		"move the photos": "clarify", "delete the files": "clarify", "transmogrify the pdfs": "clarify", "banana": "clarify", "": "clarify", "???": "clarify",
		"do something with my files": "clarify", "rename the photos in camera": "clarify", strings.Repeat("delete ", 2000): "clarify",
		"email the invoices to bob": "reject", "wipe the whole disk": "reject", "upload the photos to the cloud": "reject",
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, calls[0].Tool, in)
	}
}

func TestExistingNamesDecide(t *testing.T) {
	b := files(t)
	b.exists = func(p string) (bool, bool) {
		switch p {
		case "tax returns 2024", "zebra", "my notes":
			return true, true
		case "Makefile":
			return true, false
		}
		return false, false
	}
	for in, want := range map[string]string{
		"list the pdfs in tax returns 2024":       `list_files {"path":["tax returns 2024"],"pattern":["*.pdf"]}`,
		"organize zebra by type":                  `organize_files {"by":"type","path":["zebra"]}`,
		"move the pdfs in my notes to zebra":      `move_files {"dst":"zebra","pattern":["*.pdf"],"src":["my notes"]}`,
		"copy Makefile to zebra":                  `copy_files {"dst":"zebra","src":["Makefile"]}`,
		"delete zebra":                            `delete_files {"items":["zebra"]}`,
		"find pdfs in zebra and tax returns 2024": `find_files {"path":["zebra","tax returns 2024"],"pattern":["*.pdf"]}`,
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, short(calls), in)
	}
}

// A contract without a lexicon still plans from names, keywords and schemas.
func TestWithoutLexicon(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"skill.yaml":  "name: media\ndescription: Made for a test.\nversion: 0.1.0\n",
		"prompt.yaml": "system_header: x\n",
		"tools.yaml": `
shrink_clip:
  description: "Make a clip smaller."
  keywords: [compress, shrink]
  required_args: [input]
  optional_args: [quality]
  arg_schemas:
    input: {type: string, path_role: input}
    quality: {type: enum, enum: [low, high]}
join_clips:
  description: "Join clips."
  keywords: [join, merge]
  required_args: [inputs]
  optional_args: [output]
  arg_schemas:
    inputs: {type: array, items: string, path_role: input}
    output: {type: string, path_role: output}
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	b := load(t, dir)
	for in, want := range map[string]string{
		"compress a.mp4":                                  `shrink_clip {"input":"a.mp4"}`,
		"shrink a.mp4 high quality":                       `shrink_clip {"input":"a.mp4","quality":"high"}`,
		"merge a.mp4 and b.mp4 into all.mp4":              `join_clips {"inputs":["a.mp4","b.mp4"],"output":"all.mp4"}`,
		"join a.mp4 and b.mp4 to c.mp4, then compress it": `join_clips {"inputs":["a.mp4","b.mp4"],"output":"c.mp4"}; shrink_clip {"input":"c.mp4"}`,
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, short(calls), in)
	}
	_, calls := b.ask(t, "compress this one")
	require.Equal(t, "clarify", calls[0].Tool)
}

func TestCancelled(t *testing.T) {
	b := files(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := b.plan.Plan(ctx, planner.Request{Utterance: "list files", Skill: b.skill, Now: now})
	require.ErrorIs(t, err, context.Canceled)
	_, err = b.plan.Plan(context.Background(), planner.Request{Utterance: "list files"})
	require.Error(t, err)
}

func FuzzPlan(f *testing.F) {
	b := files(f)
	for _, s := range []string{"list", "delete everything except", "move a to", "in in in", "从到里", "and then and", `"`, "rename x to", "5 5 MB over", "not except but"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { b.ask(t, s) })
}

func BenchmarkPlan(b *testing.B) {
	x := files(b)
	in := []string{
		"list the pdf files in inbox", "move files older than 1 year from work to archive keeping the folder structure",
		"delete *.bak and *.old files in work, but not those in keep", "将work里的文档复制到backup", "find the log files in projects, then delete them",
	}
	i := 0
	x.ask(b, in[0])
	b.ReportAllocs()
	for b.Loop() {
		u := in[i%len(in)]
		if _, err := x.plan.Plan(context.Background(), planner.Request{Utterance: u, Skill: x.skill, Tools: x.index.Search(u, 8), Now: now}); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// A phrase may ask for a second call, on what comes out of the first.
func TestThen(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"skill.yaml":  "name: media\ndescription: Made for a test.\nversion: 0.1.0\n",
		"prompt.yaml": "system_header: x\n",
		"lexicon.yaml": `
phrases:
  - {then: mute_clip, en: [without sound]}
  - {tool: cut_clip, en: ["to {start..end:clocks}"]}
  - {tool: shrink_clip, en: ["under {mb:megabytes}"]}
`,
		"tools.yaml": `
shrink_clip:
  description: "Make a clip smaller."
  keywords: [shrink]
  required_args: [input]
  optional_args: [mb, output]
  arg_schemas: {input: {type: string, path_role: input}, mb: {type: number}, output: {type: string, path_role: output}}
cut_clip:
  description: "Cut a clip."
  keywords: [cut]
  required_args: [input]
  optional_args: [start, end, output]
  arg_schemas: {input: {type: string, path_role: input}, start: {type: string}, end: {type: string}, output: {type: string, path_role: output}}
mute_clip:
  description: "Take the sound away."
  keywords: [mute]
  required_args: [input]
  optional_args: [output]
  arg_schemas: {input: {type: string, path_role: input}, output: {type: string, path_role: output}}
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	b := load(t, dir)
	for in, want := range map[string]string{
		"shrink a.mp4 without sound": `shrink_clip {"input":"a.mp4","output":"a_shrink.mp4"}; mute_clip {"input":"a_shrink.mp4"}`,
		"shrink a.mp4 under 500 KB":  `shrink_clip {"input":"a.mp4","mb":0.5}`,
		"cut a.mp4 to 1-6s":          `cut_clip {"end":"00:00:06","input":"a.mp4","start":"00:00:01"}`,
		"cut a.mp4 to 0:10-0:20":     `cut_clip {"end":"00:00:20","input":"a.mp4","start":"00:00:10"}`,
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, short(calls), in)
	}
}
