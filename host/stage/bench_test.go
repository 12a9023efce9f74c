package stage

import (
	"fmt"
	"testing"
)

// BenchmarkReplay reads what moving ten thousand files leaves, as every start of
// a worker and every commit does.
func BenchmarkReplay(b *testing.B) {
	records := []Record{
		record(folder(2, "in"), entry(Root, "in", 2, true)),
		record(Effect{Op: OpNode, ID: 3, Kind: Folder}, entry(Root, "out", 3, false)),
	}
	for i := range 10_000 {
		id, name := ID(4+i), fmt.Sprintf("photo-%05d.jpg", i)
		records = append(records, record(file(id, "in/"+name), entry(2, name, 0, true), entry(3, name, id, false)))
	}
	log := encode(b, records...)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Replay(log, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
