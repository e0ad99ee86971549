// Package gomap makes the functions that look keys up in maps of Go programs, as the programs themselves do it.
//
// In: how a map lies. Out: a function in IR, which all back ends translate.
package gomap

import (
	_ "embed"
	"sync"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/template"
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
	find = sync.OnceValue(func() *ir.Func { return template.Parse("find.ir", findText)[0] })
	step = sync.OnceValue(func() *ir.Func { return template.Parse("step.ir", stepText)[0] })
)

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
		return template.Fill(step(), name, maxText, 2, append([]int64{what}, lies...))
	}
	from := find()
	f := template.Fill(from, name, maxText, 4, append([]int64{truth(m.Text), m.KeySize, int64(maxText)}, lies...))
	unread := 2
	if m.Text {
		unread = 1
		f.Regs[from.Params[2]].Cap = maxText
	}
	f.Params = append(append([]ir.Reg(nil), f.Params[:unread]...), f.Params[unread+1:]...)
	template.Replace(f, map[int]ir.Val{1: ir.I(0), 2: ir.S("")}[unread], from.Params[unread])
	return f
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
