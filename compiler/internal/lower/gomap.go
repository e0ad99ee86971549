package lower

import (
	"fmt"

	"github.com/gostap/gostap/compiler/gomap"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
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

// nulKey is the message about a key of which a string of the script has only the beginning.
const nulKey = "the key has a byte of 0 in it, where strings here end"

// wholeKey is v, the string of the program that t reads and that is a key of a map, if no byte of 0 ends it before its
// end, else a run-time error: what is left is another key. One as long as strings can be is told by the lookup.
func (f reading) wholeKey(t *elab.Target, v ir.Val) ir.Val {
	if t == nil || t.Err != nil || t.Type != types.String || t.Len.Empty() || t.AtEntry && !f.inEntry {
		return v
	}
	n := f.b.Long("")
	f.b.Intr("strlen", n, v)
	length, most := f.loc(t.Len, f.args(t)), ir.I(int64(f.maxStr()))
	ends := f.b.Bin(ir.OpULt, ir.R(n), length)
	ends = f.b.Bin(ir.OpAnd, ends, f.b.Bin(ir.OpULt, ir.R(n), most))
	return f.check(v, f.b.Bin(ir.OpEq, ends, ir.I(0)), nulKey)
}
