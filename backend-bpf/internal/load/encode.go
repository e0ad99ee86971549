package load

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// RefKind says what an instruction refers to.
type RefKind uint8

// The kinds of references.
const (
	RefMap      RefKind = iota // a 64-bit load of a map's address
	RefMapValue                // a 64-bit load of an address in a map's value; the upper half is the offset
	RefCall                    // a call of a function of the same program
	RefFunc                    // a 64-bit load of such a function's address
)

// Ref is one reference of Code to something with a name.
type Ref struct {
	Kind RefKind
	// At is the instruction's place in units of 8 bytes.
	At   int
	Name string
}

// Func is one function of Code. The first is the program itself.
type Func struct {
	Name string
	At   int // in units of 8 bytes
	Type *btf.Func
}

// Code is a program in the kernel's form. References to functions are resolved; those to maps hold 0.
type Code struct {
	Bytes []byte
	Refs  []Ref
	Funcs []Func
	// Insn is the index in the asm.Instructions for each unit of 8 bytes.
	Insn []int
}

// Encode writes insns, little-endian. It refuses what does not fit instead of cutting it: jumps over more
// than 16 bits, constants over 32.
//
// asm.Instructions.Marshal of ebpf v0.22.0 is not used: it writes atomic operations without their
// operation, so that a compare-and-exchange becomes an addition.
func Encode(insns asm.Instructions) (*Code, error) {
	c := &Code{}
	size := 0
	for i := range insns {
		size += units(&insns[i])
	}
	c.Bytes = make([]byte, 0, size*8)
	c.Insn = make([]int, 0, size)
	labels := map[string]int{}
	called := map[string]bool{}
	for i := range insns {
		in := &insns[i]
		if s := in.Symbol(); s != "" {
			if _, ok := labels[s]; ok {
				return nil, fmt.Errorf("instruction %d: label %s is there twice", i, s)
			}
			labels[s] = len(c.Insn)
		}
		if in.IsFunctionReference() && in.Reference() != "" {
			called[in.Reference()] = true
		}
		for range units(in) {
			c.Insn = append(c.Insn, i)
		}
	}
	at := 0
	for i := range insns {
		in := &insns[i]
		if i == 0 || called[in.Symbol()] && in.Symbol() != "" || btf.FuncMetadata(in) != nil {
			c.Funcs = append(c.Funcs, Func{Name: in.Symbol(), At: at, Type: btf.FuncMetadata(in)})
		}
		if err := c.encode(in, at, labels); err != nil {
			return nil, fmt.Errorf("instruction %d (%v): %w", i, in.OpCode, err)
		}
		at += units(in)
	}
	return c, nil
}

// wide is the opcode of the 64-bit load, which takes two units.
const wide = 0x18

func units(in *asm.Instruction) int {
	if in.OpCode == wide {
		return 2
	}
	return 1
}

func (c *Code) encode(in *asm.Instruction, at int, labels map[string]int) error {
	op, off, imm := in.OpCode, in.Offset, in.Constant
	if op == asm.InvalidOpCode {
		return fmt.Errorf("not an instruction")
	}
	if in.Dst > asm.R10 || in.Src > asm.R10 {
		return fmt.Errorf("no such register")
	}
	ref := in.Reference()
	target := func() (int64, error) {
		to, ok := labels[ref]
		if !ok {
			return 0, fmt.Errorf("label %s is missing", ref)
		}
		return int64(to - at - 1), nil
	}
	fits := func(unsigned bool) error {
		if imm < math.MinInt32 || imm > math.MaxUint32 || imm > math.MaxInt32 && !unsigned {
			return fmt.Errorf("the constant %d does not fit into 32 bits", imm)
		}
		return nil
	}
	switch cls := op.Class(); {
	case op == wide:
		switch {
		case in.Src == asm.PseudoMapFD && ref != "", in.Src == asm.PseudoMapValue && ref != "":
			k := RefMap
			if in.Src == asm.PseudoMapValue {
				k = RefMapValue
			}
			c.Refs = append(c.Refs, Ref{k, at, ref})
			imm = int64(uint64(imm) &^ math.MaxUint32)
		case in.Src == asm.PseudoFunc && ref != "":
			d, err := target()
			if err != nil {
				return err
			}
			c.Refs = append(c.Refs, Ref{RefFunc, at, ref})
			imm = int64(uint32(d))
		case ref != "":
			return fmt.Errorf("a reference to %s where there can be none", ref)
		}
		c.put(byte(op), in, off, uint32(imm))
		c.Bytes = append(c.Bytes, 0, 0, 0, 0)
		c.Bytes = binary.LittleEndian.AppendUint32(c.Bytes, uint32(uint64(imm)>>32))
		return nil
	case cls.IsALU():
		var ext int16
		switch op.ALUOp() {
		case asm.SDiv:
			op, ext = op.SetALUOp(asm.Div), 1
		case asm.SMod:
			op, ext = op.SetALUOp(asm.Mod), 1
		case asm.MovSX8:
			op, ext = op.SetALUOp(asm.Mov), 8
		case asm.MovSX16:
			op, ext = op.SetALUOp(asm.Mov), 16
		case asm.MovSX32:
			op, ext = op.SetALUOp(asm.Mov), 32
		}
		if ext != 0 {
			if off != 0 {
				return fmt.Errorf("an offset where the operation has none")
			}
			off = ext
		}
		if err := fits(cls == asm.ALUClass); err != nil {
			return err
		}
	case cls.IsJump():
		switch {
		case in.IsFunctionCall() && ref != "":
			d, err := target()
			if err != nil {
				return err
			}
			c.Refs = append(c.Refs, Ref{RefCall, at, ref})
			imm = d
		case in.IsBuiltinCall():
			if imm < 0 || imm>>28 != 0 {
				return fmt.Errorf("no helper function of Linux: %#x", imm)
			}
		case op == longJump && ref != "":
			d, err := target()
			if err != nil {
				return err
			}
			imm = d
		case ref != "":
			d, err := target()
			if err != nil {
				return err
			}
			if d != int64(int16(d)) {
				return fmt.Errorf("the jump to %s goes over %d instructions", ref, d)
			}
			off = int16(d)
		}
		if err := fits(cls == asm.Jump32Class); err != nil {
			return err
		}
	default:
		if a := op.AtomicOp(); a != asm.InvalidAtomic {
			// The operation may also have been put where the kernel has it.
			if a != 0 && imm != 0 && imm != int64(a>>8) {
				return fmt.Errorf("two atomic operations: %#x and %#x", uint32(a>>8), imm)
			}
			if a != 0 {
				imm = int64(a >> 8)
			}
			op &= 0xff
		}
		if err := fits(op.Size() != asm.DWord); err != nil {
			return err
		}
	}
	if op > 0xff {
		return fmt.Errorf("no such operation: %#x", uint32(op))
	}
	c.put(byte(op), in, off, uint32(imm))
	return nil
}

// longJump is gotol: an unconditional jump whose distance is in the constant.
const longJump = 0x06

func (c *Code) put(op byte, in *asm.Instruction, off int16, imm uint32) {
	c.Bytes = append(c.Bytes, op, byte(in.Dst)|byte(in.Src)<<4, byte(off), byte(uint16(off)>>8),
		byte(imm), byte(imm>>8), byte(imm>>16), byte(imm>>24))
}

// SetImm sets the 32-bit constant of the instruction at unit at.
func (c *Code) SetImm(at int, v uint32) { binary.LittleEndian.PutUint32(c.Bytes[at*8+4:], v) }
