package spread

import "github.com/gostap/gostap/compiler/ir"

// heads gives the registers of fn that are read for the heads of prints (ir.HeadArgs) and for nothing else: a head says
// who printed, which for a handler that runs once is the session itself.
func heads(p *ir.Program, fn *ir.Func) map[ir.Reg]bool {
	out, other := map[ir.Reg]bool{}, map[ir.Reg]bool{}
	read := func(into map[ir.Reg]bool, vals ...ir.Val) {
		for _, v := range vals {
			if v.IsReg() {
				into[v.Reg] = true
			}
		}
	}
	for _, b := range fn.Blocks {
		for i := range b.Instrs {
			in := &b.Instrs[i]
			args := in.Args
			if in.Op == ir.OpPrint && p.Formats[in.N].IsHeaded() {
				read(out, args[:ir.HeadArgs]...)
				args = args[ir.HeadArgs:]
			}
			read(other, args...)
		}
		read(other, b.Term.Cond)
		read(other, b.Term.Args...)
	}
	for r := range other {
		delete(out, r)
	}
	return out
}
