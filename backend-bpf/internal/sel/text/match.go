package text

import (
	"encoding/binary"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/regex"
)

// A pattern's automaton lies as two tables in the map of constants. The text is taken in words of 8 bytes: for each
// byte its class and then the next state are looked up, and after each word the state tells whether
// all is decided, which the NUL behind the text does in the end. Bytes behind it change nothing any more.

// The longest string (with its NUL) whose words the verifier walks one by one, about a hundred instructions for each.
// Longer ones are loops like others. Without may_goto those make the whole handler steps of bpf_loop, so more is walked
// there; but if it is made of steps anyway, the verifier comes by more often.
const (
	walked        = 256
	walkedNoLoops = 1024
	walkedSteps   = 64
)

// Match is OpMatch: whether a string holds a match of a pattern.
func (g *Text) Match(in *ir.Instr) {
	re := g.U.P.Regexes[in.N]
	s := g.StrOf(in.Args[0])
	dst := g.Longs[in.Dst]
	t := re.DFA.Table()
	switch {
	case s.Lit:
		v := int64(0)
		if re.Match(s.Text) {
			v = 1
		}
		g.MovI(dst, v)
		return
	case t.Start <= t.Found:
		g.MovI(dst, int64(t.Start/t.Found))
		return
	}
	a := g.automaton(t)
	done := g.Block()
	if s.Padded && maps.StringSize(s.Cap) <= shortText {
		for i := 0; i < maps.StringSize(s.Cap); i += 8 {
			g.walkWord(a, g.GetP(s.At, i, asm.DWord), 8)
			g.UnlessI(asm.JLE, a.state, int64(t.Found), done)
		}
		g.Here(done)
	} else {
		s = g.flat(s)
		i := g.Imm(0)
		head := g.Block()
		limit := walked
		switch {
		case g.Steps:
			limit = walkedSteps
		case !g.U.Feat.MayGoto:
			limit = walkedNoLoops
		}
		head.Bounded = maps.StringSize(s.Cap) <= limit
		g.Here(head)
		g.UnlessI(asm.JGT, i, int64(s.Cap), done)
		g.walkWord(a, g.bytes(s, i, asm.DWord), 8)
		g.AluI(asm.Add, i, 8)
		g.CondI(asm.JGT, a.state, int64(t.Found), head, done)
		g.Set(done)
	}
	// 1 if the state is Found, made without a branch: with two ways behind each match the verifier would walk 2^n.
	g.AluI(asm.Xor, a.state, int64(t.Found))
	n := g.Copy(a.state)
	g.Neg(n)
	g.Alu(asm.Or, n, a.state)
	g.AluI(asm.RSh, n, 63)
	g.AluI(asm.Xor, n, 1)
	g.Mov(dst, n)
}

// automaton is a pattern's automaton in the map of constants.
type automaton struct {
	class, next int // offsets
	mask        int64
	state       mach.Reg
}

func (g *Text) automaton(t *regex.Table) automaton {
	next := make([]byte, 0, 2*len(t.Next))
	for _, n := range t.Next {
		next = binary.LittleEndian.AppendUint16(next, n)
	}
	a := automaton{class: g.TextOf(string(t.Class[:])), next: g.TextOf(string(next)),
		mask: int64(emit.Mask(len(t.Next) - 1)), state: g.Imm(int64(t.Start))}
	// What the verifier knows of an index is the mask.
	g.U.Slack = max(g.U.Slack, int(2*a.mask+2))
	return a
}

// walkWord takes n bytes of a word through the automaton, the lowest first.
func (g *Text) walkWord(a automaton, w mach.Reg, n int) {
	class, next := g.MapVal(plan.MapText, a.class), g.MapVal(plan.MapText, a.next)
	for i := range n {
		c := g.Copy(w)
		switch {
		case i == n-1 && n == 8:
			g.AluI(asm.RSh, c, 56)
		case i > 0:
			g.AluI(asm.RSh, c, int64(8*i))
			fallthrough
		default:
			g.AluI(asm.And, c, 0xff)
		}
		g.Alu(asm.Add, c, class)
		g.Alu(asm.Add, a.state, g.Get(c, 0, asm.Byte))
		g.AluI(asm.And, a.state, a.mask)
		g.AluI(asm.LSh, a.state, 1)
		p := g.Bin(asm.Add, next, a.state)
		g.Load(a.state, p, 0, asm.Half)
	}
}
