package spread

import "github.com/gostap/gostap/compiler/ir"

// taints says where the numbers go by which a session knows the stacks that it keeps: another session has others.
type taints struct {
	keys, values map[int]bool // of globals
}

// follow finds them: by registers of each function, its parameters and result, and globals, until nothing is new.
func follow(p *ir.Program) taints {
	t := taints{keys: map[int]bool{}, values: map[int]bool{}}
	regs := map[*ir.Func]map[ir.Reg]bool{}
	results := map[string]bool{}
	funcs := append([]*ir.Func{}, p.Funcs...)
	for _, pr := range p.Probes {
		funcs = append(funcs, pr.Handler)
	}
	for changed := true; changed; {
		changed = false
		set := func(m map[int]bool, g int) {
			if !m[g] {
				m[g], changed = true, true
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
						keep = t.values[in.Glob]
					case ir.OpIterKey:
						keep = t.keys[in.Glob]
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
								set(t.keys, in.Glob)
							default:
								set(t.values, in.Glob)
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
