package cdwarf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// lineOf is the line of testdata/callee.c that contains text.
func lineOf(t *testing.T, text string) int {
	t.Helper()
	b, err := os.ReadFile("testdata/callee.c")
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range strings.Split(string(b), "\n") {
		if strings.Contains(l, text) {
			return i + 1
		}
	}
	t.Fatalf("no line with %q", text)
	return 0
}

// What is readable at a statement is right on every hit, in every build; without optimisation everything is.
func TestStatements(t *testing.T) {
	cases := []struct {
		line string
		hits []map[string]string
	}{
		{"total += helper(n);", []map[string]string{{"i": "0", "n": "0", "total": "0"},
			{"i": "1", "n": "10", "total": "0"}}},
		{"if (total > 1) {", []map[string]string{{"n": "2", "total": "220"}}},
		{"return w + hidden;", []map[string]string{{"v": "220", "w": "440"}}},
		{"total += t;", []map[string]string{{"n": "2", "total": "220", "t": "540"}}},
		{"s += __builtin_va_arg", []map[string]string{{"n": "2", "i": "0", "s": "0"}, {"n": "2", "i": "1", "s": "10"}}},
		{"buf[i] = 0;", []map[string]string{{"n": "3", "i": "3"}}},
		{"tls_second += n->val;", []map[string]string{{"c": "5"}}},
		{"return x * calls;", []map[string]string{{"x": "0", "calls": "21"}, {"x": "10", "calls": "22"},
			{"x": "15", "calls": "23"}}},
	}
	for name := range builds {
		t.Run(name, func(t *testing.T) {
			im := open(t, build(t, name))
			exact := strings.HasPrefix(name, "O0")
			probes := map[uint64]func(*state){}
			hits, readable := map[string]int{}, 0
			for _, c := range cases {
				sites, err := im.LineSites(debuginfo.LineQuery{Func: "*", File: "callee.c", Line: lineOf(t, c.line)})
				if err != nil {
					if exact {
						t.Errorf("%s: %v", c.line, err)
					}
					continue
				}
				for _, s := range sites {
					vars, err := im.Vars(s)
					if err != nil {
						t.Fatal(err)
					}
					old := probes[s.PC]
					probes[s.PC] = func(st *state) {
						if old != nil {
							old(st)
						}
						n := hits[c.line]
						hits[c.line]++
						for name, want := range c.hits[min(n, len(c.hits)-1)] {
							i := slices.IndexFunc(vars, func(v *debuginfo.Var) bool { return v.Name == name })
							if i < 0 || vars[i].Err != nil {
								if exact {
									t.Errorf("%q: no %s", c.line, name)
								}
								continue
							}
							b, err := st.bytes(vars[i].Place)
							if err != nil {
								t.Errorf("%q: %s: %v", c.line, name, err)
								continue
							}
							readable++
							if got := show(st, vars[i].Type, b); got != want {
								t.Errorf("%q, hit %d: %s is %s, want %s", c.line, n, name, got, want)
							}
						}
					}
				}
			}
			live(t, im.f, probes)
			for _, c := range cases {
				if exact && hits[c.line] != len(c.hits) {
					t.Errorf("%q: %d hits, want %d", c.line, hits[c.line], len(c.hits))
				}
			}
			if readable < 5 && name != "O2-novta" {
				t.Errorf("only %d values could be read", readable)
			}
		})
	}
}

func TestInlined(t *testing.T) {
	for _, name := range []string{"O2", "O2-nopie-v4", "O2-lto"} {
		im := open(t, build(t, name))
		in, err := im.Inlined("twice")
		if err != nil || len(in) != 1 {
			t.Fatalf("%s: %d copies, %v", name, len(in), err)
		}
		x := in[0]
		if x.In.Name != "blocks" || x.Func.Name != "twice" || x.Func.Entry != 0 ||
			x.CallLine != lineOf(t, "twice(total)") || !strings.HasSuffix(x.CallFile, "/callee.c") ||
			x.Func.Line != lineOf(t, "int twice(int v)") {
			t.Errorf("%s: %+v of %+v", name, x, x.Func)
		}
		if x.Site.Kind != debuginfo.AtInline || x.Site.Inline != x || x.Site.Func != x.In {
			t.Errorf("%s: site %+v", name, x.Site)
		}
		if fs, err := im.Funcs("twice"); err == nil {
			t.Errorf("%s: it also exists out of line: %v", name, fs[0])
		}
		frames := im.Lookup(x.Site.PC)
		if len(frames) != 2 || frames[0].Func != "twice" || !frames[0].Inline || frames[1].Func != "blocks" ||
			frames[1].Line != x.CallLine || frames[1].Inline {
			t.Errorf("%s: frames %+v", name, frames)
		}
		vars, err := im.Vars(x.Site)
		if err != nil || len(vars) == 0 || vars[0].Name != "v" {
			t.Fatalf("%s: %v, %v", name, vars, err)
		}
		hits := 0
		live(t, im.f, map[uint64]func(*state){x.Site.PC: func(st *state) {
			hits++
			if vars[0].Err != nil {
				return
			}
			if b, err := st.bytes(vars[0].Place); err != nil || show(st, vars[0].Type, b) != "220" {
				t.Errorf("%s: v is %v, %v", name, b, err)
			}
		}})
		if hits != 1 {
			t.Errorf("%s: %d hits", name, hits)
		}
	}
	im := open(t, build(t, "O0"))
	var nf *debuginfo.NotFoundError
	if in, err := im.Inlined("twice"); !errors.As(err, &nf) {
		t.Errorf("O0: %v, %v", in, err)
	}
}

func TestLineErrors(t *testing.T) {
	im := open(t, build(t, "O0"))
	head := lineOf(t, "OUT int blocks(int n)")
	for _, c := range []struct {
		q    debuginfo.LineQuery
		want string
	}{
		{debuginfo.LineQuery{Func: "*", File: "caller.c", Line: 3}, `no file "caller.c"; callee.c`},
		{debuginfo.LineQuery{Func: "*", File: "callee.c", Line: 1}, `no line "callee.c:1": it has no code; line`},
		{debuginfo.LineQuery{Func: "*", File: "callee.c", Line: 9999}, "is the last one with code"},
		{debuginfo.LineQuery{Func: "nonesuch", File: "callee.c", Line: 5}, `no function "nonesuch"`},
		{debuginfo.LineQuery{Func: "bloks", Line: 5}, `no function "bloks"; blocks`},
		{debuginfo.LineQuery{Func: "blocks", File: "main.c", Line: 5},
			`no function that matches has code from this file`},
		{debuginfo.LineQuery{Func: "blocks", Rel: true, Line: 3000}, `no line "blocks:+3000"`},
	} {
		_, err := im.LineSites(c.q)
		text := fmt.Sprint(err)
		var nf *debuginfo.NotFoundError
		if errors.As(err, &nf) && len(nf.Near) > 0 {
			text += "; " + strings.Join(nf.Near, ", ")
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%+v: %s", c.q, text)
		}
	}
	lines := func(q debuginfo.LineQuery) (out []int) {
		t.Helper()
		sites, err := im.LineSites(q)
		if err != nil {
			t.Errorf("%+v: %v", q, err)
		}
		for _, s := range sites {
			if s.Func.Name != "blocks" {
				t.Errorf("%+v: in %s", q, s.Func.Name)
			}
			out = append(out, s.Line-head)
		}
		return out
	}
	if got := lines(debuginfo.LineQuery{Func: "blocks", Rel: true, Line: 2}); !slices.Equal(got, []int{2}) {
		t.Errorf(":+2 is %v", got)
	}
	if got := lines(debuginfo.LineQuery{Func: "blocks", All: true}); !slices.Equal(got,
		[]int{1, 2, 3, 4, 5, 7, 8, 9, 11, 12}) {
		t.Errorf(":* is %v", got)
	}
	if got := lines(debuginfo.LineQuery{Func: "*", File: "callee.c", Line: head + 4, To: head + 8}); !slices.Equal(got,
		[]int{4, 5, 7, 8}) {
		t.Errorf("range is %v", got)
	}
	if got := lines(debuginfo.LineQuery{Func: "*", File: "testdata/callee.c", Line: head + 6,
		Nearest: true}); !slices.Equal(got, []int{7}) {
		t.Errorf("nearest is %v", got)
	}
	s, err := im.LineSites(debuginfo.LineQuery{Func: "*", File: "callee.c", Line: head + 1})
	if err != nil || len(s) != 1 || s[0].Kind != debuginfo.AtEntry {
		t.Errorf("opening line: %+v, %v", s, err)
	}
}

func TestAmbiguousFile(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, d := range []string{"a", "b"} {
		os.Mkdir(filepath.Join(dir, d), 0o755)
		f := filepath.Join(dir, d, "same.c")
		os.WriteFile(f, fmt.Appendf(nil, "int f%d(int x)\n{\n\treturn x + %d;\n}\nint main%d(void) { return 0; }\n", i,
			i, i), 0o644)
		files = append(files, f)
	}
	out := filepath.Join(dir, "main.c")
	os.WriteFile(out, []byte("int main(void) { return 0; }\n"), 0o644)
	im := open(t, compile(t, "ambiguous"+filepath.Base(dir), "-g -O0", append(files, out)...))
	_, err := im.LineSites(debuginfo.LineQuery{Func: "*", File: "same.c", Line: 3})
	if err == nil || !strings.Contains(err.Error(), "ambiguous") || !strings.Contains(err.Error(), files[0]) ||
		!strings.Contains(err.Error(), files[1]) {
		t.Errorf("error %v", err)
	}
	for _, q := range []debuginfo.LineQuery{{Func: "*", File: "b/same.c", Line: 3},
		{Func: "f1", File: "same.c", Line: 3}} {
		s, err := im.LineSites(q)
		if err != nil || len(s) != 1 || s[0].Func.Name != "f1" {
			t.Errorf("%+v: %+v, %v", q, s, err)
		}
	}
	if s, err := im.LineSites(debuginfo.LineQuery{Func: "*", File: "?/same.c", Line: 3}); err != nil || len(s) != 2 {
		t.Errorf("glob: %+v, %v", s, err)
	}
}
