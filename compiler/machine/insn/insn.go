// Package insn knows as much about machine code as placing probes needs, and is the same for all machines: what there
// is to know of one instruction, and what follows from many. Where a Go function is properly entered, where functions
// are left, whether a register is read again.
//
// In: the bytes of a function, and the Decoder of their machine. Out: entry sites behind the stack check (FindEntry),
// every return and every jump out (FindExits, FindLeaves).
//
// What does not decode is refused: a breakpoint in the middle of an instruction destroys the program under trace.
package insn

import (
	"errors"
	"fmt"
)

// ErrDecode is wrapped by errors about bytes that are no known instruction.
var ErrDecode = errors.New("unknown instruction")

// Kind says what an instruction does to the flow of control, or how the kernel treats it.
type Kind uint8

// The kinds.
const (
	Other        Kind = iota
	Push              // push of a general register
	Nop               // the shortest instruction that does nothing, with prefixes or not
	Nop5              // the one of five bytes
	Jump              // direct
	CondJump          // direct and conditional
	Call              // direct
	IndirectJump      // to an address in a register or memory
	IndirectCall
	Ret
	Trap // breakpoints, and instructions that are undefined on purpose
)

// Inst is one decoded instruction.
type Inst struct {
	Len  int
	Kind Kind
	// Rel is the target of Jump, CondJump and Call, from the instruction's end.
	Rel int64
	// Table marks an IndirectJump through memory at base + index*8: a compiler's jump table.
	Table bool
	// Stepped marks a kind that the kernel emulates in a form that it does not, Refused an instruction on which it
	// allows no probe.
	Stepped, Refused bool
}

// Target is where a direct branch at pc goes.
func (in Inst) Target(pc uint64) uint64 { return pc + uint64(in.Len) + uint64(in.Rel) }

// Class says how the kernel deals with the instruction under a probe.
type Class uint8

// The classes, cheapest first.
const (
	ClassUnknown Class = iota
	ClassNop5          // replaced by a call from Linux 6.18 on
	ClassNop           // emulated
	ClassPush          // emulated
	ClassJump          // emulated: jumps and calls
	ClassStepped       // single-stepped: about ten times the cost
	ClassRet           // single-stepped unless the program does the return itself
	ClassRefused       // the kernel allows no probe on it: breakpoints, a lock prefix, some vector instructions
)

func (c Class) String() string {
	return [...]string{"unknown", "nop5", "nop", "push", "jump", "single-stepped", "ret", "refused"}[c]
}

// Emulated reports whether the kernel avoids the single step.
func (c Class) Emulated() bool { return c >= ClassNop5 && c <= ClassJump }

// Class says how the kernel deals with the instruction.
func (in Inst) Class() Class {
	if in.Refused {
		return ClassRefused
	}
	switch in.Kind {
	case Nop5:
		return ClassNop5
	case Ret:
		return ClassRet
	}
	if in.Stepped {
		return ClassStepped
	}
	switch in.Kind {
	case Nop:
		return ClassNop
	case Push:
		return ClassPush
	case Jump, CondJump, Call:
		return ClassJump
	}
	return ClassStepped
}

// Decoder is what there is to know of the instructions of one machine. b begins with an instruction, which Decode has
// made in of where it is asked for; what stands behind that does not matter. Registers are DWARF
// numbers, of general registers and vector registers.
type Decoder interface {
	// Decode decodes an instruction. ok is false for what is none, or not known.
	Decode(b []byte) (in Inst, ok bool)
	// Effect says whether an instruction reads a general register, and whether it sets all of it. What is not known
	// counts as a reader.
	Effect(b []byte, reg int) (reads, sets bool)
	// Takes reports whether an instruction reads a general register for what is in it. What only saves it, keeps a part
	// of it, or comes to the same whatever is in it, does not count, nor does what is not known.
	Takes(b []byte, reg int) bool
	// Puts says what an instruction puts into its first operand: reg is -1 where that is no register. ok is false for
	// what is not known.
	Puts(b []byte) (reg int, how Put, ok bool)
	// Into says what an instruction leaves in the first size bytes of reg, a general register or a vector one, and for
	// Copies the register from which it comes. Calls keep all registers: what the one that is called leaves in them is
	// not known.
	Into(b []byte, reg int, size int64) (u Use, from int)
	// Frame says what an instruction that is no jump, call or push does with memory behind the stack pointer. What is
	// not known is Unknown.
	Frame(b []byte) FrameUse
	// FieldAt says what the code from pc on does with the size bytes at off behind reg, as long as reg keeps its value.
	// code begins at address base. Conditional jumps are taken not to jump. The first use that says where the object
	// is counts.
	FieldAt(code []byte, base, pc uint64, reg int, off, size int64) FieldUse
	// Kept lists what the code from pc on, up to the first jump or call, copies to the stack of an object that reg
	// points to: parts of it, as they are, and addresses in it. code begins at address base. What is not known ends the
	// list.
	Kept(code []byte, base, pc uint64, reg int) []Kept
	// StackCheck gives the length of the check for room on the stack with which the code of a Go function begins, 0 if
	// it has none, or one of an unknown form.
	StackCheck(code []byte) int
	// Landing gives the length of the instruction that marks where computed jumps may lead to, if code begins with
	// one, else 0.
	Landing(code []byte) int
	// Grows reports whether an instruction makes the frame on the stack greater.
	Grows(b []byte, in Inst) bool
	// Fills reports whether an instruction does nothing and is used to fill gaps.
	Fills(b []byte, in Inst) bool
	// Padding reports whether an instruction fills up the room to an aligned address, or says that nothing comes by.
	Padding(b []byte) bool
	// Returnable reports whether an instruction writes what a return behind it takes for the return address.
	Returnable(b []byte) bool
	// CallSlot gives the address of the word of memory that the call at pc goes through, where the instruction alone
	// tells it.
	CallSlot(b []byte, in Inst, pc uint64) (uint64, bool)
	// StubSlot does so for the code of a stub of the procedure linkage table, which stands at pc.
	StubSlot(stub []byte, pc uint64) (uint64, bool)
	// Leaves decides about an IndirectJump, where the stack may be that of the function's entry: whether it leaves the
	// function. why says that it cannot tell.
	Leaves(b []byte, j Computed) (away bool, why string)
}

// Use says what an instruction leaves in a register.
type Use uint8

// What an instruction leaves in a register.
const (
	Keeps   Use = iota // what was in it
	Copies             // all that was in another register
	Loads              // what was in memory, or on the stack
	Changes            // something else, in a part of it at least; what is not known counts as this
)

// Put says what an instruction puts into its first operand.
type Put uint8

// The ways.
const (
	PutsOther Put = iota
	PutsZero      // 0, by an operation of the operand on itself
	PutsMove      // what it has in registers, or a constant
	PutsLoad      // 8 bytes of the frame
)

// Kept is a part of an object, or with Address the address of one, that the instruction at PC writes to the stack.
type Kept struct {
	PC        uint64
	Slot      int64 // behind the stack pointer
	Off, Size int64 // in the object
	Address   bool
}

// FieldUse is what code does with a part of an object that a register points to.
type FieldUse uint8

// The uses, as far as they tell whether the object itself is there or a pointer to it.
const (
	FieldUnknown FieldUse = iota
	FieldInside           // its address is taken, or a part of it is read that is no word at its beginning: it is there
	FieldLoaded           // the word at its beginning is loaded
	FieldThrough          // that word is loaded, and memory is read or written through it
)

// Decode decodes the first instruction of b. The error wraps ErrDecode.
func Decode(d Decoder, b []byte) (Inst, error) {
	in, ok := d.Decode(b)
	if !ok {
		return Inst{}, fmt.Errorf("%w: % x", ErrDecode, b[:min(len(b), 8)])
	}
	return in, nil
}
