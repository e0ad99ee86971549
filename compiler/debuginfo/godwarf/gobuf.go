package godwarf

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/types"
)

// gobuf notes where a goroutine's registers are while it does not run, from the member sched of runtime.g. The members
// of runtime.gobuf are called the same on all machines.
func gobuf(g *debuginfo.Goroutine, sched types.Field) {
	for _, f := range sched.Type.Fields() {
		switch off := sched.Off + f.Off; f.Name {
		case "pc":
			g.SchedPC = off
		case "sp":
			g.SchedSP = off
		case "bp":
			g.SchedBP = off
		}
	}
}
