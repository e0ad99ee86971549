// Package template makes functions of a program from functions that were written as scripts and compiled beforehand.
//
// In: the text form of such a function, values for its last parameters. Out: a function in IR.
package template

import "github.com/gostap/gostap/compiler/ir"

// Parse reads the functions of a program in its text form, which is embedded in the compiler. Nobody may change them.
func Parse(name, text string) []*ir.Func {
	p, err := ir.ParseText(text)
	if err != nil {
		panic(name + ": " + err.Error())
	}
	return p.Funcs
}

// Fill is a function called name that does what from does where the parameters from the first fixed one on are args.
// Its messages have at most maxText bytes.
func Fill(from *ir.Func, name string, maxText, fixed int, args []int64) *ir.Func {
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
		Replace(f, ir.I(n), from.Params[fixed+i])
	}
	return f
}

// Replace puts a constant in place of a parameter that is never assigned to.
func Replace(f *ir.Func, c ir.Val, param ir.Reg) {
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
