package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
)

// quotedText is user_text and kernel_text. Where the text is only printed, its bytes are sent and the host puts the
// quotes and escapes.
func (g *gen) quotedText(in *ir.Instr, kernel bool) {
	dst := g.strs[in.Dst]
	limit := g.u.P.Limits.MaxString - 1
	n, cstr := in.Args[1], in.Args[2].Kind != ir.ValInt || in.Args[2].Int != 0
	most := limit // bytes read
	if n.Kind == ir.ValInt && n.Int >= 0 {
		most = int(min(n.Int, int64(limit)))
	}
	late := g.printed[in.Dst] && g.defs[in.Dst] == 1 && !dst.small && dst.cap >= max(most, 8)
	t := dst
	if !late {
		t = g.tempStr(max(most, 8))
	}
	addr := g.copy(g.long(in.Args[0]))
	none, bad, have, done := g.block(), g.cold(), g.block(), g.block()
	switch {
	case most == 0 || n.Kind == ir.ValInt && n.Int < 0 && !cstr:
		g.jump(none)
	case cstr:
		if n.Kind == ir.ValInt && n.Int < 0 {
			n = ir.Val{}
		}
		g.readCString(t, kernel, addr, n, none, bad)
		g.jump(have)
	default:
		count := g.copy(g.long(n))
		some := g.block()
		g.condI(asm.JSLE, count, 0, none, some)
		g.set(some)
		m := g.tight(count, most)
		g.readMem(kernel, g.argP(t.at), aReg(m), addr, bad)
		g.finish(t, m)
		g.jump(have)
	}
	g.set(none)
	g.assign(t, literal(""))
	g.jump(have)
	if late {
		g.set(bad)
		g.storeP(t.at, 0, addr, asm.DWord)
		g.storeIP(t.lenAt, 0, 8|wire.Unread, asm.DWord) // what asks for the length masks that out
		g.jump(have)
		g.set(have)
		g.lazies[in.Dst] = &lazy{Arg: wire.Arg{Kind: wire.Quoted, Max: limit, CString: cstr}, text: t}
		return
	}
	g.set(have)
	out, assign := g.target(in, limit, t.str())
	g.quoteInto(out, t.str(), g.length(t.str()), limit, true, nil)
	assign()
	g.jump(done)
	g.set(bad)
	if cstr {
		null, other := g.block(), g.block()
		g.condI(asm.JEq, addr, 0, null, other)
		g.set(null)
		g.assign(dst, literal("NULL"))
		g.jump(done)
		g.set(other)
	}
	g.format(dst, &ir.Format{Pieces: []ir.Piece{ir.Literal("0x"), ir.Conv('x')}}, []fmtArg{{num: addr}})
	g.jump(done)
	g.set(done)
}
