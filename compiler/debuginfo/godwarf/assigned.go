package godwarf

import (
	"debug/dwarf"
	"fmt"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/assigned"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/gosource"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// older says why the value at p may be one that e had before an assignment, "" if nothing shows that. Where the
// compiler puts a new value into a register, it keeps in the location list what it knew of the old one, the slot of the
// frame or another register, and that comes first in the list's entry (processValue and firstReg in
// cmd/compile/internal/ssa, debug.go). A value that needs no code at all, a constant or another variable's, is not in
// the list. Only the source says that a variable is assigned to more than once.
//
// reused: something has been stored at p since the list says that e is there. Then it must be a value that the source
// gives e.
func (v *view) older(e *godwarf.Tree, t *types.Ctype, p loc.Place, reused bool) string {
	other := ""
	if reused {
		other = "its place in the frame may have got the value of another variable since"
	}
	src := v.source()
	if src == nil {
		return other
	}
	decl := int(dw.Int(e, dwarf.AttrDeclLine))
	as, reaches, ok := src.Assignments(dw.Name(e), decl)
	if !ok {
		return other
	}
	parts := t.Kind == types.Struct || t.Kind == types.Array
	as = slices.DeleteFunc(slices.Clone(as), func(a gosource.Assignment) bool { return a.Part && !parts })
	if len(as) == 0 && !reused {
		return other
	}
	list, err := v.sig.unit.Locations(e, dwarf.AttrLocation)
	c := v.assignedCode()
	if err != nil || c == nil {
		return other
	}
	c.Rows = v.rows()
	w := &assigned.Walk{
		Code: *c,
		PC:   v.s.PC, Line: v.s.Line, Decl: decl, Reaches: reaches, List: list,
		Given: reused,
		Param: v.copy == nil && e.Tag == dwarf.TagFormalParameter && !dw.Flag(e, dwarf.AttrVarParam),
	}
	if line := w.Assign(as); line > 0 {
		return fmt.Sprintf("line %d assigns to it without any code, and the debug information goes on with the value "+
			"from before", line)
	}
	if line := w.Unfinished(); line > 0 {
		return fmt.Sprintf("line %d assigns to it, by code that comes only behind this line's", line)
	}
	for _, part := range v.held(p) {
		switch line := w.Passes(part); {
		case line > 0 && reused:
			return other
		case line > 0:
			return fmt.Sprintf("line %d assigns to it, and the debug information may have the value from before", line)
		}
	}
	return ""
}

// assignedCode is the code of the site's function, without lines; nil if it is not to be read.
func (v *view) assignedCode() *assigned.Code {
	code, err := v.im.code(v.i)
	x := v.im.effectsOf(v.i)
	if err != nil || x == nil {
		return nil
	}
	return &assigned.Code{
		Decoder: v.im.m.Code, Base: v.im.tab.Entry(v.i), Bytes: code, Effects: x, CFA: v.im.ways().cfa(v.i),
		Registers: v.im.m.Vector + v.im.m.Vectors,
	}
}

// file is the one that the function, or the inlined copy, at the site is written in.
func (v *view) file() string {
	if v.copy != nil && v.s.Inline != nil {
		return v.s.Inline.Func.File
	}
	return v.s.Func.File
}

// source is the source of the site's function, nil if it is not at hand.
func (v *view) source() *gosource.File {
	path := v.file()
	f, ok := v.im.sources[path]
	if !ok {
		f, _ = gosource.Read(path)
		if v.im.sources == nil {
			v.im.sources = map[string]*gosource.File{}
		}
		v.im.sources[path] = f
	}
	return f
}

// held lists where the parts of an object at p are.
func (v *view) held(p loc.Place) (out []assigned.Held) {
	for _, s := range v.onStack(p) {
		out = append(out, assigned.Held{Reg: -1, Slot: s})
	}
	for _, q := range p.Pieces {
		switch {
		case q.Lost:
		case q.Vector > 0:
			out = append(out, assigned.Held{Reg: v.im.m.Vector + q.Vector - 1, Size: q.Size})
		case len(q.Val.Steps) == 1 && q.Val.Steps[0].Op == loc.Reg:
			out = append(out, assigned.Held{Reg: int(q.Val.Steps[0].N), Size: q.Size})
		}
	}
	return out
}

// rows lists the code by line of the function, or the copy, at the site. What is inlined there has the line of its
// call, and what is of neither line 0.
func (v *view) rows() []pclntab.Row {
	name := ""
	if v.copy != nil && v.s.Inline != nil {
		name = v.s.Inline.Func.Name
	}
	kept := v.im.effects
	if kept != nil && kept.fn == v.i && kept.rows != nil && kept.of == name {
		return kept.rows
	}
	file := v.file()
	rows := v.im.tab.Rows(v.i)
	for k, r := range rows {
		fr := v.im.tab.Frames(v.i, r.Lo)
		rows[k].Line = 0
		for _, f := range slices.Backward(fr) {
			if f.File == file && (name == "" || string(pclntab.Unescape([]byte(f.Name))) == name) {
				rows[k].Line = f.Line
				break
			}
			if name == "" {
				break
			}
		}
	}
	if kept != nil && kept.fn == v.i {
		kept.of, kept.rows = name, rows
	}
	return rows
}
