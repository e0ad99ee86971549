package mach

import (
	"fmt"
	"math"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/compiler/source"
)

// Emit gives the instructions of f. Registers and slots must be assigned. note gives the source
// note of a place in the script; it may be nil. Jumps are resolved; only maps and functions are left as references.
func (f *Func) Emit(note func(source.Pos) fmt.Stringer) (asm.Instructions, error) {
	f.Link()
	e := emitter{f: f, note: note, at: make(map[*Block]int, len(f.Blocks))}
	n := 0
	for _, b := range f.Blocks {
		n += len(b.Ins) + 1
	}
	e.out = make(asm.Instructions, 0, n)
	// A jump to the block that comes next falls through, so where blocks begin depends on the order alone.
	for i, b := range f.Blocks {
		var next *Block
		if i+1 < len(f.Blocks) {
			next = f.Blocks[i+1]
		}
		e.block(b, next)
	}
	far := false
	for _, j := range e.jumps {
		to, ok := e.at[j.to]
		if !ok {
			return nil, fmt.Errorf("%s: jump to a block that is not there", f.Name)
		}
		off := to - j.raw - 1
		far = far || off < math.MinInt16 || off > math.MaxInt16
		e.out[j.ins].Offset = int16(off)
	}
	if e.err != nil {
		return nil, e.err
	}
	if far {
		if err := e.spread(); err != nil {
			return nil, err
		}
	}
	return e.out, nil
}

// ErrTooLarge says that so many jumps go so far that there is no room for the hops.
var ErrTooLarge = fmt.Errorf("handler is too large: its jumps go too far")

type jump struct {
	ins, raw int
	to       *Block
}

type emitter struct {
	f     *Func
	note  func(source.Pos) fmt.Stringer
	out   asm.Instructions
	raw   int // position in 8-byte units
	at    map[*Block]int
	jumps []jump
	last  source.Pos
	err   error
}

func (e *emitter) put(in asm.Instruction, pos source.Pos) {
	if e.note != nil && pos != source.NoPos && pos != e.last {
		e.last = pos
		in = in.WithSource(e.note(pos))
	}
	e.out = append(e.out, in)
	e.raw += int(in.Width())
}

func (e *emitter) jump(in asm.Instruction, to *Block, pos source.Pos) {
	e.jumps = append(e.jumps, jump{len(e.out), e.raw, to})
	e.put(in, pos)
}

func (e *emitter) block(b, next *Block) {
	e.at[b] = e.raw
	for i := range b.Ins {
		e.ins(&b.Ins[i])
	}
	t := &b.Term
	ja := asm.Instruction{OpCode: asm.Ja.Op(asm.ImmSource)}
	switch t.Kind {
	case Jump:
		if t.Then != next {
			e.jump(ja, t.Then, t.Pos)
		}
	case Cond:
		op, then, els := t.Jop, t.Then, t.Else
		if then == next {
			if inv, ok := invert[op]; ok {
				op, then, els = inv, els, then
			}
		}
		in := asm.Instruction{Dst: asm.Register(t.A), Constant: int64(t.Imm)}
		src := asm.ImmSource
		if t.B != None {
			src = asm.RegSource
			in.Src, in.Constant = asm.Register(t.B), 0
		}
		in.OpCode = op.Op(src)
		if t.W32 {
			in.OpCode = asm.OpCode(asm.Jump32Class).SetJumpOp(op).SetSource(src)
		}
		e.jump(in, then, t.Pos)
		if els != next {
			e.jump(ja, els, t.Pos)
		}
	case MayGoto:
		e.jump(asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.JCOND), Src: asm.PseudoMayGoto}, t.Then,
			t.Pos)
		if t.Else != next {
			e.jump(ja, t.Else, t.Pos)
		}
	case Exit:
		e.put(asm.Return(), t.Pos)
	}
}

var invert = map[asm.JumpOp]asm.JumpOp{
	asm.JEq: asm.JNE, asm.JNE: asm.JEq, asm.JGT: asm.JLE, asm.JLE: asm.JGT, asm.JGE: asm.JLT, asm.JLT: asm.JGE,
	asm.JSGT: asm.JSLE, asm.JSLE: asm.JSGT, asm.JSGE: asm.JSLT, asm.JSLT: asm.JSGE,
}

func (e *emitter) off(in *Ins) int16 {
	o := int(in.Off)
	if in.Slot != NoSlot {
		o += e.f.Slots[in.Slot].Off
	}
	if o < math.MinInt16 || o > math.MaxInt16 {
		e.err = fmt.Errorf("%s: offset %d does not fit", e.f.Name, o)
	}
	return int16(o)
}

func (e *emitter) ins(in *Ins) {
	for _, r := range [2]Reg{in.Dst, in.Src} {
		if r.IsVirtual() {
			e.err = fmt.Errorf("%s: register %d has no place", e.f.Name, r)
			return
		}
	}
	dst, src := asm.Register(in.Dst), asm.Register(in.Src)
	if in.Slot != NoSlot {
		switch in.Op {
		case Load:
			src = asm.R10
		case Store, StoreI, Atomic:
			dst = asm.R10
		}
	}
	alu := func(op asm.ALUOp, s asm.Source) asm.OpCode {
		cls := asm.ALU64Class
		if in.W32 {
			cls = asm.ALUClass
		}
		return asm.OpCode(cls).SetALUOp(op).SetSource(s)
	}
	var o asm.Instruction
	switch in.Op {
	case Nop:
		return
	case Mov:
		if in.Dst == in.Src && !in.W32 {
			return
		}
		o = asm.Instruction{OpCode: alu(asm.Mov, asm.RegSource), Dst: dst, Src: src}
	case MovI:
		switch {
		case in.Imm == int64(int32(in.Imm)):
			o = asm.Mov.Imm(dst, int32(in.Imm))
		case in.Imm == int64(uint32(in.Imm)):
			o = asm.Instruction{OpCode: asm.OpCode(asm.ALUClass).SetALUOp(asm.Mov), Dst: dst,
				Constant: int64(int32(uint32(in.Imm)))}
		default:
			o = asm.LoadImm(dst, in.Imm, asm.DWord)
		}
	case MapPtr:
		o = asm.LoadMapPtr(dst, 0).WithReference(in.Sym)
	case MapVal:
		o = asm.LoadMapValue(dst, 0, uint32(in.Imm)).WithReference(in.Sym)
	case FuncPtr:
		o = asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: dst, Src: asm.PseudoFunc,
			Constant: -1}.WithReference(in.Sym)
	case Addr:
		e.put(asm.Mov.Reg(dst, asm.R10), in.Pos)
		if off := e.off(in); off != 0 {
			e.put(asm.Add.Imm(dst, int32(off)), in.Pos)
		}
		return
	case ALU:
		o = asm.Instruction{OpCode: alu(in.Alu, asm.RegSource), Dst: dst, Src: src}
	case ALUI:
		if in.Imm != int64(int32(in.Imm)) && !(in.W32 && in.Imm == int64(uint32(in.Imm))) {
			e.err = fmt.Errorf("%s: constant %d does not fit", e.f.Name, in.Imm)
		}
		o = asm.Instruction{OpCode: alu(in.Alu, asm.ImmSource), Dst: dst, Constant: int64(int32(in.Imm))}
	case Neg:
		o = asm.Instruction{OpCode: alu(asm.Neg, asm.ImmSource), Dst: dst}
	case Swap:
		o = asm.HostTo(asm.BE, dst, in.Size)
	case Load:
		o = asm.LoadMem(dst, src, e.off(in), in.Size)
	case Store:
		o = asm.StoreMem(dst, e.off(in), src, in.Size)
	case StoreI:
		o = asm.Instruction{OpCode: asm.StoreImmOp(in.Size), Dst: dst, Offset: e.off(in),
			Constant: int64(int32(in.Imm))}
	case Atomic:
		// ebpf v0.22.0 leaves the operation out of the encoding (all become plain additions) unless it
		// stands in the constant as well.
		o = in.At.Mem(dst, src, in.Size, e.off(in))
		o.Constant = int64(in.At >> 8)
	case Call:
		o = asm.BuiltinFunc(in.Imm).Call()
	case CallFn:
		o = asm.Call.Label(in.Sym)
	case CallKfunc:
		o = asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Call), Src: asm.PseudoKfuncCall,
			Constant: in.Imm}
	}
	e.put(o, in.Pos)
}
