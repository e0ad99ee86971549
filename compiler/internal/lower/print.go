package lower

import (
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/argname"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// printer collects a format and its arguments.
type printer struct {
	f    *fn
	fmt  ir.Format
	args []ir.Val
	// names are those of args.
	names argname.List
}

func (p *printer) lit(s string) { p.fmt.Append(ir.Literal(s)) }

// conv adds a conversion with its value. Constants become part of the format.
func (p *printer) conv(piece ir.Piece, v ir.Val) {
	plain := piece.Width < 0 && piece.Prec < 0 && !piece.WidthArg && !piece.PrecArg && !piece.Plus && !piece.Space &&
		!piece.Alt
	switch {
	case p.f.o.Inspected: // all that is printed is a value
	case plain && piece.Conv == 's' && v.Kind == ir.ValStr:
		p.lit(v.Str)
		return
	case plain && (piece.Conv == 'd' || piece.Conv == 'i') && v.Kind == ir.ValInt:
		p.lit(strconv.FormatInt(v.Int, 10))
		return
	}
	p.fmt.Append(piece)
	p.args = append(p.args, v)
	p.names.Value(len(p.args) - 1)
}

// value adds an expression printed by its type. rest are the expressions printed later.
func (p *printer) value(e ast.Expr, rest []ast.Expr) {
	p.names.Next(e)
	if t := p.f.printing().pretty(e); t != nil {
		p.pretty(t)
		return
	}
	v := p.f.printing().shown(e, p.f.keep(p.f.expr(e), rest...))
	c := byte('d')
	if p.f.in.Floats[e] {
		c = 'g'
	} else if p.f.typ(e) == types.String || p.f.in.Stacks[e] {
		c = 's'
	}
	p.conv(ir.Conv(c), v)
}

// shown gives what is printed of e, whose value is v: of a stack its text.
func (f printing) shown(e ast.Expr, v ir.Val) ir.Val {
	if !f.in.Stacks[e] {
		return v
	}
	return f.stackText(v)
}

// stackText is the text of a kept stack.
func (f printing) stackText(v ir.Val) ir.Val {
	return f.keptText("stack_text", v)
}

// keptText is one of the texts of a stack that the kernel keeps.
func (f printing) keptText(name string, v ir.Val) ir.Val {
	r := f.b.Str("", f.maxStr())
	f.b.Intr(name, r, v)
	return ir.R(r)
}

// pretty adds the parts of $$vars and the like.
func (p *printer) pretty(t *elab.Target) {
	for i := range t.Pretty {
		part := &t.Pretty[i]
		if part.Conv == 0 {
			p.lit(part.Lit)
			p.names.Text(part.Lit)
			continue
		}
		piece := ir.Conv(part.Conv)
		if len(t.Pretty) > 1 {
			p.names.Part()
		}
		if part.Conv == 'C' {
			piece.Conv, piece.Alt = 'c', true
		} else if part.Conv == 'v' {
			piece.Conv = 's'
		}
		p.conv(piece, p.f.reading().prettyValue(t, i))
	}
}

// pretty gives the target of e if it is text of several parts.
func (f printing) pretty(e ast.Expr) *elab.Target {
	e = ast.Unparen(e)
	if _, ok := f.in.Const[e]; ok {
		return nil
	}
	if t := f.in.Targets[e]; t != nil && t.Err == nil && !t.Procfs &&
		(len(t.Pretty) > 0 || t.Type == types.String && t.Value.Empty() && t.Inner == nil) {
		return t
	}
	return nil
}

// emit prints what was collected, or gives it as a string.
func (p *printer) emit(value bool) ir.Val {
	f := p.f
	if !value {
		switch {
		case f.o.Inspected:
			f.b.Print(f.out.AddFormat(p.fmt.Headed(p.names.Names())), append(f.printing().head(), p.args...)...)
		case len(p.fmt.Pieces) > 0:
			f.b.Print(f.out.AddFormat(&p.fmt), p.args...)
		}
		return ir.Val{}
	}
	if len(p.fmt.Pieces) == 0 {
		return ir.S("")
	}
	if len(p.fmt.Pieces) == 1 && p.fmt.Pieces[0].Conv == 0 {
		return ir.S(f.text(p.fmt.Pieces[0].Lit))
	}
	r := f.b.Str("", p.width())
	f.b.Sprint(f.out.AddFormat(&p.fmt), r, p.args...)
	return ir.R(r)
}

// head gives the arguments of a print's head.
func (f printing) head() []ir.Val {
	if f.o.Bare {
		return []ir.Val{ir.I(0), ir.I(0), ir.I(0), ir.S("")}
	}
	return []ir.Val{f.fact("pid"), f.fact("tid"), f.fact("gettimeofday_ns"), f.builtins().siteText("pp")}
}

// fact asks a built-in function without arguments for a number.
func (f printing) fact(name string) ir.Val {
	r := f.b.Long("")
	f.b.Intr(name, r)
	return ir.R(r)
}

// width bounds the length of the text.
func (p *printer) width() int {
	n, arg := 0, 0
	limit := p.f.maxStr()
	for _, q := range p.fmt.Pieces {
		if q.Conv == 0 {
			n += len(q.Lit)
			continue
		}
		if q.WidthArg || q.PrecArg || q.Conv == 'm' || q.Conv == 'M' || q.Conv == 's' && q.Alt {
			return limit
		}
		w := 24 // -9223372036854775808, or 64 bits in octal with its prefix
		switch q.Conv {
		case 's':
			w = p.f.capOf(p.args[arg])
			if q.Prec >= 0 {
				w = min(w, q.Prec)
			}
		case 'c':
			w = 1
			if q.Alt {
				w = 4
			}
		case 'b':
			w = 8
		default:
			w = max(w, q.Prec+3)
		}
		n += max(w, q.Width)
		arg++
	}
	return min(n, limit)
}

// print translates a call of the print family.
func (f printing) print(c *ast.Call, value bool) ir.Val {
	name := c.Fun.Name
	p := &printer{f: f.fn, names: argname.List{Took: c.Took}}
	args := c.Args
	value = value && strings.HasPrefix(name, "s")
	line := strings.HasSuffix(name, "ln")
	if strings.HasPrefix(name, "s") && !value {
		for _, a := range args { // only what the arguments do matters
			if h, ok := ast.Unparen(a).(*ast.AtOp); ok && isHist(h.Name) {
				continue
			}
			f.effect(a)
		}
		return ir.Val{}
	}
	if len(args) == 1 {
		if h, ok := ast.Unparen(args[0]).(*ast.AtOp); ok && isHist(h.Name) {
			return f.printHist(h, value, line)
		}
	}
	switch {
	case strings.HasSuffix(name, "printf"):
		return f.printf(c, value)
	case strings.HasSuffix(strings.TrimSuffix(name, "ln"), "printd"):
		delim := ""
		if len(args) > 0 {
			if l, ok := ast.Unparen(args[0]).(*ast.Literal); ok {
				delim = l.Str
			}
			args = args[1:]
		}
		for i, a := range args {
			if i > 0 {
				p.lit(delim)
			}
			p.value(a, args[i+1:])
		}
	default:
		for i, a := range args {
			p.value(a, args[i+1:])
		}
	}
	if line {
		p.lit("\n")
	}
	f.at(c.Span)
	return p.emit(value)
}

func isHist(name string) bool { return name == "@hist_log" || name == "@hist_linear" }

func (f printing) printf(c *ast.Call, value bool) ir.Val {
	p := &printer{f: f.fn}
	if len(c.Args) == 0 {
		return ir.S("")
	}
	lit, ok := ast.Unparen(c.Args[0]).(*ast.Literal)
	if !ok {
		return ir.S("")
	}
	format, err := ir.ParseFormat(lit.Str)
	if err != nil {
		return ir.S("") // refused by sema
	}
	args := c.Args[1:]
	take := func() (ast.Expr, []ast.Expr) {
		if len(args) == 0 {
			return &ast.Literal{}, nil
		}
		e := args[0]
		args = args[1:]
		return e, args
	}
	for _, piece := range format.Pieces {
		if piece.Conv == 0 {
			p.lit(piece.Lit)
			continue
		}
		var before []ir.Val
		for _, star := range []bool{piece.WidthArg, piece.PrecArg} {
			if star {
				e, rest := take()
				before = append(before, f.keep(f.expr(e), rest...))
			}
		}
		e, rest := take()
		p.names.Next(e)
		if t := f.pretty(e); t != nil && piece == ir.Conv('s') {
			p.pretty(t)
			continue
		}
		v := f.shown(e, f.keep(f.expr(e), rest...))
		p.args = append(p.args, before...)
		p.conv(piece, v)
	}
	f.at(c.Span)
	return p.emit(value)
}

func (f printing) printHist(h *ast.AtOp, value, line bool) ir.Val {
	g, n, keys, _, ok := f.arrays().hist(h)
	if !ok {
		return ir.S("")
	}
	f.at(h.Span)
	if value {
		r := f.b.Str("", f.maxStr())
		f.b.SprintHist(g, n, r, keys...)
		if line {
			return f.cat(ir.R(r), ir.S("\n"))
		}
		return ir.R(r)
	}
	f.b.PrintHist(g, n, keys...)
	if line {
		f.b.Print(f.out.AddFormat(&ir.Format{Pieces: []ir.Piece{ir.Literal("\n")}}))
	}
	return ir.Val{}
}

// call translates a call and gives its value if it is wanted.
func (f *fn) call(c *ast.Call, value bool) ir.Val {
	if sema.IsPrint(c.Fun.Name) {
		return f.printing().print(c, value)
	}
	ef := f.in.Calls[c]
	if ef == nil {
		return ir.I(0) // refused by sema
	}
	args := f.exprs(c.Args)
	f.at(c.Fun.Span)
	if len(c.Args) == 1 && f.in.Becomes[ast.Unparen(c.Args[0])] == elab.BecomesText { // print_ustack(s) and the like
		if strings.HasPrefix(c.Fun.Name, "s") {
			return args[0]
		}
		p := &printer{f: f}
		p.conv(ir.Conv('s'), args[0])
		return p.emit(false)
	}
	if ef.Intrinsic != nil {
		return f.builtins().intrinsic(ef, args, c.Args, c.Fun.Span)
	}
	dst := ir.NoReg
	if value && (ef.Result == types.Long || ef.Result == types.String) {
		dst = f.b.Reg("", ef.Result, f.capFor(ef.Result))
	}
	f.b.Call(f.function(ef, f.ctx), dst, args...)
	if dst == ir.NoReg {
		return ir.Val{}
	}
	return ir.R(dst)
}
