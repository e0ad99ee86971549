package partition

import (
	"math/rand/v2"
	"testing"

	"github.com/gostap/gostap/compiler/internal/opt"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irgen"
)

// joined is a deferred handler in one piece again: what the kernel's part sends at its end goes to the host's part at
// once.
func joined(h *Handler) *ir.Func {
	out := &ir.Func{Pos: h.Body.Pos, Regs: append(append([]ir.RegInfo(nil), h.Body.Regs...), h.HostBody.Regs...)}
	for _, b := range h.Body.Blocks {
		c := *b
		c.Instrs = append([]ir.Instr(nil), b.Instrs...)
		out.Blocks = append(out.Blocks, &c)
	}
	reg, block := ir.Reg(len(h.Body.Regs)), ir.BlockID(len(h.Body.Blocks))
	for _, b := range out.Blocks {
		switch {
		case b.Term.Kind == ir.TermSkip && b.Term.Cause == ir.SkipStopping:
			b.Term = ir.Term{Kind: ir.TermEnd, OnErr: ir.NoBlock}
		case b.Term.Kind == ir.TermEnd:
			send := func(to ir.Reg, v ir.Val) {
				b.Instrs = append(b.Instrs, ir.Instr{Op: ir.OpMov, Dst: to + reg, Args: []ir.Val{v}, Glob: -1,
					OnErr: ir.NoBlock})
			}
			n := 0
			for _, v := range h.Values {
				send(h.HostBody.Params[n], ir.R(v.Reg))
				n++
				if h.Faults {
					fault := ir.I(0)
					if v.Fault != ir.NoReg {
						fault = ir.R(v.Fault)
					}
					send(h.HostBody.Params[n], fault)
					n++
				}
			}
			b.Term = ir.Term{Kind: ir.TermJump, Then: block, OnErr: ir.NoBlock}
		}
	}
	val := func(v ir.Val) ir.Val {
		if v.IsReg() {
			v.Reg += reg
		}
		return v
	}
	vals := func(vs []ir.Val) (out []ir.Val) {
		for _, v := range vs {
			out = append(out, val(v))
		}
		return out
	}
	to := func(b ir.BlockID) ir.BlockID {
		if b != ir.NoBlock {
			b += block
		}
		return b
	}
	for _, b := range h.HostBody.Blocks {
		c := &ir.Block{Term: b.Term}
		for _, in := range b.Instrs {
			in.Args, in.OnErr = vals(in.Args), to(in.OnErr)
			if in.Dst != ir.NoReg {
				in.Dst += reg
			}
			c.Instrs = append(c.Instrs, in)
		}
		c.Term.Cond, c.Term.Args, c.Term.OnErr = val(c.Term.Cond), vals(c.Term.Args), to(c.Term.OnErr)
		c.Term.Then, c.Term.Else = c.Term.Then+block, c.Term.Else+block
		out.Blocks = append(out.Blocks, c)
	}
	return out
}

// TestCut: random handlers that are cut in two say and leave what they did in one piece.
func TestCut(t *testing.T) {
	cuts, late := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := irgen.Program(r)
		if seed%3 > 0 {
			opt.Run(p, opt.Options{Off: seed%3 == 1})
		}
		before, err := irgen.Run(p, 2, irgen.Context{All: seed%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
		text := p.String()
		hs, _ := Decide(t.Context(), p, Options{Full: true, Translates: func(name string) bool {
			return (uint64(len(name))+seed)%3 > 0
		}})
		some := false
		for _, h := range hs {
			pr := p.Probes[h.Probe]
			if h.Where != Deferred || len(h.Sites) != len(pr.Sites) {
				continue
			}
			some = true
			if cuts++; len(h.Body.Blocks) > 1 {
				late++
			}
			pr.Handler = joined(h)
		}
		if !some {
			continue
		}
		after, err := irgen.Run(p, 2, irgen.Context{All: seed%2 == 0})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s\n--- from\n%s", seed, err, p, text)
		}
		if after.Text != before.Text {
			t.Fatalf("seed %d: said\n%s\n--- before\n%s\n--- program\n%s\n--- from\n%s", seed, after.Text, before.Text,
				p, text)
		}
		for name, v := range after.Globals {
			if v != before.Globals[name] {
				t.Fatalf("seed %d: %s holds\n%s\n--- before\n%s\n--- program\n%s\n--- from\n%s", seed, name, v,
					before.Globals[name], p, text)
			}
		}
	}
	if cuts < 200 || late < 50 {
		t.Errorf("%d handlers were cut, %d behind a decision", cuts, late)
	}
	t.Logf("%d handlers were cut, %d behind a decision", cuts, late)
}
