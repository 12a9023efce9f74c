package admission

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scan ends without a panic, allocates in proportion to what it read and not
// to what that declares, and what it accepts is complete: without its last
// byte it is refused.
func FuzzScan(f *testing.F) {
	f.Add([]byte(header))
	f.Add(function(0, 0x02, 0x40, 0x41, 0, 0x0e, 1, 0, 0, 0x0b, 0x0b))
	f.Add(function(1, 2, 0x7f, 0xfd, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x1a, 0xfc, 10, 0, 0, 0x0b))
	f.Add(imports("wasi_snapshot_preview1", "fd_write"))
	f.Add(module(section(2, 0xff, 0xff, 0xff, 0xff, 0x0f)))
	f.Add(module(section(0, join([]byte{4}, []byte("name"), []byte{1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f})...)))
	f.Add(module(section(4, 1, 0x70, 0, 1), section(5, 1, 0, 1), section(9, 1, 0, 0x41, 0, 0x0b, 0), section(11, 1, 1, 1, 'x')))
	f.Fuzz(func(t *testing.T, in []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := Scan(in)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<10+64*len(in)))
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(m.Imports)+len(m.Exports), len(in))
		_, err = Scan(in[:len(in)-1])
		require.Error(t, err)
	})
}
