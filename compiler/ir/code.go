package ir

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// CCode is C that a script carries: the body of a function, or an expression. Only the kernel-module back end
// runs it; the others refuse programs in which a probe reaches one.
type CCode struct {
	// Name of the function it is the body of, "" for an expression.
	Name string
	// Text is what stands between %{ and %}; Pos is its first byte.
	Text string
	Pos  source.Pos
	// Expr: the text is an expression of C, and its value the result.
	Expr   bool
	Params []CParam
	// Result is Long, String, or Unknown when there is none.
	Result types.Type
	// Pure: without the result the code need not run. Guru code otherwise may do anything.
	Pure bool
	// Old: parameters are also called THIS->name, as in scripts for stap before 1.8.
	Old bool
	// Globs are the globals that the text may use by its STAP_GLOBAL macros.
	Globs []CGlob
}

// CParam is a parameter of a CCode: Long or String.
type CParam struct {
	Name string
	Type types.Type
}

// CGlob is a global that embedded C uses, under the name that the text calls it.
type CGlob struct {
	Name        string
	Glob        int
	Read, Write bool
}

// Prelude is C of a script's top level, which goes in front of everything that is generated.
type Prelude struct {
	Text string
	Pos  source.Pos
}

// CodeOf gives the code that in runs, nil if it runs none.
func (p *Program) CodeOf(in *Instr) *CCode {
	if in.Op != OpEmbed || in.N < 0 || in.N >= int64(len(p.Codes)) {
		return nil
	}
	return p.Codes[in.N]
}

// AddCode enters c and gives its number.
func (p *Program) AddCode(c *CCode) int {
	p.Codes = append(p.Codes, c)
	return len(p.Codes) - 1
}

// Embeds finds C of the script that the handler of pr reaches, also through calls; nil if it reaches none.
func (p *Program) Embeds(pr *Probe) *CCode {
	for f := range p.Reached(pr.Handler) {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if c := p.CodeOf(&b.Instrs[i]); c != nil {
					return c
				}
			}
		}
	}
	return nil
}

func (v *verifier) code(c *CCode) error {
	if c == nil {
		return fmt.Errorf("is nil")
	}
	for _, p := range c.Params {
		if p.Type != types.Long && p.Type != types.String || !isName(p.Name) || strings.ContainsAny(p.Name, "$.") {
			return fmt.Errorf("parameter %q of type %s", p.Name, p.Type)
		}
	}
	if c.Result != types.Unknown && c.Result != types.Long && c.Result != types.String {
		return fmt.Errorf("result of type %s", c.Result)
	}
	if c.Expr && c.Result == types.Unknown {
		return fmt.Errorf("an expression has a value")
	}
	for _, g := range c.Globs {
		if gl := v.glob(g.Glob); gl == nil || gl.Type == types.Stats || !isName(g.Name) ||
			strings.ContainsAny(g.Name, "$.") {
			return fmt.Errorf("global %q", g.Name)
		}
	}
	return nil
}

func (v *verifier) embed(in *Instr) error {
	c := v.p.CodeOf(in)
	if c == nil {
		return fmt.Errorf("no code %d", in.N)
	}
	var want []types.Type
	for _, p := range c.Params {
		want = append(want, p.Type)
	}
	if err := v.args(in.Args, want...); err != nil {
		return err
	}
	return v.dst(in, c.Result, true)
}

func (w *printer) codes() {
	for _, c := range w.p.Prelude {
		w.printf("prelude %s\n", strconv.Quote(c.Text))
	}
	for _, c := range w.p.Codes {
		w.printf("code %s %s(", strconv.Quote(c.Name), strconv.Quote(c.Text))
		for i, p := range c.Params {
			if i > 0 {
				w.b.WriteString(", ")
			}
			w.b.WriteString(p.Type.String() + " " + name(p.Name))
		}
		w.b.WriteByte(')')
		if c.Result != types.Unknown {
			w.b.WriteString(" " + c.Result.String())
		}
		for _, f := range []struct {
			on   bool
			name string
		}{{c.Expr, "expr"}, {c.Pure, "pure"}, {c.Old, "old"}} {
			if f.on {
				w.b.WriteString(" " + f.name)
			}
		}
		for _, g := range c.Globs {
			mode := ""
			if g.Read {
				mode += "r"
			}
			if g.Write {
				mode += "w"
			}
			w.printf(" uses %s %q %s", name(g.Name), mode, w.glob(g.Glob))
		}
		w.b.WriteByte('\n')
	}
}

// plainType reads a type without the measure of strings.
func (ps *textParser) plainType(w string) types.Type {
	switch w {
	case "long":
		return types.Long
	case "string":
		return types.String
	}
	ps.fail("expected long or string, found %q", w)
	return 0
}

func (ps *textParser) code() {
	c := &CCode{Name: ps.string(), Text: ps.string()}
	ps.want("(")
	for !ps.accept(")") {
		if len(c.Params) > 0 {
			ps.want(",")
		}
		t := ps.plainType(ps.word())
		c.Params = append(c.Params, CParam{Name: ps.name(), Type: t})
	}
	for len(ps.toks) > 0 {
		switch w := ps.word(); w {
		case "expr":
			c.Expr = true
		case "pure":
			c.Pure = true
		case "old":
			c.Old = true
		case "uses":
			g := CGlob{Name: ps.name()}
			mode := ps.string()
			g.Read, g.Write = strings.Contains(mode, "r"), strings.Contains(mode, "w")
			g.Glob = ps.glob()
			c.Globs = append(c.Globs, g)
		default:
			c.Result = ps.plainType(w)
		}
	}
	ps.p.AddCode(c)
}
