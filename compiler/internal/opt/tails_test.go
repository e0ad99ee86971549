package opt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gostap/gostap/compiler/internal/alike"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irgen"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// variants makes probes at system calls of the handlers of p: each some times, with other numbers of registers and
// blocks, other constants, and something of its own before or instead.
func variants(r *rand.Rand, p *ir.Program) {
	handlers := p.Probes
	p.Probes = nil
	kinds := []probe.Kind{probe.ProcessSyscall, probe.ProcessSyscallReturn}
	said := p.AddFormat(&ir.Format{Pieces: []ir.Piece{ir.Literal("own "), ir.Conv('d'), ir.Literal("\n")}})
	for i := range 5 + r.IntN(12) {
		f := variant(r, p, handlers[r.IntN(len(handlers))].Handler, said)
		var sites []*probe.Site
		for range 1 + r.IntN(2) {
			nr := r.IntN(24)
			sites = append(sites, &probe.Site{Kind: kinds[r.IntN(8)/7], Syscall: probe.SyscallPart{Nr: nr},
				Func: fmt.Sprintf("call%d", nr)})
		}
		sites = slices.CompactFunc(sites, func(a, b *probe.Site) bool { return a.Syscall.Nr == b.Syscall.Nr })
		for _, s := range sites {
			s.Kind = sites[0].Kind
		}
		p.Probes = append(p.Probes, &ir.Probe{Name: fmt.Sprintf("p%d", i), Cond: -1, Sites: sites, Handler: f})
	}
}

func variant(r *rand.Rand, p *ir.Program, from *ir.Func, said int) *ir.Func {
	f := from.Clone()
	regs := r.Perm(len(f.Regs))
	blocks := r.Perm(len(f.Blocks))
	to := func(v *ir.Val) { v.Reg = ir.Reg(regs[v.Reg]) }
	infos := make([]ir.RegInfo, len(f.Regs))
	for i, info := range f.Regs {
		infos[regs[i]] = info
	}
	own := ir.Reg(len(infos))
	f.Regs = append(infos, ir.RegInfo{Type: types.Long})
	moved := make([]*ir.Block, len(f.Blocks)+1)
	for i, b := range f.Blocks {
		for k := range b.Instrs {
			in := &b.Instrs[k]
			in.Args = slices.Clone(in.Args)
			uses(in.Args, to)
			if in.Dst != ir.NoReg {
				in.Dst = ir.Reg(regs[in.Dst])
			}
			constants(r, p, in)
		}
		b.Term.Args = slices.Clone(b.Term.Args)
		termUses(&b.Term, to)
		renumber(b, func(id ir.BlockID) ir.BlockID { return ir.BlockID(blocks[id] + 1) })
		moved[blocks[i]+1] = b
	}
	start := &ir.Block{Term: ir.Term{Kind: ir.TermJump, Then: ir.BlockID(blocks[0] + 1), OnErr: ir.NoBlock}}
	for range r.IntN(3) {
		start.Instrs = append(start.Instrs,
			ir.Instr{Op: ir.OpMov, Dst: own, Args: []ir.Val{ir.I(r.Int64N(100))}, Glob: -1, OnErr: ir.NoBlock},
			ir.Instr{Op: ir.OpPrint, Dst: ir.NoReg, N: int64(said), Args: []ir.Val{ir.R(own)}, Glob: -1,
				OnErr: ir.NoBlock})
	}
	if r.IntN(3) == 0 { // in one block with what follows
		first := moved[blocks[0]+1]
		first.Instrs = append(start.Instrs, first.Instrs...)
		start.Instrs = nil
	}
	moved[0] = start
	f.Blocks = moved
	if r.IntN(6) == 0 { // not the same any more
		b := f.Blocks[r.IntN(len(f.Blocks))]
		b.Instrs = slices.DeleteFunc(b.Instrs, func(in ir.Instr) bool { return in.Op == ir.OpPrint })
	}
	return f
}

// constants changes some.
func constants(r *rand.Rand, p *ir.Program, in *ir.Instr) {
	if !alike.Varies(in.Op) || in.Op == ir.OpPrint && r.IntN(2) == 0 {
		return
	}
	for k := range in.Args {
		switch v := &in.Args[k]; {
		case r.IntN(4) > 0:
		case v.Kind == ir.ValInt:
			v.Int += r.Int64N(3)
		case v.Kind == ir.ValStr:
			v.Str = v.Str[:r.IntN(len(v.Str)+1)]
		}
	}
}

// TestJoinTails joins the ends of random handlers, however short, and demands that they say and leave what they did
// before.
func TestJoinTails(t *testing.T) {
	n := uint64(1500)
	if testing.Short() {
		n = 200
	}
	joined := 0
	for i := range n {
		joined += joinedAlike(t, i, 3)
	}
	if joined < int(n) {
		t.Errorf("%d handlers joined into others in %d programs", joined, n)
	}
}

// joinedAlike gives how many handlers went into others.
func joinedAlike(t *testing.T, a, b uint64) int {
	t.Helper()
	r := rand.New(rand.NewPCG(a, b))
	p := irgen.Program(r)
	variants(r, p)
	if err := ir.Verify(p); err != nil {
		t.Fatalf("the test's own program: %v", err)
	}
	text, probes := p.String(), len(p.Probes)
	before, err := irgen.Run(p, 2, irgen.Context{All: true})
	if err != nil {
		t.Fatal(err)
	}
	joinTails(p, 2)
	if err := ir.Verify(p); err != nil {
		t.Fatalf("%v\n%s\n--- from\n%s", err, p, text)
	}
	after, err := irgen.Run(p, 2, irgen.Context{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if after.Text != before.Text {
		t.Fatalf("seed %d: said\n%s\n--- before\n%s\n--- program\n%s\n--- from\n%s", a, after.Text, before.Text, p,
			text)
	}
	for name, val := range after.Globals {
		if val != before.Globals[name] {
			t.Fatalf("seed %d: %s holds\n%s\n--- before\n%s\n--- program\n%s\n--- from\n%s", a, name, val,
				before.Globals[name], p, text)
		}
	}
	return probes - len(p.Probes)
}

func FuzzJoinTails(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { joinedAlike(t, a, b) })
}
