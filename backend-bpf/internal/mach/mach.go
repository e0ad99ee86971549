// Package mach is eBPF machine code before registers are assigned: instructions over
// virtual registers in basic blocks, with stack slots that have no offset yet.
//
// In: package sel writes it. Out: package regalloc assigns registers and slots, then
// Emit gives the instructions as the ebpf library wants them.
package mach

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/compiler/source"
)

// Reg is a machine register (0 to 10) or a virtual one (from Virtual on).
type Reg int32

// The machine registers by their numbers; FP is r10.
const (
	R0 Reg = iota
	R1
	R2
	R3
	R4
	R5
	R6
	R7
	R8
	R9
	FP
	NumRegs
	// Virtual is the first virtual register.
	Virtual Reg = 16
	// None is the absence of a register.
	None Reg = -1
)

// IsVirtual reports whether r still needs a machine register.
func (r Reg) IsVirtual() bool { return r >= Virtual }

// Op is what an instruction does.
type Op uint8

// The operations.
const (
	Nop       Op = iota
	Mov          // dst = src
	MovI         // dst = Imm (64 bits)
	MapPtr       // dst = the map Sym
	MapVal       // dst = address of byte Imm in the value of the map Sym (an array of one)
	FuncPtr      // dst = the function Sym
	Addr         // dst = address of Slot + Off
	ALU          // dst = dst Alu src
	ALUI         // dst = dst Alu Imm
	Neg          // dst = -dst
	Swap         // dst with its bytes in the other order; Size
	Load         // dst = Size bytes at src + Off, zero-extended
	Store        // Size bytes at dst + Off = src
	StoreI       // Size bytes at dst + Off = Imm
	Atomic       // At on Size bytes at dst + Off with src; a fetching one writes src, CmpXchg r0
	Call         // helper Imm, with NArgs arguments in r1...; r0 is the result
	CallFn       // function Sym, likewise
	CallKfunc    // kernel function Imm (BTF id), likewise
)

// Slot is a piece of the stack: an index into Func.Slots. NoSlot: the base is a register.
type Slot int32

// NoSlot says that an instruction does not touch the stack.
const NoSlot Slot = -1

// Ins is one instruction. Load, Store, StoreI and Atomic with a Slot address the stack: their base register is FP.
type Ins struct {
	Op       Op
	Alu      asm.ALUOp
	At       asm.AtomicOp
	Size     asm.Size
	W32      bool // ALU, ALUI, Mov: 32-bit operation
	NArgs    uint8
	Dst, Src Reg
	Slot     Slot
	Off      int32
	Imm      int64
	Sym      string
	Pos      source.Pos
}

// TermKind says how a block ends.
type TermKind uint8

// The ends of blocks.
const (
	Jump    TermKind = iota // to Then
	Cond                    // if A Jop B (or Imm): Then, else Else
	MayGoto                 // as long as the kernel's loop budget lasts: Else; when it is used up: Then
	Exit                    // return r0
)

// Term ends a block.
type Term struct {
	Kind       TermKind
	Jop        asm.JumpOp
	A, B       Reg // B is None when Imm is compared with
	Imm        int32
	W32        bool
	Then, Else *Block
	Pos        source.Pos
}

// Block is a basic block.
type Block struct {
	ID  int
	Ins []Ins
	Term
	// Bounded marks the head of a loop that the verifier walks to its end by itself.
	Bounded bool
	// Tag is for the writer of the code: what holds at the block's end.
	Tag int
	// Cold blocks are laid out behind the others.
	Cold bool
	// Preds is filled by Func.Link.
	Preds []*Block
	// Depth is the number of loops around the block, filled by Func.Link.
	Depth int
	succs [2]*Block
}

// Func is one function. Blocks[0] is where it begins.
type Func struct {
	Name   string
	Blocks []*Block
	Slots  []SlotInfo
	// Stack is the bytes of the frame, once registers are assigned.
	Stack int
	// Params is how many of r1... hold arguments on entry.
	Params int
	// Callback marks functions that bpf_loop or bpf_for_each_map_elem calls: they need type information.
	Callback bool
	// Global marks functions that the verifier walks by themselves, with any arguments: the first is the program's
	// context, the others are numbers (Linux 6.8 and later).
	Global bool
	// Keep are registers that should not go to the stack: older verifiers forget there that a comparison bounded them.
	Keep map[Reg]bool
	Far  Far
	// Roots are blocks that are kept although nothing leads to them yet.
	Roots   []*Block
	NRegs   Reg // virtual registers are below this
	nblocks int
}

// Far is memory off the stack for values that do not fit on it: Room bytes at Off from the address in Base. What is
// loaded from there is a number of which the verifier knows nothing.
type Far struct {
	Base      Reg // None: there is none
	Off, Room int
	// May are the registers that may go there.
	May map[Reg]bool
	// Used is how many bytes regalloc has taken.
	Used int
}

// SlotInfo is a piece of the stack, aligned to 8 bytes.
type SlotInfo struct {
	Size int
	// Off is the offset from FP, negative, once regalloc has run.
	Off int
	// Used is cleared for slots that need no room.
	Used bool
}

// New makes an empty function.
func New(name string) *Func {
	return &Func{Name: name, NRegs: Virtual, Keep: map[Reg]bool{}, Far: Far{Base: None}}
}

// NewReg makes a virtual register.
func (f *Func) NewReg() Reg {
	f.NRegs++
	return f.NRegs - 1
}

// NewSlot makes a stack slot of size bytes, rounded up to 8.
func (f *Func) NewSlot(size int) Slot {
	f.Slots = append(f.Slots, SlotInfo{Size: (size + 7) &^ 7, Used: true})
	return Slot(len(f.Slots) - 1)
}

// NewBlock makes a block and appends it to the layout.
func (f *Func) NewBlock() *Block {
	b := &Block{ID: f.nblocks}
	f.nblocks++
	f.Blocks = append(f.Blocks, b)
	return b
}

// NumBlocks is above every Block.ID.
func (f *Func) NumBlocks() int { return f.nblocks }

// Succs lists where b can go. The slice is valid until the next call.
func (b *Block) Succs() []*Block {
	switch b.Kind {
	case Jump:
		b.succs[0] = b.Then
		return b.succs[:1]
	case Cond, MayGoto:
		b.succs = [2]*Block{b.Then, b.Else}
		return b.succs[:]
	}
	return nil
}

// fetches reports whether an atomic operation writes its source register.
func (in *Ins) fetches() bool {
	switch in.At {
	case asm.FetchAdd, asm.FetchAnd, asm.FetchOr, asm.FetchXor, asm.Xchg:
		return true
	}
	return false
}

// Reads gives the registers that in reads as its operands, in their order; None where there are fewer. It leaves out
// what only machine registers can be: arguments of calls, r0 of CmpXchg.
func (in *Ins) Reads() (a, b Reg) {
	switch in.Op {
	case Mov:
		return in.Src, None
	case ALU:
		return in.Dst, in.Src
	case ALUI, Neg, Swap:
		return in.Dst, None
	case Load:
		return in.base(in.Src), None
	case Store, Atomic:
		return in.base(in.Dst), in.Src
	case StoreI:
		return in.base(in.Dst), None
	}
	return None, None
}

// base is r, the register of an address, or None where that is the stack's.
func (in *Ins) base(r Reg) Reg {
	if in.Slot != NoSlot {
		return None
	}
	return r
}

// Uses calls fn for each register that in reads.
func (in *Ins) Uses(fn func(Reg)) {
	a, b := in.Reads()
	if a != None {
		fn(a)
	}
	if b != None {
		fn(b)
	}
	switch {
	case in.Op == Atomic && in.At == asm.CmpXchg:
		fn(R0)
	case in.IsCall():
		for i := range Reg(in.NArgs) {
			fn(R1 + i)
		}
	}
}

// Def gives the register that in writes, None if it writes none.
func (in *Ins) Def() Reg {
	switch in.Op {
	case Mov, MovI, MapPtr, MapVal, FuncPtr, Addr, ALU, ALUI, Neg, Swap, Load:
		return in.Dst
	case Atomic:
		if in.At == asm.CmpXchg {
			return R0
		}
		if in.fetches() {
			return in.Src
		}
	case Call, CallFn, CallKfunc:
		return R0
	}
	return None
}

// IsCall reports whether in destroys r1 to r5.
func (in *Ins) IsCall() bool { return in.Op == Call || in.Op == CallFn || in.Op == CallKfunc }

// Pure reports whether in does nothing but write its Def.
func (in *Ins) Pure() bool {
	switch in.Op {
	case Nop, Mov, MovI, MapPtr, MapVal, FuncPtr, Addr, ALU, ALUI, Neg, Swap, Load:
		return true
	}
	return false
}

// TermUses calls fn for each register that the end of b reads.
func (b *Block) TermUses(fn func(Reg)) {
	switch b.Kind {
	case Cond:
		fn(b.A)
		if b.B != None {
			fn(b.B)
		}
	case Exit:
		fn(R0)
	}
}

// Redirect makes b go to another block where it went to old.
func (b *Block) Redirect(old, to *Block) {
	if b.Then == old {
		b.Then = to
	}
	if b.Else == old {
		b.Else = to
	}
}
