package godwarf

import (
	"debug/dwarf"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/assigned"
	"github.com/gostap/gostap/compiler/debuginfo/carried"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/goabi"
	"github.com/gostap/gostap/compiler/debuginfo/gosource"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/types"
)

// mostWords bounds the words of a variable that is followed.
const mostWords = 8

// carried is where the value of e is at the site although its location list does not say so. Two things are known to be
// its value: what the call returns that alone gives it the value that it has at the site; and, where it is given one
// value only, in no loop, all that its list names, and what the function is called with. From there the code is
// followed.
func (v *view) carried(e *godwarf.Tree, t *types.Ctype) (p loc.Place, ok bool) {
	r, ok := v.reach(e)
	if !ok || len(r.From) != 1 || !v.certain() {
		return p, false
	}
	from := r.From[0]
	x := v.im.effectsOf(v.i)
	code, err := v.im.code(v.i)
	if addressed(t, r) || err != nil || x == nil || !r.Param && from.End >= v.s.Line {
		return p, false
	}
	m := v.im.m
	f := &follow{view: v, e: e, t: t, words: wordsOf(t), Walk: carried.Walk{
		Code: assigned.Code{
			Decoder: m.Code, Base: v.im.tab.Entry(v.i), Bytes: code,
			Effects: x, Rows: v.rows(), CFA: v.im.ways().cfa(v.i),
		},
		PC: v.s.PC, Registers: m.Vector + m.Vectors,
	}}
	if f.words == nil {
		return p, false
	}
	f.Words = f.words
	f.Bars = func(pc uint64) bool {
		line := f.Row(pc)
		return !r.Param && (line < from.Line || line > v.s.Line) ||
			slices.ContainsFunc(r.Others, func(g gosource.Given) bool { return g.Line <= line && line <= g.End })
	}
	f.called(from)
	if r.Once {
		f.argument()
		f.listed(r.Param, from.Line)
	}
	if len(f.Sources) == 0 {
		return p, false
	}
	at, ok := f.Find()
	if !ok {
		return p, false
	}
	return f.place(at)
}

// reach asks the source where the value of e at the site comes from.
func (v *view) reach(e *godwarf.Tree) (r gosource.Reach, ok bool) {
	if v.copy != nil || v.foreign || v.entry || v.s.Kind != debuginfo.AtLine || v.s.Line == 0 || v.sig.stands ||
		v.home(e) {
		return r, false
	}
	src := v.source()
	if src == nil {
		return r, false
	}
	return src.Reaching(dw.Name(e), int(dw.Int(e, dwarf.AttrDeclLine)), v.s.Line)
}

// certain reports whether the source at hand is the one that the function was built from, as far as can be told: the
// file was not written after the program, and declares all variables that the debug information has of the function.
func (v *view) certain() bool {
	src := v.source()
	if src == nil || !filepath.IsAbs(v.file()) || src.Written.After(v.im.f.Written()) {
		return false
	}
	var fits func(t *godwarf.Tree) bool
	fits = func(t *godwarf.Tree) bool {
		return !slices.ContainsFunc(t.Children, func(c *godwarf.Tree) bool {
			switch c.Tag {
			case dwarf.TagLexDwarfBlock:
				return !fits(c)
			case dwarf.TagVariable, dwarf.TagFormalParameter:
				name := strings.TrimPrefix(dw.Name(c), "&")
				return name != "" && name != "_" && !strings.ContainsAny(name, "~.") && closureOffset(c) < 0 &&
					!src.Declares(name, int(dw.Int(c, dwarf.AttrDeclLine)))
			}
			return false
		})
	}
	return fits(v.sig.tree)
}

// addressed reports whether a variable may be changed by its address.
func addressed(t *types.Ctype, r gosource.Reach) bool {
	switch t.Kind {
	case types.Pointer, types.GoInterface:
		return false
	case types.Struct, types.Array:
		return r.Selected || r.Part
	}
	return r.Selected
}

// wordsOf lists the parts of a type, nil where there are too many.
func wordsOf(t *types.Ctype) (words []carried.Word) {
	leaves, ok := dwexpr.Leaves(t)
	if !ok || len(leaves) > mostWords {
		return nil
	}
	for _, l := range leaves {
		plain := l.Type != nil && (l.Type.Kind == types.Int || l.Type.Kind == types.Bool || l.Type.Kind == types.Float)
		words = append(words, carried.Word{Off: l.Off, Size: l.Size, Pointer: !plain})
	}
	return words
}

// follow is a variable that is followed from where it is known to be.
type follow struct {
	carried.Walk
	view  *view
	e     *godwarf.Tree
	t     *types.Ctype
	words []carried.Word
}

// called adds the registers of a call's results.
func (f *follow) called(g gosource.Given) {
	slot, ret, ok := f.view.result(g)
	if !ok || slot.OnStack() || slot.Type != f.t {
		return
	}
	if at := f.registers(slot.Place(loc.Prog{})); len(at) > 0 {
		f.Sources = append(f.Sources, carried.Source{PC: ret, At: at, Only: true})
	}
}

// argument adds the registers that an argument comes in.
func (f *follow) argument() {
	v := f.view
	n := slices.IndexFunc(v.sig.params, func(q sigVar) bool { return q.entry == f.e })
	in, err := v.im.entry(v.i)
	if n < 0 || err != nil {
		return
	}
	at, err := v.im.view(v.im.site(v.i, in.PC, debuginfo.AtEntry))
	if err != nil || !at.entry {
		return
	}
	if p, err := at.paramAtEntry(n); err == nil {
		f.Sources = append(f.Sources, carried.Source{PC: in.PC, At: f.registers(p)})
	}
}

// listed adds the places where the variable's location list begins to have it in a register or a slot, which are the
// slots that are its own.
func (f *follow) listed(param bool, decl int) {
	v := f.view
	list, err := v.sig.unit.Locations(f.e, dwarf.AttrLocation)
	if err != nil {
		return
	}
	for _, l := range list {
		if l.Default || l.Lo < f.Base || l.Lo-f.Base >= uint64(len(f.Bytes)) {
			continue
		}
		at, err := v.im.view(v.im.site(v.i, l.Lo, debuginfo.AtLine))
		if err != nil {
			continue
		}
		p, err := at.sig.unit.VarPlace(f.e, f.t, at.env, l.Lo)
		if err != nil || at.leftover(f.e, f.t, p) || at.strange(f.e, p) != "" {
			continue
		}
		known := f.registers(p)
		for k, slot := range f.slots(at, p) {
			known[assigned.Held{Reg: -1, Slot: slot}] = k
			if !slices.Contains(f.Slots, slot) {
				f.Slots = append(f.Slots, slot)
			}
		}
		// Above the declaration the list may have it where another variable is that it gets its value from.
		if len(known) > 0 && (param || f.Row(l.Lo) >= decl) {
			f.Sources = append(f.Sources, carried.Source{PC: l.Lo, At: known})
		}
	}
}

// registers says which words are in the registers that p consists of.
func (f *follow) registers(p loc.Place) map[assigned.Held]int {
	at := map[assigned.Held]int{}
	for _, q := range p.Pieces {
		k := slices.IndexFunc(f.words, func(w carried.Word) bool { return w.Off == q.Off && w.Size == q.Size })
		switch {
		case k < 0 || q.Lost:
		case q.Vector > 0:
			at[assigned.Held{Reg: f.view.im.m.Vector + q.Vector - 1, Size: q.Size}] = k
		case len(q.Val.Steps) == 1 && q.Val.Steps[0].Op == loc.Reg:
			at[assigned.Held{Reg: int(q.Val.Steps[0].N), Size: q.Size}] = k
		}
	}
	return at
}

// slots lists the words of an object at p that are in the frame at another site.
func (f *follow) slots(at *view, p loc.Place) map[int]insn.Store {
	out := map[int]insn.Store{}
	add := func(p loc.Place, off int64) {
		for _, s := range at.onStack(p) {
			for k, w := range f.words {
				if off <= w.Off && w.Off+w.Size <= off+s.Size {
					out[k] = insn.Store{Off: s.Off + w.Off - off, Size: w.Size}
				}
			}
		}
	}
	if p.InMemory {
		add(p, 0)
	}
	for _, q := range p.Pieces {
		add(loc.Place{Type: p.Type, Pieces: []loc.Piece{q}}, q.Off)
	}
	return out
}

// place makes a place of what the words are in at the site.
func (f *follow) place(at []assigned.Held) (p loc.Place, ok bool) {
	v := f.view
	p.Type = f.t
	for k, h := range at {
		q := loc.Piece{Off: f.words[k].Off, Size: f.words[k].Size}
		switch {
		case h.Reg >= v.im.m.Vector:
			q.Vector = 1 + h.Reg - v.im.m.Vector
		case h.Reg >= 0:
			q.Val = loc.Register(h.Reg)
		case v.cfa.Empty():
			return p, false
		default:
			q.Val = v.cfa.Plus(h.Slot.Off).Load(int(q.Size), false, false)
		}
		p.Pieces = append(p.Pieces, q)
	}
	return p, len(p.Pieces) > 0
}

// result finds the call that makes a value: where it returns to, and where the result is there.
func (v *view) result(g gosource.Given) (slot goabi.Slot, ret uint64, ok bool) {
	c, j, ok := v.call(g)
	if !ok {
		return slot, 0, false
	}
	sig, err := v.im.called().signature(j)
	if err != nil || sig.resultsErr != nil || len(sig.results) != g.Results {
		return slot, 0, false
	}
	return sig.layout.Results[g.Result], c.Ret, true
}

// call finds the only call in the lines of a statement that leads to a function with the name that the statement calls,
// which is j.
func (v *view) call(g gosource.Given) (c debuginfo.Call, j int, ok bool) {
	if g.Callee == "" {
		return c, 0, false
	}
	calls, err := v.im.Calls(v.s.Func)
	if err != nil {
		return c, 0, false
	}
	n := 0
	for _, x := range calls {
		k := v.im.tab.Find(x.Target)
		if x.Jump || x.Target == 0 || k < 0 || baseName(v.im.tab.Name(k)) != g.Callee {
			continue
		}
		if fr := v.im.tab.Frames(v.i, x.PC); len(fr) != 1 || fr[0].Line < g.Line || fr[0].Line > g.End {
			continue
		}
		c, j = x, k
		n++
	}
	return c, j, n == 1
}

// baseName is what stands behind the last dot of a function's name, without type arguments.
func baseName(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// addCall says which call has given a variable without a value the one that it has by the source.
func (v *view) addCall(x *debuginfo.Var) {
	var nl *debuginfo.NotLiveError
	if !errors.As(x.Err, &nl) || v.copy != nil || v.foreign || v.sig.stands || v.s.Kind != debuginfo.AtLine {
		return
	}
	src := v.source()
	if src == nil {
		return
	}
	r, ok := src.Reaching(x.Name, x.Line, v.s.Line)
	if !ok {
		return
	}
	for _, g := range slices.Backward(r.From) {
		if _, j, ok := v.call(g); ok && g.Line < v.s.Line {
			nl.Given = &debuginfo.Given{
				Line: g.Line, Caller: v.s.Func.Name, Callee: v.im.funcOf(j).Name, Result: g.Result, Results: g.Results,
				Only: len(r.From) == 1,
			}
			return
		}
	}
}
