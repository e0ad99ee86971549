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
	"github.com/gostap/gostap/compiler/debuginfo/goabi"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// Vars lists the variables with a name at s. Those of an inlined copy are the copy's own.
func (im *Image) Vars(s debuginfo.Site) (vars []*debuginfo.Var, err error) {
	defer dw.Guard(&err)()
	v, err := im.view(s)
	if err != nil {
		return nil, err
	}
	return v.all()
}

func (v *view) all() ([]*debuginfo.Var, error) {
	if v.copy != nil || v.foreign {
		return v.locals()
	}
	vars := append(v.params(), v.results()...)
	locals, err := v.locals()
	return append(vars, locals...), err
}

// Var finds one variable by name; "~r0" is the first result, whatever its name.
func (im *Image) Var(s debuginfo.Site, name string) (x *debuginfo.Var, err error) {
	defer dw.Guard(&err)()
	v, err := im.view(s)
	if err != nil {
		return nil, err
	}
	vars, err := v.all()
	if err != nil {
		return nil, err
	}
	var names []string
	result := 0
	for _, y := range vars {
		if y.Name == name {
			x = y
			break
		}
		if y.Kind == debuginfo.Result {
			if name == fmt.Sprintf("~r%d", result) {
				x = y
			}
			result++
		}
		names = append(names, y.Name)
	}
	if x != nil {
		v.addLines(x)
		return x, x.Err
	}
	e := &debuginfo.NotFoundError{What: "variable", Name: name, Near: nearVars(name, names)}
	if v.sig.paramsErr != nil && len(v.sig.params) == 0 {
		e.Detail = v.sig.paramsErr.Error()
	}
	return nil, e
}

// nearVars gives the names closest to name, or all if there are only a few.
func nearVars(name string, names []string) []string {
	var near []string
	for limit := range 3 {
		for _, n := range names {
			d, _ := distance([]byte(n), name, limit, nil)
			if d <= limit && n != "" && n[0] != '.' && !slices.Contains(near, n) {
				near = append(near, n)
			}
		}
	}
	if len(near) == 0 {
		for _, n := range names {
			if n != "" && n[0] != '.' && !slices.Contains(near, n) {
				near = append(near, n)
			}
		}
	}
	return near[:min(len(near), 8)]
}

// addLines says on which lines a variable without a value could be read instead.
func (v *view) addLines(x *debuginfo.Var) {
	var nl *debuginfo.NotLiveError
	if !errors.As(x.Err, &nl) || v.s.Kind == debuginfo.AtReturn || v.s.Kind == debuginfo.AtTail {
		return
	}
	in := v.sig.tree
	if v.copy != nil {
		in = v.copy
	}
	for _, y := range v.scope() {
		if n := dw.Name(y.Tree); n != x.Name && n != "&"+x.Name {
			continue
		}
		decl := int(dw.Int(y.Tree, dwarf.AttrDeclLine))
		for _, l := range v.sig.unit.LiveLines(y.Tree, in) {
			if (l > decl || x.Kind == debuginfo.Param) && !slices.Contains(nl.Lines, l) {
				nl.Lines = append(nl.Lines, l)
			}
		}
	}
	slices.Sort(nl.Lines)
}

// Results are the results of the function at a return site, in order.
func (im *Image) Results(s debuginfo.Site) (vars []*debuginfo.Var, err error) {
	defer dw.Guard(&err)()
	v, err := im.view(s)
	if err != nil {
		return nil, err
	}
	if len(v.sig.results) == 0 && v.sig.resultsErr != nil {
		return nil, v.sig.resultsErr
	}
	if v.copy != nil {
		return nil, errors.New("an inlined copy has no return; only .function and .return of code of its own give results")
	}
	return v.results(), nil
}

// view is what the debug information says from the point of view of one site.
type view struct {
	im  *Image
	s   debuginfo.Site
	i   int // function
	sig *signature
	cfa loc.Prog
	env *dw.Env
	// copy is the entry of the inlined copy that s is in, nil if none. foreign says that
	// there is one but DWARF does not list it.
	copy    *godwarf.Tree
	foreign bool
	entry   bool // arguments are in place
}

func (im *Image) view(s debuginfo.Site) (*view, error) {
	i := im.tab.Find(s.PC)
	if i < 0 {
		return nil, &debuginfo.NotFoundError{What: "function", Name: fmt.Sprintf("%#x", s.PC)}
	}
	sig, err := im.signature(i)
	if err != nil {
		return nil, err
	}
	v := &view{im: im, s: s, i: i, sig: sig}
	v.s.Func = im.funcOf(i)
	v.entry = im.atEntry(v.s)
	v.cfa, _ = im.frame(i, s.PC)
	v.env = im.env(i, sig, s.PC)
	if s.Inline != nil {
		v.copy = v.findCopy()
		v.foreign = v.copy == nil
	}
	return v, nil
}

// env is what location expressions at pc in function i refer to.
func (im *Image) env(i int, sig *signature, pc uint64) *dw.Env {
	env := sig.unit.Env(sig.tree, pc)
	if cfa, _ := im.frame(i, pc); !cfa.Empty() {
		// The function table has every frame; .debug_frame would have to be inflated and indexed.
		env.CFA = func() (loc.Prog, error) { return cfa, nil }
		if base, err := sig.unit.Locations(sig.tree, dwarf.AttrFrameBase); err == nil && len(base) == 1 && len(base[0].Expr) == 1 && base[0].Expr[0] == opCallFrameCFA {
			env.FrameBase = env.CFA
		}
	}
	return env
}

const opCallFrameCFA = 0x9c // DW_OP_call_frame_cfa

// findCopy finds the entry of the inlined copy that the site is in. Its ranges are those of the
// function table.
func (v *view) findCopy() *godwarf.Tree {
	in := v.s.Inline
	name := in.Func.Name
	if in.Func.Symbol != "" {
		name = in.Func.Symbol
	}
	is := func(t *godwarf.Tree) bool { n := dw.Name(t); return n == name || n == in.Func.Name }
	if id, ok := v.im.copies[in]; ok && id.host == v.i {
		calls, ok := v.im.tab.Inlined(id.host)
		if !ok || id.call >= len(calls) || len(calls[id.call].Ranges) == 0 {
			return nil
		}
		for _, t := range dw.Inlined(v.sig.tree) {
			if is(t) && len(t.Ranges) > 0 && t.Ranges[0][0] == calls[id.call].Ranges[0][0] {
				return t
			}
		}
	}
	for _, t := range dw.InlineStack(v.sig.tree, v.s.PC) {
		if is(t) {
			return t
		}
	}
	return nil
}

// params are the arguments, in order, without hidden ones.
func (v *view) params() []*debuginfo.Var {
	var out []*debuginfo.Var
	for n, p := range v.sig.params {
		if p.name == dictName {
			continue
		}
		x := &debuginfo.Var{Name: p.name, Kind: debuginfo.Param, Type: p.typ, Line: p.line}
		switch {
		case v.s.Kind == debuginfo.AtReturn || v.s.Kind == debuginfo.AtTail:
			x.Err = v.notLive(p.name, fmt.Sprintf("the function has returned; @entry($%s) is its value at the call", p.name))
		case v.entry:
			x.Place, x.Err = v.paramAtEntry(n)
		case v.inMemory(n):
			x.Place = v.sig.layout.Params[n].Place(v.cfa)
		case p.entry == nil:
			x.Err = v.notLive(p.name, "it is not described")
		default:
			x.Place, x.Err = v.find(p.name, p.entry, p.typ, debuginfo.Param)
		}
		out = append(out, x)
	}
	return out
}

// inMemory reports whether argument n was passed on the stack to assembly, which DWARF does
// not describe. It stays there.
func (v *view) inMemory(n int) bool {
	return assembly(v.s.Func.File) && v.sig.paramsErr == nil && v.sig.layout.Params[n].OnStack() && !v.cfa.Empty()
}

// paramAtEntry is the place of argument n where the caller put it.
func (v *view) paramAtEntry(n int) (loc.Place, error) {
	p := v.sig.params[n]
	err := v.sig.paramsErr
	if err == nil {
		slot := v.sig.layout.Params[n]
		if !slot.OnStack() || !v.cfa.Empty() {
			return slot.Place(v.cfa), nil
		}
		err = errors.New("the frame is not known here")
	}
	// Without the layout, only a location in registers can be trusted here: memory of the frame, which
	// unoptimised code has for its variables, has not been written yet.
	if p.entry != nil {
		if pl, lerr := v.sig.unit.VarPlace(p.entry, p.typ, v.env, v.s.PC); lerr == nil && registersOnly(pl) && !v.leftover(p.entry, p.typ, pl) {
			return pl, nil
		}
	}
	return loc.Place{}, v.notLive(p.name, err.Error())
}

func registersOnly(p loc.Place) bool {
	if p.InMemory || len(p.Pieces) == 0 {
		return false
	}
	for _, q := range p.Pieces {
		if q.Lost || q.XMM == 0 && (len(q.Val.Steps) != 1 || q.Val.Steps[0].Op != loc.Reg) {
			return false
		}
	}
	return true
}

// results are the results in order: in place at a return, else as variables, if the source
// names them and they are in memory by then.
func (v *view) results() []*debuginfo.Var {
	var out []*debuginfo.Var
	for n, r := range v.sig.results {
		name := r.name
		if name == "" || name[0] == '~' { // unnamed; of old releases it counts the arguments, too
			name = fmt.Sprintf("~r%d", n)
		}
		x := &debuginfo.Var{Name: name, Kind: debuginfo.Result, Type: r.typ, Line: r.line}
		switch {
		case v.s.Kind == debuginfo.AtReturn:
			var slot goabi.Slot
			if x.Err = v.sig.resultsErr; x.Err == nil {
				slot = v.sig.layout.Results[n]
			}
			switch {
			case x.Err != nil:
				x.Err = v.notLive(name, x.Err.Error())
			case slot.OnStack() && v.cfa.Empty():
				x.Err = v.notLive(name, "the frame is not known here")
			default:
				x.Place = slot.Place(v.cfa)
			}
		case v.s.Kind == debuginfo.AtTail:
			x.Err = v.notLive(name, "the function ends in a jump to "+v.tailTarget()+", which makes the result")
		case v.entry:
			x.Err = v.notLive(name, "the function has not returned yet; use .return")
		case name[0] == '~' || r.entry == nil:
			x.Err = v.notLive(name, "it exists only at .return")
		default:
			x.Place, x.Err = v.find(r.name, r.entry, r.typ, debuginfo.Result)
		}
		out = append(out, x)
	}
	return out
}

// tailTarget names the function that a tail jump leads to.
func (v *view) tailTarget() string {
	if exits, err := v.im.exits(v.i); err == nil {
		for _, x := range exits {
			if x.PC == v.s.PC && x.Target != 0 {
				if j := v.im.tab.Find(x.Target); j >= 0 {
					return v.im.funcOf(j).Name
				}
			}
		}
	}
	return "another function"
}

func (v *view) notLive(name, reason string) error {
	return &debuginfo.NotLiveError{Name: name, PC: v.s.PC, Reason: reason}
}

// find is the place of a variable by its location list. entries of the form "&name" for
// the same variable, which was moved to the heap, come first: what the list of "name" itself says is
// then where it was before.
func (v *view) find(name string, e *godwarf.Tree, t *types.Ctype, kind debuginfo.VarKind) (loc.Place, error) {
	if h := v.moved(name, e); h != nil {
		if p, err := v.throughHeap(h, kind); err == nil {
			return p, nil
		} else if v.home(e) || v.home(h) {
			return p, err
		}
	}
	return v.place(e, t, kind)
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
	d := v.sig.unit.Data()
	pt, err := d.TypeOf(h)
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
		return loc.Place{}, v.notLive(name, "only a part of it is left here, and the debug information does not tell which")
	}
	return p, err
}

// leftover reports whether a location of e is that of one part of it. The compiler splits strings,
// slices and small structs, and lists the parts as pieces; but when it has removed all parts but one for good, it
// describes that one as if it were the whole (cmd/compile/internal/ssa, debug.go). So func(s
// string) int { return len(s) } has s in RBX, where its length is.
func (v *view) leftover(e *godwarf.Tree, t *types.Ctype, p loc.Place) bool {
	if leaves, ok := dw.Leaves(t); ok && len(leaves) < 2 {
		return false
	}
	list, err := v.sig.unit.Locations(e, dwarf.AttrLocation)
	if err != nil {
		return false
	}
	for _, r := range list {
		// DW_OP_reg0..31 or DW_OP_regx alone
		if len(r.Expr) > 0 && (r.Expr[0] >= 0x50 && r.Expr[0] <= 0x6f && len(r.Expr) == 1 || r.Expr[0] == 0x90 && len(r.Expr) <= 3) {
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
	if n >= 2 && p.Steps[n].Op == loc.Add && p.Steps[n].A == n-2 && p.Steps[n].B == n-1 && p.Steps[n-1].Op == loc.Const {
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
	d := v.sig.unit.Data()
	var out []*debuginfo.Var
	at := map[string]int{}
	depth := map[string]int{}
	offs := map[*debuginfo.Var]int64{} // of captured ones
	add := func(x *debuginfo.Var, dep int) {
		if k, ok := at[x.Name]; ok {
			// One in an inner block hides the others; of two beside each other, the one with a value does.
			if dep > depth[x.Name] || dep == depth[x.Name] && (x.Err == nil || out[k].Err != nil) {
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
		t, err := d.TypeOf(x.Tree)
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
		case off >= 0:
			y.Kind, y.Name = debuginfo.Captured, bare
			y.Place, y.Err = v.captured(x.Tree, t, off, heap)
			if heap {
				y.Type = t.Elem()
			}
		case heap:
			if slices.ContainsFunc(scope, func(z dw.ScopeVar) bool { return dw.Name(z.Tree) == bare }) || v.isParam(bare) {
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
		if _, ok := have[name]; ok || c.Tag != dwarf.TagFormalParameter || dw.Flag(c, dwarf.AttrVarParam) || name == dictName {
			continue
		}
		typ, err := d.TypeOf(c)
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
// closure, which RDX points to; later it is where the location list says. heap: captured by
// reference, t is the pointer's type.
func (v *view) captured(e *godwarf.Tree, t *types.Ctype, off int64, heap bool) (p loc.Place, err error) {
	if v.entry {
		p = loc.Place{Type: t, InMemory: true, Addr: loc.Register(goabi.RegContext).Plus(off), Writable: true}
	} else if p, err = v.place(e, t, debuginfo.Param); err != nil {
		return p, rename(err)
	}
	if heap {
		p = deref(p, t)
	}
	return p, nil
}
