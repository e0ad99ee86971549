package godwarf

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// scope lists the entries with a name at the site, of the function or the copy that it is in.
func (v *view) scope() []dw.ScopeVar {
	in := v.sig.tree
	if v.copy != nil {
		in = v.copy
	}
	all := dw.Scope(v.sig.tree, v.s.PC)
	if v.copy != nil && !v.copy.ContainsPC(v.s.PC) { // the mark in front of it
		all = dw.Scope(v.copy, v.copy.Ranges[0][0])
	}
	return slices.DeleteFunc(all, func(x dw.ScopeVar) bool { return x.In != in })
}

// locals are the variables of the function, or everything of an inlined copy. Of several with one
// name the innermost is kept.
func (v *view) locals() ([]*debuginfo.Var, error) {
	if v.foreign {
		return nil, fmt.Errorf("the variables of the inlined copy of %s are not described", v.s.Inline.Func.Name)
	}
	var out []*debuginfo.Var
	at := map[string]int{}
	depth := map[string]int{}
	offs := map[*debuginfo.Var]int64{} // of captured ones
	add := func(x *debuginfo.Var, dep int) {
		if k, ok := at[x.Name]; ok {
			// One in an inner block hides the others; of two beside each other, the one with a value does.
			if line := v.meant(x); line > 0 && (out[k].Line == line) != (x.Line == line) {
				if x.Line == line {
					out[k], depth[x.Name] = x, dep
				}
			} else if dep > depth[x.Name] || dep == depth[x.Name] && (x.Err == nil || out[k].Err != nil) {
				out[k], depth[x.Name] = x, dep
			}
			return
		}
		at[x.Name], depth[x.Name] = len(out), dep
		out = append(out, x)
	}
	scope := v.scope()
	for _, x := range scope {
		name := dw.Name(x.Tree)
		if name == "" || name == "_" || name == dictName || v.copy == nil && x.Tag == dwarf.TagFormalParameter {
			continue
		}
		t, err := v.im.types.TypeOf(x.Tree)
		if err != nil {
			return nil, err
		}
		y := &debuginfo.Var{Name: name, Kind: debuginfo.Local, Type: t, Line: int(dw.Int(x.Tree, dwarf.AttrDeclLine))}
		if x.Tag == dwarf.TagFormalParameter {
			if y.Kind = debuginfo.Param; dw.Flag(x.Tree, dwarf.AttrVarParam) {
				y.Kind = debuginfo.Result
			}
		}
		bare, heap := strings.CutPrefix(name, "&")
		switch off := closureOffset(x.Tree); {
		case off < 0 && v.entry && v.keptCapture(y, x.Tree, t, heap):
			y.Kind, y.Name = debuginfo.Captured, bare
		case off >= 0:
			y.Kind, y.Name = debuginfo.Captured, bare
			y.Place, y.Err = v.captured(x.Tree, t, off, heap)
			if heap {
				y.Type = t.Elem()
			}
		case heap:
			if slices.ContainsFunc(scope, func(z dw.ScopeVar) bool { return dw.Name(z.Tree) == bare }) ||
				v.isParam(bare) {
				continue // found with the variable itself
			}
			y.Name, y.Type = bare, t.Elem()
			y.Place, y.Err = v.throughHeap(x.Tree, debuginfo.Local)
		default:
			y.Place, y.Err = v.find(name, x.Tree, t, y.Kind)
		}
		add(y, x.Depth)
		if y.Kind == debuginfo.Captured {
			offs[y] = closureOffset(x.Tree)
		}
	}
	if v.copy != nil {
		lost, err := v.lostParams(at)
		if err != nil {
			return nil, err
		}
		out = append(lost, out...)
	}
	// Captured variables come in an order that depends on the optimisation.
	slices.SortStableFunc(out, func(a, b *debuginfo.Var) int { return int(offs[a] - offs[b]) })
	return out, nil
}

// lostParams lists the arguments of an inlined function of which nothing is left in the copy.
func (v *view) lostParams(have map[string]int) (out []*debuginfo.Var, err error) {
	d := v.sig.unit.Data()
	u, err := d.UnitOf(dw.Origin(v.copy))
	if err != nil {
		return nil, err
	}
	t, err := u.Tree(dw.Origin(v.copy))
	if err != nil {
		return nil, err
	}
	for _, c := range t.Children {
		name := dw.Name(c)
		if _, ok := have[name]; ok || c.Tag != dwarf.TagFormalParameter || dw.Flag(c, dwarf.AttrVarParam) ||
			name == dictName {
			continue
		}
		typ, err := v.im.types.TypeOf(c)
		if err != nil {
			return nil, err
		}
		out = append(out, &debuginfo.Var{
			Name: name, Kind: debuginfo.Param, Type: typ, Line: int(dw.Int(c, dwarf.AttrDeclLine)),
			Err: v.notLive(name, "it was optimised away in this inlined copy"),
		})
	}
	return out, nil
}

func (v *view) isParam(name string) bool {
	is := func(p sigVar) bool { return p.name == name }
	return v.copy == nil && (slices.ContainsFunc(v.sig.params, is) || slices.ContainsFunc(v.sig.results, is))
}

// captured is a variable of the function around a closure. At the entry it is read out of the
// closure, which a register points to; later it is where the location list says. heap: e is the pointer to
// it, and t the pointer's type; see captureOf.
func (v *view) captured(e *godwarf.Tree, t *types.Ctype, off int64, heap bool) (p loc.Place, err error) {
	if v.entry && heap {
		switch v.captureOf(e, t.Elem(), off) {
		case byValue:
			return loc.Place{Type: t.Elem(), InMemory: true, Addr: loc.Register(v.im.m.Closure).Plus(off),
				Writable: true}, nil
		case captureUnknown:
			return p, v.notLive(strings.TrimPrefix(dw.Name(e), "&"),
				"whether the closure holds it or a pointer to it is not known")
		}
	}
	if v.entry {
		p = loc.Place{Type: t, InMemory: true, Addr: loc.Register(v.im.m.Closure).Plus(off), Writable: true}
	} else if p, err = v.place(e, t, debuginfo.Param); err != nil {
		return p, rename(err)
	}
	if heap {
		p = deref(p, t)
	}
	return p, nil
}
