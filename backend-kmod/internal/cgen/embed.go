package cgen

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// Embedded C. Each piece becomes a function of its own, which gets its arguments in a frame, and a second one around
// it that fills the frame and takes the result out. The piece stands behind a #line, so that what the C
// compiler says about it names the script.

// embeds is what has been written for C of the script.
type embeds struct {
	text  strings.Builder
	names map[int64]string // of the functions around the pieces
	frame int              // bytes of the largest frame
}

// embedRoom is the longest text that one STAP_PRINTF prints.
const embedRoom = 8192

// embed runs C of the script.
func (g *gen) embed(in *ir.Instr) {
	c := g.p.CodeOf(in)
	args := fmt.Sprintf("c, %d", in.Pos)
	switch c.Result {
	case types.Long:
		args += ", " + g.ref(in.Dst)
	case types.String:
		args += ", " + g.dst(in.Dst)
	}
	for _, v := range in.Args {
		if v.Kind == ir.ValReg && g.lazy[v.Reg] != nil {
			g.refuse(in.Pos, "the text is made on the host: in a module it can only be printed")
			return
		}
		if g.isString(v) {
			args += ", " + g.str(v)
		} else {
			args += ", " + g.long(v)
		}
	}
	g.vars["rc"] = "int"
	g.emit("rc = %s(%s);", g.code(in.N), args)
	g.emit("if (unlikely(rc == GS_END))\n\t\tgoto %s;", g.end())
	g.emit("if (unlikely(rc))\n\t\tgoto %s;", g.onErr(in.OnErr))
}

// code writes a piece of C, once, and gives the name of the function around it.
func (u *unit) code(n int64) string {
	if name := u.embeds.names[n]; name != "" {
		return name
	}
	c := u.p.Codes[n]
	name := c.Name
	if name = clean(name); name == "" {
		name = "expression"
	}
	name = u.unique("c_" + name)
	if u.embeds.names == nil {
		u.embeds.names = map[int64]string{}
	}
	u.embeds.names[n] = name
	w := &codeWriter{unit: u, c: c, name: name}
	w.write()
	return name
}

type codeWriter struct {
	*unit
	c      *ir.CCode
	name   string
	macros []string
}

func (w *codeWriter) printf(format string, args ...any) { fmt.Fprintf(&w.embeds.text, format, args...) }

func (w *codeWriter) define(name, format string, args ...any) {
	w.macros = append(w.macros, name)
	w.printf("#define %s%s\n", name, fmt.Sprintf(format, args...))
}

// member is the name of a parameter in the frame.
func (w *codeWriter) member(p ir.CParam) string {
	if w.c.Old {
		return p.Name
	}
	return "a_" + p.Name
}

func (w *codeWriter) write() {
	c, max := w.c, w.p.Limits.MaxString
	w.printf("struct %s_frame {\n\tint gs_rc, gs_pos;\n", w.name)
	frame := 8
	for _, p := range c.Params {
		if p.Type == types.String {
			w.printf("\tchar %s[MAXSTRINGLEN];\n", w.member(p))
			frame += max
		} else {
			w.printf("\ts64 %s;\n", w.member(p))
			frame += 8
		}
	}
	switch c.Result {
	case types.Long:
		w.printf("\ts64 __retvalue;\n")
		frame += 8
	case types.String:
		w.printf("\tchar __retvalue[MAXSTRINGLEN];\n")
		frame += max
	}
	for _, g := range c.Globs {
		if g.Read && w.p.Globals[g.Glob].Type == types.String {
			w.printf("\tchar g_%s[MAXSTRINGLEN];\n", g.Name)
			frame += max
		}
	}
	w.printf("};\n\n")
	if frame = round8(frame) + 8*(len(c.Params)+3); frame > w.embeds.frame {
		w.embeds.frame = frame
	}
	for _, p := range c.Params {
		w.define("STAP_ARG_"+p.Name, " (gs_this->%s)", w.member(p))
	}
	if c.Old {
		w.define("THIS", " gs_this")
	}
	w.results()
	for _, g := range c.Globs {
		w.global(g)
	}
	what := "function " + c.Name
	if c.Expr {
		what = "an expression"
	}
	w.printf("/* %s */\nstatic void %s_body(struct gs_ctx *gs_c __maybe_unused, struct %s_frame *gs_this "+
		"__maybe_unused)\n{\n", comment(what), w.name, w.name)
	if c.Expr {
		w.expression()
	} else {
		w.printf("\t{\n")
		w.script(c.Pos, c.Text)
		w.printf("\t}\n")
	}
	w.printf("out: __maybe_unused;\n}\n")
	for _, m := range w.macros {
		m, _, _ = strings.Cut(m, "(")
		w.printf("#undef %s\n", m)
	}
	w.around()
}

// results defines the macros for giving a result.
func (w *codeWriter) results() {
	if w.c.Expr {
		return
	}
	if w.c.Result != types.Unknown {
		w.define("STAP_RETVALUE", " (gs_this->__retvalue)")
	}
	switch w.c.Result {
	case types.Long:
		w.define("STAP_RETURN(v)", " do { STAP_RETVALUE = (s64)(v); goto out; } while (0)")
	case types.String:
		w.define("STAP_RETURN(v)", " do { gs_strlcpy(STAP_RETVALUE, v, MAXSTRINGLEN); goto out; } while (0)")
	default:
		w.define("STAP_RETURN()", " goto out")
	}
}

// global defines the macros for a global.
func (w *codeWriter) global(use ir.CGlob) {
	g, c := w.p.Globals[use.Glob], w.glob[use.Glob]
	lay := layoutOf(g)
	var params, first []string
	keys := ""
	for i, k := range g.Keys {
		params = append(params, fmt.Sprintf("k%d", i))
		// All keys are computed before one is written: computing them may use the room.
		if k.Type == types.String {
			first = append(first, fmt.Sprintf("const char *gs_k%d_ = (k%d);", i, i))
			keys += fmt.Sprintf(" gs_key_text(gs_c->key, %d, %d, %d, gs_k%d_);", lay.Off[i], lay.Size[i], k.Cap, i)
		} else {
			first = append(first, fmt.Sprintf("s64 gs_k%d_ = (k%d);", i, i))
			keys += fmt.Sprintf(" gs_key_long(gs_c->key, %d, gs_k%d_);", lay.Off[i], i)
		}
	}
	pre := strings.Join(first, " ")
	text := g.Type == types.String
	op := func(format string, args ...any) string {
		return fmt.Sprintf("gs_embed_global(%s, %d, %d);", fmt.Sprintf(format, args...), use.Glob,
			w.declaredSize(use.Glob))
	}
	get, set := "STAP_GLOBAL_GET_"+use.Name, "STAP_GLOBAL_SET_"+use.Name
	if use.Read {
		name := fmt.Sprintf("%s(%s)", get, strings.Join(params, ", "))
		switch {
		case g.IsArray() && text:
			w.define(name, " ({ %s%s %s gs_this->g_%s; })", pre, keys,
				op("gs_map_get_text(&%s, gs_c->key, gs_this->g_%s, MAXSTRINGLEN - 1)", c, use.Name), use.Name)
		case g.IsArray():
			w.define(name, " ({ s64 gs_v_; %s%s %s gs_v_; })", pre, keys,
				op("gs_map_get_long(&%s, gs_c->key, &gs_v_)", c))
		case text:
			w.define(name, " ({ %s gs_this->g_%s; })", op("gs_scalar_get(&%s, gs_this->g_%s, MAXSTRINGLEN - 1)", c,
				use.Name), use.Name)
		default:
			w.define(name, " ((s64)atomic64_read(&%s))", c)
		}
	}
	if use.Write {
		name := fmt.Sprintf("%s(%s)", set, strings.Join(append(params, "v"), ", "))
		switch {
		case g.IsArray() && text:
			w.define(name, " do { %s const char *gs_v_ = (v);%s %s } while (0)", pre, keys,
				op("gs_map_set_text(&%s, gs_c->key, gs_v_, %d)", c, g.Cap))
		case g.IsArray():
			w.define(name, " do { %s s64 gs_v_ = (v);%s %s } while (0)", pre, keys,
				op("gs_map_set_long(&%s, gs_c->key, gs_v_)", c))
		case text:
			w.define(name, " do { %s } while (0)", op("gs_scalar_set(&%s, v)", c))
		default:
			w.define(name, " atomic64_set(&%s, (s64)(v))", c)
		}
	}
}

// expression writes the body that computes an expression.
func (w *codeWriter) expression() {
	end := ";"
	if endsStatement(w.c.Text) {
		end = ""
	}
	if w.c.Result == types.String {
		w.printf("\tconst char *gs_v = ({\n")
	} else {
		w.printf("\tgs_this->__retvalue = (s64)({\n")
	}
	w.script(w.c.Pos, w.c.Text)
	w.printf("\t%s });\n", end)
	if w.c.Result == types.String {
		w.printf("\n\tgs_strlcpy(gs_this->__retvalue, gs_v, MAXSTRINGLEN);\n")
	}
}

// around writes the function that handlers call.
func (w *codeWriter) around() {
	c := w.c
	w.printf("\nstatic int %s(struct gs_ctx *c, int pos", w.name)
	switch c.Result {
	case types.Long:
		w.printf(", s64 *result")
	case types.String:
		w.printf(", char *result, u32 room")
	}
	for i, p := range c.Params {
		if p.Type == types.String {
			w.printf(", const char *arg_%d", i)
		} else {
			w.printf(", s64 arg_%d", i)
		}
	}
	w.printf(")\n{\n\tstruct %s_frame *f = gs_push(c, sizeof(*f));\n\tint rc;\n\n\tf->gs_rc = GS_OK;\n\tf->gs_pos = "+
		"pos;\n", w.name)
	for i, p := range c.Params {
		if p.Type == types.String {
			w.printf("\tgs_copy(f->%s, MAXSTRINGLEN - 1, arg_%d);\n", w.member(p), i)
		} else {
			w.printf("\tf->%s = arg_%d;\n", w.member(p), i)
		}
	}
	switch c.Result {
	case types.Long:
		w.printf("\tf->__retvalue = 0;\n")
	case types.String:
		w.printf("\tf->__retvalue[0] = 0;\n")
	}
	w.printf("\t%s_body(c, f);\n", w.name)
	switch c.Result {
	case types.Long:
		w.printf("\t*result = f->__retvalue;\n")
	case types.String:
		w.printf("\tf->__retvalue[MAXSTRINGLEN - 1] = 0;\n\tgs_copy(result, room, f->__retvalue);\n")
	}
	w.printf("\trc = f->gs_rc;\n\tgs_pop(c, f);\n\treturn rc;\n}\n\n")
}

// script writes C of the script at its own line and column.
func (u *unit) script(pos source.Pos, c string) {
	w := &u.embeds.text
	u.lined(w, pos, c)
}

// lined writes C of the script to w behind a #line, and one behind it that leads back.
func (u *unit) lined(w *strings.Builder, pos source.Pos, c string) {
	if u.p.Files == nil || !pos.IsValid() {
		w.WriteString(c + "\n")
		return
	}
	p := u.p.Files.Position(pos)
	if p.File == nil {
		w.WriteString(c + "\n")
		return
	}
	fmt.Fprintf(w, "#line %d %s\n", p.Line, text(p.File.Name))
	// Tabs in front of the text count for the compiler as they do in the script.
	line := p.File.Line(p.Line)
	pad := []rune(line)[:min(p.Col-1, len([]rune(line)))]
	for _, r := range pad {
		if r == '\t' {
			w.WriteByte('\t')
		} else {
			w.WriteByte(' ')
		}
	}
	w.WriteString(c)
	w.WriteString("\n#line @\n")
}

// preludes writes the C of the script's top level.
func (u *unit) preludes() {
	for _, c := range u.p.Prelude {
		u.lined(&u.b, c.Pos, c.Text)
	}
	if len(u.p.Prelude) > 0 {
		u.printf("\n")
	}
}

// usesEmbedded reports whether any C of the script is in the module.
func (u *unit) usesEmbedded() bool { return len(u.p.Prelude) > 0 || len(u.embeds.names) > 0 }

// embedSite is the site of texts that C prints.
func (u *unit) embedSite() int {
	f := &ir.Format{Pieces: []ir.Piece{ir.Conv('s')}}
	u.schema.Sites = append(u.schema.Sites, wire.Site{Format: u.p.AddFormat(f), Args: []wire.Arg{{Kind: wire.Text}}})
	u.maxOut = max(u.maxOut, embedRoom+32)
	return len(u.schema.Sites) - 1
}

// endsStatement reports whether C code ends with a semicolon or brace, comments aside.
func endsStatement(c string) bool {
	last := byte(0)
	for i := 0; i < len(c); i++ {
		switch {
		case strings.HasPrefix(c[i:], "/*"):
			n := strings.Index(c[i+2:], "*/")
			if n < 0 {
				return last == ';' || last == '}'
			}
			i += n + 3
		case strings.HasPrefix(c[i:], "//"):
			n := strings.IndexByte(c[i:], '\n')
			if n < 0 {
				return last == ';' || last == '}'
			}
			i += n
		case c[i] == '"' || c[i] == '\'':
			q := c[i]
			for i++; i < len(c) && c[i] != q; i++ {
				if c[i] == '\\' {
					i++
				}
			}
			last = q
		case c[i] > ' ':
			last = c[i]
		}
	}
	return last == ';' || last == '}'
}

// calls writes the table of handlers that the host asks for.
func (u *unit) calls(out *Unit, handlers []*fn) {
	u.printf("static void (*const gs_calls[])(struct gs_hit *) = {\n")
	for _, i := range out.Called {
		for _, h := range handlers {
			if h.probe == i {
				u.printf("\t%s,\n", h.name)
			}
		}
	}
	u.printf("\tNULL,\n};\n\n")
}
