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

// Use is how code uses a global: it reads it, adds to it without knowing what was there, or changes it otherwise.
type Use struct{ Reads, Adds, Sets bool }

// conflicts reports whether it matters in which order a and b happen.
func (a Use) conflicts(b Use) bool {
	changes := func(u Use) bool { return u.Adds || u.Sets }
	onlyAdds := func(u Use) bool { return u.Adds && !u.Sets && !u.Reads }
	if !changes(a) && !changes(b) || onlyAdds(a) && onlyAdds(b) {
		return false
	}
	used := func(u Use) bool { return u.Reads || changes(u) }
	return used(a) && used(b)
}

// UsesOf adds how in uses a global, if it does.
func UsesOf(in *ir.Instr, of map[int]Use) {
	if !in.Op.OnGlobal() {
		return
	}
	u := of[in.Glob]
	switch in.Op {
	case ir.OpGAdd, ir.OpMAdd:
		u.Adds = true
		u.Reads = u.Reads || in.Dst != ir.NoReg
	case ir.OpSAdd:
		u.Adds = true
	case ir.OpGSet, ir.OpMSet, ir.OpMDel, ir.OpMClear:
		u.Sets = true
	default:
		u.Reads = true
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
		host, kernel := map[int]Use{}, map[int]Use{}
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

func join(a, b Use) Use { return Use{a.Reads || b.Reads, a.Adds || b.Adds, a.Sets || b.Sets} }

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
func (d *draft) parts(p *ir.Program, o Options, hosted map[int]string) (host, kernel map[int]Use) {
	host, kernel = map[int]Use{}, map[int]Use{}
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
		UsesOf(in, kernel)
	}
	for _, in := range behind {
		UsesOf(in, host)
	}
	return host, kernel
}

func addUses(f *ir.Func, of map[int]Use) {
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			UsesOf(&b.Instrs[i], of)
		}
	}
}
