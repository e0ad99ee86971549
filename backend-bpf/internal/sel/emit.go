package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/source"
)

// code writes machine instructions into the current block.
type code struct {
	f   *mach.Func
	cur *mach.Block
	pos source.Pos
	via source.Pos // of the instruction at pos
	// lock is the lock class held now, -1 for none. Blocks are tagged with what is held at their end.
	lock int
}

func (c *code) emit(in mach.Ins) {
	in.Pos = c.pos
	c.cur.Ins = append(c.cur.Ins, in)
}

func (c *code) reg() mach.Reg { return c.f.NewReg() }

// block makes a block that is as likely as the current one, cold one on a path that is seldom taken.
func (c *code) block() *mach.Block {
	b := c.f.NewBlock()
	b.Cold = c.cur != nil && c.cur.Cold
	return b
}
func (c *code) cold() *mach.Block { b := c.f.NewBlock(); b.Cold = true; return b }

func (c *code) set(b *mach.Block) { c.cur = b }

// here ends the current block by going to b, and goes on in b.
func (c *code) here(b *mach.Block) {
	c.jump(b)
	c.cur = b
}

func (c *code) jump(b *mach.Block) {
	c.cur.Tag = c.lock
	c.cur.Term = mach.Term{Kind: mach.Jump, Then: b, Pos: c.pos}
}

// ret ends the function with a result.
func (c *code) ret(result int64) {
	c.movI(mach.R0, result)
	c.cur.Term = mach.Term{Kind: mach.Exit}
}

// condI goes to then if a op imm and to els otherwise; the current block is els afterwards.
func (c *code) condI(op asm.JumpOp, a mach.Reg, imm int64, then, els *mach.Block) {
	if imm != int64(int32(imm)) {
		c.cond(op, a, c.imm(imm), then, els)
		return
	}
	c.cur.Tag = c.lock
	c.cur.Term = mach.Term{Kind: mach.Cond, Jop: op, A: a, B: mach.None, Imm: int32(imm), Then: then, Else: els, Pos: c.pos}
	c.cur = els
}

// condInt is condI for results that are an int in C: functions of maps that the verifier calls directly leave anything in the
// upper half before Linux 6.4, where they became longs.
func (c *code) condInt(op asm.JumpOp, a mach.Reg, imm int32, then, els *mach.Block) {
	c.cur.Tag = c.lock
	c.cur.Term = mach.Term{Kind: mach.Cond, Jop: op, A: a, B: mach.None, Imm: imm, W32: true, Then: then, Else: els, Pos: c.pos}
	c.cur = els
}

func (c *code) cond(op asm.JumpOp, a, b mach.Reg, then, els *mach.Block) {
	c.cur.Tag = c.lock
	c.cur.Term = mach.Term{Kind: mach.Cond, Jop: op, A: a, B: b, Then: then, Else: els, Pos: c.pos}
	c.cur = els
}

// unlessI goes to b if a op imm and continues here otherwise.
func (c *code) unlessI(op asm.JumpOp, a mach.Reg, imm int64, b *mach.Block) {
	c.condI(op, a, imm, b, c.block())
}

func (c *code) unless(op asm.JumpOp, a, x mach.Reg, b *mach.Block) { c.cond(op, a, x, b, c.block()) }

func (c *code) imm(v int64) mach.Reg {
	r := c.reg()
	c.movI(r, v)
	return r
}

func (c *code) movI(dst mach.Reg, v int64) {
	c.emit(mach.Ins{Op: mach.MovI, Dst: dst, Src: mach.None, Imm: v, Slot: mach.NoSlot})
}
func (c *code) mov(dst, src mach.Reg) {
	c.emit(mach.Ins{Op: mach.Mov, Dst: dst, Src: src, Slot: mach.NoSlot})
}

// copy gives a new register with the value of r.
func (c *code) copy(r mach.Reg) mach.Reg {
	d := c.reg()
	c.mov(d, r)
	return d
}

func (c *code) alu(op asm.ALUOp, dst, src mach.Reg) {
	c.emit(mach.Ins{Op: mach.ALU, Alu: op, Dst: dst, Src: src, Slot: mach.NoSlot})
}

func (c *code) aluI(op asm.ALUOp, dst mach.Reg, v int64) {
	if v != int64(int32(v)) {
		c.alu(op, dst, c.imm(v))
		return
	}
	c.emit(mach.Ins{Op: mach.ALUI, Alu: op, Dst: dst, Src: mach.None, Imm: v, Slot: mach.NoSlot})
}

// bin gives a new register with a op b, binI with a op v.
func (c *code) bin(op asm.ALUOp, a, b mach.Reg) mach.Reg {
	d := c.copy(a)
	c.alu(op, d, b)
	return d
}

func (c *code) binI(op asm.ALUOp, a mach.Reg, v int64) mach.Reg {
	d := c.copy(a)
	c.aluI(op, d, v)
	return d
}

func (c *code) neg(dst mach.Reg) {
	c.emit(mach.Ins{Op: mach.Neg, Dst: dst, Src: mach.None, Slot: mach.NoSlot})
}

func (c *code) swap(dst mach.Reg, size asm.Size) {
	c.emit(mach.Ins{Op: mach.Swap, Dst: dst, Src: mach.None, Size: size, Slot: mach.NoSlot})
}

// near gives a base and an offset that fits an instruction.
func (c *code) near(base mach.Reg, off int) (mach.Reg, int) {
	if off == int(int16(off)) {
		return base, off
	}
	return c.binI(asm.Add, base, int64(off)), 0
}

func (c *code) load(dst, base mach.Reg, off int, size asm.Size) {
	base, off = c.near(base, off)
	c.emit(mach.Ins{Op: mach.Load, Dst: dst, Src: base, Off: int32(off), Size: size, Slot: mach.NoSlot})
}

// get loads into a new register.
func (c *code) get(base mach.Reg, off int, size asm.Size) mach.Reg {
	d := c.reg()
	c.load(d, base, off, size)
	return d
}

func (c *code) store(base mach.Reg, off int, src mach.Reg, size asm.Size) {
	base, off = c.near(base, off)
	c.emit(mach.Ins{Op: mach.Store, Dst: base, Src: src, Off: int32(off), Size: size, Slot: mach.NoSlot})
}

func (c *code) storeI(base mach.Reg, off int, v int64, size asm.Size) {
	if v != int64(int32(v)) && size == asm.DWord {
		c.store(base, off, c.imm(v), size)
		return
	}
	base, off = c.near(base, off)
	c.emit(mach.Ins{Op: mach.StoreI, Dst: base, Src: mach.None, Off: int32(off), Imm: v, Size: size, Slot: mach.NoSlot})
}

// The same on the stack.

func (c *code) loadS(dst mach.Reg, s mach.Slot, off int, size asm.Size) {
	c.emit(mach.Ins{Op: mach.Load, Dst: dst, Src: mach.FP, Off: int32(off), Size: size, Slot: s})
}

func (c *code) getS(s mach.Slot, off int, size asm.Size) mach.Reg {
	d := c.reg()
	c.loadS(d, s, off, size)
	return d
}

func (c *code) storeS(s mach.Slot, off int, src mach.Reg, size asm.Size) {
	c.emit(mach.Ins{Op: mach.Store, Dst: mach.FP, Src: src, Off: int32(off), Size: size, Slot: s})
}

func (c *code) storeIS(s mach.Slot, off int, v int64, size asm.Size) {
	if v != int64(int32(v)) && size == asm.DWord {
		c.storeS(s, off, c.imm(v), size)
		return
	}
	c.emit(mach.Ins{Op: mach.StoreI, Dst: mach.FP, Src: mach.None, Off: int32(off), Imm: v, Size: size, Slot: s})
}

// addr gives the address of a byte of a slot.
func (c *code) addr(s mach.Slot, off int) mach.Reg {
	d := c.reg()
	c.emit(mach.Ins{Op: mach.Addr, Dst: d, Src: mach.None, Off: int32(off), Slot: s})
	return d
}

// atomic does op on the word at base + off. The source of a fetching operation receives the old value.
func (c *code) atomic(op asm.AtomicOp, base mach.Reg, off int, src mach.Reg, size asm.Size) {
	base, off = c.near(base, off)
	c.emit(mach.Ins{Op: mach.Atomic, At: op, Dst: base, Src: src, Off: int32(off), Size: size, Slot: mach.NoSlot})
}

// mapVal gives the address of a byte in the value of an array map with one element.
func (c *code) mapVal(m string, off int) mach.Reg {
	d := c.reg()
	c.emit(mach.Ins{Op: mach.MapVal, Dst: d, Src: mach.None, Sym: m, Imm: int64(off), Slot: mach.NoSlot})
	return d
}

// arg is an argument of a helper.
type arg struct {
	kind argKind
	reg  mach.Reg
	imm  int64
	slot mach.Slot
	sym  string
}

type argKind uint8

const (
	argReg argKind = iota
	argImm
	argSlot
	argMap
	argVal
	argFunc
)

func aReg(r mach.Reg) arg            { return arg{kind: argReg, reg: r} }
func aImm(v int64) arg               { return arg{kind: argImm, imm: v} }
func aSlot(s mach.Slot, off int) arg { return arg{kind: argSlot, slot: s, imm: int64(off)} }
func aMap(m string) arg              { return arg{kind: argMap, sym: m} }
func aMapVal(m string, off int) arg  { return arg{kind: argVal, sym: m, imm: int64(off)} }
func aFunc(name string) arg          { return arg{kind: argFunc, sym: name} }

// call calls a helper and gives its result.
func (c *code) call(fn asm.BuiltinFunc, args ...arg) mach.Reg {
	c.args(args)
	c.emit(mach.Ins{Op: mach.Call, Imm: int64(fn), NArgs: uint8(len(args)), Dst: mach.None, Src: mach.None, Slot: mach.NoSlot})
	return c.copy(mach.R0)
}

// callFn calls a function of the program and gives its result.
func (c *code) callFn(name string, args ...arg) mach.Reg {
	c.args(args)
	c.emit(mach.Ins{Op: mach.CallFn, Sym: name, NArgs: uint8(len(args)), Dst: mach.None, Src: mach.None, Slot: mach.NoSlot})
	return c.copy(mach.R0)
}

func (c *code) args(args []arg) {
	for i, a := range args {
		r := mach.R1 + mach.Reg(i)
		in := mach.Ins{Dst: r, Src: mach.None, Imm: a.imm, Sym: a.sym, Slot: mach.NoSlot}
		switch a.kind {
		case argReg:
			in.Op, in.Src = mach.Mov, a.reg
		case argImm:
			in.Op = mach.MovI
		case argSlot:
			in.Op, in.Slot, in.Off = mach.Addr, a.slot, int32(a.imm)
		case argMap:
			in.Op = mach.MapPtr
		case argVal:
			in.Op = mach.MapVal
		case argFunc:
			in.Op = mach.FuncPtr
		}
		c.emit(in)
	}
}

// size gives the access size of n bytes.
func size(n int) asm.Size {
	switch n {
	case 1:
		return asm.Byte
	case 2:
		return asm.Half
	case 4:
		return asm.Word
	}
	return asm.DWord
}
