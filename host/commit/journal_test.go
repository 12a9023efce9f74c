package commit

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func someJournal() *journal {
	items := []item{
		{kind: isFile, from: "a", to: "b\xff", was: identity{kind: isFile, dev: 1, ino: math.MaxUint64, size: 3, mtime: -1, ctime: math.MaxInt64, atime: math.MinInt64, mode: 0o644, uid: math.MaxUint32, gid: 5, links: 2}},
		{kind: isFolder, to: "d", home: "undo/x", times: true, new: stamps{1, 2}, old: stamps{3, 4}},
		{kind: isLink, from: "l", fetch: "undo/7", undoes: 8},
		{kind: isFile, from: "t", to: "t", touch: true},
	}
	return &journal{run: "r", sandbox: "/s", ino: 9, undoes: "u", source: "/d", items: items, ops: order(items),
		dirs: []dirTimes{{"", stamps{5, 6}}}, set: []dirTimes{{"d", stamps{7, 8}}}}
}

func TestJournalComesBackAsItWas(t *testing.T) {
	j := someJournal()
	got, err := decodeJournal(j.encode())
	require.NoError(t, err)
	require.Equal(t, j, got)
	a := &aftermath{items: []identity{j.items[0].was, {}}, dirs: []int64{-5}}
	back, err := decodeAftermath(a.encode())
	require.NoError(t, err)
	require.Equal(t, a, back)
}

func TestDamagedJournalsAreRefused(t *testing.T) {
	whole := someJournal().encode()
	for i := range whole {
		cut := whole[:i]
		_, err := decodeJournal(cut)
		require.Error(t, err, "cut at %d", i)
		flipped := append([]byte(nil), whole...)
		flipped[i] ^= 0x40
		_, err = decodeJournal(flipped)
		require.Error(t, err, "changed at %d", i)
		// A body that is wrong under a right checksum.
		if body := len(journalMagic) + 32; i >= body {
			_, err = decodeJournal(seal(journalMagic, whole[body:i]))
			require.Error(t, err, "cut and sealed at %d", i)
		}
	}
	_, err := decodeJournal(append(append([]byte(nil), whole...), 0))
	require.Error(t, err)
}

func FuzzJournal(f *testing.F) {
	j := someJournal().encode()
	f.Add(j[len(journalMagic)+32:])
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, body []byte) {
		sealed := seal(journalMagic, body)
		if j, err := decodeJournal(sealed); err == nil {
			require.Equal(t, sealed, j.encode())
		}
		sealed = seal(aftermathMagic, body)
		if a, err := decodeAftermath(sealed); err == nil {
			require.Equal(t, sealed, a.encode())
		}
	})
}
