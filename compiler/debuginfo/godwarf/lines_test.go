package godwarf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
)

// lineOf finds the line of testdata/shapes/main.go that holds text; the tests name lines by what
// is on them.
func lineOf(t testing.TB, text string) int {
	t.Helper()
	b, err := os.ReadFile("testdata/shapes/main.go")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(b), text)
	if at < 0 || strings.Contains(string(b[at+1:]), text) {
		t.Fatalf("%q is not in the fixture exactly once", text)
	}
	return 1 + strings.Count(string(b[:at]), "\n")
}

func showSites(sites []debuginfo.Site) string {
	var out []string
	for _, s := range sites {
		w := fmt.Sprintf("%s:%d", strings.TrimPrefix(s.Func.Name, "main."), s.Line)
		if s.Inline != nil {
			w = fmt.Sprintf("%s<%s", strings.TrimPrefix(s.Inline.Func.Name, "main."), w)
		}
		switch s.Kind {
		case debuginfo.AtEntry:
			w += "!"
		case debuginfo.AtLine:
		default:
			w += fmt.Sprint("?", s.Kind)
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

func TestLineSites(t *testing.T) {
	keep1, keep2 := lineOf(t, "keep(count, i)"), lineOf(t, "keep(count, n)")
	decl := lineOf(t, "func statements(")
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			im := open(t, v.name)
			for _, c := range []struct {
				q    debuginfo.LineQuery
				want string
			}{
				{debuginfo.LineQuery{Func: "main.statements", File: "main.go", Line: keep1},
					fmt.Sprintf("statements:%d", keep1)},
				{debuginfo.LineQuery{Func: "main.statements", File: "shapes/main.go", Line: keep2},
					fmt.Sprintf("statements:%d", keep2)},
				{debuginfo.LineQuery{Func: "main.statements", Line: keep2}, fmt.Sprintf("statements:%d", keep2)},
				{debuginfo.LineQuery{Func: "main.statements", Line: keep2 - decl, Rel: true},
					fmt.Sprintf("statements:%d", keep2)},
				{debuginfo.LineQuery{Func: "main.statements", Line: decl}, fmt.Sprintf("statements:%d!", decl)},
				{debuginfo.LineQuery{Func: "main.statements", Line: keep1, To: keep2},
					fmt.Sprintf("statements:%d statements:%d", keep1, keep2)},
				{debuginfo.LineQuery{Func: "*", File: "godwarf/testdata/shapes/main.go", Line: keep2},
					fmt.Sprintf("statements:%d", keep2)},
				{debuginfo.LineQuery{Func: "*", File: "shapes/main.go", Line: decl - 1, Nearest: true}, ""},
				{debuginfo.LineQuery{Func: "main.statements", Line: keep1 + 1, Nearest: true},
					fmt.Sprintf("statements:%d", keep2)},
			} {
				sites, err := im.LineSites(c.q)
				if got := showSites(sites); got != c.want {
					t.Errorf("%+v: %s, want %s (%v)", c.q, got, c.want, err)
				}
				for _, s := range sites {
					if filepath.Base(s.File) != "main.go" || s.CFA.Empty() || s.Insn == debuginfo.InsnUnknown {
						t.Errorf("%+v: site %+v", c.q, s)
					}
				}
			}
			// Every line of a function.
			sites, err := im.LineSites(debuginfo.LineQuery{Func: "main.statements", All: true})
			if err != nil || len(sites) < 6 {
				t.Errorf("all lines: %s %v", showSites(sites), err)
			}
			seen := map[int]bool{}
			for _, s := range sites {
				if seen[s.Line] || s.Line < decl || s.Line > keep2+2 {
					t.Errorf("all lines: %s", showSites(sites))
				}
				seen[s.Line] = true
			}
		})
	}
}

// TestInlinedLines: a line of a function that is inlined has a site in each copy, and the function of
// the query is the one that the line is in.
func TestInlinedLines(t *testing.T) {
	body := lineOf(t, "return a*3 + len(s)")
	for _, v := range []string{"default", "stripped", "pie"} {
		im := open(t, v)
		for _, q := range []debuginfo.LineQuery{
			{Func: "main.small", File: "main.go", Line: body},
			{Func: "main.small", Line: 1, Rel: true},
			{Func: "*", File: "testdata/shapes/main.go", Line: body},
			{Func: "main.*", File: "main.go", Line: body},
		} {
			sites, err := im.LineSites(q)
			if got, want := showSites(sites), fmt.Sprintf("small<outer:%d", body); got != want {
				t.Errorf("%s: %+v: %s, want %s (%v)", v, q, got, want, err)
			}
		}
		if sites, err := im.LineSites(debuginfo.LineQuery{Func: "main.outer", Line: body}); err == nil {
			t.Errorf("%s: outer has a line of small: %s", v, showSites(sites))
		}
	}
}

func TestNoLine(t *testing.T) {
	im := open(t, "default")
	decl := lineOf(t, "func statements(")
	for _, c := range []struct {
		q          debuginfo.LineQuery
		what, want string
	}{
		{debuginfo.LineQuery{Func: "main.statements", Line: 1}, "line", fmt.Sprintf("[%d]", decl)},
		{debuginfo.LineQuery{Func: "main.statements", Line: 9999}, "line",
			fmt.Sprintf("[%d]", lineOf(t, "return count"))},
		{debuginfo.LineQuery{Func: "main.statments", Line: 1}, "function", "[main.statements]"},
		{debuginfo.LineQuery{Func: "*", File: "mian.go", Line: 1}, "file", "/testdata/shapes/main.go "},
		{debuginfo.LineQuery{Func: "main.statements", File: "other.go", Line: 1}, "file", "shapes/main.go]"},
		{debuginfo.LineQuery{Func: "*", Line: 1}, "file", "[]"},
	} {
		sites, err := im.LineSites(c.q)
		var nf *debuginfo.NotFoundError
		if !errors.As(err, &nf) || nf.What != c.what {
			t.Errorf("%+v: %s, %v", c.q, showSites(sites), err)
			continue
		}
		if got := fmt.Sprint(nf.Near); !strings.Contains(got, c.want) {
			t.Errorf("%+v: near %s, want %s", c.q, got, c.want)
		}
	}
	_, err := im.LineSites(debuginfo.LineQuery{Func: "*", File: "print.go", Line: 100})
	if err == nil || !strings.Contains(err.Error(), `file "print.go" is ambiguous: `) ||
		!strings.Contains(err.Error(), "/fmt/print.go") {
		t.Errorf("two files of one name: %v", err)
	}
}

// TestCopiesOnTheirCallersLine: an inlined copy begins where the line table, which has the same line before it, says
// nothing.
func TestCopiesOnTheirCallersLine(t *testing.T) {
	rows := []pclntab.Row{
		{Lo: 0x10, Hi: 0x20, File: "a.go", Line: 5, Inline: -1},
		{Lo: 0x20, Hi: 0x30, File: "a.go", Line: 5, Inline: 0}, // passed over by the line table
		{Lo: 0x30, Hi: 0x40, File: "a.go", Line: 5, Inline: 1}, // in it
		{Lo: 0x40, Hi: 0x50, File: "a.go", Line: 6, Inline: 2}, // another line, without a mark
		{Lo: 0x50, Hi: 0x60, File: "a.go", Line: 6, Inline: 0}, // goes on
		{Lo: 0x70, Hi: 0x80, File: "a.go", Line: 6, Inline: 3}, // not behind that
		{Lo: 0x80, Hi: 0x90, File: "a.go", Line: 6, Inline: 4},
	}
	have := []stmt{{pc: 0x10, file: "a.go", line: 5}, {pc: 0x30, file: "a.go", line: 5}}
	got := fmt.Sprint(withCopies(have, rows))
	if want := "[{16 a.go 5 false} {32 a.go 5 false} {48 a.go 5 false} {128 a.go 6 false}]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if len(have) != 2 || have[1].pc != 0x30 {
		t.Errorf("what was given has become %v", have)
	}
}

// TestLinesWithoutMark: a copy whose line is nowhere marked has it at its first row, beside copies that are marked; a
// function's own code has not.
func TestLinesWithoutMark(t *testing.T) {
	lines := []stmt{{pc: 1, line: 5, unmarked: true}, {pc: 2, line: 6, unmarked: true}, {pc: 3, line: 6},
		{pc: 4, line: 5, unmarked: true}}
	for inline, want := range map[int]string{0: "[{1  5 true} {3  6 false}]", -1: "[{3  6 false}]"} {
		b := &instance{inline: inline, lines: slices.Clone(lines)}
		b.keepMarked()
		got, err := b.linesWanted(debuginfo.LineQuery{Line: 5, To: 6})
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%d: %v, not %s; %v", inline, got, want, err)
		}
	}
}
