// Package gomap makes the functions that look keys up in maps of Go programs, as the programs themselves do it.
//
// In: how a map lies. Out: a function in IR, which all back ends translate.
package gomap

import (
	_ "embed"
	"sync"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// findText and stepText are functions in the text form of programs, made from find.stp and step.stp.
//
//go:embed find.ir
var findText string

//go:embed step.ir
var stepText string

// find and step are those texts, parsed. Nobody may change them.
var (
	find = sync.OnceValue(func() *ir.Func { return parse("find.ir", findText) })
	step = sync.OnceValue(func() *ir.Func { return parse("step.ir", stepText) })
)

func parse(name, text string) *ir.Func {
	p, err := ir.ParseText(text)
	if err != nil {
		panic(name + ": " + err.Error())
	}
	return p.Funcs[0]
}

// Keyed reports whether keys of a type can be looked up, and how they are kept.
func Keyed(key *types.Ctype) (text bool, size int64, ok bool) {
	switch key.Kind {
	case types.GoString:
		return true, 0, true
	case types.Int, types.Bool, types.Char, types.Enum, types.Pointer, types.GoChan:
		switch key.Size {
		case 1, 2, 4, 8:
			return false, key.Size, true
		}
	}
	return false, 0, false
}

// Func makes the function that a step of a program for a place (loc.Find, loc.Next, loc.KeyAt, loc.ElemAt) is, for maps
// that lie like m. It takes the address of the map; for a Find the key and the address of runtime.aeskeysched, else a
// position. It raises a run-time error if the map is being written, or hashed by other means than AES. maxText is how
// long strings of the script can be.
func Func(op loc.Op, m *loc.Map, name string, maxText int) *ir.Func {
	lies := []int64{truth(m.Swiss), m.KeyAt, m.KeyStep, m.ElemAt, m.ElemStep, truth(m.ElemPtr), m.Size}
	if op != loc.Find {
		what := map[loc.Op]int64{loc.Next: 0, loc.KeyAt: 1, loc.ElemAt: 2}[op]
		return special(step(), name, maxText, 2, append([]int64{what}, lies...))
	}
	from := find()
	f := special(from, name, maxText, 4, append([]int64{truth(m.Text), m.KeySize, int64(maxText)}, lies...))
	unread := 2
	if m.Text {
		unread = 1
		f.Regs[from.Params[2]].Cap = maxText
	}
	f.Params = append(append([]ir.Reg(nil), f.Params[:unread]...), f.Params[unread+1:]...)
	replace(f, map[int]ir.Val{1: ir.I(0), 2: ir.S("")}[unread], from.Params[unread])
	return f
}

// special is a function called name that does what from does where the parameters from the first fixed one on are args.
// Its messages have at most maxText bytes.
func special(from *ir.Func, name string, maxText, fixed int, args []int64) *ir.Func {
	f := from.Clone()
	f.Name, f.Params = name, from.Params[:fixed]
	for _, b := range f.Blocks {
		b.Term.Args = vals(b.Term.Args, func(v ir.Val) ir.Val {
			if v.Kind == ir.ValStr {
				v.Str = v.Str[:min(len(v.Str), maxText)]
			}
			return v
		})
	}
	for i, n := range args {
		replace(f, ir.I(n), from.Params[fixed+i])
	}
	return f
}

// replace puts a constant in place of a parameter that is never assigned to.
func replace(f *ir.Func, c ir.Val, param ir.Reg) {
	val := func(v ir.Val) ir.Val {
		if v.IsReg() && v.Reg == param {
			return c
		}
		return v
	}
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			b.Instrs[i].Args = vals(b.Instrs[i].Args, val)
		}
		b.Term.Cond, b.Term.Args = val(b.Term.Cond), vals(b.Term.Args, val)
	}
}

func vals(vs []ir.Val, val func(ir.Val) ir.Val) (out []ir.Val) {
	for _, v := range vs {
		out = append(out, val(v))
	}
	return out
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
