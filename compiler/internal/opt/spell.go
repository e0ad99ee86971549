package opt

import (
	_ "embed"
	"sync"

	"github.com/gostap/gostap/compiler/ir"
)

// ctimeText is a function in the text form of programs, made from ctime.stp.
//
//go:embed ctime.ir
var ctimeText string

// ctimeProgram is ctimeText, parsed. Nobody may change it.
var ctimeProgram = sync.OnceValue(func() *ir.Program {
	p, err := ir.ParseText(ctimeText)
	if err != nil {
		panic("ctime.ir: " + err.Error())
	}
	return p
})

// SpellTimes has the text of ctime() computed by a function where it is used for more than printing. What is printed at once stays a
// number until the host writes it, which is cheaper.
func SpellTimes(p *ir.Program) {
	var spell *ir.Func
	eachFunc(p, func(f *ir.Func) {
		var printed []bool
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				in := &b.Instrs[i]
				if in.Op != ir.OpIntr || in.Name != "ctime" || in.Dst == ir.NoReg {
					continue
				}
				if printed == nil {
					printed = ir.PrintedOnly(f)
				}
				if printed[in.Dst] {
					continue
				}
				if spell == nil {
					spell = speller(p)
				}
				in.Op, in.Name = ir.OpCall, spell.Name
			}
		}
	})
	if spell != nil && p.Func(spell.Name) == nil {
		p.Funcs = append(p.Funcs, spell)
	}
}

// speller makes the function for p, whose formats it shares.
func speller(p *ir.Program) *ir.Func {
	from := ctimeProgram()
	f := *from.Funcs[0]
	if had := p.Func(f.Name); had != nil {
		return had
	}
	f.Regs = append([]ir.RegInfo(nil), f.Regs...)
	f.Blocks = make([]*ir.Block, len(f.Blocks))
	for i, b := range from.Funcs[0].Blocks {
		c := *b
		c.Instrs = append([]ir.Instr(nil), b.Instrs...)
		for j := range c.Instrs {
			if in := &c.Instrs[j]; in.Op == ir.OpSprint {
				in.N = int64(p.AddFormat(from.Formats[in.N]))
			}
		}
		f.Blocks[i] = &c
	}
	return &f
}
