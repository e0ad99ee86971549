package family

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
)

// How callees become sites, and what has to be on the stack for a hit to count.

// ways are the ways to a callee that is probed at at, nil for any. want computes the run-time address behind a call.
func (ch *chain) ways(g *callee, at debuginfo.Site, want func(ret uint64) loc.Prog) ([]probe.Way, error) {
	if ch.env.AllCallers {
		return nil, nil
	}
	links := slices.Clone(g.links)
	for _, in := range g.in {
		if !in.only {
			return nil, nil
		}
		links = append(links, in.up...)
	}
	fp, err := ch.calls.FramePointer(at.PC)
	if err != nil {
		fp = loc.Prog{}
	}
	var out []probe.Way
	var walk func(so probe.Way, of *debuginfo.Func, ret, sp, fp loc.Prog, links []link) error
	walk = func(so probe.Way, of *debuginfo.Func, ret, sp, fp loc.Prog, links []link) error {
		for _, l := range links {
			way := append(slices.Clone(so), probe.Caller{Return: ret, Want: want(l.call.Ret), Of: of})
			if !l.from.only {
				if out = append(out, way); len(out) > maxWays {
					return fmt.Errorf("more than %d ways lead to it", maxWays)
				}
				continue
			}
			s, err := ch.img.SiteAt(l.call.PC)
			if err != nil {
				return err
			}
			up, err := ch.calls.FramePointer(l.call.PC)
			if err != nil {
				up = loc.Prog{}
			}
			// At the call, the stack pointer is what it was before it: the canonical frame address of what is called.
			ret2, err := ch.rebase(s.Return, sp, fp)
			if err != nil {
				return fmt.Errorf("where %s, which calls it, returns to is not known: %w", l.from.fn.Name, err)
			}
			sp2, err := ch.rebase(s.CFA, sp, fp)
			if err != nil {
				return err
			}
			fp2, err := ch.rebase(up, sp, fp)
			if err != nil {
				fp2 = loc.Prog{}
			}
			if err := walk(way, l.from.fn, ret2, sp2, fp2, l.from.up); err != nil {
				return err
			}
		}
		return nil
	}
	if at.Return.Empty() {
		return nil, errors.New("where it returns to is not known")
	}
	of := at.Func
	if of != nil && at.PC == of.Entry && !ch.kernel || at.Kind == debuginfo.AfterRet {
		of = nil // at the first instruction probes come before the return probe's own work
	}
	if err := walk(nil, of, at.Return, at.CFA, fp, links); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, errors.New("no call leads to it")
	}
	return out, nil
}

// rebase makes a program over the registers of a caller one over those of the place that is probed: sp and fp compute
// the caller's stack and frame pointers there.
func (ch *chain) rebase(p, sp, fp loc.Prog) (loc.Prog, error) {
	m := ch.img.Machine()
	if p.Empty() {
		return p, errors.New("there is no call frame information")
	}
	var out loc.Prog
	at := make([]int, len(p.Steps))
	for i, s := range p.Steps {
		if s.Op == loc.Reg {
			q := sp
			if s.N == int64(m.FP) {
				q = fp
			} else if s.N != int64(m.SP) {
				return out, fmt.Errorf("its frame is told by register %d", s.N)
			}
			if q.Empty() {
				return out, errors.New("its frame is told by a register that is not kept")
			}
			base := len(out.Steps)
			for _, x := range q.Steps {
				x.A += base
				x.B += base
				out.Steps = append(out.Steps, x)
			}
		} else {
			if s.A < i {
				s.A = at[s.A]
			}
			if s.B < i {
				s.B = at[s.B]
			}
			out.Steps = append(out.Steps, s)
		}
		at[i] = len(out.Steps) - 1
	}
	return out, nil
}

// point gives the components of a resolved probe point: head is what comes before function(...).
func (g *callee) point(m *match, head []probe.Comp) []probe.Comp {
	out := append(slices.Clone(head),
		probe.Comp{Name: "function", Arg: text(place(g.root.Name, g.root.File, g.root.Line))})
	for _, n := range g.names {
		out = append(out, probe.Comp{Name: "callee", Arg: text(n)})
	}
	for _, c := range m.req.Comps {
		if c.Name == "call" || c.Name == "return" {
			out = append(out, c)
		}
	}
	return out
}

// before gives the components in front of function(...).
func before(comps []probe.Comp) []probe.Comp {
	return comps[:slices.IndexFunc(comps, func(c probe.Comp) bool { return c.Name == "function" })]
}

// leftCallees reports the callees that cannot be probed.
func (m *match) leftCallees(names []string, why error, some bool) {
	switch {
	case why == nil:
	case some:
		m.warnf("%s: left out %s: %v", m.req, diag.Few(names), why)
	default:
		m.errorf(nil, "%s: %v", diag.Few(names), why)
	}
}

// eachCallee adds the sites of all callees of ch to sites. It returns the names of those that have none, and why the
// first has none.
func (m *match) eachCallee(ch *chain, sites *[]*probe.Site, add func(*callee) error) (left []string, why error) {
	for _, g := range ch.found {
		if g.copy != nil && (m.has("call") || m.has("return")) {
			continue
		}
		n := len(*sites)
		if err := add(g); err != nil {
			*sites = (*sites)[:n]
			left = append(left, g.fn.Name)
			if why == nil {
				why = err
			}
		}
	}
	return left, why
}

// callees resolves process(...).function("f").callee("g") and its kin.
func (f *finder) callees() {
	ch := f.calleesOf(f.img, f.path, nil)
	if ch == nil {
		return
	}
	left, why := f.eachCallee(ch, &f.sites, func(g *callee) error { return f.callee(ch, g) })
	if why == nil && len(f.sites) == 0 {
		f.errorf(nil, "all that it calls is inlined").Hintf("leave out .call and .return")
	}
	f.leftCallees(left, why, len(f.sites) > 0)
}

func (f *finder) callee(ch *chain, g *callee) error {
	n := len(f.sites)
	f.seen = map[site]bool{} // a place may stand for calls from several functions
	if g.copy != nil {
		s := g.copy.Site
		s.Kind, s.Inline = debuginfo.AtInline, g.copy
		if err := f.add(probe.Uprobe, s, "function", g.fn.Name); err != nil {
			return err
		}
	} else if err := f.one(g.fn); err != nil {
		return err
	}
	for _, st := range f.sites[n:] {
		if !f.has("return") && g.copy == nil {
			f.first(st, g.fn)
		}
		at := st.At
		want := fromHere(ch, at.PC)
		if f.has("return") {
			// the program counter is elsewhere, and is another one where values of the entry are kept
			want = ch.calls.Address
		}
		var err error
		if st.Callers, err = ch.ways(g, at, want); err != nil {
			return err
		}
		st.Comps = g.point(f.match, before(st.Comps))
		st.Point = probe.Request{Comps: st.Comps}.String()
	}
	return nil
}

// fromHere computes the run-time address of a file address, where the instruction pointer is at pc.
func fromHere(ch *chain, pc uint64) func(uint64) loc.Prog {
	ip := loc.Register(ch.img.Machine().IP)
	return func(addr uint64) loc.Prog { return ip.Plus(int64(addr - pc)) }
}

// first moves the site of an entry from behind an endbr64 to the function's first instruction, where a return probe has
// not yet put its own address on the stack.
func (f *finder) first(st *probe.Site, fn *debuginfo.Func) {
	cfa, _ := debuginfo.Called(f.img.Machine(), false)
	if st.At.PC == fn.Entry || f.img.Lang() == debuginfo.Go || st.At.CFA.String() != cfa.String() {
		return
	}
	s, err := f.img.SiteAt(fn.Entry)
	if err != nil {
		return
	}
	if off, err := f.img.FileOffset(s.PC); err == nil {
		s.Kind, s.File, s.Line = st.At.Kind, st.At.File, st.At.Line
		st.At, st.Program.Offset = s, off
	}
}

// callees resolves kernel.function("f").callee("g") and its kin. The code is read from vmlinux, whose addresses are
// those before the kernel moved itself.
func (f *kfinder) callees(c *probe.Comp) {
	file, err := f.img.File()
	if err != nil {
		f.fromFile(c, err, "probe the called function and test the caller in the handler")
		return
	}
	ch := f.calleesOf(file, f.img.What(), f.img)
	if ch == nil {
		return
	}
	left, why := f.eachCallee(ch, &f.sites, func(g *callee) error { return f.callee(c, ch, g) })
	if f.diag.HasErrors() {
		return
	}
	if why == nil && len(f.sites) == 0 && len(f.black) == 0 {
		f.errorf(nil, "all that it calls is inlined").Hintf("leave out .call and .return")
	}
	f.leftCallees(left, why, len(f.sites) > 0)
}

func (f *kfinder) callee(c *probe.Comp, ch *chain, g *callee) error {
	n := len(f.sites)
	at := debuginfo.Site{Kind: debuginfo.AtEntry, PC: g.fn.Entry, Func: g.fn} // as the file has it
	if g.copy != nil {
		at = g.copy.Site
		at.Kind, at.Inline = debuginfo.AtInline, g.copy
	} else {
		at.CFA, at.Return = debuginfo.Called(ch.img.Machine(), true)
		if f.has("return") {
			at.Kind = debuginfo.AfterRet
		}
	}
	now, err := f.img.Running(at)
	if err != nil {
		return err
	}
	if g.copy != nil {
		now.Kind, now.Inline = at.Kind, at.Inline
		f.found(c, now, g.fn.Name)
	} else {
		wild := strings.ContainsAny(c.Arg.Str, "*?[") || f.has("callees") ||
			strings.ContainsAny(f.at("callee").Arg.Str, "*?[")
		f.one(c, now.Func, 0, !wild)
	}
	want := fromHere(ch, at.PC)
	if f.has("return") {
		if !ch.known {
			return errors.New("where the kernel is in memory is not known")
		}
		want = func(ret uint64) loc.Prog { return loc.Constant(int64(ret + ch.slide)) }
	}
	for _, st := range f.sites[n:] {
		if st.Callers, err = ch.ways(g, at, want); err != nil {
			return err
		}
		for _, w := range st.Callers {
			for i := range w {
				w[i].Return = kernelLoads(w[i].Return)
				if w[i].Of != nil {
					w[i].Of = f.running(w[i].Of)
				}
				if st.Kind.InKernel() && st.Kind.Trampoline() {
					w[i].Return = loc.Prog{}
				}
			}
		}
		st.Comps = g.point(f.match, before(st.Comps))
		st.Point = probe.Request{Comps: st.Comps}.String()
	}
	return nil
}

// running is a function of vmlinux as the running kernel has it, fn itself if that is not known.
func (f *kfinder) running(fn *debuginfo.Func) *debuginfo.Func {
	if s, err := f.img.Running(debuginfo.Site{PC: fn.Entry, Func: fn}); err == nil {
		return s.Func
	}
	return fn
}

// kernelLoads is p with loads of the kernel's memory.
func kernelLoads(p loc.Prog) loc.Prog {
	q := loc.Prog{Steps: slices.Clone(p.Steps)}
	for i := range q.Steps {
		q.Steps[i].Kernel = q.Steps[i].Op == loc.Deref
	}
	return q
}
