package sema

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/load"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// Embedded C. What the compiler knows of it is what stands in comments of their own (/* pure */, /* pragma:read:x */)
// and which names it mentions; everything else is for the C compiler to judge.

// prelude takes in the C at the top level of the script's files.
func (b *binder) prelude() {
	for _, c := range b.lib.UserCode() {
		if !b.o.Guru {
			codeNeedsGuru(&b.ds, c.Span)
		}
		b.noContext(c.Code, c.Span.From+2)
	}
	b.p.Prelude = append(b.p.Prelude, b.lib.UserCode()...)
}

// libraryCode takes in the C at the top level of a library file, once, when a function of the file with C of its
// own is reached. It goes in front of the script's.
func (b *binder) libraryCode(f *load.File) {
	if f.User || b.preludes[f] {
		return
	}
	if b.preludes == nil {
		b.preludes = map[*load.File]bool{}
	}
	b.preludes[f] = true
	b.p.Prelude = append(append([]*ast.Embedded(nil), b.lib.CodeOf(f)...), b.p.Prelude...)
}

// embeddedFunction looks at the C body of a function.
func (b *binder) embeddedFunction(ef *elab.Func, f *load.Function) {
	code := f.Decl.Code
	if !b.o.Guru && f.File.User {
		codeNeedsGuru(&b.ds, code.Span)
	}
	b.libraryCode(f.File)
	ef.C = b.embedded(code.Code, code.Span.From+2, f.File)
	ef.C.Guru = hasComment(code.Code, "guru")
	b.changing = b.changing || ef.C.Guru
	names := make([]string, len(ef.Params))
	for i, p := range ef.Params {
		p.Read = true
		names[i] = p.Name
	}
	parameter := func(name, prefix string, at source.Span) {
		if slices.Contains(names, name) {
			return
		}
		d := b.errorf(diag.EmbeddedCode, at, "%s has no parameter %s", f.Decl.Name.Name, name)
		if near := diag.Nearest(name, names, 3); len(near) > 0 {
			d.Hintf("did you mean %s%s?", prefix, near[0])
		}
	}
	sure := false
	gives := func(t types.Type, tells bool) {
		if ef.C.Gives == types.Unknown || tells && !sure {
			ef.C.Gives, sure = t, tells
		}
	}
	end := -1 // of a THIS-> that was just read
	cWords(code.Code, func(w string, off int) {
		at := source.Span{From: code.Span.From + 2 + source.Pos(off), To: code.Span.From + 2 + source.Pos(off+len(w))}
		rest := cBehind(code.Code, off+len(w))
		member := off == end
		switch name, isArg := strings.CutPrefix(w, "STAP_ARG_"); {
		case isArg:
			parameter(name, "STAP_ARG_", at)
		case w == "STAP_RETVALUE", member && w == "__retvalue":
			gives(resultOf(code.Code[:off], rest))
		case w == "STAP_RETURN":
			if arg := returned(rest); strings.HasPrefix(arg, `"`) {
				gives(types.String, true)
			} else if !strings.HasPrefix(arg, ")") {
				gives(types.Long, literal(arg))
			}
		case member:
			parameter(w, "THIS->", at)
		case w == "STAP_NEXT":
			b.errorf(diag.EmbeddedCode, at, "STAP_NEXT is not available in this version").Hintf(
				"say next in a function written in the script language")
		case w == "THIS":
			ef.C.Old = true
			if p, ok := strings.CutPrefix(rest, "->"); ok {
				end = len(code.Code) - len(cBehind(p, 0))
			}
		}
	})
}

// cBehind gives C code from offset i on, white space and comments in front of it left out.
func cBehind(code string, i int) string {
	code = code[i:]
	for {
		code = strings.TrimLeft(code, " \t\r\n")
		_, behind, ok := "", "", false
		switch {
		case strings.HasPrefix(code, "/*"):
			_, behind, ok = strings.Cut(code[2:], "*/")
		case strings.HasPrefix(code, "//"):
			_, behind, ok = strings.Cut(code, "\n")
		}
		if !ok {
			return code
		}
		code = behind
	}
}

// resultOf gives the type of a result by what C does with it, from what stands before and behind its name: numbers are
// assigned, texts are the first argument of a function or are written letter by letter. sure is false where that tells
// nothing.
func resultOf(before, behind string) (t types.Type, sure bool) {
	before = strings.TrimSuffix(strings.TrimRight(before, " \t\r\n"), "THIS->")
	switch {
	case strings.HasPrefix(behind, "["), strings.HasPrefix(behind, ",") && strings.HasSuffix(before, "("):
		return types.String, true
	case len(behind) > 1 && behind[0] == '=' && behind[1] != '=', len(behind) > 1 && behind[1] == '=' &&
		strings.ContainsRune("+-*/%&|^", rune(behind[0])), strings.HasPrefix(behind, "++"),
		strings.HasPrefix(behind, "--"):
		return types.Long, true
	}
	return types.Long, false
}

// returned gives the argument of STAP_RETURN and what follows, from what stands behind that name.
func returned(behind string) string {
	arg, _ := strings.CutPrefix(behind, "(")
	return cBehind(arg, 0)
}

// embeddedResults gives a type to the results of C that no call wants anything of, by what the C does. It reports
// whether there was one.
func (x *infer) embeddedResults() bool {
	found := false
	for _, f := range x.p.Funcs {
		if s := (slot{f, -1}); f.C != nil && f.C.Gives != types.Unknown && f.Result == types.Unknown && !x.poisoned(s) {
			x.unify(s, f.C.Gives, f.Decl.Name.Span)
			found = true
		}
	}
	return found
}

// embeddedExpr looks at "%{ expr %}".
func (b *binder) embeddedExpr(s *scope, e *ast.EmbeddedExpr) {
	if !b.o.Guru && s.file.User {
		codeNeedsGuru(&b.ds, e.Span)
	}
	b.libraryCode(s.file)
	c := b.embedded(e.Code, e.Span.From+2, s.file)
	s.in.C[e] = c
	cWords(e.Code, func(w string, off int) {
		name, isArg := strings.CutPrefix(w, "STAP_ARG_")
		if !isArg {
			return
		}
		if p := s.names[name]; p != nil && p.Param {
			p.Read = true
			if !slices.Contains(c.Args, p) {
				c.Args = append(c.Args, p)
			}
			return
		}
		at := e.Span.From + 2 + source.Pos(off)
		d := b.errorf(diag.EmbeddedCode, source.Span{From: at, To: at + source.Pos(len(w))},
			"%s names no parameter of a function here", w)
		if s.fn == nil || s.names[name] != nil {
			d.Hintf("pass the value to a function: function f:long(%s:long) { return %%{ STAP_ARG_%s %%} }", name, name)
		}
	})
}

// constant looks at @const("expr"), which is an expression of C without effects.
func (b *binder) constant(s *scope, e *ast.AtOp) {
	l, ok := ast.Unparen(e.Args[0]).(*ast.Literal)
	if !ok || !l.IsString {
		b.errorf(diag.EmbeddedCode, e.Args[0].Range(), "@const takes an expression of C as a literal string")
		return
	}
	if !b.o.Guru && s.file.User {
		constNeedsGuru(&b.ds, e)
	}
	b.libraryCode(s.file)
	c := b.embedded(l.Str, l.Span.From+1, s.file)
	c.Pure = true
	s.in.C[e] = c
}

// embedded reads what C code says about itself.
func (b *binder) embedded(code string, at source.Pos, file *load.File) *elab.Embedded {
	c := &elab.Embedded{Text: code, Pos: at, Pure: hasComment(code, "pure")}
	b.noContext(code, at)
	s := &scope{file: file}
	find := func(name string) *elab.EmbeddedGlobal {
		for i := range c.Globals {
			if c.Globals[i].Name == name {
				return &c.Globals[i]
			}
		}
		return nil
	}
	cComments(code, func(text string, off int) {
		text = strings.TrimSpace(text)
		for _, mode := range []string{"read", "write"} {
			name, ok := strings.CutPrefix(text, "pragma:"+mode+":")
			if !ok {
				continue
			}
			sp := source.Span{From: at + source.Pos(off), To: at + source.Pos(off+4+len(text))}
			lg := b.findGlobal(s, name)
			if lg == nil {
				d := b.errorf(diag.EmbeddedCode, sp, "no global is named %s", name)
				if near := b.nearGlobal(name, file); near != "" {
					d.Hintf("%s", near)
				}
				continue
			}
			g := b.global(lg)
			use := find(name)
			if use == nil {
				c.Globals = append(c.Globals, elab.EmbeddedGlobal{Name: name, Global: g, At: sp})
				use = &c.Globals[len(c.Globals)-1]
			}
			if mode == "read" {
				use.Read, g.Read = true, true
			} else {
				use.Write, g.Written = true, true
			}
		}
	})
	cWords(code, func(w string, off int) {
		for _, mode := range []string{"read", "write"} {
			macro := map[string]string{"read": "STAP_GLOBAL_GET_", "write": "STAP_GLOBAL_SET_"}[mode]
			name, ok := strings.CutPrefix(w, macro)
			if !ok {
				continue
			}
			if use := find(name); use == nil || mode == "read" && !use.Read || mode == "write" && !use.Write {
				b.errorf(diag.EmbeddedCode, source.Span{From: at + source.Pos(off), To: at + source.Pos(off+len(w))},
					"the code does not say that it %ss %s", mode, name).
					Hintf("put the comment /* pragma:%s:%s */ into it", mode, name)
			}
		}
	})
	return c
}

// noContext refuses stap's own variable of the running probe, whose members are not the same here.
func (b *binder) noContext(code string, at source.Pos) {
	cWords(code, func(w string, off int) {
		if w == "CONTEXT" {
			b.errorf(diag.EmbeddedCode, source.Span{From: at + source.Pos(off), To: at + source.Pos(off+len(w))},
				"CONTEXT is stap's own and is not here").
				Hintf(`STAP_ERROR("text") raises an error, STAP_PRINTF("format", ...) prints`)
		}
	})
}

// embeddedTypes checks the results of C and the globals that it uses, once their types are known.
func (x *infer) embeddedTypes() {
	for _, f := range x.p.Funcs {
		if f.C == nil || f.Result == types.Unknown {
			continue
		}
		cWords(f.C.Text, func(w string, off int) {
			arg := returned(cBehind(f.C.Text, off+len(w)))
			if w != "STAP_RETURN" || strings.HasPrefix(arg, `"`) == (f.Result == types.String) || !literal(arg) {
				return
			}
			at := f.C.Pos + source.Pos(len(f.C.Text)-len(arg))
			d := x.errorf(diag.EmbeddedCode, source.Span{From: at, To: at + 1}, "%s returns %s, but this is none",
				f.Decl.Name.Name, noun(f.Result))
			if o, ok := x.origin[slot{f, -1}]; ok {
				d.Note(o, "it was found to return %s here", noun(f.Result))
			}
		})
	}
	for c := range x.p.AllC() {
		for _, g := range c.Globals {
			// A scalar that only C uses holds numbers.
			if gl := g.Global; gl.Arity <= 0 && gl.Decl.Size == nil && !gl.Decl.Wrap {
				gl.Arity = 0
				if gl.Type == types.Unknown {
					gl.Type = types.Long
				}
			}
			if g.Global.Type == types.Stats {
				x.errorf(diag.EmbeddedCode, g.At, "%s is an aggregate, which C cannot use", g.Name)
			}
		}
	}
}

// literal reports whether C begins with a text or a number.
func literal(c string) bool { return c != "" && (c[0] == '"' || c[0] >= '0' && c[0] <= '9') }

// cScan goes through C code: word gets identifiers outside of comments and literals, comment the inside of
// /* */ comments; both with the offset where they begin (of a comment: its slash).
func cScan(code string, word, comment func(text string, off int)) {
	letter := func(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	for i := 0; i < len(code); {
		switch c := code[i]; {
		case strings.HasPrefix(code[i:], "/*"):
			end := strings.Index(code[i+2:], "*/")
			if end < 0 {
				return
			}
			comment(code[i+2:i+2+end], i)
			i += end + 4
		case strings.HasPrefix(code[i:], "//"):
			end := strings.IndexByte(code[i:], '\n')
			if end < 0 {
				return
			}
			i += end
		case c == '"' || c == '\'':
			i++
			for i < len(code) && code[i] != c && code[i] != '\n' {
				if code[i] == '\\' {
					i++
				}
				i++
			}
			i++
		case letter(c):
			from := i
			for i < len(code) && (letter(code[i]) || code[i] >= '0' && code[i] <= '9') {
				i++
			}
			word(code[from:i], from)
		case c >= '0' && c <= '9':
			for i < len(code) && (letter(code[i]) || code[i] >= '0' && code[i] <= '9') {
				i++
			}
		default:
			i++
		}
	}
}

func cWords(code string, word func(string, int)) { cScan(code, word, func(string, int) {}) }

func cComments(code string, comment func(string, int)) {
	cScan(code, func(string, int) {}, comment)
}

// hasComment reports whether C code holds the comment /* word */.
func hasComment(code, word string) bool {
	found := false
	cComments(code, func(text string, _ int) { found = found || strings.TrimSpace(text) == word })
	return found
}
