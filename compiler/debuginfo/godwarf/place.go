package godwarf

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// find is the place of a variable by its location list, or else where the code has carried its value. Entries of the
// form "&name" for the same variable, which was moved to the heap, come first: what the list of "name" itself says is
// then where it was before.
func (v *view) find(name string, e *godwarf.Tree, t *types.Ctype, kind debuginfo.VarKind) (loc.Place, error) {
	if h := v.moved(name, e); h != nil {
		if p, err := v.throughHeap(h, kind); err == nil {
			return p, nil
		} else if v.home(e) || v.home(h) {
			return p, err
		}
	}
	p, err := v.place(e, t, kind)
	if err != nil && !v.im.lists {
		if c, ok := v.carried(e, t); ok {
			if c, err := v.unlessAgain(c); err == nil {
				return c, nil
			}
		}
	}
	return p, err
}

// moved finds the entry "&name" beside e.
func (v *view) moved(name string, e *godwarf.Tree) *godwarf.Tree {
	for _, x := range v.scope() {
		if x.Tree != e && dw.Name(x.Tree) == "&"+name && closureOffset(x.Tree) < 0 {
			return x.Tree
		}
	}
	return nil
}

// throughHeap is the object that the pointer variable h ("&name") points to.
func (v *view) throughHeap(h *godwarf.Tree, kind debuginfo.VarKind) (loc.Place, error) {
	pt, err := v.im.types.TypeOf(h)
	if err != nil {
		return loc.Place{}, err
	}
	p, err := v.place(h, pt, kind)
	if err != nil {
		return p, rename(err)
	}
	return deref(p, pt), nil
}

// rename takes the ampersand off the name in an error.
func rename(err error) error {
	var nl *debuginfo.NotLiveError
	if errors.As(err, &nl) {
		c := *nl
		c.Name = strings.TrimPrefix(c.Name, "&")
		return &c
	}
	return err
}

// deref is the place that a pointer of type pt at p points to.
func deref(p loc.Place, pt *types.Ctype) loc.Place {
	var addr loc.Prog
	switch {
	case p.InMemory:
		addr = p.Addr.Load(8, false, p.Kernel)
	case len(p.Pieces) == 1:
		addr = p.Pieces[0].Val
	}
	return loc.Place{Type: pt.Elem(), InMemory: true, Addr: addr, Writable: true}
}

// home reports whether e has one location for the whole function, as unoptimised code and variables on
// the heap do. It then says nothing about when there is a value in it.
func (v *view) home(e *godwarf.Tree) bool {
	list, err := v.sig.unit.Locations(e, dwarf.AttrLocation)
	if err != nil || len(list) != 1 {
		return false
	}
	return list[0].Default || list[0].Lo <= v.s.Func.Entry && list[0].Hi >= v.im.tab.CodeEnd(v.i)
}

// place is VarPlace, but a variable with one location for the whole function exists only below the
// line that declares it.
func (v *view) place(e *godwarf.Tree, t *types.Ctype, kind debuginfo.VarKind) (loc.Place, error) {
	name := dw.Name(e)
	if v.home(e) {
		line := int(dw.Int(e, dwarf.AttrDeclLine))
		own := kind == debuginfo.Local || kind == debuginfo.Captured
		switch {
		case v.entry:
			return loc.Place{}, v.notLive(name, "the function has only just been entered")
		case own && v.s.Kind != debuginfo.AtInline && v.s.Line > 0 && line >= v.s.Line:
			return loc.Place{}, v.notLive(name, fmt.Sprintf("it is declared in line %d", line))
		}
	}
	p, err := v.sig.unit.VarPlace(e, t, v.env, v.s.PC)
	if err == nil && v.leftover(e, t, p) {
		return loc.Place{}, v.notLive(name, "it is only partly available here: the compiler kept one part, and the "+
			"debug information does not tell which")
	}
	if err == nil && !v.home(e) && v.late(p) {
		return loc.Place{}, v.notLive(name, "its next value is in a register on the way to where it is kept, and "+
			"whether it counts already is not known")
	}
	if err == nil && !v.home(e) {
		if why := v.stale(e, p); why != "" {
			return loc.Place{}, v.notLive(name, why)
		}
		if why := v.apart(e, p); why != "" {
			return loc.Place{}, v.notLive(name, why)
		}
		if why := v.strange(e, p); why != "" {
			return loc.Place{}, v.notLive(name, why)
		}
		if why := v.older(e, t, p, v.reused(e, p)); why != "" {
			return loc.Place{}, v.notLive(name, why)
		}
		if p, err = v.unlessAgain(p); err != nil {
			err = v.notLive(name, err.Error())
		}
	}
	return p, err
}

// leftover reports whether a location of e is that of one part of it. The compiler splits strings,
// slices and small structs, and lists the parts as pieces; but when it has removed all parts but one for good, it
// describes that one as if it were the whole (cmd/compile/internal/ssa, debug.go). So func(s
// string) int { return len(s) } has s in RBX, where its length is.
func (v *view) leftover(e *godwarf.Tree, t *types.Ctype, p loc.Place) bool {
	if leaves, ok := dwexpr.Leaves(t); ok && len(leaves) < 2 {
		return false
	}
	list, err := v.sig.unit.Locations(e, dwarf.AttrLocation)
	if err != nil {
		return false
	}
	for _, r := range list {
		// DW_OP_reg0..31 or DW_OP_regx alone
		if len(r.Expr) > 0 && (r.Expr[0] >= 0x50 && r.Expr[0] <= 0x6f && len(r.Expr) == 1 || r.Expr[0] == 0x90 &&
			len(r.Expr) <= 3) {
			return true
		}
	}
	// An argument that was spilled is in its own place above the frame, not in the middle of it.
	n := slices.IndexFunc(v.sig.params, func(q sigVar) bool { return q.entry == e })
	if n >= 0 && p.InMemory && v.sig.paramsErr == nil && !v.cfa.Empty() {
		cfa, k := splitOffset(v.cfa)
		at, m := splitOffset(p.Addr)
		if slices.Equal(cfa.Steps, at.Steps) {
			off := m - k - v.sig.layout.Params[n].Off
			return off > 0 && off < t.Size
		}
	}
	return false
}

// splitOffset takes a constant that is added last off p.
func splitOffset(p loc.Prog) (loc.Prog, int64) {
	n := p.Last()
	if n >= 2 && p.Steps[n].Op == loc.Add && p.Steps[n].A == n-2 && p.Steps[n].B == n-1 &&
		p.Steps[n-1].Op == loc.Const {
		return loc.Prog{Steps: p.Steps[:n-1]}, p.Steps[n-1].N
	}
	return p, 0
}

// closureOffset is where a closure keeps the captured variable e, from the closure's own address; -1 if
// e is not captured (DW_AT_go_closure_offset).
func closureOffset(e *godwarf.Tree) int64 {
	if n, ok := e.Val(godwarf.AttrGoClosureOffset).(int64); ok && n > 0 {
		return n
	}
	return -1
}
