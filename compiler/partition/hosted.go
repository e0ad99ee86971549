package partition

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// What a deferred handler does to globals on the host comes after what handlers in the kernel do that were hit in the
// meantime. A global that one of the host's parts and one that the kernel runs both use, and one of them changes, is
// therefore hosted: all handlers that are hit in the kernel use it on the host, where their parts run in the order of
// the hits. Counters and statistics that both only add to come out the same in any order.

// use is how code uses a global.
type use struct{ reads, adds, sets bool }

// conflicts reports whether it matters in which order a and b happen.
func (a use) conflicts(b use) bool {
	changes := func(u use) bool { return u.adds || u.sets }
	onlyAdds := func(u use) bool { return u.adds && !u.sets && !u.reads }
	if !changes(a) && !changes(b) || onlyAdds(a) && onlyAdds(b) {
		return false
	}
	used := func(u use) bool { return u.reads || changes(u) }
	return used(a) && used(b)
}

// usesOf adds how in uses a global, if it does.
func usesOf(in *ir.Instr, of map[int]use) {
	if !in.Op.OnGlobal() {
		return
	}
	u := of[in.Glob]
	switch in.Op {
	case ir.OpGAdd, ir.OpMAdd:
		u.adds = true
		u.reads = u.reads || in.Dst != ir.NoReg
	case ir.OpSAdd:
		u.adds = true
	case ir.OpGSet, ir.OpMSet, ir.OpMDel, ir.OpMClear:
		u.sets = true
	default:
		u.reads = true
	}
	of[in.Glob] = u
}

// draft is a probe's handler while it is decided who runs it.
type draft struct {
	whole
	err error
	// at is where the host's part begins, valid if why is not "".
	at point
	// host are the operations of the body that the kernel cannot do, once they were asked for.
	host map[*ir.Instr]string
}

// hostedGlobals finds the globals that only the host may use, and gives the handlers that use them a reason to be
// there. drafts are by probe, nil for those that are not hit in the kernel.
func hostedGlobals(p *ir.Program, drafts []*draft, o Options) {
	deferred := false
	for _, d := range drafts {
		deferred = deferred || d != nil && d.why != ""
	}
	if !deferred {
		return
	}
	hosted := map[int]string{} // with the name of a probe that needs it there
	for {
		host, kernel := map[int]use{}, map[int]use{}
		who := map[int]int{} // the first probe with a host's part that uses the global
		for i, d := range drafts {
			if d == nil || d.err != nil {
				continue
			}
			h, k := d.parts(p, o, hosted)
			for g, u := range h {
				host[g] = join(host[g], u)
				if _, ok := who[g]; !ok {
					who[g] = i
				}
			}
			for g, u := range k {
				kernel[g] = join(kernel[g], u)
			}
		}
		found := false
		for g, u := range host {
			if hosted[g] == "" && u.conflicts(kernel[g]) {
				hosted[g], found = p.Probes[who[g]].Name, true
			}
		}
		if !found {
			return
		}
		for _, d := range drafts {
			if d != nil && d.err == nil && d.why == "" {
				d.why, d.pos = usesHosted(p, d.whole, hosted)
			}
		}
	}
}

func join(a, b use) use { return use{a.reads || b.reads, a.adds || b.adds, a.sets || b.sets} }

// usesHosted finds the first use of a hosted global in w, in words, "" if there is none.
func usesHosted(p *ir.Program, w whole, hosted map[int]string) (string, source.Pos) {
	for _, f := range w.funcs() {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if in := &b.Instrs[i]; onHosted(in, hosted) {
					return fmt.Sprintf("the global %s, which the handler of %s uses on the host",
						p.Globals[in.Glob].Name, hosted[in.Glob]), in.Pos
				}
			}
		}
	}
	return "", 0
}

// onHosted reports whether in uses a hosted global.
func onHosted(in *ir.Instr, hosted map[int]string) bool {
	return in.Op.OnGlobal() && hosted[in.Glob] != ""
}

// parts tells how the host's part of d and the kernel's use globals, and notes where the host's begins.
func (d *draft) parts(p *ir.Program, o Options, hosted map[int]string) (host, kernel map[int]use) {
	host, kernel = map[int]use{}, map[int]use{}
	for _, f := range d.subs {
		of := kernel
		if d.why != "" {
			of = host
		}
		addUses(f, of)
	}
	if d.why == "" {
		addUses(d.body, kernel)
		return host, kernel
	}
	if d.host == nil {
		d.host = hostInstrs(p, d.body, o)
	}
	d.at = splitPoint(p, d.whole, o, d.host, hosted)
	before, behind := d.at.sides(d.body)
	for _, in := range before {
		usesOf(in, kernel)
	}
	for _, in := range behind {
		usesOf(in, host)
	}
	return host, kernel
}

func addUses(f *ir.Func, of map[int]use) {
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			usesOf(&b.Instrs[i], of)
		}
	}
}
