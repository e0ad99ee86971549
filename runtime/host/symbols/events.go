package symbols

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/runtime/cpus"
)

// Events tells what processes map, fork and end, as the kernel reports it to perf
// (PERF_RECORD_MMAP2, FORK and EXIT of linux/perf_event.h). Without it, addresses of a
// position-independent program that has ended before its records were read have no names.
type Events struct {
	rings []*perfRing
	rec   []byte
	kept  backlog
}

// perfRing is the buffer of one CPU.
type perfRing struct {
	fd   int
	mem  []byte
	meta *unix.PerfEventMmapPage
}

// ringPages is a power of two: 64 KiB hold some 500 mappings. A machine that builds programs makes these in 100 ms.
const ringPages = 16

// WatchProcesses opens a buffer for each CPU that is online, and empties them whenever they fill, so that it does not
// matter when one asks. It needs the right to watch all processes (CAP_PERFMON, or perf_event_paranoid below 1).
func WatchProcesses() (*Events, error) {
	e, err := watch(unix.PerfEventAttr{Wakeup: ringPages * 4096 / 8, Bits: unix.PerfBitWatermark})
	if err == nil {
		if err = e.follow(); err != nil {
			e.Close()
			return nil, err
		}
	}
	return e, err
}

// WatchProcessesNow does that for one who waits for what they report (FDs).
func WatchProcessesNow() (*Events, error) {
	return watch(unix.PerfEventAttr{Wakeup: 1, Bits: unix.PerfBitWatermark})
}

func watch(attr unix.PerfEventAttr) (*Events, error) {
	online, err := cpus.Online()
	if err != nil {
		return nil, err
	}
	e := &Events{}
	for _, cpu := range online {
		r, err := openRing(cpu, attr)
		if err != nil {
			e.Close()
			return nil, fmt.Errorf("watch processes on CPU %d: %w", cpu, err)
		}
		e.rings = append(e.rings, r)
	}
	return e, nil
}

func openRing(cpu int, attr unix.PerfEventAttr) (*perfRing, error) {
	attr.Type, attr.Config = unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_DUMMY
	attr.Size = uint32(unsafe.Sizeof(unix.PerfEventAttr{}))
	attr.Bits |= unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitTask | unix.PerfBitExcludeKernel |
		unix.PerfBitSampleIDAll | unix.PerfBitUseClockID
	// Every record ends with the time, which is the same on all CPUs: a process's records are spread over their
	// buffers.
	attr.Sample_type, attr.Clockid = unix.PERF_SAMPLE_TIME, unix.CLOCK_MONOTONIC
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(fd, 0, (1+ringPages)*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &perfRing{fd: fd, mem: mem, meta: (*unix.PerfEventMmapPage)(unsafe.Pointer(&mem[0]))}, nil
}

// Close gives the buffers back.
func (e *Events) Close() {
	e.unfollow()
	for _, r := range e.rings {
		unix.Munmap(r.mem)
		unix.Close(r.fd)
	}
	e.rings = nil
}

// FDs are the descriptors that can be read from when there is something new.
func (e *Events) FDs() (out []int) {
	for _, r := range e.rings {
		out = append(out, r.fd)
	}
	return out
}

// Mapped calls fn with the processes that have mapped code, or ended, since it was asked last.
func (e *Events) Mapped(fn func(pid int)) {
	e.each(func(kind uint32, b []byte, _ uint64) {
		whole := kind == unix.PERF_RECORD_MMAP2 || kind == unix.PERF_RECORD_EXIT && len(b) >= 12 &&
			binary.LittleEndian.Uint32(b) == binary.LittleEndian.Uint32(b[8:])
		if whole && len(b) >= 4 {
			fn(int(binary.LittleEndian.Uint32(b)))
		}
	})
}

// read passes what waits on to a table.
func (e *Events) read(t *Table) { e.each(t.event) }

// each passes what waits on: a record without its header and time.
func (e *Events) each(fn func(kind uint32, body []byte, time uint64)) {
	e.kept.mu.Lock()
	defer e.kept.mu.Unlock()
	e.kept.take(fn)
	e.drain(fn)
}

// drain empties the buffers.
func (e *Events) drain(fn func(kind uint32, body []byte, time uint64)) {
	for _, r := range e.rings {
		head, tail := atomic.LoadUint64(&r.meta.Data_head), r.meta.Data_tail
		data := r.mem[os.Getpagesize():]
		size := uint64(len(data))
		for tail+8 <= head {
			at := tail % size // records are aligned to 8: the header is in one piece
			n := uint64(binary.LittleEndian.Uint16(data[at+6:]))
			if n < 8 || tail+n > head {
				tail = head // cannot be; what follows has no meaning then
				break
			}
			rec := data[at:min(at+n, size)]
			if uint64(len(rec)) < n {
				e.rec = append(append(e.rec[:0], rec...), data[:n-uint64(len(rec))]...)
				rec = e.rec
			}
			if body := len(rec) - timeSize; body >= 8 {
				fn(binary.LittleEndian.Uint32(rec), rec[8:body], binary.LittleEndian.Uint64(rec[body:]))
			}
			tail += n
		}
		atomic.StoreUint64(&r.meta.Data_tail, tail)
	}
}

// timeSize is the bytes of the time behind a record.
const timeSize = 8

// past is what a process has mapped since it began.
type past struct {
	maps   []mapping
	parent uint32
}

// maxEnded bounds how many processes are remembered that have ended.
const maxEnded = 4096

// event takes one record in, without its header and time. Records of one process come in any order.
func (t *Table) event(kind uint32, b []byte, time uint64) {
	le := binary.LittleEndian
	switch kind {
	case unix.PERF_RECORD_LOST: // what the processes map is read again of those that are there
		for pid, p := range t.procs {
			now := &process{}
			if now.read(pid); !p.gone && !now.gone {
				t.procs[pid] = now
			}
		}
	case unix.PERF_RECORD_MMAP2:
		const name = 64
		if len(b) <= name {
			return
		}
		path, _, _ := bytes.Cut(b[name:], []byte{0})
		pid, lo := le.Uint32(b), le.Uint64(b[8:])
		hi := lo + le.Uint64(b[16:])
		p := t.past(pid)
		p.maps = append(p.maps, mapping{time: time, lo: lo, hi: hi, off: le.Uint64(b[24:]), path: t.intern(path)})
		if was := t.procs[pid]; was != nil { // what was read there before is gone: an exec, a library that was closed
			was.maps = slices.DeleteFunc(was.maps, func(m mapping) bool { return m.lo < hi && lo < m.hi })
			was.names, was.rules = nil, nil
		}
	case unix.PERF_RECORD_FORK:
		if len(b) < 16 {
			return
		}
		pid, parent, tid := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])
		if pid == tid { // a process, not a thread
			t.Forget(pid)
			p := t.past(pid)
			p.parent = parent
			// What is older is of another process that had this number.
			p.maps = slices.DeleteFunc(p.maps, func(m mapping) bool { return m.time < time })
		}
	case unix.PERF_RECORD_EXIT:
		if len(b) < 16 {
			return
		}
		if pid, tid := le.Uint32(b), le.Uint32(b[8:]); pid == tid {
			t.ended = append(t.ended, pid)
			if len(t.ended) > maxEnded {
				delete(t.pasts, t.ended[0])
				delete(t.procs, t.ended[0])
				t.ended = t.ended[1:]
			}
		}
	}
}

func (t *Table) past(pid uint32) *past {
	if t.pasts == nil {
		t.pasts = map[uint32]*past{}
	}
	p := t.pasts[pid]
	if p == nil {
		p = &past{}
		t.pasts[pid] = p
	}
	return p
}

// intern keeps one copy of each path.
func (t *Table) intern(path []byte) string {
	if s, ok := t.paths[string(path)]; ok {
		return s
	}
	if t.paths == nil {
		t.paths = map[string]string{}
	}
	s := string(path)
	t.paths[s] = s
	return s
}

// mapped finds what pid had at addr by what the kernel reported: its newest mapping, or
// one of the process that it was forked from.
func (t *Table) mapped(pid uint32, addr uint64) *mapping {
	if t.Events == nil {
		return nil
	}
	t.Events.read(t)
	for range 8 {
		p := t.pasts[pid]
		if p == nil {
			return nil
		}
		var newest *mapping
		for i := range p.maps {
			if m := &p.maps[i]; m.lo <= addr && addr < m.hi && (newest == nil || m.time >= newest.time) {
				newest = m
			}
		}
		if newest != nil {
			return newest
		}
		if pid = p.parent; pid == 0 {
			return nil
		}
		if m := t.process(pid).find(addr); m != nil {
			return m
		}
	}
	return nil
}

// Learn reads what the processes that run one of the known images map, as long as they are there: of those the kernel
// reports nothing any more. It takes some microseconds a process of the system.
func (t *Table) Learn() {
	var files []os.FileInfo
	for _, img := range t.Known {
		if st, err := os.Stat(img.Path()); err == nil {
			files = append(files, st)
		}
	}
	dirs, err := os.ReadDir("/proc")
	if err != nil || len(files) == 0 {
		return
	}
	for _, d := range dirs {
		pid, err := strconv.ParseUint(d.Name(), 10, 32)
		if err != nil {
			continue
		}
		exe, err := os.Stat("/proc/" + d.Name() + "/exe")
		if err == nil && slices.ContainsFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, exe) }) {
			t.process(uint32(pid))
		}
	}
}

// Poll takes in what the kernel has reported, so that its buffers do not run full.
func (t *Table) Poll() {
	if t.Events != nil {
		t.Events.read(t)
	}
}
