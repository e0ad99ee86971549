package hook

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/wire"
)

// One program serves all sites of a handler; the cookie of the link tells them apart. It is the index
// of the site, with the site's pc below it where the handler needs that.

const cookiePC = 48 // bits

// siteAttr gives an attribute of one site.
func siteAttr(s *probe.Site, name string) string {
	switch name {
	case "pp":
		return s.Point
	case "pn":
		if s.Alias != "" {
			return s.Alias
		}
		return s.Point
	case "ppfunc", "probefunc":
		return s.Func
	}
	return ""
}

// SiteText gives an attribute that is the same at all sites.
func (g *Hook) SiteText(name string) (string, bool) {
	if name == "probefunc" && g.hasRet() {
		return "", false
	}
	text := siteAttr(g.H.Sites[0], name)
	for _, s := range g.H.Sites {
		if siteAttr(s, name) != text {
			return "", false
		}
	}
	return text, true
}

func (g *Hook) hasRet() bool {
	for _, s := range g.H.Sites {
		if s.Kind.Trampoline() {
			return true
		}
	}
	return false
}

// sitePCs reports whether the sites have different pcs.
func (g *Hook) sitePCs() bool {
	for _, s := range g.H.Sites {
		if s.At.PC != g.H.Sites[0].At.PC {
			return true
		}
	}
	return false
}

// usesPC reports whether the cookie has to carry the pc.
func (g *Hook) usesPC() bool {
	if !g.sitePCs() {
		return false
	}
	for _, b := range g.Fn.Blocks {
		for i := range b.Instrs {
			if b.Instrs[i].Op == ir.OpBias {
				return true
			}
		}
	}
	return false
}

// Cookies gives each site's cookie.
func (g *Hook) Cookies() []uint64 {
	out := make([]uint64, len(g.H.Sites))
	pc := g.usesPC()
	for i, s := range g.H.Sites {
		switch {
		case pc:
			out[i] = uint64(g.H.IDs[i])<<cookiePC | s.At.PC
		case g.SiteNum != mach.None:
			out[i] = uint64(g.H.IDs[i])
		}
	}
	return out
}

func (g *Hook) cookie() mach.Reg {
	if g.SiteNum == mach.None {
		g.SiteNum = g.Reg()
	}
	return g.SiteNum
}

// SiteIndex gives the index, in the probe's sites, of the site that fired in a new register.
func (g *Hook) SiteIndex() mach.Reg {
	if len(g.H.Sites) == 1 {
		return g.Imm(int64(g.H.IDs[0]))
	}
	if g.usesPC() {
		return g.BinI(asm.RSh, g.cookie(), cookiePC)
	}
	return g.Copy(g.cookie())
}

// Site is OpSite.
func (g *Hook) Site(in *ir.Instr) {
	switch in.Name {
	case "id":
		g.Mov(g.Longs[in.Dst], g.SiteIndex())
		return
	case "pc":
		if g.UserRegs(in, "the address of the probe") {
			g.Mov(g.Longs[in.Dst], g.IP())
		}
		return
	case "probefunc":
		if g.hasRet() {
			// At a return probe of the kernel this is the function that is returned to.
			if !g.Printed[in.Dst] || g.Defs[in.Dst] != 1 {
				g.Refuse(in, "bpf-lazy-text", "probefunc() in a return probe is named on the host: with eBPF it can "+
					"only be printed; ppfunc() is the probed function")
				return
			}
			g.Lazies[in.Dst] = &body.Lazy{Arg: wire.Arg{Kind: wire.Sym, Lazy: wire.FuncName}, Val: g.IP()}
			return
		}
	}
	if _, ok := g.Consts[in.Dst]; ok {
		return
	}
	all := g.U.P.Probes[g.H.Probe].Sites
	texts := make([][]byte, len(all))
	most := 0
	for i, s := range all {
		t := siteAttr(s, in.Name)
		if n := g.Fn.Regs[in.Dst].Cap; len(t) > n {
			t = t[:n]
		}
		texts[i] = []byte(t)
		most = max(most, len(t))
	}
	if text, ok := g.SiteText(in.Name); ok {
		g.str.Assign(g.Strs[in.Dst], body.Literal(text))
		return
	}
	if g.Strs[in.Dst] == nil {
		g.Lazies[in.Dst] = &body.Lazy{Arg: wire.Arg{Kind: wire.Int, Names: &wire.Names{List: texts}},
			Val: g.SiteIndex()}
		return
	}
	// A table of padded strings.
	stride := maps.StringSize(most)
	off := len(g.U.Text)
	for _, t := range texts {
		g.U.Text = append(g.U.Text, t...)
		g.U.Text = append(g.U.Text, make([]byte, stride-len(t))...)
	}
	i := g.Tight(g.SiteIndex(), len(texts)-1)
	g.AluI(asm.Mul, i, int64(stride))
	p := g.MapVal(plan.MapText, off)
	g.Alu(asm.Add, p, i)
	g.str.Assign(g.Strs[in.Dst], body.Padded(emit.At(p, 0), most))
}

// Bias is OpBias: how far the image was moved, which the address of the instruction that fired tells.
func (g *Hook) Bias(in *ir.Instr) {
	dst := g.Longs[in.Dst]
	if !g.UserRegs(in, "the load address") {
		return
	}
	if g.H.Sites[0].Kind.InKernel() {
		g.Fail("probes in the kernel have no load bias")
		return
	}
	if g.hasRet() {
		if !g.U.Feat.FuncIP {
			g.Refuse(in, "bpf-bias", "this kernel does not tell at a return probe where the program was loaded")
			g.MovI(dst, 0)
			return
		}
		g.Mov(dst, g.Call(asm.FnGetFuncIp, emit.InReg(g.Ctx))) // of the function that returns: where the probe is
	} else {
		m := g.U.P.On()
		g.Load(dst, g.Ctx, m.Offset(m.IP), asm.DWord)
	}
	if !g.sitePCs() {
		g.Alu(asm.Sub, dst, g.Imm(int64(g.H.Sites[0].At.PC)))
		return
	}
	pc := g.BinI(asm.LSh, g.cookie(), 64-cookiePC)
	g.AluI(asm.RSh, pc, 64-cookiePC)
	g.Alu(asm.Sub, dst, pc)
}
