package embedded_test

import (
	"io/fs"
	"path"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// home plans for a sandbox with these files.
func home(t *testing.T) *bench {
	t.Helper()
	m := fstest.MapFS{}
	for _, p := range []string{
		"archive/invoice-2025-11.pdf", "archive/old.zip", "build/app.tmp", "documents/report.pdf", "downloads/readme.txt", "downloads/icon.png",
		"downloads/old/a.txt", "inbox/contract.pdf", "inbox/invoice-2026-01.pdf", "inbox/scanned-0012.pdf", "inbox/todo.txt", "logs/app.log",
		"logs/old/app.log", "music/scale.wav", "notes/ideas.md", "notes/drafts/speech.md", "pictures/cat.jpg", "pictures/2025/sea-copy.png", "a/x.txt", "c/y.txt",
	} {
		m[p] = &fstest.MapFile{}
	}
	return over(t, m)
}

// over plans for a sandbox that holds what a file system does.
func over(t *testing.T, m fs.FS) *bench {
	t.Helper()
	b := files(t)
	b.exists = func(p string) (bool, bool) {
		info, err := fs.Stat(m, path.Clean(p))
		return err == nil, err == nil && info.IsDir()
	}
	b.names = func() (all []string, complete bool) {
		require.NoError(t, fs.WalkDir(m, ".", func(p string, _ fs.DirEntry, err error) error {
			all = append(all, p)
			return err
		}))
		return all, true
	}
	return b
}

// What is left out must be left out: an exception that is guessed, misspelled or
// dropped deletes what was to be kept.
func TestExceptions(t *testing.T) {
	b := home(t)
	for in, want := range map[string]string{
		"delete pdfs except contract.pdf":                                   `delete_files {"exclude":["contract.pdf"],"path":["."],"pattern":["*.pdf"]}`,
		"delete pdfs except contract.pdf and anything in archive":           `delete_files {"exclude":["contract.pdf","archive"],"path":["."],"pattern":["*.pdf"]}`,
		"delete files from before 2025 except pdfs and everything in notes": `delete_files {"exclude":["*.pdf","notes"],"modified_before":"2025-01-01","path":["."]}`,
		"delete files from before 2025 except pdfs and files in notes":      `delete_files {"exclude":["*.pdf","notes"],"modified_before":"2025-01-01","path":["."]}`,
		"delete pdfs apart from the ones in archive or named invoice":       `delete_files {"exclude":["archive","*invoice*"],"path":["."],"pattern":["*.pdf"]}`,
		"delete pdfs except those named invoice":                            `delete_files {"exclude":["*invoice*"],"path":["."],"pattern":["*.pdf"]}`,
		"delete everything in downloads except pictures":                    "kind",
		"delete files older than a year except in notes and logs":           `delete_files {"exclude":["notes","logs"],"modified_before":"2025-11-29","path":["."]}`,
		"delete files older than a year except in notes and pictures":       `delete_files {"exclude":["notes","pictures"],"modified_before":"2025-11-29","path":["."]}`,
		"move everything except inbox and notes to old":                     `move_files {"dst":"old","exclude":["inbox","notes"],"src":["."]}`,
		"delete everything except pdfs in downloads":                        `delete_files {"exclude":["*.pdf"],"path":["downloads"]}`,
		"list everything in inbox except invoices":                          `list_files {"exclude":["*invoice*"],"path":["inbox"]}`,

		"delete everything in downloads but the pdf I downloaded yesterday": "yesterday",
		"delete everything except files modified today":                     "today",
		"delete everything in inbox except files larger than 1MB":           "1MB",
		"delete everything in inbox except pdfs older than a year":          "older than a year",
		"delete all files except those in inbox and archive":                `delete_files {"exclude":["inbox","archive"],"path":["."]}`,
		"delete pdfs except those I need":                                   "those I need",
		"delete everything in downloads except that":                        "except that",
		"delete pdfs except what I sent":                                    "what I sent",
		"delete pdfs except mine":                                           "mine",
		"delete pdfs except important ones":                                 "important",
		"delete pdfs except those from ana":                                 "ana",
		"delete pdfs except signed ones":                                    "signed",
		"delete pdfs except scanned ones":                                   "scanned",
		"delete pdfs except those we use":                                   "we use",
		"delete pdfs except if they are new":                                "new",
		"delete everything in downloads except those in use":                "use",
		"delete all logs except the oldest":                                 "oldest",
		"delete pdfs except the newest":                                     "newest",
		"delete pdfs except the newest 3":                                   "newest 3",
		"delete pdfs except contarct.pdf":                                   "contarct.pdf",
		"delete everything in downloads except in music":                    "music",
		"delete everything except the invoices":                             "invoice",
		"delete everything except notes and pictures":                       "pictures",
		"move pdfs from downloads to old but keep the biggest":              "biggest",
		"move all pdfs except those I need from downloads to old":           "those I need",
		"move all images except screenshots to old":                         "screenshots",
		"copy files from inbox that are not in archive to backup":           "archive",
		"delete pdfs but not the ones from this year in inbox":              "year",
		"borra todo en downloads menos los que necesito":                    "los que necesito",
		"lösche alle PDFs außer die ich brauche":                            "die ich brauche",
		"lösche alle PDFs außer den neuesten":                               "neuesten",
		"supprime tout dans downloads sauf ceux que je veux":                "je veux",
		"удали все pdf кроме тех, которые мне нужны":                        "мне нужны",
		"删除downloads里除了我需要的以外的所有文件":                                         "需",
	} {
		t.Run(in, func(t *testing.T) {
			if want == "kind" {
				_, calls := b.ask(t, in)
				require.Contains(t, short(calls), `"exclude":["*.jpg",`)
				require.Contains(t, short(calls), `"path":["downloads"]`)
				return
			}
			b.plans(t, in, want)
		})
	}
}

// plans expects a plan, or a question that holds the words.
func (b *bench) plans(t *testing.T, in, want string) {
	t.Helper()
	a, calls := b.ask(t, in)
	if calls[0].Tool != "clarify" {
		require.Equal(t, want, short(calls))
		return
	}
	require.Contains(t, calls[0].Args["question"], want)
	require.NotEmpty(t, a.Text)
}

// Each of these can be said in one call only by doing more than was meant.
func TestOneCallIsNotEnough(t *testing.T) {
	b := home(t)
	for in, want := range map[string]string{
		"delete files that are both in downloads and documents":          "both",
		"delete files in downloads that are also in documents":           "both",
		"delete files which are in inbox as well as in archive":          "both",
		"delete pictures that are in pictures and in downloads":          "both",
		"move files that are both pdf and invoice from inbox to archive": "both",
		"delete files matching sea* and *copy*":                          "sea*",
		"delete the pdf and the log about invoices":                      "invoice",
		"delete the newest file in each folder":                          "each folder",
		"delete the biggest file per folder":                             "per folder",
		"delete everything in build and the tmp files in odd":            "build",
		"delete logs older than a year and tmp files":                    "a year",
		"delete pdfs and the folder old":                                 "folder old",
		"delete contract.pdf and everything in archive":                  "contract.pdf",
		"move files from downloads to documents and pictures to archive": "two places",
		"make 3 folders in archive":                                      "3 folders",
		"make a folder for every month of 2026":                          "every month",
		"create an empty file notes/x.txt":                               "empty files",
		"organize downloads alphabetically":                              "By which",
		"lowercase the extensions":                                       "extensions",
		"open notes/ideas.md":                                            "cannot open",
		"copy only new files":                                            "new",
		"zip logs and delete the originals":                              "originals",
		"delete files before 01/02/2024":                                 "01/02/2024",
		"move pictures into pictures/2025":                               "folder",
		"zip pictures into p.zip":                                        `make_archive {"items":["pictures"],"output":"p.zip"}`,
		"delete Logs":                                                    "folder",
		"delete half the logs":                                           "half",
		"delete the remaining pdfs":                                      "remaining",
		"delete corrupted pdfs":                                          "corrupted",
		"delete vacation photos":                                         "vacation",
		"delete hard links":                                              "hard links",
		"delete inbox/todo.txt unless it is empty":                       "unless",
		"delete inbox/todo.txt if older than a year":                     "if",
		"delete either the tmp files or the logs":                        "either",
		"delete just the top level tmp files":                            `delete_files {"file_type":["temporary"],"path":["."],"recursive":false}`,
		"delete pdfs in inbox and archive":                               `delete_files {"path":["inbox","archive"],"pattern":["*.pdf"]}`,
		"delete the pdf named invoice":                                   `delete_files {"path":["."],"pattern":["*invoice*.pdf"]}`,
		"delete images that are png and start with sea":                  `delete_files {"file_type":["image"],"path":["."],"pattern":["sea*.png"]}`,
		"list pdfs and then delete them":                                 `list_files {"pattern":["*.pdf"]} → $found; delete_files {"items":"$found.paths"}`,
		"delete logs/*.log and inbox/*.pdf":                              `delete_files {"path":["."],"pattern":["logs/*.log","inbox/*.pdf"]}`,
		"delete logs/*":                                                  `delete_files {"path":["logs"],"pattern":["logs/*"]}`,
		"delete *.bak and *.old files in inbox":                          `delete_files {"path":["inbox"],"pattern":["*.bak","*.old"]}`,
		"delete empty files and empty folders":                           `delete_files {"empty":true,"kind":"both","path":["."]}`,
		"organize downloads by size into sized":                          `organize_files {"by":"size","dst":"sized","path":["downloads"]}`,
		"copy pdfs from inbox to backup, keep folders":                   `copy_files {"dst":"backup","keep_folders":true,"pattern":["*.pdf"],"src":["inbox"]}`,
		"replace spaces with _ in names":                                 `rename_files {"find":" ","replace":"_"}`,
		"delete tmp files in build, and list the pdfs":                   `delete_files {"file_type":["temporary"],"path":["build"]}; list_files {"path":["build"],"pattern":["*.pdf"]}`,
		"make folders a, b and c/d":                                      `make_folder {"paths":["c/d","a","b"]}`,
		"move files in a to c":                                           `move_files {"dst":"c","src":["a"]}`,
		"move pdfs in a to c":                                            `move_files {"dst":"c","pattern":["*.pdf"],"src":["a"]}`,
		"delete todo.txt in inbox":                                       `delete_files {"items":["inbox/todo.txt"]}`,
		"move todo.txt from inbox to notes":                              `move_files {"dst":"notes","src":["inbox/todo.txt"]}`,
		"rename readme.txt to readme.md in downloads":                    `rename_files {"items":["downloads/readme.txt"],"new_name":"readme.md"}`,
		"delete the folder old in logs":                                  `delete_files {"items":["logs/old"]}`,
		"delete all logs":                                                `delete_files {"file_type":["log"],"path":["."]}`,
		"delete logs older than 30 days":                                 `delete_files {"file_type":["log"],"modified_before":"2026-10-30","path":["."]}`,
		"move the invoices from inbox to archive/2026":                   `move_files {"dst":"archive/2026","pattern":["*invoice*"],"src":["inbox"]}`,
		"zip every log file in logs into logs.zip":                       `make_archive {"file_type":["log"],"output":"logs.zip","path":["logs"]}`,
		"find duplicate photos in pictures":                              `find_duplicates {"file_type":["image"],"path":["pictures"]}`,
		"delete pdfs bigger than 1mb and older than a year":              `delete_files {"min_size":"1MB","modified_before":"2025-11-29","path":["."],"pattern":["*.pdf"]}`,
		"find photos and videos larger than 5 MB":                        `find_files {"file_type":["image","video"],"min_size":"5MB"}`,
	} {
		t.Run(in, func(t *testing.T) { b.plans(t, in, want) })
	}
}

// A word that looks like an adjective is asked about even where a file is named
// so: it is not sure enough to act on.
func TestAdjectivesAreDoubted(t *testing.T) {
	b := home(t)
	a, calls := b.ask(t, "delete scanned pdfs")
	require.Equal(t, `delete_files {"path":["."],"pattern":["*scanned*.pdf"]}`, short(calls))
	require.Less(t, a.Confidence, 0.80)
	for _, in := range []string{"delete photos taken in 2025", "delete files created yesterday"} { // dates of change stand for both
		a, calls = b.ask(t, in)
		require.Equal(t, "delete_files", calls[0].Tool)
		require.Less(t, a.Confidence, 0.80, in)
	}
	a, _ = b.ask(t, "delete the invoices in inbox")
	require.GreaterOrEqual(t, a.Confidence, 0.80)
}
