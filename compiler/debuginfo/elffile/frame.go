package elffile

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
	arch "github.com/gostap/gostap/compiler/machine"
)

// Frame describes the activation at a pc.
type Frame struct {
	// CFA computes the canonical frame address: the stack pointer before the call.
	CFA loc.Prog
	// Return computes the return address. Empty in functions that nothing calls (_start).
	Return loc.Prog
	// FP computes the caller's frame pointer register. Empty if it was lost.
	FP loc.Prog
}

// EntryFrame is the Frame at the first instruction of any function.
func EntryFrame(m *arch.Machine) (fr Frame) {
	fr.CFA, fr.Return = debuginfo.Called(m, false)
	fr.FP = loc.Register(m.FP)
	return fr
}

// NoFrameError says that no call frame information covers PC.
type NoFrameError struct{ PC uint64 }

func (e *NoFrameError) Error() string {
	return fmt.Sprintf("no call frame information for %#x", e.PC)
}

// fde is one frame description entry: the bytes of it and of its CIE, whose addresses
// matter in .eh_frame.
type fde struct {
	begin, size uint64
	off         int // in the section
}

type frameIndex struct {
	ready [2]bool // .eh_frame, .debug_frame
	err   [2]error
	fdes  [2][]fde // by begin
}

// Frame finds the frame at pc from the rules that Unwind finds. The error is a *NoFrameError when there are none.
func (f *File) Frame(pc uint64) (fr Frame, err error) {
	defer foreign.Guard(&err)()
	r, err := f.Unwind(pc)
	if err != nil {
		return Frame{}, err
	}
	switch r.CFA.Kind {
	case cfi.Register:
		fr.CFA = loc.Register(int(r.CFA.Reg)).Plus(r.CFA.Off)
	case cfi.ValExpr:
		if fr.CFA, err = dwexpr.Address(r.CFA.Expr, &dwexpr.Env{Machine: f.machine}); err != nil {
			return Frame{}, fmt.Errorf("frame at %#x: %w", pc, err)
		}
	default:
		return Frame{}, fmt.Errorf("%w: frame at %#x has no canonical address", foreign.ErrCorrupt, pc)
	}
	switch ret := r.Regs[f.machine.IP]; ret.Kind {
	case cfi.Offset:
		fr.Return = fr.CFA.Plus(ret.Off).Load(8, false, false)
	case cfi.Register:
		fr.Return = loc.Register(int(ret.Reg)).Plus(ret.Off)
	}
	switch fp := r.Regs[f.machine.FP]; fp.Kind {
	case cfi.Offset:
		fr.FP = fr.CFA.Plus(fp.Off).Load(8, false, false)
	case cfi.Same, cfi.Undefined: // what calls leave alone has no rule
		fr.FP = loc.Register(f.machine.FP)
	}
	return fr, nil
}

func (f *File) ehFrame() ([]byte, uint64) {
	addr, _, ok := f.SectionAddr(".eh_frame")
	if !ok || addr == 0 {
		return nil, 0
	}
	b, err := f.Section(".eh_frame")
	if err != nil {
		return nil, 0
	}
	return b, addr
}

// searchHeader looks pc up in .eh_frame_hdr (LSB core specification, "Exception frames"), in
// the one encoding that linkers write. ok is false when there is no such table or no entry.
func (f *File) searchHeader(pc, ehAddr uint64, ehLen int) (off int, ok bool) {
	addr, _, found := f.SectionAddr(".eh_frame_hdr")
	if !found {
		return 0, false
	}
	b, err := f.Section(".eh_frame_hdr")
	if err != nil || len(b) < 12 || b[0] != 1 || b[1] != 0x1b || b[2] != 0x03 || b[3] != 0x3b {
		return 0, false
	}
	n := min(int(dwread.LE32(b[8:])), (len(b)-12)/8)
	tab := b[12:]
	at := func(i int) uint64 { return addr + uint64(int64(int32(dwread.LE32(tab[8*i:])))) }
	i := sort.Search(n, func(i int) bool { return at(i) > pc }) - 1
	if i < 0 {
		return 0, false
	}
	rel := addr + uint64(int64(int32(dwread.LE32(tab[8*i+4:])))) - ehAddr
	if rel >= uint64(ehLen) {
		return 0, false
	}
	return int(rel), true
}

// searchFrames looks pc up in an index of all FDEs of .eh_frame (which 0) or .debug_frame (1).
func (f *File) searchFrames(which int, pc uint64, b []byte, ehAddr uint64) (off int, ok bool, err error) {
	x := &f.frames
	if !x.ready[which] {
		x.ready[which] = true
		if which == 1 {
			b, x.err[1] = f.Optional(".debug_frame")
		}
		if x.err[which] == nil {
			x.fdes[which], x.err[which] = indexFrames(b, ehAddr)
		}
	}
	if x.err[which] != nil {
		return 0, false, fmt.Errorf("%s: call frame information: %w", f.path, x.err[which])
	}
	fdes := x.fdes[which]
	i := sort.Search(len(fdes), func(i int) bool { return fdes[i].begin > pc }) - 1
	if i < 0 || pc-fdes[i].begin >= fdes[i].size {
		return 0, false, nil
	}
	return fdes[i].off, true, nil
}

// frameEntry is the header of one CIE or FDE.
type frameEntry struct {
	start, end int // with the length field
	cie        bool
	cieOff     int
	body       int // behind the CIE pointer
}

// readFrameEntry reads the header at off (DWARF 5, 6.4.1; LSB for .eh_frame). ok is false at the
// terminator and at the end.
func readFrameEntry(b []byte, off int, eh bool) (e frameEntry, ok bool, err error) {
	r := &dwread.Reader{Bytes: b, Off: off}
	n, dwarf64 := r.UnitLength()
	if n == 0 || r.Err != nil {
		return e, false, r.Err
	}
	if dwarf64 {
		return e, false, fmt.Errorf("%w: 64-bit format", foreign.ErrCorrupt)
	}
	if n < 4 || n > uint64(len(b)-r.Off) {
		return e, false, fmt.Errorf("%w: entry at %#x is cut short", foreign.ErrCorrupt, off)
	}
	e.start, e.end = off, r.Off+int(n)
	at := r.Off
	id := r.U32()
	e.body = r.Off
	switch {
	case eh && id == 0, !eh && id == 0xffffffff:
		e.cie = true
	case eh:
		e.cieOff = at - int(id)
	default:
		e.cieOff = int(id)
	}
	return e, true, r.Err
}

// pointer encodings of .eh_frame (LSB, "DWARF exception header encoding").
const (
	encAbs    = 0x00
	encUdata4 = 0x03
	encUdata8 = 0x04
	encSdata4 = 0x0b
	encSdata8 = 0x0c
	encPCRel  = 0x10
	encOmit   = 0xff
)

// encodedSize is the size of a pointer in the encoding, 0 if it is not one of fixed size.
func encodedSize(enc uint8) int {
	switch enc & 0x0f {
	case encAbs, encUdata8, encSdata8:
		return 8
	case encUdata4, encSdata4:
		return 4
	case 0x02, 0x0a:
		return 2
	}
	return 0
}

// encoded reads a pointer in the encoding from a section that is at addr.
func encoded(r *dwread.Reader, enc uint8, addr uint64) uint64 {
	at := addr + uint64(r.Off)
	var v uint64
	switch enc & 0x0f {
	case encSdata4:
		v = uint64(int64(int32(r.U32())))
	case 0x0a:
		v = uint64(int64(int16(r.U16())))
	default:
		v = r.Uint(encodedSize(enc))
	}
	if enc&0x70 == encPCRel {
		v += at
	}
	return v
}

// cieEncoding finds the pointer encoding that the FDEs of a CIE of .eh_frame use.
func cieEncoding(b []byte, e frameEntry) (uint8, error) {
	r := &dwread.Reader{Bytes: b[:e.end], Off: e.body}
	version := r.U8()
	aug := dwread.CString(string(b[min(r.Off, e.end):e.end]), 0)
	r.Skip(len(aug) + 1)
	if aug == "" {
		return encAbs, r.Err
	}
	if aug[0] != 'z' {
		return 0, fmt.Errorf("unsupported augmentation %q", aug)
	}
	r.Uleb()
	r.Sleb()
	if version == 1 {
		r.U8()
	} else {
		r.Uleb()
	}
	r.Uleb()
	for _, c := range aug[1:] {
		switch c {
		case 'R':
			return r.U8(), r.Err
		case 'L':
			r.U8()
		case 'P':
			enc := r.U8()
			n := encodedSize(enc)
			if n == 0 {
				return 0, fmt.Errorf("unsupported pointer encoding %#x", enc)
			}
			r.Skip(n)
		case 'S', 'B':
		default:
			return 0, fmt.Errorf("unsupported augmentation %q", aug)
		}
	}
	return encAbs, r.Err
}

// indexFrames lists the FDEs of a section; ehAddr is the address of an .eh_frame, 0 for .debug_frame.
func indexFrames(b []byte, ehAddr uint64) ([]fde, error) {
	var fdes []fde
	enc := map[int]uint8{}
	for off := 0; off < len(b); {
		e, ok, err := readFrameEntry(b, off, ehAddr != 0)
		if err != nil {
			return nil, err
		}
		if !ok {
			off += 4
			continue
		}
		off = e.end
		if e.cie {
			continue
		}
		code := uint8(encAbs)
		if ehAddr != 0 {
			c, seen := enc[e.cieOff]
			if !seen {
				cie, ok, err := readFrameEntry(b, e.cieOff, true)
				if err != nil || !ok || !cie.cie {
					return nil, fmt.Errorf("%w: entry at %#x has no CIE", foreign.ErrCorrupt, e.start)
				}
				if c, err = cieEncoding(b, cie); err != nil {
					return nil, err
				}
				enc[e.cieOff] = c
			}
			code = c
		}
		r := &dwread.Reader{Bytes: b[:e.end], Off: e.body}
		begin := encoded(r, code, ehAddr)
		size := encoded(r, code&0x0f, 0)
		if r.Err != nil {
			return nil, r.Err
		}
		if size != 0 {
			fdes = append(fdes, fde{begin, size, e.start})
		}
	}
	slices.SortFunc(fdes, func(a, b fde) int { return cmp.Compare(a.begin, b.begin) })
	return fdes, nil
}

// FrameRange gives the code that the entry of call frame information about pc is for.
func (f *File) FrameRange(pc uint64) (lo, hi uint64, ok bool) {
	var err error
	defer func() { ok = ok && err == nil }()
	defer foreign.Guard(&err)()
	eh, ehAddr := f.ehFrame()
	if eh == nil {
		return 0, 0, false
	}
	off, found, err := f.searchFrames(0, pc, eh, ehAddr)
	if err != nil || !found {
		return 0, 0, false
	}
	for _, d := range f.frames.fdes[0] {
		if d.off == off {
			return d.begin, d.begin + d.size, true
		}
	}
	return 0, 0, false
}
