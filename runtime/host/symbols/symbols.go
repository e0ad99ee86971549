// Package symbols names code addresses of traced processes and of the kernel.
//
// In: a process and a run-time address, as records carry them. Out: function, file
// and line, inlined frames included. It reads /proc/PID/maps once a process and opens
// the files found there when one of their addresses is asked for. For processes that
// are gone it falls back on what the kernel reported of them while they lived (Events), and
// on the images that the script names.
package symbols

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
)

// Table names addresses. It is for one goroutine.
type Table struct {
	// Open opens a binary's debug information.
	Open func(path string) (debuginfo.Image, error)
	// Moved are files that the script names and that lie elsewhere here, with where.
	Moved map[string]string
	// Known are the images that the script's probes lie in.
	Known []debuginfo.Image
	// Events reports what processes map; may be nil.
	Events *Events
	// KernelFiles says where the symbols of the kernel are; the zero value is the running one.
	KernelFiles kbtf.Config
	// Warn tells the user, once, that addresses of the kernel cannot be named; may be nil.
	Warn func(text string)

	kernel kernelNames
	procs  map[uint32]*process
	images map[string]debuginfo.Image
	pasts  map[uint32]*past
	ended  []uint32 // processes of pasts that have ended, oldest first
	paths  map[string]string
	saved  map[uint64]uint32 // see Saw
	// interrupted are addresses of stacks that Saw has seen that no call returns to.
	interrupted map[uint64]bool
	switches    map[switchKey]uint64 // see through
	vdsoImage   debuginfo.Image
	lookedVDSO  bool
	fps         []uint64 // room for the frame pointers of a stack
	// returns are the addresses behind the calls of functions that At has looked at.
	returns map[imageFunc]map[uint64]bool
}

type process struct {
	maps []mapping
	gone bool
	seen time.Time // when maps were read
	// names are what addresses were named before, by these maps.
	names map[namedAddr]Frame
	// rules are those of the addresses of stacks, likewise.
	rules map[namedAddr]ruleSet
}

// namedAddr is what Name was asked.
type namedAddr struct {
	addr uint64
	as   role
}

// role is what an address is taken for.
type role uint8

const (
	pc role = iota
	ret
	either // At decides
)

// maxNames bounds the names that are kept of a process: a profile meets the same ones again and again.
const maxNames = 1 << 14

// patience is how long the mappings of a process are taken to be the same where the kernel tells of new ones by itself.
// Code that is in no file's mapping (of a just-in-time compiler) would have them read at each hit otherwise.
const patience = 100 * time.Millisecond

type mapping struct {
	lo, hi, off uint64
	time        uint64 // when it was made, where the kernel reported it
	path        string // as the process names it
}

// Frame is a named address.
type Frame struct {
	Addr uint64
	// Frames are innermost first, more than one where code is inlined; empty when unknown.
	Frames []debuginfo.Frame
	// Module is the file's name, "" if unknown; Rel the address in it.
	Module string
	Rel    uint64
}

// Forget drops what is known of pid, after an exec or before a number is used again.
func (t *Table) Forget(pid uint32) { delete(t.procs, pid) }

func (t *Table) process(pid uint32) *process {
	if t.procs == nil {
		t.procs = map[uint32]*process{}
	}
	p := t.procs[pid]
	if p == nil {
		p = &process{}
		p.read(pid)
		t.procs[pid] = p
	}
	return p
}

func (p *process) read(pid uint32) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	p.gone = err != nil || len(data) == 0
	if !p.gone {
		p.maps = parseMaps(data)
	}
	p.seen, p.names, p.rules = time.Now(), nil, nil
}

func parseMaps(data []byte) []mapping {
	var out []mapping
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) < 6 || !strings.Contains(f[1], "x") {
			continue
		}
		lo, hi, ok := strings.Cut(f[0], "-")
		if !ok {
			continue
		}
		var m mapping
		var errs [3]error
		m.lo, errs[0] = strconv.ParseUint(lo, 16, 64)
		m.hi, errs[1] = strconv.ParseUint(hi, 16, 64)
		m.off, errs[2] = strconv.ParseUint(f[2], 16, 64)
		if errs[0] != nil || errs[1] != nil || errs[2] != nil {
			continue
		}
		m.path = strings.TrimSuffix(strings.Join(f[5:], " "), " (deleted)")
		out = append(out, m)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].lo < out[j].lo })
	return out
}

func (p *process) find(addr uint64) *mapping {
	i := sort.Search(len(p.maps), func(i int) bool { return p.maps[i].hi > addr })
	if i < len(p.maps) && p.maps[i].lo <= addr {
		return &p.maps[i]
	}
	return nil
}

// Name names the code at addr in pid. call says that addr is a return address, so
// that the call before it is meant.
func (t *Table) Name(pid uint32, addr uint64, call bool) Frame {
	p := t.process(pid)
	key := namedAddr{addr, pc}
	if call {
		key.as = ret
	}
	if fr, ok := p.names[key]; ok {
		return fr
	}
	fr, keep := t.name(p, pid, addr, call)
	if keep {
		if p.names == nil || len(p.names) >= maxNames {
			p.names = map[namedAddr]Frame{}
		}
		p.names[key] = fr
	}
	return fr
}

// name does that without looking at what was asked before. keep says that the answer holds as long as the mappings do.
func (t *Table) name(p *process, pid uint32, addr uint64, call bool) (fr Frame, keep bool) {
	fr.Addr = addr
	at := addr
	if call && at > 0 {
		at--
	}
	m := t.locate(p, pid, at)
	switch {
	case pid == several:
		return fr, false
	case m == nil:
		return t.fromKnown(fr, at), false
	}
	fr.Module = m.path
	fr.Rel = at - m.lo + m.off
	img := t.imageOf(pid, m)
	if img == nil {
		return fr, true
	}
	if va, ok := vaddr(img, m, at); ok {
		fr.Rel = va
		fr.Frames = found(img.Lookup(va), addr-at)
	}
	return fr, true
}

// locate finds what pid has at an address.
func (t *Table) locate(p *process, pid uint32, at uint64) *mapping {
	m := p.find(at)
	if m == nil && t.Events != nil {
		m = t.mapped(pid, at)
	}
	if m == nil && !p.gone && (t.Events == nil || time.Since(p.seen) > patience) {
		p.read(pid) // the process may have loaded something since
		m = p.find(at)
	}
	return m
}

// imageOf is the image that is mapped at m; nil for what is none.
func (t *Table) imageOf(pid uint32, m *mapping) debuginfo.Image {
	if m.path == vdsoName {
		return t.vdso()
	}
	if !strings.HasPrefix(m.path, "/") {
		return nil
	}
	return t.image(pid, m.path)
}

// found makes distances from the functions' beginnings those of the address that was asked for, which was looked up
// by bytes before it.
func found(fs []debuginfo.Frame, by uint64) []debuginfo.Frame {
	for i := range fs {
		fs[i].Off += by
	}
	return fs
}

// vaddr turns a run-time address into the file's own: by the mapping's file offset.
func vaddr(img debuginfo.Image, m *mapping, at uint64) (uint64, bool) {
	base := img.LoadBase()
	// Try the offset from the load base first, which holds for all usual layouts; the image
	// confirms it by mapping the address back to the file offset.
	off := at - m.lo + m.off
	for _, va := range []uint64{off + base, at} {
		if got, err := img.FileOffset(va); err == nil && got == off {
			return va, true
		}
	}
	// Text segments whose address is not base + offset: search by function.
	for delta := uint64(0x1000); delta <= 0x4000; delta += 0x1000 {
		va := off + base + delta
		if got, err := img.FileOffset(va); err == nil && got == off {
			return va, true
		}
	}
	return 0, false
}

func (t *Table) fromKnown(fr Frame, at uint64) Frame {
	for _, img := range t.Known {
		if img.LoadBase() == 0 {
			continue // position independent: the address says nothing
		}
		if fs := img.Lookup(at); fs != nil {
			fr.Frames, fr.Module, fr.Rel = found(fs, fr.Addr-at), img.Path(), at
			return fr
		}
	}
	return fr
}

// ImageOf is the image of a program that the script names; nil where it cannot be read.
func (t *Table) ImageOf(path string) debuginfo.Image {
	if to := t.Moved[path]; to != "" {
		path = to
	}
	return t.image(uint32(os.Getpid()), path)
}

func (t *Table) image(pid uint32, path string) debuginfo.Image {
	// The process may live in another mount namespace.
	name := path
	if st, err := os.Stat(path); err != nil || !sameFile(pid, path, st) {
		name = filepath.Join(fmt.Sprintf("/proc/%d/root", pid), path)
	}
	if img, ok := t.images[name]; ok {
		return img
	}
	if t.images == nil {
		t.images = map[string]debuginfo.Image{}
	}
	for _, img := range t.Known {
		if img.Path() == name {
			if part, ok := img.(interface{ Whole() debuginfo.Image }); ok {
				img = part.Whole()
			}
			t.images[name] = img
			return img
		}
	}
	img, err := t.Open(name)
	if err != nil {
		img = nil
	}
	t.images[name] = img
	return img
}

func sameFile(pid uint32, path string, st os.FileInfo) bool {
	other, err := os.Stat(fmt.Sprintf("/proc/%d/root%s", pid, path))
	return err != nil || os.SameFile(st, other)
}

// Text gives the text that usymname and usymdata show: "name" or "name+0xoff [module]", of the function whose code
// it is: the distance is counted from there, also where the address is in the copy of another one.
func (f Frame) Text(withData bool) string {
	if len(f.Frames) == 0 {
		if !withData || f.Module == "" {
			return fmt.Sprintf("0x%x", f.Addr)
		}
		return fmt.Sprintf("0x%x [%s+0x%x]", f.Addr, filepath.Base(f.Module), f.Rel)
	}
	of := f.Frames[len(f.Frames)-1]
	if !withData {
		return of.Func
	}
	return fmt.Sprintf("%s+0x%x [%s]", of.Func, of.Off, filepath.Base(f.Module))
}

// Line gives "file:line", or the address when unknown.
func (f Frame) Line() string {
	if len(f.Frames) == 0 || f.Frames[0].File == "" {
		return fmt.Sprintf("0x%x", f.Addr)
	}
	return fmt.Sprintf("%s:%d", f.Frames[0].File, f.Frames[0].Line)
}

// Source gives the source file and the line of the address, ok false where they are not known.
func (f Frame) Source() (file string, line int, ok bool) {
	if len(f.Frames) == 0 || f.Frames[0].File == "" {
		return "", 0, false
	}
	return f.Frames[0].File, f.Frames[0].Line, true
}

// Backtrace writes a stack one frame a line, innermost first, inlined frames marked:
//
//	0x4a2f31 : main.work at /src/main.go:12 (inlined)
//	0x4a2f31 : main.step+0x31 at /src/main.go:30 [app]
func (t *Table) Backtrace(pid uint32, stack Trace) string {
	var b strings.Builder
	for i, addr := range stack.PCs {
		t.Name(pid, addr, !stack.exact(i)).lines(&b)
	}
	if stack.Cut {
		b.WriteString(" ...\n")
	}
	return b.String()
}

// Lines are those of Backtrace for one address.
func (f Frame) Lines() string {
	var b strings.Builder
	f.lines(&b)
	return b.String()
}

func (f Frame) lines(b *strings.Builder) {
	if len(f.Frames) == 0 {
		fmt.Fprintf(b, " 0x%x : %s\n", f.Addr, f.Text(true))
		return
	}
	for _, fr := range f.Frames {
		if fr.Inline {
			fmt.Fprintf(b, " 0x%x : %s at %s:%d (inlined)\n", f.Addr, fr.Func, fr.File, fr.Line)
			continue
		}
		fmt.Fprintf(b, " 0x%x : %s+0x%x", f.Addr, fr.Func, fr.Off)
		if fr.File != "" {
			fmt.Fprintf(b, " at %s:%d", fr.File, fr.Line)
		}
		fmt.Fprintf(b, " [%s]\n", filepath.Base(f.Module))
	}
}

// Brief are the names of the functions alone, inlined ones among them, a line each.
func (f Frame) Brief() string {
	if len(f.Frames) == 0 {
		return fmt.Sprintf(" 0x%x\n", f.Addr)
	}
	var b strings.Builder
	for _, fr := range f.Frames {
		fmt.Fprintf(&b, " %s\n", fr.Func)
	}
	return b.String()
}

// Hex writes a stack of a program as ubacktrace() gives it: addresses with spaces between, and " ..." where it goes on.
func (t Trace) Hex() string {
	if t.Cut {
		return strings.TrimPrefix(Hex(t.PCs)+" ...", " ")
	}
	return Hex(t.PCs)
}

// Hex writes a stack as backtrace() gives it: addresses with spaces between.
func Hex(stack []uint64) string {
	var b strings.Builder
	for i, a := range stack {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "0x%x", a)
	}
	return b.String()
}
