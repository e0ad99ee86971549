package compiler

import (
	"github.com/gostap/gostap/compiler/debuginfo/dynlink"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/family"
	"github.com/gostap/gostap/compiler/probe"
)

// narrow warns where the traced program is one of 32 bits and the script has probes at system calls: such programs make
// theirs by another table, which these probes do not see.
func (s *state) narrow(ds *diag.List) {
	const class, class32 = 4, 1 // in e_ident
	h := dynlink.Head(s.o.TargetPath, class+1)
	if len(h) <= class || string(h[:4]) != "\x7fELF" || h[class] != class32 {
		return
	}
	for _, h := range s.items {
		for _, st := range h.item.Sites {
			if st.Kind.Class() == probe.Syscall {
				ds.Warnf(diag.Semantic, family.CodeLeftOut, h.decl.Points[0].Range(), "%s is a program of 32 bits: "+
					"its system calls go by a table of their own, and no probe of system calls fires for them",
					s.o.TargetPath).Hintf(`kernel.function("__ia32_sys_NAME") and ` +
					`kernel.function("__ia32_compat_sys_NAME") are behind them`)
				return
			}
		}
	}
}
