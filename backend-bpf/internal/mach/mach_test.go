package mach

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
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
	for op, want := range map[asm.AtomicOp]uint32{asm.AddAtomic: 0, asm.FetchAdd: 1, asm.Xchg: 0xe1,
		asm.CmpXchg: 0xf1} {
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

// TestFarJumps: jumps over more than 32767 instructions, of all kinds and both ways, get to where they would have gone.
func TestFarJumps(t *testing.T) {
	for _, c := range []struct{ blocks, size int }{{3, 40000}, {20, 9000}, {400, 250}, {2000, 40}, {2, 70000}} {
		f := New("f")
		bs := make([]*Block, c.blocks)
		for i := range bs {
			bs[i] = f.NewBlock()
		}
		end := f.NewBlock()
		end.Ins = []Ins{ins(MovI, R0, None)}
		end.Term = Term{Kind: Exit}
		mark := func(i int) Ins { in := ins(MovI, R3, None); in.Imm = int64(i); return in }
		// Every block says who it is and goes on to the next, or to one that is anywhere.
		goal := map[int]int{}
		for i, b := range bs {
			b.Ins = append(b.Ins, mark(i))
			for range c.size {
				b.Ins = append(b.Ins, ins(Mov, R2, R1))
			}
			next := end
			if i+1 < len(bs) {
				next = bs[i+1]
			}
			goal[i] = i * 7919 % len(bs)
			b.Term = Term{Kind: Cond, Jop: asm.JEq, A: R1, B: None, Then: bs[goal[i]], Else: next}
			if i%5 == 4 {
				b.Term = Term{Kind: MayGoto, Then: bs[goal[i]], Else: next}
			}
		}
		out, err := f.Emit(nil)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		// follow goes on from an instruction by jumps alone until one that is none.
		isMark := func(k int) (int, bool) {
			return int(out[k].Constant), out[k].OpCode == asm.Mov.Op(asm.ImmSource) && out[k].Dst == asm.R3
		}
		follow := func(k int) int {
			for out[k].OpCode == asm.Ja.Op(asm.ImmSource) {
				k += 1 + int(out[k].Offset)
			}
			return k
		}
		seen, at, last := 0, -1, -1
		for k := range out {
			if n, ok := isMark(k); ok {
				if n != last+1 {
					t.Fatalf("%v: block %d behind %d", c, n, last)
				}
				at, last, seen = n, n, seen+1
				continue
			}
			op := out[k].OpCode.JumpOp()
			if !out[k].OpCode.Class().IsJump() || op == asm.Ja || op == asm.Exit {
				continue
			}
			if n, ok := isMark(follow(k + 1 + int(out[k].Offset))); !ok || n != goal[at] && n != at+1 {
				t.Fatalf("%v: the branch of block %d goes to %d, not %d", c, at, n, goal[at])
			}
			if rest := follow(k + 1); at+1 < c.blocks {
				if n, ok := isMark(rest); !ok || n != at+1 && n != goal[at] {
					t.Fatalf("%v: block %d goes on in %d", c, at, n)
				}
			}
		}
		if seen != c.blocks {
			t.Fatalf("%v: %d blocks", c, seen)
		}
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

// TestLiveness: in functions of random shape a register is needed where some way leads to a reader of it with no writer
// before.
func TestLiveness(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		f := New("f")
		for range 70 {
			f.NewReg()
		}
		reg := func() Reg { return Virtual + Reg(rnd.IntN(70)) }
		for range 1 + rnd.IntN(24) {
			b := f.NewBlock()
			for range rnd.IntN(5) {
				b.Ins = append(b.Ins, Ins{Op: Mov, Dst: reg(), Src: reg(), Slot: NoSlot},
					Ins{Op: ALU, Alu: asm.Add, Dst: reg(), Src: reg(), Slot: NoSlot},
					Ins{Op: Store, Dst: reg(), Src: reg(), Size: asm.DWord, Slot: NoSlot})
			}
		}
		for _, b := range f.Blocks {
			to := func() *Block { return f.Blocks[rnd.IntN(len(f.Blocks))] }
			switch rnd.IntN(8) {
			case 0:
				b.Kind = Exit
			case 1, 2:
				b.Term = Term{Kind: Jump, Then: to()}
			default:
				b.Term = Term{Kind: Cond, Jop: asm.JEq, A: reg(), B: None, Then: to(), Else: to()}
			}
		}
		f.Link()
		l := f.Liveness()
		for r := Virtual; r < f.NRegs; r++ {
			for _, b := range f.Blocks {
				if want := needed(b, r, map[*Block]bool{}); l.In(b, r) != want {
					t.Fatalf("r%d at block %d: %v, want %v", r, b.ID, !want, want)
				}
			}
		}
	}
}

// needed reports whether r is read on a way from b before anything writes it.
func needed(b *Block, r Reg, seen map[*Block]bool) bool {
	if seen[b] {
		return false
	}
	seen[b] = true
	reads := false
	for i := range b.Ins {
		if b.Ins[i].Uses(func(u Reg) { reads = reads || u == r }); reads {
			return true
		}
		if b.Ins[i].Def() == r {
			return false
		}
	}
	if b.TermUses(func(u Reg) { reads = reads || u == r }); reads {
		return true
	}
	for _, s := range slices.Clone(b.Succs()) {
		if needed(s, r, seen) {
			return true
		}
	}
	return false
}
