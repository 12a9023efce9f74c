package embedded_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Orders that name several places at once never become one that means another.
func TestSeveralOrders(t *testing.T) {
	b := files(t)
	for in, want := range map[string]string{
		"rename a.txt to b.txt": `rename_files {"items":["a.txt"],"new_name":"b.txt"}`,
		"delete a.txt/..":       `delete_files {"items":["a.txt/.."]}`, // which the host refuses; never a.txt
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, short(calls), in)
	}
	// A filter or an exception is never lost on the way to a deletion.
	for in, want := range map[string]string{
		"wipe out .log and .tmp files in build":                          `delete_files {"path":["build"],"pattern":["*.log","*.tmp"]}`,
		"wipe out the .bak files in projects, but leave main.bak alone":  `delete_files {"exclude":["main.bak"],"path":["projects"],"pattern":["*.bak"]}`,
		"delete everything in inbox that isn't a pdf":                    `delete_files {"exclude":["*.pdf"],"path":["inbox"]}`,
		"copy all spreadsheets from work to backup but skip budget.xlsx": `copy_files {"dst":"backup","exclude":["budget.xlsx"],"file_type":["spreadsheet"],"src":["work"]}`,
		"lösche die log-Dateien in logs, aber nicht error.log":           `delete_files {"exclude":["error.log"],"file_type":["log"],"path":["logs"]}`,
		"elimina los pdf de bandeja de más de 10 MB":                     `delete_files {"min_size":"10MB","path":["bandeja"],"pattern":["*.pdf"]}`,
		"efface les pdf de reception plus vieux que 30 jours":            `delete_files {"modified_before":"2026-10-30","path":["reception"],"pattern":["*.pdf"]}`,
		"изтрий всички tmp файлове в cache без keep.tmp":                 `delete_files {"exclude":["keep.tmp"],"file_type":["temporary"],"path":["cache"]}`,
		"удали логи в logs кроме error.log":                              `delete_files {"exclude":["error.log"],"file_type":["log"],"path":["logs"]}`,
		"删除cache里所有tmp文件，除了keep.tmp":                                     `delete_files {"exclude":["keep.tmp"],"file_type":["temporary"],"path":["cache"]}`,
		"删除inbox里超过30天的pdf":                                              `delete_files {"modified_before":"2026-10-30","path":["inbox"],"pattern":["*.pdf"]}`,
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, short(calls), in)
	}
	for _, in := range []string{
		"rename a.txt to t.txt, b.txt to a.txt and t.txt to b.txt",
		"rename a.txt to t.txt, then b.txt to a.txt, then t.txt to b.txt",
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, "clarify", calls[0].Tool, in)
	}
}

// A list of exceptions goes on over folders, a condition may be said twice, and a
// place is one in front of what is made too.
func TestPlacesDepthsAndExceptions(t *testing.T) {
	b := files(t)
	for in, want := range map[string]string{
		"delete everything in build except pdfs and the folder old":         `delete_files {"exclude":["*.pdf","old"],"path":["build"]}`,
		"lösche alles in build außer pdfs und dem Ordner alt":               `delete_files {"exclude":["*.pdf","alt"],"path":["build"]}`,
		"borra todo en build excepto los pdf y la carpeta viejo":            `delete_files {"exclude":["*.pdf","viejo"],"path":["build"]}`,
		"supprime tout dans build sauf les pdf et le dossier ancien":        `delete_files {"exclude":["*.pdf","ancien"],"path":["build"]}`,
		"изтрий всичко в build освен pdf файловете и папката old":           `delete_files {"exclude":["*.pdf","old"],"path":["build"]}`,
		"удали всё в build кроме pdf и папки old":                           `delete_files {"exclude":["*.pdf","old"],"path":["build"]}`,
		"删除build里除了pdf和old文件夹以外的所有文件":                                       `delete_files {"exclude":["*.pdf","old"],"path":["build"]}`,
		"删除build里的tmp文件,index.tmp除外":                                        `delete_files {"exclude":["index.tmp"],"file_type":["temporary"],"path":["build"]}`,
		"list projects three levels deep":                                   `list_files {"depth":3,"path":["projects"]}`,
		"finde txt-Dateien in notizen, nur zwei Ebenen tief":                `find_files {"depth":2,"path":["notizen"],"pattern":["*.txt"]}`,
		"найди txt файлы в notes, не глубже двух уровней":                   `find_files {"depth":2,"path":["notes"],"pattern":["*.txt"]}`,
		"delete log files directly in logs, no subfolders":                  `delete_files {"file_type":["log"],"path":["logs"],"recursive":false}`,
		"packe alle Logs, die älter als 3 Monate sind, aus logs in alt.zip": `make_archive {"file_type":["log"],"modified_before":"2026-08-29","output":"alt.zip","path":["logs"]}`,
		"compresse les journaux de plus d'un mois de logs dans vieux.zip":   `make_archive {"file_type":["log"],"modified_before":"2026-10-29","output":"vieux.zip","path":["logs"]}`,
		"изтрий 3-те най-стари файла в backups":                             `delete_files {"limit":3,"order":"asc","path":["backups"],"sort":"modified"}`,
		"удали zip-файлы в downloads больше 100 МБ":                         `delete_files {"min_size":"100MB","path":["downloads"],"pattern":["*.zip"]}`,
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, short(calls), in)
	}
}
