package lower

import (
	"math"
	"slices"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// autoPrint makes an end probe that prints the globals of the script that are written
// and never read, behind all other end probes:
//
//	n=3
//	name="text"
//	calls["a",1]=7          arrays: an element a line, the greatest value first
//	sizes @count=2 @min=1 @max=3 @sum=4 @avg=2
func (l *lowerer) autoPrint() {
	var f *fn
	arrays := 0
	done := func() {
		if f == nil {
			return
		}
		f.b.End()
		h := f.b.Finish()
		h.Pos = h.Blocks[0].Instrs[0].Pos
		l.out.Probes = append(l.out.Probes, &ir.Probe{
			Name: "end", Pos: h.Pos, Handler: h, Cond: -1,
			Sites: []*probe.Site{{Kind: probe.End, Priority: math.MaxInt64, Point: "end", Alias: "end"}},
		})
		f = nil
	}
	list := sema.AutoPrint(l.p)
	if l.o.Folded {
		list = slices.DeleteFunc(list, func(g *elab.Global) bool { return !slices.Contains(g.StackKeys, true) })
		if len(list) == 0 {
			l.ds.Errorf(diag.Semantic, "no-stacks", source.Span{},
				"--folded: no array has stacks as keys and is left to be printed at the end").
				Hintf("global hits probe timer.profile { hits[ustack()]++ }")
		}
	}
	for _, g := range list {
		i, ok := l.globs[g]
		if !ok {
			continue
		}
		if l.o.Merged {
			done()
		}
		if l.out.Globals[i].IsArray() {
			if arrays++; arrays%ir.MaxIters == 0 {
				done() // a handler has only so many loops
			}
		}
		if f == nil {
			f = l.newFn("", &elab.Info{}, &context{})
		}
		f.b.Pos = g.Decl.Name.Span.From
		if l.o.Folded {
			f.arrays().autoFold(i, g, len(list) > 1)
			continue
		}
		f.arrays().autoPrint(i, g)
	}
	done()
}

func (f arrays) autoPrint(g int, of *elab.Global) {
	gl := f.out.Globals[g]
	p := &printer{f: f.fn}
	if gl.Unread = f.o.Inspected && !of.Stack && !slices.Contains(of.StackKeys, true); gl.Unread {
		p.names.Auto()
	}
	p.lit(of.Decl.Name.Name)
	if !gl.IsArray() {
		switch gl.Type {
		case types.Stats:
			f.autoStat(p, g, nil)
		default:
			r := f.b.Reg("", gl.Type, gl.Cap)
			f.b.OnGlobal(ir.OpGGet, g, r)
			p.result(gl.Type, ir.R(r), of)
		}
		return
	}
	p.lit("[")
	f.autoElements(g, func(i int, key ir.Val) {
		if i > 0 {
			p.lit(",")
		}
		p.autoValue(gl.Keys[i].Type, key, of.StackKeys[i], false)
	}, func(keys []ir.Val, val ir.Val) {
		p.lit("]")
		if gl.Type == types.Stats {
			f.autoStat(p, g, keys)
		} else {
			p.result(gl.Type, val, of)
		}
	})
}

// autoElements goes through an array, the greatest value first. element is called behind the keys, with the value, but
// for statistics.
func (f arrays) autoElements(g int, key func(i int, key ir.Val), element func(keys []ir.Val, val ir.Val)) {
	gl := f.out.Globals[g]
	it := f.b.IterOpen(g, "v-", nil, ir.I(-1))
	head, in, out := f.b.Block(), f.b.Block(), f.b.Block()
	f.b.Jump(head)
	f.to(head)
	f.b.Branch(f.b.IterNext(g, it), in, out)
	f.to(in)
	var keys []ir.Val
	for i, k := range gl.Keys {
		r := f.b.Reg("", k.Type, k.Cap)
		f.b.IterKey(g, it, i, r)
		keys = append(keys, ir.R(r))
		key(i, ir.R(r))
	}
	var val ir.Val
	if gl.Type != types.Stats {
		r := f.b.Reg("", gl.Type, gl.Cap)
		f.b.IterVal(g, it, r)
		val = ir.R(r)
	}
	element(keys, val)
	f.b.Jump(head)
	f.to(out)
}

// autoFold prints an array with stacks as keys, an element a line: the keys with semicolons between, those of a stack
// its functions, and a number, which of statistics is the sum.
//
//	runtime.main;main.main;main.alloc 3
func (f arrays) autoFold(g int, of *elab.Global, named bool) {
	gl := f.out.Globals[g]
	p := &printer{f: f.fn}
	if named {
		p.lit(of.Decl.Name.Name + ";")
	}
	f.autoElements(g, func(i int, key ir.Val) {
		if i > 0 {
			p.lit(";")
		}
		switch {
		case of.StackKeys[i]:
			p.conv(ir.Conv('s'), f.printing().keptText("stack_folded", key))
		case gl.Keys[i].Type == types.String:
			p.conv(ir.Conv('s'), key)
		default:
			p.conv(ir.Conv('d'), key)
		}
	}, func(keys []ir.Val, val ir.Val) {
		switch {
		case gl.Type != types.Stats:
		case gl.Stat.Scale != 0:
			val = f.statValue(g, ir.StatCount, keys)
		default:
			val = f.statValue(g, ir.StatSum, keys)
		}
		p.lit(" ")
		p.conv(ir.Conv('d'), val)
		p.lit("\n")
		p.emit(false)
	})
}

// autoValue adds a value as a script would write it, a stack on lines of its own.
func (p *printer) autoValue(t types.Type, v ir.Val, stack, float bool) {
	if float {
		p.conv(ir.Conv('g'), v)
		return
	}
	if stack {
		p.lit("\n")
		p.conv(ir.Conv('s'), p.f.printing().stackText(v))
		return
	}
	if t == types.String {
		escaped := p.f.b.Str("", p.f.maxStr())
		p.f.b.Intr("text_str", escaped, v)
		p.lit(`"`)
		p.conv(ir.Conv('s'), ir.R(escaped))
		p.lit(`"`)
		return
	}
	p.conv(ir.Conv('d'), v)
}

// result adds "=value" and prints the line.
func (p *printer) result(t types.Type, v ir.Val, of *elab.Global) {
	p.lit("=")
	p.autoValue(t, v, of.Stack, of.Float)
	p.lit("\n")
	p.emit(false)
}

// autoStat adds the statistics of an aggregate and prints the line. An empty one has only a count.
func (f arrays) autoStat(p *printer, g int, keys []ir.Val) {
	count := f.statValue(g, ir.StatCount, keys)
	conv := ir.Conv('d')
	if f.out.Globals[g].Stat.Scale != 0 {
		conv = ir.Conv('g')
	}
	some, none, done := f.b.Block(), f.b.Block(), f.b.Block()
	f.b.Branch(count, some, none)
	f.to(none)
	empty := &printer{f: f.fn, args: append([]ir.Val(nil), p.args...), names: p.names}
	empty.fmt.Append(p.fmt.Pieces...)
	empty.lit(" @count=0\n")
	empty.emit(false)
	f.b.Jump(done)
	f.to(some)
	p.lit(" @count=")
	p.conv(ir.Conv('d'), count)
	for _, s := range []ir.Stat{ir.StatMin, ir.StatMax, ir.StatSum, ir.StatAvg} {
		p.lit(" @" + s.String() + "=")
		p.conv(conv, f.statValue(g, s, keys))
	}
	p.lit("\n")
	p.emit(false)
	f.b.Jump(done)
	f.to(done)
}
