// Package emit writes machine instructions over virtual registers (package mach), one at a time: into the current
// block of a function, with the memory that a handler works in.
//
// In: what to do, in the machine's own operations. Out: the blocks of a mach.Func. It knows nothing of scripts.
package emit

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/source"
)

// Flags and results of map updates.
const (
	UpdateAny   = 0
	UpdateNew   = 1
	ErrnoExists = -17
)

// Code writes machine instructions into the current block.
type Code struct {
	F   *mach.Func
	Cur *mach.Block
	Pos source.Pos
	Via source.Pos // of the instruction at Pos
	// Lock is the lock class held now, -1 for none. Blocks are tagged with what is held at their end.
	Lock int
}

// Emit adds an instruction to the current block.
func (c *Code) Emit(in mach.Ins) {
	in.Pos = c.Pos
	if c.Cur.Ins == nil {
		c.Cur.Ins = make([]mach.Ins, 0, 4)
	}
	c.Cur.Ins = append(c.Cur.Ins, in)
}

// Reg makes a register.
func (c *Code) Reg() mach.Reg { return c.F.NewReg() }

// Block makes a block that is as likely as the current one.
func (c *Code) Block() *mach.Block {
	b := c.F.NewBlock()
	b.Cold = c.Cur != nil && c.Cur.Cold
	return b
}

// Cold makes a block on a path that is seldom taken.
func (c *Code) Cold() *mach.Block { b := c.F.NewBlock(); b.Cold = true; return b }

// Set goes on in b.
func (c *Code) Set(b *mach.Block) { c.Cur = b }

// Here ends the current block by going to b, and goes on in b.
func (c *Code) Here(b *mach.Block) {
	c.Jump(b)
	c.Cur = b
}

// Jump ends the current block by going to b.
func (c *Code) Jump(b *mach.Block) {
	c.Cur.Tag = c.Lock
	c.Cur.Term = mach.Term{Kind: mach.Jump, Then: b, Pos: c.Pos}
}

// Ret ends the function with a result.
func (c *Code) Ret(result int64) {
	c.MovI(mach.R0, result)
	c.Cur.Term = mach.Term{Kind: mach.Exit}
}

// CondI goes to then if a op imm and to els otherwise; the current block is els afterwards.
func (c *Code) CondI(op asm.JumpOp, a mach.Reg, imm int64, then, els *mach.Block) {
	if imm != int64(int32(imm)) {
		c.Cond(op, a, c.Imm(imm), then, els)
		return
	}
	c.Cur.Tag = c.Lock
	c.Cur.Term = mach.Term{Kind: mach.Cond, Jop: op, A: a, B: mach.None, Imm: int32(imm), Then: then, Else: els,
		Pos: c.Pos}
	c.Cur = els
}

// CondInt is CondI for results that are an int in C: functions of maps that the verifier calls directly leave anything
// in the upper half before Linux 6.4, where they became longs.
func (c *Code) CondInt(op asm.JumpOp, a mach.Reg, imm int32, then, els *mach.Block) {
	c.Cur.Tag = c.Lock
	c.Cur.Term = mach.Term{Kind: mach.Cond, Jop: op, A: a, B: mach.None, Imm: imm, W32: true, Then: then, Else: els,
		Pos: c.Pos}
	c.Cur = els
}

// Cond goes to then if a op b and to els otherwise; the current block is els afterwards.
func (c *Code) Cond(op asm.JumpOp, a, b mach.Reg, then, els *mach.Block) {
	c.Cur.Tag = c.Lock
	c.Cur.Term = mach.Term{Kind: mach.Cond, Jop: op, A: a, B: b, Then: then, Else: els, Pos: c.Pos}
	c.Cur = els
}

// UnlessI goes to b if a op imm and continues here otherwise.
func (c *Code) UnlessI(op asm.JumpOp, a mach.Reg, imm int64, b *mach.Block) {
	c.CondI(op, a, imm, b, c.Block())
}

// Unless goes to b if a op x and continues here otherwise.
func (c *Code) Unless(op asm.JumpOp, a, x mach.Reg, b *mach.Block) { c.Cond(op, a, x, b, c.Block()) }

// Imm gives a new register with a number.
func (c *Code) Imm(v int64) mach.Reg {
	r := c.Reg()
	c.MovI(r, v)
	return r
}

// MovI sets dst to a number.
func (c *Code) MovI(dst mach.Reg, v int64) {
	c.Emit(mach.Ins{Op: mach.MovI, Dst: dst, Src: mach.None, Imm: v, Slot: mach.NoSlot})
}

// Mov sets dst to src.
func (c *Code) Mov(dst, src mach.Reg) {
	c.Emit(mach.Ins{Op: mach.Mov, Dst: dst, Src: src, Slot: mach.NoSlot})
}

// Copy gives a new register with the value of r.
func (c *Code) Copy(r mach.Reg) mach.Reg {
	d := c.Reg()
	c.Mov(d, r)
	return d
}

// Alu does dst = dst op src.
func (c *Code) Alu(op asm.ALUOp, dst, src mach.Reg) {
	c.Emit(mach.Ins{Op: mach.ALU, Alu: op, Dst: dst, Src: src, Slot: mach.NoSlot})
}

// AluI does dst = dst op v.
func (c *Code) AluI(op asm.ALUOp, dst mach.Reg, v int64) {
	if v != int64(int32(v)) {
		c.Alu(op, dst, c.Imm(v))
		return
	}
	c.Emit(mach.Ins{Op: mach.ALUI, Alu: op, Dst: dst, Src: mach.None, Imm: v, Slot: mach.NoSlot})
}

// Bin gives a new register with a op b, BinI with a op v.
func (c *Code) Bin(op asm.ALUOp, a, b mach.Reg) mach.Reg {
	d := c.Copy(a)
	c.Alu(op, d, b)
	return d
}

// BinI gives a new register with a op v.
func (c *Code) BinI(op asm.ALUOp, a mach.Reg, v int64) mach.Reg {
	d := c.Copy(a)
	c.AluI(op, d, v)
	return d
}

// Neg negates dst.
func (c *Code) Neg(dst mach.Reg) {
	c.Emit(mach.Ins{Op: mach.Neg, Dst: dst, Src: mach.None, Slot: mach.NoSlot})
}

// Swap turns the bytes of dst around.
func (c *Code) Swap(dst mach.Reg, size asm.Size) {
	c.Emit(mach.Ins{Op: mach.Swap, Dst: dst, Src: mach.None, Size: size, Slot: mach.NoSlot})
}

// near gives a base and an offset that fits an instruction.
func (c *Code) near(base mach.Reg, off int) (mach.Reg, int) {
	if off == int(int16(off)) {
		return base, off
	}
	return c.BinI(asm.Add, base, int64(off)), 0
}

// Load loads from base + off.
func (c *Code) Load(dst, base mach.Reg, off int, size asm.Size) {
	base, off = c.near(base, off)
	c.Emit(mach.Ins{Op: mach.Load, Dst: dst, Src: base, Off: int32(off), Size: size, Slot: mach.NoSlot})
}

// Get loads into a new register.
func (c *Code) Get(base mach.Reg, off int, size asm.Size) mach.Reg {
	d := c.Reg()
	c.Load(d, base, off, size)
	return d
}

// Store stores src at base + off.
func (c *Code) Store(base mach.Reg, off int, src mach.Reg, size asm.Size) {
	base, off = c.near(base, off)
	c.Emit(mach.Ins{Op: mach.Store, Dst: base, Src: src, Off: int32(off), Size: size, Slot: mach.NoSlot})
}

// StoreI stores a number at base + off.
func (c *Code) StoreI(base mach.Reg, off int, v int64, size asm.Size) {
	if v != int64(int32(v)) && size == asm.DWord {
		c.Store(base, off, c.Imm(v), size)
		return
	}
	base, off = c.near(base, off)
	c.Emit(mach.Ins{Op: mach.StoreI, Dst: base, Src: mach.None, Off: int32(off), Imm: v, Size: size, Slot: mach.NoSlot})
}

// The same on the stack.

// LoadS loads from a slot.
func (c *Code) LoadS(dst mach.Reg, s mach.Slot, off int, size asm.Size) {
	c.Emit(mach.Ins{Op: mach.Load, Dst: dst, Src: mach.FP, Off: int32(off), Size: size, Slot: s})
}

// GetS loads from a slot into a new register.
func (c *Code) GetS(s mach.Slot, off int, size asm.Size) mach.Reg {
	d := c.Reg()
	c.LoadS(d, s, off, size)
	return d
}

// StoreS stores src in a slot.
func (c *Code) StoreS(s mach.Slot, off int, src mach.Reg, size asm.Size) {
	c.Emit(mach.Ins{Op: mach.Store, Dst: mach.FP, Src: src, Off: int32(off), Size: size, Slot: s})
}

// StoreIS stores a number in a slot.
func (c *Code) StoreIS(s mach.Slot, off int, v int64, size asm.Size) {
	if v != int64(int32(v)) && size == asm.DWord {
		c.StoreS(s, off, c.Imm(v), size)
		return
	}
	c.Emit(mach.Ins{Op: mach.StoreI, Dst: mach.FP, Src: mach.None, Off: int32(off), Imm: v, Size: size, Slot: s})
}

// addr gives the address of a byte of a slot.
func (c *Code) addr(s mach.Slot, off int) mach.Reg {
	d := c.Reg()
	c.Emit(mach.Ins{Op: mach.Addr, Dst: d, Src: mach.None, Off: int32(off), Slot: s})
	return d
}

// Atomic does op on the word at base + off. The source of a fetching operation receives the old value.
func (c *Code) Atomic(op asm.AtomicOp, base mach.Reg, off int, src mach.Reg, size asm.Size) {
	base, off = c.near(base, off)
	c.Emit(mach.Ins{Op: mach.Atomic, At: op, Dst: base, Src: src, Off: int32(off), Size: size, Slot: mach.NoSlot})
}

// MapVal gives the address of a byte in the value of an array map with one element.
func (c *Code) MapVal(m string, off int) mach.Reg {
	d := c.Reg()
	c.Emit(mach.Ins{Op: mach.MapVal, Dst: d, Src: mach.None, Sym: m, Imm: int64(off), Slot: mach.NoSlot})
	return d
}

// Arg is an argument of a helper.
type Arg struct {
	Kind argKind
	Reg  mach.Reg
	Imm  int64
	slot mach.Slot
	Sym  string
}

type argKind uint8

const (
	argReg argKind = iota
	argImm
	argSlot
	argMap
	ArgVal
	argFunc
)

// InReg is a value in a register.
func InReg(r mach.Reg) Arg { return Arg{Kind: argReg, Reg: r} }

// Const is a number.
func Const(v int64) Arg { return Arg{Kind: argImm, Imm: v} }

// OnStack is the address of a byte of a slot.
func OnStack(s mach.Slot, off int) Arg { return Arg{Kind: argSlot, slot: s, Imm: int64(off)} }

// Map is a map.
func Map(m string) Arg { return Arg{Kind: argMap, Sym: m} }

// MapVal is the address of a byte in the value of an array map with one element.
func MapVal(m string, off int) Arg { return Arg{Kind: ArgVal, Sym: m, Imm: int64(off)} }

// Fn is the address of a function of the program.
func Fn(name string) Arg { return Arg{Kind: argFunc, Sym: name} }

// Call calls a helper and gives its result.
func (c *Code) Call(fn asm.BuiltinFunc, args ...Arg) mach.Reg {
	c.Args(args)
	c.Emit(mach.Ins{Op: mach.Call, Imm: int64(fn), NArgs: uint8(len(args)), Dst: mach.None, Src: mach.None,
		Slot: mach.NoSlot})
	return c.Copy(mach.R0)
}

// CallFn calls a function of the program and gives its result.
func (c *Code) CallFn(name string, args ...Arg) mach.Reg {
	c.Args(args)
	c.Emit(mach.Ins{Op: mach.CallFn, Sym: name, NArgs: uint8(len(args)), Dst: mach.None, Src: mach.None,
		Slot: mach.NoSlot})
	return c.Copy(mach.R0)
}

// Args puts arguments of a call into their registers.
func (c *Code) Args(args []Arg) {
	for i, a := range args {
		r := mach.R1 + mach.Reg(i)
		in := mach.Ins{Dst: r, Src: mach.None, Imm: a.Imm, Sym: a.Sym, Slot: mach.NoSlot}
		switch a.Kind {
		case argReg:
			in.Op, in.Src = mach.Mov, a.Reg
		case argImm:
			in.Op = mach.MovI
		case argSlot:
			in.Op, in.Slot, in.Off = mach.Addr, a.slot, int32(a.Imm)
		case argMap:
			in.Op = mach.MapPtr
		case ArgVal:
			in.Op = mach.MapVal
		case argFunc:
			in.Op = mach.FuncPtr
		}
		c.Emit(in)
	}
}

// Size gives the access size of n bytes.
func Size(n int) asm.Size {
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
