package godwarf

import (
	"bytes"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/foreign"
)

// framed is where functions that change stacks have their frame: behind PUSHQ BP; MOVQ SP, BP (see Unwind).
const framed = 4

// UnwindPieces gives what Unwind tells of all code, packed.
func (im *Image) UnwindPieces() (out []cfi.Piece, err error) {
	defer foreign.Guard(&err)()
	for i := range im.tab.Len() {
		p := cfi.Piece{Begin: im.tab.Entry(i), End: im.tab.End(i)}
		if p.End <= p.Begin || im.registry().foreign(i) {
			continue
		}
		if im.tab.Flags(i)&^pclntab.FlagAsm == 0 && !bytes.HasPrefix(im.tab.NameBytes(i), []byte("runtime.")) {
			p.Rows = im.tab.FrameRows(i)
		} else {
			for _, pc := range im.tab.FrameChanges(i, p.Begin+framed) {
				rule := cfi.Packed(cfi.PackUnknown)
				if r, err := im.Unwind(pc); err == nil {
					rule = r.Pack()
				}
				p.Rows = append(p.Rows, cfi.Row{PC: pc, Rule: rule})
			}
			p = entered(p, out)
		}
		out = append(out, p)
	}
	return im.f.UnwindBeside(out)
}

// entered moves the beginning of what a signal's handler returns to a byte forward, to where a walk looks that takes
// its first byte for the address behind a call. There is padding of the function before, out's last.
func entered(p cfi.Piece, out []cfi.Piece) cfi.Piece {
	if len(p.Rows) == 0 || p.Rows[0].Rule.Kind() != cfi.PackSignal || p.Rows[0].PC != p.Begin {
		return p
	}
	p.Begin--
	p.Rows[0].PC--
	if n := len(out); n > 0 && out[n-1].End == p.Begin+1 {
		out[n-1].End--
	}
	return p
}
