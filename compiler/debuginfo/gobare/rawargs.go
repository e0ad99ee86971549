package gobare

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/goabi"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/types"
)

// Arguments whose types nothing tells: Go's tables say how large each one is and where it would be kept in memory, the
// code which register it comes in.

// spills tells which registers function i takes arguments in. known is false where the code does not say.
func (t *Teller) spills(i int) (regs []insn.Spill, known bool) {
	code, err := t.p.Code(i)
	if err != nil {
		return nil, false
	}
	return insn.Spills(t.p.Machine().Code, code, t.p.Table().Entry(i), t.p.IsMore)
}

// placer gives a function that finds where arguments of function i come in.
func (t *Teller) placer(i int, nodes []pclntab.ArgNode, all bool, regs []insn.Spill,
	known bool,
) func(*pclntab.ArgNode, *types.Ctype) (goabi.Slot, error) {
	stacked := t.p.Assembly(i)
	if !stacked && !known {
		regs, known = t.counted(i, nodes, all)
	}
	return func(n *pclntab.ArgNode, typ *types.Ctype) (goabi.Slot, error) {
		slot := goabi.Slot{Type: typ, Off: -1}
		if !n.Whole() {
			return slot, bareErrorf("it is larger than Go's tables tell: they list some ten words of a function's " +
				"arguments")
		}
		if !stacked && !known {
			return slot, bareErrorf("the code of %s does not show which register it comes in, if any",
				t.p.Func(i).Name)
		}
		var err error
		memory := 0
		n.Leaves(func(a pclntab.Arg) {
			if slot.Off < 0 {
				slot.Off = a.Off
			}
			for _, r := range regs {
				if r.Off-8 != a.Off || stacked {
					continue
				}
				if r.Size != a.Size {
					err = bareErrorf("the code of %s takes it in another size than Go's tables tell", t.p.Func(i).Name)
				}
				p := goabi.Part{Off: a.Off - slot.Off, Size: a.Size, Reg: r.Reg}
				if r.Reg >= t.p.Machine().Vector {
					p.Reg, p.Vector = 0, r.Reg-t.p.Machine().Vector+1
				}
				slot.Parts = append(slot.Parts, p)
				return
			}
			memory++
		})
		if slot.Off < 0 {
			slot.Off = 0 // of no size
		}
		if memory > 0 && len(slot.Parts) > 0 && err == nil {
			err = bareErrorf("the code of %s takes a part of it only in registers", t.p.Func(i).Name)
		}
		if len(slot.Parts) == 1 && slot.Parts[0].Vector != 0 && !n.Aggregate {
			slot.Type = rawFloat(n.Size)
		}
		return slot, err
	}
}

// counted tells the registers of a function that has no check for room on the stack: words are in integer registers if
// its code reads as many of those as there are words, since each word has one at most.
func (t *Teller) counted(i int, nodes []pclntab.ArgNode, all bool) ([]insn.Spill, bool) {
	var words []pclntab.Arg
	clear := true // no word can be anywhere else than in an integer register
	for k := range nodes {
		if !nodes[k].Whole() {
			return nil, false
		}
		nodes[k].Leaves(func(a pclntab.Arg) {
			words = append(words, a)
			clear = clear && a.Size < 4 // others may be numbers with a fraction
		})
		clear = clear && !nodes[k].Aggregate // arrays are on the stack
	}
	code, err := t.p.Code(i)
	if !all || err != nil || len(words) > len(t.p.Machine().Go.Args) || strings.Contains(t.p.Table().Name(i), "[") {
		return nil, false
	}
	entry := t.p.Table().Entry(i)
	read := 0
	for n, r := range t.p.Machine().Go.Args[:len(words)] {
		if taken, _ := insn.Taken(t.p.Machine().Code, code, entry, entry, r); taken {
			read = n + 1
		}
	}
	if !clear && read < len(words) {
		return nil, false
	}
	var out []insn.Spill
	for n, w := range words {
		out = append(out, insn.Spill{Reg: t.p.Machine().Go.Args[n], Off: w.Off + 8, Size: w.Size})
	}
	return out, true
}

// rawInteger is an integer of that many bytes; of 8 it is signed, as all numbers of scripts are.
func rawInteger(size int64) *types.Ctype {
	t := &types.Ctype{Kind: types.Int, Name: fmt.Sprintf("uint%d", size*8), Size: size, Go: true}
	if size == 8 {
		t.Name, t.Signed = "int64", true
	}
	return t
}

func rawFloat(size int64) *types.Ctype {
	return &types.Ctype{Kind: types.Float, Signed: true, Name: fmt.Sprintf("float%d", size*8), Size: size, Go: true}
}

// rawType is a type for an argument of which only the sizes of its parts are known: an integer, or a structure of
// integers w0, w1, ...
func rawType(n *pclntab.ArgNode) *types.Ctype {
	if !n.Aggregate {
		return rawInteger(n.Size)
	}
	t := &types.Ctype{Kind: types.Struct, Go: true}
	var fields []types.Field
	var names []string
	first := int64(-1)
	n.Leaves(func(a pclntab.Arg) {
		if first < 0 {
			first = a.Off
		}
		f := types.Field{Name: fmt.Sprintf("w%d", len(fields)), Type: rawInteger(a.Size), Off: a.Off - first}
		fields, names = append(fields, f), append(names, f.Name+" "+f.Type.Name)
		t.Size = max(t.Size, f.Off+a.Size)
	})
	t.Name = "struct{" + strings.Join(names, "; ") + "}"
	t.SetFields(fields)
	return t
}

// shaped reports whether a type is made of just the parts that Go's tables tell.
func shaped(n *pclntab.ArgNode, t *types.Ctype) bool {
	if !n.Whole() {
		return false
	}
	words := goabi.Traced([]goabi.Slot{{Type: t}})
	k, first, same := 0, int64(-1), true
	n.Leaves(func(a pclntab.Arg) {
		if first < 0 {
			first = a.Off
		}
		same = same && k < len(words) && words[k] == [2]int64{a.Off - first, a.Size}
		k++
	})
	return same && k == len(words)
}
