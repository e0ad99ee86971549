package x86

import (
	"fmt"

	"golang.org/x/arch/x86/x86asm"
)

// Part is a piece of a function's code without gaps.
type Part struct {
	Addr uint64
	Code []byte
}

func (p Part) has(pc uint64) bool { return pc-p.Addr < uint64(len(p.Code)) }

// Around is what code alone does not tell FindLeaves. All of its functions may be nil.
type Around struct {
	// Level says whether the stack pointer is at pc what it is at the function's first byte, so that a jump
	// there can be the function's last act. known is false where that is not known.
	Level func(pc uint64) (level, known bool)
	// More gives the piece of the same function that has pc, to which it jumps. level and known are those of the jump.
	More func(pc uint64, level, known bool) (Part, bool)
	// Thunk says that the code at pc does what RET does (-mfunction-return=thunk).
	Thunk func(pc uint64) bool
	// Word gives the address that stands in the file's memory at addr, as it will be when the file is loaded.
	Word func(addr uint64) (uint64, bool)
	// Marks are addresses known to begin an instruction, ascending.
	Marks []uint64
}

// Leaves is FindLeaves' answer.
type Leaves struct {
	Exits []Exit
	// Again are the addresses of jumps to the function's first instruction with the stack as it was there: a loop,
	// or calls of itself that the compiler turned into jumps.
	Again []uint64
	Parts []Part // all of the function's, with those that were found on the way
}

// maxParts bounds the pieces of one function, window is how many instructions before a jump are looked at.
const (
	maxParts = 64
	window   = 12
)

// leaver looks for the ways out of one function.
type leaver struct {
	Around
	entry uint64
	out   Leaves
	// pending are direct jumps to where nothing is known yet.
	jumps []jump
	last  []step // the instructions before the one that is looked at
}

type step struct {
	pc uint64
	in Inst
	b  []byte
}

type jump struct {
	pc     uint64
	in     Inst
	called bool // it follows a call, which may be one that does not come back
}

// FindLeaves finds every place at which compiled code of C, C++ and Rust leaves a function for good: every RET and
// every jump to another function. entry is the function's first instruction, parts the pieces of it that are known,
// which begin with an instruction.
//
// A jump to a computed address is one through the table of a switch, or the call of a function in last position. It
// stays in the function where the stack is not that of the entry, where it carries notrack, which compilers give to
// such tables alone, or where what it goes to is added up from a table of distances. A table of addresses is looked
// into. What is not decided by that is refused, and so are functions that do not decode, that push the address they
// return to, that run on into what follows, or that leave by a conditional jump, since the kernel does not tell
// whether that was taken. The error is a *CodeError.
func FindLeaves(entry uint64, parts []Part, a Around) (Leaves, error) {
	l := &leaver{Around: a, entry: entry}
	l.out.Parts = append(l.out.Parts, parts...)
	if !l.precise() {
		l.Level = nil
	}
	for i := 0; i < len(l.out.Parts); i++ {
		if err := l.part(l.out.Parts[i]); err != nil {
			return Leaves{}, err
		}
		if i+1 < len(l.out.Parts) {
			continue
		}
		for _, j := range l.jumps {
			if err := l.away(j); err != nil {
				return Leaves{}, err
			}
		}
		l.jumps = l.jumps[:0]
	}
	return l.out, nil
}

// precise reports whether Level follows the stack to the end of the function: some compilers describe it only up to
// there.
func (l *leaver) precise() bool {
	if l.Level == nil {
		return false
	}
	ok := true
	for _, p := range l.out.Parts {
		_ = Walk(p.Code, p.Addr, func(pc uint64, in Inst) bool {
			if in.Kind == Ret {
				if level, known := l.Level(pc); known && !level {
					ok = false
				}
			}
			return ok
		})
	}
	return ok
}

func (l *leaver) level(pc uint64) (level, known bool) {
	if l.Level == nil {
		return false, false
	}
	return l.Level(pc)
}

func (l *leaver) inside(pc uint64) bool {
	for _, p := range l.out.Parts {
		if p.has(pc) {
			return true
		}
	}
	return false
}

// ends reports whether a piece of the function ends before pc.
func (l *leaver) ends(pc uint64) bool {
	for _, p := range l.out.Parts {
		if p.Addr+uint64(len(p.Code)) == pc {
			return true
		}
	}
	return false
}

func (l *leaver) part(p Part) error {
	l.last = l.last[:0]
	marks := l.Marks
	for len(marks) > 0 && marks[0] < p.Addr {
		marks = marks[1:]
	}
	var bad *CodeError
	refuse := func(pc uint64, why string) { bad = &CodeError{PC: pc, Reason: why} }
	err := Walk(p.Code, p.Addr, func(pc uint64, in Inst) bool {
		if marks, bad = pass(marks, pc); bad != nil {
			return false
		}
		b := p.Code[pc-p.Addr:][:in.Len]
		switch in.Kind {
		case Ret:
			if l.pushed() {
				refuse(pc, "the function jumps by a return to an address of its own making")
				break
			}
			l.out.Exits = append(l.out.Exits, Exit{PC: pc, Inst: in})
		case Jump, CondJump:
			called := len(l.last) > 0 && (l.last[len(l.last)-1].in.Kind == Call ||
				l.last[len(l.last)-1].in.Kind == IndirectCall)
			l.jumps = append(l.jumps, jump{pc, in, called})
		case IndirectJump:
			away, why := l.leaves(pc, in, b)
			if why != "" {
				refuse(pc, why)
			} else if away {
				l.out.Exits = append(l.out.Exits, Exit{PC: pc, Inst: in, Tail: true})
			}
		}
		if len(l.last) == window {
			l.last = append(l.last[:0], l.last[1:]...)
		}
		l.last = append(l.last, step{pc, in, b})
		return bad == nil
	})
	if bad != nil {
		return bad
	}
	if err != nil {
		return err
	}
	return l.runsOn(p)
}

// runsOn refuses code that goes on behind its end: assembly that shares its end with another function.
func (l *leaver) runsOn(p Part) error {
	for i := len(l.last) - 1; i >= 0; i-- {
		s := l.last[i]
		switch s.in.Kind {
		case Ret, Jump, IndirectJump, Trap, Call, IndirectCall: // what is called last does not come back
			return nil
		case Nop, Nop5:
			continue
		}
		if padding(s.b) {
			continue
		}
		if l.inside(p.Addr + uint64(len(p.Code))) {
			return nil
		}
		return &CodeError{PC: s.pc, Reason: "the code runs on into what follows the function"}
	}
	return nil
}

// padding reports whether an instruction fills up the room to an aligned address, or says that nothing comes by.
func padding(b []byte) bool {
	if x, err := x86asm.Decode(b, 64); err == nil {
		switch x.Op {
		case x86asm.NOP, x86asm.UD2, x86asm.UD1, x86asm.XCHG, x86asm.HLT, x86asm.INT, x86asm.SYSCALL:
			return true
		case x86asm.LEA:
			return true // lea 0(%rsi),%rsi of old assemblers
		}
	}
	return false
}

// away decides about a direct jump, when all parts of the function that come by themselves are known.
func (l *leaver) away(j jump) error {
	to := j.in.Target(j.pc)
	if to != l.entry && l.inside(to) {
		return nil
	}
	level, known := l.level(j.pc)
	if to == l.entry {
		if level || !known {
			l.out.Again = append(l.out.Again, j.pc)
		}
		return nil
	}
	if l.Thunk != nil && l.Thunk(to) && j.in.Kind == Jump {
		l.out.Exits = append(l.out.Exits, Exit{PC: j.pc, Inst: j.in})
		return nil
	}
	if l.More != nil && len(l.out.Parts) < maxParts {
		if p, ok := l.More(to, level, known); ok && p.has(to) {
			l.out.Parts = append(l.out.Parts, p)
			return nil
		}
	}
	if known && !level && j.called && l.ends(to) {
		return nil // clang -O0: behind the call that throws, to a block that has no code
	}
	if known && !level {
		return &CodeError{PC: j.pc, Reason: fmt.Sprintf(
			"the function goes on at %#x, which is not known to be a part of it", to)}
	}
	if j.in.Kind == CondJump {
		return &CodeError{PC: j.pc, Reason: "the function is left by a conditional jump"}
	}
	l.out.Exits = append(l.out.Exits, Exit{PC: j.pc, Inst: j.in, Tail: true, Target: to})
	return nil
}

// pushed reports whether the instruction before wrote what RET takes for the return address.
func (l *leaver) pushed() bool {
	if len(l.last) == 0 {
		return false
	}
	s := l.last[len(l.last)-1]
	if s.in.Kind == Push {
		return true
	}
	x, err := x86asm.Decode(s.b, 64)
	if err != nil || x.Op != x86asm.MOV {
		return false
	}
	m, ok := x.Args[0].(x86asm.Mem)
	return ok && m.Base == x86asm.RSP && m.Index == 0 && m.Disp == 0
}

const undecided = "where the function jumps to is computed, and not known to be a function or a part of this one"

// leaves decides about a jump to a computed address. why says that it cannot.
func (l *leaver) leaves(pc uint64, in Inst, b []byte) (away bool, why string) {
	if level, known := l.level(pc); known && !level {
		return false, ""
	}
	i := 0
	for i < len(b) && b[i] != 0xff {
		if b[i] == 0x3e {
			return false, "" // notrack
		}
		i++
	}
	x, err := x86asm.Decode(b[i0(b):], 64)
	if err != nil {
		return false, undecided
	}
	switch a := x.Args[0].(type) {
	case x86asm.Mem:
		return l.memory(a)
	case x86asm.Reg:
		return l.register(a)
	}
	return false, undecided
}

// i0 is the number of bnd prefixes, which the decoder need not know.
func i0(b []byte) int {
	if len(b) > 2 && b[0] == 0xf2 {
		return 1
	}
	return 0
}

// memory decides about a jump to an address that stands in memory.
func (l *leaver) memory(m x86asm.Mem) (away bool, why string) {
	if m.Index == 0 {
		return true, "" // a member, a variable, a slot of the linker's
	}
	if l.Word == nil {
		return false, undecided
	}
	table := uint64(m.Disp)
	if m.Base != 0 {
		base, ok := l.address(m.Base)
		if !ok && !l.tabled(m.Base) {
			return true, "" // an array of pointers
		}
		if !ok {
			return false, undecided
		}
		table = base + uint64(m.Disp)
	}
	to, ok := l.Word(table)
	if !ok || to == 0 {
		return false, undecided
	}
	return !l.inside(to), ""
}

// address is what a register was made to point to by the last instruction before that wrote it, if that is known.
func (l *leaver) address(r x86asm.Reg) (uint64, bool) {
	for i := len(l.last) - 1; i >= 0; i-- {
		s := l.last[i]
		x, err := x86asm.Decode(s.b, 64)
		if err != nil || flows(s.in) {
			return 0, false
		}
		if !changes(x, r) {
			continue
		}
		switch src := x.Args[1].(type) {
		case x86asm.Mem:
			if x.Op == x86asm.LEA && src.Base == x86asm.RIP {
				return s.pc + uint64(s.in.Len) + uint64(src.Disp), true
			}
		case x86asm.Imm:
			if x.Op == x86asm.MOV {
				return uint64(src), true
			}
		}
		return 0, false
	}
	return 0, false
}

// flows reports whether what stands before an instruction need not have run before it.
func flows(in Inst) bool {
	switch in.Kind {
	case Jump, IndirectJump, Ret, Trap:
		return true
	}
	return false
}

// changes reports whether an instruction writes a general register, of which x86asm.Reg names any part.
func changes(x x86asm.Inst, r x86asm.Reg) bool {
	switch x.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.PUSH, x86asm.BT, x86asm.NOP:
		return false
	case x86asm.CALL:
		return true // for all that is known
	}
	w, ok := x.Args[0].(x86asm.Reg)
	return ok && whole(w) == whole(r)
}

// whole is the 64-bit register that a general register is part of.
func whole(r x86asm.Reg) x86asm.Reg {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return r - x86asm.AL + x86asm.RAX
	case r >= x86asm.AX && r <= x86asm.R15W:
		return r - x86asm.AX + x86asm.RAX
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return r - x86asm.EAX + x86asm.RAX
	}
	return r
}

// register decides about a jump to the address in a register, by what came before it.
func (l *leaver) register(r x86asm.Reg) (away bool, why string) {
	for i := len(l.last) - 1; i >= 0; i-- {
		s := l.last[i]
		if flows(s.in) {
			break
		}
		x, err := x86asm.Decode(s.b, 64)
		if err != nil {
			continue // a vector instruction
		}
		if s.in.Kind == Call || s.in.Kind == IndirectCall {
			break
		}
		if !changes(x, r) {
			continue
		}
		switch x.Op {
		case x86asm.ADD, x86asm.SUB:
			return false, "" // a table of distances
		case x86asm.MOV:
			switch src := x.Args[1].(type) {
			case x86asm.Mem:
				at := *l
				at.last = l.last[:i]
				if src.Base == x86asm.RIP {
					return true, ""
				}
				return at.memory(src)
			case x86asm.Reg:
				at := *l
				at.last = l.last[:i]
				return at.register(src)
			}
		case x86asm.LEA, x86asm.POP:
			return true, ""
		}
		return true, ""
	}
	return true, "" // compilers compute an address out of a table right before the jump
}

// tabled reports whether the function makes a register point to a table of addresses of its own.
func (l *leaver) tabled(r x86asm.Reg) bool {
	found := false
	for _, p := range l.out.Parts {
		_ = Walk(p.Code, p.Addr, func(pc uint64, in Inst) bool {
			if in.Kind != Other || in.Len < 5 {
				return true
			}
			x, err := x86asm.Decode(p.Code[pc-p.Addr:], 64)
			if err != nil || !changes(x, r) {
				return true
			}
			var at uint64
			switch src := x.Args[1].(type) {
			case x86asm.Mem:
				if x.Op != x86asm.LEA || src.Base != x86asm.RIP {
					return true
				}
				at = pc + uint64(in.Len) + uint64(src.Disp)
			case x86asm.Imm:
				at = uint64(src)
			default:
				return true
			}
			to, ok := l.Word(at)
			found = ok && l.inside(to)
			return !found
		})
	}
	return found
}
