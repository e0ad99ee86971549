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
	"github.com/gostap/gostap/compiler/debuginfo/goabi"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
)

// Vars lists the variables with a name at s. Those of an inlined copy are the copy's own.
func (im *Image) Vars(s debuginfo.Site) (vars []*debuginfo.Var, err error) {
	defer foreign.Guard(&err)()
	if im.Bare() {
		return bareVars(im, s)
	}
	v, err := im.view(s)
	if err != nil {
		return nil, err
	}
	return v.all()
}

func (v *view) all() ([]*debuginfo.Var, error) {
	if v.copy != nil || v.foreign {
		vars, err := v.locals()
		return v.named(vars), err
	}
	vars := append(v.params(), v.results()...)
	locals, err := v.locals()
	return v.named(append(vars, locals...)), err
}

// Var finds one variable by name; "~r0" is the first result, whatever its name.
func (im *Image) Var(s debuginfo.Site, name string) (x *debuginfo.Var, err error) {
	defer foreign.Guard(&err)()
	if im.Bare() {
		if err := (bareProgram{im}).standing(s); err != nil {
			return nil, err
		}
		return bared(im).Var(s, name)
	}
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
		v.addCall(x)
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
			d, _ := debuginfo.Distance([]byte(n), name, limit, nil)
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
	for _, y := range v.scope() {
		if n := dw.Name(y.Tree); n != x.Name && n != "&"+x.Name {
			continue
		}
		decl := int(dw.Int(y.Tree, dwarf.AttrDeclLine))
		for _, l := range v.readable(y.Tree, x.Kind) {
			if (l > decl || x.Kind == debuginfo.Param) && !slices.Contains(nl.Lines, l) {
				nl.Lines = append(nl.Lines, l)
			}
		}
	}
	slices.Sort(nl.Lines)
}

// readable lists the lines of the function, or of the copy, at the site in which e can be read, without what is refused
// there.
func (v *view) readable(e *godwarf.Tree, kind debuginfo.VarKind) []int {
	if kept := v.im.effects; kept != nil && kept.fn == v.i {
		if lines, ok := kept.readable[e]; ok {
			return lines
		}
	}
	in := v.sig.tree
	if v.copy != nil {
		in = v.copy
	}
	t, err := v.im.types.TypeOf(e)
	if err != nil {
		return nil
	}
	first := map[int]uint64{}
	for _, s := range v.im.lined().stmts(v.i, false) {
		if _, ok := first[s.line]; !ok && s.file == v.file() && in.ContainsPC(s.pc) {
			first[s.line] = s.pc
		}
	}
	var lines []int
	for _, l := range v.sig.unit.LiveLines(e, in) {
		pc, ok := first[l]
		if !ok {
			continue
		}
		s := v.im.site(v.i, pc, debuginfo.AtLine)
		s.Line, s.Inline = l, v.s.Inline
		at, err := v.im.view(s)
		if err != nil || at.entry || at.copy != v.copy {
			continue
		}
		if _, err := at.find(dw.Name(e), e, t, kind); err == nil {
			lines = append(lines, l)
		}
	}
	if kept := v.im.effects; kept != nil && kept.fn == v.i {
		if kept.readable == nil {
			kept.readable = map[*godwarf.Tree][]int{}
		}
		kept.readable[e] = lines
	}
	return lines
}

// Results are the results of the function at a return site, in order.
func (im *Image) Results(s debuginfo.Site) (vars []*debuginfo.Var, err error) {
	defer foreign.Guard(&err)()
	if im.Bare() {
		return bared(im).Results(s)
	}
	v, err := im.view(s)
	if err != nil {
		return nil, err
	}
	if len(v.sig.results) == 0 && v.sig.resultsErr != nil {
		return nil, v.sig.resultsErr
	}
	if v.copy != nil {
		return nil, errors.New("an inlined copy has no return; only .function and .return of code of its own give " +
			"results")
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
	env *dwexpr.Env
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
	sig, err := im.called().signature(i)
	if err != nil {
		return nil, err
	}
	v := &view{im: im, s: s, i: i, sig: sig}
	if st := im.wrappers().stand(s.Func); st != nil && st.host == i {
		if v.sig, err = im.wrappers().wrapped(st, sig); err != nil {
			return nil, err
		}
	} else {
		v.s.Func = im.funcOf(i)
	}
	v.entry = im.ways().atEntry(v.s)
	v.cfa, _ = im.frame(i, s.PC)
	v.env = im.env(i, sig, s.PC)
	if s.Inline != nil {
		v.copy = v.findCopy()
		v.foreign = v.copy == nil
	}
	return v, nil
}

// env is what location expressions at pc in function i refer to.
func (im *Image) env(i int, sig *signature, pc uint64) *dwexpr.Env {
	env := sig.unit.Env(sig.tree, pc)
	if cfa, _ := im.frame(i, pc); !cfa.Empty() {
		// The function table has every frame; .debug_frame would have to be inflated and indexed.
		env.CFA = func() (loc.Prog, error) { return cfa, nil }
		if base, err := sig.unit.Locations(sig.tree, dwarf.AttrFrameBase); err == nil && len(base) == 1 &&
			len(base[0].Expr) == 1 && base[0].Expr[0] == opCallFrameCFA {
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
		for _, t := range v.im.inlines().copiesIn(v.sig.tree)[calls[id.call].Ranges[0][0]] {
			if is(t) {
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
		// A function literal that is called where it stands gets what it captures by reference as arguments "&name".
		name, captured := p.name, false
		if p.typ.Elem() != nil {
			name, captured = strings.CutPrefix(p.name, "&")
		}
		x := &debuginfo.Var{Name: name, Kind: debuginfo.Param, Type: p.typ, Line: p.line}
		switch {
		case v.s.Kind == debuginfo.AtReturn || v.s.Kind == debuginfo.AtTail:
			x.Err = v.notLive(name, fmt.Sprintf("the function has returned; @entry($%s) is its value at the call",
				name))
		case v.entry:
			if x.Place, x.Err = v.paramAtEntry(n); x.Err == nil && v.sig.stands && x.Place.Type != nil {
				x.Type = x.Place.Type
			}
		case v.inMemory(n):
			x.Place = v.sig.layout.Params[n].Place(v.cfa)
		case p.entry == nil && v.sig.paramsErr != nil:
			x.Err = v.notLive(p.name, v.sig.paramsErr.Error())
		case p.entry == nil:
			x.Err = v.notLive(p.name, "it is not described")
		default:
			x.Place, x.Err = v.find(p.name, p.entry, p.typ, debuginfo.Param)
		}
		if captured {
			if x.Type = p.typ.Elem(); x.Err == nil {
				x.Place = deref(x.Place, p.typ)
			}
			x.Err = rename(x.Err)
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
	if n == 0 && v.sig.stands {
		pl, _, err := v.sig.receiver(v.im.m, v.cfa)
		if err != nil {
			err = v.notLive(p.name, err.Error())
		}
		return pl, err
	}
	err := v.sig.paramsErr
	if err == nil {
		slot := v.sig.layout.Params[n]
		if !slot.OnStack() || !v.cfa.Empty() {
			p, err := v.unlessAgain(slot.Place(v.cfa))
			if err != nil {
				err = v.notLive(v.sig.params[n].name, err.Error())
			}
			return p, err
		}
		err = errors.New("the frame is not known here")
	}
	// Without the layout, only a location in registers can be trusted here: memory of the frame, which
	// unoptimised code has for its variables, has not been written yet.
	if p.entry != nil {
		if pl, lerr := v.sig.unit.VarPlace(p.entry, p.typ, v.env, v.s.PC); lerr == nil && registersOnly(pl) &&
			!v.leftover(p.entry, p.typ, pl) {
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
		if q.Lost || q.Vector == 0 && (len(q.Val.Steps) != 1 || q.Val.Steps[0].Op != loc.Reg) {
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
	if exits, err := v.im.ways().exits(v.i); err == nil {
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
