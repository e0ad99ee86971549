package godwarf

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/foreign"
)

// Lookup names the functions that the instruction at addr belongs to, innermost first, from the
// function table alone. Outside of Go code it is what a symbol tells, if there is one.
func (im *Image) Lookup(addr uint64) (frames []debuginfo.Frame) {
	var err error
	defer foreign.Guard(&err)()
	i := im.tab.Find(addr)
	if i < 0 || im.registry().foreign(i) {
		if s, ok := im.f.SymbolAt(addr); ok && im.f.InText(addr) { // C code of a program with cgo
			return []debuginfo.Frame{{Func: s.Name, Off: addr - s.Addr}}
		}
		return nil
	}
	fr := im.tab.Frames(i, addr)
	for n, f := range fr {
		frames = append(frames, debuginfo.Frame{
			Func: string(pclntab.Unescape([]byte(f.Name))), File: f.File, Line: f.Line,
			Off: addr - im.tab.Entry(i), Inline: n < len(fr)-1,
		})
	}
	return frames
}
