package compiler

import (
	"context"
	"encoding/binary"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/probe"
)

// event is a hit of the fake program: registers by DWARF number, memory by address.
type event struct {
	pc   uint64
	kind probe.Kind // Uretprobe tells a return from the entry at the same pc
	regs map[int]int64
	tid  int64
}

// world is what the fake program looks like while an event is handled.
type world struct {
	interp.HostContext
	ev  event
	mem map[uint64][]byte
}

func (w *world) Reg(n int) int64 { return w.ev.regs[n] }
func (w *world) Bias() int64     { return 0x1000000 }

func (w *world) Read(buf []byte, addr uint64, kernel bool) error {
	for at, data := range w.mem {
		if addr >= at && addr < at+uint64(len(data)) && !kernel {
			if n := copy(buf, data[addr-at:]); n == len(buf) {
				return nil
			}
		}
	}
	return &textfmt.Fault{Code: ir.ErrMemory, Args: []interp.Val{{Int: int64(addr)}}}
}

func (w *world) Intrinsic(name string, args []interp.Val) (interp.Val, error) {
	switch name {
	case "tid", "pid":
		return interp.Val{Int: w.ev.tid}, nil
	case "execname":
		return interp.Val{Str: "app"}, nil
	case "usymname":
		return interp.Val{Str: fmt.Sprintf("sym_%x", args[0].Int)}, nil
	case "user_string", "user_string_n", "user_string2", "user_string_n2":
		limit := 511
		if strings.Contains(name, "_n") {
			limit = int(args[1].Int)
		}
		var out []byte
		for len(out) < limit {
			var b [1]byte
			if err := w.Read(b[:], uint64(args[0].Int)+uint64(len(out)), false); err != nil {
				if strings.HasSuffix(name, "2") {
					return args[len(args)-1], nil
				}
				return interp.Val{}, err
			}
			if b[0] == 0 {
				break
			}
			out = append(out, b[0])
		}
		return interp.Val{Str: string(out)}, nil
	}
	return w.HostContext.Intrinsic(name, args)
}

// output collects what handlers say.
type output struct {
	strings.Builder
	prog *ir.Program
	stop bool
}

func (o *output) Print(b []byte)         { o.Write(b) }
func (o *output) Warn(s string)          { fmt.Fprintf(o, "WARNING: %s\n", s) }
func (o *output) Log(s string)           { fmt.Fprintf(o, "%s\n", s) }
func (o *output) Error(f *textfmt.Fault) { fmt.Fprintf(o, "%s\n", f.Text(o.prog)) }
func (o *output) Exit()                  { o.stop = true }

func words(ws ...uint64) []byte {
	var b []byte
	for _, w := range ws {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// run compiles a script and runs it, with and without the optimiser, which must make no
// difference: begin probes, the events, end probes.
func run(t *testing.T, script string, mem map[uint64][]byte, events ...event) string {
	t.Helper()
	o := options(script)
	plain := o
	plain.Unoptimised = true
	got := runWith(t, plain, mem, events)
	if opt := runWith(t, o, mem, events); opt != got {
		t.Errorf("optimised:\n%sunoptimised:\n%s", opt, got)
	}
	return got
}

func runWith(t *testing.T, o Options, mem map[uint64][]byte, events []event) string {
	t.Helper()
	r, ds := Compile(context.Background(), o)
	defer r.Close()
	if r.Program == nil {
		t.Fatalf("%s", messages(r, ds))
	}
	out := &output{prog: r.Program}
	m, err := interp.New(r.Program, interp.NewMemStore(r.Program), out)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Program)
	}
	host := func(kind probe.Kind) {
		type job struct {
			probe int
			site  *probe.Site
		}
		var jobs []job
		for i, p := range r.Program.Probes {
			for _, s := range p.Sites {
				if s.Kind == kind {
					jobs = append(jobs, job{i, s})
				}
			}
		}
		sort.SliceStable(jobs, func(i, j int) bool { return jobs[i].site.Priority < jobs[j].site.Priority })
		for _, j := range jobs {
			if _, err := m.Run(j.probe, &interp.HostContext{Where: j.site}); err != nil {
				t.Fatal(err)
			}
		}
	}
	host(probe.Begin)
	for _, ev := range events {
		for i, p := range r.Program.Probes {
			for _, s := range p.Sites {
				if s.At.PC != ev.pc || s.Kind != max(ev.kind, probe.Uprobe) {
					continue
				}
				w := &world{ev: ev, mem: mem}
				w.Where = s
				res, err := m.Run(i, w)
				if err != nil {
					t.Fatal(err)
				}
				if res.Skipped {
					fmt.Fprintf(out, "skipped: %s\n", res.Cause)
				}
			}
		}
	}
	host(probe.End)
	return out.String()
}

// TestLanguage runs what needs no traced program.
func TestLanguage(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"arithmetic", `probe begin { printf("%d %d %d %d\n", 7 + 3 * 2, (7 - 10) / 2, -7 % 3, ~5) }`, "13 -1 -1 -6\n"},
		{"precedence", `probe begin { println(1 + 2 << 3 == 24, " ", 1 | 2 ^ 2 & 3, " ", "a" . "b" == "ab") }`,
			"1 1 1\n"},
		{"shifts", `probe begin { a = -16 println(a >> 2, " ", a >>> 60, " ", 1 << 4) }`, "-4 15 16\n"},
		{"logic", `function f(x) { println("f", x) return x } probe begin { println(f(0) && f(1), f(1) || f(0), !f(0)) }`, "f0\nf1\nf0\n011\n"},
		{"ternary", `probe begin { for (i = 0; i < 3; i++) print(i == 1 ? "one" : i ? "many" : "none", ";") println("") }`, "none;one;many;\n"},
		{"strings", `probe begin { s = "x" s .= "y" . sprint(3) println(s, s < "z", s == "xy3") }`, "xy311\n"},
		{"order of evaluation", `probe begin { i = 1 println(i, i++, i, ++i, i) }`, "11233\n"},
		{"keys before value", `global a probe begin { i = 0 a[i] = ++i println(a[0], a[1]) }`, "10\n"},
		{"assignment is a value", `global g probe begin { x = y = 5 z = (g += 3) println(x, y, z, g, g++, g--, g) }`,
			"5533343\n"},
		{"compound", `global g, a probe begin { g = 12 g /= 5 g *= 7 g %= 4 g |= 9 g ^= 1 g <<= 2 a["k"] -= 3 a["k"] *= 5 println(g, " ", a["k"]) }`, "40 -15\n"},
		{"division by zero", `probe begin { x = 0 println(1 / x) }`,
			"ERROR: division by 0 near operator '/' at t.stp:1:31\n"},
		{"constant division by zero", `probe begin { println("a") x = 1 % 0 println("b") }`,
			"a\nERROR: division by 0 near operator '%' at t.stp:1:34\n"},
		{"try", `probe begin { try { x = 0 println(1 / x) } catch (m) { println("caught ", m) } println("on") }`,
			"caught division by 0\non\n"},
		{"error", `probe begin { try { error("bad") } catch (m) { println(m) } error("worse") println("never") }`,
			"bad\nERROR: worse near identifier 'error' at t.stp:1:61\n"},
		{"nested try", `probe begin { try { try { error("a") } catch (m) { error(m . "b") } } catch (m) { println(m) } }`, "ab\n"},
		{"error in function", `function f(x) { return 10 / x } probe begin { try { println(f(0)) } catch { println("caught") } println(f(5)) }`, "caught\n2\n"},
		{"loops", `probe begin { while (1) { if (i++ > 4) break if (i % 2) continue print(i, " ") } println(i) }`,
			"2 4 6\n"},
		{"for with continue", `probe begin { for (i = 0; i < 5; i++) { if (i == 2) continue print(i) } println("") }`,
			"0134\n"},
		{"budget", `probe begin { while (1) n++ }`, "ERROR: MAXACTION exceeded near identifier 'n' at t.stp:1:25\n"},
		{"functions", `function fib(n) { if (n < 2) return n return fib(n - 1) + fib(n - 2) } function twice:string(s) { return s . s } probe begin { println(fib(10), twice("ab")) }`, "55abab\n"},
		{"function without return", `function f(n) { if (n) return 7 } probe begin { println(f(1), f(0)) }`, "70\n"},
		{"overloads", `function f(x) { if (x > 10) next return 1 } function f(x) { if (x > 100) next return 2 } function f(x) { return 3 } probe begin { println(f(5), f(50), f(500)) }`, "123\n"},
		{"overload sees its arguments",
			`function f:long(x) { x = 99 next } function f(x) { return x } probe begin { println(f(5)) }`, "5\n"},
		{"exhausted", `function f(x) { if (x) next return 1 } probe begin { println(f(0)) try { f(1) } catch (m) { println(m) } }`, "1\nall functions exhausted\n"},
		{"next ends a handler", `probe begin { println("a") next println("b") } probe begin { println("c") }`,
			"a\nc\n"},
		{"return of arrays", `global a probe begin { a["x", 1] = 5 a["y", 2]++ println(a["x", 1], a["y", 2], a["z", 3], ["x", 1] in a, ["x", 2] in a) }`, "51010\n"},
		{"delete", `global a, s, n probe begin { a[1] = 1 a[2] = 2 delete a[1] println(1 in a, 2 in a) delete a println(2 in a) s = "x" n = 5 delete s delete n println(s, n) }`, "01\n0\n0\n"},
		{"foreach", `global a probe begin { a[3] = 10 a[1] = 30 a[2] = 20 foreach (k+ in a) print(k, " ") foreach (v = k in a-) print(k, "=", v, " ") foreach (k- in a limit 2) print(k, " ") println("") }`,
			"1 2 3 1=30 2=20 3=10 3 2 \n"},
		{"foreach over two keys", `global a probe begin { a["x", 2] = 1 a["x", 1] = 2 a["y", 1] = 3 foreach ([s, n+] in a["x", *]) print(s, n, " ") println("") }`, "x1 x2 \n"},
		{"stars", `global a probe begin { a[1, "p"] = 1 a[2, "p"] = 1 a[2, "q"] = 1 println([2, *] in a, [3, *] in a) delete a[2, *] println([2, *] in a, [1, *] in a) }`, "10\n01\n"},
		{"limits below zero", `global a probe begin { a[1] = 1 n = -1 foreach (k in a limit n) println("never") println("end") }`, "end\n"},
		{"aggregates", `global s probe begin { for (i = 1; i <= 4; i++) s <<< i * 10 println(@count(s), " ", @sum(s), " ", @min(s), " ", @max(s), " ", @avg(s), " ", @variance(s)) }`, "4 100 10 40 25 166\n"},
		{"arrays of aggregates", `global s probe begin { s["a"] <<< 5 s["a"] <<< 7 s["b"] <<< 1 foreach (k in s @sum-) print(k, @count(s[k]), " ") println(@sum(s[*]), @count(s["c"])) }`, "a2 b1 130\n"},
		{"empty aggregate", `global s probe begin { if (0) s <<< 1 println(@count(s)) println(@avg(s)) }`,
			"0\nERROR: empty aggregate near operator '@avg' at t.stp:1:66\n"},
		{"buckets", `global s probe begin { s <<< 1 s <<< 5 s <<< 6 s <<< -3 s <<< 0 foreach (c = b in @hist_log(s)) if (c) print(b, ":", c, ":", @hist_log(s)[b], " ") n = 67 println(@hist_log(s)[n], @hist_log(s)[100], 5 in @hist_log(s), 128 in @hist_log(s)) }`,
			"62:1:1 64:1:1 65:1:1 67:2:2 2010\n"},
		{"linear buckets", `global s probe begin { for (i = 0; i < 30; i++) s <<< i foreach (b in @hist_linear(s, 10, 20, 5)) print(b, "=", @hist_linear(s, 10, 20, 5)[b], " ") n = 2 println(@hist_linear(s, 10, 20, 5)[n]) }`, "0=10 1=5 2=5 3=5 4=5 5\n"},
		{"printf", `probe begin { printf("%5d|%-5d|%05d|%x|%X|%o|%c|%s|%10s|%-4s|%.2s|%%|%*d\n", 42, 42, 42, 255, 255, 8, 65, "s", "right", "l", "cut", 4, 7) }`, "   42|42   |00042|ff|FF|10|A|s|     right|l   |cu|%|   7\n"},
		{"print family", `probe begin { print("a", 1) println("b", 2) printd("-", 1, "x", 2) printdln(",", "p", 3) s = sprint(1, "z") . sprintf("%d", 5) . sprintln("e") . sprintd("/", 1, 2) print(s, "\n") println() }`, "a1b2\n1-x-2p,3\n1z5e\n1/2\n\n"},
		{"histogram", `global s, l probe begin { s <<< 1 s <<< 2 l <<< 1 l <<< 2 println(@hist_linear(s, 0, 4, 2)) x = sprint(@hist_log(l)) println(strlen(x) > 20) }`, ""},
		{"automatic printing", `global n, s, a, b, e, x probe begin { n = 3 s = "t\"x" a["p", 1] = 5 a["q", 2] = 9 b["k"] <<< 4 b["k"] <<< 6 b["l"] <<< 1 e <<< 2 x = 1 } probe end { println("x=", x) }`,
			"x=1\nn=3\ns=\"t\\\"x\"\na[\"q\",2]=9\na[\"p\",1]=5\nb[\"k\"] @count=2 @min=4 @max=6 @sum=10 " +
				"@avg=5\nb[\"l\"] @count=1 @min=1 @max=1 @sum=1 @avg=1\ne @count=1 @min=2 @max=2 @sum=2 @avg=2\n"},
		{"automatic printing of nothing", `global s probe begin { n = 0 if (n) s <<< 1 }`, "s @count=0\n"},
		{"sorted by variance", `global s probe begin { s["a"] <<< 1 s["a"] <<< 9 s["b"] <<< 5 s["b"] <<< 6 foreach (k in s @variance-) print(k) foreach (k in s @variance+) print(k) println("") }`, "abba\n"},
		{"initial values", `global n = 7, s = "x", m = -2 probe begin { println(n, s, m) }`, "7x-2\n"},
		{"order of begin", `probe begin(2) { println("c") } probe begin { println("b") } probe begin(-1) { println("a") }`, "a\nb\nc\n"},
		{"point names", `probe begin { println(pp(), "|", ppfunc(), "|", pn()) }`, "begin||begin\n"},
		{"alias bodies share variables",
			`probe al = begin { x = 5 }, { println("after ", x) } probe al { x++ println("body ", x) }`,
			"body 6\nafter 6\n"},
		{"condition", `global on = 1 probe begin if (on) { println("on") } probe begin if (on > 1) { println("off") } probe begin if (!on) { println("off") }`, "on\n"},
		{"string cut", `probe begin { s = "0123456789" for (i = 0; i < 7; i++) s .= s println(strlen(s)) }`, "511\n"},
		{"private and shadows", `private global g = 4 function f() { g = 6 return g } probe begin { println(f(), g) }`,
			"66\n"},
		{"chained calls in print", `function show:string(n) { println("show ", n) return sprint(n) } probe begin { println(show(1), show(2)) }`, "show 1\nshow 2\n12\n"},
		{"call for its effect", `function f() { println("f") return 1 } probe begin { f() 1 + f() f() && f() }`,
			"f\nf\nf\nf\n"},
		{"escapes and percent", `probe begin { printf("100%%\t\"q\"\n") println("50%") }`, "100%\t\"q\"\n50%\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, tt.script, nil)
			if tt.want == "" {
				if !strings.Contains(got, "count") && !strings.Contains(got, "value") {
					t.Errorf("got %q", got)
				}
				return
			}
			if got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// TestEvictedEntryValue takes one of two entry values away, as a full array does: the return must be
// skipped, not shown with 0 or "" in its place.
func TestEvictedEntryValue(t *testing.T) {
	r, ds := compile(`probe process("/bin/app").function("main.(*Server).Handle").return { println($s->id, $path, $n) }`)
	defer r.Close()
	if r.Program == nil {
		t.Fatal(messages(r, ds))
	}
	returned := event{pc: 0x402050, regs: map[int]int64{rAX: 5, r14: 0xa000, rSP: 0x1ff00}}
	for g, gl := range r.Program.Globals {
		if !gl.Internal || gl.Name == ir.OpenCalls {
			continue
		}
		out := &output{prog: r.Program}
		store := interp.NewMemStore(r.Program)
		m, err := interp.New(r.Program, store, out)
		if err != nil {
			t.Fatal(err)
		}
		hit := func(ev event) (skipped bool) {
			for i, p := range r.Program.Probes {
				if p.Sites[0].At.PC == ev.pc {
					w := &world{ev: ev, mem: memory()}
					w.Where = p.Sites[0]
					res, err := m.Run(i, w)
					if err != nil {
						t.Fatal(err)
					}
					skipped = skipped || res.Skipped && res.Cause == ir.SkipNoEntry
				}
			}
			return skipped
		}
		hit(handle())
		if hit(returned) || out.String() != "7world5\n" {
			t.Errorf("got %q", out.String())
		}
		out.Reset()
		hit(handle())
		if err := store.Clear(g); err != nil {
			t.Fatal(err)
		}
		if !hit(returned) || out.String() != "" {
			t.Errorf("without %s: %q", gl.Name, out.String())
		}
	}
}

// TestManyArrays prints more arrays at the end than a handler can have loops.
func TestManyArrays(t *testing.T) {
	var decl, body, want strings.Builder
	for i := range 2*ir.MaxIters + 3 {
		fmt.Fprintf(&decl, "global a%d\n", i)
		fmt.Fprintf(&body, "a%d[1] = %d ", i, i+1)
		fmt.Fprintf(&want, "a%d[1]=%d\n", i, i+1)
	}
	if got := run(t, decl.String()+"probe begin { "+body.String()+"}", nil); got != want.String() {
		t.Errorf("got\n%s", got)
	}
}

// The memory of the fake program: a main.Server at 0x9000 and what it points to, strings, a
// runtime.g at 0xa000 for goroutine 17 and one at 0xb000 for goroutine 18, a node in C.
func memory() map[uint64][]byte {
	g := func(id, hi uint64) []byte {
		b := make([]byte, 320)
		binary.LittleEndian.PutUint64(b[8:], hi)
		binary.LittleEndian.PutUint64(b[152:], id)
		binary.LittleEndian.PutUint64(b[280:], 1)
		binary.LittleEndian.PutUint64(b[304:], 0x401000)
		return b
	}
	neg := func(n int32) uint64 { return uint64(uint32(n)) }
	return map[uint64][]byte{
		0x9000: words(7, 42, 0x8000, 5, 80, 443, 8080, 0x9100),
		0x9100: words(8, 43, 0x8000, 3, 1, 2, 3, 0),
		0x8000: []byte("hello world\x00"),
		0x8100: append(words(0x8000, 5, 0x8006, 5, 0, 0), 0),
		0xa000: g(17, 0x20000),
		0xb000: g(18, 0x30000),
		0x7000: words(0x1f8, neg(-5)<<32, 0x6f6c6c6568, 0x7000),
		// The locals of main.traceme's statement.
		0x1f000:   words(0, 0, 0, 99),
		0x1500000: words(1234),
	}
}

const (
	rAX, rDX, rCX, rBX, rSI, rDI, rSP, r8, r14 = 0, 1, 2, 3, 4, 5, 7, 8, 14
)

// enter is a call of main.traceme(a, b) on goroutine g (by the address of its structure).
func enter(g, sp, a, b int64) event {
	return event{pc: 0x401006, tid: 100, regs: map[int]int64{rAX: a, rBX: b, r14: g, rSP: sp}}
}

func leave(g, sp, ret int64) event {
	return event{pc: 0x401050, tid: 200, regs: map[int]int64{rAX: ret, r14: g, rSP: sp}}
}

// handle is a call of (*Server).Handle("world", []string{"hello", "world", ""}).
func handle() event {
	return event{pc: 0x402006, tid: 100, regs: map[int]int64{rAX: 0x9000, rBX: 0x8006, rCX: 5, rDI: 0x8100, rSI: 3,
		r8: 4, r14: 0xa000, rSP: 0x1ff00}}
}

// TestTargets runs handlers at hits of the fake programs.
func TestTargets(t *testing.T) {
	traceme := `process("/bin/app").function("main.traceme")`
	handler := `process("/bin/app").function("main.(*Server).Handle")`
	visit := event{pc: 0x401300, tid: 7, regs: map[int]int64{rDI: 0x7000, rSI: 0x8006, rSP: 0x5000}}
	tests := []struct {
		name, script string
		events       []event
		want         string
	}{
		{"arguments", `probe ` + traceme + ` { printf("%d and %d\n", $a, $b) }`, []event{enter(0xa000, 0x1f000, 1, 2)},
			"1 and 2\n"},
		{"result", `probe ` + traceme + `.return { println($return, $ret, returnval()) }`,
			[]event{leave(0xa000, 0x1f000, 3)}, "333\n"},
		{"goroutine", `probe ` + traceme +
			` { println(goid(), " ", go_parent_goid()) } function goid:long() %{ intrinsic %} function go_parent_goid:long() %{ intrinsic %}`,
			[]event{enter(0xb000, 0x1f000, 1, 2), enter(0, 0x1f000, 1, 2)}, "18 1\n0 0\n"},
		{"goroutine in a function", `function goid:long() %{ intrinsic %} function who() { return goid() * 2 } probe ` +
			traceme + ` { println(who()) }`,
			[]event{enter(0xb000, 0x1f000, 1, 2)}, "36\n"},
		{"entry values of two goroutines", `probe ` + traceme +
			`.return { printf("%d+%d=%d\n", $a, @entry($b), $return) }`,
			[]event{enter(0xa000, 0x1f000, 1, 2), enter(0xb000, 0x1f000, 30, 40), enter(0xa000, 0x1e000, 5, 6),
				leave(0xa000, 0x1e000, 11), leave(0xb000, 0x1f000, 70), leave(0xa000, 0x1f000, 3)},
			"5+6=11\n30+40=70\n1+2=3\n"},
		{"entry of a moved stack", `probe ` + traceme + `.return { println($a) }`,
			[]event{enter(0xa000, 0x1f000, 4, 0), leave(0xa000, 0x1f000, 0), leave(0xa000, 0x1f000, 0)},
			"4\nskipped: noentry\n"},
		{"entry expression", `global n probe ` + traceme + ` { n++ } probe ` + traceme +
			`.return { println(n - @entry(n), @entry(sprint("x", $a))) }`,
			[]event{enter(0xa000, 0x1f000, 4, 0), enter(0xa000, 0x1e000, 5, 0), leave(0xa000, 0x1e000, 0),
				leave(0xa000, 0x1f000, 0)}, "0x5\n1x4\n"},
		{"parameters at return", `probe ` + traceme + `.return { println($$parms, " ", $$return, " ", $$vars) }`,
			[]event{enter(0xa000, 0x1f000, 4, -1), leave(0xa000, 0x1f000, 3)},
			"a=0x4 b=0xffffffffffffffff return=0x3 a=0x4 b=0xffffffffffffffff\n"},
		{"strings and members", `probe ` + handler +
			` { println($path, " ", $s->name, " ", $s->id, " ", $s->tag, " ", $s->Base->id, " ", $s->next->name, " ", $s->next->ports[2]) }`,
			[]event{handle()}, "world hello 7 42 7 hel 3\n"},
		{"slices", `probe ` + handler +
			` { i = 1 println($args->len, $args->cap, " ", $args[0], " ", $args[i], "[", $args[2], "] ", $path->len, " ", $path[0], " ", $s->ports[i]) }`,
			[]event{handle()}, "34 hello world[] 5 119 443\n"},
		{"index out of range", `probe ` + handler +
			` { i = 3 try { println($args[i]) } catch (m) { println(m) } try { println($path[5]) } catch (m) { println(m) } try { println($s->ports[i - 4]) } catch (m) { println(m) } }`,
			[]event{handle()}, "index 3 is out of range, length 3\nindex 5 is out of range, length 5\nindex -1 is " +
				"out of range, length 3\n"},
		{"nil pointer", `probe ` + handler + ` { try { println($s->next->next->id) } catch (m) { println(m) } }`,
			[]event{handle()}, "read fault at 0x0000000000000000\n"},
		{"addresses", `probe ` + handler + ` { printf("%x %x %x\n", $s, &$s->ports, &$s->ports[1]) }`,
			[]event{handle()}, "9000 9020 9028\n"},
		{"pretty", `probe ` + handler +
			` { println($$parms) println($$parms$) println($s$) println($s$$) println($path$) x = $s->ports$ println(x) }`, []event{handle()},
			`s=0x9000 path="world" args=[3/4]0x8100 ratio=? gone=?` + "\n" +
				`s=0x9000 path="world" args=[3/4]0x8100 ratio=? gone=?` + "\n" +
				`&{Base:{...}, name:"hello", ports:[...], next:0x9100}` + "\n" +
				`&{Base:{id:7, tag:42}, name:"hello", ports:[80 443 8080], next:0x9100}` + "\n" + `"world"` +
				"\n[80 443 8080]\n"},
		{"pretty structure", `probe ` + handler + ` { println($s[0]$) println($s[0]$$) println($s->Base$) }`,
			[]event{handle()},
			`{Base:{...}, name:"hello", ports:[...], next:0x9100}` + "\n" +
				`{Base:{id:7, tag:42}, name:"hello", ports:[80 443 8080], next:0x9100}` + "\n{id:7, tag:42}\n"},
		{"several results", `probe ` + handler +
			`.return { println($return[0], " ", $n, " ", $return[1]->tab, " ", $err->data, " ", $$return) }`,
			[]event{{pc: 0x402070, regs: map[int]int64{rAX: 5, rBX: 6, rCX: 7, r14: 0xa000, rSP: 0x1f000}}},
			"5 5 6 7 n=0x5 err=(0x6,0x7)\n"},
		{"nil and an interface", `probe ` + handler + `.return { println($err == nil, nil != $err, !$err, $err && 1,
			$return[1] == nil ? 2 : 3, $err ? 4 : 5, @entry($args) != nil, $s == nil) if ($err) print("set ") else print("none ")
			while ($err) { print("once") break } for (; !$err; ) { print("never") break } println() }`,
			[]event{{pc: 0x402006, regs: map[int]int64{rBX: 1, rCX: 2, rDI: 0x8100, r14: 0xa000, rSP: 0x1f000}},
				{pc: 0x402070, regs: map[int]int64{rBX: 6, r14: 0xa000, rSP: 0x1f000}},
				{pc: 0x402006, regs: map[int]int64{rAX: 1, r14: 0xa000, rSP: 0x1f000}},
				{pc: 0x402070, regs: map[int]int64{rCX: 1, r14: 0xa000, rSP: 0x1f000}}},
			"01013411\nset once\n10102500\nnone never\n"},
		{"a variable named nil", `global n probe ` + handler + ` { nil = 0x9000 println($s == nil, @defined($s) && nil != $s) }`,
			[]event{handle()}, "10\n"},
		{"both returns", `probe ` + handler + `.return { print($n, ";") }`,
			[]event{{pc: 0x402050, regs: map[int]int64{rAX: 5}}, {pc: 0x402070, regs: map[int]int64{rAX: 6}}}, "5;6;"},
		{"tail jump without the result",
			`probe process("/bin/app").function("main.jump").return { print(ppfunc(), ";") } function ppfunc:string() %{ intrinsic %}`,
			[]event{{pc: 0x403050}, {pc: 0x403060}}, "main.jump;main.jump;"},
		{"tail jump and defined", `probe process("/bin/app").function("main.jump").return { if (@defined($return)) print($return, ";") else print("jumps;") }`,
			[]event{{pc: 0x403050, regs: map[int]int64{rAX: 5}}, {pc: 0x403060}}, "5;jumps;"},
		{"defined", `probe ` + traceme +
			` { println(@defined($a), @defined($zz), @defined($a->x) ? $a->x : "no", @defined($b) && $b == 2, !@defined($zz) || $zz) }`,
			[]event{enter(0xa000, 0x1f000, 1, 2)}, "10no11\n"},
		{"statement", `probe process("/bin/app").statement("main.traceme@main.go:6") { println($tmp, " ", $$locals, " ", pp()) } function pp:string() %{ intrinsic %}`,
			[]event{{pc: 0x401010, regs: map[int]int64{rSP: 0x1f000}}},
			`99 tmp=0x63 process("/bin/app").statement("main.traceme@/src/main.go:6")` + "\n"},
		{"inline", `probe process("/bin/app").function("main.small") { println(ppfunc()) } function ppfunc:string() %{ intrinsic %}`, []event{{pc: 0x401020}}, "main.small\n"},
		{"global variable of a relocated program", `probe ` + traceme + ` { println(@var("main.count")) }`,
			[]event{enter(0xa000, 0x1f000, 1, 2)}, "1234\n"},
		{"cast", `probe ` + traceme + ` { p = 0x9000 println(@cast(p, "main.Server")->name, @cast(0x9100, "main.Server")->id, @cast(p, "main.Server")[0]$) }`, []event{enter(0xa000, 0x1f000, 1, 2)},
			`hello8{Base:{...}, name:"hello", ports:[...], next:0x9100}` + "\n"},
		{"cast in a function", `function name:string(p) { return @cast(p, "main.Server", "/bin/app")->name } probe ` +
			traceme + ` { println(name(0x9000)) }`, []event{enter(0xa000, 0x1f000, 1, 2)}, "hello\n"},
		{"arguments by position", `function int_arg:long(n:long) %{ intrinsic %} probe process("/bin/stripped").function("main.traceme") { println(int_arg(1), int_arg(2)) }`, []event{enter(0xa000, 0x1f000, 1, 2)}, "12\n"},
		{"C arguments", `probe process("/bin/trace").function("traceme").call { println($a, " ", $b, " ", $$vars) }`,
			[]event{{pc: 0x401200, regs: map[int]int64{rDI: 0xffffffff, rSI: 0x1_0000_0002}}},
			"-1 2 a=0xffffffffffffffff b=0x2\n"},
		{"C return", `probe process("/bin/trace").function("traceme").return { println($return, " ", $a, " ", probefunc()) } function probefunc:string() %{ intrinsic %}`,
			[]event{{pc: 0x401200, tid: 5, regs: map[int]int64{rDI: 8, rSP: 0x5000}},
				{pc: 0x401200, kind: probe.Uretprobe, tid: 6, regs: map[int]int64{rAX: 9, rSP: 0x5008}},
				{pc: 0x401200, kind: probe.Uretprobe, tid: 5, regs: map[int]int64{rAX: 9, rSP: 0x5008, 16: 0xabc}}},
			"skipped: noentry\n9 8 sym_abc\n"},
		{"C structures", `probe process("/bin/trace").function("visit") { println($n->flags, " ", $n->in, " ", $n->next->in, " ", user_string($s), " ", $n[0]$, " ", $n->name$) printf("%x\n", $n->name) } function user_string:string(a:long) %{ intrinsic %}`,
			[]event{visit}, `-1 -5 -5 world {.flags=-1, {.in=-5}, .name="hello", .next=0x7000} "hello"` + "\n7010\n"},
		{"C pretty", `probe process("/bin/trace").function("visit") { println($$parms$) println($n[0]$$) }`,
			[]event{visit},
			`n=0x7000 s="world"` + "\n" + `{.flags=-1, {.in=-5}, .name="hello", .next=0x7000}` + "\n"},
		{"next in a handler with entry values", `probe ` + traceme + `.return { if ($a == 1) next println($a) }`,
			[]event{enter(0xa000, 0x1f000, 1, 0), leave(0xa000, 0x1f000, 0), enter(0xa000, 0x1f000, 2, 0),
				leave(0xa000, 0x1f000, 0)}, "2\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := run(t, tt.script, memory(), tt.events...); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}
