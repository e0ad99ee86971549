package unwind

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
)

const mapsText = `55cdd0c9a000-55cdd0c9c000 r--p 00000000 fd:00 1573092 /usr/bin/cat
55cdd0c9c000-55cdd0ca1000 r-xp 00002000 fd:00 1573092 /usr/bin/a cat
7f0000000000-7f0000001000 rwxp 00000000 00:00 0
7f0000002000-7f0000001000 r-xp 00000000 00:00 0 /backwards
7ffc1b5d8000-7ffc1b5da000 r-xp 00000000 00:00 0                  [vdso]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]
garbage
`

// TestProcess: what /proc tells of a process is what it has mapped that can be run.
func TestProcess(t *testing.T) {
	p := &process{}
	p.read([]byte(mapsText))
	want := []mapping{{0x55cdd0c9c000, 0x55cdd0ca1000, 0x2000, 1573092, "/usr/bin/a cat"},
		{0x7f0000000000, 0x7f0000001000, 0, 0, ""},
		{0x7ffc1b5d8000, 0x7ffc1b5da000, 0, 0, "[vdso]"}}
	if !slices.Equal(p.maps, want) {
		t.Errorf("%+v, want %+v", p.maps, want)
	}
	self, err := look(os.Getpid())
	if err != nil || len(self.maps) == 0 || self.stack == 0 || self.code == 0 {
		t.Errorf("%+v %v", self, err)
	}
	if _, err := look(1 << 30); err == nil {
		t.Error("a process that is not there")
	}
}

// TestRoom: room is given out once, and all of it comes back.
func TestRoom(t *testing.T) {
	tb := &Tables{free: []area{{0, 1000}}}
	rnd := rand.New(rand.NewPCG(3, 4))
	var held []area
	for range 300 {
		if n := 1 + rnd.IntN(60); rnd.IntN(3) > 0 {
			a, ok := tb.take(n)
			if !ok {
				continue
			}
			for _, h := range held {
				if a.first < h.first+h.count && h.first < a.first+a.count {
					t.Fatalf("%v and %v overlap", a, h)
				}
			}
			held = append(held, a)
		} else if len(held) > 0 {
			i := rnd.IntN(len(held))
			tb.give(held[i])
			held = slices.Delete(held, i, i+1)
		}
	}
	tb.give(held...)
	if len(tb.free) != 1 || tb.free[0] != (area{0, 1000}) {
		t.Errorf("%v is free", tb.free)
	}
}

// TestEnter: the maps have what a process has mapped, and nothing of one that has ended.
func TestEnter(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("maps need root")
	}
	make1 := func(m kern.Map) int {
		fd, err := kern.MapCreate(&m)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { kern.Close(fd) })
		return fd
	}
	one := func(size int) int {
		return make1(kern.Map{Type: 2, KeySize: 4, ValueSize: uint32(size), Entries: 1, Flags: kern.FlagMmapable})
	}
	m := Maps{Rows: one(8 * plan.MaxRows), Ranges: one(plan.RangeSize * plan.MaxRanges),
		Procs:   make1(kern.Map{Type: 1, KeySize: 4, ValueSize: plan.ProcSize, Entries: plan.MaxProcs}),
		Changed: make1(kern.Map{Type: 1, KeySize: 4, ValueSize: 8, Entries: plan.MaxProcs}),
		Files:   make1(kern.Map{Type: 1, KeySize: plan.FileKey, ValueSize: plan.FileSize, Entries: plan.MaxFiles}),
		Wanted:  make1(kern.Map{Type: 27, Entries: plan.WantedSize})}
	var looking atomic.Uint32
	tb, err := Open(m, &looking, "", t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer tb.Close()
	pid := os.Getpid()
	if err := tb.Enter(pid); err != nil {
		t.Fatal(err)
	}
	val := make([]byte, plan.ProcSize)
	if err := kern.Lookup(m.Procs, procKey(pid), val); err != nil {
		t.Fatal(err)
	}
	first, count := binary.NativeEndian.Uint32(val), binary.NativeEndian.Uint32(val[plan.ProcCount:])
	if count == 0 {
		t.Fatal("no ranges")
	}
	last := uint64(0)
	for i := first; i < first+count; i++ {
		r := tb.ranges[i*plan.RangeSize:]
		start, end := binary.NativeEndian.Uint64(r), binary.NativeEndian.Uint64(r[plan.RangeEnd:])
		if start < last || end <= start {
			t.Errorf("%#x-%#x behind %#x", start, end, last)
		}
		last = end
	}
	if looking.Load() != 0 {
		t.Error("it still looks")
	}
	tb.remove(pid)
	if err := kern.Lookup(m.Procs, procKey(pid), val); err != unix.ENOENT {
		t.Errorf("%v", err)
	}
	if tb.free[0] != (area{0, plan.MaxRanges}) {
		t.Errorf("%v is free", tb.free)
	}
	if err := tb.Enter(1 << 30); err == nil || len(tb.procs) != 0 {
		t.Errorf("a process that is not there: %v", err)
	}
}
