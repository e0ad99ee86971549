// Package softfloat has the arithmetic of floating-point numbers as functions in IR, for code that must not use the
// processor's own: eBPF programs and kernel modules.
//
// In: nothing. Out: functions that take and give the bits of numbers of 64 bits (IEEE 754 binary64).
package softfloat

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/gostap/gostap/compiler/ir"
)

// Whole is the second argument of norm for whole numbers: the exponent of what has its leading bit at 62, less 1.
const Whole = 0x43c

//go:embed float.ir
var text string

// funcs are the functions of float.ir, parsed. Nobody may change them.
var funcs = sync.OnceValue(func() []*ir.Func {
	p, err := ir.ParseText(text)
	if err != nil {
		panic("float.ir: " + err.Error())
	}
	for _, f := range p.Funcs {
		f.Name = called(f.Name)
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if in := &b.Instrs[i]; in.Op == ir.OpCall {
					in.Name = called(in.Name)
				}
			}
		}
	}
	return p.Funcs
})

// Is reports whether a function of a program is one of this package.
func Is(name string) bool { return strings.HasPrefix(name, "float.") }

// called is the name in programs: no function of a script has one with a dot.
func called(name string) string { return "float." + strings.TrimPrefix(name, "_float_") }

// Add makes sure that p has the function that does what, and those that it calls: add, mul, div; cmp, which gives -1, 0
// or 1 for less, equal and greater and 2 for what has no order; trunc and round, which make a whole number of one, with
// a run-time error where there is none; wide, of the bits of a number of 32 bits; norm(sign, Whole, n), of a whole
// number without its sign. It gives the function's name.
func Add(p *ir.Program, what string) string {
	name := "float." + what
	if p.Func(name) != nil {
		return name
	}
	for _, f := range funcs() {
		if f.Name != name {
			continue
		}
		p.Funcs = append(p.Funcs, f.Clone())
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if in := &b.Instrs[i]; in.Op == ir.OpCall {
					Add(p, strings.TrimPrefix(in.Name, "float."))
				}
			}
		}
	}
	return name
}
