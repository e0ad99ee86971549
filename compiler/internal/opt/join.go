package opt

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// JoinProbes makes one probe of those at system calls whose handlers have become the same: of "probe syscall.* {
// n[name]++ }" one handler is left for nearly four hundred calls. The handlers may differ in where they stand in the
// source, as long as that cannot be seen (no error), and in how many statements the budget counts: the most counts for
// all. A probe is not joined with one before it if another probe between them shares a site with it, so handlers at one
// site keep their order. Cost: linear.
func JoinProbes(p *ir.Program) {
	type kind struct {
		probe int
		regs  []ir.Reg
	}
	first := map[string]kind{}
	last := map[siteKey]int{}
	kept := p.Probes[:0]
	for _, pr := range p.Probes {
		at := -1
		key := ""
		var regs []ir.Reg
		if joinable(pr) {
			key, regs = shape(p, pr)
			if k, ok := first[key]; ok && !between(pr, last, k.probe) {
				at = k.probe
			}
		}
		if at < 0 {
			at = len(kept)
			kept = append(kept, pr)
			if key != "" {
				first[key] = kind{at, regs}
			}
		} else {
			join(kept[at], pr, first[key].regs, regs)
		}
		for _, s := range pr.Sites {
			last[keyOf(s)] = at
		}
	}
	clear(p.Probes[len(kept):])
	p.Probes = kept
}

// NameSites writes the names of sites into the handlers of system calls that have but one, when joining is over. Cost:
// linear.
func NameSites(p *ir.Program) {
	for _, pr := range p.Probes {
		if joinable(pr) {
			foldFunc(p, pr.Handler, pr.Sites)
		}
	}
}

// joinable reports whether all sites are system calls, each with a number.
func joinable(pr *ir.Probe) bool {
	for _, s := range pr.Sites {
		if s.Kind.Class() != probe.Syscall || s.Syscall.Nr == probe.AnySyscall {
			return false
		}
	}
	return len(pr.Sites) > 0
}

// between reports whether a probe behind the i-th shares a site with pr.
func between(pr *ir.Probe, last map[siteKey]int, i int) bool {
	for _, s := range pr.Sites {
		if n, ok := last[keyOf(s)]; ok && n >= i {
			return true
		}
	}
	return false
}

// join adds b to a; as and bs are their registers, in pairs. Room for strings is made for the longer of two.
func join(a, b *ir.Probe, as, bs []ir.Reg) {
	for i, r := range as {
		to := &a.Handler.Regs[r].Cap
		*to = max(*to, b.Handler.Regs[bs[i]].Cap)
	}
	a.Sites = append(a.Sites[:len(a.Sites):len(a.Sites)], b.Sites...)
	if more := ", ..."; !strings.HasSuffix(a.Name, more) {
		a.Name += more
	}
	for i, blk := range b.Handler.Blocks {
		for j := range blk.Instrs {
			if in := &a.Handler.Blocks[i].Instrs[j]; in.Op == ir.OpBudget {
				in.N = max(in.N, blk.Instrs[j].N)
			}
		}
	}
}

// shape writes down what a probe does and for which kind of sites, with registers by order of appearance.
func shape(p *ir.Program, pr *ir.Probe) (string, []ir.Reg) {
	var order []ir.Reg
	s := pr.Sites[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d %t %q %q %d\n", s.Kind, s.Program.PID, s.Program.Target, s.Program.Path, s.Program.Exe,
		pr.Cond)
	f := pr.Handler
	num := make([]int, len(f.Regs))
	reg := func(r ir.Reg) {
		if r == ir.NoReg {
			b.WriteString("-")
			return
		}
		if num[r] == 0 {
			order = append(order, r)
			num[r] = len(order)
			fmt.Fprintf(&b, "%d:", f.Regs[r].Type)
		}
		fmt.Fprintf(&b, "r%d", num[r])
	}
	vals := func(vs []ir.Val) {
		for _, v := range vs {
			switch v.Kind {
			case ir.ValReg:
				reg(v.Reg)
			case ir.ValStr:
				fmt.Fprintf(&b, "%q", v.Str)
			default:
				fmt.Fprintf(&b, "%d/%d", v.Kind, v.Int)
			}
			b.WriteByte(' ')
		}
	}
	for _, blk := range f.Blocks {
		for i := range blk.Instrs {
			in := &blk.Instrs[i]
			fmt.Fprintf(&b, "%d ", in.Op)
			reg(in.Dst)
			b.WriteByte(' ')
			vals(in.Args)
			num := in.N
			if in.Op == ir.OpBudget {
				num = 0
			}
			fmt.Fprintf(&b, "g%d n%d %q %t%t i%d e%d", in.Glob, num, in.Name, in.Signed, in.Kernel, in.Iter, in.OnErr)
			if p.MayFail(in) {
				fmt.Fprintf(&b, " @%d", in.Pos)
			}
			b.WriteByte('\n')
		}
		t := &blk.Term
		fmt.Fprintf(&b, "t%d %d %d %d %d %d @%d ", t.Kind, t.Then, t.Else, t.Code, t.OnErr, t.Cause,
			map[bool]int64{true: int64(t.Pos)}[t.Kind == ir.TermFail])
		vals([]ir.Val{t.Cond})
		vals(t.Args)
		b.WriteByte('\n')
	}
	return b.String(), order
}
