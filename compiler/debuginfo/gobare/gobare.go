// Package gobare tells arguments, results and types of Go programs that have no DWARF, by what Go itself needs: where
// each argument lies and how large it is, for tracebacks, and the types of receivers, arguments and results of methods
// that can be called through an interface.
//
// In: a Program. Out: variables of its functions. Names there are none, so arguments go by position: $recv, $arg1,
// $arg2. The parts of argument k are $argk->w0, w1.
package gobare

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/goabi"
	"github.com/gostap/gostap/compiler/debuginfo/gotype"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/types"
)

// Program is a Go program as far as this package needs it. Functions go by their numbers in the table.
type Program interface {
	Machine() *machine.Machine
	Table() *pclntab.Table
	Path() string
	// NoTypes says why there is no DWARF.
	NoTypes() string
	Func(i int) *debuginfo.Func
	Code(i int) ([]byte, error)
	// IsMore recognises what makes the stack grow.
	IsMore(pc uint64) bool
	// Assembly: function i is written in it. Wrapper: the compiler made it for its own purposes.
	Assembly(i int) bool
	Wrapper(i int) bool
	// Registers: compiled code takes arguments in registers.
	Registers() bool
	// RunTimeTypes is nil where it is not known how those of the program's release lie.
	RunTimeTypes() *debuginfo.RunTimeTypes
	// AtEntry reports whether arguments are in place at a site, of which CFA computes the canonical frame address.
	AtEntry(s debuginfo.Site) bool
	CFA(i int, pc uint64) loc.Prog
}

// Teller tells what there is of one program.
type Teller struct {
	p    Program
	sigs map[int]*Signature
}

// New makes a Teller of p.
func New(p Program) *Teller { return &Teller{p: p, sigs: map[int]*Signature{}} }

// Signature is what is known of one function's arguments and results.
type Signature struct {
	Params, Results []Var
	// More says why there may be more arguments than Params, nil if there are none.
	More error
	// ResultsErr says why the results are not known.
	ResultsErr error
}

// Var is one argument or result; Err says why its place is not known.
type Var struct {
	Name string
	Type *types.Ctype
	Slot goabi.Slot
	Err  error
}

// Receiver is the name of a method's receiver.
const Receiver = "recv"

func bareErrorf(format string, args ...any) error {
	return &debuginfo.BareError{Reason: fmt.Sprintf(format, args...)}
}

// Vars lists the arguments and results of the function at s, with their places there.
func (t *Teller) Vars(s debuginfo.Site) ([]*debuginfo.Var, *Signature, error) {
	i := t.p.Table().Find(s.PC)
	switch {
	case i < 0:
		return nil, nil, &debuginfo.NotFoundError{What: "function", Name: fmt.Sprintf("%#x", s.PC)}
	case s.Inline != nil:
		return nil, nil, bareErrorf("only DWARF would tell where variables of inlined copies are")
	}
	sig := t.Signature(i)
	s.Func = t.p.Func(i)
	entry := t.p.AtEntry(s)
	cfa := t.p.CFA(i, s.PC)
	dead := func(name, format string, args ...any) error {
		return &debuginfo.NotLiveError{Name: name, PC: s.PC, Reason: fmt.Sprintf(format, args...)}
	}
	var out []*debuginfo.Var
	for _, p := range sig.Params {
		x := &debuginfo.Var{Name: p.Name, Kind: debuginfo.Param, Type: p.Type, Line: s.Func.Line, Err: p.Err}
		switch {
		case s.Kind == debuginfo.AtReturn || s.Kind == debuginfo.AtTail:
			x.Err = dead(p.Name, "the function has returned; @entry($%s) is its value at the call", p.Name)
		case p.Err != nil:
		case !entry:
			x.Err = dead(p.Name, "without DWARF it is known at the entry of the function only")
		case p.Slot.OnStack() && cfa.Empty():
			x.Err = dead(p.Name, "the frame is not known here")
		default:
			x.Place = p.Slot.Place(cfa)
		}
		out = append(out, x)
	}
	for n, r := range sig.Results {
		x := &debuginfo.Var{Name: fmt.Sprintf("~r%d", n), Kind: debuginfo.Result, Type: r.Type, Line: s.Func.Line}
		switch {
		case s.Kind == debuginfo.AtTail:
			x.Err = dead(x.Name, "the function ends in a jump to another one, which makes the result")
		case s.Kind != debuginfo.AtReturn:
			x.Err = dead(x.Name, "the function has not returned yet; use .return")
		case r.Slot.OnStack() && cfa.Empty():
			x.Err = dead(x.Name, "the frame is not known here")
		default:
			x.Place = r.Slot.Place(cfa)
		}
		out = append(out, x)
	}
	return out, sig, nil
}

// Var finds one argument or result by its name.
func (t *Teller) Var(s debuginfo.Site, name string) (*debuginfo.Var, error) {
	vars, sig, err := t.Vars(s)
	if err != nil {
		return nil, err
	}
	for _, x := range vars {
		if x.Name == name {
			return x, x.Err
		}
	}
	switch n, ok := strings.CutPrefix(name, "arg"); {
	case name == Receiver:
		return nil, bareErrorf("%s is no method", t.p.Func(t.p.Table().Find(s.PC)).Name)
	case ok && n != "" && strings.Trim(n, "0123456789") == "" && sig.More != nil:
		return nil, sig.More
	case ok && n != "" && strings.Trim(n, "0123456789") == "":
		return nil, bareErrorf("%s has no argument of that number", t.p.Func(t.p.Table().Find(s.PC)).Name)
	}
	return nil, bareErrorf("%s", t.p.NoTypes())
}

// Results are the results of the function at a return site.
func (t *Teller) Results(s debuginfo.Site) (out []*debuginfo.Var, err error) {
	vars, sig, err := t.Vars(s)
	if err != nil {
		return nil, err
	}
	if sig.ResultsErr != nil {
		return nil, sig.ResultsErr
	}
	for _, x := range vars {
		if x.Kind == debuginfo.Result {
			out = append(out, x)
		}
	}
	return out, nil
}

// Signature is what is known of function i. It is read once.
func (t *Teller) Signature(i int) *Signature {
	if s := t.sigs[i]; s != nil {
		return s
	}
	s := t.read(i)
	if len(t.sigs) >= 4096 {
		clear(t.sigs)
	}
	t.sigs[i] = s
	return s
}

func (t *Teller) read(i int) *Signature {
	f := t.p.Func(i)
	unknown := &Signature{ResultsErr: bareErrorf("only DWARF would tell the results of %s: it is no method that can "+
		"be called through an interface", f.Name)}
	nodes, all, ok := t.p.Table().ArgTree(i)
	name := t.p.Table().Name(i)
	switch {
	case t.p.Wrapper(i):
		unknown.More = bareErrorf("%s was made by the compiler, which tells nothing of its arguments", f.Name)
		return unknown
	case t.p.Assembly(i):
		if !ok || f.ABI != debuginfo.GoABI0 || runtimeAssembly(name) {
			unknown.More = bareErrorf("%s is written in assembly, and how it takes its arguments is not known", f.Name)
			return unknown
		}
	case !t.p.Registers():
		unknown.More = bareErrorf("Go tells where arguments are from Go 1.17 on")
		return unknown
	}
	m := t.method(i)
	regs, known := t.spills(i)
	if m.exact {
		if s := t.typed(i, m, regs, known); s != nil {
			return s
		}
	}
	s := unknown
	if !all {
		s.More = bareErrorf("Go's tables list some ten words of a function's arguments, and those of %s are more",
			f.Name)
	}
	if first, ok := goabi.Dictionary(name); strings.Contains(name, "[") {
		switch { // see pclntab.Args
		case !ok:
			s.More = bareErrorf("which arguments %s takes is not certain: Go's tables leave the first one of generic "+
				"code out", f.Name)
			return s
		case first == 1 && len(nodes) > 0: // the dictionary, behind the receiver
			nodes = nodes[1:]
			s.Params = append(s.Params, Var{Name: Receiver, Type: rawInteger(8),
				Err: bareErrorf("Go's tables leave the receiver of generic code out")})
		}
		m.is = false
	}
	at := t.placer(i, nodes, all, regs, known)
	for _, n := range nodes {
		v := Var{Name: "arg" + strconv.Itoa(len(s.Params)+1)}
		switch {
		case len(s.Params) == 0 && m.is:
			v.Name = Receiver
		case len(s.Params) > 0 && s.Params[0].Name == Receiver:
			v.Name = "arg" + strconv.Itoa(len(s.Params))
		}
		v.Type = rawType(&n)
		if v.Name == Receiver && m.recv != nil && shaped(&n, m.recv) {
			v.Type = m.recv
		}
		v.Slot, v.Err = at(&n, v.Type)
		v.Type = v.Slot.Type
		s.Params = append(s.Params, v)
	}
	return s
}

// typed makes a signature of the types that a method has; nil if that is not where the code has its arguments.
func (t *Teller) typed(i int, m method, regs []insn.Spill, known bool) *Signature {
	in := append([]*types.Ctype{m.recv}, m.in...)
	l, err := goabi.Assign(t.p.Machine(), t.p.Func(i).ABI, in, m.out)
	if err != nil {
		return nil
	}
	if known && !sameRegisters(t.p.Machine().Vector, l.Params, regs) || !t.sameWords(i, l.Params) {
		return nil
	}
	out := &Signature{}
	for n, typ := range in {
		v := Var{Name: Receiver, Type: typ, Slot: l.Params[n]}
		if n > 0 {
			v.Name = "arg" + strconv.Itoa(n)
		}
		out.Params = append(out.Params, v)
	}
	for n, typ := range m.out {
		out.Results = append(out.Results, Var{Type: typ, Slot: l.Results[n]})
	}
	return out
}

// sameRegisters reports whether a layout takes the registers that the code keeps, each with its size and place.
func sameRegisters(vector int, slots []goabi.Slot, regs []insn.Spill) bool {
	n := 0
	for _, s := range slots {
		for _, p := range s.Parts {
			reg := p.Reg
			if p.Vector != 0 {
				reg = vector + p.Vector - 1
			}
			if n >= len(regs) || regs[n].Reg != reg || regs[n].Size != p.Size || regs[n].Off-8 != s.Off+p.Off {
				return false
			}
			n++
		}
	}
	return n == len(regs)
}

// sameWords reports whether Go's tables have the words that are in slots.
func (t *Teller) sameWords(i int, slots []goabi.Slot) bool {
	want := goabi.Traced(slots)
	have, all, ok := t.p.Table().Args(i)
	if !ok || len(have) > len(want) || all && len(have) < len(want) {
		return false
	}
	for k, a := range have {
		if a.Off >= 0 && (a.Off != want[k][0] || a.Size != want[k][1]) {
			return false
		}
	}
	return true
}

// runtimeAssembly reports whether a function is of a package whose assembly may take arguments in registers: those of
// the runtime and beside it.
func runtimeAssembly(name string) bool {
	pkg, _, _ := pclntab.SplitMethod(name)
	first, _, _ := strings.Cut(pkg, "/")
	return first == "runtime" || first == "internal" || first == "reflect" || first == "syscall" || first == ""
}

// method is what the run-time types tell of a method.
type method struct {
	is      bool // it is one
	exact   bool // its function type is known
	recv    *types.Ctype
	in, out []*types.Ctype
}

// method finds function i among the methods of the program's run-time types.
func (t *Teller) method(i int) (m method) {
	pkg, recv, name := pclntab.SplitMethod(t.p.Table().Name(i))
	bare, pointer := strings.CutPrefix(recv, "(*")
	bare, closed := strings.CutSuffix(bare, ")")
	if recv == "" || pointer != closed || strings.ContainsAny(bare, ".()[") {
		return m
	}
	m.is = isMethod(pointer, name)
	rtt := t.p.RunTimeTypes()
	if rtt == nil {
		return m
	}
	full := string(pclntab.Unescape([]byte(pkg))) + "." + bare
	if pointer {
		full = "*" + full
	}
	var sure []uint64
	for _, addr := range rtt.Types.Named(full) {
		ms, err := rtt.Types.Methods(addr)
		if err != nil {
			continue
		}
		has, own := false, false
		for _, x := range ms {
			if x.Func == 0 {
				has = has || x.Name == name
				continue
			}
			j := t.p.Table().Find(t.p.Table().Text() + x.Code)
			if j >= 0 && t.p.Table().Entry(j) == t.p.Table().Text()+x.Code {
				p, r, _ := pclntab.SplitMethod(t.p.Table().Name(j))
				own = own || p == pkg && r == recv
			}
			if x.Name != name {
				continue
			}
			if has = true; j != i {
				continue
			}
			own, err := rtt.Types.At(addr)
			if err != nil {
				return m
			}
			in, out, err := rtt.Types.Signature(x.Func)
			return method{is: true, exact: err == nil, recv: own.Ctype, in: in, out: out}
		}
		if has && (own || declared(rtt.Types, addr)) {
			sure = append(sure, addr)
		}
	}
	if len(sure) == 1 {
		if own, err := rtt.Types.At(sure[0]); err == nil {
			m.is, m.recv = true, own.Ctype
		}
	}
	return m
}

// isMethod reports whether what stands behind a type in a function's name, or behind a pointer to one, names a method.
// Bodies of loops over functions and method values, which have a hyphen, take no receiver. Function literals of a
// package are named as methods of a type glob would be.
func isMethod(pointer bool, name string) bool {
	return pointer && !strings.Contains(name, "-") || !literalName(name)
}

// literalName reports whether what stands behind the last dot of a function's name is what the compiler calls function
// literals and functions init, and the bodies of loops over functions.
func literalName(s string) bool {
	s = strings.TrimRight(s, "0123456789")
	return s == "" || s == "func" || s == "gowrap" || s == "deferwrap" || strings.Contains(s, "-")
}

// declared reports whether a type with methods cannot be one that a function declares, which has the same name: such
// a type has methods of what it embeds only.
func declared(ts *gotype.Types, addr uint64) bool {
	t, err := ts.At(addr)
	if err != nil {
		return false
	}
	c := t.Ctype
	if c.Kind == types.Pointer {
		c = c.Elem()
	}
	if c == nil || c.Kind != types.Struct {
		return c != nil
	}
	for _, f := range c.Fields() {
		if f.Embedded {
			return false
		}
	}
	return true
}
