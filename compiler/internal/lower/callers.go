package lower

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// fromCallers ends the handler, as one that has nothing to do, where the probed place was not come to in one of the
// ways that its sites ask for, or a guard of theirs is 0; all of that is the same for all of them.
func (f *fn) fromCallers(sites []*probe.Site) {
	if len(sites) == 0 {
		return
	}
	for _, p := range sites[0].At.Guard {
		run, out := f.b.Block(), f.b.Block()
		f.b.Branch(f.b.Bin(ir.OpNe, f.reading().loc(p, nil), ir.I(0)), run, out)
		f.b.SetBlock(out)
		f.b.End()
		f.to(run)
	}
	if sites[0].Callers == nil {
		return
	}
	run, out := f.b.Block(), f.b.Block()
	shared := f.snapshot()
	f.ways(sites[0].Callers, 0, run, out)
	f.to(out)
	f.b.End()
	f.restore(shared) // what is known on one way is not on another
	f.to(run)
}

// replaced refuses return probes that put their own address in the place of one by which callers are told.
func (l *lowerer) replaced() {
	type place struct {
		img   debuginfo.Image
		entry uint64
	}
	returns := map[place]*elab.Probe{}
	for _, pr := range l.p.Probes {
		for _, s := range pr.Sites {
			if s.Kind.Trampoline() && s.At.Func != nil {
				returns[place{s.Image, s.At.Func.Entry}] = pr
			}
		}
	}
	if len(returns) == 0 {
		return
	}
	for _, pr := range l.p.Probes {
		for _, s := range pr.Sites {
			for _, w := range s.Callers {
				for _, c := range w {
					if c.Of == nil {
						continue
					}
					if other := returns[place{s.Image, c.Of.Entry}]; other != nil {
						l.ds.Errorf(diag.Semantic, CodePairing, pr.Req.Span, "who called %s cannot be told: a return "+
							"probe of this script takes the place of the address to which %s returns", s.Func,
							c.Of.Name).
							Note(other.Req.Span, "it is this one").Hintf(
							"trace the two in scripts of their own, one after the other")
						return
					}
				}
			}
		}
	}
}

// ways goes to run if one of ways, which agree in their first n calls, is the one on the stack, to out if none is.
func (f *fn) ways(ways []probe.Way, n int, run, out ir.BlockID) {
	if len(ways) == 0 {
		f.b.Jump(out)
		return
	}
	for _, w := range ways {
		if len(w) <= n {
			f.b.Jump(run) // all of it is there
			return
		}
	}
	c := ways[0][n]
	var same, others []probe.Way
	for _, w := range ways {
		if w[n].Want.String() == c.Want.String() && w[n].Return.String() == c.Return.String() {
			same = append(same, w)
		} else {
			others = append(others, w)
		}
	}
	yes, no := f.b.Block(), f.b.Block()
	f.b.Branch(f.b.Bin(ir.OpEq, f.returnAddress(c), f.reading().loc(c.Want, nil)), yes, no)
	shared := f.snapshot()
	f.to(yes)
	f.ways(same, n+1, run, out)
	f.restore(shared)
	f.to(no)
	f.ways(others, n, run, out)
}

// returnAddress is the address to which a call on the stack returns.
func (f *fn) returnAddress(c probe.Caller) ir.Val {
	if !c.Return.Empty() {
		return f.reading().loc(c.Return, nil)
	}
	r := f.b.Long("")
	f.b.Intr("addr", r)
	return ir.R(r)
}
