// Package loc describes where a value of a traced program is, symbolically: as a
// small program that a back end can emit and the interpreter can run.
//
// In: DWARF location expressions, Go's ABI assignment, type layouts. Out: Prog and
// Place. Nothing here reads memory.
package loc

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/types"
)

// Op is what a Step does.
type Op uint8

// The operations. A and B name earlier steps of the same Prog by index.
const (
	Reg   Op = iota // N: DWARF register number, the value it has at the probed pc
	Const           // N
	Arg             // N: the N-th run-time argument (a script value, such as an index)
	TLS             // the thread pointer (amd64: fs base)
	// the load bias of the binary that the site is in: run-time address minus file address; 0 unless PIE or a library
	Image
	Add      // A + B
	Sub      // A - B
	Mul      // A * B
	And      // A & B
	Or       // A | B
	Xor      // A ^ B
	Shl      // A << B
	Shr      // A >> B, logical
	Sar      // A >> B, arithmetic
	Neg      // -A
	Not      // ^A
	Deref    // load Size bytes at address A, sign-extended if Signed; may fault
	Bits     // Size bits of A from bit N on, sign-extended if Signed
	Below    // A if A < B (unsigned), else a run-time error: index out of range
	TraceArg // N: the N-th argument word of the event (ir.OpTraceArg)
	Within   // A if A <= B (unsigned), else a run-time error: index out of range
	Through  // load Size bytes at address A + N, sign-extended if Signed; 0 where A is 0; may fault
	Equal    // 1 if A == B, else 0
	Less     // 1 if A < B (unsigned), else 0
	Check    // A if B is not 0, else the run-time error Text
	Find     // the address of the element that key B has in the map of Go at address A, 0 if there is none; see Map
	Next     // the position behind B in the map of Go at address A, that of the first element for 0; 0: there is none
	KeyAt    // the address of the key at position B of the map of Go at address A
	ElemAt   // the address of the element there
	Else     // A if it is not 0, else B
	// the address of the value that the context of Go whose type is at A and whose data word is B has for a key, 0 if
	// there is none; see Chain
	Stored
	// N, as it is in the kernel that the program was compiled for, and Text is what it stands for: where a structure of
	// the kernel has a member, or another number that is looked up in the kernel that the program runs in (ir.OpOffset)
	Offset
)

var opNames = [...]string{"reg", "const", "arg", "tls", "image", "add", "sub", "mul", "and", "or", "xor", "shl", "shr",
	"sar", "neg", "not", "deref", "bits", "below", "tracearg", "within", "through", "equal", "less",
	"check", "find", "next", "keyat", "elemat", "else", "stored", "offset"}

func (o Op) String() string { return opNames[o] }

// NoKey is what Strict says of an element of a map.
const NoKey = "the map has no such key"

// Step computes one 64-bit value.
type Step struct {
	Op     Op
	A, B   int
	N      int64
	Size   int // Deref: 1, 2, 4 or 8 bytes; Bits: bits
	Signed bool
	Kernel bool // Deref of kernel memory
	Text   string
	Map    *Map   // Find, Next, KeyAt, ElemAt
	Chain  *Chain // Stored
}

// Map is how a map of a Go program lies, and where the program has what its hashes depend on.
type Map struct {
	// Swiss: it is one of Go 1.24 and later (internal/runtime/maps), else it is made of buckets (runtime.hmap).
	Swiss bool
	// Text: keys are strings, and in a Find the key is one of the script; else they are numbers of KeySize bytes: 1, 2,
	// 4 or 8.
	Text    bool
	KeySize int64
	// Size is that of a group of eight elements, in bytes; its keys begin at KeyAt and lie KeyStep apart, elements
	// likewise. ElemPtr: those are pointers to the elements.
	Size, KeyAt, KeyStep, ElemAt, ElemStep int64
	ElemPtr                                bool
	// Sched is where the program has runtime.aeskeysched.
	Sched Prog
}

// Prog is a list of steps; its value is that of the last one.
type Prog struct{ Steps []Step }

// Value makes a Prog of one step.
func Value(s Step) Prog { return Prog{[]Step{s}} }

// Register is the value of a DWARF register.
func Register(n int) Prog { return Value(Step{Op: Reg, N: int64(n)}) }

// Event is the n-th argument word of the event that fired: of a tracepoint, or of a system call.
func Event(n int) Prog { return Value(Step{Op: TraceArg, N: int64(n)}) }

// Constant is a constant value.
func Constant(n int64) Prog { return Value(Step{Op: Const, N: n}) }

// Argument is the n-th run-time argument.
func Argument(n int) Prog { return Value(Step{Op: Arg, N: int64(n)}) }

// Last is the index of the result step.
func (p Prog) Last() int { return len(p.Steps) - 1 }

// Empty reports whether p has no steps.
func (p Prog) Empty() bool { return len(p.Steps) == 0 }

// Then appends a step that takes p's result as A.
func (p Prog) Then(s Step) Prog {
	s.A = p.Last()
	return Prog{append(append([]Step(nil), p.Steps...), s)}
}

// With appends q's steps and then s with A = p's result and B = q's.
func (p Prog) With(q Prog, s Step) Prog {
	n := len(p.Steps)
	steps := append([]Step(nil), p.Steps...)
	for _, st := range q.Steps {
		st.A += n
		st.B += n
		steps = append(steps, st)
	}
	s.A, s.B = n-1, len(steps)-1
	return Prog{append(steps, s)}
}

// Static is the run-time address of the file address addr: addr itself, or with the
// load bias of the site's binary added when that is relocated (PIE, library).
func Static(addr uint64, relocated bool) Prog {
	if !relocated {
		return Constant(int64(addr))
	}
	return Value(Step{Op: Image}).Plus(int64(addr))
}

// Beyond adds an Offset.
func (p Prog) Beyond(n int64, what string) Prog {
	return p.With(Value(Step{Op: Offset, N: n, Text: what}), Step{Op: Add})
}

// Plus adds a constant.
func (p Prog) Plus(n int64) Prog {
	if n == 0 {
		return p
	}
	if last := p.Last(); last >= 0 && p.Steps[last].Op == Const {
		q := Prog{append([]Step(nil), p.Steps...)}
		q.Steps[last].N += n
		return q
	} else if last >= 2 && p.Steps[last].Op == Add && p.Steps[last].B == last-1 && p.Steps[last].A < last-1 &&
		p.Steps[last-1].Op == Const {
		if p.Steps[last-1].N+n == 0 && p.Steps[last].A == last-2 {
			return Prog{p.Steps[: last-1 : last-1]} // (x + c) - c
		}
		q := Prog{append([]Step(nil), p.Steps...)} // (x + c) + n
		q.Steps[last-1].N += n
		return q
	}
	return p.With(Constant(n), Step{Op: Add})
}

// Load dereferences p.
func (p Prog) Load(size int, signed, kernel bool) Prog {
	return p.Then(Step{Op: Deref, Size: size, Signed: signed, Kernel: kernel})
}

// Through loads what lies n bytes behind the address p, if that is one; 0 else.
func (p Prog) Through(n int64, size int, signed, kernel bool) Prog {
	return p.Then(Step{Op: Through, N: n, Size: size, Signed: signed, Kernel: kernel})
}

// Strict is p with a run-time error, text, where it would take the second choice of an Else.
func (p Prog) Strict(text string) Prog {
	q := Prog{append([]Step(nil), p.Steps...)}
	for i := range q.Steps {
		if s := &q.Steps[i]; s.Op == Else {
			*s = Step{Op: Check, A: s.A, B: s.A, Text: text}
		}
	}
	return q
}

// Checked takes a Check that is p's last step apart: the value, and the condition under which it is one; none where
// there is no such step.
func (p Prog) Checked() (val, when Prog) {
	n := p.Last()
	if n < 0 || p.Steps[n].Op != Check {
		return p, Prog{}
	}
	k := p.Steps[n].A + 1
	val.Steps = p.Steps[:k]
	for _, s := range p.Steps[k:n] { // see With
		s.A -= k
		s.B -= k
		when.Steps = append(when.Steps, s)
	}
	return val, when
}

// CanFault reports whether running p may fail.
func (p Prog) CanFault() bool {
	for _, s := range p.Steps {
		if s.Op == Deref || s.Op == Below || s.Op == Within || s.Op == Through || s.Op == Check ||
			s.Map != nil || s.Chain != nil {
			return true
		}
	}
	return false
}

func (p Prog) String() string {
	var b strings.Builder
	for i, s := range p.Steps {
		if i > 0 {
			b.WriteString("; ")
		}
		switch s.Op {
		case Reg, Const, Arg, TraceArg:
			fmt.Fprintf(&b, "%s %d", s.Op, s.N)
		case TLS, Image:
			b.WriteString(s.Op.String())
		case Offset:
			fmt.Fprintf(&b, "%s %d %q", s.Op, s.N, s.Text)
		case Neg, Not:
			fmt.Fprintf(&b, "%s .%d", s.Op, s.A)
		case Deref, Through:
			fmt.Fprintf(&b, "%s%d", s.Op, s.Size*8)
			if s.Signed {
				b.WriteByte('s')
			}
			if s.Kernel {
				b.WriteByte('k')
			}
			fmt.Fprintf(&b, " .%d", s.A)
			if s.Op == Through {
				fmt.Fprintf(&b, " %+d", s.N)
			}
		case Bits:
			fmt.Fprintf(&b, "bits .%d %d:%d", s.A, s.N, s.Size)
			if s.Signed {
				b.WriteByte('s')
			}
		default:
			fmt.Fprintf(&b, "%s .%d .%d", s.Op, s.A, s.B)
			if s.Map != nil {
				fmt.Fprintf(&b, " %+v", *s.Map)
			}
			if s.Chain != nil {
				fmt.Fprintf(&b, " %s", s.Chain)
			}
			if s.Text != "" {
				fmt.Fprintf(&b, " %q", s.Text)
			}
		}
	}
	return b.String()
}

// Place is where an object of the traced program lives: in memory, or scattered
// over registers and constants.
type Place struct {
	Type *types.Ctype
	// InMemory: Addr computes the address of the first byte.
	InMemory bool
	Addr     Prog
	Kernel   bool // Addr is a kernel address
	// Otherwise the pieces hold it, by offset; bytes under no piece are padding or lost.
	Pieces []Piece
	// Writable says that storing at this place changes the variable for the rest of
	// the program (memory, or a register that the following code still reads from).
	Writable bool
}

// Piece is a part of an object that sits in a register or is a constant.
type Piece struct {
	Off, Size int64
	// Val gives the piece in its low Size bytes; what is above them is undefined.
	Val Prog
	// Lost says that this part does not exist at the pc (optimised out).
	Lost bool
	// Part says that the register that Val comes from holds more of the object that this was cut out of:
	// storing must leave the rest as it is. Otherwise the piece has its register for itself.
	Part bool
	// Vector is 1 + the number of the vector register that holds it, 0 if none. Val is empty then, unless the handler
	// can read those.
	Vector int
}
