package compiler

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
	"github.com/gostap/gostap/compiler/layout"
)

// programs are built once for all tests of real binaries.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gostap-compiler-")
	if err != nil {
		return "", err
	}
	for _, cmd := range [][]string{
		{"gcc", "-g", "-O0", "-o", dir + "/trace", "../tests/fixtures/trace/trace.c"},
		{"gcc", "-g", "-O2", "-o", dir + "/trace2", "../tests/fixtures/trace/trace.c"},
		{"go", "build", "-o", dir + "/rich", "testdata/rich/main.go"},
		{"go", "build", "-gcflags=-N -l", "-o", dir + "/richN", "testdata/rich/main.go"},
		{"go", "build", "-ldflags=-s -w", "-o", dir + "/richS", "testdata/rich/main.go"},
	} {
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			return dir, &exec.Error{Name: strings.Join(cmd, " ") + "\n" + string(out), Err: err}
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gostap-kernel")
	if err == nil {
		kernelFiles.BTF, kernelFiles.Map, err = kbtftest.Write(dir)
	}
	if err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(dir)
	if dir, _ := programs(); dir != "" && built {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// kernelFiles is a made-up kernel, which is the same on every machine.
var kernelFiles kbtf.Config

// built says that programs was asked for, so that TestMain has something to remove.
var built bool

func build(t *testing.T) string {
	t.Helper()
	built = true
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRealList(t *testing.T) {
	dir := build(t)
	o := Options{Limits: layout.Default(), Dir: dir, SearchPath: dir}
	line := regexp.MustCompile(`@[^"]*/([a-z]+\.(go|c)):(\d+)`)
	for _, tt := range []struct{ point, want string }{
		{`process("./trace").function("*")`, `
process("./trace").function("larger@trace.c:8") $n:int
process("./trace").function("main@trace.c:31") $ret:int
process("./trace").function("smaller@trace.c:12") $n:int
process("./trace").function("traceme2@trace.c:16") $x:int $y:int $number:int
process("./trace").function("traceme@trace.c:1") $a:int $b:int $ret:int`},
		{`process("trace").function("traceme*@trace.c").return`, `
process("./trace").function("traceme2@trace.c:16").return $return:int $x:int $y:int
process("./trace").function("traceme@trace.c:1").return $return:int $a:int $b:int`},
		{`process("./rich").{function("main.ints"),function("main.structs"),function("main.floats"),function("main.variadic")}`, `
process("./rich").function("main.floats@main.go:60") $x:float64 $n:int $y:float32 -> $return[0]:float64 $return[1]:int
process("./rich").function("main.ints@main.go:40") $a:int8 $b:uint16 $c:int32 $d:uint64 $e:bool $k:main.Kind -> $r1:int16 $r2:uint32
process("./rich").function("main.structs@main.go:50") $p:main.Pt $q:*main.Pt $one:[1]int $two:[2]int -> $return[0]:main.Pt $return[1]:error
process("./rich").function("main.variadic@main.go:111") $pre:string $xs:[]int -> $sum:int`},
		{`process("./richN").function("main.(*Node).Visit").return`, `
process("./richN").function("main.(*Node).Visit@main.go:68").return $count:int $err:error $n:*main.Node $depth:int`},
		{`process("./richS").function("main.ints").call`, `
process("./richS").function("main.ints@main.go:40").call`},
		{`process("./rich").function("main.small").inline`, `
process("./rich").function("main.small@main.go:108").inline $a:int`},
	} {
		lines, r, ds := List(context.Background(), tt.point, o, ListOptions{Vars: true})
		got := "\n" + strings.ReplaceAll(strings.Join(lines, "\n"), `"`+dir+`/`, `"./`)
		got = line.ReplaceAllString(strings.ReplaceAll(got, "@testdata/", "@/testdata/"), "@$1:$3")
		if got != tt.want {
			t.Errorf("%s\ngot%s\nwant%s\n%s", tt.point, got, tt.want, messages(r, ds))
		}
		r.Close()
	}
}

// TestRealPrograms compiles scripts that use variables of all kinds in each build of the programs, and
// verifies what comes out.
func TestRealPrograms(t *testing.T) {
	dir := build(t)
	for _, tt := range []struct{ name, script, files string }{
		{"integers", `probe process(@1).function("main.ints").return { printf("%d %d %d %u %d %d -> %d %d", $a, $b, $c, $d, $e, $k, $r1, $r2) }`, "rich richN"},
		{"strings and slices", `probe process(@1).function("main.strs").call { i = 1 println($s, $bs->len, $bs[1], $ss[0], $ss[i], $$parms$) }`, "rich richN"},
		{"structures", `probe process(@1).function("main.structs") { println($p->X, $p->S, $q->Y, $one[0], $two[1], $p$, $q$$) }`, "rich richN"},
		{"structures returned", `probe process(@1).function("main.structs").return { println($return[0]->X, $return[0]->S, $return[1]->tab, $$return$) }`, "rich richN"},
		{"more than the registers hold",
			`probe process(@1).function("main.many").return { println($a, $j, $k, $return[0], $return[9]) }`,
			"rich richN"},
		{"floats are left out of text", `probe process(@1).function("main.floats") { println($n, $$parms, $$parms$) }`,
			"rich richN"},
		{"interfaces, maps, channels, functions",
			`probe process(@1).{function("main.iface"),function("main.maps")} { println($$parms, $$parms$) }`,
			"rich richN"},
		{"embedded fields", `probe process(@1).function("main.(*Node).Visit") { println($n->Depth, $n->Tag, $n->Inner->Tag, $n->Kids[0]->Next->Name, $n->Arr[3], $n$$) }`, "rich richN"},
		{"generics", `probe process(@1).function("main.Map*").call { println($in->len, $$parms) }`, "rich richN"},
		{"recovered results", `probe process(@1).function("main.deferred").return { println($n, $res, $err->data) }`,
			"rich richN"},
		{"goroutine", `probe process(@1).function("main.ints") { println(goid(), goroutine_start_func(), gostart_pc()) }`, "rich richN"},
		{"statement", `probe process(@1).statement("main.variadic@main.go:*") { println($$vars, $$locals$) }`,
			"rich richN"},
		{"entry time", `global s probe process(@1).function("main.*").return { s <<< gettimeofday_ns() - @entry(gettimeofday_ns()) } probe end { print(@hist_log(s)) }`, "rich richN"},
		{"without names", `probe process(@1).function("main.ints").call { println(int_arg(1), long_arg(4)) } probe process(@1).function("main.ints").return { println(returnval()) }`, "rich richN richS"},
		{"C", `probe process(@1).function("trace*").return { println($return, " ", $$parms, " ", ppfunc()) } probe process(@1).function("larger").call { println($n) }`, "trace"},
		{"C statement", `probe process(@1).statement("main@trace.c:36") { println($ret) }`, "trace"},
		{"C optimised", `probe process(@1).function("*@trace.c") { println($$vars) }`, "trace2"},
		{"indentation", `probe process(@1).function("*@trace.c").call { println(thread_indent(1), ppfunc()) } probe process(@1).function("*@trace.c").return { println(thread_indent(-1), probefunc()) }`, "trace trace2"},
		{"backtrace", `probe process(@1).function("main.ints") { print_ubacktrace() }`, "rich"},
	} {
		for _, file := range strings.Fields(tt.files) {
			t.Run(tt.name+"/"+file, func(t *testing.T) {
				o := Options{
					Scripts: []Script{{"t.stp", []byte(tt.script)}}, Args: []string{filepath.Join(dir, file)},
					Limits: layout.Default(), Verify: true,
				}
				for _, o.Unoptimised = range []bool{false, true} {
					r, ds := Compile(context.Background(), o)
					if ds.HasErrors() || r.Program == nil || len(r.Program.Probes) == 0 {
						t.Error(messages(r, ds))
					}
					r.Close()
				}
			})
		}
	}
}

// TestEntryAndReturnSites holds the rules of placement on a real Go binary: entries behind the stack
// check, returns at every RET, never the kernel's return probe.
func TestEntryAndReturnSites(t *testing.T) {
	dir := build(t)
	o := Options{
		Scripts: []Script{{"t.stp", []byte(`probe process(@1).function("main.*").return { println($$parms) }`)}},
		Args:    []string{dir + "/rich"},
		Limits:  layout.Default(), Verify: true,
	}
	r, ds := Compile(context.Background(), o)
	defer r.Close()
	if ds.HasErrors() {
		t.Fatal(messages(r, ds))
	}
	entries, returns := map[string]int{}, map[string]int{}
	for _, p := range r.Program.Probes {
		for _, s := range p.Sites {
			if s.Kind.String() != "uprobe" {
				t.Errorf("%s is a %s", s.Point, s.Kind)
			}
			if strings.HasSuffix(s.Point, "(entry)") {
				entries[s.Func]++
			} else {
				returns[s.Func]++
			}
		}
	}
	for _, fn := range []string{"main.ints", "main.(*Node).Visit", "main.deferred"} {
		if returns[fn] == 0 || entries[fn] == 0 {
			t.Errorf("%s: %d returns, %d entries", fn, returns[fn], entries[fn])
		}
	}
	if returns["main.deferred"] < 2 {
		t.Errorf("main.deferred has %d returns; the one behind a recover is missing", returns["main.deferred"])
	}
}

// BenchmarkCompile measures a one-line script on a real Go program, which is what a user waits for.
func BenchmarkCompile(b *testing.B) {
	dir, err := programs()
	built = true
	if err != nil {
		b.Fatal(err)
	}
	o := Options{
		Scripts: []Script{{"t.stp", []byte(`probe process(@1).function("main.ints") { println($a, $b) }`)}},
		Args:    []string{dir + "/rich"},
		Limits:  layout.Default(),
	}
	b.ReportAllocs()
	for b.Loop() {
		r, ds := Compile(context.Background(), o)
		if ds.HasErrors() {
			b.Fatal(messages(r, ds))
		}
		r.Close()
	}
}
