package opt

import (
	"slices"

	"github.com/gostap/gostap/compiler/ir"
)

// RemoveUnused takes out functions that no probe reaches, globals that nobody looks at together with
// what writes to them, and formats that nobody prints. Writes that may fail (an array that can
// overflow) are something to see, so their globals stay. Cost: a walk over the program.
func RemoveUnused(p *ir.Program) {
	unusedFuncs(p)
	unusedCodes(p)
	unusedGlobals(p)
	unusedFormats(p)
}

// unusedCodes takes out C that nothing runs. What goes in front of it stays: it may have effects of its own.
func unusedCodes(p *ir.Program) {
	if len(p.Codes) == 0 {
		return
	}
	number := make([]int64, len(p.Codes))
	for i := range number {
		number[i] = -1
	}
	var kept []*ir.CCode
	eachFunc(p, func(f *ir.Func) {
		eachInstr(f, func(in *ir.Instr) {
			c := p.CodeOf(in)
			if c == nil {
				return
			}
			if number[in.N] < 0 {
				number[in.N] = int64(len(kept))
				kept = append(kept, c)
			}
		})
	})
	eachFunc(p, func(f *ir.Func) {
		eachInstr(f, func(in *ir.Instr) {
			if in.Op == ir.OpEmbed {
				in.N = number[in.N]
			}
		})
	})
	p.Codes = kept
}

func unusedFuncs(p *ir.Program) {
	if len(p.Funcs) == 0 {
		return
	}
	reached := reachedFrom(p, func(*ir.Probe) bool { return true })
	p.Funcs = slices.DeleteFunc(p.Funcs, func(f *ir.Func) bool { return !reached[f] })
}

func unusedGlobals(p *ir.Program) {
	keep := make([]bool, len(p.Globals))
	for i, g := range p.Globals {
		keep[i] = g.Shown
	}
	for _, pr := range p.Probes {
		if pr.Cond >= 0 {
			keep[pr.Cond] = true
		}
	}
	eachFunc(p, func(f *ir.Func) {
		eachInstr(f, func(in *ir.Instr) {
			if c := p.CodeOf(in); c != nil {
				for _, g := range c.Globs {
					keep[g.Glob] = true
				}
			}
			if in.Op.OnGlobal() && (!writes(in.Op) || in.Dst != ir.NoReg || p.MayFail(in)) {
				keep[in.Glob] = true
			}
		})
	})
	number := make([]int, len(p.Globals))
	n := 0
	for i, g := range p.Globals {
		number[i] = -1
		if keep[i] {
			number[i] = n
			p.Globals[n] = g
			n++
		}
	}
	if n == len(p.Globals) {
		return
	}
	p.Globals = p.Globals[:n]
	for _, c := range p.Codes {
		for i := range c.Globs {
			c.Globs[i].Glob = number[c.Globs[i].Glob]
		}
	}
	for _, pr := range p.Probes {
		if pr.Cond >= 0 {
			pr.Cond = number[pr.Cond]
		}
	}
	eachFunc(p, func(f *ir.Func) {
		for _, b := range f.Blocks {
			kept := b.Instrs[:0]
			for _, in := range b.Instrs {
				if in.Op.OnGlobal() {
					if in.Glob = number[in.Glob]; in.Glob < 0 {
						continue
					}
				}
				kept = append(kept, in)
			}
			b.Instrs = kept
		}
	})
}

func unusedFormats(p *ir.Program) {
	number := make([]int64, len(p.Formats))
	for i := range number {
		number[i] = -1
	}
	var kept []*ir.Format
	eachFunc(p, func(f *ir.Func) {
		eachInstr(f, func(in *ir.Instr) {
			if in.Op != ir.OpPrint && in.Op != ir.OpSprint {
				return
			}
			if number[in.N] < 0 {
				number[in.N] = int64(len(kept))
				kept = append(kept, p.Formats[in.N])
			}
			in.N = number[in.N]
		})
	})
	p.Formats = kept
}
