package lower

import (
	"fmt"

	"github.com/gostap/gostap/compiler/gomap"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/loc"
)

// inMap looks into a map of Go at address a, for a key or at a position.
func (f reading) inMap(op loc.Op, m *loc.Map, a, b ir.Val) ir.Val {
	r := f.b.Long("")
	args := []ir.Val{a, b}
	if op == loc.Find {
		args = append(args, f.loc(m.Sched, nil))
	}
	f.b.Call(f.mapFunc(op, m), r, args...)
	return ir.R(r)
}

// mapFunc gives the name of the function that does op with maps that lie like m, which is made if there is none.
func (l *lowerer) mapFunc(op loc.Op, m *loc.Map) string {
	like := *m
	like.Sched = loc.Prog{}
	if op != loc.Find {
		like.Text, like.KeySize = false, 0
	}
	key := fmt.Sprintf("%d %+v", op, like)
	if name, ok := l.mapFuncs[key]; ok {
		return name
	}
	// No function of a script has such a name.
	name := fmt.Sprintf("map.%s.%d", op, len(l.mapFuncs))
	if l.mapFuncs == nil {
		l.mapFuncs = map[string]string{}
	}
	l.mapFuncs[key] = name
	l.out.Funcs = append(l.out.Funcs, gomap.Func(op, m, name, l.maxStr()))
	return name
}
