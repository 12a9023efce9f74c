package commit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
)

// Run is the folder of one run: its stage, journal and undo data.
type Run struct {
	ID string
	// Dir is the run's folder in the state folder.
	Dir string
	// Data is the folder that holds stage and undo data: Dir, or a folder below
	// .stepbox in the sandbox when renames from Dir do not work.
	Data string
	// Sandbox is absolute, with no link in it.
	Sandbox string
	// Given is the sandbox as it was named, when that is a link to Sandbox;
	// else "". The person should be told.
	Given string
	Began time.Time
	// Undoes is the run that this one took back, or "".
	Undoes string

	ino  uint64 // of the sandbox
	lock *os.File
}

// Names in the state folder and in a run's folder there.
const (
	dirRuns    = "runs"
	dirPending = "pending"     // one empty file for each commit under way
	fileLock   = "commit.lock" // held by the one commit under way
	fileAlive  = "lock"        // held while the run's process lives
	fileRecord = "commit.json" // record
	fileTaken  = "undone."     // + id of the run that took this one back
)

// record is what a run's folder remembers of it.
type record struct {
	Sandbox string    `json:"sandbox"`
	Inode   uint64    `json:"inode"`
	Data    string    `json:"data"`
	Began   time.Time `json:"began"`
	Undoes  string    `json:"undoes,omitempty"`
}

// Begin makes the run's folders for a sandbox: checks the sandbox, finds out
// where a rename into it works, and records its identity. A commit that a
// crash interrupted is finished or taken back first. private are further
// folders of stepbox that no guest may see: a sandbox neither holds one nor
// lies in one. Errors: fault.Usage for a
// sandbox that is missing, no folder, or unreadable; fault.Refused for one that
// may not be one.
func Begin(ctx context.Context, state, sandbox string, private ...string) (*Run, error) {
	real, err := checkSandbox(sandbox, append(private, state))
	if err != nil {
		return nil, err
	}
	if state, err = makeState(state); err != nil {
		return nil, err
	}
	if err := settle(ctx, state, real); err != nil {
		return nil, err
	}
	r, err := makeRun(state, real, "")
	if err != nil {
		return nil, err
	}
	if abs, err := filepath.Abs(sandbox); err == nil && abs != real {
		r.Given = sandbox
	}
	return r, nil
}

// makeRun makes and locks the folders of a new run.
func makeRun(state, sandbox, undoes string) (*Run, error) {
	box, err := openRoot(sandbox)
	if err != nil {
		return nil, fault.New(fault.Usage, "sandbox %q cannot be read: %w", sandbox, err)
	}
	defer box.close()
	id, err := box.stat("")
	if err != nil {
		return nil, fault.New(fault.Usage, "sandbox %q cannot be read: %w", sandbox, err)
	}
	r := &Run{Sandbox: sandbox, ino: id.ino, Undoes: undoes}
	if err := r.makeFolders(state); err != nil {
		if r.Dir != "" {
			_ = r.remove()
		}
		if fault.NoRoom(err) {
			return nil, fault.New(fault.StepFailed, "make the run's folder in %q: the disk is full: %w", state, err).Hint("free some space, then run it again")
		}
		return nil, fault.New(fault.Internal, "make the run's folder in %q: %w", state, err)
	}
	return r, nil
}

func (r *Run) makeFolders(state string) error {
	for try := 0; r.Dir == ""; try++ {
		id := newID()
		dir := filepath.Join(state, dirRuns, id)
		switch err := os.Mkdir(dir, 0o700); {
		case err == nil:
			r.ID, r.Dir, r.Data = id, dir, dir
		case !errors.Is(err, fs.ErrExist) || try > 10:
			return err
		}
	}
	var err error
	if r.lock, err = lockFile(filepath.Join(r.Dir, fileAlive), true); err != nil {
		return err
	}
	same, err := sameMount(r.Dir, r.Sandbox)
	if err != nil {
		return err
	}
	if !same {
		r.keepTimes(func() {
			if data, err := makeHidden(r.Sandbox, r.ID); err == nil {
				r.Data = data
			}
		})
		// Else the stage lives in the state folder: the run can be shown, and
		// Apply says why it cannot be committed.
	}
	for _, d := range []string{nameStage, nameStage + "/b"} {
		if err := os.Mkdir(filepath.Join(r.Data, d), 0o700); err != nil {
			return err
		}
	}
	r.Began = tick().UTC()
	b, err := json.Marshal(record{Sandbox: r.Sandbox, Inode: r.ino, Data: r.Data, Began: r.Began, Undoes: r.Undoes})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.Dir, fileRecord), b, 0o600)
}

// keepTimes gives the sandbox's own times back after something was done to
// .stepbox in it: that is no change of the person's files.
func (r *Run) keepTimes(do func()) {
	box, err := openRoot(r.Sandbox)
	if err != nil {
		do()
		return
	}
	defer box.close()
	id, err := box.stat("")
	do()
	if err == nil {
		_ = box.setTimes("", id.atime, id.mtime)
	}
}

// makeHidden makes the folder of a run below .stepbox in the sandbox. It uses
// an existing .stepbox only when it is a real folder that is ours alone.
func makeHidden(sandbox, id string) (string, error) {
	hidden := filepath.Join(sandbox, abi.HiddenDir)
	if err := os.Mkdir(hidden, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if err := foreignHidden(sandbox); err != nil {
		return "", err
	}
	dir := filepath.Join(hidden, id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if same, err := sameMount(dir, sandbox); err != nil || !same {
		_ = os.Remove(dir)
		return "", errors.Join(err, errors.New("renames do not work inside the sandbox"))
	}
	return dir, nil
}

// foreignHidden says why the sandbox's .stepbox cannot be used; nil when it can,
// or is not there.
func foreignHidden(sandbox string) error {
	hidden := filepath.Join(sandbox, abi.HiddenDir)
	info, err := os.Lstat(hidden)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir() || !ownedByMe(info):
		return fmt.Errorf("%q is not a folder of this user alone", hidden)
	}
	return nil
}

// newID returns a name that sorts by time and cannot be guessed.
func newID() string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789"
	var b [5]byte
	_, _ = rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return time.Now().UTC().Format("20060102-150405-") + string(b[:])
}

func makeState(state string) (string, error) {
	abs, err := filepath.Abs(state)
	if err != nil {
		return "", fault.New(fault.Usage, "state folder %q: %w", state, err)
	}
	for _, d := range []string{abs, filepath.Join(abs, dirRuns), filepath.Join(abs, dirPending)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return "", fault.New(fault.Usage, "state folder %q cannot be made: %w", state, err).
				Hint("name another with XDG_STATE_HOME")
		}
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fault.New(fault.Usage, "state folder %q: %w", state, err)
	}
	return real, nil
}

// StageDir is the folder a worker may write to.
func (r *Run) StageDir() string { return filepath.Join(r.Data, nameStage) }

// Close says that the run's process has finished with it. It keeps the run.
func (r *Run) Close() error {
	if r.lock == nil {
		return nil
	}
	err := r.lock.Close()
	r.lock = nil
	return err
}

// Alive reports whether a process is still busy with the run.
func (r *Run) Alive() bool { return r.lock != nil || held(filepath.Join(r.Dir, fileAlive)) }

// Committed reports whether the run's changes were applied. UndoneBy says what
// took them back since.
func (r *Run) Committed() bool {
	_, err := os.Lstat(filepath.Join(r.Data, nameDone))
	return err == nil
}

// UndoneBy returns the runs that took changes of this one back, oldest first.
func (r *Run) UndoneBy() []string {
	names, _ := filepath.Glob(filepath.Join(r.Dir, fileTaken+"*"))
	for i, n := range names {
		names[i] = strings.TrimPrefix(filepath.Base(n), fileTaken)
	}
	sort.Strings(names)
	return names
}

// state is the folder that holds the run.
func (r *Run) state() string { return filepath.Dir(filepath.Dir(r.Dir)) }

// pending reports whether a commit of the run is under way or interrupted.
func (r *Run) pending() bool {
	_, err := os.Lstat(filepath.Join(r.state(), dirPending, r.ID))
	return err == nil
}
