package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
)

// print sends the arguments of a print statement; the host makes the text.
func (g *gen) print(in *ir.Instr) {
	n := wire.HeaderSize + 8 + 8*len(in.Args)
	site := g.site(in)
	r := g.reserve(n)
	g.header(r, wire.Print, 0)
	g.storeI(r, 8, int64(site), asm.DWord)
	for i, a := range in.Args {
		if a.Kind == ir.ValInt {
			g.storeI(r, 16+8*i, a.Int, asm.DWord)
			continue
		}
		g.store(r, 16+8*i, g.long(a), asm.DWord)
	}
	g.submit(r)
}

// site enters a print statement into the schema.
func (g *gen) site(in *ir.Instr) int {
	s := wire.Site{Format: int(in.N)}
	for range in.Args {
		s.Args = append(s.Args, wire.Arg{Kind: wire.Int})
	}
	g.u.Schema.Sites = append(g.u.Schema.Sites, s)
	return len(g.u.Schema.Sites) - 1
}
