package symbols

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// TestEndedProcess asks after processes that have ended, several, so that forks and execs are on different CPUs.
func TestEndedProcess(t *testing.T) {
	e, err := WatchProcesses()
	if err != nil {
		t.Skip(err)
	}
	defer e.Close()
	tab := &Table{Events: e}
	for range 30 {
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
		i := slices.IndexFunc(p.maps, func(m mapping) bool { return strings.HasSuffix(m.path, "/true") })
		if i < 0 {
			t.Fatalf("the program is not among %v", p.maps)
		}
		m := p.maps[i]
		if got := tab.mapped(pid, m.lo); got == nil || got.path != m.path {
			t.Errorf("address 0x%x: %v", m.lo, got)
		}
		if got := tab.mapped(pid, 1); got != nil {
			t.Errorf("address 1: %v", got)
		}
	}
}

// TestManyProcesses: what a process maps is known however many others are run before somebody asks.
func TestManyProcesses(t *testing.T) {
	e, err := WatchProcesses()
	if err != nil {
		t.Skip(err)
	}
	defer e.Close()
	tab := &Table{Events: e}
	// A buffer has room for some 80 of these. All are this shell's.
	out, err := exec.Command("sh", "-c", "for i in $(seq 500); do /bin/true; done; "+
		"/bin/sleep 0 & echo $!; wait").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.ParseUint(strings.TrimSpace(string(out)), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	tab.Poll()
	p := tab.pasts[uint32(pid)]
	if p == nil || !slices.ContainsFunc(p.maps, func(m mapping) bool { return strings.HasSuffix(m.path, "/sleep") }) {
		t.Errorf("the last of 500 programs is not known: %v", p)
	}
}

// TestBacklog: of processes that have ended the newest are kept, of all others everything.
func TestBacklog(t *testing.T) {
	k := &backlog{room: leastRoom}
	ended := func(pid, tid uint32) []byte {
		b := make([]byte, 24)
		binary.LittleEndian.PutUint32(b, pid)
		binary.LittleEndian.PutUint32(b[8:], tid)
		return b
	}
	k.add(unix.PERF_RECORD_MMAP2, mmap2(1, 0x1000, 0x1000, "/lives"), 1)
	k.add(unix.PERF_RECORD_EXIT, ended(1, 7), 2) // a thread
	const all = 40000
	for pid := uint32(10); pid < 10+all; pid++ {
		k.add(unix.PERF_RECORD_MMAP2, mmap2(pid, 0x1000, 0x1000, strings.Repeat("/some/name", 20)), uint64(pid))
		k.add(unix.PERF_RECORD_EXIT, ended(pid, pid), uint64(pid))
	}
	if len(k.recs) > 2*leastRoom {
		t.Errorf("%d bytes are kept", len(k.recs))
	}
	seen := map[uint32]int{}
	k.take(func(_ uint32, body []byte, _ uint64) { seen[binary.LittleEndian.Uint32(body)]++ })
	if seen[1] != 1 {
		t.Errorf("of the process that lives %d records", seen[1])
	}
	for pid := uint32(10 + all - maxEnded); pid < 10+all; pid++ {
		if seen[pid] != 2 {
			t.Fatalf("of process %d %d records", pid, seen[pid])
		}
	}
	if len(k.recs) != 0 {
		t.Errorf("%d bytes are left", len(k.recs))
	}
}

// TestLearn reads the mappings of a process that began before.
func TestLearn(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := uint32(cmd.Process.Pid)
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		t.Fatal(err)
	}
	tab := &Table{Known: []debuginfo.Image{image{path: path}}}
	tab.Learn()
	cmd.Process.Kill()
	cmd.Wait()
	p := tab.procs[pid]
	if p == nil || !slices.ContainsFunc(p.maps, func(m mapping) bool { return m.path == path }) {
		t.Errorf("%s is not known to be mapped: %v", path, p)
	}
	if tab.procs[uint32(os.Getpid())] != nil {
		t.Error("a process was read that runs something else")
	}
}

// image is an image with nothing but a name.
type image struct {
	debuginfo.Image
	path string
}

func (i image) Path() string { return i.path }

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
	tab.event(unix.PERF_RECORD_MMAP2, mmap2(1<<30, 0x1000, 0x1000, "/a"), 1)
	tab.event(unix.PERF_RECORD_MMAP2, mmap2(1<<30, 0x1800, 0x1000, "/b"), 2)
	// Of a process that had the same number before; then in the order of the CPUs' buffers, not of time.
	tab.event(unix.PERF_RECORD_MMAP2, mmap2(1<<30+1, 0x8000, 0x1000, "/old"), 3)
	tab.event(unix.PERF_RECORD_MMAP2, mmap2(1<<30+1, 0x5000, 0x1000, "/late"), 7)
	tab.event(unix.PERF_RECORD_MMAP2, mmap2(1<<30+1, 0x5000, 0x1000, "/early"), 6)
	tab.event(unix.PERF_RECORD_FORK, fork, 4)
	tab.event(unix.PERF_RECORD_MMAP2, mmap2(1<<30+1, 0x1000, 0x100, "/c"), 5)
	for _, c := range []struct {
		pid  uint32
		addr uint64
		want string
	}{
		{1 << 30, 0x1000, "/a"}, {1 << 30, 0x1900, "/b"}, {1 << 30, 0x2800, ""},
		{1<<30 + 1, 0x1010, "/c"}, {1<<30 + 1, 0x1400, "/a"}, {1<<30 + 2, 0x1000, ""},
		{1<<30 + 1, 0x5010, "/late"}, {1<<30 + 1, 0x8010, ""},
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
		tab.event(unix.PERF_RECORD_EXIT, exit, 9)
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
		tab.event(kind, b, 1)
		tab.event(kind, b, 1)
		for pid := range tab.pasts {
			tab.mapped(pid, 2)
		}
	})
}

// TestNamesKept: what was named stays so without another look at the process, until the kernel reports something else
// there.
func TestNamesKept(t *testing.T) {
	const pid = 1 << 30
	opened := 0
	tab := &Table{Events: &Events{}, Open: func(path string) (debuginfo.Image, error) {
		opened++
		return nil, os.ErrNotExist
	}}
	tab.procs = map[uint32]*process{pid: {maps: []mapping{{lo: 0x400000, hi: 0x500000, path: "/first"}},
		seen: time.Now()}}
	for range 3 {
		if f := tab.Name(pid, 0x400010, true); f.Module != "/first" || f.Rel != 0xf {
			t.Fatal(f)
		}
	}
	if len(tab.procs[pid].names) != 1 || opened != 1 {
		t.Errorf("%d names are kept, %d files were opened", len(tab.procs[pid].names), opened)
	}
	tab.event(unix.PERF_RECORD_MMAP2, mmap2(pid, 0x400000, 0x1000, "/second"), 1)
	if f := tab.Name(pid, 0x400010, true); f.Module != "/second" {
		t.Errorf("behind an exec: %v", f)
	}
	if f := tab.Name(pid, 0x900000, false); f.Module != "" {
		t.Errorf("nothing is there: %v", f)
	}
}
