// Package pclntab reads .gopclntab, the function table that every Go program carries for its
// own stack traces. Stripping leaves it in place, and reading it needs no inflating.
//
// In: an ELF file (Open) or the bytes of the table (New). Out, by function index in address
// order: names, address ranges, files and lines, inlined calls, stack depth at a pc. The
// formats are those of Go 1.16 to 1.17 (magic 0xfffffffa), 1.18 to 1.19 (0xfffffff0) and 1.20
// on (0xfffffff1), as the runtime's symtab.go, runtime2.go and symtabinl.go declare them.
//
// The bytes are trusted for nothing: offsets that lead out of the table give zero values or
// ErrCorrupt, never a panic.
package pclntab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// ErrCorrupt is wrapped by errors about tables that contradict themselves.
var ErrCorrupt = errors.New("damaged .gopclntab")

// ErrVersion is wrapped by errors about tables of Go releases that are not supported.
var ErrVersion = errors.New("unsupported .gopclntab version")

// Version is the table's format by the Go release that introduced it.
type Version int

// The formats.
const (
	Go116 Version = 116
	Go118 Version = 118
	Go120 Version = 120
)

func (v Version) String() string {
	switch v {
	case Go116:
		return "Go 1.16-1.17"
	case Go118:
		return "Go 1.18-1.19"
	case Go120:
		return "Go 1.20+"
	}
	return "unknown"
}

// Table is one .gopclntab.
type Table struct {
	version Version
	text    uint64 // what function entries count from, from Go 1.18 on
	nfunc   int
	quantum uint64 // pc deltas are in units of it; 1 on amd64

	names []byte // funcnametab: NUL-terminated names
	cus   []byte // cutab: uint32 offsets into files
	files []byte // filetab: NUL-terminated paths
	pcs   []byte // pctab: pc-value tables
	funcs []byte // pclntable: functab, then the _func records

	gofunc uint64 // address that funcdata offsets count from, from Go 1.18 on; 0 unknown
	mem    func(addr uint64, n int) ([]byte, error)
	types  [2]uint64 // see Types

	cursors [16]cursor // see valueAt
	tops    []int32    // how many calls were inlined into each function, + 1; 0 as long as that is not known
	lastInl struct {   // what Inlined said last
		i     int // of function i - 1
		calls []Inlined
		ok    bool
	}
	made map[uint32]string // names of files that were asked for, by offset into files
	// Names of inlined functions likewise, by offset into names.
	inlNames map[uint32]string
	// What rangesOf works with: the pieces, and for each call its last one and how many it has.
	pieces []piece
	lasts  [][2]int
}

var le = binary.LittleEndian

// Header is what the table's first bytes say.
type Header struct {
	Version   Version
	Funcs     int
	TextStart uint64 // 0 in Go 1.26 and in relocated files
	offs      [5]uint64
	quantum   uint8
	size      int
}

// ParseHeader reads the header alone.
func ParseHeader(tab []byte) (Header, error) {
	var h Header
	if len(tab) < 8 {
		return h, fmt.Errorf("%w: %d bytes", ErrCorrupt, len(tab))
	}
	switch m := le.Uint32(tab); m {
	case 0xfffffffa:
		h.Version = Go116
	case 0xfffffff0:
		h.Version = Go118
	case 0xfffffff1:
		h.Version = Go120
	case 0xfffffffb:
		return h, fmt.Errorf("%w: Go 1.2-1.15 (magic %#x); 1.16 or later is needed", ErrVersion, m)
	default:
		return h, fmt.Errorf("%w: magic %#x", ErrVersion, m)
	}
	if tab[4] != 0 || tab[5] != 0 || tab[6] != 1 || tab[7] != 8 {
		return h, fmt.Errorf("%w: header % x is of a machine that is not known", ErrCorrupt, tab[:8])
	}
	h.quantum = tab[6]
	words := 8
	if h.Version == Go116 {
		words = 7
	}
	h.size = 8 + 8*words
	if len(tab) < h.size {
		return h, fmt.Errorf("%w: %d bytes", ErrCorrupt, len(tab))
	}
	w := func(i int) uint64 { return le.Uint64(tab[8+8*i:]) }
	n := w(0)
	if n > uint64(len(tab)) {
		return h, fmt.Errorf("%w: %d functions in %d bytes", ErrCorrupt, n, len(tab))
	}
	h.Funcs = int(n)
	first := 2
	if h.Version != Go116 {
		h.TextStart = w(2)
		first = 3
	}
	for i := range h.offs {
		if h.offs[i] = w(first + i); h.offs[i] > uint64(len(tab)) {
			return h, fmt.Errorf("%w: part %d begins at %#x of %#x", ErrCorrupt, i, h.offs[i], len(tab))
		}
	}
	return h, nil
}

// New reads a table. text is the address of runtime.text, gofunc that of go:func.* (0 if
// unknown: inlined calls are then not found) and mem reads the image at an address.
func New(tab []byte, text, gofunc uint64, mem func(addr uint64, n int) ([]byte, error)) (*Table, error) {
	h, err := ParseHeader(tab)
	if err != nil {
		return nil, err
	}
	t := &Table{version: h.Version, text: text, nfunc: h.Funcs, quantum: uint64(h.quantum), gofunc: gofunc, mem: mem}
	t.names, t.cus, t.files, t.pcs, t.funcs = tab[h.offs[0]:], tab[h.offs[1]:], tab[h.offs[2]:], tab[h.offs[3]:],
		tab[h.offs[4]:]
	// The parts follow each other in the order funcnametab, cutab, filetab, pctab, pclntable.
	for i, p := range []*[]byte{&t.names, &t.cus, &t.files, &t.pcs} {
		if h.offs[i+1] >= h.offs[i] {
			*p = (*p)[:h.offs[i+1]-h.offs[i]]
		}
	}
	if need := t.nfunc*t.stride() + t.stride()/2; t.nfunc > len(t.funcs)/t.stride() || need > len(t.funcs) {
		return nil, fmt.Errorf("%w: %d functions do not fit", ErrCorrupt, t.nfunc)
	}
	return t, nil
}

// stride is the size of one functab entry: pc and offset of the _func record.
func (t *Table) stride() int {
	if t.version == Go116 {
		return 16
	}
	return 8
}

// Version is the table's format.
func (t *Table) Version() Version { return t.version }

// Text is the address that the code begins at.
func (t *Table) Text() uint64 { return t.text }

// Len is the number of functions.
func (t *Table) Len() int { return t.nfunc }

// Entry is the address of function i's first byte.
func (t *Table) Entry(i int) uint64 {
	if i < 0 || i > t.nfunc {
		return 0
	}
	if t.version == Go116 {
		return le.Uint64(t.funcs[i*16:])
	}
	return t.text + uint64(le.Uint32(t.funcs[i*8:]))
}

// End is the address behind function i, with the padding that follows it.
func (t *Table) End(i int) uint64 { return t.Entry(i + 1) }

// CodeEnd is the address behind function i's last instruction: End without the padding.
func (t *Table) CodeEnd(i int) uint64 {
	r := t.record(i)
	if r == nil {
		return 0
	}
	p := t.pcvalue(le.Uint32(r[recPCLine:]), t.Entry(i))
	for p.next() {
	}
	return min(p.pc, t.End(i))
}

// Find gives the index of the function that covers pc, -1 if none.
func (t *Table) Find(pc uint64) int {
	if t.nfunc == 0 || pc < t.Entry(0) || pc >= t.Entry(t.nfunc) {
		return -1
	}
	return sort.Search(t.nfunc, func(i int) bool { return t.Entry(i) > pc }) - 1
}

// record is function i's _func without the entry pc: name offset first. nil if it is not in the table.
func (t *Table) record(i int) []byte {
	if i < 0 || i >= t.nfunc {
		return nil
	}
	var off uint64
	if t.version == Go116 {
		off = le.Uint64(t.funcs[i*16+8:]) + 8
	} else {
		off = uint64(le.Uint32(t.funcs[i*8+4:])) + 4
	}
	if off > uint64(len(t.funcs)) || uint64(len(t.funcs))-off < 40 {
		return nil
	}
	return t.funcs[off:]
}

// Offsets in what record returns. All are the same in the supported versions but for startLine,
// which 1.20 put before the four bytes at the end.
const (
	recName        = 0
	recArgs        = 4
	recDeferReturn = 8
	recPCSP        = 12
	recPCFile      = 16
	recPCLine      = 20
	recNPCData     = 24
	recCU          = 28
	recStartLine   = 32 // Go120
)

// tail is the offset of funcID, flag, padding, nfuncdata.
func (t *Table) tail() int {
	if t.version == Go120 {
		return 36
	}
	return 32
}

func cut(b []byte, off uint32) []byte {
	if uint64(off) >= uint64(len(b)) {
		return nil
	}
	b = b[off:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return nil
}

// NameBytes is function i's name, as a part of the table. It must not be changed, and is valid
// as long as the table is.
func (t *Table) NameBytes(i int) []byte {
	r := t.record(i)
	if r == nil {
		return nil
	}
	return cut(t.names, le.Uint32(r[recName:]))
}

// Name is function i's name.
func (t *Table) Name(i int) string { return string(t.NameBytes(i)) }

// StartLine is the line of the func keyword, 0 if the version does not tell.
func (t *Table) StartLine(i int) int {
	r := t.record(i)
	if r == nil || t.version != Go120 {
		return 0
	}
	return int(int32(le.Uint32(r[recStartLine:])))
}

// Flags of a function (internal/abi.FuncFlag); Go 1.16 has none.
const (
	FlagTopFrame = 1 << iota
	FlagSPWrite  // assigns to SP: the stack depth is unknown
	FlagAsm      // assembly
)

// Flags gives function i's FuncFlag bits.
func (t *Table) Flags(i int) uint8 {
	r := t.record(i)
	if r == nil {
		return 0
	}
	// Go 1.16 has padding here; it is zero.
	return r[t.tail()+1]
}

// DeferReturn is the address of the call of runtime.deferreturn that a recovered panic of
// function i continues at, 0 if it has none.
func (t *Table) DeferReturn(i int) uint64 {
	r := t.record(i)
	if r == nil {
		return 0
	}
	if off := le.Uint32(r[recDeferReturn:]); off != 0 {
		return t.Entry(i) + uint64(off)
	}
	return 0
}

// Named lists the functions with exactly this name, in address order.
func (t *Table) Named(name string) []int {
	offs := t.nameOffsets(name)
	if len(offs) == 0 {
		return nil
	}
	return t.byNameOffset(func(off uint32) bool {
		for _, o := range offs {
			if o == off {
				return true
			}
		}
		return false
	})
}

// nameOffsets finds where name stands in funcnametab: once, as the linker writes it.
func (t *Table) nameOffsets(name string) []uint32 {
	if name == "" || bytes.IndexByte([]byte(name), 0) >= 0 {
		return nil
	}
	needle := append(append([]byte{0}, name...), 0)
	var offs []uint32
	if bytes.HasPrefix(t.names, needle[1:]) {
		offs = append(offs, 0)
	}
	for at := 0; ; {
		i := bytes.Index(t.names[at:], needle)
		if i < 0 {
			return offs
		}
		at += i + 1
		offs = append(offs, uint32(at))
	}
}

func (t *Table) byNameOffset(want func(uint32) bool) []int {
	var out []int
	for i := range t.nfunc {
		if r := t.record(i); r != nil && want(le.Uint32(r[recName:])) {
			out = append(out, i)
		}
	}
	return out
}

// Select lists the functions whose names match accepts, in address order.
func (t *Table) Select(match func(name []byte) bool) []int {
	var out []int
	for i := range t.nfunc {
		if r := t.record(i); r != nil && match(cut(t.names, le.Uint32(r[recName:]))) {
			out = append(out, i)
		}
	}
	return out
}

// Names calls f with every name in the table, those of functions that exist only
// inlined included, until f returns false.
func (t *Table) Names(f func(name []byte) bool) {
	for b := t.names; len(b) > 0; {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return
		}
		if i > 0 && !f(b[:i]) {
			return
		}
		b = b[i+1:]
	}
}

// ArgsSize is the size of function i's arguments and results on the stack as declared: of
// assembly, what its TEXT line says. ok is false if it is not known.
func (t *Table) ArgsSize(i int) (int64, bool) {
	r := t.record(i)
	if r == nil {
		return 0, false
	}
	n := int32(le.Uint32(r[recArgs:]))
	return int64(n), n >= 0 // else internal/abi.ArgsSizeUnknown
}

// Types gives where the types lie that the program has for itself (runtime.moduledata.types and etypes); zeros where
// that is not known.
func (t *Table) Types() (lo, hi uint64) { return t.types[0], t.types[1] }
