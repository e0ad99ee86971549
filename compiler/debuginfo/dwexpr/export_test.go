package dwexpr

import (
	"bytes"
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/op"
)

// What tests that read whole programs need, which stand outside: the readers of programs import this package.
var (
	Evaluate = evaluate
	TestEnv  = testEnv
	Memory8  = memory8
)

// SamePieces compares what the two evaluators make of an expression.
func SamePieces(own []piece, addr int64, theirs []op.Piece, regs []uint64) error {
	if theirs == nil {
		if len(own) != 1 || own[0].kind != inMemory || runProg(own[0].prog, regs) != uint64(addr) {
			return fmt.Errorf("%+v, Delve has the address %#x", own, uint64(addr))
		}
		return nil
	}
	if len(own) != len(theirs) {
		return fmt.Errorf("%d pieces, Delve has %d", len(own), len(theirs))
	}
	for i, p := range own {
		w := theirs[i]
		same := len(own) == 1 || p.size == int64(w.Size)
		switch {
		case p.kind == inMemory:
			same = same && w.Kind == op.AddrPiece && runProg(p.prog, regs) == w.Val
		case p.kind == inReg:
			same = same && w.Kind == op.RegPiece && uint64(p.reg) == w.Val
		case p.kind == isValue:
			same = same && w.Kind == op.ImmPiece && runProg(p.prog, regs) == w.Val
		case p.kind == isBytes:
			same = same && w.Kind == op.ImmPiece && bytes.Equal(p.data, w.Bytes)
		default: // lost: Delve has an address of 0 or a value of nothing
			same = same && w.Val == 0 && len(w.Bytes) == 0
		}
		if !same {
			return fmt.Errorf("piece %d is %+v, Delve has %+v", i, p, w)
		}
	}
	return nil
}
