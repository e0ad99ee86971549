package godwarf

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// calls is what the fixture does, in order, for each function: the arguments of a call,
// and its results.
var calls = map[string]string{
	"main.traceme": "a=1 b=2 -> ret=3",
	"main.many": "a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 j=10 k=11 -> ~r0=11 ~r1=10 ~r2=9 " +
		"~r3=8 ~r4=7 ~r5=6 ~r6=5 ~r7=4 ~r8=3 ~r9=3",
	"main.text":                              `s="str" l=[98 121 116 101 115] m=map[string]int e=error any=interface {} -> ~r0="str" ~r1=error`,
	"main.structs":                           `p={3 4 "five"} q=&{1 2 "pt"} one=[6] two=[7 8] -> ~r0={3 20 "five"}`,
	"main.floats":                            "x=1.5 n=9 y=2.5 c=(0+3i) -> ~r0=4 ~r1=9",
	"main.unnamed":                           `~p0=13 ~p1="un" -> ~r0=false ~r1=nil`,
	"main.blank":                             `~p0=14 b=15 ~p2="bl" d=16 -> ~r0=31 err=error`,
	"main.Point.Len":                         `p={1 2 "pt"} scale=3 -> ~r0=6; p={1 2 "pt"} scale=4 -> ~r0=8`,
	"main.large":                             "n=2 -> sum=35994000",
	"main.huge":                              "n=3 -> ~r0=3",
	"main.recovers":                          "n=1 -> res=1 err=nil; n=3 -> res=-1 err=error",
	"main.escapes":                           "x=21 -> res=&42",
	"main.outer":                             "n=2 -> ~r0=98",
	"main.counter":                           `base=10 step="step" -> ~r0=func(int) int`,
	"main.statements":                        `n=2 names=["a" "bcd" "efgh"] -> ~r0=7`,
	"main.Map[go.shape.int,go.shape.string]": `s=[1 2] f=func(go.shape.int) go.shape.string -> ~r0=["m" "mm"]`,
	"main.Map[go.shape.string,go.shape.string]": `s=["a"] f=func(go.shape.string) go.shape.string -> ~r0=["A"]`,
	"main.(*List[go.shape.string]).Push":        `l=&{[]} e="p" -> ~r0=1; l=&{["p"]} e="q" -> ~r0=2`,
	"main.(*List[go.shape.int]).Push":           `l=&{[]} e=3 -> ~r0=1`,
	"main.counter.func1":                        "n=1 total=0 base=10 -> ~r0=14; n=2 total=14 base=10 -> ~r0=38",
	"main.main.func1":                           `i=1 -> ~r0="m"; i=2 -> ~r0="mm"`,
	"main.main.func2":                           `id=7 name="worker" done=chan bool -> `,
	"main.recovers.func1":                       "res=1 err=nil -> ; res=0 err=nil -> ",
	vecPkg + ".Sum":                             "a=1 b=2 s=[3 4] -> total=10 n=2",
	vecPkg + ".product":                         "~p0=6 ~p1=7 ~p2=4609434218613702656 -> ",
}

// TestLive runs the fixture in all variants with a breakpoint on every entry and return: values, the
// goroutine, the frame address and the return address must be right, and each call must be seen once
// at its entry and once at its return, stacks that grow and panics that are recovered included.
func TestLive(t *testing.T) {
	each(t, func(t *testing.T, im *Image) {
		got := map[string][]string{}
		open := map[string][]uint64{} // frames by function
		hooks := map[uint64]func(*thread){}
		list := func(th *thread, s debuginfo.Site, kinds ...debuginfo.VarKind) string {
			vars, err := im.Vars(s)
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, v := range vars {
				for _, k := range kinds {
					if v.Kind == k && v.Name != "step" || v.Kind == k && v.Name == "step" && k == debuginfo.Param {
						out = append(out, v.Name+"="+th.show(v))
					}
				}
			}
			return strings.Join(out, " ")
		}
		// goroutine gives the goroutine's number, and how far below the top of its stack the frame is:
		// that stays when the stack moves.
		goroutine := func(th *thread, s debuginfo.Site) (id, depth uint64) {
			g := im.Goroutine(s)
			if g.G.Empty() {
				t.Errorf("%s: no goroutine", s.Func.Name)
				return 0, 0
			}
			at := th.eval(g.G)
			return th.word(at+uint64(g.GoID), 8), th.word(at+uint64(g.StackHi), 8) - th.eval(s.CFA)
		}
		for name := range calls {
			fs, err := im.Funcs(name)
			if err != nil && prebuilt != "" {
				t.Logf("%s: %v", name, err)
				delete(calls, name)
				continue
			}
			if err != nil || len(fs) != 1 {
				t.Fatalf("%s: %v", name, err)
			}
			s, err := im.EntrySite(fs[0])
			if err != nil {
				t.Fatal(err)
			}
			hooks[s.PC] = func(th *thread) {
				got[name] = append(got[name], list(th, s, debuginfo.Param, debuginfo.Captured))
				id, depth := goroutine(th, s)
				open[name] = append(open[name], depth)
				if id == 0 || (id == 1) == (name == "main.main.func2") {
					t.Errorf("%s: goroutine %d", name, id)
				}
				ret := th.eval(s.Return) - th.bias
				if fr := im.Lookup(ret - 1); len(fr) == 0 || !strings.HasPrefix(fr[len(fr)-1].Func, "main.") &&
					!strings.HasPrefix(fr[len(fr)-1].Func, "runtime.") &&
					!strings.HasPrefix(fr[len(fr)-1].Func, vecPkg) {
					t.Errorf("%s: called from %#x: %v", name, ret, fr)
				}
			}
			rets, err := im.ReturnSites(fs[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range rets {
				hooks[s.PC] = func(th *thread) {
					n := len(open[name])
					id, depth := goroutine(th, s)
					if n == 0 || open[name][n-1] != depth || id == 0 {
						t.Errorf("%s: return of goroutine %d from frame %#x of %#x", name, id, depth, open[name])
						return
					}
					open[name] = open[name][:n-1]
					got[name][len(got[name])-1] += " -> " + list(th, s, debuginfo.Result)
				}
			}
		}
		// Recursion with a stack that grows: calls and returns alike.
		in, out := 0, 0
		fs, err := im.Funcs("main.recurse")
		if err != nil {
			t.Fatal(err)
		}
		s, err := im.EntrySite(fs[0])
		if err != nil {
			t.Fatal(err)
		}
		hooks[s.PC] = func(*thread) { in++ }
		rets, err := im.ReturnSites(fs[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range rets {
			hooks[s.PC] = func(*thread) { out++ }
		}
		run(t, im, hooks)
		for name, want := range calls {
			if g := strings.Join(got[name], "; "); g != want {
				t.Errorf("%s:\n got %s\nwant %s", name, g, want)
			}
		}
		if want := 201; in != want || out != want {
			t.Errorf("%d entries and %d returns of %d calls", in, out, want)
		}
	})
}

// TestLiveStatements reads local variables in the middle of functions.
func TestLiveStatements(t *testing.T) {
	each(t, func(t *testing.T, im *Image) {
		hooks := map[uint64]func(*thread){}
		got := map[string]string{}
		watch := func(fn, text string, names ...string) {
			sites, err := im.LineSites(debuginfo.LineQuery{Func: fn, Line: lineOf(t, text)})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range sites {
				hooks[s.PC] = func(th *thread) {
					for _, n := range names {
						v, err := im.Var(s, n)
						if err != nil {
							got[text] += n + "=? "
							continue
						}
						got[text] += n + "=" + th.show(v) + " "
					}
				}
			}
		}
		watch("main.statements", "keep(count, i)", "count", "i", "length", "name", "n")
		watch("main.statements", "keep(count, n)", "count", "n")
		watch("main.traceme", "return a + b", "a", "b")
		watch("main.escapes", "return res", "x", "y", "res")
		watch("main.outer", "total += small(", "total", "n")
		run(t, im, hooks)
		for text, want := range map[string]string{
			"keep(count, i)":  `count=3 i=1 length=3 name="bcd" n=2 count=7 i=2 length=4 name="efgh" n=2 `,
			"keep(count, n)":  "count=7 n=2 ",
			"return a + b":    "a=1 b=2 ",
			"return res":      "x=21 y=42 res=&42 ",
			"total += small(": "total=24 n=2 ",
		} {
			g := strings.Fields(got[text])
			w := strings.Fields(want)
			if len(g) != len(w) {
				t.Errorf("%s: %s, want %s", text, got[text], want)
				continue
			}
			for i := range w {
				// What is not available is said to be so; nothing else than the truth may come out.
				if g[i] != w[i] && (!strings.HasSuffix(g[i], "=?") || strings.HasSuffix(t.Name(), "noopt")) {
					t.Errorf("%s: %s, want %s", text, got[text], want)
					break
				}
			}
		}
	})
}

// TestLiveInlined counts the calls of inlined functions: each site of a copy is hit once for each call,
// with that call's arguments, or what is not available said to be so.
func TestLiveInlined(t *testing.T) {
	for _, variant := range []string{"default", "pie", "cgo"} {
		im := open(t, variant)
		hooks := map[uint64]func(*thread){}
		got := map[string][]string{}
		want := map[string]string{
			"main.middle": "v=2",
			"main.small":  "a=38 s=xx",
			"main.clamp":  "v=7 limit=50; v=12 limit=50; v=333 limit=50; v=60 limit=50; v=4444 limit=50",
			"main.digits": "v=4444; v=60; v=12",
		}
		for name := range want {
			copies, err := im.Inlined(name)
			if err != nil || len(copies) != 1 {
				t.Fatalf("%s: %v", name, err)
			}
			s := copies[0].Site
			hooks[s.PC] = func(th *thread) {
				vars, err := im.Vars(s)
				if err != nil {
					t.Fatal(err)
				}
				var out []string
				for _, v := range vars {
					switch {
					case v.Kind == debuginfo.Param && v.Err == nil:
						out = append(out, v.Name+"="+th.show(v))
					case v.Kind == debuginfo.Param:
						out = append(out, v.Name+"=?")
					}
				}
				got[name] = append(got[name], strings.Join(out, " "))
			}
		}
		run(t, im, hooks)
		for name, w := range want {
			calls := strings.Split(w, "; ")
			ok := len(calls) == len(got[name])
			known := 0
			for i := 0; ok && i < len(calls); i++ {
				a, b := strings.Fields(calls[i]), strings.Fields(got[name][i])
				ok = len(a) == len(b)
				for j := 0; ok && j < len(a); j++ {
					ok = a[j] == b[j] || strings.HasSuffix(b[j], "=?")
					if a[j] == b[j] {
						known++
					}
				}
			}
			if !ok || known == 0 && (name == "main.middle" || name == "main.clamp") {
				t.Errorf("%s: %s:\n got %s\nwant %s", variant, name, strings.Join(got[name], "; "), w)
			}
		}
	}
}
