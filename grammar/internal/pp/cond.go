package pp

import (
	"strconv"
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// Conditions answers what %( %) may ask.
type Conditions struct {
	// Kernel is the release as uname -r gives it: "6.18.0-1-amd64". A script that
	// asks for it while it is empty is refused.
	Kernel string
	// Arch is stap's name of the architecture: "x86_64", "arm64".
	Arch string
	// Runtime is "kernel", "bpf" or "dyninst".
	Runtime string
	// Systemtap is the language version that scripts see; "" is DefaultSystemtap.
	Systemtap string
	Guru      bool
	// Privilege is "stapusr", "stapsys" or "stapdev"; "" is "stapdev".
	Privilege string
	// Config looks up an option of the kernel's configuration by its full name,
	// "CONFIG_HZ", and gives its value as in the .config file. Nil: none is known.
	Config func(name string) (value string, ok bool)
	// Asked takes note of each comparison that the kernel decided, its text, what came out and where it stands; nil:
	// nobody wants to know.
	Asked func(test string, holds bool, at source.Pos)
}

// DefaultSystemtap is the version of the stap language that this one follows.
const DefaultSystemtap = "5.6"

// test reads a condition and the %? behind it. ok is false after an error.
func (x *Filter) test(open *Tok) (holds, ok bool) {
	all := true // of the operands of && so far
	for {
		l := x.expanded()
		if end(l) {
			return x.badTest(open, l, "expected a condition after %%(, found %s", Describe(l))
		}
		op := x.expanded()
		if !isCompare(op.Type) {
			return x.badTest(open, op, "expected a comparison after %s, found %s", Describe(l), Describe(op))
		}
		r := x.expanded()
		if end(r) {
			return x.badTest(open, r, "expected something to compare with after %s, found %s", op.Text, Describe(r))
		}
		one, ok := x.compare(l, op, r)
		if !ok {
			return false, false
		}
		if x.o.Cond.Asked != nil && l.Type == stapparse.StapLexerID && (l.Text == "kernel_v" || l.Text == "kernel_vr" ||
			strings.HasPrefix(l.Text, "CONFIG_")) {
			x.o.Cond.Asked(l.Text+" "+op.Text+" "+r.Text, one, l.Pos)
		}
		op = x.expanded()
		all = all && one
		switch op.Type {
		case stapparse.StapLexerANDAND:
		case stapparse.StapLexerOROR:
			holds, all = holds || all, true
		case stapparse.StapLexerPP_THEN:
			return holds || all, true
		default:
			return x.badTest(open, op, "expected %%?, && or || after a condition, found %s", Describe(op))
		}
	}
}

func end(t *Tok) bool {
	switch t.Type {
	case antlr.TokenEOF, stapparse.StapLexerPP_THEN, stapparse.StapLexerPP_ELSE, stapparse.StapLexerPP_END,
		stapparse.StapLexerPP_IF:
		return true
	}
	return false
}

func isCompare(typ int) bool {
	switch typ {
	case stapparse.StapLexerEQ, stapparse.StapLexerNE, stapparse.StapLexerLT, stapparse.StapLexerLE,
		stapparse.StapLexerGT, stapparse.StapLexerGE:
		return true
	}
	return false
}

func (x *Filter) badTest(open, at *Tok, format string, args ...any) (bool, bool) {
	if !at.Reported {
		sp := at.Span()
		if at.Type == antlr.TokenEOF {
			sp = open.Span()
		}
		d := x.errorf(code.Condition, sp, format, args...)
		if strings.HasPrefix(format, "expected") {
			d.Hintf("a condition is written %%( test %%? tokens %%: tokens %%), with a test such as " +
				"kernel_v >= \"6.1\"")
		}
	}
	return false, false
}

func (x *Filter) config(name string) (string, bool) {
	if x.o.Cond.Config == nil {
		return "", false
	}
	return x.o.Cond.Config(name)
}

// compare decides "l op r". What may stand on the right depends on l.
func (x *Filter) compare(l, op, r *Tok) (holds, ok bool) {
	bad := func(at *Tok, format string, args ...any) (bool, bool) { return x.badTest(at, at, format, args...) }
	c := &x.o.Cond
	if l.Type == stapparse.StapLexerID {
		switch {
		case l.Text == "kernel_v" || l.Text == "kernel_vr" || l.Text == "systemtap_v":
			return x.compareVersion(l, op, r)
		case l.Text == "arch" || l.Text == "runtime" || l.Text == "systemtap_privilege":
			if r.Type != stapparse.StapLexerSTRING {
				return bad(r, "%s is compared with a string, not with %s", l.Text, Describe(r))
			}
			have := map[string]string{"arch": c.Arch, "runtime": c.Runtime,
				"systemtap_privilege": orElse(c.Privilege, "stapdev")}[l.Text]
			if have == "" {
				return bad(l, "%s is not known here", l.Text)
			}
			want, ok := x.text(r)
			if !ok {
				return false, false
			}
			return x.equal(op, l, Glob(want, have))
		case l.Text == "guru_mode":
			if r.Text != "0" && r.Text != "1" {
				return bad(r, "guru_mode is compared with 0 or 1, not with %s", Describe(r))
			}
			return x.equal(op, l, c.Guru == (r.Text == "1"))
		case strings.HasPrefix(l.Text, "CONFIG_"):
			return x.compareConfig(l, op, r)
		}
	}
	switch {
	case l.Type == stapparse.StapLexerSTRING && r.Type == stapparse.StapLexerSTRING:
		a, ok1 := x.text(l)
		b, ok2 := x.text(r)
		return order(op.Type, strings.Compare(a, b)), ok1 && ok2
	case l.Type == stapparse.StapLexerNUMBER && r.Type == stapparse.StapLexerNUMBER:
		a, ok1 := x.number(l)
		b, ok2 := x.number(r)
		return order(op.Type, cmp(a, b)), ok1 && ok2
	case l.Type == stapparse.StapLexerSTRING || l.Type == stapparse.StapLexerNUMBER:
		return bad(r, "%s cannot be compared with %s", Describe(l), Describe(r))
	}
	if l.Reported {
		return false, false
	}
	d := x.errorf(code.Condition, l.Span(), "%s is nothing that a condition can ask", Describe(l))
	names := []string{"kernel_v", "kernel_vr", "systemtap_v", "arch", "runtime", "systemtap_privilege", "guru_mode"}
	if near := diag.Nearest(l.Text, names, 1); len(near) > 0 {
		d.Hintf("did you mean %s?", near[0])
	} else {
		d.Hintf("a condition can ask for %s, CONFIG_..., or compare two strings or two numbers",
			strings.Join(names, ", "))
	}
	return false, false
}

// equal finishes a comparison that knows only == and !=.
func (x *Filter) equal(op, l *Tok, same bool) (holds, ok bool) {
	switch op.Type {
	case stapparse.StapLexerEQ:
		return same, true
	case stapparse.StapLexerNE:
		return !same, true
	}
	return x.badTest(op, op, "%s is compared with == or !=, not with %s", l.Text, op.Text)
}

func (x *Filter) compareVersion(l, op, r *Tok) (holds, ok bool) {
	if r.Type != stapparse.StapLexerSTRING {
		return x.badTest(r, r, "%s is compared with a string such as \"6.1\", not with %s", l.Text, Describe(r))
	}
	want, ok := x.text(r)
	if !ok {
		return false, false
	}
	have := orElse(x.o.Cond.Systemtap, DefaultSystemtap)
	if l.Text != "systemtap_v" {
		have = x.o.Cond.Kernel
		if have == "" {
			return x.badTest(l, l, "the kernel's version is not known here")
		}
		if l.Text == "kernel_v" {
			have, _, _ = strings.Cut(have, "-")
		}
	}
	if !strings.ContainsAny(want, "*?[") {
		return order(op.Type, CompareVersions(have, want)), true
	}
	if op.Type != stapparse.StapLexerEQ && op.Type != stapparse.StapLexerNE {
		return x.badTest(r, r, "a pattern is compared with == or !=, not with %s", op.Text)
	}
	return x.equal(op, l, Glob(want, have))
}

func (x *Filter) compareConfig(l, op, r *Tok) (holds, ok bool) {
	have, _ := x.config(l.Text)
	switch {
	case r.Type == stapparse.StapLexerSTRING:
		want, ok := x.text(r)
		if !ok {
			return false, false
		}
		return x.equal(op, l, Glob(want, have))
	case r.Type == stapparse.StapLexerNUMBER:
		n, err := strconv.ParseInt(orElse(have, "0"), 0, 64)
		if err != nil {
			return x.badTest(l, l, "%s is %q here, which is not a number", l.Text, have)
		}
		want, ok := x.number(r)
		return order(op.Type, cmp(n, want)), ok
	case r.Type == stapparse.StapLexerID && strings.HasPrefix(r.Text, "CONFIG_"):
		other, _ := x.config(r.Text)
		a, err1 := strconv.ParseInt(have, 0, 64)
		b, err2 := strconv.ParseInt(other, 0, 64)
		if err1 == nil && err2 == nil {
			return order(op.Type, cmp(a, b)), true
		}
		return order(op.Type, strings.Compare(have, other)), true
	}
	return x.badTest(r, r, "%s is compared with a string, a number or another CONFIG_..., not with %s", l.Text,
		Describe(r))
}

func (x *Filter) text(t *Tok) (string, bool) {
	s, at, msg := Unquote(t.Text)
	if msg != "" {
		x.errorf(code.BadEscape, source.Span{From: t.Pos + source.Pos(at[0]), To: t.Pos + source.Pos(at[1])}, "%s", msg)
		return "", false
	}
	return s, true
}

func (x *Filter) number(t *Tok) (int64, bool) {
	n, msg := Number(t.Text)
	if msg != "" {
		x.errorf(code.BadNumber, t.Span(), "%s", msg)
		return 0, false
	}
	return int64(n), true
}

func orElse(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

func cmp(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func order(op, c int) bool {
	switch op {
	case stapparse.StapLexerEQ:
		return c == 0
	case stapparse.StapLexerNE:
		return c != 0
	case stapparse.StapLexerLT:
		return c < 0
	case stapparse.StapLexerLE:
		return c <= 0
	case stapparse.StapLexerGT:
		return c > 0
	}
	return c >= 0
}

// Test decides the condition that the text begins with, up to its %?.
func (x *Filter) Test() (holds, ok bool) {
	f := x.top
	return x.test(&Tok{Pos: f.pos(0), End: f.pos(len(f.text)), in: f})
}
