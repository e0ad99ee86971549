package grammar

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/source"
)

const library = `# a library
/* probe not.this {} */
@define one %( 1 %)
@define add(x, y) %( (@x + @y + @one) %)
@define hidden %( private %)
global total, last%[5] = 3 , name = "a" "}" # end
private global count_
%{ static int x; // probe
%}
function f:long(a:long, b) { return g(a) + @add(a, $1) }
private function g(a) %{ { %}
@hidden function h() { }
%( kernel_v >= "6.0" %?
probe sys.open = kernel.function("open").call !, {kernel, module("x")}.trace("y") ? if (flag > 1) { name = "open"; %( arch == "x" %? x = { %: y = { %) } }
  %( 1 == 2 %? function old() { } %)
%:
probe sys.open = never { }
%)
probe a.* = b = c.return { p } , { q->member = string_of(last[1]) }
probe d += e { }
probe begin, end { f(total) }
function k() %( runtime == "bpf" %? { a } %: %{ b %} %)
`

func TestIndex(t *testing.T) {
	text := strings.Replace(library, "x = { %: y = { %) }", "x %: y %)", 1)
	es, ok := Index([]byte(text))
	if !ok {
		t.Fatalf("not indexed after %v", es)
	}
	var got []string
	for _, e := range es {
		s := fmt.Sprintf("%d %s %v", e.Line, e.Kind, e.Names)
		if e.Private {
			s += " private"
		}
		for _, g := range e.Guards {
			s += fmt.Sprintf(" guard{%s %v}", text[g.Off:g.End], g.Else)
		}
		if e.Params != nil {
			s += fmt.Sprintf(" params%v", e.Params)
		}
		if e.Points != nil {
			s += fmt.Sprintf(" points%v", e.Points)
		}
		if e.Refs != nil {
			s += fmt.Sprintf(" refs%v", e.Refs)
		}
		if e.Kind == MacroEntry {
			s += fmt.Sprintf(" body{%s}", text[e.BodyOff:e.BodyEnd])
		}
		got = append(got, s+" "+fmt.Sprintf("%q", text[e.Off:min(e.End, e.Off+12)])+"..."+
			fmt.Sprintf("%q", text[max(e.Off, e.End-6):e.End]))
	}
	want := []string{
		`3 macro [one] body{ 1 } "@define one "..."( 1 %)"`,
		`4 macro [add] params[x y] refs[@x @y @one] body{ (@x + @y + @one) } "@define add("..."ne) %)"`,
		`5 macro [hidden] body{ private } "@define hidd"..."ate %)"`,
		`6 global [total last name] "global total"...` + `"a\" \"}\""`,
		`7 global [count_] private "private glob"..."count_"`,
		`8 embedded code [] "%{ static in"...` + `"obe\n%}"`,
		`10 function [f] params[a b] refs[g a @add] "function f:l"..." $1) }"`,
		`11 function [g] private params[a] "private func"..."{ { %}"`,
		`12 function [h] refs[@hidden] "@hidden func"..."() { }"`,
		`14 alias [sys.open] guard{ kernel_v >= "6.0" %? false} points[kernel.function.call {kernel,module}.trace] refs[flag name arch x y] "probe sys.op"..."y %) }"`,
		`15 function [old] guard{ kernel_v >= "6.0" %? false} guard{ 1 == 2 %? false} "function old"..."() { }"`,
		`17 alias [sys.open] guard{ kernel_v >= "6.0" %? true} points[never] "probe sys.op"..."er { }"`,
		`19 alias [a.* b] points[c.return] refs[p q string_of last] "probe a.* = "..."[1]) }"`,
		`20 alias [d] points[e] "probe d += e"..." e { }"`,
		`21 probe [] points[begin end] refs[f total] "probe begin,"..."tal) }"`,
		`22 function [k] refs[runtime a] "function k()"..." %} %)"`,
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] && !strings.HasPrefix(got[i], want[i]) {
			g := "nothing"
			if i < len(got) {
				g = got[i]
			}
			t.Errorf("entry %d is\n%s\nwant\n%s", i, g, want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
}

// TestIndexRefuses lists texts that only a whole parse can tell apart.
func TestIndexRefuses(t *testing.T) {
	for _, text := range []string{
		`function f() {`, `probe a`, `global`, `x`, `function f() { } }`, `/* a`, `function f() { "a }`,
		`function f() %{ a`,
		`@define a`, `@define a %( 1`, `@define 1 %( 2 %)`, `%( 1 == 1 %? global a`, `%)`, `%:`,
		`%( 1 == 1 %: global a %)`,
		`function f() { %( 1 == 1 %? { %: %) }`, `function f() { %) }`, `%( 1 == 1 %? function f() { %) }`,
		`@make(a) global b`, `@make @make probe x { }`,
		`probe a = b { }, c`, `%( 1 == 1 %? a %: b %: c %)`, `private 5`,
	} {
		if es, ok := Index([]byte(text)); ok {
			t.Errorf("%s is indexed as %v", text, es)
		}
	}
}

func TestIndexEmpty(t *testing.T) {
	if es, ok := Index([]byte(" # nothing\n")); !ok || len(es) != 0 {
		t.Error(es, ok)
	}
}

// TestParseDecl reads each declaration alone and compares with the whole file.
func TestParseDecl(t *testing.T) {
	text := []byte(strings.Replace(library, "x = { %: y = { %) }", "x %: y %)", 1))
	fs := new(source.FileSet)
	o := testOptions(t, fs)
	o.Library = true
	whole, l := Parse(fs.Add("lib.stp", text), o)
	// The array with an initial value is the only error.
	if len(l) != 1 {
		t.Fatal(report(fs, l))
	}
	src := fs.Add("lib.stp", text)
	es, _ := Index(text)
	var one ast.File
	for i := range es {
		e := &es[i]
		if e.Kind == MacroEntry {
			continue
		}
		holds, l := Holds(src, e.Guards, es, o)
		if len(l) > 0 {
			t.Fatal(report(fs, l))
		}
		if !holds {
			continue
		}
		d, l := ParseDecl(src, e, es, o)
		if d == nil {
			t.Fatal(report(fs, l))
		}
		if line := fs.Position(d.Range().From).Line; line != e.Line {
			t.Errorf("%v is at line %d, want %d", e.Names, line, e.Line)
		}
		one.Decls = append(one.Decls, d)
	}
	if a, b := string(printed(t, whole)), string(printed(t, &one)); a != b {
		t.Errorf("read one by one:\n%s\nas a whole:\n%s", b, a)
	}
}

func TestHolds(t *testing.T) {
	text := `@define v %( "6" %) %( kernel_v > @v %? global a %: global b %) %( nothing == 1 %? global c %)`
	fs := new(source.FileSet)
	o := testOptions(t, fs)
	src := fs.Add("lib.stp", []byte(text))
	es, ok := Index(src.Text)
	if !ok {
		t.Fatal(es)
	}
	var got []bool
	var messages string
	for _, e := range es {
		h, l := Holds(src, e.Guards, es, o)
		got = append(got, h)
		messages += report(fs, l)
	}
	if want := []bool{true, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !strings.HasPrefix(messages,
		"[condition]\nlib.stp:1:68: error: name nothing is nothing that a condition can ask\n") {
		t.Error(messages)
	}
}

func TestEntryMacro(t *testing.T) {
	src := new(source.FileSet).Add("lib.stpm", []byte("@define m(a, b) %( @a %)"))
	es, _ := Index(src.Text)
	m := es[0].Macro(src)
	if m.Name != "m" || !reflect.DeepEqual(m.Params, []string{"a", "b"}) || string(src.Text[m.Off:m.End]) != " @a " {
		t.Errorf("%+v", m)
	}
}
