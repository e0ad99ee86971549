package facts

import (
	"cmp"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// Settle looks up what p wants to know of the kernel that it will run in, so that no ir.OpOffset is left. resolve
// finds what one stands for; release names the kernel. Same: it is the very kernel that p was compiled for, so that
// what is not looked up in others holds.
func Settle(p *ir.Program, release string, same bool, resolve func(what string) (int64, error)) diag.List {
	var ds diag.List
	found := map[string]int64{}
	failed := map[string]bool{}
	fn := func(f *ir.Func) {
		known := map[ir.Reg]int64{}
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				in := &b.Instrs[i]
				if in.Op != ir.OpOffset {
					continue
				}
				n, ok := found[in.Name]
				if same && strings.HasPrefix(in.Name, only) {
					n, ok = in.N, true
				}
				if !ok && !failed[in.Name] {
					var err error
					if n, err = resolve(in.Name); err != nil {
						failed[in.Name] = true
						ds.Errorf(diag.Load, Code, source.At(cmp.Or(in.Via, in.Pos)), "not in the kernel %s: %v",
							release, err).Hintf("make the plan on a machine with that kernel")
					}
					found[in.Name] = n
				}
				known[in.Dst] = n
				in.Op, in.Args, in.N, in.Name = ir.OpMov, []ir.Val{ir.I(n)}, 0, ""
			}
		}
		if len(known) > 0 {
			replace(f, known)
		}
	}
	for _, f := range p.Funcs {
		fn(f)
	}
	for _, pr := range p.Probes {
		fn(pr.Handler)
	}
	return ds
}

// replace puts numbers in the place of registers that have them, where nothing else is ever in those.
func replace(f *ir.Func, known map[ir.Reg]int64) {
	set := map[ir.Reg]int{}
	for _, r := range f.Params {
		set[r]++
	}
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			set[b.Instrs[i].Dst]++
		}
	}
	for r := range known {
		if set[r] != 1 {
			delete(known, r)
		}
	}
	for _, b := range f.Blocks {
		kept := b.Instrs[:0]
		for _, in := range b.Instrs {
			if _, gone := known[in.Dst]; gone && in.Dst != ir.NoReg {
				continue
			}
			for k, a := range in.Args {
				if n, ok := known[a.Reg]; ok && a.IsReg() {
					in.Args[k] = ir.I(n)
				}
			}
			kept = append(kept, in)
		}
		b.Instrs = kept
		if n, ok := known[b.Term.Cond.Reg]; ok && b.Term.Cond.IsReg() {
			b.Term.Cond = ir.I(n)
		}
		for k, a := range b.Term.Args {
			if n, ok := known[a.Reg]; ok && a.IsReg() {
				b.Term.Args[k] = ir.I(n)
			}
		}
	}
}
