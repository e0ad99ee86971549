package cgen

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/snapshot"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// print sends the arguments of a print statement; the host makes the text.
func (g *gen) print(in *ir.Instr) {
	var lines []string
	site := wire.Site{Format: int(in.N)}
	size, i := 8, 0
	add := func(a wire.Arg, n int, format string, args ...any) {
		site.Args = append(site.Args, a)
		size += n
		if format != "" {
			lines = append(lines, fmt.Sprintf(format, args...))
		}
	}
	value := func(v ir.Val) {
		a, n, line := g.argument(v)
		site.Args = append(site.Args, a)
		size += n
		if line != "" {
			lines = append(lines, line)
		}
	}
	for _, p := range g.p.Formats[in.N].Pieces {
		if p.Conv == 0 {
			continue
		}
		prec := fmt.Sprint(p.Prec)
		if p.WidthArg {
			value(in.Args[i])
			i++
		}
		if p.PrecArg {
			value(in.Args[i])
			prec = fmt.Sprintf("gs_field(%s)", g.long(in.Args[i]))
			i++
		}
		if p.Conv == 'm' || p.Conv == 'M' {
			add(wire.Arg{Kind: wire.Mem}, 8+1024, "p = gs_put_mem(c, p, %s, %s, %v);", g.long(in.Args[i]), prec, !p.Alt)
		} else {
			value(in.Args[i])
		}
		i++
	}
	g.entry(site, size, lines)
}

// argument gives how a value is sent, in at most how many bytes, and the C that writes it at p.
func (g *gen) argument(v ir.Val) (a wire.Arg, size int, line string) {
	switch {
	case v.Kind == ir.ValStr:
		return wire.Arg{Kind: wire.Const, Names: &wire.Names{List: [][]byte{[]byte(v.Str)}}}, 0, ""
	case v.Kind == ir.ValInt || g.f.Regs[v.Reg].Type != types.String:
		return wire.Arg{Kind: wire.Int}, 8, fmt.Sprintf("*p++ = %s;", g.long(v))
	case g.lazy[v.Reg] != nil:
		arg := *g.lazy[v.Reg]
		switch arg.Kind {
		case wire.Stack:
			g.stacks = true
			room, put := g.p.Limits.MaxBacktrace, "gs_put_user_stack"
			if arg.Lazy.OfKernel() {
				put = "gs_put_stack"
			} else if !partition.FramePointers(g.sites()) {
				arg.Kind = wire.RawStack
				return arg, 16 + 8*room + wire.RegsSize + wire.MaxStack,
					fmt.Sprintf("p = gs_put_raw_stack(p, hit->regs, %d);", room)
			}
			return arg, 16 + 8*room, fmt.Sprintf("p = %s(p, hit->regs, %d, %v);", put, room,
				partition.ReturnOnTop(g.sites()))
		case wire.Quoted:
			return arg, 16 + round8(arg.Max), fmt.Sprintf("p = gs_put_quoted(c, p, %s, %s_n, %v, %v);", g.name(v.Reg),
				g.name(v.Reg), arg.CString, g.fromKernel[v.Reg])
		case wire.Snapshot:
			return arg, 16 + snapshot.Bytes, fmt.Sprintf("p = gs_put_snap(p, %s);", g.snapOf[v.Reg])
		case wire.Sym:
			return arg, 16, fmt.Sprintf("*p++ = %s;\n\t\t*p++ = gs_pid();", g.name(v.Reg))
		}
		return arg, 8, fmt.Sprintf("*p++ = %s;", g.name(v.Reg))
	}
	return wire.Arg{Kind: wire.Text}, 8 + round8(g.capOf(v)),
		fmt.Sprintf("p = gs_put_text(p, %s, strlen(%s));", g.str(v), g.str(v))
}

// entry writes one entry of the output.
func (g *gen) entry(site wire.Site, size int, lines []string) {
	g.maxOut = max(g.maxOut, size)
	g.schema.Sites = append(g.schema.Sites, site)
	id := len(g.schema.Sites) - 1
	if len(lines) == 0 {
		g.emit("gs_done(c, gs_begin(c, %d));", id)
		return
	}
	g.emit("{\n\t\tu64 *p = gs_begin(c, %d);\n\n\t\t%s\n\t\tgs_done(c, p);\n\t}", id, strings.Join(lines, "\n\t\t"))
}

// sites are those of the handler, nil in functions.
func (g *gen) sites() []*probe.Site {
	if g.probe < 0 {
		return nil
	}
	return g.probes.Sites
}

// format writes a format as a table and gives its name.
func (u *unit) format(n int64) string {
	name := fmt.Sprintf("format_%d", n)
	if u.names[name] {
		return name
	}
	u.names[name] = true
	fmt.Fprintf(&u.fmts, "static const struct gs_piece %s[] = {\n", name)
	for _, p := range u.p.Formats[n].Pieces {
		if p.Conv == 0 {
			fmt.Fprintf(&u.fmts, "\t{ .lit = %s, .nlit = %d },\n", text(p.Lit), len(p.Lit))
			continue
		}
		fmt.Fprintf(&u.fmts, "\t{ .conv = '%c', .width = %d, .prec = %d", p.Conv, p.Width, p.Prec)
		for _, f := range []struct {
			on   bool
			name string
		}{{p.Minus, "minus"}, {p.Plus, "plus"}, {p.Space, "space"}, {p.Zero, "zero"}, {p.Alt, "alt"},
			{p.WidthArg, "width_arg"}, {p.PrecArg, "prec_arg"}} {
			if f.on {
				fmt.Fprintf(&u.fmts, ", .%s = true", f.name)
			}
		}
		u.fmts.WriteString(" },\n")
	}
	u.fmts.WriteString("};\n\n")
	return name
}

func (g *gen) sprint(in *ir.Instr) {
	if len(g.p.Formats[in.N].Pieces) == 0 {
		g.emit("gs_copy(%s, \"\");", g.dst(in.Dst))
		return
	}
	name := g.format(in.N)
	if len(in.Args) == 0 {
		g.emit("gs_sprint(c, %s, %s, ARRAY_SIZE(%s), NULL);", g.dst(in.Dst), name, name)
		return
	}
	var args []string
	for _, v := range in.Args {
		switch {
		case v.Kind == ir.ValReg && g.lazy[v.Reg] != nil:
			g.refuse(in.Pos, "the text is made on the host: in a module it can only be printed")
			args = append(args, "{ .s = \"\" }")
		case g.isString(v):
			args = append(args, fmt.Sprintf("{ .s = %s }", g.str(v)))
		default:
			args = append(args, fmt.Sprintf("{ .n = %s }", g.long(v)))
		}
	}
	g.emit("{\n\t\tconst union gs_arg args[] = { %s };\n", strings.Join(args, ", "))
	g.emit("\tgs_sprint(c, %s, %s, ARRAY_SIZE(%s), args);\n\t}", g.dst(in.Dst), name, name)
}

// say is warn() and log().
func (g *gen) say(in *ir.Instr, kind string, tail string) {
	f := &ir.Format{Pieces: []ir.Piece{ir.Conv('s')}}
	f.Append(ir.Literal(tail))
	site := wire.Site{Format: g.p.AddFormat(f)}
	v := in.Args[0]
	var lines []string
	size := 8
	if v.Kind == ir.ValStr {
		site.Args = []wire.Arg{{Kind: wire.Const, Names: &wire.Names{List: [][]byte{[]byte(v.Str)}}}}
	} else {
		site.Args = []wire.Arg{{Kind: wire.Text}}
		size += 8 + round8(g.capOf(v))
		lines = []string{fmt.Sprintf("p = gs_put_text(p, %s, strlen(%s));", g.str(v), g.str(v))}
	}
	if kind == "" {
		g.entry(site, size, lines)
		return
	}
	g.emit("gs_flush(c, false);")
	g.entry(site, size, lines)
	g.emit("gs_emit(%s, 0, c->slot, c->out, c->len);\n\tc->len = 0;", kind)
}
