package interp

import (
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// Output takes what handlers say.
type Output interface {
	// Print writes text as it is. The slice is valid during the call only.
	Print(text []byte)
	// Warn is warn(msg), Log is log(msg), without the "WARNING: " and newline that they get.
	Warn(text string)
	Log(text string)
	// Error reports a run-time error that was not caught. Counting them against MAXERRORS is for the caller.
	Error(f *textfmt.Fault)
	// Exit is exit(): the session is to stop; the handler goes on.
	Exit()
}

// Values is implemented by an Output that takes what is printed as it was written in place of its text.
type Values interface {
	// PrintValues is given the number of the format and its arguments, which are valid during the call only.
	PrintValues(format int, args []Val)
	// PrintHist is given a histogram that is printed: the global, the keys of the element, nil where several are put
	// together, what it is of, the number of the histogram, and its text.
	PrintHist(global int, keys []Val, a *Agg, hist int, text []byte)
}

// Machine runs the handlers of one program. It is for one goroutine; several Machines may share
// a Store that allows it.
type Machine struct {
	p      *ir.Program
	store  Store
	out    Output
	values Values // out, if it is that too
	probes []*fn
	funcs  map[string]*fn
	bodies []*fn
	maxStr int
	nest   int

	// State of the run.
	block  [64]byte // of user_block
	ctx    Context
	attrs  Attrs
	capt   Captured
	probe  int
	left   int64 // of the action budget
	held   int   // lock class, -1 none
	view   *view // in place of the lock; store is it
	errs   int
	last   lastMatch
	spec   speculations
	frames []frame
	ints   []int64
	strs   []string
	iters  []iter

	// Scratch, kept to save allocations.
	key  Key
	vals []Val
	buf  []byte
	mem  []byte
	word [8]byte
}

// frame is one activation of a function.
type frame struct {
	f                *fn
	call             *inst // what called it, nil for the handler
	pc               int32 // where the caller goes on
	ints, strs, iter int   // where its slots begin
	pending          *textfmt.Fault
}

// Result says how a run ended.
type Result struct {
	// Skipped: the hit does not count, because of Cause.
	Skipped bool
	Cause   ir.Cause
	// Done: the handler came to its end.
	Done bool
	// Errors is the number of errors that were not caught (0 or 1, more with merged probes).
	Errors int
}

// errAbort ends the handler from abort().
var errAbort = errors.New("abort")

// New makes a Machine for p, which must verify.
func New(p *ir.Program, store Store, out Output) (*Machine, error) {
	if err := ir.Verify(p); err != nil {
		return nil, fmt.Errorf("interp: %w", err)
	}
	m := &Machine{p: p, store: store, out: out, maxStr: p.Limits.MaxString - 1}
	m.values, _ = out.(Values)
	m.funcs = make(map[string]*fn, len(p.Funcs))
	for _, f := range p.Funcs {
		m.funcs[f.Name] = &fn{}
	}
	for _, f := range p.Funcs {
		m.decode(m.funcs, m.funcs[f.Name], f)
	}
	for _, pr := range p.Probes {
		h := &fn{}
		m.decode(m.funcs, h, pr.Handler)
		h.plan(p, pr.Handler)
		m.probes = append(m.probes, h)
	}
	m.nest = p.Nesting()
	return m, nil
}

// Run runs the handler of Program.Probes[probe], for a hit at the place that ctx knows. An error means
// that the store is broken; errors of the script go to the Output. The probe's Cond is not looked at.
func (m *Machine) Run(probe int, ctx Context) (Result, error) {
	if probe < 0 || probe >= len(m.probes) {
		return Result{}, fmt.Errorf("interp: no probe %d", probe)
	}
	return m.run(m.probes[probe], probe, nil, ctx)
}

// AddBody takes in a handler with parameters that is not a probe of the program: the part of a handler
// that the host runs, with values that were read at the probed place. It gives the number for RunBody.
func (m *Machine) AddBody(f *ir.Func) (int, error) {
	h := &fn{}
	m.decode(m.funcs, h, f)
	h.plan(m.p, f)
	m.bodies = append(m.bodies, h)
	return len(m.bodies) - 1, nil
}

// RunBody runs a body of AddBody for a hit of Program.Probes[probe], with its parameters' values.
func (m *Machine) RunBody(body, probe int, args []Val, ctx Context) (Result, error) {
	if body < 0 || body >= len(m.bodies) || probe < 0 || probe >= len(m.probes) {
		return Result{}, fmt.Errorf("interp: no body %d of probe %d", body, probe)
	}
	if n := len(m.bodies[body].params); n != len(args) {
		return Result{}, fmt.Errorf("interp: body %d takes %d values, not %d", body, n, len(args))
	}
	return m.run(m.bodies[body], probe, args, ctx)
}

func (m *Machine) run(h *fn, probe int, args []Val, ctx Context) (Result, error) {
	m.ctx, m.probe, m.held, m.errs = ctx, probe, -1, 0
	m.attrs, _ = ctx.(Attrs)
	m.capt, _ = ctx.(Captured)
	m.last = lastMatch{}
	m.left = int64(m.p.Limits.MaxAction)
	site := ctx.Site()
	if sites := m.p.Probes[probe].Sites; site == nil && len(sites) > 0 {
		site = sites[0]
	}
	if site != nil && site.Kind.MayWait() {
		m.left = int64(m.p.Limits.MaxActionInt)
	}
	res, err := m.exec(h, args)
	if m.held >= 0 {
		m.store.Unlock(m.held)
	}
	if m.view != nil {
		if verr := m.leaveView(); err == nil {
			err = verr
		}
	}
	clear(m.iters) // lets go of the elements
	m.iters, m.frames = m.iters[:0], m.frames[:0]
	m.ctx, m.attrs, m.capt = nil, nil, nil
	res.Errors = m.errs
	return res, err
}

// push begins an activation of f.
func (m *Machine) push(f *fn, call *inst, pc int32) {
	fr := frame{f: f, call: call, pc: pc, iter: len(m.iters)}
	if n := len(m.frames); n > 0 {
		top := &m.frames[n-1]
		fr.ints, fr.strs = top.ints+top.f.intSlots(), top.strs+top.f.strSlots()
	}
	if n := fr.ints + f.intSlots(); n > len(m.ints) {
		m.ints = append(m.ints, make([]int64, n-len(m.ints)+64)...)
	}
	if n := fr.strs + f.strSlots(); n > len(m.strs) {
		m.strs = append(m.strs, make([]string, n-len(m.strs)+32)...)
	}
	copy(m.ints[fr.ints+f.ints:], f.intConst)
	copy(m.strs[fr.strs+f.strs:], f.strConst)
	for range f.iters {
		m.iters = append(m.iters, iter{})
	}
	m.frames = append(m.frames, fr)
}

// pop ends the top activation and gives it.
func (m *Machine) pop() frame {
	fr := m.frames[len(m.frames)-1]
	m.frames = m.frames[:len(m.frames)-1]
	clear(m.iters[fr.iter:])
	m.iters = m.iters[:fr.iter]
	return fr
}
