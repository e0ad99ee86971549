package regalloc

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// machine runs a function, before or after registers are assigned.
type machine struct {
	regs  map[mach.Reg]uint64
	stack map[[2]int]uint64 // by slot and offset
	calls uint64
	far   uint64 // address of the far memory
}

func (m *machine) run(f *mach.Func, steps int) (uint64, error) {
	b := f.Blocks[0]
	for ; steps > 0; steps-- {
		for i := range b.Ins {
			if err := m.ins(&b.Ins[i]); err != nil {
				return 0, fmt.Errorf("block %d, instruction %d: %w", b.ID, i, err)
			}
		}
		switch b.Kind {
		case mach.Exit:
			return m.regs[mach.R0], nil
		case mach.Jump:
			b = b.Then
		case mach.Cond:
			x, err := m.get(b.A)
			y := uint64(int64(b.Imm))
			if b.B != mach.None && err == nil {
				y, err = m.get(b.B)
			}
			if err != nil {
				return 0, err
			}
			yes := map[asm.JumpOp]bool{asm.JEq: x == y, asm.JNE: x != y, asm.JLT: x < y,
				asm.JSGT: int64(x) > int64(y)}[b.Jop]
			if yes {
				b = b.Then
			} else {
				b = b.Else
			}
		}
	}
	return 0, errors.New("no end")
}

func (m *machine) get(r mach.Reg) (uint64, error) {
	v, ok := m.regs[r]
	if !ok {
		return 0, fmt.Errorf("register %d is read before it is written", r)
	}
	return v, nil
}

func (m *machine) ins(in *mach.Ins) error {
	var err error
	in.Uses(func(r mach.Reg) {
		if _, e := m.get(r); e != nil && err == nil {
			err = e
		}
	})
	if err != nil {
		return err
	}
	r := m.regs
	if in.Slot == mach.NoSlot {
		base := mach.None
		switch in.Op {
		case mach.Load:
			base = in.Src
		case mach.Store, mach.StoreI:
			base = in.Dst
		}
		if base != mach.None && r[base] != m.far {
			return fmt.Errorf("register %d has another address than that of the far memory", base)
		}
	}
	switch in.Op {
	case mach.Nop:
	case mach.Mov:
		r[in.Dst] = r[in.Src]
	case mach.MovI:
		r[in.Dst] = uint64(in.Imm)
	case mach.ALU, mach.ALUI:
		y := uint64(in.Imm)
		if in.Op == mach.ALU {
			y = r[in.Src]
		}
		switch in.Alu {
		case asm.Add:
			r[in.Dst] += y
		case asm.Xor:
			r[in.Dst] ^= y
		case asm.Mul:
			r[in.Dst] *= y
		}
	case mach.Neg:
		r[in.Dst] = -r[in.Dst]
	case mach.Store:
		m.stack[[2]int{int(in.Slot), int(in.Off)}] = r[in.Src]
	case mach.StoreI:
		m.stack[[2]int{int(in.Slot), int(in.Off)}] = uint64(in.Imm)
	case mach.Load:
		v, ok := m.stack[[2]int{int(in.Slot), int(in.Off)}]
		if !ok {
			return errors.New("the stack is read before it is written")
		}
		r[in.Dst] = v
	case mach.Atomic:
		at := [2]int{int(in.Slot), int(in.Off)}
		old := m.stack[at]
		switch in.At {
		case asm.FetchAdd:
			m.stack[at] += r[in.Src]
			r[in.Src] = old
		case asm.CmpXchg:
			if old == r[mach.R0] {
				m.stack[at] = r[in.Src]
			}
			r[mach.R0] = old
		}
	case mach.Call:
		m.calls++
		sum := m.calls
		for i := range mach.Reg(in.NArgs) {
			sum = sum*31 + r[mach.R1+i]
		}
		r[mach.R0] = sum
		for i := mach.R1; i <= mach.R5; i++ {
			delete(r, i)
		}
	default:
		return fmt.Errorf("operation %d", in.Op)
	}
	return nil
}

// random writes a function of blocks that only go forward, with more values alive than there are registers. Every other
// value may go to far memory, if there is any.
func random(r *rand.Rand, far bool) *mach.Func {
	f := mach.New("random")
	f.Params = 2
	n := 4 + r.IntN(30)
	vals := make([]mach.Reg, n)
	slot := f.NewSlot(8)
	blocks := make([]*mach.Block, 3+r.IntN(12))
	for i := range blocks {
		blocks[i] = f.NewBlock()
		blocks[i].Cold = i > 0 && r.IntN(5) == 0
	}
	emit := func(b *mach.Block, in mach.Ins) { b.Ins = append(b.Ins, in) }
	op := func(o mach.Op, dst, src mach.Reg) mach.Ins {
		return mach.Ins{Op: o, Dst: dst, Src: src, Slot: mach.NoSlot, Size: asm.DWord}
	}
	first := blocks[0]
	if far {
		f.Far = mach.Far{Base: f.NewReg(), Off: 64, Room: 80, May: map[mach.Reg]bool{}}
		emit(first, op(mach.Mov, f.Far.Base, mach.R2))
	}
	for i := range vals {
		vals[i] = f.NewReg()
		if far && i%2 == 0 {
			f.Far.May[vals[i]] = true
		}
		switch i {
		case 0:
			emit(first, op(mach.Mov, vals[i], mach.R1))
		case 1:
			emit(first, op(mach.Mov, vals[i], mach.R2))
		default:
			in := op(mach.MovI, vals[i], mach.None)
			in.Imm = int64(r.Uint64() >> uint(r.IntN(60)))
			emit(first, in)
		}
	}
	emit(first, mach.Ins{Op: mach.StoreI, Dst: mach.FP, Src: mach.None, Slot: slot, Imm: 7, Size: asm.DWord})
	pick := func() mach.Reg { return vals[r.IntN(n)] }
	for i, b := range blocks {
		for range r.IntN(12) {
			switch r.IntN(9) {
			case 0, 1:
				in := op(mach.ALU, pick(), pick())
				in.Alu = []asm.ALUOp{asm.Add, asm.Xor, asm.Mul}[r.IntN(3)]
				emit(b, in)
			case 2:
				in := op(mach.ALUI, pick(), mach.None)
				in.Alu, in.Imm = asm.Add, int64(r.IntN(1000))
				emit(b, in)
			case 3:
				emit(b, op(mach.Mov, pick(), pick()))
			case 4:
				emit(b, op(mach.Neg, pick(), mach.None))
			case 5:
				args := r.IntN(6)
				for a := range args {
					emit(b, op(mach.Mov, mach.R1+mach.Reg(a), pick()))
				}
				in := op(mach.Call, mach.None, mach.None)
				in.NArgs = uint8(args)
				emit(b, in)
				emit(b, op(mach.Mov, pick(), mach.R0))
			case 6:
				in := op(mach.Atomic, mach.FP, pick())
				in.At, in.Slot = asm.FetchAdd, slot
				emit(b, in)
			case 7:
				emit(b, op(mach.Mov, mach.R0, pick()))
				in := op(mach.Atomic, mach.FP, pick())
				in.At, in.Slot = asm.CmpXchg, slot
				emit(b, in)
				emit(b, op(mach.Mov, pick(), mach.R0))
			case 8:
				in := op(mach.Load, pick(), mach.FP)
				in.Slot = slot
				emit(b, in)
			}
		}
		if i == len(blocks)-1 {
			sum := f.NewReg()
			emit(b, op(mach.MovI, sum, mach.None))
			for _, v := range vals {
				in := op(mach.ALUI, sum, mach.None)
				in.Alu, in.Imm = asm.Mul, 31
				emit(b, in)
				in = op(mach.ALU, sum, v)
				in.Alu = asm.Add
				emit(b, in)
			}
			emit(b, op(mach.Mov, mach.R0, sum))
			b.Term = mach.Term{Kind: mach.Exit}
			break
		}
		next := blocks[i+1]
		b.Term = mach.Term{Kind: mach.Jump, Then: next}
		if r.IntN(3) > 0 {
			b.Term = mach.Term{Kind: mach.Cond, Jop: []asm.JumpOp{asm.JEq, asm.JNE, asm.JLT, asm.JSGT}[r.IntN(4)],
				A: pick(), B: pick(), Then: blocks[i+1+r.IntN(len(blocks)-i-1)], Else: next}
			if r.IntN(2) == 0 {
				b.B, b.Imm = mach.None, int32(r.IntN(100))
			}
		}
	}
	return f
}

// TestRandom: a function computes the same with machine registers as with virtual ones, and then uses no others.
func TestRandom(t *testing.T) {
	spilled, off := 0, 0
	for seed := range uint64(1200) {
		far := seed >= 600
		f, g := random(rand.New(rand.NewPCG(seed, 1)), far), random(rand.New(rand.NewPCG(seed, 1)), far)
		st, err := Run(g)
		if errors.Is(err, ErrStack) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		spilled += st.Spilled
		off += g.Far.Used
		if g.Far.Used > g.Far.Room {
			t.Fatalf("seed %d: %d bytes of far memory", seed, g.Far.Used)
		}
		for _, b := range g.Blocks {
			for i := range b.Ins {
				in := &b.Ins[i]
				check := func(r mach.Reg) {
					if r.IsVirtual() {
						t.Fatalf("seed %d: register %d is left", seed, r)
					}
				}
				in.Uses(check)
				check(in.Def())
			}
			b.TermUses(func(r mach.Reg) {
				if r.IsVirtual() {
					t.Fatalf("seed %d: register %d is left at the end of a block", seed, r)
				}
			})
		}
		for _, arg := range []uint64{0, 1, 1 << 63, 12345} {
			start := func() *machine {
				return &machine{regs: map[mach.Reg]uint64{mach.R1: arg, mach.R2: ^arg}, stack: map[[2]int]uint64{},
					far: ^arg}
			}
			want, err := start().run(f, 1000)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got, err := start().run(g, 1000); err != nil || got != want {
				t.Fatalf("seed %d, argument %d: got %d %v, want %d", seed, arg, got, err, want)
			}
		}
		// Slots do not overlap and lie in the frame.
		used := map[int]bool{}
		for _, s := range g.Slots {
			for o := s.Off; s.Used && o < s.Off+s.Size; o++ {
				if used[o] || o >= 0 || -o > st.Stack {
					t.Fatalf("seed %d: slot at %d", seed, s.Off)
				}
				used[o] = true
			}
		}
	}
	if spilled == 0 || off == 0 {
		t.Error("nothing was spilled", spilled, off)
	}
}

// TestCalls: a value that lives across a call gets a register that calls keep.
func TestCalls(t *testing.T) {
	f := mach.New("calls")
	b := f.NewBlock()
	v := f.NewReg()
	b.Ins = []mach.Ins{
		{Op: mach.Mov, Dst: v, Src: mach.R1, Slot: mach.NoSlot},
		{Op: mach.Call, Dst: mach.None, Src: mach.None, Slot: mach.NoSlot, Imm: int64(asm.FnKtimeGetNs)},
		{Op: mach.ALU, Alu: asm.Add, Dst: v, Src: mach.R0, Slot: mach.NoSlot},
		{Op: mach.Mov, Dst: mach.R0, Src: v, Slot: mach.NoSlot},
	}
	b.Term = mach.Term{Kind: mach.Exit}
	st, err := Run(f)
	if err != nil {
		t.Fatal(err)
	}
	if st.Spilled != 0 || st.Stack != 0 {
		t.Errorf("spilled %d, %d bytes of stack", st.Spilled, st.Stack)
	}
	if r := f.Blocks[0].Ins[0].Dst; r < mach.R6 || r > mach.R9 {
		t.Errorf("value is in r%d", r)
	}
}

// TestForward: a spilled value that is needed twice in a row is loaded once, and one that nobody needs is not stored.
func TestForward(t *testing.T) {
	f := mach.New("forward")
	b := f.NewBlock()
	op := func(o mach.Op, dst, src mach.Reg) {
		b.Ins = append(b.Ins, mach.Ins{Op: o, Alu: asm.Xor, Dst: dst, Src: src, Slot: mach.NoSlot, Size: asm.DWord})
	}
	const n = 12
	var vals [n]mach.Reg
	for i := range vals { // each lives across the calls behind it
		vals[i] = f.NewReg()
		op(mach.Call, mach.None, mach.None)
		op(mach.Mov, vals[i], mach.R0)
	}
	op(mach.Call, mach.None, mach.None)
	sum := f.NewReg()
	op(mach.Mov, sum, mach.R0)
	for _, v := range vals {
		op(mach.ALU, sum, v)
		op(mach.Neg, sum, mach.None)
		op(mach.ALU, sum, v)
	}
	op(mach.Mov, mach.R0, sum)
	b.Term = mach.Term{Kind: mach.Exit}
	st, err := Run(f)
	if err != nil || st.Spilled < n-4 {
		t.Fatal(st, err)
	}
	loads, stores := map[mach.Slot]int{}, map[mach.Slot]int{}
	for _, in := range f.Blocks[0].Ins {
		switch in.Op {
		case mach.Load:
			loads[in.Slot]++
		case mach.Store:
			stores[in.Slot]++
		}
	}
	for s := range stores {
		if loads[s] != stores[s] {
			t.Errorf("slot %d: %d loads of %d values", s, loads[s], stores[s])
		}
	}
}
