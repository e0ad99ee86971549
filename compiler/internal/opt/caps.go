package opt

import (
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// InferCaps lowers the measures of strings to what can really come in: of registers, parameters, results,
// values and keys of globals. execname() has 15 bytes, a number in decimal 20. It never
// raises one, so what was cut before is cut alike. A key is as wide as everything that is stored
// or looked for under it. Cost: a few rounds over the program; strings that grow in a loop are
// given up on after widenAfter rounds.
func InferCaps(p *ir.Program) {
	c := &capper{p: p, most: max(p.Limits.MaxString-1, 0), funcs: make(map[string]*ir.Func, len(p.Funcs))}
	for _, f := range p.Funcs {
		c.funcs[f.Name] = f
	}
	c.start()
	for round := 0; c.changed; round++ {
		c.changed, c.widen = false, round >= widenAfter
		for _, f := range p.Funcs {
			c.fn(f, nil)
		}
		for _, pr := range p.Probes {
			c.fn(pr.Handler, pr)
		}
	}
	c.finish()
}

const widenAfter = 5

// capper holds the bounds found so far; they only grow. Bounds lists the measures as they were.
type capper struct {
	p       *ir.Program
	funcs   map[string]*ir.Func
	most    int
	regs    map[*ir.Func][]int
	results map[*ir.Func]*int
	globs   []globCaps
	changed bool
	widen   bool
}

type globCaps struct {
	val  int
	keys []int
}

func (c *capper) start() {
	c.changed = true
	c.regs = map[*ir.Func][]int{}
	c.results = map[*ir.Func]*int{}
	eachFunc(c.p, func(f *ir.Func) {
		c.regs[f] = make([]int, len(f.Regs))
		c.results[f] = new(int)
	})
	c.globs = make([]globCaps, len(c.p.Globals))
	for i, g := range c.p.Globals {
		c.globs[i] = globCaps{len(g.InitStr), make([]int, len(g.Keys))}
	}
}

// finish writes the bounds into the program. Globals keep room for one byte, so that no layout has to deal
// with columns of none.
func (c *capper) finish() {
	eachFunc(c.p, func(f *ir.Func) {
		for r := range f.Regs {
			if f.Regs[r].Type == types.String {
				f.Regs[r].Cap = min(f.Regs[r].Cap, c.regs[f][r])
			}
		}
		if f.Result == types.String {
			f.ResultCap = min(f.ResultCap, *c.results[f])
		}
	})
	for i, g := range c.p.Globals {
		if g.Type == types.String {
			g.Cap = min(g.Cap, max(c.globs[i].val, 1))
		}
		for k := range g.Keys {
			if g.Keys[k].Type == types.String {
				g.Keys[k].Cap = min(g.Keys[k].Cap, max(c.globs[i].keys[k], 1))
			}
		}
	}
}

// raise makes *at hold n bytes, at most bound.
func (c *capper) raise(at *int, n, bound int) {
	if n = min(n, bound); n <= *at {
		return
	}
	if c.widen {
		n = bound
	}
	*at = n
	c.changed = true
}

// of is the bound of an operand.
func (c *capper) of(f *ir.Func, v ir.Val) int {
	switch v.Kind {
	case ir.ValStr:
		return len(v.Str)
	case ir.ValReg:
		return c.regs[f][v.Reg]
	}
	return 0
}

func (c *capper) fn(f *ir.Func, pr *ir.Probe) {
	regs := c.regs[f]
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			in := &b.Instrs[i]
			if in.Op.OnGlobal() {
				c.global(f, in)
			}
			if code := c.p.CodeOf(in); code != nil {
				for _, u := range code.Globs {
					c.embedded(u)
				}
			}
			if in.Op == ir.OpCall {
				if callee := c.funcs[in.Name]; callee != nil {
					for j, r := range callee.Params {
						c.raise(&c.regs[callee][r], c.of(f, in.Args[j]), callee.Regs[r].Cap)
					}
				}
			}
			if in.Dst != ir.NoReg && f.Regs[in.Dst].Type == types.String {
				c.raise(&regs[in.Dst], c.result(f, pr, in), f.Regs[in.Dst].Cap)
			}
		}
		if t := &b.Term; t.Kind == ir.TermReturn && f.Result == types.String {
			c.raise(c.results[f], c.of(f, t.Cond), f.ResultCap)
		}
	}
}

// global raises what in stores or looks for.
func (c *capper) global(f *ir.Func, in *ir.Instr) {
	g := c.p.Globals[in.Glob]
	switch in.Op {
	case ir.OpIterNext, ir.OpIterKey, ir.OpIterVal, ir.OpMClear:
		return
	case ir.OpIterOpen:
		if len(in.Args) == 1 {
			return
		}
	}
	for k := range g.Keys {
		c.raise(&c.globs[in.Glob].keys[k], c.of(f, in.Args[k]), g.Keys[k].Cap)
	}
	if in.Op == ir.OpGSet || in.Op == ir.OpMSet {
		c.raise(&c.globs[in.Glob].val, c.of(f, in.Args[len(in.Args)-1]), g.Cap)
	}
}

// embedded raises a global that C of the script uses to what it is declared with: nothing is known of what C stores or
// looks for.
func (c *capper) embedded(u ir.CGlob) {
	g := c.p.Globals[u.Glob]
	for k := range g.Keys {
		c.raise(&c.globs[u.Glob].keys[k], g.Keys[k].Cap, g.Keys[k].Cap)
	}
	if u.Write && g.Type == types.String {
		c.raise(&c.globs[u.Glob].val, g.Cap, g.Cap)
	}
}

// result bounds the string that in computes.
func (c *capper) result(f *ir.Func, pr *ir.Probe, in *ir.Instr) int {
	switch in.Op {
	case ir.OpMov:
		return c.of(f, in.Args[0])
	case ir.OpCat:
		return c.of(f, in.Args[0]) + c.of(f, in.Args[1])
	case ir.OpSite:
		return c.site(in.Name, pr)
	case ir.OpGGet, ir.OpMGet, ir.OpIterVal:
		return c.globs[in.Glob].val
	case ir.OpIterKey:
		return c.globs[in.Glob].keys[in.N]
	case ir.OpSprint:
		return formatCap(c.p.Formats[in.N], in.Args, c.most, ir.MaxField, func(v ir.Val) int { return c.of(f, v) })
	case ir.OpCall:
		if callee := c.funcs[in.Name]; callee != nil {
			return *c.results[callee]
		}
	case ir.OpIntr:
		return c.intrinsic(f, in)
	}
	return c.most
}

// site bounds an attribute by those of the probe's sites, or of all sites in a function.
func (c *capper) site(name string, pr *ir.Probe) int {
	probes := c.p.Probes
	if pr != nil {
		probes = []*ir.Probe{pr}
	}
	n := 0
	for _, pr := range probes {
		for _, s := range pr.Sites {
			switch name {
			case "pp":
				n = max(n, len(s.Point))
			case "ppfunc":
				n = max(n, len(s.Func))
			case "pn":
				n = max(n, len(s.Point), len(s.Alias))
			default:
				return c.most // probefunc may name any function
			}
		}
	}
	return n
}

func (c *capper) intrinsic(f *ir.Func, in *ir.Instr) int {
	i := in.Builtin()
	n := c.most
	switch {
	case i.Cap > 0:
		n = i.Cap
	case i.Cap < 0 && -i.Cap <= len(in.Args):
		n = c.of(f, in.Args[-i.Cap-1])
	}
	// A constant length bounds those that take one, a constant table those that decode numbers.
	if i.Len > 0 {
		switch v := in.Args[i.Len-1]; {
		case v.Kind != ir.ValInt:
		case !i.Quotes:
			n = int(min(max(v.Int, 0), int64(n)))
		case v.Int >= 0 && v.Int < int64(n):
			n = min(n, textfmt.QuotedCap(int(v.Int)))
		}
	}
	if i.Else > 0 {
		n = max(n, c.of(f, in.Args[i.Else-1]))
	}
	if i.Text.Lazy == wire.Decoded && in.Args[i.Const-1].Kind == ir.ValStr {
		n = textfmt.DecodeCap(in.Args[i.Const-1].Str)
	}
	return min(n, c.most)
}

// formatCap bounds the text of format f, at most limit. of bounds string operands; dynamic is what a width
// or precision from a register counts for.
func formatCap(f *ir.Format, args []ir.Val, limit, dynamic int, of func(ir.Val) int) int {
	n := 0
	next := func() ir.Val {
		if len(args) == 0 {
			return ir.Val{}
		}
		v := args[0]
		args = args[1:]
		return v
	}
	field := func(has bool, n int) int {
		if !has {
			return n
		}
		if v := next(); v.Kind == ir.ValInt {
			return textfmt.Field(v.Int)
		}
		return dynamic
	}
	for i := range f.Pieces {
		p := &f.Pieces[i]
		if p.Conv == 0 {
			n += len(p.Lit)
			continue
		}
		width := field(p.WidthArg, p.Width)
		prec := field(p.PrecArg, p.Prec)
		v := next()
		size := 0
		switch p.Conv {
		case 'd', 'i', 'u':
			size = max(20, prec) + 1 // digits and a sign
			if v.Kind == ir.ValInt || prec < 0 && !p.Plus && !p.Space {
				size = 20 // -9223372036854775808, 18446744073709551615
			}
			if v.Kind == ir.ValInt {
				size = len(textfmt.Conv(nil, p, -1, prec, textfmt.Val{Int: v.Int}))
			}
		case 'o':
			size = max(22, prec) + 1
		case 'x', 'X', 'p':
			size = max(16, prec) + 2
		case 's':
			size = of(v)
			if prec >= 0 && !(p.PrecArg && dynamic == 0) {
				size = min(size, prec)
			}
		case 'c':
			size = 1
			if p.Alt {
				size = 4
			}
		case 'b':
			size = 8
		case 'r', 'h':
			size = len("-2.2250738585072014e-308")
		case 'g', 'G', 'f', 'F', 'e', 'E':
			size = 320 + max(6, prec) // of %f
		case 'm', 'M':
			size = 2 * textfmt.MaxMem
		}
		n += max(size, width)
		if p.Zero && (p.Conv == 's' || p.Conv == 'm' || p.Conv == 'M') {
			n++
		}
		if n >= limit {
			return limit
		}
	}
	return n
}
