package host

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/host/symbols"
	"github.com/gostap/gostap/runtime/wire"
)

// hosted runs the handlers that belong on the host, in the interpreter, over the
// session's store.
type hosted struct {
	c       Config
	out     *output
	session backend.Session
	// exited: a handler that ran here ended the session; over: so did one that was deferred.
	exited, over bool
	m            *interp.Machine
	ctx          hostContext
	bodies       map[int]int    // capture -> body of the machine
	printed      map[int][]bool // of the values of a capture: onlyPrinted
	args         []interp.Val
	skips        [ir.NumCauses]uint64
	times        []backend.ProbeTime // by probe; nil if nobody wants them
	// drain passes on what the session has said.
	drain func() error
}

func newHosted(c Config, out *output) (*hosted, error) {
	h := &hosted{c: c, out: out, session: c.Session, bodies: map[int]int{}, printed: map[int][]bool{}}
	m, err := interp.New(c.Program, c.Session.Store(), h)
	if err != nil {
		return nil, err
	}
	h.m = m
	h.ctx.System, h.ctx.SwitchFile = h.system, h.switchFile
	h.ctx.Name = c.Name
	h.ctx.syms, h.ctx.kept = out.syms, out.keptText
	if k, ok := c.Session.(interp.Peeker); ok && k.Peeks() {
		h.ctx.Kernel = k
	}
	if c.Target != nil {
		h.ctx.Target = c.Target.Pid
		h.out.target = uint32(c.Target.Pid)
	}
	for i := range c.Session.Schema().Captures {
		body := c.Session.Deferred(i)
		if body == nil {
			return nil, fmt.Errorf("deferred handler %d has no body", i)
		}
		var long []ir.Reg
		h.printed[i], long = onlyPrinted(body, c.Session.Schema().Captures[i].Faults)
		if h.bodies[i], err = m.AddBody(unbounded(body, long)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// onlyPrinted tells of each value that a handler's body is given whether it does nothing but print it: such texts
// may be longer than strings are. regs are the registers that hold those.
func onlyPrinted(f *ir.Func, faults bool) (out []bool, regs []ir.Reg) {
	of := map[ir.Reg]int{} // registers that hold a value, by its index
	step := 1
	if faults {
		step = 2
	}
	for i := 0; i < len(f.Params); i += step {
		of[f.Params[i]] = len(out)
		out = append(out, true)
	}
	use := func(v ir.Val) {
		if n, ok := of[v.Reg]; ok && v.IsReg() {
			out[n] = false
		}
	}
	for again := true; again; { // copies of copies
		again = false
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if in := &b.Instrs[i]; in.Op == ir.OpMov && in.Args[0].IsReg() {
					n, ok := of[in.Args[0].Reg]
					if _, known := of[in.Dst]; ok && !known {
						of[in.Dst], again = n, true
					}
				}
			}
		}
	}
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			if in := &b.Instrs[i]; in.Op != ir.OpMov && in.Op != ir.OpPrint {
				for _, v := range in.Args {
					use(v)
				}
			}
		}
		for _, v := range append([]ir.Val{b.Term.Cond}, b.Term.Args...) {
			use(v)
		}
	}
	for r, n := range of {
		if out[n] && f.Regs[r].Type == types.String {
			regs = append(regs, r)
		}
	}
	return out, regs
}

// unbounded is f with registers that hold texts of any length.
func unbounded(f *ir.Func, regs []ir.Reg) *ir.Func {
	c := *f
	c.Regs = slices.Clone(f.Regs)
	for _, r := range regs {
		c.Regs[r].Cap = 1 << 20
	}
	return &c
}

// moment runs all handlers of one kind: begin, end or error.
func (h *hosted) moment(kind probe.Kind) error {
	for _, t := range byPriority(h.c.Program, kind) {
		if kind == probe.Begin && h.session.State() != wire.Running {
			return nil
		}
		if err := h.run(t.probe, t.site); err != nil {
			return err
		}
	}
	return nil
}

// run runs the handler of one host probe, unless its condition is false.
func (h *hosted) run(i int, site *probe.Site) error {
	if ok, err := h.armed(i); !ok || err != nil {
		return err
	}
	if r, ok := h.session.(backend.Runner); ok {
		n := slices.Index(h.c.Program.Probes[i].Sites, site)
		if ran, err := r.Run(i, n); ran || err != nil {
			if err != nil {
				return err
			}
			return h.drain()
		}
	}
	h.ctx.Where = site
	h.out.cpu = -1
	defer h.timed(i)()
	defer h.working()()
	defer h.pinned()()
	return h.ended(h.m.Run(i, &h.ctx))
}

// pinned keeps a handler that looks into the kernel on one thread, so that the current task stays the same and is the
// one that tid() names.
func (h *hosted) pinned() (release func()) {
	if h.ctx.Kernel == nil {
		return func() {}
	}
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// working keeps events until the handler is done, which may hold locks when it prints.
func (h *hosted) working() (done func()) {
	if h.out.event == nil {
		return func() {}
	}
	h.out.busy = true
	return func() {
		h.out.busy = false
		h.out.settle()
	}
}

// armed evaluates the condition of a probe.
func (h *hosted) armed(i int) (bool, error) {
	g := h.c.Program.Probes[i].Cond
	if g < 0 {
		return true, nil
	}
	v, _, err := h.session.Store().Get(g, nil)
	return v.Int != 0, err
}

// deferred runs the body of a handler whose kernel part sent the values. Hits behind one whose handler ended the
// session were sent before that was known; they do nothing, as hits in the kernel do then.
func (h *hosted) deferred(capture int, vals []wire.Value) error {
	if h.over {
		return nil
	}
	c := h.out.schema.Captures[capture]
	h.args = h.args[:0]
	for i := range vals {
		v := h.out.value(&vals[i])
		if !h.printed[capture][i] {
			v = h.out.short(v, &vals[i])
		}
		h.args = append(h.args, interp.Val{Int: v.Int, Str: string(append([]byte(nil), v.Str...))})
		if c.Faults {
			h.args = append(h.args, interp.Val{Int: vals[i].Fault})
		}
	}
	h.ctx.Where = nil
	defer h.timed(c.Probe)()
	defer h.working()()
	defer h.pinned()()
	was := h.session.State()
	err := h.ended(h.m.RunBody(h.bodies[capture], c.Probe, h.args, &h.ctx))
	h.over = was == wire.Running && h.session.State() != wire.Running && h.exited
	return err
}

func (h *hosted) ended(res interp.Result, err error) error {
	if err != nil {
		return err
	}
	if res.Skipped && int(res.Cause) < len(h.skips) {
		h.skips[res.Cause]++
	}
	if res.Errors > 0 {
		h.out.hostErrors += res.Errors
		if n, err := h.errors(); err != nil {
			return err
		} else if n > h.c.Program.Limits.MaxErrors {
			h.exited = true
			return h.session.SetState(wire.Failed)
		}
	}
	return nil
}

// errors counts the run-time errors of the session so far.
func (h *hosted) errors() (int, error) {
	c, err := h.session.Counters()
	return h.out.hostErrors + max(h.out.kernelErrors, int(c.Errors)), err
}

// Print implements interp.Output, as do the next ones.
func (h *hosted) Print(text []byte) { h.out.write(text) }

// PrintValues implements interp.Values.
func (h *hosted) PrintValues(format int, args []interp.Val) {
	o := h.out
	if o.event != nil {
		o.tell(o.printed(format, args, nil))
		return
	}
	f, vals := o.body(format, args)
	o.text = textfmt.Append(o.text[:0], f, vals)
	o.write(o.text)
}

// PrintHist does too.
func (h *hosted) PrintHist(global int, keys []interp.Val, a *interp.Agg, hist int, text []byte) {
	o := h.out
	if o.event == nil {
		o.write(text)
		return
	}
	for i := range keys {
		keys[i].Str = strings.Clone(keys[i].Str)
	}
	o.tell(&Event{Kind: EventText, Text: string(text), CPU: o.cpu,
		Hist: &Hist{Global: global, Keys: keys, Agg: a, Number: hist}})
}

func (h *hosted) Warn(text string) { h.out.warn(text) }

func (h *hosted) Log(text string) { h.out.write(append([]byte(text), '\n')) }

func (h *hosted) Error(f *textfmt.Fault) { h.out.fault(f) }

func (h *hosted) Exit() {
	h.exited = true
	if h.session.State() == wire.Running {
		if err := h.session.SetState(wire.Stopping); err != nil && h.out.failed == nil {
			h.out.failed = err
		}
	}
}

// system runs a command of the script. Its output comes after what was printed before.
func (h *hosted) system(command string) error {
	h.out.flush()
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stdout, cmd.Stderr = h.c.Stdout, h.c.Stderr
	if err := cmd.Run(); err != nil {
		if _, ok := err.(*exec.ExitError); !ok {
			return fmt.Errorf("system: %w", err)
		}
	}
	return nil
}

// switchFile is switch_file(). Output that goes to several files, one behind the other, has a method for it.
func (h *hosted) switchFile() error {
	h.out.flush()
	w, ok := h.c.Stdout.(interface{ Next() error })
	if !ok {
		return nil
	}
	if err := w.Next(); err != nil && h.out.failed == nil {
		h.out.failed = fmt.Errorf("write output: %w", err)
	}
	return nil
}

// hostContext adds to the interpreter's what needs symbols.
type hostContext struct {
	interp.HostContext
	syms *symbols.Table
	kept func(number int64, as wire.Lazy) string
}

// Intrinsic names addresses of the target, or of the process from which the script got them; the stack of a handler
// on the host is empty, since no program was stopped for it.
func (c *hostContext) Intrinsic(name string, args []interp.Val) (interp.Val, error) {
	f := intrinsic.Lookup(name)
	switch {
	case f == nil:
	case f.Text.Lazy.Kept():
		return interp.Val{Str: c.kept(args[0].Int, f.Text.Lazy)}, nil
	case f.Idle:
		return interp.Val{}, nil
	case f.Text.Kind == wire.Sym:
		pid := uint32(c.Target)
		if f.OfProcess { // that of a hit whose handler was deferred
			pid = uint32(args[1].Int)
		} else {
			pid = c.syms.Whose(uint64(args[0].Int), pid)
		}
		return interp.Val{Str: named(c.syms, f.Text.Lazy, pid, uint64(args[0].Int))}, nil
	}
	return c.HostContext.Intrinsic(name, args)
}
