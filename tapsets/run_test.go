package tapsets_test

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/tapsets"
)

// output collects what handlers say.
type output struct {
	strings.Builder
	prog *ir.Program
}

func (o *output) Print(b []byte)         { o.Write(b) }
func (o *output) Warn(s string)          { fmt.Fprintf(o, "WARNING: %s\n", s) }
func (o *output) Log(s string)           { fmt.Fprintf(o, "%s\n", s) }
func (o *output) Error(f *textfmt.Fault) { fmt.Fprintf(o, "%s\n", f.Text(o.prog)) }
func (o *output) Exit()                  {}

// run compiles a script and runs its begin probes in the interpreter.
func run(t *testing.T, script string) string {
	t.Helper()
	r, ds := compiler.Compile(context.Background(), compiler.Options{
		Scripts: []compiler.Script{{Name: "t.stp", Text: []byte(script)}}, Limits: layout.Default(), Verify: true,
	})
	defer r.Close()
	if r.Program == nil || len(ds) > 0 {
		var b strings.Builder
		(&diag.Printer{W: &b, Files: r.Files}).Print(ds)
		t.Fatalf("%s\n%s", script, b.String())
	}
	out := &output{prog: r.Program}
	m, err := interp.New(r.Program, interp.NewMemStore(r.Program), out)
	if err != nil {
		t.Fatal(err)
	}
	type job struct {
		probe int
		site  *probe.Site
	}
	var jobs []job
	for i, p := range r.Program.Probes {
		for _, s := range p.Sites {
			if s.Kind == probe.Begin {
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
	return out.String()
}

// TestFunctions runs functions whose result is known.
func TestFunctions(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		// strings.stp
		{`strlen("four")`, "4"}, {`strlen("")`, "0"},
		{`substr("abcdef", 2, 3)`, "cde"}, {`substr("abc", 1, 100)`, "bc"},
		{`stringat("AB", 1)`, "66"},
		{`isinstr("hello", "ell")`, "1"}, {`isinstr("hello", "x")`, "0"},
		{`strpos("hello", "l")`, "2"}, {`strpos("hello", "x")`, "-1"},
		{`strtol("0x1f", 16)`, "31"}, {`strtol("12abc", 10)`, "12"}, {`strtol("-5", 0)`, "-5"},
		{`str_replace("a-b-c", "-", "+")`, "a+b+c"},
		{`text_str("tab\there")`, `tab\there`},
		{`string_quoted("x\n")`, `"x\n"`},
		{`tolower("aBC") . toupper("dEf")`, "abcDEF"},
		{`char_string(65) . char_string(66)`, "AB"},

		// ctime.stp
		{`ctime(0)`, "Thu Jan  1 00:00:00 1970"}, {`ctime(951782400)`, "Tue Feb 29 00:00:00 2000"},
		{`strlen(ctime())`, "24"},
		{`tz_ctime(86400) == ctime(86400 - tz_gmtoff()) . " " . tz_name()`, "1"},

		// session.stp
		{`randint(1)`, "0"},

		// numbers.stp
		{`MAJOR(8388609)`, "8"}, {`MINOR(8388609)`, "1"}, {`MKDEV(8, 1)`, "8388609"}, {`usrdev2kerndev(2049)`, "8388609"},
		{`sprintf("%x %x", ntohs(0x1234), htons(0x12ff))`, "3412 ff12"},
		{`sprintf("%x %x", ntohl(0x12345678), htonl(0xff000001))`, "78563412 10000ff"},
		{`sprintf("%x", ntohll(0x0102030405060708))`, "807060504030201"}, {`sprintf("%x", htonll(1))`, "100000000000000"},
		{`ip_ntop(0x0100007f)`, "127.0.0.1"},
		{`pages_to_string(256)`, "1.00M"}, {`mem_page_size()`, fmt.Sprint(os.Getpagesize())},
		{`bytes_to_string(1023)`, "1023"}, {`bytes_to_string(1536)`, "1.50K"}, {`bytes_to_string(5 << 20)`, "5.00M"}, {`bytes_to_string(3 << 30)`, "3.00G"},

		// errno.stp, signal.stp
		{`errno_str(2)`, "ENOENT"}, {`errno_str(-11)`, "EAGAIN"}, {`errno_str(512)`, "ERESTARTSYS"}, {`errno_str(9999)`, "9999"},
		{`signal_str(9)`, "SIGKILL"}, {`signal_str(32)`, "SIGRTMIN"}, {`signal_str(40)`, "SIGRTMIN+8"}, {`signal_str(0)`, "0"},

		// context.stp
		{`pid()`, fmt.Sprint(os.Getpid())}, {`ppid()`, fmt.Sprint(os.Getppid())}, {`uid()`, fmt.Sprint(os.Getuid())},
		{`target()`, "0"}, {`pp()`, "begin"}, {`pn()`, "begin"}, {`ppfunc()`, ""},
	} {
		t.Run(c.expr, func(t *testing.T) {
			if got := run(t, `probe begin { println(`+c.expr+`) }`); got != c.want+"\n" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestScripts runs functions that print, fail or keep something between calls.
func TestScripts(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"tokenize", `s = "one two,,three" t = tokenize(s, " ,") while (t != "") { print("[", t, "]") t = tokenize("", " ,") } println(tokenize("", " "), ".")`, "[one][two][three].\n"},
		{"tokenize without delimiters", `println(tokenize("abc", ""), tokenize("", ""), ".")`, "abc.\n"},
		{"assert", `assert(1 == 1, "no") try { assert(1 == 2, "broken") } catch (m) { println(m) } try { assert(0) } catch (m) { println(m) }`, "broken\nassertion failed\n"},
		{"error and warn", `warn("strange") log("said") try { error("bad") } catch (m) { println(m) }`, "WARNING: strange\nsaid\nbad\n"},
		{"colours", `ansi_set_color(32) ansi_set_color2(37, 44) ansi_set_color3(30, 47, 4) ansi_set_color3(30, 47, 0) ansi_reset_color()`,
			"\x1b[32m\x1b[44;37m\x1b[47;30;4m\x1b[47;30m\x1b[0;0m"},
		{"cursor", `ansi_clear_screen() ansi_cursor_move(1, 10) ansi_cursor_save() ansi_cursor_hide() ansi_cursor_show() ansi_cursor_restore() ansi_new_line()`,
			"\x1b[1;1H\x1b[J\x1b[10;1H\x1b[s\x1b[?25l\x1b[?25h\x1b[u\n"},
		{"depths", `println(thread_indent_depth(1), thread_indent_depth(1), thread_indent_depth(-1), thread_indent_depth(-1)) println(indent_depth(1), indent_depth(1), indent_depth(-1), indent_depth(-1))`, "1221\n1221\n"},
		{"stopwatches", `println(read_stopwatch_ns("a")) start_stopwatch("a") stop_stopwatch("a") x = read_stopwatch_ns("a") println(x == read_stopwatch_ns("a"), x >= 0, x < 5000000000)
			start_stopwatch("a") println(read_stopwatch_ns("a") >= x, read_stopwatch_s("a") < 5) delete_stopwatch("a") println(read_stopwatch_us("a"))`, "0\n111\n11\n0\n"},
		{"clocks", `a = gettimeofday_ns() b = gettimeofday_us() println(b - a / 1000 >= 0, b - a / 1000 < 1000000, gettimeofday_ms() / 1000 - gettimeofday_s() < 2)
			c = local_clock_ns() println(local_clock_ns() >= c, local_clock_us() >= c / 1000, cpu_clock_ms(0) >= c / 1000000, get_cycles() != 0, ktime_get_ns() > 0)`, "111\n11111\n"},
		{"quoted null", `println(user_string_quoted(0), user_string_n_quoted(0, 5), kernel_string_quoted(0))`, "NULLNULLNULL\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(t, `probe begin { `+c.body+` }`); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestIndent: the prefix is TIME NAME(NUMBER): and one space less than the depth.
func TestIndent(t *testing.T) {
	got := run(t, `probe begin { println(thread_indent(1), ">") println(thread_indent(1), ">") println(thread_indent(1), ">") println(thread_indent(-1), "<") println(thread_indent(-1), "<") println(thread_indent(-1), "<") println(thread_indent(1), ">") println(indent(1), ">") println(indent(1), ">") }`)
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	want := []string{">", " >", "  >", "  <", " <", "<", ">", ">", " >"}
	if len(lines) != len(want) {
		t.Fatalf("%q", got)
	}
	for i, l := range lines {
		head, tail, ok := strings.Cut(l, ":")
		if !ok || tail != want[i] {
			t.Errorf("line %d: %q, want %q behind the colon", i+1, l, want[i])
		}
		if i == 0 && (!strings.HasPrefix(head, "     0 ") || !strings.HasSuffix(head, ")") || !strings.Contains(head, "(")) {
			t.Errorf("head %q", head)
		}
		if i == 7 && head != "     0" {
			t.Errorf("head of indent %q", head)
		}
	}
}

// TestQueue runs a queue whose times are not known but in proportion.
func TestQueue(t *testing.T) {
	got := run(t, `probe begin {
	qsq_start("q")
	for (i = 0; i < 4; i++) qs_wait("q")
	for (i = 0; i < 4; i++) { qs_run("q") qs_done("q") }
	println(qsq_utilization("q", 100) <= 100, qsq_blocked("q", 100) <= 100, qsq_wait_queue_length("q", 1) <= 4)
	println(qsq_service_time("q", 1) >= 0, qsq_wait_time("q", 1) >= qsq_service_time("q", 1), qsq_throughput("q", 1000000) > 0)
	qsq_print("q")
	println(qsq_utilization("none", 100))
}`)
	lines := strings.SplitN(got, "\n", 3)
	if len(lines) != 3 || lines[0] != "111" || !strings.HasPrefix(lines[1], "11") || !strings.Contains(lines[2], "ops/s") || !strings.HasSuffix(got, "\n0\n") {
		t.Errorf("%q", got)
	}
}

// TestInit: init comes before begin probes of any priority.
func TestInit(t *testing.T) {
	if got := run(t, `probe begin(-5) { println("b") } probe init { println("a") } probe oneshot { println("c") }`); got != "a\nb\nc\n" {
		t.Errorf("%q", got)
	}
}

// TestReadme: README.md is that of the files.
func TestReadme(t *testing.T) {
	before, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if doc, err := os.ReadFile("../docs/tapsets.md"); err != nil || string(doc) != string(before) {
		t.Errorf("docs/tapsets.md is not README.md (%v): run go generate in tapsets", err)
	}
	n := 0
	for _, f := range tapsets.Files {
		for _, e := range f.Entries {
			if e.Private || e.Kind != grammar.FunctionEntry {
				continue
			}
			n++
			text, err := tapsets.FS.ReadFile(f.Name)
			if err != nil {
				t.Fatal(err)
			}
			decl, _, _ := strings.Cut(string(text[e.Off:e.End]), "%{")
			decl, _, _ = strings.Cut(decl, "{")
			decl = strings.TrimSpace(strings.TrimPrefix(decl, "function "))
			if !strings.Contains(string(before), "* `"+decl+"`: "+e.Names[0]+" ") {
				t.Errorf("README.md lacks %s: run go generate in tapsets", decl)
			}
		}
	}
	if got := strings.Count(string(before), "\n  Example: "); got != n {
		t.Errorf("README.md has %d functions, the files %d: run go generate in tapsets", got, n)
	}
}
