package maps

import (
	"strings"

	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

var noStat = plan.StatLayout{Count: -1, Sum: -1, Min: -1, Max: -1, SqHi: -1, SqLo: -1}

// statUses finds which fields of each aggregate are read, by any handler or function.
func statUses(p *ir.Program) []StatUse {
	uses := make([]StatUse, len(p.Globals))
	for i, g := range p.Globals {
		if g.Type == types.Stats {
			uses[i].Hists = make([]bool, len(g.Stat.Hists))
			if g.Shown {
				uses[i].all(g)
			}
		}
	}
	eachInstr(p, func(in *ir.Instr) {
		if in.Glob < 0 || in.Glob >= len(p.Globals) || p.Globals[in.Glob].Type != types.Stats {
			return
		}
		u := &uses[in.Glob]
		hist := func(n int64) {
			if n >= 0 && n < int64(len(u.Hists)) {
				u.Hists[n], u.Count = true, true // that of an empty aggregate is an error
			}
		}
		switch in.Op {
		case ir.OpSGet:
			if ir.Stat(in.N) == ir.StatBucket {
				hist(int64(in.Iter))
				return
			}
			u.read(ir.Stat(in.N))
		case ir.OpPrintHist, ir.OpSprintHist:
			hist(in.N)
		case ir.OpIterOpen:
			order, ok := strings.CutPrefix(strings.TrimRight(in.Name, "+-"), "@")
			if !ok {
				// Without a name, aggregates are ordered by their count.
				if strings.HasPrefix(in.Name, "v") {
					u.Count = true
				}
				return
			}
			for s := ir.StatCount; s <= ir.StatVariance; s++ {
				if s.String() == order {
					u.read(s)
				}
			}
		}
	})
	return uses
}

// all notes that whoever runs the program reads the whole aggregate.
func (u *StatUse) all(g *ir.Global) {
	u.Count, u.Sum, u.Min, u.Max, u.Square = true, true, true, true, g.Stat.Variance
	for i := range u.Hists {
		u.Hists[i] = true
	}
}

// read notes that statistic s is asked for. Where an empty aggregate is an error, the count is needed too.
func (u *StatUse) read(s ir.Stat) {
	switch s {
	case ir.StatCount:
		u.Count = true
	case ir.StatSum:
		u.Sum = true
	case ir.StatMin:
		u.Min, u.Count = true, true
	case ir.StatMax:
		u.Max, u.Count = true, true
	case ir.StatAvg:
		u.Sum, u.Count = true, true
	case ir.StatVariance:
		u.Sum, u.Count, u.Square = true, true, true
	}
}

// statLayout lays out what is kept of an aggregate: one u64 after the other.
func statLayout(g *ir.Global, u StatUse) plan.StatLayout {
	s := noStat
	field := func(off *int, want bool) {
		if want {
			*off = s.Size
			s.Size += 8
		}
	}
	field(&s.Count, u.Count)
	field(&s.Sum, u.Sum)
	field(&s.Min, u.Min)
	field(&s.Max, u.Max)
	field(&s.SqLo, u.Square && g.Stat.Variance)
	field(&s.SqHi, u.Square && g.Stat.Variance)
	s.Hists = make([]int, len(g.Stat.Hists))
	for i, h := range g.Stat.Hists {
		s.Hists[i] = -1
		if u.Hists[i] {
			s.Hists[i] = s.Size
			s.Size += 8 * h.Buckets()
		}
	}
	if s.Size == 0 {
		field(&s.Count, true) // nobody reads it; that there is an element may still be asked
	}
	return s
}

// iterated finds the arrays whose order of insertion can be seen.
func iterated(p *ir.Program) []bool {
	out := make([]bool, len(p.Globals))
	eachInstr(p, func(in *ir.Instr) {
		if in.Op == ir.OpIterOpen && in.Glob >= 0 && in.Glob < len(out) {
			out[in.Glob] = true
		}
	})
	return out
}

func eachInstr(p *ir.Program, fn func(*ir.Instr)) {
	visit := func(f *ir.Func) {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				fn(&b.Instrs[i])
			}
		}
	}
	for _, f := range p.Funcs {
		visit(f)
	}
	for _, pr := range p.Probes {
		visit(pr.Handler)
	}
}
