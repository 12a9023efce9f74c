// Command files is the guest of the files skill: it finds, lists, moves,
// copies, renames, deletes, packs and organizes files in one folder. It is
// built as a WebAssembly module; natively it does nothing.
package main

import (
	_ "time/tzdata" // dates are those of the person's zone, and a module has no other table

	"stepbox.dev/guest-sdk"
)

var served = guest.Serve(guest.Skill{Tools: []guest.Tool{
	guest.Intent("list_files", expandLook).Summary(listSummary),
	guest.Intent("find_files", expandLook).Summary(findSummary),
	guest.Intent("folder_summary", expandSummary).Summary(summarySummary),
	guest.Intent("find_duplicates", expandDuplicates).Summary(duplicatesSummary),
	guest.Step("move_files", moveFiles).Summary(transferSummary("move")).Format(formatMoves("moved")),
	guest.Step("copy_files", copyFiles).Summary(transferSummary("copy")).Format(formatMoves("copied")),
	guest.Step("delete_files", deleteFiles).Summary(deleteSummary).Format(formatDeleted),
	guest.Step("rename_files", renameFiles).Summary(renameSummary).Format(formatMoves("renamed")),
	guest.Step("make_folder", makeFolders).Summary(foldersSummary).Format(formatFolders),
	guest.Intent("make_archive", expandArchive).Summary(archiveSummary),
	guest.Intent("extract_archive", expandExtract).Summary(extractSummary),
	guest.Intent("organize_files", expandOrganize).Summary(organizeSummary),

	guest.Step("scan_files", scan).Format(formatListing),
	guest.Step("measure_files", measure).Format(formatSummary),
	guest.Step("compare_files", compare).Format(formatDuplicates),
	guest.Step("save_list", saveList).Format(formatSaved),
	guest.Step("pack_files", packFiles).Format(formatPacked),
	guest.Step("unpack_files", unpackFiles).Format(formatExtracted),
	guest.Step("arrange_files", arrangeFiles).Format(formatMoves("moved")),
}})

func main() {}
