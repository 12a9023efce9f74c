package commit

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"context"

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
// crash interrupted is finished or taken back first. Errors: fault.Usage for a
// sandbox that is missing, no folder, or unreadable; fault.Refused for one that
// may not be one.
func Begin(ctx context.Context, state, sandbox string) (*Run, error) {
	state, err := makeState(state)
	if err != nil {
		return nil, err
	}
	real, err := checkSandbox(state, sandbox)
	if err != nil {
		return nil, err
	}
	if err := Recover(ctx, state); err != nil {
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
			_ = Remove(r)
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
		if data, err := makeHidden(r.Sandbox, r.ID); err == nil {
			r.Data = data
		}
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

// makeHidden makes the folder of a run below .stepbox in the sandbox. It uses
// an existing .stepbox only when it is a real folder that is ours alone.
func makeHidden(sandbox, id string) (string, error) {
	hidden := filepath.Join(sandbox, abi.HiddenDir)
	if err := os.Mkdir(hidden, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(hidden)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || !ownedByMe(info) {
		return "", fmt.Errorf("%q is not a folder of this user alone", hidden)
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

// checkSandbox returns the sandbox with its links resolved, once.
func checkSandbox(state, sandbox string) (string, error) {
	abs, err := filepath.Abs(sandbox)
	if err != nil {
		return "", fault.New(fault.Usage, "sandbox %q: %w", sandbox, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(fault.Usage, "sandbox %q does not exist", sandbox).Hint("make it, or name another with --sandbox DIR")
	}
	if err != nil {
		return "", fault.New(fault.Usage, "sandbox %q cannot be read: %w", sandbox, err)
	}
	info, err := os.Lstat(real)
	switch {
	case err != nil:
		return "", fault.New(fault.Usage, "sandbox %q cannot be read: %w", sandbox, err)
	case !info.IsDir():
		return "", fault.New(fault.Usage, "sandbox %q is not a folder", sandbox).Hint("name a folder with --sandbox DIR")
	}
	if err := mayBeSandbox(state, sandbox, real); err != nil {
		return "", err
	}
	names, err := os.ReadDir(real)
	if err != nil {
		return "", fault.New(fault.Usage, "sandbox %q cannot be read: %w", sandbox, err)
	}
	for _, n := range names {
		if strings.EqualFold(n.Name(), abi.SkillDir) || strings.EqualFold(n.Name(), abi.TmpDir) {
			return "", fault.New(fault.Refused, "sandbox %q holds %q, a name that stepbox uses itself", sandbox, n.Name()).
				Hint("rename it, or name another folder with --sandbox DIR")
		}
		if strings.EqualFold(n.Name(), abi.HiddenDir) && !n.IsDir() {
			return "", fault.New(fault.Refused, "sandbox %q holds %q, which is no folder of stepbox", sandbox, n.Name()).
				Hint("rename it, or name another folder with --sandbox DIR")
		}
	}
	return real, nil
}

// mayBeSandbox refuses folders in which a mistake costs too much, and those
// that would show stepbox's own state to a guest.
func mayBeSandbox(state, given, real string) error {
	hint := "name the folder the request is about with --sandbox DIR"
	if real == string(filepath.Separator) || filepath.VolumeName(real) != "" && len(real) <= len(filepath.VolumeName(real))+1 {
		return fault.New(fault.Refused, "sandbox %q is the whole file system", given).Hint("%s", hint)
	}
	homes := []string{os.Getenv("HOME")}
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		homes = append(homes, u.HomeDir)
	}
	for i, home := range homes {
		if home == "" || home == "/" {
			continue
		}
		if h, err := filepath.EvalSymlinks(home); err == nil {
			home = h
		}
		if real == home || i > 0 && within(real, home) {
			return fault.New(fault.Refused, "sandbox %q is or holds your whole home folder", given).Hint("%s", hint)
		}
	}
	if within(real, state) || within(state, real) {
		return fault.New(fault.Refused, "sandbox %q and stepbox's state folder %q lie one in the other", given, state).
			Hint("name another folder with --sandbox DIR, or another state folder with XDG_STATE_HOME")
	}
	return nil
}

// within reports whether path is dir or lies below it; both are clean.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
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

// Committed reports whether the run's changes were applied, and not all of
// them have been taken back since.
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

// Size is what the run keeps on disk, in bytes.
func (r *Run) Size() int64 {
	var n int64
	dirs := []string{r.Dir}
	if r.Data != r.Dir {
		dirs = append(dirs, r.Data)
	}
	for _, d := range dirs {
		_ = filepath.WalkDir(d, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // what vanishes meanwhile counts nothing
			}
			if info, err := e.Info(); err == nil {
				n += blocks(info)
			}
			return nil
		})
	}
	return n
}

// Open finds an earlier run by its id, or by the only id that begins so. Its
// error is fault.Usage when there is none or more than one.
func Open(state, id string) (*Run, error) {
	if id == "" || strings.ContainsAny(id, "/\\\x00") || strings.HasPrefix(id, ".") {
		return nil, fault.New(fault.Usage, "%q is no run id", id).Hint("stepbox runs list shows them")
	}
	dir := filepath.Join(state, dirRuns)
	if _, err := os.Lstat(filepath.Join(dir, id)); err != nil {
		var found []string
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), id) {
				found = append(found, e.Name())
			}
		}
		switch len(found) {
		case 0:
			return nil, fault.New(fault.Usage, "there is no run %q", id).Hint("stepbox runs list shows them")
		case 1:
			id = found[0]
		default:
			return nil, fault.New(fault.Usage, "%q could be any of %d runs: %s", id, len(found), strings.Join(found, ", ")).
				Hint("give more of the id")
		}
	}
	return openRun(filepath.Join(dir, id), id)
}

func openRun(dir, id string) (*Run, error) {
	b, err := os.ReadFile(filepath.Join(dir, fileRecord))
	if err != nil {
		return nil, fault.New(fault.Internal, "run %q is damaged: %w", id, err).Hint("stepbox runs prune removes it")
	}
	var rec record
	if err := json.Unmarshal(b, &rec); err != nil || !filepath.IsAbs(rec.Sandbox) || !filepath.IsAbs(rec.Data) {
		return nil, fault.New(fault.Internal, "run %q is damaged: %s does not read", id, fileRecord).Hint("stepbox runs prune removes it")
	}
	return &Run{
		ID: id, Dir: dir, Data: rec.Data, Sandbox: rec.Sandbox, Began: rec.Began,
		Undoes: rec.Undoes, ino: rec.Inode,
	}, nil
}

// List returns all runs, newest first. Damaged ones have nothing but an ID and
// a Dir, which is enough for Remove.
func List(state string) ([]*Run, error) {
	entries, err := os.ReadDir(filepath.Join(state, dirRuns))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "list runs: %w", err)
	}
	var list []*Run
	for i := len(entries) - 1; i >= 0; i-- {
		if !entries[i].IsDir() {
			continue
		}
		id := entries[i].Name()
		dir := filepath.Join(state, dirRuns, id)
		r, err := openRun(dir, id)
		if err != nil {
			r = &Run{ID: id, Dir: dir, Data: dir}
		}
		list = append(list, r)
	}
	return list, nil
}

// Discard throws a run's stage away. A committed run keeps its undo data until
// it is removed.
func Discard(r *Run) error {
	if r.Committed() || r.pending() {
		return nil
	}
	if err := removeTree(r.StageDir()); err != nil {
		return fault.New(fault.Internal, "discard the stage of run %q: %w", r.ID, err)
	}
	r.removeHidden()
	return nil
}

// Remove removes a run with all it keeps; it cannot be undone any more. A run
// that is alive, or in the middle of a commit, is refused (fault.Refused).
func Remove(r *Run) error {
	switch {
	case r.lock == nil && r.Alive():
		return fault.New(fault.Refused, "run %q is still running", r.ID)
	case r.pending():
		return fault.New(fault.Refused, "run %q is in the middle of a commit", r.ID)
	}
	_ = r.Close()
	var err error
	if r.Data != r.Dir {
		err = removeTree(r.Data)
		_ = os.Remove(filepath.Dir(r.Data)) // .stepbox, when it was the last
	}
	if err = errors.Join(err, removeTree(r.Dir)); err != nil {
		return fault.New(fault.Internal, "remove run %q: %w", r.ID, err)
	}
	return nil
}

// removeHidden removes the data folder in the sandbox once nothing is in it.
func (r *Run) removeHidden() {
	if r.Data != r.Dir {
		_ = os.Remove(filepath.Join(r.Data, nameUndo))
		_ = os.Remove(r.Data)
		_ = os.Remove(filepath.Dir(r.Data))
	}
}

// removeTree removes a folder even when something in it was made unwritable.
func removeTree(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// state is the folder that holds the run.
func (r *Run) state() string { return filepath.Dir(filepath.Dir(r.Dir)) }

// pending reports whether a commit of the run is under way or interrupted.
func (r *Run) pending() bool {
	_, err := os.Lstat(filepath.Join(r.state(), dirPending, r.ID))
	return err == nil
}
