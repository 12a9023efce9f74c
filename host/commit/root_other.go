//go:build !linux

package commit

import (
	"io/fs"
	"os"
	"time"
)

// root is what root_linux.go describes; here nothing opens.
type root struct {
	f   *os.File
	dev uint64
}

func openRoot(string) (*root, error) { return nil, errUnsupported }

func (r *root) close()                                   {}
func (r *root) hold()                                    {}
func (r *root) release()                                 {}
func (r *root) stat(string) (identity, error)            { return identity{}, errUnsupported }
func (r *root) rename(string, *root, string, bool) error { return errUnsupported }
func (r *root) setTimes(string, int64, int64) error      { return errUnsupported }
func (r *root) setMode(string, uint32) error             { return errUnsupported }
func (r *root) names(string) ([]string, error)           { return nil, errUnsupported }
func (r *root) readlink(string) (string, error)          { return "", errUnsupported }
func (r *root) openFile(string) (*os.File, error)        { return nil, errUnsupported }
func (r *root) mkdir(string, uint32) error               { return errUnsupported }
func (r *root) symlink(string, string) error             { return errUnsupported }
func (r *root) remove(string) error                      { return errUnsupported }
func (r *root) syncOrdered() error                       { return errUnsupported }
func (r *root) legacy(string) legacy                     { return legacy{} }
func (r *root) inherit(*item, legacy) error              { return errUnsupported }
func (r *root) syncAll() error                           { return errUnsupported }
func (r *root) punch(string, []span) error               { return errUnsupported }
func (e *engine) adopt(*os.File, *item) uint32           { return 0o600 }
func statFile(*os.File) (identity, error)                { return identity{}, errUnsupported }
func noWriter(*os.File) error                            { return errUnsupported }
func strip(*os.File) error                               { return errUnsupported }
func nextData(_ *os.File, at int64) int64                { return at }
func lockFile(string, bool) (*os.File, error)            { return nil, errUnsupported }
func sameMount(string, string) (bool, error)             { return false, errUnsupported }
func held(string) bool                                   { return false }
func tick() time.Time                                    { return time.Now() }
func mayWrite(string) error                              { return nil }
func umask() uint32                                      { return 0o077 }
func ownedByMe(fs.FileInfo) bool                         { return false }
func fileMode(mode uint32) fs.FileMode                   { return fs.FileMode(mode & 0o777) }
func blocks(info fs.FileInfo) int64                      { return info.Size() }
func isMissing(error) bool                               { return false }
func isTaken(error) bool                                 { return false }

var errOtherMount = errUnsupported

func isOtherMount(error) bool { return false }
func isReadOnly(error) bool   { return false }
