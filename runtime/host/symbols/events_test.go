package symbols

import (
	"encoding/binary"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEndedProcess(t *testing.T) {
	e, err := WatchProcesses()
	if err != nil {
		t.Skip(err)
	}
	defer e.Close()
	tab := &Table{Events: e}
	cmd := exec.Command("/bin/true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	pid := uint32(cmd.Process.Pid)
	tab.Poll()
	p := tab.pasts[pid]
	if p == nil {
		t.Fatal("nothing was reported of a process that has ended")
	}
	for _, m := range p.maps {
		if strings.HasSuffix(m.path, "/true") {
			if got := tab.mapped(pid, m.lo); got == nil || got.path != m.path {
				t.Errorf("address 0x%x: %v", m.lo, got)
			}
			if got := tab.mapped(pid, 1); got != nil {
				t.Errorf("address 1: %v", got)
			}
			return
		}
	}
	t.Errorf("the program is not among %v", p.maps)
}

func mmap2(pid uint32, lo, n uint64, path string) []byte {
	b := make([]byte, 64, 64+len(path)+1)
	le := binary.LittleEndian
	le.PutUint32(b, pid)
	le.PutUint64(b[8:], lo)
	le.PutUint64(b[16:], n)
	return append(append(b, path...), 0)
}

func TestEvents(t *testing.T) {
	tab := &Table{Events: &Events{}}
	fork := make([]byte, 24)
	binary.LittleEndian.PutUint32(fork, 1<<30+1)
	binary.LittleEndian.PutUint32(fork[4:], 1<<30)
	binary.LittleEndian.PutUint32(fork[8:], 1<<30+1)
	tab.event(unix.PERF_RECORD_MMAP2, mmap2(1<<30, 0x1000, 0x1000, "/a"))
	tab.event(unix.PERF_RECORD_MMAP2, mmap2(1<<30, 0x1800, 0x1000, "/b"))
	tab.event(unix.PERF_RECORD_FORK, fork)
	tab.event(unix.PERF_RECORD_MMAP2, mmap2(1<<30+1, 0x1000, 0x100, "/c"))
	for _, c := range []struct {
		pid  uint32
		addr uint64
		want string
	}{
		{1 << 30, 0x1000, "/a"}, {1 << 30, 0x1900, "/b"}, {1 << 30, 0x2800, ""},
		{1<<30 + 1, 0x1010, "/c"}, {1<<30 + 1, 0x1400, "/a"}, {1<<30 + 2, 0x1000, ""},
	} {
		got := ""
		if m := tab.mapped(c.pid, c.addr); m != nil {
			got = m.path
		}
		if got != c.want {
			t.Errorf("%d 0x%x: %q, want %q", c.pid, c.addr, got, c.want)
		}
	}
	exit := make([]byte, 24)
	for i := range uint32(maxEnded + 10) {
		binary.LittleEndian.PutUint32(exit, 1<<30+i)
		binary.LittleEndian.PutUint32(exit[8:], 1<<30+i)
		tab.past(1<<30 + i)
		tab.event(unix.PERF_RECORD_EXIT, exit)
	}
	if len(tab.pasts) > maxEnded {
		t.Errorf("%d ended processes are remembered", len(tab.pasts))
	}
}

func FuzzEvent(f *testing.F) {
	f.Add(uint32(unix.PERF_RECORD_MMAP2), mmap2(1<<30, 1, 2, "/x"))
	f.Add(uint32(unix.PERF_RECORD_FORK), make([]byte, 24))
	f.Add(uint32(unix.PERF_RECORD_EXIT), make([]byte, 15))
	f.Fuzz(func(t *testing.T, kind uint32, b []byte) {
		tab := &Table{Events: &Events{}}
		tab.event(kind, b)
		tab.event(kind, b)
		for pid := range tab.pasts {
			tab.mapped(pid, 2)
		}
	})
}
