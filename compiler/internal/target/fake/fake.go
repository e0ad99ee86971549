// Package fake is a debuginfo.Image made by hand, for tests of the passes that use one.
//
// In: functions with their sites and variables as a test states them. Out: an Image
// that answers from those alone.
package fake

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
)

// Image is the hand-made image.
type Image struct {
	File   string
	Tongue debuginfo.Lang
	// Stripped says why there are no types; "" if there are.
	Stripped string
	List     []*Func
	Inlines  []*debuginfo.InlineSite
	Types    map[string]*types.Ctype
	Globals  map[string]*debuginfo.Var
	// G describes the goroutine; nil for C.
	G *debuginfo.Goroutine
}

// Func is a function with what is known at its sites.
type Func struct {
	debuginfo.Func
	// Push is the pc to probe at entry; 0 takes Entry.
	Push uint64
	// Rets are the returns and tail jumps.
	Rets []debuginfo.Site
	// Lines are the statements.
	Lines []debuginfo.Site
	// Params are the variables at entry, Locals those at statements, Res the results at returns.
	Params, Locals, Res []*debuginfo.Var
	// EntryErr and RetErr refuse the sites.
	EntryErr, RetErr error
}

var _ debuginfo.Image = (*Image)(nil)

// Reg is a variable in one register.
func Reg(name string, kind debuginfo.VarKind, t *types.Ctype, reg int) *debuginfo.Var {
	return &debuginfo.Var{Name: name, Kind: kind, Type: t, Place: loc.Place{
		Type: t, Pieces: []loc.Piece{{Size: t.Size, Val: loc.Register(reg)}}, Writable: true,
	}}
}

// Words is a variable in several registers of 8 bytes each.
func Words(name string, kind debuginfo.VarKind, t *types.Ctype, regs ...int) *debuginfo.Var {
	v := &debuginfo.Var{Name: name, Kind: kind, Type: t, Place: loc.Place{Type: t, Writable: true}}
	for i, r := range regs {
		v.Place.Pieces = append(v.Place.Pieces, loc.Piece{Off: int64(i) * 8, Size: 8, Val: loc.Register(r)})
	}
	return v
}

// Mem is a variable in memory, off bytes from a register.
func Mem(name string, kind debuginfo.VarKind, t *types.Ctype, reg int, off int64) *debuginfo.Var {
	return &debuginfo.Var{Name: name, Kind: kind, Type: t, Place: loc.Place{
		Type: t, InMemory: true, Addr: loc.Register(reg).Plus(off), Writable: true,
	}}
}

// Path is File.
func (m *Image) Path() string { return m.File }

// BuildID is made of the path.
func (m *Image) BuildID() string { return "fake-" + m.File }

// Machine is the default.
func (m *Image) Machine() *machine.Machine { return machine.Default }

// Lang is Tongue.
func (m *Image) Lang() debuginfo.Lang { return m.Tongue }

// HasTypes is the absence of Stripped.
func (m *Image) HasTypes() bool { return m.Stripped == "" }

// NoTypes is Stripped.
func (m *Image) NoTypes() string { return m.Stripped }

// Funcs matches names by filepath.Match.
func (m *Image) Funcs(pattern string) ([]*debuginfo.Func, error) {
	var out []*debuginfo.Func
	for _, f := range m.List {
		if ok, _ := filepath.Match(pattern, f.Name); ok || f.Name == pattern {
			out = append(out, &f.Func)
		}
	}
	if len(out) == 0 {
		return nil, &debuginfo.NotFoundError{What: "function", Name: pattern, Near: m.NearNames(pattern)}
	}
	return out, nil
}

// FuncAt finds the function around pc.
func (m *Image) FuncAt(pc uint64) *debuginfo.Func {
	for _, f := range m.List {
		if pc >= f.Entry && pc < f.End {
			return &f.Func
		}
	}
	return nil
}

// NearNames gives the functions that share the first three letters.
func (m *Image) NearNames(name string) []string {
	var out []string
	for _, f := range m.List {
		if len(name) >= 3 && strings.HasPrefix(f.Name, name[:3]) && f.Name != name {
			out = append(out, f.Name)
		}
	}
	return out
}

// Inlined matches the names of Inlines.
func (m *Image) Inlined(pattern string) ([]*debuginfo.InlineSite, error) {
	var out []*debuginfo.InlineSite
	for _, in := range m.Inlines {
		if ok, _ := filepath.Match(pattern, in.Func.Name); ok {
			out = append(out, in)
		}
	}
	return out, nil
}

func (m *Image) fn(f *debuginfo.Func) *Func {
	for _, x := range m.List {
		if &x.Func == f {
			return x
		}
	}
	return nil
}

// Frame gives a frame address: what the stack pointer was before the call.
func Frame() loc.Prog {
	cfa, _ := debuginfo.Called(machine.Default, false)
	return cfa
}

// EntrySite is at Push.
func (m *Image) EntrySite(f *debuginfo.Func) (debuginfo.Site, error) {
	x := m.fn(f)
	if x.EntryErr != nil {
		return debuginfo.Site{}, x.EntryErr
	}
	pc := x.Push
	if pc == 0 {
		pc = f.Entry
	}
	return debuginfo.Site{PC: pc, Kind: debuginfo.AtEntry, Func: f, File: f.File, Line: f.Line, CFA: Frame(),
		Insn: debuginfo.InsnPush}, nil
}

// ReturnSites are Rets.
func (m *Image) ReturnSites(f *debuginfo.Func) ([]debuginfo.Site, error) {
	x := m.fn(f)
	out := append([]debuginfo.Site(nil), x.Rets...)
	for i := range out {
		out[i].Func, out[i].CFA = f, Frame()
	}
	return out, x.RetErr
}

// LineSites are Lines with the line asked for.
func (m *Image) LineSites(q debuginfo.LineQuery) ([]debuginfo.Site, error) {
	var out []debuginfo.Site
	for _, f := range m.List {
		if ok, _ := filepath.Match(q.Func, f.Name); !ok {
			continue
		}
		for _, s := range f.Lines {
			if s.Line == q.Line || q.All || q.To != 0 && s.Line >= q.Line && s.Line <= q.To {
				s.Kind, s.Func, s.CFA, s.File = debuginfo.AtLine, &f.Func, Frame(), f.File
				out = append(out, s)
			}
		}
	}
	if len(out) == 0 {
		return nil, &debuginfo.NotFoundError{What: "line", Name: fmt.Sprintf("%s:%d", q.File, q.Line)}
	}
	return out, nil
}

// SiteAt knows the sites of Lines only.
func (m *Image) SiteAt(pc uint64) (debuginfo.Site, error) {
	for _, f := range m.List {
		for _, s := range f.Lines {
			if s.PC == pc {
				s.Kind, s.Func, s.CFA, s.File = debuginfo.AtLine, &f.Func, Frame(), f.File
				return s, nil
			}
		}
	}
	return debuginfo.Site{}, fmt.Errorf("no instruction begins at 0x%x", pc)
}

// Vars lists what the site's kind has.
func (m *Image) Vars(s debuginfo.Site) ([]*debuginfo.Var, error) {
	f := m.fn(s.Func)
	if f == nil {
		return nil, nil
	}
	switch s.Kind {
	case debuginfo.AtEntry, debuginfo.AtInline:
		return f.Params, nil
	case debuginfo.AtLine:
		return append(append([]*debuginfo.Var(nil), f.Params...), f.Locals...), nil
	}
	return f.Res, nil
}

// Var finds a variable; at returns parameters are not live.
func (m *Image) Var(s debuginfo.Site, name string) (*debuginfo.Var, error) {
	vs, _ := m.Vars(s)
	var names []string
	for _, v := range vs {
		if v.Name == name {
			return v, v.Err
		}
		names = append(names, v.Name)
	}
	if f := m.fn(s.Func); f != nil && s.Kind != debuginfo.AtEntry {
		for _, v := range f.Params {
			if v.Name == name {
				return nil, &debuginfo.NotLiveError{Name: name, PC: s.PC, Reason: "the function returns here"}
			}
		}
	}
	sort.Strings(names)
	var near []string
	for _, n := range names {
		if len(n) > 0 && len(name) > 0 && n[0] == name[0] {
			near = append(near, n)
		}
	}
	return nil, &debuginfo.NotFoundError{What: "variable", Name: name, Near: near}
}

// Results are Res.
func (m *Image) Results(s debuginfo.Site) ([]*debuginfo.Var, error) { return m.fn(s.Func).Res, nil }

// Global looks in Globals.
func (m *Image) Global(name string) (*debuginfo.Var, error) {
	if v := m.Globals[name]; v != nil {
		return v, nil
	}
	return nil, &debuginfo.NotFoundError{What: "variable", Name: name}
}

// Type looks in Types.
func (m *Image) Type(name string) (*types.Ctype, error) {
	if t := m.Types[name]; t != nil {
		return t, nil
	}
	return nil, &debuginfo.NotFoundError{What: "type", Name: name}
}

// Goroutine is G.
func (m *Image) Goroutine(debuginfo.Site) *debuginfo.Goroutine { return m.G }

// FileOffset takes 0x400000 off.
func (m *Image) FileOffset(pc uint64) (uint64, error) {
	if pc < 0x400000 {
		return 0, fmt.Errorf("address 0x%x is in no segment", pc)
	}
	return pc - 0x400000, nil
}

// Lookup knows nothing.
func (m *Image) Lookup(uint64) []debuginfo.Frame { return nil }

// LoadBase is 0x400000.
func (m *Image) LoadBase() uint64 { return 0x400000 }

// Close does nothing.
func (m *Image) Close() error { return nil }
