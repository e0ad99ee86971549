package godwarf

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/types"
)

// A variable that a closure captures is in the closure itself, if it is never assigned again, its address is not taken
// and it has at most 128 bytes; else the closure has a pointer to it (cmd/compile/internal/escape, flowClosure). What
// DWARF calls "&name" is in both cases the pointer by which the closure's code gets at the variable: at the closure's
// offset is that pointer, or the variable. Only variables that the compiler can keep in registers have their own name
// when they are in the closure.

// maxByValue is the size of the largest variable that a closure holds itself.
const maxByValue = 128

// capture says where a captured variable is.
type capture uint8

const (
	captureUnknown capture = iota
	byValue                // in the closure
	byReference            // the closure has a pointer to it
)

// captureOf says how the variable "&name" with entry e and type t is captured, at off in the closure.
func (v *view) captureOf(e *godwarf.Tree, t *types.Ctype, off int64) capture {
	if t == nil || t.Size > maxByValue || inRegisters(t, 0) || v.outerMoved(dw.Name(e)) {
		return byReference
	}
	for _, x := range dw.AllVars(v.sig.tree) {
		if o := closureOffset(x.Tree); x.In == v.sig.tree && o > off && o < off+t.Size {
			return byReference // there is no room for it
		}
	}
	how, use := v.im.called().captureIn(v.i, v.s.PC, t, off)
	if how == captureUnknown && use == insn.FieldLoaded && v.home(e) {
		return byReference // without optimisation the code begins by making the pointers to all that is captured
	}
	if how == captureUnknown {
		how = v.captureElsewhere(e, t)
	}
	return how
}

// captureIn says how a variable of type t is captured by the literal i, whose entry is at pc, as far as the code there
// tells: what it does with the closure at off.
func (im caller) captureIn(i int, pc uint64, t *types.Ctype, off int64) (capture, insn.FieldUse) {
	code, err := im.code(i)
	if err != nil {
		return captureUnknown, insn.FieldUnknown
	}
	use := im.m.Code.FieldAt(code, im.tab.Entry(i), pc, im.m.Closure, off, t.Size)
	switch {
	case use == insn.FieldInside:
		return byValue, use
	case use == insn.FieldThrough && !pointerFirst(t):
		return byReference, use
	}
	return captureUnknown, use
}

// keptCapture finds out where the closure holds a variable, at the entry of a literal without optimisation that was
// compiled by a release before Go 1.23, which does not say so: the code begins by copying what it captures, or the
// address of that, to places of their own. heap: e is the pointer to the variable, and t the pointer's type.
func (v *view) keptCapture(y *debuginfo.Var, e *godwarf.Tree, t *types.Ctype, heap bool) bool {
	if _, literal := literalIn(v.im.tab.Name(v.i)); !literal || v.copy != nil || v.im.called().minor() >= 23 ||
		!v.home(e) {
		return false
	}
	if line := dw.Int(e, dwarf.AttrDeclLine); !heap && t.Size == 0 && line > 0 && int(line) < v.s.Func.Line {
		y.Place = loc.Place{Type: t, InMemory: true, Addr: loc.Register(v.im.m.Closure)} // there is nothing to copy
		return true
	}
	code, err := v.im.code(v.i)
	if err != nil {
		return false
	}
	p, err := v.sig.unit.VarPlace(e, t, v.env, v.s.PC)
	if err != nil || !p.InMemory {
		return false
	}
	sp, slot := splitOffset(p.Addr)
	cfa, up := splitOffset(v.cfa)
	if !slices.Equal(sp.Steps, cfa.Steps) {
		return false
	}
	for _, k := range v.im.m.Code.Kept(code, v.im.tab.Entry(v.i), v.s.PC, v.im.m.Closure) {
		cfa, _ := v.im.frame(v.i, k.PC)
		if _, now := splitOffset(cfa); cfa.Empty() || k.Slot-now != slot-up {
			continue
		}
		at := loc.Register(v.im.m.Closure).Plus(k.Off)
		y.Place = loc.Place{Type: t, InMemory: true, Addr: at, Writable: true}
		if heap {
			y.Type = t.Elem()
			if y.Place.Type = y.Type; !k.Address {
				y.Place = deref(loc.Place{Type: t, InMemory: true, Addr: at}, t)
			}
		}
		return heap == (k.Address || heap && k.Size == 8)
	}
	return false
}

// captureElsewhere finds out how the other literals in the same function capture the variable: all do it in the same
// way, since what is done with the variable itself decides.
func (v *view) captureElsewhere(e *godwarf.Tree, t *types.Ctype) capture {
	outer, ok := literalIn(v.im.tab.Name(v.i))
	if !ok {
		return captureUnknown
	}
	found := captureUnknown
	for _, i := range v.im.called().literalsOf(outer) {
		sig, err := v.im.called().signature(i)
		if i == v.i || err != nil || sig.tree == nil {
			continue
		}
		for _, x := range dw.AllVars(sig.tree) {
			off := closureOffset(x.Tree)
			same := func(a dwarf.Attr) bool { return x.Tree.Val(a) == e.Val(a) }
			if x.In != sig.tree || off < 0 || !same(dwarf.AttrName) || !same(dwarf.AttrDeclLine) ||
				!same(dwarf.AttrType) {
				continue
			}
			at, err := v.im.entry(i)
			if err != nil {
				break
			}
			how, _ := v.im.called().captureIn(i, at.PC, t, off)
			if how != captureUnknown && found != captureUnknown && how != found {
				return captureUnknown // variables of one name, declared in one line
			}
			found = max(found, how)
		}
	}
	return found
}

// literalMarks are what stands between the names and the numbers of function literals, of bodies of loops over
// functions and of calls of go and defer: "f.func2.1", "f-range1", "f.gowrap3".
var literalMarks = [...]string{".func", "-range", ".gowrap", ".deferwrap"}

// literalIn gives the function that the literal stands in; false for other names, and for literals that were inlined
// into another function together with the one they stand in.
func literalIn(name string) (outer string, ok bool) {
	for {
		rest := strings.TrimRight(name, "0123456789")
		if rest == name {
			break
		}
		cut := strings.TrimSuffix(rest, ".")
		for _, m := range literalMarks {
			cut = strings.TrimSuffix(cut, m)
		}
		if cut == rest {
			break
		}
		ok = !strings.HasSuffix(rest, ".")
		name = cut
	}
	return name, ok && !strings.Contains(name, ".func") && !strings.Contains(name, "-range")
}

// literalsOf lists the function literals in a function.
func (im caller) literalsOf(outer string) []int {
	if im.literals == nil {
		im.literals = map[string][]int{}
		for i := range im.tab.Len() {
			if b := im.tab.NameBytes(i); len(b) == 0 || b[len(b)-1] < '0' || b[len(b)-1] > '9' {
				continue
			} else if in, ok := literalIn(string(b)); ok {
				im.literals[in] = append(im.literals[in], i)
			}
		}
	}
	return im.literals[outer]
}

// inRegisters reports whether the compiler can keep variables of type t in registers (cmd/compile/internal/ssa,
// CanSSA).
func inRegisters(t *types.Ctype, depth int) bool {
	const maxWords, maxFields, maxDepth = 4, 4, 16
	if t.Size == 0 {
		return true
	}
	if t.Size > maxWords*8 || depth > maxDepth {
		return false
	}
	switch t.Kind {
	case types.Array:
		return t.Count <= 1 && t.Elem() != nil && inRegisters(t.Elem(), depth+1)
	case types.Struct:
		fs := t.Fields()
		if len(fs) > maxFields {
			return false
		}
		for _, f := range fs {
			if f.Type == nil || !inRegisters(f.Type, depth+1) {
				return false
			}
		}
	}
	return true
}

// pointerFirst reports whether a value of type t begins with a pointer, or may do so.
func pointerFirst(t *types.Ctype) bool {
	for range 16 {
		switch t.Kind {
		case types.Int, types.Bool, types.Char, types.Float:
			return t.Size == 8 && t.Kind == types.Int && !t.Signed // uintptr
		case types.Array:
			if t = t.Elem(); t == nil {
				return true
			}
		case types.Struct:
			fs := t.Fields()
			if len(fs) == 0 || fs[0].Type == nil || fs[0].Type.Size == 0 {
				return true
			}
			t = fs[0].Type
		default:
			return true
		}
	}
	return true
}

// outerMoved reports whether the function around the closure has the variable on the heap: then it is not in the
// closure. heap is its name with the ampersand.
func (v *view) outerMoved(heap string) bool {
	name := v.im.funcOf(v.i).Name
	for {
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return false
		}
		part := name[dot+1:]
		number := strings.Trim(part, "0123456789") == ""
		if !number && !strings.HasPrefix(part, "func") && !strings.HasPrefix(part, "gowrap") &&
			!strings.HasPrefix(part, "deferwrap") {
			return false
		}
		name = name[:dot]
		i := v.im.inlines().namedFunc(name)
		if i < 0 {
			continue
		}
		sig, err := v.im.called().signature(i)
		if err != nil || sig.tree == nil {
			return false
		}
		plain, moved := 0, 0
		for _, x := range dw.AllVars(sig.tree) {
			switch n := dw.Name(x.Tree); {
			case x.In != sig.tree || closureOffset(x.Tree) >= 0:
			case n == heap:
				moved++
			case n == heap[1:]:
				plain++
			}
		}
		if plain+moved > 0 {
			return moved == 1 && plain <= 1 // several variables may have the name
		}
	}
}
