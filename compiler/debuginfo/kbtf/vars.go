package kbtf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// protoOf is the prototype of f. Errors say why its variables are not known.
func (im *Image) protoOf(f *function) (*Proto, error) {
	if f.asked {
		return f.proto, f.protoE
	}
	f.asked = true
	_, suffix := cloneOf(f.sym.Name)
	switch {
	case im.scope == nil:
		f.protoE = im.err
	case im.ambiguous(f):
		f.protoE = undescribed("several functions of the kernel are called %s, and BTF does not tell which of them "+
			"it describes", f.Name)
	case changed(suffix):
		f.protoE = undescribed("the compiler made the copy %s, which may have other parameters than %s", f.sym.Name,
			f.Name)
	default:
		f.proto, f.protoE = im.scope.FuncProto(f.Name)
		var nf *debuginfo.NotFoundError
		if errors.As(f.protoE, &nf) {
			f.protoE = undescribed("BTF does not describe %s (it is assembly, or several functions of the kernel "+
				"have this name and differ)", f.Name)
		}
	}
	return f.proto, f.protoE
}

// undescribed is an error about one function whose variables are not known: a debuginfo.ErrUndescribed.
func undescribed(format string, args ...any) error {
	return &undescribedError{fmt.Sprintf(format, args...)}
}

type undescribedError struct{ msg string }

func (e *undescribedError) Error() string        { return e.msg }
func (e *undescribedError) Is(target error) bool { return target == debuginfo.ErrUndescribed }

// ambiguous reports whether another function has f's name. Tools that made BTF before 2023 described the first that
// they met.
func (im *Image) ambiguous(f *function) bool {
	syms, err := im.symbols()
	if err != nil {
		return false
	}
	n, at := 0, uint64(0)
	for _, s := range syms.Named(f.Name) {
		if s.Code() && im.mine(s) && (n == 0 || s.Addr != at || s.Addr == 0) {
			n, at = n+1, s.Addr
		}
	}
	return n > 1
}

// words are how many 8-byte words of integer registers a value of t takes; 0: it is passed in memory (or has no size).
// why says that it cannot be told.
func words(t *types.Ctype) (n int, inMemory bool, why string) {
	switch t.Kind {
	case types.Int, types.Bool, types.Char, types.Enum, types.Pointer:
		switch {
		case t.Size > 0 && t.Size <= 8:
			return 1, false, ""
		case t.Size == 16:
			return 2, false, ""
		}
		return 0, false, "its size is not known"
	case types.Struct, types.Union:
		switch {
		case t.Size == 0:
			return 0, false, ""
		case t.Size < 0:
			return 0, false, "its type is not complete"
		case t.Size > 16:
			return 0, true, ""
		}
		if !plain(t, 0, 0) {
			return 0, false, "a structure with such members is not passed in integer registers"
		}
		return int(t.Size+7) / 8, false, ""
	}
	return 0, false, "values of type " + t.Name + " are not passed in integer registers"
}

// plain reports whether all of t, which lies off bytes into a structure of at most 16, is integers and pointers in
// their natural places.
func plain(t *types.Ctype, off int64, depth int) bool {
	if t == nil || depth > 8 {
		return false
	}
	switch t.Kind {
	case types.Int, types.Bool, types.Char, types.Enum, types.Pointer:
		return t.Size > 0 && off%t.Size == 0
	case types.Array:
		e := t.Elem()
		if e == nil || t.Count < 0 || t.Count > 16 {
			return false
		}
		for i := range t.Count {
			if !plain(e, off+i*e.Size, depth+1) {
				return false
			}
		}
		return true
	case types.Struct, types.Union:
		for _, f := range t.Fields() {
			if f.BitSize == 0 && !plain(f.Type, off+f.Off, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// inRegs is a value of type t, 8 bytes of it in each of regs.
func inRegs(t *types.Ctype, regs []int) loc.Place {
	pl := loc.Place{Type: t, Kernel: true, Writable: true}
	for i, r := range regs {
		off := int64(8 * i)
		pl.Pieces = append(pl.Pieces, loc.Piece{Off: off, Size: min(t.Size-off, 8), Val: loc.Register(r)})
	}
	return pl
}

// params places the parameters of f at its entry.
func (im *Image) params(f *function) ([]*debuginfo.Var, error) {
	p, err := im.protoOf(f)
	if err != nil {
		return nil, err
	}
	used, stack, lost := 0, int64(0), ""
	if p.Result.Kind == types.Struct || p.Result.Kind == types.Union {
		_, mem, why := words(p.Result)
		if mem {
			used++ // the address of the result
		} else if why != "" {
			lost = "how the result is returned is not known"
		}
	}
	m := im.Machine()
	cfa, _ := debuginfo.Called(m, true)
	argRegs := m.C.Args
	var out []*debuginfo.Var
	for i, x := range p.Params {
		v := &debuginfo.Var{Name: x.Name, Kind: debuginfo.Param, Type: x.Type}
		if v.Name == "" {
			v.Name = fmt.Sprintf("arg%d", i+1)
		}
		out = append(out, v)
		refuse := func(why string) {
			v.Err = &debuginfo.NotLiveError{Name: v.Name, PC: f.Entry, Reason: why}
		}
		if lost != "" {
			refuse(lost)
			continue
		}
		n, mem, why := words(x.Type)
		switch {
		case why != "":
			refuse(why)
			lost = "where it is depends on a parameter in front of it, of which that is not known"
		case mem:
			refuse(fmt.Sprintf("%s is passed by value on the stack", x.Type.Name))
			stack = -1
		case n > 0 && used+n <= len(argRegs):
			v.Place = inRegs(x.Type, argRegs[used:used+n])
			used += n
		case n > 1:
			refuse(fmt.Sprintf("%s is passed by value on the stack", x.Type.Name))
			stack = -1
		case n == 1 && stack < 0:
			refuse("it is on the stack behind a structure, whose alignment BTF does not tell")
		case n == 1:
			used = len(argRegs)
			v.Place = loc.Place{Type: x.Type, InMemory: true, Addr: cfa.Plus(stack), Kernel: true, Writable: true}
			stack += 8
		default: // an empty structure
			v.Place = loc.Place{Type: x.Type, Kernel: true}
		}
	}
	return out, nil
}

// atFunc is the function of a site.
func (im *Image) atFunc(s debuginfo.Site) (*function, error) {
	if f := im.byPtr[s.Func]; f != nil {
		return f, nil
	}
	return nil, errors.New("no function of the kernel is here")
}

// Vars lists the parameters at a function's entry, and the result behind its return.
func (im *Image) Vars(s debuginfo.Site) ([]*debuginfo.Var, error) {
	f, err := im.atFunc(s)
	if err != nil {
		return nil, err
	}
	ps, err := im.params(f)
	if err != nil || s.Kind == debuginfo.AtLine || s.Kind == debuginfo.AtInline {
		if vs, ferr := im.fileVars(s); ferr == nil {
			return vs, nil
		}
	}
	if err != nil {
		return nil, err
	}
	switch s.Kind {
	case debuginfo.AtEntry:
		return ps, nil
	case debuginfo.AfterRet:
		rs, err := im.Results(s)
		if err != nil {
			return nil, err
		}
		for _, p := range ps {
			rs = append(rs, im.gone(p, s))
		}
		return rs, nil
	}
	var out []*debuginfo.Var
	for _, p := range ps {
		out = append(out, im.gone(p, s))
	}
	return out, nil
}

// gone is a parameter where it has no place.
func (im *Image) gone(p *debuginfo.Var, s debuginfo.Site) *debuginfo.Var {
	q := *p
	q.Place = loc.Place{}
	reason := "where it is behind the entry is known from DWARF debug information only"
	if s.Kind == debuginfo.AfterRet {
		reason = "the function has returned; @entry($" + p.Name + ") keeps its value at the entry"
	}
	q.Err = &debuginfo.NotLiveError{Name: p.Name, PC: s.PC, Reason: reason}
	return &q
}

// Var finds a parameter, "return", or a global variable.
func (im *Image) Var(s debuginfo.Site, name string) (*debuginfo.Var, error) {
	if name == "return" {
		if s.Kind != debuginfo.AfterRet {
			return nil, &debuginfo.NotFoundError{What: "variable", Name: name,
				Detail: "a result exists at .return only"}
		}
		rs, err := im.Results(s)
		if err != nil {
			return nil, err
		}
		if len(rs) == 0 {
			return nil, &debuginfo.NotFoundError{What: "variable", Name: name, Detail: "the function returns nothing"}
		}
		return rs[0], rs[0].Err
	}
	if s.Kind == debuginfo.AtLine || s.Kind == debuginfo.AtInline {
		if v, err := im.fileVar(s, name); !needsDWARF(err) {
			return v, err
		}
	}
	vs, err := im.Vars(s)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, v := range vs {
		if v.Name == name {
			if v.Err != nil && s.Kind == debuginfo.AtEntry { // a structure on the stack
				if w, err := im.fileVar(s, name); err == nil {
					return w, nil
				}
			}
			return v, v.Err
		}
		if v.Kind == debuginfo.Param {
			names = append(names, v.Name)
		}
	}
	v, err := im.Global(name)
	var nf *debuginfo.NotFoundError
	if errors.As(err, &nf) {
		if nf.Near = diag.Nearest(name, names, 3); len(nf.Near) == 0 && len(names) <= 8 {
			nf.Near = names
		}
	}
	return v, err
}

// Results gives what the function returned, behind its return: an integer or pointer in a register, a structure in
// two, or where the first of them leads.
func (im *Image) Results(s debuginfo.Site) ([]*debuginfo.Var, error) {
	f, err := im.atFunc(s)
	if err != nil {
		return nil, err
	}
	p, err := im.protoOf(f)
	if err != nil {
		if v, derr := im.needs("results are"); derr == nil {
			if d, derr := im.toFile(v, s); derr == nil {
				rs, derr := v.img.Results(d)
				for i := range rs {
					rs[i] = v.variable(rs[i])
				}
				if derr == nil {
					return rs, nil
				}
			}
		}
		return nil, err
	}
	if p.Result.Kind == types.Void && p.Result.Name == "void" {
		return nil, nil
	}
	v := &debuginfo.Var{Name: "return", Kind: debuginfo.Result, Type: p.Result}
	n, mem, why := words(p.Result)
	switch {
	case why != "":
		v.Err = &debuginfo.NotLiveError{Name: v.Name, PC: s.PC, Reason: why}
	case mem:
		v.Place = loc.Place{Type: p.Result, InMemory: true, Addr: loc.Register(im.Machine().C.Results[0]), Kernel: true,
			Writable: true}
	default:
		v.Place = inRegs(p.Result, im.Machine().C.Results[:n])
	}
	return []*debuginfo.Var{v}, nil
}

func needsDWARF(err error) bool {
	var needs *NeedsDWARFError
	return errors.As(err, &needs)
}

// Global finds a variable that BTF describes and kallsyms places, or one that DWARF describes.
func (im *Image) Global(name string) (*debuginfo.Var, error) {
	base, unit, _ := strings.Cut(name, "@")
	if unit != "" || im.scope == nil {
		v, err := im.fileGlobal(name)
		if needsDWARF(err) && unit == "" {
			err = im.err
		}
		return v, err
	}
	syms, err := im.symbols()
	if err != nil {
		return nil, im.noSymbols(err)
	}
	var at []Symbol
	for _, s := range syms.Named(base) {
		if im.mine(s) || s.Module == "" {
			at = append(at, s)
		}
	}
	v := &debuginfo.Var{Name: base, Kind: debuginfo.GlobalVar}
	refuse := func(format string, args ...any) (*debuginfo.Var, error) {
		v.Err = &debuginfo.NotLiveError{Name: base, Reason: fmt.Sprintf(format, args...)}
		return v, v.Err
	}
	t, err := im.scope.VarType(base)
	if err != nil {
		if len(at) > 0 && !at[0].Code() {
			found, err := im.fileGlobal(base)
			var needs *NeedsDWARFError
			if errors.As(err, &needs) {
				v.Err = &debuginfo.NotLiveError{Name: base, Untyped: true,
					Reason: fmt.Sprintf("its type is known from DWARF debug information only, and %s", needs.Why)}
				return v, v.Err
			}
			return found, err
		}
		return nil, &debuginfo.NotFoundError{What: "variable", Name: name}
	}
	v.Type = t
	switch {
	case im.scope.perCPU(base):
		return refuse("it exists once for each CPU")
	case len(at) == 0:
		return refuse("the kernel's symbols do not have it")
	case len(at) > 1:
		return refuse("%d symbols have this name", len(at))
	case syms.Hidden():
		return refuse("%v", errHidden)
	case im.k.Foreign():
		return refuse("its address in another kernel is known only once that runs")
	}
	addr := loc.Constant(int64(at[0].Addr))
	if im.k.cfg.Portable {
		addr = loc.Value(loc.Step{Op: loc.Offset, N: int64(at[0].Addr), Text: im.scope.Variable(base, t)})
	}
	v.Place = loc.Place{Type: t, InMemory: true, Addr: addr, Kernel: true, Writable: true}
	return v, nil
}

// perCPU reports whether the variable lies in the section of those that each CPU has for itself.
func (s *Scope) perCPU(name string) bool {
	ids := map[uint32]bool{}
	for _, r := range s.find(btf.GroupVar, name) {
		ids[r.ID()] = true
	}
	found := false
	for x := s; x != nil && !found; x = x.above {
		x.b.Each(func(r btf.Record) bool {
			if r.Kind() == btf.KindDatasec && strings.Contains(x.b.Name(r), "percpu") {
				for i := range r.Len() {
					if ids[r.Word(3*i)] {
						found = true
					}
				}
			}
			return !found
		})
	}
	return found
}
