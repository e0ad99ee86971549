package sel

import (
	"slices"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/backend-bpf/internal/sel/output"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/types"
)

// prescanner looks over a handler before it is translated.
type prescanner struct{ *gen }

func (g prescanner) prescan() {
	g.walk()
	for _, f := range g.H.Subs {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if g.entry(f, &b.Instrs[i]) {
					g.Prescan.Prints = 2
				}
			}
		}
	}
	if len(g.H.Subs) > 0 {
		g.Prescan.Budget = true
		if g.Prescan.Prints > 0 {
			g.Prescan.Prints = 2
		}
	}
}

// countUses finds out how the registers of the current function are used.
func (g prescanner) countUses() (intricate []bool) {
	f := g.Fn
	g.Uses, g.Defs, g.Printed = make([]int, len(f.Regs)), make([]int, len(f.Regs)), make([]bool, len(f.Regs))
	intricate = make([]bool, len(f.Regs))
	for i := range g.Printed {
		g.Printed[i] = true
	}
	read := func(v ir.Val, print bool) {
		if v.IsReg() {
			g.Uses[v.Reg]++
			g.Printed[v.Reg] = g.Printed[v.Reg] && print
		}
	}
	for _, r := range f.Params {
		g.Defs[r]++
	}
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			in := &b.Instrs[i]
			for _, a := range in.Args {
				read(a, in.Op == ir.OpPrint)
			}
			if in.Dst == ir.NoReg {
				continue
			}
			g.Defs[in.Dst]++
			if f.Regs[in.Dst].Type == types.String && !simpleString(in) {
				intricate[in.Dst] = true
			}
		}
		read(b.Term.Cond, false)
		for _, a := range b.Term.Args {
			read(a, false)
		}
	}
	if f == g.H.Body {
		for _, v := range g.H.Values {
			read(ir.R(v.Reg), true)
			if v.Fault != ir.NoReg {
				read(ir.R(v.Fault), false)
			}
		}
	}
	return intricate
}

// entry reports whether in prints, and makes room for it.
func (g prescanner) entry(f *ir.Func, in *ir.Instr) bool {
	switch {
	case in.Op == ir.OpPrint:
		g.Prescan.EntryMax = max(g.Prescan.EntryMax, g.entrySize(f, in))
	case in.Op == ir.OpIntr && intrinsics[in.Name].prints:
		g.Prescan.EntryMax = max(g.Prescan.EntryMax, 16+g.U.P.Limits.MaxString+8)
	default:
		return false
	}
	return true
}

// simpleString reports whether in makes a string that can be written padded, without its length being needed.
func simpleString(in *ir.Instr) bool {
	switch in.Op {
	case ir.OpMov, ir.OpGGet, ir.OpMGet, ir.OpSite:
		return true
	case ir.OpIntr:
		return intrinsics[in.Name].padded
	}
	return false
}

// coldBlocks finds the blocks that only errors lead to.
func coldBlocks(f *ir.Func) []bool {
	cold := make([]bool, len(f.Blocks))
	for i := range cold {
		cold[i] = true
	}
	todo := []ir.BlockID{0}
	cold[0] = false
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		f.Succs(b, func(to ir.BlockID, onErr bool) {
			if !onErr && cold[to] {
				cold[to] = false
				todo = append(todo, to)
			}
		})
	}
	return cold
}

// walk finds the longest way through the handler in print statements and in budget, and whether there are
// loops, on which both have no end.
func (g prescanner) walk() {
	f := g.Fn
	const (
		fresh = iota
		open
		done
	)
	state := make([]uint8, len(f.Blocks))
	prints, budget := make([]int, len(f.Blocks)), make([]int64, len(f.Blocks))
	var visit func(b ir.BlockID)
	visit = func(b ir.BlockID) {
		state[b] = open
		p, n := 0, int64(0)
		f.Succs(b, func(to ir.BlockID, _ bool) {
			switch state[to] {
			case open:
				g.Prescan.Loops = true
			case fresh:
				visit(to)
			}
			p, n = max(p, prints[to]), max(n, budget[to])
		})
		for i := range f.Blocks[b].Instrs {
			in := &f.Blocks[b].Instrs[i]
			switch {
			case g.entry(f, in):
				p++
			case in.Op == ir.OpBudget:
				n += in.N
			}
		}
		prints[b], budget[b] = min(p, 2), n
		state[b] = done
	}
	visit(0)
	g.Prescan.Prints = prints[0]
	g.Prescan.Budget = budget[0] > int64(g.maxAction())
	if g.Prescan.Loops {
		any := 0
		for b, p := range prints {
			if state[b] == done {
				any = max(any, p)
			}
		}
		if any > 0 {
			g.Prescan.Prints = 2
		}
		g.Prescan.Budget = true
	}
}

// entrySize is the most bytes that a print statement's entry takes.
func (g prescanner) entrySize(f *ir.Func, in *ir.Instr) int {
	n := 8
	for _, a := range in.Args {
		n += 16 + 8*g.U.P.Limits.MaxBacktrace
		if a.IsReg() && f.Regs[a.Reg].Type == types.String {
			n += output.SentSize(f.Regs[a.Reg].Cap) + 16
		}
	}
	n += g.rec.RawArgs(f, in)*g.rec.RawSize() + output.SnapArgs(f, in)*output.SnapBytes
	for _, p := range g.U.P.Formats[in.N].Pieces {
		if p.Conv == 'm' || p.Conv == 'M' {
			n += 1024
		}
	}
	return (n + 7) &^ 7
}

// homes gives the handler and its recursive functions blocks, and every String register that is used a place, except
// those whose text is known or made on the host.
func (g prescanner) homes() {
	g.home(g.shared())
	if g.subs == nil {
		return
	}
	handler := g.Func
	for _, name := range g.subs.names {
		a := g.subs.funcs[name]
		g.Func = a.fun
		g.home(func(r ir.Reg, n int, _ bool) *body.StrVar {
			return &body.StrVar{Cap: n, LenAt: emit.At(g.subs.fp, a.strs[r]-8), At: emit.At(g.subs.fp, a.strs[r])}
		})
		a.fun = g.Func
	}
	g.Func = handler
}

// shared gives String registers of the handler places that they share with others which are not in use at the
// same time. A deferred handler's values are all needed at its end.
func (g prescanner) shared() func(r ir.Reg, n int, simple bool) *body.StrVar {
	f := g.Fn
	if g.H.Where == partition.Deferred && f == g.H.Body {
		f = g.untilSent()
	}
	apart := map[[2]ir.Reg]bool{}
	isStr := func(r ir.Reg) bool { return g.Fn.Regs[r].Type == types.String }
	strs := 0
	for i := range g.Fn.Regs {
		if isStr(ir.Reg(i)) {
			strs++
		}
	}
	if strs > 1 {
		partition.Liveness(f).Together(func(a, b ir.Reg) {
			if isStr(a) && isStr(b) {
				apart[[2]ir.Reg{a, b}], apart[[2]ir.Reg{b, a}] = true, true
			}
		})
	}
	type room struct {
		v    *body.StrVar
		regs []ir.Reg
	}
	var rooms []room
	return func(r ir.Reg, n int, simple bool) *body.StrVar {
	next:
		for i := range rooms {
			o := &rooms[i]
			if o.v.Cap < n || o.v.Small != (simple && o.v.Small) {
				continue
			}
			for _, other := range o.regs {
				if apart[[2]ir.Reg{r, other}] {
					continue next
				}
			}
			o.regs = append(o.regs, r)
			return &body.StrVar{Cap: n, Small: o.v.Small, At: o.v.At, LenAt: o.v.LenAt}
		}
		v := g.str.NewStr(n, simple)
		rooms = append(rooms, room{v, []ir.Reg{r}})
		return v
	}
}

// untilSent is the handler's body with the values that are sent at its end as something that the end needs.
func (g prescanner) untilSent() *ir.Func {
	f := *g.Fn
	f.Blocks = append([]*ir.Block(nil), f.Blocks...)
	for i, b := range f.Blocks {
		if b.Term.Kind != ir.TermEnd {
			continue
		}
		end := *b
		for _, v := range g.H.Values {
			end.Term.Args = append(end.Term.Args, ir.R(v.Reg))
		}
		f.Blocks[i] = &end
	}
	return &f
}

func (g prescanner) home(place func(r ir.Reg, n int, simple bool) *body.StrVar) {
	intricate := g.countUses()
	var need []ir.Reg
	for i, r := range g.Fn.Regs {
		if r.Type == types.String && g.Defs[i] > 0 && !g.known(ir.Reg(i)) {
			need = append(need, ir.Reg(i))
		}
	}
	// The longest first, so that shorter ones find room there.
	slices.SortStableFunc(need, func(a, b ir.Reg) int { return g.Fn.Regs[b].Cap - g.Fn.Regs[a].Cap })
	for _, r := range need {
		g.Strs[r] = place(r, g.Fn.Regs[r].Cap, !intricate[r])
	}
	cold := coldBlocks(g.Fn)
	g.Blocks = make([]*mach.Block, len(g.Fn.Blocks))
	for i := range g.Fn.Blocks {
		g.Blocks[i] = g.Block()
		g.Blocks[i].Cold = cold[i]
	}
}

// known notes registers whose only definition gives a text that needs no memory: a constant, or one that is
// made on the host.
func (g prescanner) known(r ir.Reg) bool {
	if g.Defs[r] != 1 {
		return false
	}
	in := g.defOf(r)
	if in == nil {
		return false
	}
	switch {
	case in.Op == ir.OpMov && in.Args[0].Kind == ir.ValStr:
		s := in.Args[0].Str
		g.Consts[r] = s[:min(len(s), g.Fn.Regs[r].Cap)]
		return true
	case in.Op == ir.OpSite:
		if s, ok := g.hook.SiteText(in.Name); ok {
			g.Consts[r] = s[:min(len(s), g.Fn.Regs[r].Cap)]
			return true
		}
		return g.Printed[r]
	case in.Op == ir.OpIntr && in.Builtin().Sent():
		return true
	}
	return false
}

// defOf finds the first definition of a register.
func (g prescanner) defOf(r ir.Reg) *ir.Instr {
	for _, b := range g.Fn.Blocks {
		for i := range b.Instrs {
			if b.Instrs[i].Dst == r {
				return &b.Instrs[i]
			}
		}
	}
	return nil
}
