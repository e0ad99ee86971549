package grammar

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// writer makes random scripts that are valid.
type writer struct {
	r *rand.Rand
	b strings.Builder
}

func (w *writer) put(ss ...string) {
	for _, s := range ss {
		// Spaces and comments may stand between any two tokens, or not at all
		// between those that do not run together.
		w.b.WriteString(pick(w.r, " ", " ", " ", "\n", " /* * / */ ", " # \"\n"))
		w.b.WriteString(s)
	}
}

func pick(r *rand.Rand, ss ...string) string { return ss[r.Intn(len(ss))] }

func (w *writer) name() string { return pick(w.r, "a", "b1", "_c", "dd$", "probe_x", "iff") }

func (w *writer) str() string {
	return pick(w.r, `"s"`, `""`, `"\n\x41\""`, `"é"`, `"a" "b"`)
}

func (w *writer) num() string { return pick(w.r, "0", "1", "0x1F", "017", "18446744073709551615") }

func (w *writer) list(n int, f func()) {
	for i := range n {
		if i > 0 {
			w.put(",")
		}
		f()
	}
}

func (w *writer) primary(depth int) {
	if depth <= 0 {
		w.put(pick(w.r, w.name(), w.num(), w.str(), "$x", "$$vars", "$y$"))
		return
	}
	sub := func() { w.expr(depth - 1) }
	key := func() {
		if w.r.Intn(4) == 0 {
			w.put("*")
		} else {
			sub()
		}
	}
	switch w.r.Intn(16) {
	case 0:
		w.put("(")
		sub()
		w.put(")")
	case 1:
		w.put(w.name(), "(")
		w.list(w.r.Intn(3), sub)
		w.put(")")
	case 2:
		w.put(w.name(), "[")
		w.list(1+w.r.Intn(2), key)
		w.put("]")
	case 3:
		w.put(pick(w.r, "@count", "@sum", "@defined", "@entry", "@avg"), "(")
		sub()
		w.put(")")
	case 4:
		w.put("@cast", "(")
		sub()
		w.put(",", `"t"`, ")", "->", w.name())
	case 5:
		w.put("$x", "->", "next", "[")
		sub()
		w.put("]", pick(w.r, "$", "$$", "->m", "->m$"))
	case 6:
		w.put("@hist_linear", "(")
		sub()
		w.put(",", "-", "1", ",", "10", ",", "2", ")", "[")
		sub()
		w.put("]")
	case 7:
		w.put("%{ c %}")
	case 8:
		w.primary(depth - 1)
	case 9:
		w.put("(", "[")
		w.list(1+w.r.Intn(2), key)
		w.put("]", "in", w.name(), ")")
	case 10:
		w.put(w.name(), "->", "m", "[", "1", "]")
	default:
		w.primary(0)
	}
}

func (w *writer) expr(depth int) {
	if depth <= 0 || w.r.Intn(3) == 0 {
		w.primary(depth)
		return
	}
	switch w.r.Intn(8) {
	case 0:
		w.put(pick(w.r, "-", "+", "!", "~"))
		w.primary(depth - 1)
	case 1:
		w.put("(", pick(w.r, "++", "--", "&"), "$z", ")")
	case 2:
		w.put("(", "$z", pick(w.r, "++", "--"), ")")
	case 3:
		w.expr(depth - 1)
		w.put("?")
		w.expr(depth - 1)
		w.put(":")
		w.expr(depth - 1)
	case 4:
		w.put(w.name(), pick(w.r, "=", "+=", "<<<", ".=", ">>=", "|="))
		w.expr(depth - 1)
	case 5:
		w.put("(")
		w.expr(depth - 1)
		w.put(")", pick(w.r, "=~", "!~"), w.str())
	default:
		w.primary(depth - 1)
		for range 1 + w.r.Intn(3) {
			w.put(pick(w.r, "+", "-", "*", "/", "%", ".", "<<", ">>>", "<", "==", "!=", "&", "|", "^", "&&", "||"))
			w.primary(depth - 1)
		}
	}
}

func (w *writer) stmt(depth int) {
	body := func() { w.stmt(depth - 1) }
	if depth <= 0 {
		w.put(pick(w.r, ";", "next", "break", "continue", "{ }", "delete a", w.name()+" = 1 ;", "$a ++ ;"))
		return
	}
	switch w.r.Intn(14) {
	case 0, 1:
		w.put("if", "(")
		w.expr(1)
		w.put(")")
		body()
		if w.r.Intn(2) == 0 {
			return
		}
		// An empty statement may have swallowed the if's end; braces are safe.
		w.put("if", "(", "1", ")", "{")
		body()
		w.put("}", "else")
		body()
	case 2:
		w.put("while", "(")
		w.expr(1)
		w.put(")")
		body()
	case 3:
		w.put("for", "(", "i = 0", ";")
		w.expr(1)
		w.put(";", pick(w.r, "", "++i"), ")")
		body()
	case 4:
		w.put("foreach", "(", pick(w.r, "k", "k +", "[ k , l - ]", "v = k", "v = [ k , l ]"), "in",
			pick(w.r, "a", "a [ * , 1 ]", "@hist_log ( s )"), pick(w.r, "", "limit 5"), ")")
		body()
	case 5:
		w.put("foreach", "(", "k", "in", "a", pick(w.r, "-", "+", "@sum -", "@avg +"), ")")
		body()
	case 6:
		w.put("try", "{")
		body()
		w.put("}", "catch", pick(w.r, "", "( m )"), "{")
		body()
		w.put("}")
	case 7:
		w.put("{")
		for range w.r.Intn(4) {
			body()
		}
		w.put("}")
	case 8:
		w.put("delete")
		w.expr(1)
		w.put(";")
	default:
		w.expr(3)
		w.put(";")
	}
}

func (w *writer) comp() string {
	return pick(w.r, "a", "*b", "c*d*", "next", "**") + pick(w.r, "", "", "(1)", "(-0x2)", `("s")`)
}

func (w *writer) decl() {
	block := func() {
		w.put("{")
		for range w.r.Intn(5) {
			w.stmt(3)
		}
		w.put("}")
	}
	point := func() {
		w.put("p." + w.comp() + "." + w.comp() + pick(w.r, "", " ?", " !", " if (n > 1)", ".{x, y(2).function}"))
	}
	switch w.r.Intn(6) {
	case 0:
		w.put(pick(w.r, "global", "private", "private global"))
		w.list(1+w.r.Intn(3), func() { w.put(w.name() + pick(w.r, "", "%", "[5]", " % [5]", " = -1", ` = "x" "y"`)) })
		w.put(pick(w.r, "", ";"))
	case 1:
		w.put(pick(w.r, "function", "private function"), w.name(), pick(w.r, "", ": long", ":string"), "(",
			pick(w.r, "", "p", "p, q:long"), ")", pick(w.r, "", ": 3"))
		block()
	case 2:
		name, _, _ := strings.Cut(w.comp(), "(") // names of aliases take no arguments
		w.put("probe", "p."+name, pick(w.r, "=", "+="))
		w.list(1+w.r.Intn(2), point)
		block()
	case 3:
		w.put("%( 1 ==", pick(w.r, "1", "2"), "%?")
		w.decl()
		w.put("%:")
		w.decl()
		w.put("%)")
	default:
		w.put("probe")
		w.list(1+w.r.Intn(2), point)
		block()
	}
}

// TestRandom parses random valid scripts, prints them, and reads them by declaration.
func TestRandom(t *testing.T) {
	for seed := range int64(1000) {
		w := writer{r: rand.New(rand.NewSource(seed))}
		for range 1 + w.r.Intn(4) {
			w.decl()
		}
		w.b.WriteString("\nprobe end { }") // a script is never empty
		text := []byte(w.b.String())
		fs, _, errs := parseText(text)
		if errs > 0 {
			_, l := Parse(fs.Add("x.stp", text), Options{Files: fs})
			t.Fatalf("seed %d: %s\n%s", seed, text, report(fs, l))
		}
		if _, ok := Index(text); !ok {
			t.Fatalf("seed %d is not indexed: %s", seed, text)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			checkPrint(t, text)
			checkIndex(t, text)
		})
	}
}
