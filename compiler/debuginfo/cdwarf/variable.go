package cdwarf

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// resultName is the name that scripts use for the result of a C function.
const resultName = "return"

// scope lists what has a name at s: in the inlined copy that s is in, else in the function. Of several with
// the same name the innermost is taken. At the entry and behind the return blocks do not count, even if the
// compiler has moved their first instructions there.
func (im *Image) scope(fn *function, s debuginfo.Site) []dw.ScopeVar {
	in := im.read().ownerTree(fn, s)
	outer := left(s.Kind) || s.Kind == debuginfo.AtEntry
	var out []dw.ScopeVar
	for _, v := range dw.Scope(in, s.PC) { // in need not cover where it is entered
		if v.In != in || dw.Name(v.Tree) == "" || outer && v.Depth > 0 {
			continue
		}
		hidden := slices.IndexFunc(out, func(o dw.ScopeVar) bool { return dw.Name(o.Tree) == dw.Name(v.Tree) })
		if hidden >= 0 {
			if v.Depth < out[hidden].Depth {
				continue
			}
			out = slices.Delete(out, hidden, hidden+1)
		}
		out = append(out, v)
	}
	if in != fn.tree {
		inOrder(out)
	}
	return out
}

// inOrder sorts the parameters of an inlined copy, which gcc may list from the last to the first, as the function
// declares them.
func inOrder(vars []dw.ScopeVar) {
	var at []int
	var params []dw.ScopeVar
	for i, v := range vars {
		if v.Tag == dwarf.TagFormalParameter {
			at, params = append(at, i), append(params, v)
		}
	}
	slices.SortStableFunc(params, func(a, b dw.ScopeVar) int {
		return cmp.Compare(dw.Origin(a.Tree), dw.Origin(b.Tree))
	})
	for i, k := range at {
		vars[k] = params[i]
	}
}

// ownerTree is the inlined copy that s is in, or the function itself.
func (im reader) ownerTree(fn *function, s debuginfo.Site) *godwarf.Tree {
	if s.Inline == nil {
		return fn.tree
	}
	stack := dw.InlineStack(fn.tree, s.PC)
	for _, t := range stack {
		if im.inl[t.Offset] == s.Inline {
			return t
		}
	}
	for _, t := range dw.Inlined(fn.tree) {
		if im.inl[t.Offset] == s.Inline {
			return t
		}
	}
	if len(stack) > 0 {
		return stack[0]
	}
	return fn.tree
}

// Vars lists the parameters and locals with a name at s, and behind a return the result.
func (im *Image) Vars(s debuginfo.Site) (vars []*debuginfo.Var, err error) {
	defer foreign.Guard(&err)()
	fn, err := im.read().siteFunc(s)
	if err != nil {
		return nil, err
	}
	if s.Kind == debuginfo.AfterRet || s.Kind == debuginfo.AtReturn {
		if vars, err = im.read().results(fn); err != nil {
			return nil, err
		}
	}
	for _, v := range im.scope(fn, s) {
		x, err := im.read().variable(fn, s, v)
		if err != nil {
			return nil, err
		}
		vars = append(vars, x)
	}
	return vars, nil
}

// Var finds a variable by name: in the scopes around s, then among the globals and statics of its unit,
// then among all globals. "return" is the result behind a return.
func (im *Image) Var(s debuginfo.Site, name string) (v *debuginfo.Var, err error) {
	defer foreign.Guard(&err)()
	fn, err := im.read().siteFunc(s)
	if err != nil {
		return nil, err
	}
	if name == resultName {
		if s.Kind != debuginfo.AfterRet && s.Kind != debuginfo.AtReturn {
			return nil, &debuginfo.NotFoundError{What: "variable", Name: name,
				Detail: "a result exists at .return only"}
		}
		rs, err := im.read().results(fn)
		if err != nil {
			return nil, err
		}
		if len(rs) == 0 {
			return nil, &debuginfo.NotFoundError{What: "variable", Name: name, Detail: fn.Name + " returns nothing"}
		}
		return rs[0], rs[0].Err
	}
	names := []string{}
	for _, sv := range im.scope(fn, s) {
		if n := dw.Name(sv.Tree); n != name {
			names = append(names, n)
			continue
		}
		v, err := im.read().variable(fn, s, sv)
		if err != nil {
			return nil, err
		}
		var nl *debuginfo.NotLiveError
		if errors.As(v.Err, &nl) && nl.Lines == nil && !left(s.Kind) && !im.read().isHomeVar(fn, sv) {
			nl.Lines = fn.u.LiveLines(sv, fn.tree)
		}
		return v, v.Err
	}
	v, err = im.named().global(name, im.read().home(fn))
	var nf *debuginfo.NotFoundError
	if errors.As(err, &nf) {
		nf.Near = diag.Nearest(name, names, 3)
		if len(nf.Near) == 0 && len(names) <= 8 {
			nf.Near = names
		}
		if other := im.read().elsewhere(fn, name); other != "" {
			nf.Detail = other
		}
	}
	return v, err
}

// elsewhere says that a name exists in fn, in a block that does not cover the pc.
func (im reader) elsewhere(fn *function, name string) string {
	for _, v := range dw.AllVars(fn.tree) {
		if dw.Name(v.Tree) != name {
			continue
		}
		line := dw.Int(v.Tree, dwarf.AttrDeclLine)
		if v.In != fn.tree {
			return fmt.Sprintf("it belongs to the inlined function %s", dw.Name(v.In))
		}
		return fmt.Sprintf("it belongs to a block that begins at line %d", line)
	}
	return ""
}

func (im reader) siteFunc(s debuginfo.Site) (*function, error) {
	fn, err := im.of(s.Func)
	if fn == nil && err == nil {
		fn, err = im.at(s.PC)
	}
	if err == nil && (fn == nil || fn.tree == nil) {
		err = im.noVars(fn)
	}
	if err == nil {
		err = im.single(fn)
	}
	return fn, err
}

// noVars is the error for functions without DWARF.
func (im reader) noVars(fn *function) error {
	if im.d == nil {
		return im.noTypes()
	}
	if fn == nil {
		return fmt.Errorf("%w for this code", debuginfo.ErrNoTypes)
	}
	if u, err := im.d.UnitAt(fn.Entry); err == nil && u != nil {
		if why, is := u.Split(); is {
			return fmt.Errorf("%w for %s: it is in a .dwo file (-gsplit-dwarf): %s", debuginfo.ErrNoTypes, fn.Name, why)
		}
	}
	return &undescribedError{fn.Name, im.whyUndescribed(fn)}
}

// undescribedError says that the file has debug information, and none about one function.
type undescribedError struct{ name, why string }

func (e *undescribedError) Error() string {
	return fmt.Sprintf("%v for %s: %s", debuginfo.ErrNoTypes, e.name, e.why)
}

// Is makes it both: there are no types, and that is so for this function only.
func (e *undescribedError) Is(target error) bool {
	return target == debuginfo.ErrNoTypes || target == debuginfo.ErrUndescribed
}

// whyUndescribed says why there is nothing about the code of fn.
func (im reader) whyUndescribed(fn *function) string {
	u, err := im.d.UnitAt(fn.Entry)
	if err != nil || u == nil {
		return "it was built without -g"
	}
	if u.Lang() == dw.LangAsm {
		return "it is assembly"
	}
	// Where two functions do the same, gcc keeps the code of one, under both names or twice, and describes that one.
	if refs, _, err := im.d.FindFuncsIn([]*dw.Unit{u},
		func(name []byte) bool { return string(name) == fn.Name }); err == nil && len(refs) == 0 {
		return fmt.Sprintf("its code is that of another function of %s which does the same (identical code folding), "+
			"and only that one is described", path.Base(u.Name()))
	}
	return "the compiler has described no code of it"
}

// variable places one variable at s. Errors about it alone are in its Err.
func (im reader) variable(fn *function, s debuginfo.Site, sv dw.ScopeVar) (*debuginfo.Var, error) {
	v := &debuginfo.Var{Name: dw.Name(sv.Tree), Kind: debuginfo.Local, Line: int(dw.Int(sv.Tree, dwarf.AttrDeclLine))}
	if sv.Tag == dwarf.TagFormalParameter {
		v.Kind = debuginfo.Param
	}
	t, err := im.types.TypeOf(sv)
	if err != nil {
		v.Type, v.Err = dwtype.Void, &debuginfo.NotLiveError{Name: v.Name, PC: s.PC, Reason: err.Error()}
		return v, nil
	}
	v.Type = t
	if left(s.Kind) {
		v.Place, v.Err = im.afterReturn(fn, s, sv, t)
		return v, nil
	}
	plan, err := im.entered().planOf(fn)
	if err != nil {
		return nil, err
	}
	home := plan.homes[sv.Offset]
	if home && v.Kind == debuginfo.Param || home && s.PC < plan.settled {
		if pl, ok := plan.args[sv.Offset]; ok && (s.PC == fn.Entry || s.PC == im.entered().behindLanding(fn.Entry)) {
			v.Place = pl
			v.Place.Type = t
			return v, nil
		}
		var why string
		switch {
		case plan.optimized && v.Kind == debuginfo.Param:
			why = "optimised code need not keep it in its stack slot"
			if _, ok := plan.args[sv.Offset]; ok {
				why += "; it is available at the function's entry"
			}
		case s.PC < plan.settled || plan.settled == 0:
			why = "the function has not stored it yet"
		}
		if why != "" {
			v.Err = &debuginfo.NotLiveError{Name: v.Name, PC: s.PC, Reason: why, Lines: im.linesFrom(fn, plan.settled)}
			return v, nil
		}
	}
	if home && v.Kind == debuginfo.Local {
		if line, early := im.beforeDeclaration(fn, s, sv); early {
			v.Err = &debuginfo.NotLiveError{Name: v.Name, PC: s.PC,
				Reason: fmt.Sprintf("it is declared on line %d, which has not run", line)}
			return v, nil
		}
	}
	if plan.untracked[sv.Offset] && s.Kind != debuginfo.AtEntry {
		v.Err = &debuginfo.NotLiveError{Name: v.Name, PC: s.PC, Reason: "the program was built with " +
			"-fno-var-tracking, so that what the debug information says about registers need not be so"}
		return v, nil
	}
	var expr []byte
	v.Place, expr, v.Err = fn.u.VarPlaceAt(sv, t, im.env(fn, s), s.PC, im.viewOf(fn, s))
	if v.Err == nil {
		if why := im.untrue(fn, s, sv, v.Place, expr); why != "" {
			v.Place, v.Err = loc.Place{}, &debuginfo.NotLiveError{Name: v.Name, PC: s.PC, Reason: why}
			if pl, ok := plan.args[sv.Offset]; ok && (s.PC == fn.Entry ||
				s.PC == im.entered().behindLanding(fn.Entry)) {
				v.Place, v.Err = pl, nil
				v.Place.Type = t
			}
		}
	}
	return v, nil
}

// addressed takes apart the sum of a register and a constant.
func addressed(p loc.Prog) (reg, off int64, ok bool) {
	s := p.Steps
	switch {
	case len(s) == 1 && s[0].Op == loc.Reg:
		return s[0].N, 0, true
	case len(s) == 3 && s[0].Op == loc.Reg && s[1].Op == loc.Const && s[2].Op == loc.Add:
		return s[0].N, s[1].N, true
	}
	return 0, 0, false
}

// home is the unit of the source file that fn comes from.
func (im reader) home(fn *function) *dw.Unit {
	if u, err := im.d.UnitOf(dw.Origin(fn.tree)); err == nil {
		return u
	}
	return fn.u
}

// viewOf is which of the statements that begin at the site's pc the site is. At the entry it is the first, before
// anything of the function has happened, even if nothing of it takes an instruction.
func (im reader) viewOf(fn *function, s debuginfo.Site) int {
	switch s.Kind {
	case debuginfo.AtEntry:
		return dwexpr.FirstView
	case debuginfo.AtInline:
		return int(min(dw.Int(im.ownerTree(fn, s), attrEntryView), 1<<16))
	}
	rows, err := fn.u.Rows()
	if err != nil {
		return dwexpr.LastView
	}
	for _, r := range rows {
		if r.PC == s.PC && !r.End && r.Stmt && r.Line == s.Line && fn.u.FileOf(r) == s.File {
			return int(r.View)
		}
	}
	return dwexpr.LastView
}

// attrEntryView is gcc's DW_AT_GNU_entry_view: the view of DW_AT_entry_pc.
const attrEntryView = dwarf.Attr(0x2138)

func (im reader) isHomeVar(fn *function, sv dw.ScopeVar) bool {
	p, err := im.entered().planOf(fn)
	return err == nil && p.homes[sv.Offset]
}

func (im *Image) env(fn *function, s debuginfo.Site) *dwexpr.Env {
	env := fn.u.Env(fn.tree, s.PC)
	if !s.CFA.Empty() {
		env.CFA = func() (loc.Prog, error) { return s.CFA, nil }
	}
	if s.PC == im.entered().behindLanding(fn.Entry) {
		env.AtEntry = true
	}
	im.entered().rebase(fn, env)
	if base := im.entered().baseOf(fn).reg; !byGNU(fn.u) {
		env.Spill = func(reg uint64) bool { return reg == uint64(im.m.SP) || int(reg) == base }
	}
	return env
}

// afterReturn places a variable behind the return of fn: only what does not depend on its frame
// is left (statics).
func (im reader) afterReturn(fn *function, s debuginfo.Site, sv dw.ScopeVar, t *types.Ctype) (loc.Place, error) {
	gone := &debuginfo.NotLiveError{Name: dw.Name(sv.Tree), PC: s.PC, Reason: "the function has returned; @entry($" +
		dw.Name(sv.Tree) + ") keeps its value at the entry"}
	if sv.Tag != dwarf.TagFormalParameter {
		gone.Reason = "the function has returned"
	}
	list, err := fn.u.Locations(sv, dwarf.AttrLocation)
	if err != nil || len(list) != 1 || !list[0].Default {
		return loc.Place{}, gone
	}
	env := fn.u.Env(nil, 0)
	pl, err := dwexpr.Place(list[0].Expr, t, env)
	if err != nil || usesRegisters(pl) {
		return loc.Place{}, gone
	}
	return pl, nil
}

// linesFrom is the first statement's line from pc on.
func (im reader) linesFrom(fn *function, pc uint64) []int {
	if pc == 0 {
		return nil
	}
	if r, ok, err := fn.u.RowAt(pc); ok && err == nil && r.Line > 0 {
		return []int{r.Line}
	}
	return nil
}

// beforeDeclaration reports whether the variable, which has one stack slot for the whole of its block,
// cannot have been given a value at s: its declaration begins behind s. Declarations within loops may have run
// before all the same; the slot then holds the value of the last round, which is not the variable's.
func (im reader) beforeDeclaration(fn *function, s debuginfo.Site, sv dw.ScopeVar) (line int, early bool) {
	line = int(dw.Int(sv.Tree, dwarf.AttrDeclLine))
	if line == 0 || s.File != im.d.FileAttr(sv.Tree, dwarf.AttrDeclFile) {
		return line, false
	}
	if s.Line != line {
		return line, s.Line < line
	}
	// On the line itself: not at its first address.
	rows, err := fn.u.Rows()
	if err != nil {
		return line, false
	}
	first := s.PC
	for _, r := range rows {
		if !r.End && r.Line == line && r.PC < first && fn.tree.ContainsPC(r.PC) && r.PC > fn.Entry &&
			(sv.Block == fn.tree || sv.Block.ContainsPC(r.PC)) {
			first = r.PC
		}
	}
	return line, first == s.PC
}
