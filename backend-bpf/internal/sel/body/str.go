package body

import (
	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/runtime/wire"
)

// Lazy is a String register whose text is made on the host: the kernel sends what it is made of.
type Lazy struct {
	wire.Arg
	Val mach.Reg // the address, number or index
	// Text is a Quoted's.
	Text *StrVar
	// Snap is where a Snapshot lies in the scratch slot.
	Snap int
}

// Str is a string operand.
type Str struct {
	Lit    bool
	Text   string
	At     emit.Mem
	Cap    int // most bytes
	Padded bool
	LenAt  emit.Mem // of a large one: the word with the length
	V      *StrVar
}

// StrVar is the home of a String register.
type StrVar struct {
	Cap   int
	Small bool
	At    emit.Mem
	LenAt emit.Mem
}

// Str is what v holds, as an operand.
func (v *StrVar) Str() Str {
	return Str{At: v.At, Cap: v.Cap, Padded: v.Small, LenAt: v.LenAt, V: v}
}

// Literal is a constant.
func Literal(s string) Str { return Str{Lit: true, Text: s, Cap: len(s)} }

// Padded is a string of at most n bytes with zeros behind it.
func Padded(p emit.Mem, n int) Str { return Str{At: p, Cap: n, Padded: true} }
