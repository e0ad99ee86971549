package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
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

// siteText gives an attribute that is the same at all sites.
func (g *gen) siteText(name string) (string, bool) {
	if name == "probefunc" && g.hasRet() {
		return "", false
	}
	text := siteAttr(g.h.Sites[0], name)
	for _, s := range g.h.Sites {
		if siteAttr(s, name) != text {
			return "", false
		}
	}
	return text, true
}

func (g *gen) hasRet() bool {
	for _, s := range g.h.Sites {
		if s.Kind.Trampoline() {
			return true
		}
	}
	return false
}

// sitePCs reports whether the sites have different pcs.
func (g *gen) sitePCs() bool {
	for _, s := range g.h.Sites {
		if s.At.PC != g.h.Sites[0].At.PC {
			return true
		}
	}
	return false
}

// usesPC reports whether the cookie has to carry the pc.
func (g *gen) usesPC() bool {
	if !g.sitePCs() {
		return false
	}
	for _, b := range g.fn.Blocks {
		for i := range b.Instrs {
			if b.Instrs[i].Op == ir.OpBias {
				return true
			}
		}
	}
	return false
}

// cookies gives each site's cookie.
func (g *gen) cookies() []uint64 {
	out := make([]uint64, len(g.h.Sites))
	pc := g.usesPC()
	for i, s := range g.h.Sites {
		switch {
		case pc:
			out[i] = uint64(g.h.IDs[i])<<cookiePC | s.At.PC
		case g.siteNum != mach.None:
			out[i] = uint64(g.h.IDs[i])
		}
	}
	return out
}

func (g *gen) cookie() mach.Reg {
	if g.siteNum == mach.None {
		g.siteNum = g.reg()
	}
	return g.siteNum
}

// siteIndex gives the index, in the probe's sites, of the site that fired in a new register.
func (g *gen) siteIndex() mach.Reg {
	if len(g.h.Sites) == 1 {
		return g.imm(int64(g.h.IDs[0]))
	}
	if g.usesPC() {
		return g.binI(asm.RSh, g.cookie(), cookiePC)
	}
	return g.copy(g.cookie())
}

// site is OpSite.
func (g *gen) site(in *ir.Instr) {
	switch in.Name {
	case "id":
		g.mov(g.longs[in.Dst], g.siteIndex())
		return
	case "pc":
		if g.userRegs(in, "the address of the probe") {
			g.mov(g.longs[in.Dst], g.ip())
		}
		return
	case "probefunc":
		if g.hasRet() {
			// At a return probe of the kernel this is the function that is returned to.
			if !g.printed[in.Dst] || g.defs[in.Dst] != 1 {
				g.refuse(in, "bpf-lazy-text", "probefunc() in a return probe is named on the host: with eBPF it can only be printed; ppfunc() is the probed function")
				return
			}
			g.lazies[in.Dst] = &lazy{Arg: wire.Arg{Kind: wire.Sym, Lazy: wire.FuncName}, val: g.ip()}
			return
		}
	}
	if _, ok := g.consts[in.Dst]; ok {
		return
	}
	all := g.u.P.Probes[g.h.Probe].Sites
	texts := make([][]byte, len(all))
	most := 0
	for i, s := range all {
		t := siteAttr(s, in.Name)
		if n := g.fn.Regs[in.Dst].Cap; len(t) > n {
			t = t[:n]
		}
		texts[i] = []byte(t)
		most = max(most, len(t))
	}
	if text, ok := g.siteText(in.Name); ok {
		g.assign(g.strs[in.Dst], literal(text))
		return
	}
	if g.strs[in.Dst] == nil {
		g.lazies[in.Dst] = &lazy{Arg: wire.Arg{Kind: wire.Int, Names: &wire.Names{List: texts}}, val: g.siteIndex()}
		return
	}
	// A table of padded strings.
	stride := maps.StringSize(most)
	off := len(g.u.text)
	for _, t := range texts {
		g.u.text = append(g.u.text, t...)
		g.u.text = append(g.u.text, make([]byte, stride-len(t))...)
	}
	i := g.tight(g.siteIndex(), len(texts)-1)
	g.aluI(asm.Mul, i, int64(stride))
	p := g.mapVal(plan.MapText, off)
	g.alu(asm.Add, p, i)
	g.assign(g.strs[in.Dst], padded(at(p, 0), most))
}

// bias is OpBias: how far the image was moved, which the address of the instruction that fired tells.
func (g *gen) bias(in *ir.Instr) {
	dst := g.longs[in.Dst]
	if !g.userRegs(in, "the load address") {
		return
	}
	if g.h.Sites[0].Kind.InKernel() {
		g.fail("probes in the kernel have no load bias")
		return
	}
	if g.hasRet() {
		if !g.u.Feat.FuncIP {
			g.refuse(in, "bpf-bias", "this kernel does not tell at a return probe where the program was loaded")
			g.movI(dst, 0)
			return
		}
		g.mov(dst, g.call(asm.FnGetFuncIp, aReg(g.ctx))) // of the function that returns: where the probe is
	} else {
		g.load(dst, g.ctx, ptRegs[regIP], asm.DWord)
	}
	if !g.sitePCs() {
		g.alu(asm.Sub, dst, g.imm(int64(g.h.Sites[0].At.PC)))
		return
	}
	pc := g.binI(asm.LSh, g.cookie(), 64-cookiePC)
	g.aluI(asm.RSh, pc, 64-cookiePC)
	g.alu(asm.Sub, dst, pc)
}
