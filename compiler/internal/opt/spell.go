package opt

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
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

// SpellTexts has the texts of ctime() and value_text() computed by functions where they are used for more than
// printing. What is printed at once stays a number until the host writes it, which is cheaper.
func SpellTexts(p *ir.Program) {
	var made []*ir.Func
	byTable := map[string]*ir.Func{}
	eachFunc(p, func(f *ir.Func) {
		var printed []bool
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				in := &b.Instrs[i]
				if in.Op != ir.OpIntr || in.Dst == ir.NoReg {
					continue
				}
				text := in.Builtin().Text.Lazy
				if text != wire.CTime && text != wire.Decoded {
					continue
				}
				if printed == nil {
					printed = ir.PrintedOnly(f)
				}
				if printed[in.Dst] {
					continue
				}
				table := "" // of a time
				if text == wire.Decoded {
					if in.Args[1].Kind != ir.ValStr || !spellable(in.Args[1].Str) {
						continue
					}
					table = in.Args[1].Str
				}
				fn := byTable[table]
				if fn == nil {
					if fn = timeSpeller(p); text == wire.Decoded {
						fn = valueSpeller(p, fmt.Sprintf("value_text.%d", len(byTable)), table)
					}
					byTable[table] = fn
					made = append(made, fn)
				}
				in.Op, in.Name, in.Args = ir.OpCall, fn.Name, in.Args[:1]
			}
		}
	})
	p.Funcs = append(p.Funcs, made...)
}

// timeSpeller makes the function for p, whose formats it shares. No function of a script has such a name.
func timeSpeller(p *ir.Program) *ir.Func {
	from := ctimeProgram()
	f := from.Funcs[0].Clone()
	f.Name = "ctime.text"
	eachInstr(f, func(in *ir.Instr) {
		if in.Op == ir.OpSprint {
			in.N = int64(p.AddFormat(from.Formats[in.N]))
		}
	})
	return f
}
