// Package goroutines reads from the memory of a running Go program what its goroutines do, without stopping it.
//
// In: a process, the symbol table of its file (runtime.allglen and the like) and the layout of runtime.g. Out: for each
// goroutine its state and stack. A goroutine may go on while it is read; who needs to know watches it, or reads twice.
package goroutines

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/types"
)

// Status is what a goroutine does (runtime._Grunnable and so on).
type Status uint8

// What goroutines do. Waiting has a reason.
const (
	Runnable Status = iota
	Running
	Syscall // in a system call, or in C
	Waiting
)

// Goroutine is one of them.
type Goroutine struct {
	Addr, ID uint64 // of runtime.g; goid
	Status   Status
	Reason   uint8  // runtime.waitReason
	StartPC  uint64 // of the function that it began with
	// Stack are the addresses of its calls, innermost first, nil for one that runs. Cut: there are more.
	Stack []uint64
	Cut   bool
	// Labels are those of pprof, each a key and a value. Unread: there are some, and they could not be read.
	Labels [][2]string
	Unread bool
	// Moved: it went on while it was read, so that Stack may be of two moments.
	Moved bool
}

// Reader reads the goroutines of one process.
type Reader struct {
	mem
	allgs, allglen, reasons uint64
	numReasons              int
	size                    int64  // of runtime.g
	bias                    uint64 // by how much the program lies elsewhere than its file says
	at                      fields
	labelling               labelling
}

// fields are offsets in runtime.g.
type fields struct{ goid, status, reason, startPC, pc, sp, bp, hi int64 }

// New finds out where goroutines are known. img is the program's image.
func New(pid int, img debuginfo.Image) (*Reader, error) {
	r := &Reader{mem: mem(pid)}
	t, err := img.Type("runtime.g")
	if err != nil {
		return nil, fmt.Errorf("runtime.g: %w", err)
	}
	r.size = t.Size
	if r.size <= 0 || r.size > 1<<16 {
		return nil, errors.New("runtime.g has no size")
	}
	for path, to := range map[string]*int64{"goid": &r.at.goid, "atomicstatus": &r.at.status,
		"waitreason": &r.at.reason, "startpc": &r.at.startPC, "stack.hi": &r.at.hi, "sched.pc": &r.at.pc,
		"sched.sp": &r.at.sp, "sched.bp": &r.at.bp} {
		if *to, err = offset(t, path); err != nil {
			return nil, err
		}
		if *to < 0 || *to+8 > r.size {
			return nil, fmt.Errorf("runtime.g.%s is at %d", path, *to)
		}
	}
	r.labelling = labellingOf(img, t)
	return r, r.symbols(pid)
}

// offset is where a field is.
func offset(t *types.Ctype, path string) (off int64, err error) {
next:
	for name := range strings.SplitSeq(path, ".") {
		for _, f := range t.Fields() {
			if f.Name == name {
				t, off = f.Type, off+f.Off
				continue next
			}
		}
		return 0, fmt.Errorf("runtime.g has no %s", path)
	}
	return off, nil
}

// symbols finds the variables.
func (r *Reader) symbols(pid int) (err error) {
	defer foreign.Guard(&err)()
	proc := "/proc/" + strconv.Itoa(pid)
	file, err := foreign.Open(proc + "/exe")
	if err != nil {
		return err
	}
	defer file.Close()
	f, err := foreign.ELF(file)
	if err != nil {
		return err
	}
	syms, err := f.Symbols()
	if err != nil {
		return err
	}
	if f.Type == elf.ET_DYN {
		if r.bias, err = loaded(proc, f); err != nil {
			return err
		}
	}
	for _, s := range syms {
		switch s.Name {
		case "runtime.allgptr":
			r.allgs = s.Value + r.bias
		case "runtime.allglen":
			r.allglen = s.Value + r.bias
		case "runtime.waitReasonStrings":
			r.reasons, r.numReasons = s.Value+r.bias, int(min(s.Size/16, 250))
		}
	}
	if r.allgs == 0 || r.allglen == 0 {
		return errors.New("the program has no symbols runtime.allgptr and runtime.allglen")
	}
	return nil
}

// loaded is by how much a program lies elsewhere than its file says.
func loaded(proc string, f *elf.File) (uint64, error) {
	exe, err := os.Readlink(proc + "/exe")
	if err != nil {
		return 0, err
	}
	maps, err := os.ReadFile(proc + "/maps")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(maps)) {
		// 55d0-55d9 r-xp 00001000 fe:01 1234  /path
		l := strings.Fields(line)
		if len(l) < 6 || !strings.HasSuffix(strings.TrimSpace(line), exe) {
			continue
		}
		from, _, _ := strings.Cut(l[0], "-")
		addr, err := strconv.ParseUint(from, 16, 64)
		off, err2 := strconv.ParseUint(l[2], 16, 64)
		if err != nil || err2 != nil {
			continue
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && off&^0xfff == p.Off&^0xfff {
				return addr - p.Vaddr&^0xfff, nil
			}
		}
	}
	return 0, errors.New("where the program is mapped is not known")
}

// Reasons are the texts of the reasons to wait, by number.
func (r *Reader) Reasons() (out []string) {
	heads := make([]byte, 16*r.numReasons)
	if r.numReasons == 0 || r.read(heads, r.reasons) != nil {
		return nil
	}
	for ; len(heads) > 0; heads = heads[16:] {
		n := binary.LittleEndian.Uint64(heads[8:])
		text := make([]byte, min(n, 256))
		if r.read(text, binary.LittleEndian.Uint64(heads)) != nil {
			text = nil
		}
		out = append(out, string(text))
	}
	return out
}

// All reads the goroutines, with stacks of at most depth calls. System goroutines are among them.
func (r *Reader) All(depth int) ([]Goroutine, error) {
	head := make([]byte, 8)
	if err := r.read(head, r.allglen); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head)
	if err := r.read(head, r.allgs); err != nil {
		return nil, err
	}
	if n > 1<<24 {
		return nil, fmt.Errorf("%d goroutines", n)
	}
	list := make([]byte, 8*n)
	if err := r.read(list, binary.LittleEndian.Uint64(head)); err != nil {
		return nil, err
	}
	out := make([]Goroutine, 0, n)
	for addrs := range slices.Chunk(list, 8*chunk) {
		out = append(out, r.some(addrs, depth)...)
	}
	return out, nil
}

// chunk is how many goroutines are read, and read again, at a time.
const chunk = 128

// some reads goroutines by the addresses in list, 8 bytes each.
func (r *Reader) some(list []byte, depth int) (out []Goroutine) {
	n := len(list) / 8
	gs, again := make([]byte, n*int(r.size)), make([]byte, n*int(r.size))
	parts, second := make([]part, n), make([]part, n)
	for i := range parts {
		addr, from, to := binary.LittleEndian.Uint64(list[8*i:]), i*int(r.size), (i+1)*int(r.size)
		parts[i], second[i] = part{addr, gs[from:to], false}, part{addr, again[from:to], false}
	}
	r.readAll(parts)
	stacks, which := make([]stack, 0, n), make([]int, 0, n)
	for i := range parts {
		if !parts[i].ok {
			continue
		}
		word := func(off int64) uint64 { return binary.LittleEndian.Uint64(parts[i].to[off:]) }
		g := Goroutine{Addr: parts[i].addr, ID: word(r.at.goid), StartPC: word(r.at.startPC),
			Reason: parts[i].to[r.at.reason]}
		switch uint32(word(r.at.status)) &^ 0x1000 { // _Gscan
		case 1:
			g.Status = Runnable
		case 2:
			g.Status = Running
		case 3:
			g.Status = Syscall
		case 4, 8, 9, 10: // waiting, its stack is copied, preempted, leaked
			g.Status = Waiting
		default: // it is none yet, or no longer
			continue
		}
		if r.labelling.at != 0 {
			if l := word(r.labelling.at); l != 0 {
				var err error
				g.Labels, err = r.labels(l)
				g.Unread = err != nil
			}
		}
		out, which = append(out, g), append(which, i)
		s := stack{pc: word(r.at.pc), sp: word(r.at.sp), bp: word(r.at.bp), hi: word(r.at.hi)}
		if g.Status == Running {
			s = stack{}
		}
		stacks = append(stacks, s)
	}
	windows := r.walk(out, stacks, depth)
	r.readAll(second)
	for k, i := range which {
		out[k].Moved = !second[i].ok || !bytes.Equal(parts[i].to, second[i].to)
		if at := r.labelling.at; out[k].Labels != nil && !bytes.Equal(parts[i].to[at:at+8], second[i].to[at:at+8]) {
			out[k].Labels, out[k].Unread = nil, true // it has others now, and these may be gone
		}
	}
	r.unchanged(out, windows)
	return out
}
