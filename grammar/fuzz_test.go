package grammar

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/source"
)

// seeds are texts that reach most of the language.
var seeds = []string{
	"probe begin { println(\"hello\") exit() }",
	"global a%[10], n = -1, s = \"x\"; private b\nprivate function f:string(a:long, b):3 { return sprintf(\"%d\", a) " +
		"} function g() %{ x; %}",
	"probe a.b*.c(\"x\") ? if (n > 1), {d, e}.f(0x1f) !, timer.s(-1) { next }",
	"probe x = y.return { a = 1 }, { b = 2 } probe z += x { }",
	"probe x { if (a) x; else if (b) y; else { z } while (1) break; for (i=0;i<3;i++) continue; for(;;) {} try { a } " +
		"catch (m) { b } try {} catch {} }",
	"probe x { foreach ([a+, b] in arr[*, 1] limit 5) delete arr[a, b]; foreach (v- = k in h) ; foreach (k in " +
		"@hist_log(s)) {} foreach (k in s @sum - limit n) {} }",
	"probe x { a = b ? c : d ? e : f; x <<< 1; y .= \"a\" \"b\" . z; q = a||b&&c|d^e&f in g < h << i . j + k * -l }",
	"probe x { p = &$x->y[1]->z$$; @cast(p, \"t\", \"m\")->a; @var(\"v\")[2]$; $$parms$; q[1]->r; s->t$; (u)$; w $; " +
		"@entry($x)->y }",
	"probe x { print(@hist_linear(s, -1, 10, 1)) @hist_log(s)[3]; n in @hist_log(s); [a, *] in b; x =~ \"re\"; " +
		"@variance(s, 2) ; - -a; ! ~b; ++c--; d++ }",
	"@define m(a, b) %( @a + @b %)\n%( kernel_v >= \"6.1\" && arch == \"x86*\" || 1 == 2 %? probe x { @m(1, @m(2, " +
		"3)) } %: probe y { $1 @2 $# @# } %)",
	"probe x { \"\\x41\\101\\q\\\"\" ; %{ C %} ; return }",
	"probe x { if (a b) } probe y { \"open\n }\nprobe z { /* open",
	"probe x { ((((((((((1)))))))))) [[a]] {{{}}} }",
	"probe x { a; -b; c; [d] in e; f; (g); \"h\"; \"i\"; j++; ++k; return; }",
	"/* \u00e9 */ probe b\u00e9gin { 'x' \u201cy\u201d }",
}

var fuzzOptions = Options{
	Args: []string{"a", "$x + 1", "\"q", ""},
	Cond: Conditions{Kernel: "6.1.0-1", Arch: "x86_64", Runtime: "bpf",
		Config: func(n string) (string, bool) { return "y", n == "CONFIG_X" }},
}

func parseText(text []byte) (*source.FileSet, *ast.File, int) {
	start := processTime()
	defer func() {
		if processTime()-start > 2*time.Second {
			panic("slow")
		}
	}()
	fs := new(source.FileSet)
	o := fuzzOptions
	o.Files = fs
	f, l := Parse(fs.Add("x.stp", text), o)
	for _, d := range l {
		p := fs.Position(d.Span.From)
		_ = p.String()
	}
	return fs, f, l.Errors()
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { parseText(text) })
}

func printed(t *testing.T, f *ast.File) []byte {
	var b bytes.Buffer
	if err := ast.Fprint(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func FuzzParsePrint(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(checkPrint)
}

func checkPrint(t *testing.T, text []byte) {
	fs, file, errs := parseText(text)
	if errs > 0 || len(file.Decls) == 0 {
		return
	}
	checkPlaces(t, fs, file)
	one := printed(t, file)
	_, again, errs := parseText(one)
	if errs > 0 {
		t.Fatalf("%q prints as\n%s\nwhich does not parse", text, one)
	}
	if two := printed(t, again); !bytes.Equal(one, two) {
		t.Fatalf("%q prints as\n%s\nthen as\n%s", text, one, two)
	}
}

// tokens are what FuzzTokens makes scripts of.
var tokens = strings.Fields(`probe begin { } function f ( ) global g private if else while for foreach in limit return delete
	break continue next string long try catch $1 @2 $# $x $$vars $x$ $ @count @sum @cast @hist_log @define @m @n a b c 1 0x2 "s" "t"
	%{c%} %( %? %: %) %(1==1%? %(1==2%? <<< >>> == != =~ += .= && || ++ -- -> << [ ] ; , . ? : ! ~ = + - * / % & ^ | < >
	probe·a{ function·f(a){ }· if(a) foreach(a·in·b) @define·m(x)%( @x·%) @m(a) @define·n%(·1·%) timer.s(1) process("x").function("y")
	[a,b]·in·c @cast(a,"b") for(;;) while(a) try{a}catch{b} *b· a*·`)

// FuzzTokens takes each byte for a token, which goes deeper into the grammar than
// bytes as text; the top bit leaves out the space before the token.
func FuzzTokens(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3})
	f.Fuzz(func(t *testing.T, picks []byte) {
		var b bytes.Buffer
		b.WriteString("probe x { ")
		for _, p := range picks {
			if p < 128 {
				b.WriteByte(' ')
			}
			b.WriteString(strings.ReplaceAll(tokens[int(p)%len(tokens)], "·", " "))
		}
		b.WriteString(" }")
		checkPrint(t, b.Bytes())
		checkIndex(t, b.Bytes())
	})
}

func printInto(w io.Writer, f *ast.File) { ast.Fprint(w, f) }

// FuzzIndex reads what Index finds one by one and compares with the whole file.
func FuzzIndex(f *testing.F) {
	for _, s := range append(seeds, library) {
		f.Add([]byte(s))
	}
	f.Fuzz(checkIndex)
}

func checkIndex(t *testing.T, text []byte) {
	es, ok := Index(text)
	last := 0
	for _, e := range es {
		if e.Off < last || e.End < e.Off || e.End > len(text) {
			t.Fatalf("%+v of %q", e, text)
		}
		last = e.End
	}
	fs, whole, errs := parseText(text)
	if !ok || errs > 0 {
		return
	}
	o := fuzzOptions
	o.Files, o.Library = fs, true
	src := fs.Add("lib.stp", text)
	var one ast.File
	for i := range es {
		e := &es[i]
		if e.Kind == MacroEntry {
			continue
		}
		holds, l := Holds(src, e.Guards, es, o)
		if l.HasErrors() {
			t.Fatalf("%q: %s", text, report(fs, l))
		}
		if !holds {
			continue
		}
		d, l := ParseDecl(src, e, es, o)
		if l.HasErrors() || d == nil {
			t.Fatalf("%q: %s", text, report(fs, l))
		}
		one.Decls = append(one.Decls, d)
	}
	if a, b := printed(t, whole), printed(t, &one); !bytes.Equal(a, b) {
		t.Fatalf("%q: as a whole\n%s\none by one\n%s", text, a, b)
	}
}
