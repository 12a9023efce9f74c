package stage

import (
	"errors"
	"fmt"
)

// Options of Replay.
type Options struct {
	// Partial leaves out the records of calls that were not sealed, and allows
	// the log to end inside a record: the writer may have been killed.
	Partial bool
	// Each is told of every record before it is applied, with the tree as it
	// is then; nil for none. Its error ends the replay.
	Each func(*Tree, Record) error
}

// Replay reads a whole log, as hostile data, and returns what it amounts to.
// Memory is bounded by a small multiple of the log's length.
func Replay(log []byte, o Options) (*Tree, error) {
	var sealed map[int]bool
	if o.Partial {
		sealed = map[int]bool{}
		err := scan(log, true, func(r Record) error {
			if r.Effects[0].Op == OpSeal {
				sealed[r.Call] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	t := NewTree()
	err := scan(log, o.Partial, func(r Record) error {
		if o.Partial && !sealed[r.Call] {
			return nil
		}
		if o.Each != nil {
			if err := o.Each(t, r); err != nil {
				return err
			}
		}
		return t.Apply(r)
	})
	if err != nil {
		return nil, err
	}
	return t, t.checkDepth()
}

// scan calls each with every record of a log.
func scan(log []byte, torn bool, each func(Record) error) error {
	if len(log) == 0 {
		return nil // a stage that nobody opened
	}
	if len(log) > MaxLog {
		return fmt.Errorf("log of %d bytes: the format allows %d", len(log), MaxLog)
	}
	if len(log) < len(header) || string(log[:len(header)]) != header {
		if torn && len(log) < len(header) && string(log) == header[:len(log)] {
			return nil
		}
		return errors.New("no stepbox stage of version 1")
	}
	for at := len(header); at < len(log); {
		r, n, err := nextRecord(log[at:])
		if errors.Is(err, errTorn) && torn {
			return nil
		}
		if err == nil {
			err = each(r)
		}
		if err != nil {
			return fmt.Errorf("stage log at byte %d: %w", at, err)
		}
		at += n
	}
	return nil
}
