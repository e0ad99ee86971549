package sel

import (
	"encoding/binary"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/regex"
)

// A pattern's automaton lies as two tables in the map of constants. The text is taken in words of 8 bytes: for each byte
// its class and then the next state are looked up, and after each word the state tells whether
// all is decided, which the NUL behind the text does in the end. Bytes behind it change nothing any more.

// The longest string (with its NUL) whose words the verifier walks one by one, about a hundred instructions for each.
// Longer ones are loops like others. Without may_goto those make the whole handler steps of bpf_loop, so more is walked
// there; but if it is made of steps anyway, the verifier comes by more often.
const (
	walked        = 256
	walkedNoLoops = 1024
	walkedSteps   = 64
)

// match is OpMatch: whether a string holds a match of a pattern.
func (g *gen) match(in *ir.Instr) {
	re := g.u.P.Regexes[in.N]
	s := g.strOf(in.Args[0])
	dst := g.longs[in.Dst]
	t := re.DFA.Table()
	switch {
	case s.lit:
		v := int64(0)
		if re.Match(s.text) {
			v = 1
		}
		g.movI(dst, v)
		return
	case t.Start <= t.Found:
		g.movI(dst, int64(t.Start/t.Found))
		return
	}
	a := g.automaton(t)
	done := g.block()
	if s.padded && maps.StringSize(s.cap) <= shortText {
		for i := 0; i < maps.StringSize(s.cap); i += 8 {
			g.walkWord(a, g.getP(s.at, i, asm.DWord), 8)
			g.unlessI(asm.JLE, a.state, int64(t.Found), done)
		}
		g.here(done)
	} else {
		s = g.flat(s)
		i := g.imm(0)
		head := g.block()
		limit := walked
		switch {
		case g.steps:
			limit = walkedSteps
		case !g.u.Feat.MayGoto:
			limit = walkedNoLoops
		}
		head.Bounded = maps.StringSize(s.cap) <= limit
		g.here(head)
		g.unlessI(asm.JGT, i, int64(s.cap), done)
		g.walkWord(a, g.bytes(s, i, asm.DWord), 8)
		g.aluI(asm.Add, i, 8)
		g.condI(asm.JGT, a.state, int64(t.Found), head, done)
		g.set(done)
	}
	// 1 if the state is Found, made without a branch: with two ways behind each match the verifier would walk 2^n.
	g.aluI(asm.Xor, a.state, int64(t.Found))
	n := g.copy(a.state)
	g.neg(n)
	g.alu(asm.Or, n, a.state)
	g.aluI(asm.RSh, n, 63)
	g.aluI(asm.Xor, n, 1)
	g.mov(dst, n)
}

// automaton is a pattern's automaton in the map of constants.
type automaton struct {
	class, next int // offsets
	mask        int64
	state       mach.Reg
}

func (g *gen) automaton(t *regex.Table) automaton {
	next := make([]byte, 0, 2*len(t.Next))
	for _, n := range t.Next {
		next = binary.LittleEndian.AppendUint16(next, n)
	}
	a := automaton{class: g.textOf(string(t.Class[:])), next: g.textOf(string(next)), mask: int64(mask(len(t.Next) - 1)), state: g.imm(int64(t.Start))}
	// What the verifier knows of an index is the mask.
	g.u.slack = max(g.u.slack, int(2*a.mask+2))
	return a
}

// walkWord takes n bytes of a word through the automaton, the lowest first.
func (g *gen) walkWord(a automaton, w mach.Reg, n int) {
	class, next := g.mapVal(plan.MapText, a.class), g.mapVal(plan.MapText, a.next)
	for i := range n {
		c := g.copy(w)
		switch {
		case i == n-1 && n == 8:
			g.aluI(asm.RSh, c, 56)
		case i > 0:
			g.aluI(asm.RSh, c, int64(8*i))
			fallthrough
		default:
			g.aluI(asm.And, c, 0xff)
		}
		g.alu(asm.Add, c, class)
		g.alu(asm.Add, a.state, g.get(c, 0, asm.Byte))
		g.aluI(asm.And, a.state, a.mask)
		g.aluI(asm.LSh, a.state, 1)
		p := g.bin(asm.Add, next, a.state)
		g.load(a.state, p, 0, asm.Half)
	}
}
