package dw

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// Env is the surroundings of location expressions at pc in the function fn (from FuncTree). fn may be nil
// for global variables, and frame information is only read when an expression asks for it.
func (u *Unit) Env(fn *godwarf.Tree, pc uint64) *dwexpr.Env {
	d := u.d
	env := &dwexpr.Env{
		Machine:   d.f.Machine(),
		Addrx:     u.Addrx,
		TLS:       d.f.TLS,
		BaseType:  u.baseTypeAt,
		Relocated: d.f.Relocated(),
	}
	if fn == nil {
		return env
	}
	low, ok := EntryPC(fn)
	env.AtEntry = ok && low == pc
	env.CFA = func() (loc.Prog, error) {
		if env.AtEntry {
			return elffile.EntryFrame(d.f.Machine()).CFA, nil
		}
		fr, err := d.f.Frame(pc)
		return fr.CFA, err
	}
	env.FrameBase = func() (loc.Prog, error) {
		list, err := u.Locations(fn, dwarf.AttrFrameBase)
		if err != nil {
			if errors.Is(err, dwexpr.ErrNoLocation) {
				err = dwexpr.Refuse("the function has no frame base")
			}
			return loc.Prog{}, err
		}
		expr := dwexpr.At(list, pc)
		if expr == nil {
			return loc.Prog{}, dwexpr.Refuse("the function's frame is not set up here")
		}
		return dwexpr.FrameBase(expr, &dwexpr.Env{Machine: env.Machine, CFA: env.CFA, Addrx: env.Addrx,
			Relocated: env.Relocated})
	}
	return env
}

// baseTypeAt reads the base type at an offset in u, for typed operations.
func (u *Unit) baseTypeAt(off uint64) (dwexpr.BaseType, error) {
	at := u.Off + dwarf.Offset(off)
	if at < u.Die || at >= u.End {
		return dwexpr.BaseType{}, u.d.Corrupt("type at %#x is outside of its unit", at)
	}
	_, e, err := u.d.RawEntry(at)
	if err != nil {
		return dwexpr.BaseType{}, err
	}
	size, ok := e.Val(dwarf.AttrByteSize).(int64)
	if e.Tag != dwarf.TagBaseType || !ok {
		return dwexpr.BaseType{}, nil // nothing to compute with
	}
	t := dwexpr.BaseType{Size: int(size)}
	switch enc, _ := e.Val(dwarf.AttrEncoding).(int64); enc {
	case dwread.ATESigned, dwread.ATESignedChar:
		t.Signed, t.Integer = true, true
	case dwread.ATEUnsigned, dwread.ATEUnsignedChar, dwread.ATEBoolean, dwread.ATEAddress, dwread.ATEUTF, dwread.ATEUCS,
		dwread.ATEASCII:
		t.Integer = true
	}
	return t, nil
}

// VarPlace finds where the variable v of type t is at pc. The error is a *debuginfo.NotLiveError
// when v has no readable place there. Its Lines are left to LiveLines, which reads the line table:
// listings of many variables do without.
func (u *Unit) VarPlace(v godwarf.Entry, t *types.Ctype, env *dwexpr.Env, pc uint64) (p loc.Place, err error) {
	p, _, err = u.VarPlaceAt(v, t, env, pc, dwexpr.LastView)
	return p, err
}

// VarPlaceAt is VarPlace at one of the statements that begin at pc (Row.View). expr is the expression that says so,
// nil for a constant.
func (u *Unit) VarPlaceAt(v godwarf.Entry, t *types.Ctype, env *dwexpr.Env, pc uint64, view int) (p loc.Place,
	expr []byte,
	err error) {
	defer foreign.Guard(&err)()
	name, _ := v.Val(dwarf.AttrName).(string)
	if c := v.AttrField(dwarf.AttrConstValue); c != nil {
		if p, err = dwexpr.Constant(c.Val, t); err == nil {
			return p, expr, nil
		}
		return p, nil, notLive(name, pc, err)
	}
	list, err := u.Locations(v, dwarf.AttrLocation)
	if err != nil {
		return p, nil, notLive(name, pc, err)
	}
	expr = dwexpr.AtView(list, pc, view)
	if expr == nil {
		err = dwexpr.ErrNoLocation
		if len(list) > 0 {
			err = errors.New("it has no value at this address")
		}
		return p, nil, notLive(name, pc, err)
	}
	if p, err = dwexpr.Place(expr, t, env); err != nil {
		return p, nil, notLive(name, pc, err)
	}
	return p, expr, nil
}

// LiveLines lists the lines of the function fn on which v can be read, for NotLiveError.Lines.
func (u *Unit) LiveLines(v godwarf.Entry, fn *godwarf.Tree) (lines []int) {
	var err error
	defer foreign.Guard(&err)()
	list, err := u.Locations(v, dwarf.AttrLocation)
	if err != nil {
		return nil
	}
	any := func() (loc.Prog, error) { return loc.Register(u.d.f.Machine().SP), nil }
	env := u.Env(nil, 0)
	env.CFA, env.FrameBase = any, any
	list = slices.DeleteFunc(list, func(r dwexpr.LocRange) bool {
		return dwexpr.Check(r.Expr, env) != nil
	})
	return u.LinesOf(list, fn)
}

// notLive wraps reasons; damage to the file stays what it is.
func notLive(name string, pc uint64, err error) error {
	var un *dwexpr.Unavailable
	var nf *elffile.NoFrameError
	if !errors.As(err, &un) && !errors.As(err, &nf) && errors.Is(err, foreign.ErrCorrupt) {
		return fmt.Errorf("variable %q: %w", name, err)
	}
	return &debuginfo.NotLiveError{Name: name, PC: pc, Reason: err.Error()}
}

// LinesOf lists the lines of fn's own file that begin (as statements) within the ranges, in order
// and at most 50. Default ranges count as everywhere in fn.
func (u *Unit) LinesOf(list []dwexpr.LocRange, fn *godwarf.Tree) []int {
	if len(list) == 0 || fn == nil {
		return nil
	}
	rows, err := u.Rows()
	if err != nil {
		return nil
	}
	file := u.d.FileAttr(fn, dwarf.AttrDeclFile)
	var lines []int
	for _, r := range rows {
		if r.End || !r.Stmt || r.Line == 0 || !fn.ContainsPC(r.PC) || file != "" && u.FileOf(r) != file {
			continue
		}
		if dwexpr.AtView(list, r.PC, int(r.View)) != nil && !slices.Contains(lines, r.Line) {
			lines = append(lines, r.Line)
			if len(lines) > 500 {
				break
			}
		}
	}
	slices.Sort(lines)
	return lines[:min(len(lines), 50)]
}
