// Package stackflow finds where a program puts the numbers by which a session knows the stacks that it keeps.
//
// In: an ir.Program. Out: the columns of keys and the values of globals that can have such numbers.
package stackflow

import "github.com/gostap/gostap/compiler/ir"

// Flow says where stacks are.
type Flow struct {
	// Keys are the columns of keys of each global that has any; Values are the globals whose values can be stacks.
	Keys   map[int]map[int]bool
	Values map[int]bool
}

// Of follows stacks through registers of each function, its parameters and result, and globals, until nothing is new.
func Of(p *ir.Program) Flow {
	t := Flow{Keys: map[int]map[int]bool{}, Values: map[int]bool{}}
	regs := map[*ir.Func]map[ir.Reg]bool{}
	results := map[string]bool{}
	funcs := append([]*ir.Func{}, p.Funcs...)
	for _, pr := range p.Probes {
		funcs = append(funcs, pr.Handler)
	}
	for changed := true; changed; {
		changed = false
		key := func(g, column int) {
			if t.Keys[g] == nil {
				t.Keys[g] = map[int]bool{}
			}
			if !t.Keys[g][column] {
				t.Keys[g][column], changed = true, true
			}
		}
		for _, f := range funcs {
			if regs[f] == nil {
				regs[f] = map[ir.Reg]bool{}
			}
			of := regs[f]
			is := func(v ir.Val) bool { return v.IsReg() && of[v.Reg] }
			mark := func(r ir.Reg) {
				if r != ir.NoReg && !of[r] {
					of[r], changed = true, true
				}
			}
			for _, b := range f.Blocks {
				for i := range b.Instrs {
					in := &b.Instrs[i]
					keep := in.Op == ir.OpIntr && in.Builtin() != nil && in.Builtin().Keeps
					switch in.Op {
					case ir.OpMov:
						keep = is(in.Args[0])
					case ir.OpGGet, ir.OpMGet, ir.OpIterVal:
						keep = t.Values[in.Glob]
					case ir.OpIterKey:
						keep = t.Keys[in.Glob][int(in.N)]
					case ir.OpCall:
						keep = results[in.Name]
						if callee := p.Func(in.Name); callee != nil {
							for i, a := range in.Args {
								if is(a) && i < len(callee.Params) {
									if regs[callee] == nil {
										regs[callee] = map[ir.Reg]bool{}
									}
									if !regs[callee][callee.Params[i]] {
										regs[callee][callee.Params[i]], changed = true, true
									}
								}
							}
						}
					}
					if keep {
						mark(in.Dst)
					}
					if in.Op.OnGlobal() {
						keys := len(p.Globals[in.Glob].Keys)
						for i, a := range in.Args {
							switch {
							case !is(a):
							case i < keys:
								key(in.Glob, i)
							case !t.Values[in.Glob]:
								t.Values[in.Glob], changed = true, true
							}
						}
					}
				}
				if b.Term.Kind == ir.TermReturn && is(b.Term.Cond) && !results[f.Name] {
					results[f.Name], changed = true, true
				}
			}
		}
	}
	return t
}
