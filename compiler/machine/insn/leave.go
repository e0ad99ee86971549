package insn

import "fmt"

// Part is a piece of a function's code without gaps.
type Part struct {
	Addr uint64
	Code []byte
}

// Has reports whether pc is in the piece.
func (p Part) Has(pc uint64) bool { return pc-p.Addr < uint64(len(p.Code)) }

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
	d     Decoder
	entry uint64
	out   Leaves
	// pending are direct jumps to where nothing is known yet.
	jumps []jump
	last  []Step // the instructions before the one that is looked at
}

// Step is an instruction that stands before another one.
type Step struct {
	PC   uint64
	Inst Inst
	Code []byte
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
func FindLeaves(d Decoder, entry uint64, parts []Part, a Around) (Leaves, error) {
	l := &leaver{Around: a, d: d, entry: entry}
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
		_ = Walk(l.d, p.Code, p.Addr, func(pc uint64, in Inst) bool {
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

func (l *leaver) inside(pc uint64) bool { return Computed{Parts: l.out.Parts}.Inside(pc) }

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
	err := Walk(l.d, p.Code, p.Addr, func(pc uint64, in Inst) bool {
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
			called := len(l.last) > 0 && (l.last[len(l.last)-1].Inst.Kind == Call ||
				l.last[len(l.last)-1].Inst.Kind == IndirectCall)
			l.jumps = append(l.jumps, jump{pc, in, called})
		case IndirectJump:
			away, why := l.leaves(pc, b)
			if why != "" {
				refuse(pc, why)
			} else if away {
				l.out.Exits = append(l.out.Exits, Exit{PC: pc, Inst: in, Tail: true})
			}
		}
		if len(l.last) == window {
			l.last = append(l.last[:0], l.last[1:]...)
		}
		l.last = append(l.last, Step{pc, in, b})
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
		switch s.Inst.Kind {
		case Ret, Jump, IndirectJump, Trap, Call, IndirectCall: // what is called last does not come back
			return nil
		case Nop, Nop5:
			continue
		}
		if l.d.Padding(s.Code) {
			continue
		}
		if l.inside(p.Addr + uint64(len(p.Code))) {
			return nil
		}
		return &CodeError{PC: s.PC, Reason: "the code runs on into what follows the function"}
	}
	return nil
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
		if p, ok := l.More(to, level, known); ok && p.Has(to) {
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

// pushed reports whether the instruction before wrote what a return takes for the return address.
func (l *leaver) pushed() bool {
	return len(l.last) > 0 && l.d.Returnable(l.last[len(l.last)-1].Code)
}

// Undecided is why a computed jump cannot be judged.
const Undecided = "where the function jumps to is computed, and not known to be a function or a part of this one"

// Computed is what is known of where a computed jump stands.
type Computed struct {
	// Last are the instructions before it, the nearest one last. Control may have come to the jump without them.
	Last []Step
	// Parts are the pieces of the function.
	Parts []Part
	// Word is that of Around. It may be nil.
	Word func(addr uint64) (uint64, bool)
}

// Inside reports whether pc is in the function.
func (c Computed) Inside(pc uint64) bool {
	for _, p := range c.Parts {
		if p.Has(pc) {
			return true
		}
	}
	return false
}

// leaves decides about a jump to a computed address. why says that it cannot.
func (l *leaver) leaves(pc uint64, b []byte) (away bool, why string) {
	if level, known := l.level(pc); known && !level {
		return false, ""
	}
	return l.d.Leaves(b, Computed{Last: l.last, Parts: l.out.Parts, Word: l.Word})
}
