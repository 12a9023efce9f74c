package embedded_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// fixtures plans for the home folder of the fixtures.
func fixtures(t *testing.T) *bench {
	t.Helper()
	return over(t, os.DirFS("../../../fixtures/home"))
}

// Everyday requests that became something else, or nothing.
func TestEveryday(t *testing.T) {
	b := fixtures(t)
	for name, c := range map[string]map[string]string{
		"a folder or file that gets a new name": {
			"rename the folder notes to memos":            `rename_files {"items":["notes"],"new_name":"memos"}`,
			"renomme le dossier inbox en courrier":        `rename_files {"items":["inbox"],"new_name":"courrier"}`,
			"renombra la carpeta inbox a correo":          `rename_files {"items":["inbox"],"new_name":"correo"}`,
			"rename cat.jpg in pictures to kitty.jpg":     `rename_files {"items":["pictures/cat.jpg"],"new_name":"kitty.jpg"}`,
			"benenne cat.jpg in pictures in katze.jpg um": `rename_files {"items":["pictures/cat.jpg"],"new_name":"katze.jpg"}`,
			"renombra cat.jpg de pictures a gato.jpg":     `rename_files {"items":["pictures/cat.jpg"],"new_name":"gato.jpg"}`,
			"renomme cat.jpg dans pictures en chat.jpg":   `rename_files {"items":["pictures/cat.jpg"],"new_name":"chat.jpg"}`,
			"преименувай cat.jpg в pictures на котка.jpg": `rename_files {"items":["pictures/cat.jpg"],"new_name":"котка.jpg"}`,
			"переименуй cat.jpg в pictures в кот.jpg":     `rename_files {"items":["pictures/cat.jpg"],"new_name":"кот.jpg"}`,
			"把pictures里的cat.jpg改名为猫.jpg":                  `rename_files {"items":["pictures/cat.jpg"],"new_name":"猫.jpg"}`,
			"rename invoice-* to bill-* in inbox":         `rename_files {"find":"invoice-","path":["inbox"],"pattern":["invoice-*"],"replace":"bill-"}`,
			"rename .jpg to .jpeg in pictures":            `rename_files {"extension":"jpeg","path":["pictures"],"pattern":["*.jpg"]}`,
			"rename *.jpg to *.jpeg in pictures":          `rename_files {"extension":"jpeg","path":["pictures"],"pattern":["*.jpg"]}`,
		},
		"text put before or behind names": {
			"add _old to every md file":              `rename_files {"pattern":["*.md"],"suffix":"_old"}`,
			"añade -viejo a los md de notes":         `rename_files {"path":["notes"],"pattern":["*.md"],"suffix":"-viejo"}`,
			"ajoute -vieux aux fichiers md de notes": `rename_files {"path":["notes"],"pattern":["*.md"],"suffix":"-vieux"}`,
			"add 2026_ to every file in documents":   `rename_files {"path":["documents"],"prefix":"2026_"}`,
		},
		"a folder that is emptied": {
			"empty the downloads folder":   `delete_files {"hidden":"include","kind":"both","path":["downloads"]}`,
			"empty the build/cache folder": `delete_files {"hidden":"include","kind":"both","path":["build/cache"]}`,
			"leere den ordner downloads":   `delete_files {"hidden":"include","kind":"both","path":["downloads"]}`,
			"vide le dossier downloads":    `delete_files {"hidden":"include","kind":"both","path":["downloads"]}`,
			"vacía la carpeta downloads":   `delete_files {"hidden":"include","kind":"both","path":["downloads"]}`,
			"изпразни папка downloads":     `delete_files {"hidden":"include","kind":"both","path":["downloads"]}`,
			"清空downloads文件夹":               `delete_files {"hidden":"include","kind":"both","path":["downloads"]}`,
			"опустоши папку downloads":     `delete_files {"hidden":"include","kind":"both","path":["downloads"]}`,
			"empty the notes folder":       `delete_files {"hidden":"include","kind":"both","path":["notes"]}`,
			"find the empty folders":       `find_files {"empty":true,"kind":"folders"}`,
			"lösche leere ordner":          `delete_files {"empty":true,"kind":"folders","path":["."]}`,
		},
		"kinds of archive": {
			"tar gz the logs folder to logs.tar.gz": `make_archive {"format":"tar.gz","items":["logs"],"output":"logs.tar.gz"}`,
		},
		"words of another language": {
			"quels fichiers font plus de 500 octets": `find_files {"min_size":"500"}`,
			"намери еднаквите файлове в pictures":    `find_duplicates {"path":["pictures"]}`,
		},
		"a folder wins over a kind": {
			"list documents":                                    `list_files {"path":["documents"]}`,
			"how big is documents":                              `folder_summary {"by":"total","path":["documents"]}`,
			"copy documents to backup":                          `copy_files {"dst":"backup","items":["documents"]}`,
			"zip documents without the csv files into docs.zip": `make_archive {"exclude":["*.csv"],"items":["documents"],"output":"docs.zip"}`,
			"copia documents a respaldo sin los csv":            `copy_files {"dst":"respaldo","exclude":["*.csv"],"items":["documents"]}`,
			"копирай documents в архив2":                        `copy_files {"dst":"архив2","items":["documents"]}`,
			"把documents复制到backup":                               `copy_files {"dst":"backup","items":["documents"]}`,
			"find documents":                                    `find_files {"file_type":["document"]}`,
			"list the documents":                                `list_files {"file_type":["document"]}`,
		},
		"folders that are named side by side": {
			"copy all pictures and music to usb":               `copy_files {"dst":"usb","file_type":["image","audio"],"src":["."]}`,
			"copy pictures and music to usb":                   `copy_files {"dst":"usb","items":["pictures","music"]}`,
			"copy inbox and downloads to backup":               `copy_files {"dst":"backup","items":["inbox","downloads"]}`,
			"copy everything in inbox and downloads to backup": `copy_files {"dst":"backup","src":["inbox","downloads"]}`,
			"pack notes and archive into both.zip":             `make_archive {"items":["notes","archive"],"output":"both.zip"}`,
			"pack archive and notes into both.zip":             `make_archive {"items":["archive","notes"],"output":"both.zip"}`,
			"zip notes, archive and logs to all.zip":           `make_archive {"items":["notes","archive","logs"],"output":"all.zip"}`,
			"move inbox and downloads to archive":              `move_files {"dst":"archive","items":["inbox","downloads"]}`,
		},
		"one of that name": {
			"unzip photos-from-ana.zip into pictures/ana":    `extract_archive {"dst":"pictures/ana","input":["downloads/photos-from-ana.zip"]}`,
			"entpacke photos-from-ana.zip nach pictures/ana": `extract_archive {"dst":"pictures/ana","input":["downloads/photos-from-ana.zip"]}`,
			"解压photos-from-ana.zip到pictures/ana":             `extract_archive {"dst":"pictures/ana","input":["downloads/photos-from-ana.zip"]}`,
			"find files newer than todo.txt":                 `find_files {"newer_than":"inbox/todo.txt"}`,
		},
		"one verb, two places": {
			"move all pdfs to documents and all images to pictures":             `move_files {"dst":"documents","pattern":["*.pdf"],"src":["."]}; move_files {"dst":"pictures","file_type":["image"],"src":["."]}`,
			"copy all pdfs to documents and all images to pictures":             `copy_files {"dst":"documents","pattern":["*.pdf"],"src":["."]}; copy_files {"dst":"pictures","file_type":["image"],"src":["."]}`,
			"verschiebe alle pdfs nach documents und alle bilder nach pictures": `move_files {"dst":"documents","pattern":["*.pdf"],"src":["."]}; move_files {"dst":"pictures","file_type":["image"],"src":["."]}`,
			"déplace les pdf vers documents et les images vers pictures":        `move_files {"dst":"documents","pattern":["*.pdf"],"src":["."]}; move_files {"dst":"pictures","file_type":["image"],"src":["."]}`,
			"mueve los pdf de inbox a documents y las fotos a pictures":         `move_files {"dst":"documents","pattern":["*.pdf"],"src":["inbox"]}; move_files {"dst":"pictures","file_type":["image"],"src":["inbox"]}`,
		},
		"lists of what lies below": {
			"list the newest 5 files":           `find_files {"limit":5,"order":"desc","sort":"modified"}`,
			"list files changed today":          `find_files {"modified_after":"2026-11-29"}`,
			"list the 3 smallest files":         `find_files {"limit":3,"order":"asc","sort":"size"}`,
			"list all files sorted by size":     `find_files {"order":"desc","sort":"size"}`,
			"show files modified yesterday":     `find_files {"modified_after":"2026-11-28","modified_before":"2026-11-29"}`,
			"list all pictures by date":         `find_files {"file_type":["image"],"order":"desc","sort":"modified"}`,
			"zeig die 5 neuesten dateien":       `find_files {"limit":5,"order":"desc","sort":"modified"}`,
			"muestra los 5 archivos más nuevos": `find_files {"limit":5,"order":"desc","sort":"modified"}`,
			"affiche les 5 plus gros fichiers":  `find_files {"limit":5,"order":"desc","sort":"size"}`,
			"покажи 5 най-новите файла":         `find_files {"limit":5,"order":"desc","sort":"modified"}`,
			"列出最新的5个文件":                         `find_files {"limit":5,"order":"desc","sort":"modified"}`,
			"list the pdfs in inbox":            `list_files {"path":["inbox"],"pattern":["*.pdf"]}`,
			"list the pdfs here":                `list_files {"path":["."],"pattern":["*.pdf"]}`,
			"list *.pdf":                        `list_files {"pattern":["*.pdf"]}`,
			"list all folders":                  `list_files {"kind":"folders"}`,
			"show all files in all folders":     `list_files {"recursive":true}`,
		},
		"a name that is all that is left": {
			"把music文件夹改名为音乐":                `rename_files {"items":["music"],"new_name":"音乐"}`,
			"把inbox文件夹改名为收件箱":               `rename_files {"items":["inbox"],"new_name":"收件箱"}`,
			"把inbox里的contract.pdf改名为合同.pdf": `rename_files {"items":["inbox/contract.pdf"],"new_name":"合同.pdf"}`,
			"把inbox和documents打包成work.zip":   `make_archive {"items":["inbox","documents"],"output":"work.zip"}`,
			"把inbox里的所有东西移到archive":         `move_files {"dst":"archive","src":["inbox"]}`,
		},
		"sorted into folders": {
			"ordena downloads en carpetas por tipo":         `organize_files {"by":"type","path":["downloads"]}`,
			"sortiere downloads in ordner nach typ":         `organize_files {"by":"type","path":["downloads"]}`,
			"range downloads dans des dossiers par type":    `organize_files {"by":"type","path":["downloads"]}`,
			"подреди downloads в папки по тип":              `organize_files {"by":"type","path":["downloads"]}`,
			"welche dateitypen gibt es in downloads":        `folder_summary {"by":"type","path":["downloads"]}`,
			"delete everything except the documents folder": `delete_files {"exclude":["documents"],"path":["."]}`,
		},
		"orders that go on": {
			"make a folder called receipts and move the invoices into it":  `make_folder {"paths":["receipts"]}; move_files {"dst":"receipts","pattern":["*invoice*"],"src":["."]}`,
			"copy logs to backup without the old folder":                   `copy_files {"dst":"backup","exclude":["old"],"items":["logs"]}`,
			"move invoice-2026-01.pdf to archive and rename it to jan.pdf": `move_files {"dst":"archive","src":["inbox/invoice-2026-01.pdf"]} → $found; rename_files {"items":"$found.paths","new_name":"jan.pdf"}`,
			"verschiebe song.mp3 nach music und benenne es in lied.mp3 um": `move_files {"dst":"music","src":["downloads/song.mp3"]} → $found; rename_files {"items":"$found.paths","new_name":"lied.mp3"}`,
			"create a folder old and move todo.txt into it":                `make_folder {"paths":["old"]}; move_files {"dst":"old","src":["inbox/todo.txt"]}`,
			"rename all files in inbox: replace invoice with bill":         `rename_files {"find":"invoice","path":["inbox"],"replace":"bill"}`,
			"rename all pdfs in inbox to start with 2026-":                 `rename_files {"path":["inbox"],"pattern":["*.pdf"],"prefix":"2026-"}`,
		},
		"what is there": {
			"top 3 folders by size":                           `folder_summary {"by":"folder","limit":3,"order":"desc","sort":"size"}`,
			"die 3 größten ordner":                            `folder_summary {"by":"folder","limit":3,"order":"desc","sort":"size"}`,
			"what types of files are in downloads":            `folder_summary {"by":"type","path":["downloads"]}`,
			"quels types de fichiers y a-t-il dans downloads": `folder_summary {"by":"type","path":["downloads"]}`,
			"show a tree of notes":                            `list_files {"path":["notes"],"recursive":true}`,
			"how much space do the pdfs take":                 `folder_summary {"pattern":["*.pdf"]}`,
			"do I have a contract?":                           `find_files {"pattern":["*contract*"]}`,
			"what did I change last":                          `find_files {"order":"desc","sort":"modified"}`,
		},
		"others": {
			"copy pictures into usb but leave out the pngs": `copy_files {"dst":"usb","exclude":["*.png"],"items":["pictures"]}`,
			"pack all md files as notes.tgz":                `make_archive {"output":"notes.tgz","path":["."],"pattern":["*.md"]}`,
			"unpack archive/notes-2024.zip here":            `extract_archive {"dst":".","input":["archive/notes-2024.zip"]}`,
			"把notes文件夹打包成笔记.zip":                            `make_archive {"items":["notes"],"output":"笔记.zip"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for in, want := range c {
				_, calls := b.ask(t, in)
				require.Equal(t, want, short(calls), in)
			}
		})
	}
}

// What no tool does, or what is open, is asked about and not done some other way.
func TestEverydayQuestions(t *testing.T) {
	b := fixtures(t)
	for in, want := range map[string]string{
		"what is inside downloads/source.tar.gz":           "archives",
		"show the contents of archive/notes-2024.zip":      "archives",
		"what's in downloads/photos-from-ana.zip?":         "archives",
		"was ist in downloads/source.tar.gz":               "archives",
		"extract only readme from downloads/source.tar.gz": "whole archives",
		"zip everything except the pictures into all.zip":  "folder",
		"are there duplicates of sea.png":                  "the same as one another",
		"which video is the longest":                       "how long",
		"zip each pdf in inbox":                            "one archive",
		"zippe jede pdf in inbox einzeln":                  "one archive",
		"move documents to archive":                        "folder",
		"delete pictures and music":                        "folders",
		"delete documents":                                 "folder",
		"zip the pictures":                                 "folder",
		"create archive/2026 and move invoices there":      "",
	} {
		t.Run(in, func(t *testing.T) {
			_, calls := b.ask(t, in)
			require.Equal(t, "clarify", calls[0].Tool, "%s", short(calls))
			require.Contains(t, calls[0].Args["question"], want)
		})
	}
}
