package partition

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/wire"
)

// Where says who runs a handler.
type Where uint8

// The places.
const (
	Kernel   Where = iota
	Host           // begin, end, error, timers: nothing is probed
	Deferred       // the kernel sends what is read at the probed place, the host runs the rest
)

// Handler is a probe's handler for some of its sites: those that one program can serve.
type Handler struct {
	Probe int
	Where Where
	// Sites are the ones that this program serves, IDs their indexes in the probe's Sites.
	Sites []*probe.Site
	IDs   []int
	// Body is what the kernel runs: all of the handler, or of a deferred one the reading. Subs are the recursive
	// functions that it calls.
	Body *ir.Func
	Subs map[string]*ir.Func
	// Capture describes the record of a deferred handler, Values what it carries, HostBody what the host
	// does with it (see plan.Plan.Deferred). Why says why it is deferred.
	Values   []Value
	Faults   bool
	HostBody *ir.Func
	Why      string
}

// Value is something that a deferred handler reads at the probed place.
type Value struct {
	Reg   ir.Reg // of Body
	Fault ir.Reg // of Body: 0 or the code of the error that reading raised; NoReg if it cannot fail
}

// Options say what the code generator can do.
type Options struct {
	// Translates reports whether an intrinsic can run in the kernel.
	Translates func(name string) bool
	// Full: the kernel runs loops over arrays, all statistics and all formats, and has files of the script's, as
	// modules do.
	Full bool
}

// Decide places every handler. Handlers for which it finds no place are diagnostics.
func Decide(_ context.Context, p *ir.Program, o Options) ([]*Handler, diag.List) {
	var ds diag.List
	var out []*Handler
	nest := sync.OnceValue(p.Nesting)
	drafts := make([]*draft, len(p.Probes))
	groups, onHost := make([][]siteGroup, len(p.Probes)), make([]bool, len(p.Probes))
	for i, pr := range p.Probes {
		if groups[i], onHost[i] = group(pr, o); len(groups[i]) > 0 {
			drafts[i] = &draft{}
			drafts[i].whole, drafts[i].err = wholeOf(p, pr.Handler, o, nest)
		}
	}
	hostedGlobals(p, drafts, o)
	for i, pr := range p.Probes {
		if onHost[i] {
			out = append(out, &Handler{Probe: i, Where: Host})
		}
		d := drafts[i]
		if d == nil {
			continue
		}
		if d.err != nil {
			d := ds.Errorf(diag.Build, "bpf-size", source.At(pr.Pos), "%v", d.err)
			if errors.Is(drafts[i].err, ErrTooLarge) {
				d.Hintf("the kernel-module back end has no such limit: --runtime=kernel")
			}
			continue
		}
		for _, g := range groups[i] {
			h := &Handler{Probe: i, Where: Kernel, Sites: g.sites, IDs: g.ids, Body: d.body, Subs: d.subs}
			if d.why != "" {
				h.Where, h.Why = Deferred, d.why
				if !stays(p, p.Probes[i], d.whole, &ds) || !d.capture(p, h, o, &ds) {
					continue
				}
			}
			out = append(out, h)
		}
	}
	return out, ds
}

// Deferrals decides about a back end that runs what Options.Full says, without limits on size: by probe, nil for one
// whose handler runs in the kernel as it is, else the Deferred one for all sites that fire there. Handlers that can be
// neither are diagnostics; bad says of which probes.
func Deferrals(p *ir.Program, o Options) (out []*Handler, bad []bool, ds diag.List) {
	out, bad = make([]*Handler, len(p.Probes)), make([]bool, len(p.Probes))
	if !slices.ContainsFunc(p.Probes, func(pr *ir.Probe) bool { return mayDefer(p, pr.Handler, o) }) {
		return out, bad, nil
	}
	drafts := make([]*draft, len(p.Probes))
	nest := sync.OnceValue(p.Nesting)
	for i, pr := range p.Probes {
		if slices.ContainsFunc(pr.Sites, func(s *probe.Site) bool { return !s.Kind.OnHost() }) {
			drafts[i] = &draft{}
			drafts[i].whole, drafts[i].err = wholeOf(p, pr.Handler, o, nest)
		}
	}
	hostedGlobals(p, drafts, o)
	for i, d := range drafts {
		if d == nil || d.err != nil || d.why == "" {
			continue
		}
		h := &Handler{Probe: i, Where: Deferred, Why: d.why}
		for k, s := range p.Probes[i].Sites {
			if !s.Kind.OnHost() {
				h.Sites, h.IDs = append(h.Sites, s), append(h.IDs, k)
			}
		}
		if !stays(p, p.Probes[i], d.whole, &ds) || !d.capture(p, h, o, &ds) {
			bad[i] = true
			continue
		}
		out[i] = h
	}
	return out, bad, ds
}

// mayDefer looks at a handler and what it calls, before anything is inlined.
func mayDefer(p *ir.Program, f *ir.Func, o Options) bool {
	for fn := range p.Reached(f) {
		if why, _, _ := hostOnly(p, fn, o); why != "" {
			return true
		}
	}
	return false
}

// calls reports whether f calls a function.
func calls(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			if b.Instrs[i].Op == ir.OpCall {
				return true
			}
		}
	}
	return false
}

// whole is a handler with its calls inlined.
type whole struct {
	body *ir.Func
	subs map[string]*ir.Func // the recursive functions that it calls
	// why is the first operation that the kernel cannot do, in words, and pos where that is; "" for none.
	why      string
	pos, via source.Pos
}

// funcs are the body and the recursive functions, in a fixed order.
func (w whole) funcs() []*ir.Func {
	fns := []*ir.Func{w.body}
	for _, name := range slices.Sorted(maps.Keys(w.subs)) {
		fns = append(fns, w.subs[name])
	}
	return fns
}

// wholeOf inlines the calls of f. nest is asked for where there are any, since it takes a look at the whole program.
func wholeOf(p *ir.Program, f *ir.Func, o Options, nest func() int) (w whole, err error) {
	depth := 0
	if calls(f) {
		depth = nest()
	}
	if w.body, err = Inline(p, f, depth); err != nil {
		return w, err
	}
	if w.subs, err = Subs(p, w.body, depth); err != nil {
		return w, err
	}
	w.why, w.pos, w.via = hostOnly(p, w.body, o)
	for _, name := range slices.Sorted(maps.Keys(w.subs)) {
		if w.why == "" {
			w.why, w.pos, w.via = hostOnly(p, w.subs[name], o)
		}
	}
	return w, nil
}

type siteGroup struct {
	sites []*probe.Site
	ids   []int
}

// group sorts a probe's sites by the kind of program that serves them and by the process that they are for,
// which the program looks at. host: some fire in the tracer.
func group(pr *ir.Probe, o Options) (groups []siteGroup, host bool) {
	type key struct {
		kind   probe.Kind
		pid    int
		target bool
		exe    string
		event  string
		inside bool
	}
	at := map[key]int{}
	for i, s := range pr.Sites {
		if s.Kind.OnHost() || !o.Full && s.Kind.Served() {
			host = true
			continue
		}
		k := key{s.Kind, s.Program.PID, s.Program.Target, s.Program.Exe, s.Event, s.Kind.InKernel() &&
			!s.Kind.Returns() && !WholeFunc(s)}
		if !s.Kind.InUser() {
			k.event += "\x00" + s.Program.Path // such programs find out by themselves which file it is about
		}
		n, ok := at[k]
		if !ok {
			n = len(groups)
			at[k] = n
			groups = append(groups, siteGroup{})
		}
		groups[n].sites = append(groups[n].sites, s)
		groups[n].ids = append(groups[n].ids, i)
	}
	return groups, host
}

// WholeFunc reports whether a kernel probe is at a function, at its first byte or its return, not at an instruction
// inside of one.
func WholeFunc(s *probe.Site) bool {
	if f := s.At.Func; f != nil {
		return s.At.PC == f.Entry
	}
	return s.Kernel.Offset == 0 && s.Kernel.Symbol != "_stext"
}

// hostOnly finds the first operation that the kernel cannot do, in words, "" if there is none.
func hostOnly(p *ir.Program, f *ir.Func, o Options) (why string, pos, via source.Pos) {
	printed := ir.PrintedOnly(f)
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			if why := needsHost(p, f, &b.Instrs[i], printed, o); why != "" {
				return why, b.Instrs[i].Pos, b.Instrs[i].Via
			}
		}
	}
	return "", 0, 0
}

// hostInstrs are the operations that the kernel cannot do, with the reasons.
func hostInstrs(p *ir.Program, f *ir.Func, o Options) map[*ir.Instr]string {
	out := map[*ir.Instr]string{}
	printed := ir.PrintedOnly(f)
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			if why := needsHost(p, f, &b.Instrs[i], printed, o); why != "" {
				out[&b.Instrs[i]] = why
			}
		}
	}
	return out
}

// needsHost says why the kernel cannot do in, "" if it can.
func needsHost(p *ir.Program, f *ir.Func, in *ir.Instr, printed []bool, o Options) string {
	switch in.Op {
	case ir.OpIterOpen:
		if !o.Full {
			return "foreach"
		}
		if f.Recursive {
			return "foreach in a recursive function"
		}
	case ir.OpPrintHist, ir.OpSprintHist:
		return "the text of a histogram"
	case ir.OpSGet:
		if ir.Stat(in.N) == ir.StatVariance && !o.Full {
			return "@variance"
		}
		if hasStar(in.Args) && !o.Full {
			return "a statistic over a slice"
		}
	case ir.OpSprint:
		for _, c := range p.Formats[in.N].Pieces {
			if c.IsFraction() {
				return "the text of a fraction, which is used for more than printing"
			}
			if !o.Full && (c.Conv == 'b' || c.Conv == 'm' || c.Conv == 'M') {
				return fmt.Sprintf("sprintf with %%%c", c.Conv)
			}
		}
	case ir.OpIntr:
		fn := in.Builtin()
		switch {
		case fn.Matched:
			return in.Name + "(), what a regular expression has found"
		case fn.Where == intrinsic.HostOnly:
			return in.Name + "()"
		case fn.Where == intrinsic.PrintOnly:
			if fn.Const > 0 && in.Args[fn.Const-1].Kind != ir.ValStr {
				return in.Name + "() with a table that is no constant"
			}
			if in.Dst != ir.NoReg && !printed[in.Dst] {
				return fmt.Sprintf("the text of %s(), which is used for more than printing", in.Name)
			}
		case !o.Translates(in.Name) && fn.Does == intrinsic.Pure:
			return in.Name + "()"
		}
	}
	return ""
}

func hasStar(vs []ir.Val) bool {
	for _, v := range vs {
		if v.Kind == ir.ValStar {
			return true
		}
	}
	return false
}

// Record gives the form of the record of a deferred handler; args are the forms of its values.
func (h *Handler) Record(args []wire.Arg) wire.Capture {
	return wire.Capture{Probe: h.Probe, Args: args, Faults: h.Faults}
}
