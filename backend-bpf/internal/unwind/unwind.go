// Package unwind fills the maps by which handlers walk the stacks of programs: what .eh_frame tells of the code of
// files, and which file each process has mapped where.
//
// In: processes by number, those that a walk asks for among them. Out: the values of plan.MapRows, MapRanges and
// MapProcs. What does not fit, or cannot be read, is left out: the walk ends there and says so.
package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/ring"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dynlink"
	"github.com/gostap/gostap/compiler/debuginfo/rows"
	"github.com/gostap/gostap/runtime/host/symbols"
)

// Maps are the descriptors of the maps.
type Maps struct{ Rows, Ranges, Procs, Changed, Files, Wanted int }

// Tables fills the maps as long as it is open.
type Tables struct {
	maps         Maps
	rows, ranges []byte
	looking      *atomic.Uint32 // the process that is looked at
	wanted       *ring.Reader
	folder       string // for what is kept from one run to the next, "" for none
	logf         func(format string, args ...any)

	mu    sync.Mutex
	files map[debuginfo.FileID]*file
	used  int // rows
	procs map[int]*entered
	free  []area

	lookedVDSO bool
	vdsoFile   *file

	events *symbols.Events // nil if the kernel does not tell what processes map
	stop   int             // descriptor that ends the wait for them
	closed atomic.Bool
	done   sync.WaitGroup
}

// file is a file with its rows in the map.
type file struct {
	*rows.Table
	first, count int
}

// entered is a process whose ranges are in the map.
type entered struct {
	area
	process
}

// area is a part of the ranges.
type area struct{ first, count int }

// Open maps the values. looking is plan.CtlLooking, folder where tables are kept from one run to the next, "" for
// nowhere; logf is told of files that cannot be read.
func Open(m Maps, looking *atomic.Uint32, folder string, logf func(format string, args ...any)) (_ *Tables, err error) {
	t := &Tables{maps: m, looking: looking, folder: folder, logf: logf, files: map[debuginfo.FileID]*file{},
		procs: map[int]*entered{}, free: []area{{0, plan.MaxRanges}}, stop: -1}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	value := func(fd, size int) (b []byte) {
		if err == nil {
			b, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		}
		return b
	}
	t.rows = value(m.Rows, 8*plan.MaxRows)
	t.ranges = value(m.Ranges, plan.RangeSize*plan.MaxRanges)
	if err != nil {
		return nil, fmt.Errorf("map the tables of stacks: %w", err)
	}
	if t.wanted, err = ring.Open(m.Wanted, plan.WantedSize); err != nil {
		return nil, err
	}
	return t, nil
}

// Follow keeps the processes that were entered as they are, and enters those that walks ask for, until Close.
func (t *Tables) Follow() (err error) {
	if t.events, err = symbols.WatchProcessesNow(); err != nil {
		return err
	}
	if t.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC); err != nil {
		return err
	}
	polls := []unix.PollFd{{Fd: int32(t.stop), Events: unix.POLLIN}}
	for _, fd := range t.events.FDs() {
		polls = append(polls, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	t.done.Add(2)
	go func() {
		defer t.done.Done()
		for !t.closed.Load() {
			want := map[int]bool{}
			_, err := t.wanted.Read(time.Now().Add(time.Hour), func(rec []byte) error {
				if len(rec) >= 8 {
					want[int(binary.NativeEndian.Uint64(rec))] = true
				}
				return nil
			})
			if err != nil {
				return
			}
			for pid := range want {
				t.Enter(pid)
			}
		}
	}()
	go func() {
		defer t.done.Done()
		for !t.closed.Load() {
			if _, err := unix.Poll(polls, -1); err != nil && err != unix.EINTR {
				return
			}
			seen := map[int]bool{}
			t.events.Mapped(func(pid int) { seen[pid] = true })
			known := false
			for pid := range seen {
				if t.knows(pid) {
					known = true
					t.Enter(pid)
				}
			}
			if !known { // others map as well, and may do so all the time
				time.Sleep(time.Millisecond)
			}
		}
	}()
	return nil
}

func (t *Tables) knows(pid int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.procs[pid] != nil
}

// Close ends Follow and unmaps the values.
func (t *Tables) Close() {
	t.closed.Store(true)
	if t.wanted != nil {
		t.wanted.Wake()
	}
	if t.stop >= 0 {
		unix.Write(t.stop, binary.NativeEndian.AppendUint64(nil, 1))
	}
	t.done.Wait()
	if t.stop >= 0 {
		unix.Close(t.stop)
	}
	if t.events != nil {
		t.events.Close()
	}
	if t.wanted != nil {
		t.wanted.Close()
	}
	for _, b := range [][]byte{t.rows, t.ranges} {
		if b != nil {
			unix.Munmap(b)
		}
	}
	t.rows, t.ranges = nil, nil
}

// Enter enters what a process has mapped now, in place of what it had before.
func (t *Tables) Enter(pid int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.looking.Store(uint32(pid))
	defer t.looking.Store(0)
	changed, err := t.changed(pid)
	if err != nil {
		return err
	}
	p, err := look(pid)
	if err == nil && p.stack == 0 && len(p.maps) == 0 {
		err = unix.ESRCH // it has ended and is still to be waited for
	}
	if err != nil {
		t.remove(pid)
		return err
	}
	p.changed = changed
	was := t.procs[pid]
	if was != nil && was.same(p) {
		return nil
	}
	list := t.listOf(pid, p)
	a, ok := t.take(len(list) / plan.RangeSize)
	if !ok {
		t.sweep()
		a, ok = t.take(len(list) / plan.RangeSize)
	}
	if !ok {
		t.logf("no room for what process %d has mapped: its stacks are cut", pid)
		return errors.New("no room")
	}
	copy(t.ranges[a.first*plan.RangeSize:], list)
	val := binary.NativeEndian.AppendUint32(nil, uint32(a.first))
	val = binary.NativeEndian.AppendUint32(val, uint32(a.count))
	for _, v := range []uint64{p.stack, p.code, p.changed} {
		val = binary.NativeEndian.AppendUint64(val, v)
	}
	if err := kern.Update(t.maps.Procs, procKey(pid), val, kern.UpdateAny); err != nil {
		t.give(a)
		return fmt.Errorf("enter process %d: %w", pid, err)
	}
	if was != nil {
		t.give(was.area)
	}
	t.procs[pid] = &entered{a, *p}
	return nil
}

// changed gives how often a process has mapped something in place of code since that is counted, from now on.
func (t *Tables) changed(pid int) (n uint64, err error) {
	val := make([]byte, 8)
	if t.procs[pid] == nil {
		err = kern.Update(t.maps.Changed, procKey(pid), val, kern.UpdateNew)
		if err == unix.E2BIG {
			t.sweep()
			err = kern.Update(t.maps.Changed, procKey(pid), val, kern.UpdateNew)
		}
		if err != nil && err != unix.EEXIST {
			return 0, fmt.Errorf("enter process %d: %w", pid, err)
		}
	}
	if err := kern.Lookup(t.maps.Changed, procKey(pid), val); err != nil {
		return 0, fmt.Errorf("look process %d up: %w", pid, err)
	}
	return binary.NativeEndian.Uint64(val), nil
}

func procKey(pid int) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(pid)) }

// remove takes processes out.
func (t *Tables) remove(pids ...int) {
	var areas []area
	for _, pid := range pids {
		kern.Delete(t.maps.Changed, procKey(pid))
		if was := t.procs[pid]; was != nil {
			kern.Delete(t.maps.Procs, procKey(pid))
			delete(t.procs, pid)
			areas = append(areas, was.area)
		}
	}
	t.give(areas...)
}

// sweep takes out the processes that have ended.
func (t *Tables) sweep() {
	var gone []int
	for pid := range t.procs {
		if unix.Kill(pid, 0) == unix.ESRCH {
			gone = append(gone, pid)
		}
	}
	t.remove(gone...)
}

// listOf writes the ranges of a process.
func (t *Tables) listOf(pid int, p *process) (out []byte) {
	for _, m := range p.maps {
		f := t.fileOf(pid, m)
		if f == nil || f.count == 0 {
			continue
		}
		addr, ok := f.Address(m.off)
		if !ok {
			continue
		}
		out = binary.NativeEndian.AppendUint64(out, m.lo)
		out = binary.NativeEndian.AppendUint64(out, m.hi)
		out = binary.NativeEndian.AppendUint64(out, m.lo-addr+f.Base)
		out = binary.NativeEndian.AppendUint32(out, uint32(f.first))
		out = binary.NativeEndian.AppendUint32(out, uint32(f.count))
	}
	return out
}

// fileOf gives the file that is mapped at m, with its rows in the map; nil if it cannot be read.
func (t *Tables) fileOf(pid int, m mapping) *file {
	if m.path == "[vdso]" {
		return t.vdso()
	}
	if len(m.path) == 0 || m.path[0] != '/' {
		return nil
	}
	way := m.way(pid)
	if way == "" {
		t.logf("no stacks through %s of process %d: it cannot be opened there by its name", m.path, pid)
		return nil
	}
	return t.load(way, m.path)
}

// vdso gives the code that the kernel maps into all processes.
func (t *Tables) vdso() *file {
	if t.lookedVDSO {
		return t.vdsoFile
	}
	t.lookedVDSO = true
	if path, err := symbols.CopyVDSO(); err == nil {
		t.vdsoFile = t.load(path, "the vdso")
		os.Remove(path)
	}
	return t.vdsoFile
}

// load gives the file at path, which is known by another name, with its rows in the map; nil if it cannot be read.
func (t *Tables) load(path, name string) *file {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil
	}
	id := debuginfo.IDOf(&st)
	if f, ok := t.files[id]; ok {
		return f
	}
	start := time.Now()
	t.files[id] = nil
	tab, err := rows.Read(path, t.folder)
	if err != nil {
		t.logf("no stacks through %s: %v", name, err)
		return nil
	}
	f := &file{Table: tab, first: t.used, count: len(tab.Rows)}
	if t.used+f.count > plan.MaxRows {
		t.logf("no room for the %d rows of %s: stacks are cut there", f.count, name)
		return nil
	}
	for i, r := range tab.Rows {
		binary.NativeEndian.PutUint64(t.rows[8*(f.first+i):], r)
	}
	t.used += f.count
	begin, end, add, ok := tab.Mapped()
	tab.Rows = nil
	t.files[id] = f
	if ok {
		t.tell(f, id, begin, end, add)
	}
	t.logf("%d rows of %s in %v", f.count, name, time.Since(start).Round(time.Microsecond))
	return f
}

// tell enters the file into the map of files, by which walks find it before its processes are entered. One with code at
// several places is not.
func (t *Tables) tell(f *file, id debuginfo.FileID, begin, end, add uint64) {
	var key, val []byte
	for _, v := range rows.Identity(id) {
		key = binary.NativeEndian.AppendUint64(key, v)
	}
	val = binary.NativeEndian.AppendUint32(val, uint32(f.first))
	val = binary.NativeEndian.AppendUint32(val, uint32(f.count))
	for _, v := range []uint64{begin, end, add} {
		val = binary.NativeEndian.AppendUint64(val, v)
	}
	if err := kern.Update(t.maps.Files, key, val, kern.UpdateAny); err != nil {
		t.logf("enter %d rows: %v", f.count, err)
	}
}

// Prepare makes the tables of a program, or of a library, and of the libraries that the dynamic linker will map for it.
func (t *Tables) Prepare(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.load(path, path)
	libs, err := dynlink.Needed(path, dynlink.Search{})
	if err != nil {
		return
	}
	for _, l := range libs {
		for _, p := range l.Paths {
			if p != "" {
				t.load(p, p)
			}
		}
	}
}

// take gives room for n ranges.
func (t *Tables) take(n int) (area, bool) {
	for i, a := range t.free {
		if a.count < n {
			continue
		}
		t.free[i] = area{a.first + n, a.count - n}
		return area{a.first, n}, true
	}
	return area{}, false
}

// give takes room back, once no walk that began before looks at it.
func (t *Tables) give(areas ...area) {
	if len(areas) == 0 {
		return
	}
	settle()
	t.free = append(t.free, areas...)
	slices.SortFunc(t.free, func(a, b area) int { return a.first - b.first })
	out := t.free[:0]
	for _, f := range t.free {
		if n := len(out); n > 0 && out[n-1].first+out[n-1].count == f.first {
			out[n-1].count += f.count
		} else if f.count > 0 {
			out = append(out, f)
		}
	}
	t.free = out
}

// settle waits until the programs that run now have ended: membarrier(2) waits for a grace period of the kernel's.
func settle() {
	const global = 1 // MEMBARRIER_CMD_GLOBAL
	if _, _, e := unix.Syscall(unix.SYS_MEMBARRIER, global, 0, 0); e != 0 {
		time.Sleep(10 * time.Millisecond)
	}
}
