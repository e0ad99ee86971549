package text

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
)

// QuotedText is user_text and kernel_text. Where the text is only printed, its bytes are sent and the host puts the
// quotes and escapes.
func (g *Text) QuotedText(in *ir.Instr, kernel bool) {
	dst := g.Strs[in.Dst]
	limit := g.U.P.Limits.MaxString - 1
	n, cstr := in.Args[1], in.Args[2].Kind != ir.ValInt || in.Args[2].Int != 0
	most := limit // bytes read
	if n.Kind == ir.ValInt && n.Int >= 0 {
		most = int(min(n.Int, int64(limit)))
	}
	late := g.Printed[in.Dst] && g.Defs[in.Dst] == 1 && !dst.Small && dst.Cap >= max(most, 8)
	t := dst
	if !late {
		t = g.TempStr(max(most, 8))
	}
	addr := g.Copy(g.Long(in.Args[0]))
	none, bad, have, done := g.Block(), g.Cold(), g.Block(), g.Block()
	switch {
	case most == 0 || n.Kind == ir.ValInt && n.Int < 0 && !cstr:
		g.Jump(none)
	case cstr:
		if n.Kind == ir.ValInt && n.Int < 0 {
			n = ir.Val{}
		}
		g.readCString(t, kernel, addr, n, none, bad)
		g.Jump(have)
	default:
		count := g.Copy(g.Long(n))
		some := g.Block()
		g.CondI(asm.JSLE, count, 0, none, some)
		g.Set(some)
		m := g.Tight(count, most)
		g.ReadMem(kernel, g.ArgP(t.At), emit.InReg(m), addr, bad)
		g.finish(t, m)
		g.Jump(have)
	}
	g.Set(none)
	g.Assign(t, body.Literal(""))
	g.Jump(have)
	if late {
		g.Set(bad)
		g.StoreP(t.At, 0, addr, asm.DWord)
		g.StoreIP(t.LenAt, 0, 8|wire.Unread, asm.DWord) // what asks for the length masks that out
		g.Jump(have)
		g.Set(have)
		g.Lazies[in.Dst] = &body.Lazy{Arg: wire.Arg{Kind: wire.Quoted, Max: limit, CString: cstr}, Text: t}
		return
	}
	g.Set(have)
	out, assign := g.target(in, limit, t.Str())
	g.quoteInto(out, t.Str(), g.Imm(int64(limit)), true)
	assign()
	g.Jump(done)
	g.Set(bad)
	if cstr {
		null, other := g.Block(), g.Block()
		g.CondI(asm.JEq, addr, 0, null, other)
		g.Set(null)
		g.Assign(dst, body.Literal("NULL"))
		g.Jump(done)
		g.Set(other)
	}
	g.Format(dst, &ir.Format{Pieces: []ir.Piece{ir.Literal("0x"), ir.Conv('x')}}, []Arg{{Num: addr}})
	g.Jump(done)
	g.Set(done)
}
