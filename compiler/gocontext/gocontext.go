// Package gocontext makes the functions that find what a context of a Go program (context.Context) has for a key, as
// its Value method would.
//
// In: what the program's contexts do, the form of the key. Out: functions in IR, which all back ends translate.
package gocontext

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/template"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// walkText are functions in the text form of programs, made from walk.stp.
//
//go:embed walk.ir
var walkText string

var walk = sync.OnceValue(func() map[string]*ir.Func {
	out := map[string]*ir.Func{}
	for _, f := range template.Parse("walk.ir", walkText) {
		out[f.Name] = f
	}
	return out
})

// The functions of walk.stp.
const (
	value = "_go_context_value"
	does  = "_go_context_does"
	same  = "_go_context_same"
)

// unread is the parameter that is not needed for a form of key: number or text.
func unread(f loc.KeyForm) (param int, with ir.Val) {
	if f == loc.TextKey {
		return 4, ir.I(0)
	}
	return 5, ir.S("")
}

// Func makes the function that a loc.Stored is for keys of the form that c has. It takes the run-time type of the first
// context, the second word of the interface that holds it, the run-time type of the key, the load bias, and the key's
// value: a string for a TextKey, else a number. doesName and sameName are what the functions that Does and Same make
// are called. maxText is how long strings of the script can be.
func Func(c *loc.Chain, name, doesName, sameName string, maxText int) *ir.Func {
	from := walk()[value]
	f := template.Fill(from, name, maxText, 6, []int64{int64(maxText), int64(c.Form), c.Size, c.ParentAt, c.KeyAt,
		c.ValAt})
	i, with := unread(c.Form)
	if c.Form == loc.TextKey {
		f.Regs[from.Params[5]].Cap = maxText
	}
	f.Params = slices.Delete(slices.Clone(f.Params), i, i+1)
	template.Replace(f, with, from.Params[i])
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			in := &b.Instrs[i]
			switch {
			case in.Op != ir.OpCall:
			case in.Name == does:
				in.Name = doesName
			case c.Form == loc.TextKey:
				in.Name = sameName
			default:
				in.Op, in.Name, in.Args = ir.OpMov, "", []ir.Val{ir.I(0)}
			}
		}
	}
	return f
}

// Same makes the function that compares a string of the program with one of the script.
func Same(name string, maxText int) *ir.Func {
	from := walk()[same]
	f := template.Fill(from, name, maxText, 2, nil)
	f.Regs[from.Params[1]].Cap = maxText
	return f
}

// Does makes the function that says what contexts do by the file address of their type. It raises a run-time error for
// those of which that is not known.
func Does(c *loc.Contexts, name string, maxText int) *ir.Func {
	b := ir.NewBuilder(name)
	w := &writer{b: b, typ: ir.R(b.Param("type", types.Long, 0)), same: map[int64]ir.BlockID{}, maxText: maxText}
	b.Result(types.Long, 0)
	all := slices.Clone(c.Types)
	// Most links of a chain are of two kinds.
	for i := 0; i < len(all); {
		if n := all[i].Name; n == "*context.valueCtx" || n == "*context.cancelCtx" {
			w.one(&all[i])
			all = slices.Delete(all, i, i+1)
		} else {
			i++
		}
	}
	w.search(all)
	return b.Finish()
}

// writer writes a function that Does makes.
type writer struct {
	b       *ir.Builder
	typ     ir.Val
	same    map[int64]ir.BlockID // where what is done is given back
	maxText int
}

// one gives what c does if that is the type, and goes on if it is not.
func (w *writer) one(c *loc.Context) {
	n := map[loc.ContextDoes]int64{loc.OwnValue: -1, loc.Root: 1, loc.Holds: 2, loc.Derived: c.Off << 2}[c.Does]
	if c.Does == loc.Derived && c.Then >= 0 {
		n = c.Off<<32 | c.Then<<2 | 3
	}
	give, there := w.same[n]
	if !there {
		give = w.b.Block()
	}
	next := w.b.Block()
	w.b.Branch(w.b.Bin(ir.OpEq, w.typ, ir.I(int64(c.Addr))), give, next)
	w.b.SetBlock(give)
	switch {
	case n < 0:
		w.fail(fmt.Sprintf("the values of a %s are what its own Value method says", c.Name))
	case !there:
		w.b.Return(ir.I(n))
		w.same[n] = give
	}
	w.b.SetBlock(next)
}

// fail raises an error.
func (w *writer) fail(text string) { w.b.Fail(ir.ErrUser, ir.S(text[:min(len(text), w.maxText)])) }

// search looks the type up among all, which are in the order of their addresses.
func (w *writer) search(all []loc.Context) {
	switch len(all) {
	case 0:
		w.fail("the chain of contexts leads to what is no context of the program")
	case 1:
		w.one(&all[0])
		w.search(nil)
	default:
		half := len(all) / 2
		below, above := w.b.Block(), w.b.Block()
		w.b.Branch(w.b.Bin(ir.OpULt, w.typ, ir.I(int64(all[half].Addr))), below, above)
		w.b.SetBlock(below)
		w.search(all[:half])
		w.b.SetBlock(above)
		w.search(all[half:])
	}
}
