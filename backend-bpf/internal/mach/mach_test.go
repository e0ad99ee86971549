package mach

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/cilium/ebpf/asm"
)

func ins(op Op, dst, src Reg) Ins {
	return Ins{Op: op, Dst: dst, Src: src, Slot: NoSlot, Size: asm.DWord}
}

// TestEmit: the usual way falls through, cold blocks come last, jumps count wide instructions twice, chains of empty
// blocks are skipped.
func TestEmit(t *testing.T) {
	f := New("f")
	a, hot, cold, empty, end := f.NewBlock(), f.NewBlock(), f.NewBlock(), f.NewBlock(), f.NewBlock()
	cold.Cold = true
	a.Term = Term{Kind: Cond, Jop: asm.JEq, A: R1, B: None, Imm: 5, Then: cold, Else: hot}
	wide := ins(MovI, R2, None)
	wide.Imm = 1 << 40
	hot.Ins = []Ins{wide}
	hot.Term = Term{Kind: Jump, Then: empty}
	empty.Term = Term{Kind: Jump, Then: end}
	cold.Ins = []Ins{ins(Mov, R3, R1)}
	cold.Term = Term{Kind: Jump, Then: end}
	end.Ins = []Ins{ins(MovI, R0, None)}
	end.Term = Term{Kind: Exit}
	out, err := f.Emit(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, in := range out {
		got.WriteString(strings.Split(strings.TrimSpace(in.OpCode.String()), " ")[0])
		if in.OpCode.Class().IsJump() && in.OpCode.JumpOp() != asm.Exit {
			got.WriteString("+" + string(rune('0'+in.Offset)))
			if in.Offset < 0 {
				got.WriteString("(back)")
			}
		}
		got.WriteByte('\n')
	}
	if len(out) != 6 || out[0].Offset != 4 || out[5].Offset != -4 {
		t.Errorf("got\n%s", got.String())
	}
}

// TestInvert: a branch to the block that comes next is turned around.
func TestInvert(t *testing.T) {
	f := New("f")
	a, b, c := f.NewBlock(), f.NewBlock(), f.NewBlock()
	c.Cold = true
	a.Term = Term{Kind: Cond, Jop: asm.JSLT, A: R1, B: R2, Then: b, Else: c}
	for _, x := range []*Block{b, c} {
		x.Ins = []Ins{ins(MovI, R0, None)}
		x.Term = Term{Kind: Exit}
	}
	out, err := f.Emit(nil)
	if err != nil {
		t.Fatal(err)
	}
	if op := out[0].OpCode.JumpOp(); op != asm.JSGE || len(out) != 5 {
		t.Errorf("%v", out)
	}
}

// TestAtomics: the operation of a fetching atomic is in the encoded instruction (the library of this version leaves it
// out of its own).
func TestAtomics(t *testing.T) {
	for op, want := range map[asm.AtomicOp]uint32{asm.AddAtomic: 0, asm.FetchAdd: 1, asm.Xchg: 0xe1, asm.CmpXchg: 0xf1} {
		f := New("f")
		b := f.NewBlock()
		in := ins(Atomic, R1, R2)
		in.At = op
		b.Ins = []Ins{in}
		b.Term = Term{Kind: Exit}
		out, err := f.Emit(nil)
		if err != nil {
			t.Fatal(err)
		}
		var buf bytes.Buffer
		if err := out.Marshal(&buf, binary.LittleEndian); err != nil {
			t.Fatal(err)
		}
		if got := binary.LittleEndian.Uint32(buf.Bytes()[4:]); got != want {
			t.Errorf("%v: constant %#x, want %#x", op, got, want)
		}
	}
}

// TestTooLarge: a jump that does not reach is an error.
func TestTooLarge(t *testing.T) {
	f := New("f")
	a, b, c := f.NewBlock(), f.NewBlock(), f.NewBlock()
	a.Term = Term{Kind: Cond, Jop: asm.JEq, A: R1, B: None, Then: c, Else: b}
	for range 40000 {
		b.Ins = append(b.Ins, ins(Mov, R2, R3))
	}
	b.Term = Term{Kind: Jump, Then: c}
	c.Ins = []Ins{ins(MovI, R0, None)}
	c.Term = Term{Kind: Exit}
	if _, err := f.Emit(nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// TestLoops finds two nested ones, and what is live over them.
func TestLoops(t *testing.T) {
	f := New("f")
	start, outer, inner, tail, end := f.NewBlock(), f.NewBlock(), f.NewBlock(), f.NewBlock(), f.NewBlock()
	n, dead := f.NewReg(), f.NewReg()
	start.Ins = []Ins{ins(Mov, n, R1)}
	start.Term = Term{Kind: Jump, Then: outer}
	outer.Ins = []Ins{ins(Mov, dead, n)}
	outer.Term = Term{Kind: Jump, Then: inner}
	inner.Term = Term{Kind: Cond, Jop: asm.JEq, A: n, B: None, Then: tail, Else: inner}
	tail.Ins = []Ins{ins(Neg, n, None)}
	tail.Term = Term{Kind: Cond, Jop: asm.JEq, A: n, B: None, Then: end, Else: outer}
	end.Ins = []Ins{ins(MovI, R0, None)}
	end.Term = Term{Kind: Exit}
	f.Link()
	if l := f.Loops(); len(l) != 2 {
		t.Errorf("%d loops", len(l))
	}
	if inner.Depth != 2 || tail.Depth != 1 || end.Depth != 0 {
		t.Errorf("depths %d %d %d", inner.Depth, tail.Depth, end.Depth)
	}
	live := f.Liveness()
	if !live.In(inner, n) || live.In(inner, dead) {
		t.Error("wrong registers live in the inner loop")
	}
	f.DropDead()
	for _, b := range f.Blocks {
		for _, in := range b.Ins {
			if in.Def() == dead {
				t.Error("a dead instruction is left")
			}
		}
	}
}
