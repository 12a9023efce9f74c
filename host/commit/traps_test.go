package commit

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// traps are what went wrong when a stage and a commit were tried for the first
// time, each with the tests that hold it now, by room.
var traps = []struct{ trap, tests string }{
	{"Landlock does not cover modes, owners, times, attributes, flags, locks and leases; times are records, locks are of open files",
		"worker:TestTakenOverWorkerIsConfined worker:TestEachWallAlone sandbox:TestTimes stage:TestWritersSeeEachOther"},
	{"whether an operation is done cannot be told from an inode: it may have several names",
		"commit:TestKilledWithHardLinks"},
	{"a crash between capture and check loses the conflict",
		"commit:TestKilledAndEdited commit:TestKilledAtEveryPointOfGoingBack"},
	{"appending as a seek and a write loses lines between processes",
		"sandbox:TestParallelAppends"},
	{"origins, names and blobs are hostile: not canonical, hidden, twice, in a circle, links, FIFOs",
		"stage:TestHostileLogsAreRefused stage:FuzzReplay commit:TestHostileStages sandbox:TestBadStages"},
	{"a descriptor that a worker left open goes on writing into committed files",
		"commit:TestOpenWriterIsFound"},
	{"blobs carry modes, access lists and attributes; new files have the worker's mode; what replaces an executable is one",
		"commit:TestStageBlobsLoseTheirModes commit:TestReplacedFilesKeepModeOwnerAndLinks commit:TestSharedFoldersShareTheirGroup commit:TestAccessListsAreHandedOn"},
	{"guests merge hard links that a write parts; parting them is shown",
		"sandbox:TestHardLinksLookApart commit:TestReplacedFilesKeepModeOwnerAndLinks"},
	{"a conflict must be found without trusting the worker, by a coarse clock",
		"commit:TestConflicts commit:TestCommitAgainAfterGoingBack"},
	{"a deleted folder may hold a file that came later",
		"commit:TestConflicts commit:TestKilledAndEdited"},
	{"overlays refuse to rename folders on one device number, mounts inside the sandbox too",
		"commit:TestOverlay commit:TestMountInsideTheSandbox commit:TestOtherFileSystem"},
	{"after a commit the person's old files lie in the stage and undo data, which is not rubbish",
		"commit:TestCommittedRunsKeepTheirUndoData host:TestRunsAreRetained"},
	{"wazero: stale paths, lexical .., invalid UTF-8, cookies, times of folders, no ENOSPC, short listings, a panic on opening the root",
		"sandbox:TestOpenFilesSurvive sandbox:TestOddNames sandbox:TestNamesInOtherEncodings sandbox:TestListingWhileEntriesChange sandbox:TestTimes sandbox:TestQuotas sandbox:TestOpenFilesAreCapped"},
	{"a failed or short write of the log leaves memory ahead of the disk",
		"stage:TestFailedAppendGoesBack stage:TestTornTailIsCutOff sandbox:TestFullDisk sandbox:TestKilledWriter"},
	{"undo file by file needs closure: what stays keeps its folder",
		"commit:TestUndoRefusesFileByFile commit:TestUndoAgainTakesBackTheRest"},
	{"others see a commit in progress: a replaced file is never absent",
		"commit:TestAReplacedFileIsNeverAbsent"},
}

// TestTrapsAreHeld requires that every test named above is there: a trap whose
// test goes must get another.
func TestTrapsAreHeld(t *testing.T) {
	there := make(map[string]bool)
	named := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, room := range []string{"host", "commit", "sandbox", "stage", "worker"} {
		dir := filepath.Join("..", room)
		if room == "host" {
			dir = ".."
		}
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		for _, f := range files {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range named.FindAllStringSubmatch(string(b), -1) {
				there[room+":"+m[1]] = true
			}
		}
	}
	for _, trap := range traps {
		for name := range strings.FieldsSeq(trap.tests) {
			require.True(t, there[name], "no test %s: %s", name, trap.trap)
		}
	}
}
