package stage

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
)

// record is a record of call 0 in write mode.
func record(effects ...Effect) Record {
	return Record{Mode: abi.ModeWrite, Time: 7, Effects: effects}
}

func folder(id ID, origin string) Effect {
	return Effect{Op: OpNode, ID: id, Kind: Folder, HasOrigin: true, Origin: Origin{Path: origin, Dev: 1, Ino: uint64(id)}}
}

func file(id ID, origin string) Effect {
	e := folder(id, origin)
	e.Kind = File
	return e
}

func entry(parent ID, name string, id ID, hides bool) Effect {
	return Effect{Op: OpEntry, Parent: parent, Name: name, ID: id, Hides: hides}
}

func encode(t testing.TB, records ...Record) []byte {
	log := []byte(header)
	for _, r := range records {
		var err error
		log, err = appendRecord(log, r)
		require.NoError(t, err)
	}
	return log
}

// moved is a log that moves a/x to b and makes a file n in the folder d.
func moved(t testing.TB) []byte {
	return encode(t,
		record(folder(2, "a"), entry(Root, "a", 2, true)),
		record(file(3, "a/x"), entry(2, "x", 0, true), entry(Root, "b", 3, false)),
		record(Effect{Op: OpNode, ID: 4, Kind: Folder}, entry(Root, "d", 4, false)),
		record(Effect{Op: OpNode, ID: 5, Kind: File}, Effect{Op: OpContent, ID: 5, Blob: 6},
			Effect{Op: OpTimes, ID: 5, Atime: -1, Mtime: Own}, entry(4, "n", 5, false)),
		Record{Call: 0, Effects: []Effect{{Op: OpSeal}}},
		Record{Call: 1, Mode: abi.ModeWrite, Effects: []Effect{entry(4, "n", 0, false), {Op: OpDies, ID: 5}}},
	)
}

func TestReplayBuildsTheTree(t *testing.T) {
	var calls []int
	tree, err := Replay(moved(t), Options{Each: func(_ *Tree, r Record) error {
		calls = append(calls, r.Call)
		return nil
	}})
	require.NoError(t, err)
	require.Equal(t, []int{0, 0, 0, 0, 0, 1}, calls)
	require.Equal(t, "b", tree.ByOrigin("a/x").Path())
	require.False(t, tree.ByOrigin("a/x").InPlace())
	require.True(t, tree.ByOrigin("a").InPlace())
	require.True(t, tree.Node(5).Dead)
	require.Equal(t, ID(6), tree.Node(5).Blob)
	require.Equal(t, 1, tree.Made())
	require.True(t, tree.Sealed(0))
	require.False(t, tree.Sealed(1))
}

// A failed call must not take what sealed calls made with it.
func TestPartialKeepsOnlySealedCalls(t *testing.T) {
	log := moved(t)
	for _, cut := range []int{0, 1, 9} {
		tree, err := Replay(log[:len(log)-cut], Options{Partial: true})
		require.NoError(t, err)
		require.False(t, tree.Node(5).Dead)
		require.Equal(t, "d/n", tree.Node(5).Path())
	}
	_, err := Replay(log[:len(log)-1], Options{})
	require.ErrorIs(t, err, errTorn)
}

func TestHostileLogsAreRefused(t *testing.T) {
	made := Effect{Op: OpNode, ID: 2, Kind: Folder}
	inPlace := []Effect{folder(2, "a"), entry(Root, "a", 2, true)}
	cases := map[string][]Record{
		"name with a slash":         {record(made, entry(Root, "x/y", 2, false))},
		"name dot dot":              {record(made, entry(Root, "..", 2, false))},
		"empty name":                {record(made, entry(Root, "", 2, false))},
		"name with NUL":             {record(made, entry(Root, "x\x00", 2, false))},
		"name in invalid UTF-8":     {record(made, entry(Root, "\xff", 2, false))},
		"hidden folder":             {record(made, entry(Root, ".StepBox", 2, false))},
		"hidden folder, long s":     {record(made, entry(Root, ".ſtepbox", 2, false))},
		"reserved first name":       {record(made, entry(Root, "@skill", 2, false))},
		"origin of the undo store":  {record(folder(2, ".stepbox/undo"), entry(Root, "x", 2, false))},
		"origin with dot dot":       {record(folder(2, "d/../d"), entry(Root, "x", 2, false))},
		"absolute origin":           {record(folder(2, "/etc"), entry(Root, "x", 2, false))},
		"origin that is not hidden": {record(folder(2, "a"), entry(Root, "x", 2, false))},
		"origin below an unhidden":  {record(folder(2, "a/b"), entry(Root, "x", 2, false))},
		"one origin twice":          {record(append(inPlace, folder(3, "a"), entry(2, "x", 3, false))...)},
		"number used twice":         {record(inPlace...), record(Effect{Op: OpNode, ID: 2, Kind: File}, entry(Root, "x", 2, false))},
		"blob number used twice":    {record(Effect{Op: OpNode, ID: 2, Kind: File}, Effect{Op: OpContent, ID: 2, Blob: 2}, entry(Root, "x", 2, false))},
		"root defined again":        {record(Effect{Op: OpNode, ID: Root, Kind: Folder})},
		"unknown kind":              {record(Effect{Op: OpNode, ID: 2, Kind: 4}, entry(Root, "x", 2, false))},
		"no place":                  {record(made)},
		"two places":                {record(made, entry(Root, "x", 2, false), entry(Root, "y", 2, false))},
		"inside itself":             {record(inPlace...), record(entry(Root, "a", 0, true), entry(2, "x", 2, false))},
		"folder with content":       {record(made, Effect{Op: OpContent, ID: 2, Blob: 3}, entry(Root, "x", 2, false))},
		"entry in a file":           {record(Effect{Op: OpNode, ID: 2, Kind: File}, entry(Root, "x", 2, false), entry(2, "y", 0, false))},
		"death in place":            {record(append(inPlace, Effect{Op: OpDies, ID: 2})...)},
		"death of the root":         {record(Effect{Op: OpDies, ID: Root})},
		"death of a full folder":    {record(made, entry(Root, "d", 2, false), Effect{Op: OpNode, ID: 3, Kind: File}, entry(2, "f", 3, false)), record(entry(Root, "d", 0, false), Effect{Op: OpDies, ID: 2})},
		"shown again":               {record(inPlace...), record(entry(Root, "a", 0, false), Effect{Op: OpDies, ID: 2})},
		"hides in a new folder":     {record(made, entry(Root, "d", 2, false), entry(2, "x", 0, true))},
		"link without a target":     {record(Effect{Op: OpNode, ID: 2, Kind: Link}, entry(Root, "x", 2, false))},
		"seal among others":         {record(Effect{Op: OpSeal}, made)},
		"seal in the middle":        {record(made, Effect{Op: OpSeal})},
		"after the seal":            {record(Effect{Op: OpSeal}), record(inPlace...)},
		"calls backwards":           {{Call: 2, Effects: inPlace}, {Call: 1, Effects: []Effect{{Op: OpSeal}}}},
		"unknown mode":              {{Mode: 9, Effects: inPlace}},
		"no effects":                {{Mode: abi.ModeWrite}},
	}
	for name, records := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Replay(encode(t, records...), Options{})
			require.Error(t, err)
		})
	}
}

// A folder moved under a deep one must not make a tree that nobody can walk.
func TestTreesTooDeepAreRefused(t *testing.T) {
	var records []Record
	id := ID(2)
	chain := func(parent ID, n int) (first, last ID) {
		first = id
		for range n {
			records = append(records, record(Effect{Op: OpNode, ID: id, Kind: Folder}, entry(parent, "d", id, false)))
			parent, id = id, id+1
		}
		return first, parent
	}
	_, deep := chain(Root, 800)
	records = append(records, record(Effect{Op: OpNode, ID: id, Kind: Folder}, entry(Root, "e", id, false)))
	other := id
	id++
	chain(other, 800)
	_, err := Replay(encode(t, records...), Options{})
	require.NoError(t, err)
	records = append(records, record(entry(Root, "e", 0, false), entry(deep, "e", other, false)))
	_, err = Replay(encode(t, records...), Options{})
	require.ErrorContains(t, err, "folders deep")
}

func TestDamagedLogsAreRefused(t *testing.T) {
	log := moved(t)
	for i := range log {
		bad := bytes.Clone(log)
		bad[i] ^= 0x20
		_, err := Replay(bad, Options{})
		require.Error(t, err, "byte %d", i)
	}
	tree, err := Replay(nil, Options{})
	require.NoError(t, err)
	require.Len(t, tree.Nodes(), 1)
}

// frame frames a payload that no encoder made.
func frame(payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(header), uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	return append(b, payload...)
}

func TestDeclaredLengthsAreChecked(t *testing.T) {
	huge := strings.Repeat("\xff", 8) + "\x7f"
	for name, payload := range map[string]string{
		"string longer than the record": "\x00\x03\x00" + "\x04\x01\xf0\x01",
		"number in a long spelling":     "\x00\x03\x00" + "\x05\x82\x00",
		"number beyond the bound":       "\x00\x03\x00" + "\x05" + huge,
		"flag 2":                        "\x00\x03\x00" + "\x01\x02\x02\x02",
		"unknown effect":                "\x00\x03\x00" + "\x63",
		"cut off":                       "\x00\x03\x00" + "\x01\x02",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Replay(frame([]byte(payload)), Options{})
			require.Error(t, err)
			require.NotErrorIs(t, err, errTorn)
		})
	}
	_, err := Replay(append([]byte(header), "\xff\xff\xff\xff    "...), Options{})
	require.ErrorContains(t, err, "the format allows")
}

// FuzzReplay: no input makes the reader panic, and what it accepts has exactly
// one form.
func FuzzReplay(f *testing.F) {
	f.Add(moved(f))
	f.Add(moved(f)[:40])
	f.Add(frame([]byte("\x00\x03\x00\x06")))
	f.Fuzz(func(t *testing.T, log []byte) {
		// A fuzzer cannot guess checksums: set them right.
		log = bytes.Clone(log)
		for at := len(header); at+frameBytes <= len(log); {
			n := int(binary.LittleEndian.Uint32(log[at:]))
			if n < 0 || n > len(log)-at-frameBytes {
				break
			}
			binary.LittleEndian.PutUint32(log[at+4:], crc32.Checksum(log[at+frameBytes:at+frameBytes+n], castagnoli))
			at += frameBytes + n
		}
		again := []byte(header)
		_, err := Replay(log, Options{Each: func(_ *Tree, r Record) (err error) {
			again, err = appendRecord(again, r)
			return err
		}})
		if err == nil && len(log) > 0 {
			require.Equal(t, log, again)
		}
		_, _ = Replay(log, Options{Partial: true})
	})
}
