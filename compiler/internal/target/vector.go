package target

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
)

// readable is pl, a place of a variable of img, with what is in vector registers where handlers can read those: their
// low 64 bits.
func (e *Env) readable(img debuginfo.Image, pl loc.Place) loc.Place {
	if !e.Vectors || img == nil || pl.InMemory {
		return pl
	}
	pieces := make([]loc.Piece, len(pl.Pieces))
	for i, p := range pl.Pieces {
		if p.Vector != 0 && !p.Lost && p.Size <= wordSize {
			p.Val = loc.Register(img.Machine().Vector + p.Vector - 1)
		}
		pieces[i] = p
	}
	pl.Pieces = pieces
	return pl
}

// inVector is why what is in vector register p.Vector cannot be read; it says what that is.
func inVector(is string, p loc.Piece) error {
	if p.Size > wordSize {
		return fail("%s in vector register %d, of which scripts can have 64 bits", is, p.Vector-1)
	}
	return fail("%s in vector register %d, which eBPF programs cannot read", is, p.Vector-1).(*problem).
		advise("kernel modules can: --runtime=kernel; else it can be read where the program has it in memory: " +
			"members, elements, and variables in a build without optimisation")
}
