package lower

import (
	"fmt"

	"github.com/gostap/gostap/compiler/gocontext"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/loc"
)

// stored gives where the value is that a context of Go has for a key, by the step's operands.
func (f reading) stored(c *loc.Chain, in []ir.Val) ir.Val {
	r := f.b.Long("")
	f.b.Call(f.contextFunc(c), r, in...)
	return ir.R(r)
}

// chainOperands are what the function for a Stored takes beside the context's two words.
func (f reading) chainOperands(c *loc.Chain, args []ir.Val) []ir.Val {
	key := ir.I(0)
	switch {
	case !c.Key.Empty():
		key = f.loc(c.Key, args)
	case c.Form == loc.TextKey:
		key = ir.S(c.Text)
	}
	return []ir.Val{f.loc(c.KeyType, nil), f.loc(c.Bias, nil), key}
}

// contextFunc gives the name of the function that looks for keys of the form that c has in contexts like those of c,
// which is made if there is none.
func (l *lowerer) contextFunc(c *loc.Chain) string {
	// No function of a script has such a name.
	made := func(what, key string, make func(name string) *ir.Func) string {
		key = what + " " + key
		if name, ok := l.contextFuncs[key]; ok {
			return name
		}
		name := fmt.Sprintf("context.%s.%d", what, len(l.contextFuncs))
		if l.contextFuncs == nil {
			l.contextFuncs = map[string]string{}
		}
		l.contextFuncs[key] = name
		l.out.Funcs = append(l.out.Funcs, make(name))
		return name
	}
	same := ""
	if c.Form == loc.TextKey {
		same = made("same", "", func(name string) *ir.Func { return gocontext.Same(name, l.maxStr()) })
	}
	lies := fmt.Sprint(*c.Contexts)
	does := made("does", lies, func(name string) *ir.Func { return gocontext.Does(c.Contexts, name, l.maxStr()) })
	return made("value", fmt.Sprintf("%d %d %s", c.Form, c.Size, lies), func(name string) *ir.Func {
		return gocontext.Func(c, name, does, same, l.maxStr())
	})
}
