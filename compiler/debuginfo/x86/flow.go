package x86

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
func Walk(code []byte, pc uint64, f func(pc uint64, in Inst) bool) error {
	for len(code) > 0 {
		in, ok := decode(code)
		if !ok {
			_, err := Decode(code)
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
func At(code []byte, entry, pc uint64) (in Inst, err error) {
	if pc < entry || pc-entry >= uint64(len(code)) {
		return in, &CodeError{PC: pc, Reason: "no code"}
	}
	found := false
	err = Walk(code, entry, func(at uint64, i Inst) bool {
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
func FindEntry(code []byte, entry uint64, isMore func(uint64) bool) (Entry, error) {
	if n := stackCheck(code); n > 0 {
		in, ok := decode(code[n:])
		if !ok {
			_, err := Decode(code[n:])
			return Entry{}, &CodeError{entry + uint64(n), "the code behind the stack check does not decode", err}
		}
		return Entry{PC: entry + uint64(n), Check: true, Inst: in}, nil
	}
	e := Entry{PC: entry}
	var bad *CodeError
	err := Walk(code, entry, func(pc uint64, in Inst) bool {
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

// stackCheck gives the length of the stack check at the beginning of code, 0 if there is none. These
// are the forms of cmd/internal/obj/x86 (obj6.go, stacksplit and loadG), by the size of the frame:
//
//	[MOVQ TLS, g]; CMPQ SP, 16(g); JLS more
//	[MOVQ TLS, g]; LEAQ -n(SP), tmp; CMPQ tmp, 16(g); JLS more
//	[MOVQ TLS, g]; MOVQ SP, tmp; SUBQ $n, tmp; JCS more; CMPQ tmp, 16(g); JLS more
//
//	MOVQ TLS, CX; MOVQ 16(CX), SI; CMPQ SI, $preempt; JEQ more; LEAQ n(SP), AX; SUBQ SI, AX; CMPQ AX, $n; JLS more
//
// The last one is that of frames above 4 KB before 1.17.
// g is R14 from Go 1.17 on, CX before; tmp is R12, before 1.17 AX. The offset is 24 in code that
// runs on the system stack.
func stackCheck(code []byte) int {
	c := cursor{b: code}
	g := byte(14)
	if r, ok := c.loadTLS(); ok {
		g = r
	}
	if o := c; o.oldLarge(g) {
		return o.n
	}
	stack := byte(4) // the register compared: SP or tmp
	if r, ok := c.lea(); ok {
		stack = r
	} else if r, ok := c.movSP(); ok {
		if !c.sub(r) || !c.jump(0x2) {
			return 0
		}
		stack = r
	}
	if !c.cmp(stack, g) || !c.jump(0x6) || c.n >= len(code) {
		return 0
	}
	return c.n
}

// cursor matches instructions one after the other.
type cursor struct {
	b []byte
	n int
}

// rexW gives REX, opcode and ModRM of an instruction of 64-bit operands without other prefixes.
func (c *cursor) rexW(at int) (rex, op, modrm byte, ok bool) {
	if at+3 > len(c.b) || c.b[at]&0xf8 != 0x48 {
		return 0, 0, 0, false
	}
	return c.b[at], c.b[at+1], c.b[at+2], true
}

func regOf(rex, modrm byte) byte  { return modrm>>3&7 | rex&4<<1 }
func baseOf(rex, modrm byte) byte { return modrm&7 | rex&1<<3 }

// loadTLS matches the loading of g: MOVQ fs:disp32, r, or MOVQ disp(IP), r; MOVQ fs:(r), r, where the
// linker may have turned the first into MOVQ $imm, r.
func (c *cursor) loadTLS() (r byte, ok bool) {
	at := c.n
	if at < len(c.b) && c.b[at] == 0x64 {
		rex, op, modrm, ok := c.rexW(at + 1)
		if !ok || op != 0x8b || modrm&0xc7 != 4 || at+9 > len(c.b) || c.b[at+4] != 0x25 || rex&3 != 0 {
			return 0, false
		}
		c.n += 9
		return regOf(rex, modrm), true
	}
	rex, op, modrm, ok := c.rexW(at)
	if !ok || at+11 > len(c.b) || c.b[at+7] != 0x64 {
		return 0, false
	}
	var off byte
	switch {
	case op == 0x8b && modrm&0xc7 == 5:
		off = regOf(rex, modrm)
	case op == 0xc7 && modrm&0xf8 == 0xc0:
		off = baseOf(rex, modrm)
	default:
		return 0, false
	}
	rex, op, modrm, ok = c.rexW(at + 8)
	if !ok || op != 0x8b || modrm>>6 != 0 || baseOf(rex, modrm) != off || off&7 == 4 || off&7 == 5 {
		return 0, false
	}
	c.n += 11
	return regOf(rex, modrm), true
}

// lea matches LEAQ disp(SP), r.
func (c *cursor) lea() (r byte, ok bool) {
	rex, op, modrm, ok := c.rexW(c.n)
	if !ok || op != 0x8d || rex&3 != 0 || modrm&7 != 4 || c.n+3 >= len(c.b) || c.b[c.n+3] != 0x24 {
		return 0, false
	}
	switch modrm >> 6 {
	case 1:
		c.n += 5
	case 2:
		c.n += 8
	default:
		return 0, false
	}
	return regOf(rex, modrm), true
}

// movSP matches MOVQ SP, r.
func (c *cursor) movSP() (r byte, ok bool) {
	rex, op, modrm, ok := c.rexW(c.n)
	if !ok || modrm>>6 != 3 {
		return 0, false
	}
	switch {
	case op == 0x89 && regOf(rex, modrm) == 4:
		r = baseOf(rex, modrm)
	case op == 0x8b && baseOf(rex, modrm) == 4:
		r = regOf(rex, modrm)
	default:
		return 0, false
	}
	c.n += 3
	return r, r != 5 // MOVQ SP, BP makes a frame
}

// sub matches SUBQ $imm, r.
func (c *cursor) sub(r byte) bool {
	rex, op, modrm, ok := c.rexW(c.n)
	switch {
	case ok && op == 0x2d && r == 0: // its imm32 begins where modrm would be
		c.n += 6
	case ok && op == 0x81 && modrm>>3 == 0x1d && baseOf(rex, modrm) == r:
		c.n += 7
	case ok && op == 0x83 && modrm>>3 == 0x1d && baseOf(rex, modrm) == r:
		c.n += 4
	default:
		return false
	}
	return true
}

// oldLarge matches the check of large frames before Go 1.17, behind the loading of g.
func (c *cursor) oldLarge(g byte) bool {
	const si, ax = 6, 0
	rex, op, modrm, ok := c.rexW(c.n) // MOVQ 16(g), SI
	if !ok || op != 0x8b || modrm>>6 != 1 || regOf(rex, modrm) != si || baseOf(rex, modrm) != g || g&7 == 4 ||
		c.n+4 > len(c.b) || c.b[c.n+3] != 16 && c.b[c.n+3] != 24 {
		return false
	}
	c.n += 4
	rex, op, modrm, ok = c.rexW(c.n) // CMPQ SI, $imm32
	if !ok || op != 0x81 || modrm != 0xf8|si || rex != 0x48 {
		return false
	}
	c.n += 7
	if !c.jump(0x4) {
		return false
	}
	if r, ok := c.lea(); !ok || r != ax {
		return false
	}
	rex, op, modrm, ok = c.rexW(c.n) // SUBQ SI, AX
	if !ok || rex != 0x48 || op != 0x29 || modrm != 0xc0|si<<3|ax {
		return false
	}
	c.n += 3
	rex, op, _, ok = c.rexW(c.n) // CMPQ AX, $imm32
	if !ok || rex != 0x48 || op != 0x3d {
		return false
	}
	c.n += 6
	return c.jump(0x6) && c.n < len(c.b)
}

// cmp matches CMPQ r, off(g) with off 16 or 24.
func (c *cursor) cmp(r, g byte) bool {
	rex, op, modrm, ok := c.rexW(c.n)
	if !ok || op != 0x3b || modrm>>6 != 1 || regOf(rex, modrm) != r || baseOf(rex, modrm) != g || g&7 == 4 ||
		c.n+4 > len(c.b) {
		return false
	}
	off := c.b[c.n+3]
	c.n += 4
	return off == 16 || off == 24
}

// jump matches a forward conditional jump within the function.
func (c *cursor) jump(cond byte) bool {
	if c.n >= len(c.b) {
		return false
	}
	in, ok := decode(c.b[c.n:])
	if !ok || in.Kind != CondJump {
		return false
	}
	if op := c.b[c.n]; op != 0x70|cond && !(op == 0x0f && c.b[c.n+1] == 0x80|cond) {
		return false
	}
	c.n += in.Len
	return in.Rel > 0 && in.Rel < int64(len(c.b)-c.n)
}

// Check decodes the whole function whose code begins at address entry, and makes sure that an
// instruction begins at each of marks (ascending): where not, there is data in the code, or bytes
// of one instruction on several source lines. The error is a *CodeError.
func Check(code []byte, entry uint64, marks []uint64) error {
	var bad *CodeError
	err := Walk(code, entry, func(pc uint64, in Inst) bool {
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
func FindExits(code []byte, entry uint64, asm bool, marks []uint64) ([]Exit, error) {
	end := entry + uint64(len(code))
	var exits []Exit
	var bad *CodeError
	err := Walk(code, entry, func(pc uint64, in Inst) bool {
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
