package godwarf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/types"
)

// at gives the site of the line that holds text.
func at(t *testing.T, im *Image, fn, text string) debuginfo.Site {
	t.Helper()
	sites, err := im.LineSites(debuginfo.LineQuery{Func: fn, Line: lineOf(t, text)})
	if err != nil || len(sites) != 1 {
		t.Fatalf("%s, %s: %s %v", fn, text, showSites(sites), err)
	}
	return sites[0]
}

// live lists the variables with a value at s, as name:kind:type.
func live(t *testing.T, im *Image, s debuginfo.Site) string {
	t.Helper()
	vars, err := im.Vars(s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range vars {
		if v.Err == nil {
			out = append(out, fmt.Sprintf("%s:%s:%s", v.Name,
				[...]string{"param", "result", "local", "global", "captured"}[v.Kind], v.Type.Name))
			if v.Place.Type == nil || !v.Place.InMemory && len(v.Place.Pieces) == 0 || v.Place.InMemory &&
				v.Place.Addr.Empty() {
				t.Errorf("%s: place %+v", v.Name, v.Place)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestLocals(t *testing.T) {
	for _, c := range []struct {
		fn, text, noopt, opt string
	}{
		{"main.statements", "count := 0", "n:param:int names:param:[]string", ""},
		{"main.statements", "length := len(name)",
			"n:param:int names:param:[]string count:local:int i:local:int name:local:string", ""},
		{"main.statements", "keep(count, i)",
			"n:param:int names:param:[]string count:local:int i:local:int name:local:string length:local:int",
			"n:param:int i:local:int"},
		{"main.statements", "keep(count, n)", "n:param:int names:param:[]string count:local:int",
			"n:param:int count:local:int"},
		{"main.traceme", "return a + b", "a:param:int b:param:int ret:result:int", "a:param:int b:param:int"},
		{"main.escapes", "y := x * 2", "x:param:int res:result:*int", ""},
		{"main.escapes", "res = &y", "x:param:int res:result:*int y:local:int", ""},
		{"main.escapes", "return res", "x:param:int res:result:*int y:local:int", ""},
		{"main.counter.func1", "total += n*base",
			"n:param:int total:captured:int base:captured:int step:captured:string", ""},
		{"main.counter.func1", "return total // captured",
			"n:param:int total:captured:int base:captured:int step:captured:string", ""},
		{"main.(*List[...]).Push", "return len(l.items)", "", ""},
	} {
		for _, v := range []string{"noopt", "default"} {
			if v == "default" && c.opt == "" || v == "noopt" && c.noopt == "" {
				continue
			}
			im := open(t, v)
			s := at(t, im, c.fn, c.text)
			want := c.noopt
			if v == "default" {
				want = c.opt
			}
			words := strings.Fields(want)
			slices.Sort(words)
			want = strings.Join(words, " ")
			got := live(t, im, s)
			if v == "noopt" && got != want {
				t.Errorf("%s: %s, line %d:\n got %s\nwant %s", v, c.fn, s.Line, got, want)
			}
			if v == "default" { // what else is alive is the compiler's business
				for _, w := range strings.Fields(want) {
					if !strings.Contains(" "+got+" ", " "+w+" ") {
						t.Errorf("%s: %s, line %d: no %s in %s", v, c.fn, s.Line, w, got)
					}
				}
			}
		}
	}
}

// TestMoved: a variable on the heap is reached through its pointer.
func TestMoved(t *testing.T) {
	im := open(t, "noopt")
	s := at(t, im, "main.escapes", "return res")
	for _, name := range []string{"x", "y", "res"} {
		v, err := im.Var(s, name)
		if err != nil {
			t.Error(err)
			continue
		}
		if !v.Place.InMemory || !strings.HasPrefix(showPlace(v.Place), "[*(rsp+") {
			t.Errorf("%s: %s", name, showPlace(v.Place))
		}
	}
}

func TestNotLive(t *testing.T) {
	each(t, func(t *testing.T, im *Image) {
		f, err := im.Funcs("main.traceme")
		if err != nil {
			t.Fatal(err)
		}
		entry, err := im.EntrySite(f[0])
		if err != nil {
			t.Fatal(err)
		}
		rets, err := im.ReturnSites(f[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			s            debuginfo.Site
			name, reason string
		}{
			{entry, "ret", "has not returned yet"},
			{entry, "~r0", "has not returned yet"},
			{rets[0], "a", "@entry($a)"},
		} {
			_, err := im.Var(c.s, c.name)
			var nl *debuginfo.NotLiveError
			if !errors.As(err, &nl) || !strings.Contains(nl.Reason, c.reason) {
				t.Errorf("%s: %v, want %s", c.name, err, c.reason)
			}
		}
		for _, name := range []string{"ret", "~r0"} {
			if v, err := im.Var(rets[0], name); err != nil || v.Name != "ret" || showPlace(v.Place) != "rax" {
				t.Errorf("%s: %+v %v", name, v, err)
			}
		}
		_, err = im.Var(entry, "aa")
		var nf *debuginfo.NotFoundError
		if !errors.As(err, &nf) || len(nf.Near) == 0 || nf.Near[0] != "a" {
			t.Errorf("aa: %v", err)
		}
		s := at(t, im, "main.statements", "if length > n")
		v, err := im.Var(s, "count")
		var nl *debuginfo.NotLiveError
		if err != nil && errors.As(err, &nl) {
			if len(nl.Lines) == 0 || nl.Lines[0] <= s.Line {
				t.Errorf("count is live on lines %v", nl.Lines)
			}
		} else if errors.As(err, &nf) {
			// There is nothing of it.
		} else {
			t.Log(showVar(v)) // there is a value
			if v == nil || v.Place.Type == nil {
				t.Errorf("%+v", v)
			}
		}
	})
}

func TestStripped(t *testing.T) {
	im := open(t, "stripped")
	if im.HasTypes() || !strings.Contains(im.NoTypes(), "stripped") {
		t.Errorf("HasTypes %v, %q", im.HasTypes(), im.NoTypes())
	}
	f, err := im.Funcs("main.traceme")
	if err != nil {
		t.Fatal(err)
	}
	s, err := im.EntrySite(f[0])
	if err != nil || s.Insn != debuginfo.InsnNop && s.Insn != debuginfo.InsnPush && s.Insn != debuginfo.InsnStepped {
		t.Errorf("%+v %v", s, err)
	}
	if r, err := im.ReturnSites(f[0]); err != nil || len(r) != 1 || r[0].Kind != debuginfo.AtReturn ||
		r[0].Insn != debuginfo.InsnRet {
		t.Errorf("%+v %v", r, err)
	}
	_, err = im.Global("main.answer")
	var nv *NoVariablesError
	if !errors.As(err, &nv) || !errors.Is(err, debuginfo.ErrNoTypes) || !strings.Contains(err.Error(), "int_arg(1)") {
		t.Errorf("%v", err)
	}
	if _, err = im.Var(s, "a"); !errors.Is(err, debuginfo.ErrNoTypes) {
		t.Errorf("%v", err)
	}
	if vs, err := im.Vars(s); err != nil || len(vs) == 0 || vs[0].Name != "arg1" || vs[0].Err != nil {
		t.Errorf("%v %v", vs, err)
	}
	if ty, err := im.Type("main.Server"); err != nil || ty.Kind != types.Struct || len(ty.Fields()) == 0 {
		t.Errorf("%v %v", ty, err)
	}
	if g := im.Goroutine(s); g.GoID <= 0 || g.StackHi != 8 || g.G.String() != "reg 14" {
		t.Errorf("%+v", g)
	}
}

func TestGlobal(t *testing.T) {
	each(t, func(t *testing.T, im *Image) {
		for name, want := range map[string]string{
			"main.answer":  "int",
			"answer@main":  "int",
			"main.servers": "[]*main.Server",
			"main.banner":  "string",
			"os.Args":      "[]string",
		} {
			v, err := im.Global(name)
			if err != nil || v.Err != nil || v.Type.Name != want || !v.Place.InMemory || v.Kind != debuginfo.GlobalVar {
				t.Errorf("%s: %+v %v", name, v, err)
				continue
			}
			if rel := strings.Contains(showPlace(v.Place), "image"); rel != im.f.Relocated() {
				t.Errorf("%s: %s", name, showPlace(v.Place))
			}
		}
		for _, name := range []string{"main.nothing", "nopkg.x", "answer", ""} {
			var nf *debuginfo.NotFoundError
			if v, err := im.Global(name); !errors.As(err, &nf) {
				t.Errorf("%s: %+v %v", name, v, err)
			}
		}
	})
}

func TestType(t *testing.T) {
	each(t, func(t *testing.T, im *Image) {
		st, err := im.Type("main.Server")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range st.Fields() {
			e := ""
			if f.Embedded {
				e = "*"
			}
			got = append(got, fmt.Sprintf("%s%s:%s@%d/%d", f.Name, e, f.Type.Name, f.Off, f.Type.Size))
		}
		want := "Point*:main.Point@0/32 name:string@32/16 conns:map[string]int@48/8 log:io.Writer@56/16 " +
			"next:*main.Server@72/8 fn:func(int) int@80/8 ch:chan int@88/8 tags:[4]string@96/64 ok:bool@160/1 " +
			"ratio:float64@168/8"
		if g := strings.Join(got, " "); g != want {
			t.Errorf("got  %s\nwant %s", g, want)
		}
		for _, name := range []string{"*main.Server", "int", "[]string", "error", "runtime.g", "**main.Server",
			"[]*main.Point"} {
			ty, err := im.Type(name)
			if err != nil || ty.Name != name && name != "[]*main.Point" {
				t.Errorf("%s: %+v %v", name, ty, err)
			}
		}
		var nf *debuginfo.NotFoundError
		if ty, err := im.Type("main.Nothing"); !errors.As(err, &nf) {
			t.Errorf("main.Nothing: %+v %v", ty, err)
		}
	})
}

func TestGoroutine(t *testing.T) {
	each(t, func(t *testing.T, im *Image) {
		f, err := im.Funcs("main.traceme")
		if err != nil {
			t.Fatal(err)
		}
		s, err := im.EntrySite(f[0])
		if err != nil {
			t.Fatal(err)
		}
		g := im.Goroutine(s)
		if g.G.String() != "reg 14" {
			t.Errorf("G is %s", g.G)
		}
		want := gFields[im.release()]
		m := mFields[im.release()]
		want.CurG, want.GSignal, want.NCgo = m.CurG, m.GSignal, m.NCgo
		got := *g
		got.G = want.G
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s: fields of runtime.g\n got %+v\nwant %+v (the table)", im.Version(), got, want)
		}
		c := im.InC()
		if c.CurG != m.CurG || c.GSignal != m.GSignal || c.NCgo != m.NCgo || !c.System ||
			!strings.HasPrefix(c.G.String(), "tls; const -") {
			t.Errorf("%s: in C it is %+v, the table has %+v", im.Version(), c, m)
		}
		f, err = im.Funcs(vecPkg + ".Sum")
		if err != nil {
			t.Fatal(err)
		}
		if s, err = im.EntrySite(f[0]); err != nil {
			t.Fatal(err)
		}
		if g := im.Goroutine(s); !strings.HasPrefix(g.G.String(), "tls; const -") {
			t.Errorf("G in assembly is %s", g.G)
		}
	})
}

// TestTail: a function that ends in a jump has no result there.
func TestTail(t *testing.T) {
	im := open(t, "default")
	fs, err := im.Funcs("*")
	if err != nil {
		t.Fatal(err)
	}
	tails := 0
	for _, f := range fs {
		sites, err := im.ReturnSites(f)
		if err != nil {
			continue
		}
		for _, s := range sites {
			if s.Kind != debuginfo.AtTail {
				continue
			}
			tails++
			if s.Insn != debuginfo.InsnJump && s.Insn != debuginfo.InsnStepped {
				t.Errorf("%s: a jump of class %v", f.Name, s.Insn)
			}
			rs, err := im.Results(s)
			for _, r := range rs {
				var nl *debuginfo.NotLiveError
				if !errors.As(r.Err, &nl) || !strings.Contains(nl.Reason, "ends in a jump to ") {
					t.Errorf("%s: result %s: %v", f.Name, showVar(r), err)
				}
			}
		}
	}
	if tails == 0 {
		t.Error("no function ends in a jump")
	}
}
