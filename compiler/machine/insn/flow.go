package insn

import (
	"fmt"
)

// CodeError says why a function's code cannot be used.
type CodeError struct {
	PC     uint64
	Reason string
	Err    error // the cause, if there is one: ErrDecode
}

func (e *CodeError) Error() string {
	s := fmt.Sprintf("%s at %#x", e.Reason, e.PC)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *CodeError) Unwrap() error { return e.Err }

// Walk decodes code, which begins at address pc, one instruction after the other until f returns
// false. The error is a *CodeError.
func Walk(d Decoder, code []byte, pc uint64, f func(pc uint64, in Inst) bool) error {
	for len(code) > 0 {
		in, ok := d.Decode(code)
		if !ok {
			_, err := Decode(d, code)
			return &CodeError{pc, "the code does not decode", err}
		}
		if !f(pc, in) {
			return nil
		}
		code = code[in.Len:]
		pc += uint64(in.Len)
	}
	return nil
}

// At decodes the instruction at pc in the function whose code begins at entry. It is an error if
// no instruction begins there.
func At(d Decoder, code []byte, entry, pc uint64) (in Inst, err error) {
	if pc < entry || pc-entry >= uint64(len(code)) {
		return in, &CodeError{PC: pc, Reason: "no code"}
	}
	found := false
	err = Walk(d, code, entry, func(at uint64, i Inst) bool {
		if at == pc {
			in, found = i, true
		}
		return at < pc
	})
	if err == nil && !found {
		err = &CodeError{PC: pc, Reason: "no instruction begins"}
	}
	return in, err
}

// Entry is where a Go function is entered.
type Entry struct {
	// PC is executed exactly once a call, with all argument registers, the closure context and
	// the stack pointer as at the function's first byte.
	PC uint64
	// Check says that a stack check precedes PC, so that the first byte may run several times a call.
	Check bool
	Inst  Inst // at PC
}

// FindEntry finds the instruction behind the stack check of the Go function whose code begins at
// address entry; usually it is PUSHQ BP. Functions without a check are entered by their first
// byte. isMore recognises the addresses of runtime.morestack and its variants.
//
// It is refused when the function has a stack check that is not understood, or when its first
// instruction is the head of a loop: both would count too much. The error is a *CodeError.
func FindEntry(d Decoder, code []byte, entry uint64, isMore func(uint64) bool) (Entry, error) {
	if n := d.StackCheck(code); n > 0 {
		in, ok := d.Decode(code[n:])
		if !ok {
			_, err := Decode(d, code[n:])
			return Entry{}, &CodeError{entry + uint64(n), "the code behind the stack check does not decode", err}
		}
		return Entry{PC: entry + uint64(n), Check: true, Inst: in}, nil
	}
	e := Entry{PC: entry}
	var bad *CodeError
	err := Walk(d, code, entry, func(pc uint64, in Inst) bool {
		if pc == entry {
			e.Inst = in
		}
		switch in.Kind {
		case Jump, CondJump:
			if in.Target(pc) == entry {
				bad = &CodeError{PC: pc, Reason: "the function's first instruction is also the target of a jump"}
			}
		case Call:
			if isMore != nil && isMore(in.Target(pc)) {
				bad = &CodeError{PC: pc, Reason: "the function has a stack check of an unknown form"}
			}
		}
		return bad == nil
	})
	if bad != nil {
		return Entry{}, bad
	}
	// What does not decode further on could be a jump to the entry, but a function whose beginning
	// makes room on the stack does not begin with a loop.
	if err != nil && e.Inst.Kind != Push {
		return Entry{}, err
	}
	return e, nil
}

// Check decodes the whole function whose code begins at address entry, and makes sure that an
// instruction begins at each of marks (ascending): where not, there is data in the code, or bytes
// of one instruction on several source lines. The error is a *CodeError.
func Check(d Decoder, code []byte, entry uint64, marks []uint64) error {
	var bad *CodeError
	err := Walk(d, code, entry, func(pc uint64, in Inst) bool {
		marks, bad = pass(marks, pc)
		return bad == nil
	})
	if bad != nil {
		return bad
	}
	return err
}

// pass drops the marks up to pc; one in front of it is in the middle of an instruction.
func pass(marks []uint64, pc uint64) ([]uint64, *CodeError) {
	for len(marks) > 0 && marks[0] <= pc {
		if marks[0] < pc {
			return marks, &CodeError{PC: marks[0],
				Reason: "the code does not decode to the instructions of the line table"}
		}
		marks = marks[1:]
	}
	return marks, nil
}

// Exit is a place where control leaves a function for good.
type Exit struct {
	PC   uint64
	Inst Inst
	// Tail is set for a jump to another function; Target is 0 when it is computed.
	Tail   bool
	Target uint64
}

// FindExits finds every RET and every jump out of the function whose code begins at address
// entry. In assembly (asm), a computed jump may lead anywhere and is refused; in compiled code, those
// through a table stay in the function and others are tail calls. It is refused, too, when the code
// does not decode, or leaves by a conditional jump, since the kernel does not tell whether that
// was taken. marks are addresses known to begin an instruction, ascending: where the decoder
// disagrees, there is data in the code. The error is a *CodeError.
func FindExits(d Decoder, code []byte, entry uint64, asm bool, marks []uint64) ([]Exit, error) {
	end := entry + uint64(len(code))
	var exits []Exit
	var bad *CodeError
	err := Walk(d, code, entry, func(pc uint64, in Inst) bool {
		if marks, bad = pass(marks, pc); bad != nil {
			return false
		}
		switch in.Kind {
		case Ret:
			exits = append(exits, Exit{PC: pc, Inst: in})
		case Jump:
			if t := in.Target(pc); t < entry || t >= end {
				exits = append(exits, Exit{PC: pc, Inst: in, Tail: true, Target: t})
			}
		case CondJump:
			if t := in.Target(pc); t < entry || t >= end {
				bad = &CodeError{PC: pc, Reason: "the function is left by a conditional jump"}
			}
		case IndirectJump:
			switch {
			case asm:
				bad = &CodeError{PC: pc, Reason: "the function jumps to a computed address"}
			case !in.Table:
				exits = append(exits, Exit{PC: pc, Inst: in, Tail: true})
			}
		}
		return bad == nil
	})
	if bad != nil {
		return nil, bad
	}
	if err != nil {
		return nil, err
	}
	return exits, nil
}
