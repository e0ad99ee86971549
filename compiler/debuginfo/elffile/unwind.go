package elffile

import (
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
)

// Unwind gives the rules by which the caller of the code at pc is found, from .eh_frame (by the search table of
// .eh_frame_hdr where there is one) or .debug_frame. The error is a *NoFrameError when neither covers pc.
func (f *File) Unwind(pc uint64) (r *cfi.Rules, err error) {
	defer foreign.Guard(&err)()
	eh, ehAddr := f.ehFrame()
	if eh != nil {
		if off, ok := f.searchHeader(pc, ehAddr, len(eh)); ok {
			if e, err := f.unwindEntry(eh, off, ehAddr); err == nil && pc >= e.Begin && pc < e.End {
				return e.At(pc)
			}
		}
	}
	src := f
	if d := f.debug; d != nil && !f.HasSection(".debug_frame") {
		src = d
	}
	if off, ok, err := src.searchFrames(1, pc, nil, 0); err == nil && ok {
		b, err := src.Section(".debug_frame")
		if err != nil {
			return nil, err
		}
		return f.unwindAt(b, off, pc, 0)
	} else if err != nil {
		return nil, err
	}
	if eh != nil {
		if off, ok, err := f.searchFrames(0, pc, eh, ehAddr); err != nil {
			return nil, err
		} else if ok {
			return f.unwindAt(eh, off, pc, ehAddr)
		}
	}
	return nil, &NoFrameError{pc}
}

func (f *File) unwindAt(b []byte, off int, pc, ehAddr uint64) (*cfi.Rules, error) {
	e, err := f.unwindEntry(b, off, ehAddr)
	if err != nil {
		return nil, err
	}
	if pc < e.Begin || pc >= e.End {
		return nil, &NoFrameError{pc}
	}
	return e.At(pc)
}

// unwindEntry reads the FDE at off and its CIE. ehAddr is the address of an .eh_frame, 0 for .debug_frame.
func (f *File) unwindEntry(b []byte, off int, ehAddr uint64) (*cfi.Entry, error) {
	eh := ehAddr != 0
	e, ok, err := readFrameEntry(b, off, eh)
	if err != nil {
		return nil, err
	}
	if !ok || e.cie {
		return nil, fmt.Errorf("%w: no frame entry at %#x", foreign.ErrCorrupt, off)
	}
	c, ok, err := readFrameEntry(b, e.cieOff, eh)
	if err != nil || !ok || !c.cie {
		return nil, fmt.Errorf("%w: frame entry at %#x has no CIE", foreign.ErrCorrupt, off)
	}
	out, enc, aug := &cfi.Entry{Machine: f.machine}, uint8(encAbs), ""
	r := &dwread.Reader{Bytes: b[:c.end], Off: c.body}
	version := r.U8()
	aug = dwread.CString(string(b[min(r.Off, c.end):c.end]), 0)
	r.Skip(len(aug) + 1)
	if version == 4 {
		if size, seg := r.U8(), r.U8(); size != 8 || seg != 0 {
			return nil, fmt.Errorf("%w: CIE with addresses of %d bytes", foreign.ErrCorrupt, size)
		}
	}
	out.CodeAlign = r.Uleb()
	out.DataAlign = r.Sleb()
	if version == 1 {
		out.RetReg = uint64(r.U8())
	} else {
		out.RetReg = r.Uleb()
	}
	switch {
	case aug == "":
	case aug[0] != 'z':
		return nil, fmt.Errorf("unsupported augmentation %q", aug)
	default:
		end := r.Uleb()
		end += uint64(r.Off)
		for _, ch := range aug[1:] {
			switch ch {
			case 'R':
				enc = r.U8()
			case 'L':
				r.U8()
			case 'P':
				n := encodedSize(r.U8())
				if n == 0 {
					return nil, errors.New("unsupported pointer encoding")
				}
				r.Skip(n)
			case 'S':
				out.Signal = true
			case 'B':
			default:
				return nil, fmt.Errorf("unsupported augmentation %q", aug)
			}
		}
		if r.Err == nil && (end > uint64(c.end) || end < uint64(r.Off)) {
			return nil, fmt.Errorf("%w: augmentation of CIE at %#x", foreign.ErrCorrupt, c.start)
		}
		r.Off = int(min(end, uint64(c.end)))
	}
	if r.Err != nil {
		return nil, r.Err
	}
	out.Initial = b[r.Off:c.end]
	if encodedSize(enc) == 0 {
		return nil, fmt.Errorf("unsupported pointer encoding %#x", enc)
	}
	r = &dwread.Reader{Bytes: b[:e.end], Off: e.body}
	out.Begin = encoded(r, enc, ehAddr)
	out.End = out.Begin + encoded(r, enc&0x0f, 0)
	if aug != "" {
		r.Skip(int(min(r.Uleb(), uint64(e.end))))
	}
	if r.Err != nil {
		return nil, r.Err
	}
	out.Insns = b[r.Off:e.end]
	out.Loc = func(rest []byte) (uint64, int) {
		at := &dwread.Reader{Bytes: b[:e.end], Off: e.end - len(rest)}
		from := at.Off
		v := encoded(at, enc, ehAddr)
		if at.Err != nil {
			return 0, 0
		}
		return v, at.Off - from
	}
	return out, nil
}
