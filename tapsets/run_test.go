package tapsets_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// memory is a Context with memory of a program, or of the kernel, at 0x1000.
type memory struct {
	interp.HostContext
	bytes string
}

func (m *memory) Read(buf []byte, addr uint64, kernel bool) error {
	if addr < 0x1000 || addr-0x1000+uint64(len(buf)) > uint64(len(m.bytes)) {
		return &textfmt.Fault{Code: ir.ErrMemory, Args: []interp.Val{{Int: int64(addr)}}}
	}
	copy(buf, m.bytes[addr-0x1000:])
	return nil
}

// run compiles a script and runs its begin probes in the interpreter.
func run(t *testing.T, script string) string { t.Helper(); return runOver(t, script, "") }

// runOver is run over a program's memory.
func runOver(t *testing.T, script, bytes string) string {
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
		if _, err := m.Run(j.probe, &memory{interp.HostContext{Where: j.site}, bytes}); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// TestFunctions runs functions whose result is known.
func TestFunctions(t *testing.T) {
	t.Setenv("GOSTAP_TEST_VARIABLE", "here")
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

		// null.stp
		{`NULL`, "0"}, {`NULL == 0`, "1"},

		// numbers.stp
		{`MAJOR(8388609)`, "8"}, {`MINOR(8388609)`, "1"}, {`MKDEV(8, 1)`, "8388609"},
		{`usrdev2kerndev(2049)`, "8388609"},
		{`sprintf("%x %x", ntohs(0x1234), htons(0x12ff))`, "3412 ff12"},
		{`sprintf("%x %x", ntohl(0x12345678), htonl(0xff000001))`, "78563412 10000ff"},
		{`sprintf("%x", ntohll(0x0102030405060708))`, "807060504030201"},
		{`sprintf("%x", htonll(1))`, "100000000000000"},
		{`ip_ntop(0x0100007f)`, "127.0.0.1"},
		{`pages_to_string(256)`, "1.00M"}, {`mem_page_size()`, fmt.Sprint(os.Getpagesize())},
		{`bytes_to_string(1023)`, "1023"}, {`bytes_to_string(1536)`, "1.50K"}, {`bytes_to_string(5 << 20)`, "5.00M"},
		{`bytes_to_string(3 << 30)`, "3.00G"},

		// time.stp
		{`msecs_to_string(62345)`, "1m2.345s"}, {`usecs_to_string(1000001)`, "0m1.000001s"},
		{`nsecs_to_string(3600000000007)`, "60m0.000000007s"},
		{`cputime_to_string(1250000000)`, "0m1.250s"}, {`cputime_to_usecs(1999)`, "1"},

		// fractions.stp
		{`fp_to_string(fp_div(long_to_fp(7), long_to_fp(2)), 3)`, "3.500"},
		{`fp_to_string(fp_add(string_to_fp("0.1"), string_to_fp(" 2")), 2)`, "2.10"},
		{`fp_to_string(fp_sub(fp_mul(long_to_fp(3), long_to_fp(-4)), long_to_fp(1)), 0)`, "-13"},
		{`fp_to_string(fp_rem(long_to_fp(7), long_to_fp(4)), 1)`, "-1.0"},
		{`fp_to_string(fp_sqrt(long_to_fp(2)), 6)`, "1.414214"}, {`fp_to_string(fp32_to_fp64(0x3fc00000), 2)`, "1.50"},
		{`fp_lt(long_to_fp(1), long_to_fp(2))`, "1"}, {`fp_le(long_to_fp(2), long_to_fp(2))`, "1"},
		{`fp_eq(long_to_fp(2), long_to_fp(3))`, "0"},
		{`sprintf("%d %d %d %d %d %d", fp_to_long(string_to_fp("2.5"), 0, 0), fp_to_long(string_to_fp("-2.5"), 1, 0), fp_to_long(string_to_fp("-2.5"), 2, 0), fp_to_long(string_to_fp("2.5"), 3, 0), fp_to_long(string_to_fp("-2.5"), 4, 0), fp_to_long(string_to_fp("2.25"), 6, 0))`, "2 -2 -3 3 -3 3"},

		// numbers.stp, session.stp
		{`sprintf("%x %x %x %x", big_endian2(0x1234), big_endian4(1), big_endian8(1), little_endian2(0x12345))`,
			"3412 1000000 100000000000000 2345"},
		{`sprintf("%d%d%d", WIFEXITED(0x100), WEXITSTATUS(0x700), WTERMSIG(9))`, "179"},
		{`env_var("GOSTAP_TEST_VARIABLE")`, "here"}, {`env_var("GOSTAP_TEST_NOTHING")`, ""},
		{`stp_pid() == pid()`, "1"}, {`on_host()`, "1"},
		{`sprint_loadavg() =~ "^[0-9]+[.][0-9][0-9] [0-9]+[.][0-9][0-9] [0-9]+[.][0-9][0-9]$"`, "1"},
		{`get_loadavg_index(2) >= 0`, "1"},

		// strings.stp
		{`isdigit("7a")`, "1"}, {`isdigit("a7")`, "0"}, {`isdigit("")`, "0"}, {`max_string_len()`, "512"},

		// socket.stp
		{`sock_fam_num2str(2)`, "INET"}, {`sock_fam_num2str(99)`, "99"}, {`sock_fam_str2num("INET6")`, "10"},
		{`sock_fam_str2num("x")`, "-1"},
		{`sock_type_num2str(1)`, "STREAM"}, {`sock_type_str2num("PACKET")`, "10"}, {`sock_prot_num2str(17)`, "UDP"},
		{`sock_prot_str2num("MPTCP")`, "262"},
		{`sock_state_num2str(3)`, "CONNECTED"}, {`sock_state_str2num("FREE")`, "0"},
		{`tcp_sockstate_str(10)`, "TCP_LISTEN"},
		{`msg_flags_num2str(0x42)`, "PEEK|DONTWAIT"}, {`msg_flags_num2str(0)`, ""},
		{`msg_flags_num2str(0x10000001)`, "OOB|0x10000000"}, {`sock_flags_num2str(12)`, "NOSPACE|PASSCRED"},
		{`format_ipaddr(0x0100007f, AF_INET())`, "127.0.0.1"}, {`format_ipaddr(0, 1)`, ""},

		// errno.stp, signal.stp
		{`errno_p(2)`, "1"}, {`errno_p(-9999)`, "0"},
		{`return_str(1, -2)`, "-2 (ENOENT)"}, {`return_str(2, 255)`, "0xff"}, {`return_str(3, 8)`, "010"},
		{`return_str(1, -5000)`, "-5000"},
		{`errno_str(2)`, "ENOENT"}, {`errno_str(-11)`, "EAGAIN"}, {`errno_str(512)`, "ERESTARTSYS"},
		{`errno_str(9999)`, "9999"},
		{`signal_str(9)`, "SIGKILL"}, {`signal_str(32)`, "SIGRTMIN"}, {`signal_str(40)`, "SIGRTMIN+8"},
		{`signal_str(0)`, "0"},

		// context.stp
		{`pid()`, fmt.Sprint(os.Getpid())}, {`ppid()`, fmt.Sprint(os.Getppid())}, {`uid()`, fmt.Sprint(os.Getuid())},
		{`target()`, "0"}, {`pp()`, "begin"}, {`pn()`, "begin"}, {`ppfunc()`, ""},
		{`probe_type()`, "begin"}, {`registers_valid()`, "0"}, {`user_mode()`, "0"}, {`remote_id()`, "1"},
		{`remote_uri()`, ""},
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
		{"tokenize goes on", `println(tokenize("one two", " "), tokenize(" "), tokenize(" "), ".")`, "onetwo.\n"},
		{"fractions that fail", `try { fp_to_long(string_to_fp("1e30"), 0, 0) } catch (m) { println(m) } try { fp_to_long(string_to_fp("1.5"), 0, 1) } catch (m) { println(m) } try { string_to_fp("x") } catch (m) { println(m) } try { get_loadavg_index(3) } catch (m) { println(m) }`,
			"fp_to_long: 1e+30 does not fit into 64 bits\nfp_to_long: 1.5 has a fraction\nstring_to_fp: \"x\" is no " +
				"number\nthere is no load average 3, they go from 0 to 2\n"},
		{"assert", `assert(1 == 1, "no") try { assert(1 == 2, "broken") } catch (m) { println(m) } try { assert(0) } catch (m) { println(m) }`, "broken\nassertion failed\n"},
		{"error and warn", `warn("strange") log("said") try { error("bad") } catch (m) { println(m) }`,
			"WARNING: strange\nsaid\nbad\n"},
		{"colours", `ansi_set_color(32) ansi_set_color2(37, 44) ansi_set_color3(30, 47, 4) ansi_set_color3(30, 47, 0) ansi_reset_color()`,
			"\x1b[32m\x1b[44;37m\x1b[47;30;4m\x1b[47;30m\x1b[0;0m"},
		{"cursor", `ansi_clear_screen() ansi_cursor_move(1, 10) ansi_cursor_save() ansi_cursor_hide() ansi_cursor_show() ansi_cursor_restore() ansi_new_line()`,
			"\x1b[1;1H\x1b[J\x1b[10;1H\x1b[s\x1b[?25l\x1b[?25h\x1b[u\n"},
		{"depths", `println(thread_indent_depth(1), thread_indent_depth(1), thread_indent_depth(-1), thread_indent_depth(-1)) println(indent_depth(1), indent_depth(1), indent_depth(-1), indent_depth(-1))`, "1221\n1221\n"},
		{"stopwatches", `println(read_stopwatch_ns("a")) start_stopwatch("a") stop_stopwatch("a") x = read_stopwatch_ns("a") println(x == read_stopwatch_ns("a"), x >= 0, x < 5000000000)
			start_stopwatch("a") println(read_stopwatch_ns("a") >= x, read_stopwatch_s("a") < 5) delete_stopwatch("a") println(read_stopwatch_us("a"))`, "0\n111\n11\n0\n"},
		{"clocks", `a = gettimeofday_ns() b = gettimeofday_us() println(b - a / 1000 >= 0, b - a / 1000 < 1000000, gettimeofday_ms() / 1000 - gettimeofday_s() < 2)
			c = local_clock_ns() println(local_clock_ns() >= c, local_clock_us() >= c / 1000, cpu_clock_ms(0) >= c / 1000000, get_cycles() != 0, ktime_get_ns() > 0)`, "111\n11111\n"},
		{"value_text", `println(value_text(5, "|0;1 A,2 B,4 C"), value_text(9, "=%d;1 A"), value_text(-2, "r"))`,
			"A|C9-2 (ENOENT)\n"},
		{"tables longer than strings", `println(_bpf_cmd_str(36), " ", _fork_flags(0x80000011))`,
			"BPF_TOKEN_CREATE SIGCHLD|CLONE_IO\n"},
		{"quoted null", `println(user_string_quoted(0), user_string_n_quoted(0, 5), kernel_string_quoted(0))`,
			"NULLNULLNULL\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(t, `probe begin { `+c.body+` }`); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestPrints prints aggregates by themselves and by one to nine keys.
func TestPrints(t *testing.T) {
	head, body := "global a, b1", "a <<< 3 a <<< 9 @prints(a) b1[7] <<< 1 b1[8] <<< 2 b1[8] <<< -2 @prints1(b1) "
	want := "@count=2 @min=3 @max=9 @sum=12 @avg=6\n[8] @count=2 @min=-2 @max=2 @sum=0 @avg=0\n[7] @count=1 @min=1 " +
		"@max=1 @sum=1 @avg=1\n"
	keys, shown := "1", "1"
	for n := 2; n <= 9; n++ {
		keys, shown = keys+fmt.Sprintf(`, "k%d"`, n), shown+fmt.Sprintf(",k%d", n)
		head += fmt.Sprintf(", b%d", n)
		body += fmt.Sprintf("b%d[%s] <<< 4 @prints%d(b%d) ", n, keys, n, n)
		want += "[" + shown + "] @count=1 @min=4 @max=4 @sum=4 @avg=4\n"
	}
	if got := run(t, head+" probe begin { "+body+"}"); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if got := run(t, `probe begin { @try_assign(x, fp_to_long(string_to_fp("1.5"), 0, 1), 5) @try_assign(y, x + 1, 0) println(x, y) }`); got != "56\n" {
		t.Errorf("@try_assign: %q", got)
	}
}

// TestMemory reads text of the program and of the kernel in all ways.
func TestMemory(t *testing.T) {
	const plain = "plain \"x\"\n\x00more\x00"
	utf16 := "h\x00\xf6\x00 \x00\xac\x20\x3d\xd8\x00\xde.\x00\x00\x00"
	utf32 := "h\x00\x00\x00\xac\x20\x00\x00\x00\xf6\x01\x00\x00\x00\x00\x00"
	for _, c := range []struct{ bytes, expr, want string }{
		{plain, `_string_quoted(0x1000)`, `"plain \"x\"\n"`},
		{plain, `_buffer_quoted(0x1000, 15, 100)`, `"plain \"x\"\n\000more"`},
		{plain, `_buffer_quoted(0x1000, 15, 14)`, `"plain \"x"...`},
		{plain, `_buffer_quoted(0x1000, 15, 13)`, `"plain \""...`},
		{plain, `_buffer_quoted(0x1000, 15, 12)`, `"plain "...`},
		{plain, `_buffer_quoted(0x1000, 7, 10)`, `"plain \""`},
		{plain, `_buffer_quoted(0, 7, 10)`, `NULL`},
		{plain, `_buffer_quoted(0x1000, 7, 0)`, `""...`},
		{plain, `_buffer_quoted(0x10, 7, 100)`, `0x10`},
		{utf16, `_string_utf16(0x1000)`, "hö €😀."},
		{utf16, `_string_utf16(0x10, "bad")`, "bad"},
		{utf16, `_string2_utf16(0x10, "bad")`, "bad"},
		{utf16, `_string_quoted_utf16(0x1000)`, `"h\u00F6 \u20AC\U0001F600."`},
		{utf16, `_string_quoted_utf16(0x10)`, `0x10`},
		{utf32, `_string_utf32(0x1000)`, "h€😀"},
		{utf32, `_string_utf32(0x1001, "bad")`, "bad"},
		{utf32, `_string2_utf32(0x1000, "bad")`, "h€😀"},
		{utf32, `_string_quoted_utf32(0)`, `NULL`},
		{"\xff\xff\xff\xff", `_int(0x1000)`, "-1"},
		{"\xff\xff\xff\xff", `_uint(0x1000)`, "4294967295"},
		{"\xff\xff\xff\xff", `_ushort(0x1000)`, "65535"},
	} {
		for _, space := range []string{"user", "kernel"} {
			script := `probe begin { println(` + space + c.expr + `) }`
			if got := runOver(t, script, c.bytes); got != c.want+"\n" {
				t.Errorf("%s: got %q, want %q", script, got, c.want)
			}
		}
	}
	for _, c := range []struct{ expr, want string }{
		{`user_string_n_quoted(0x1000, 9, 100)`, `"plain \"x\""`},
		{`user_string_n_quoted(0x1000, 16, 9)`, `"plai"...`},
		{`user_string_n2_quoted(0x10, 16, 9)`, `0x10`},
		{`user_string_nofault(0x1000)`, "plain \"x\"\n"}, {`user_string_nofault(0x10)`, ""},
		{`user_string_n_nofault(0x1000, 3)`, "pla"}, {`user_string_n_nofault(0x10, 3)`, ""},
		{`user_string_warn(0x10, "?")`, "WARNING: read fault at 0x0000000000000010\n?"},
		{`user_string_n_warn(0x10, 4, "?")`, "WARNING: read fault at 0x0000000000000010\n?"},
		{`user_string2_warn(0x1000, "?")`, "plain \"x\"\n"}, {`user_string2_n_warn(0x1000, 2, "?")`, "pl"},
		{`user_short_warn(0x10)`, "WARNING: read fault at 0x0000000000000010\n0"},
		{`user_uint16_error(0x1000)`, "27760"}, {`user_char_error(0x1000)`, "112"},
		{`user_ulong_warn(0x1000)`, "8656517092345998448"},
		{`kernel_or_user_string_quoted(0x1000)`, `"plain \"x\"\n"`}, {`kernel_or_user_string_quoted(0x10)`, `0x10`},
		{`kernel_or_user_string_quoted_utf16(0)`, `NULL`},
		{`atomic_read(0x1000)`, "1767992432"}, {`atomic_long_read(0x1000)`, "8656517092345998448"},
		{`format_ipaddr(0x1000, AF_INET6())`, "706c:6169:6e20:2278:220a:006d:6f72:6500"},
	} {
		if got := runOver(t, `probe begin { println(`+c.expr+`) }`, plain); got != c.want+"\n" {
			t.Errorf("%s: got %q, want %q", c.expr, got, c.want)
		}
	}
	if got := runOver(t, `probe begin { try { user_string_utf32(0x1000) } catch (m) { println(m) } try { user_string_utf16(0x1004) } catch (m) { println(m) } }`, "\x00\xd8\x00\x00\x00\xdc\x00\x00"); got != "0xd800 is no character of Unicode\n0xdc00 0x0 is not UTF-16\n" {
		t.Errorf("%q", got)
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
		if i == 0 && (!strings.HasPrefix(head, "     0 ") || !strings.HasSuffix(head, ")") ||
			!strings.Contains(head, "(")) {
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
	if len(lines) != 3 || lines[0] != "111" || !strings.HasPrefix(lines[1], "11") ||
		!strings.Contains(lines[2], "ops/s") || !strings.HasSuffix(got, "\n0\n") {
		t.Errorf("%q", got)
	}
}

// TestErrorNames: errno_str, errno_p and the results of system calls agree about which errors there are.
func TestErrorNames(t *testing.T) {
	text := ""
	for _, limits := range []string{"i = 0; i < 300", "i = 300; i < 600"} {
		text += run(t, `probe begin { for (`+limits+
			`; i++) printf("%s %d %d\n", errno_str(i) . "", errno_p(-i), return_str(1, -i) != sprint(-i)) }`)
	}
	got := strings.Split(text, "\n")
	if len(got) != 601 {
		t.Fatal(text)
	}
	for n := range 600 {
		want := fmt.Sprintf("%d 0 0", n)
		if name := textfmt.ErrnoName(n); name != "" {
			want = name + " 1 1"
		}
		if got[n] != want {
			t.Errorf("%d: %q, want %q", n, got[n], want)
		}
	}
}

// TestInit: init comes before begin probes of any priority.
func TestInit(t *testing.T) {
	if got := run(t, `probe begin(-5) { println("b") } probe init { println("a") } probe oneshot { println("c") }`); got != "a\nb\nc\n" {
		t.Errorf("%q", got)
	}
}

// TestExamples compiles the example of each function, alias and macro, with the types of the running kernel. The
// programs in them stand for one of C that is built here and for this test.
func TestExamples(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		t.Skip("this kernel does not publish its types")
	}
	dir := t.TempDir()
	c, prog := filepath.Join(dir, "prog.c"), filepath.Join(dir, "prog")
	if err := os.WriteFile(c, []byte("int main(int argc, char **argv) { return argc != 1 || !argv; }\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O0", "-o", prog, c).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.NewReplacer(`process("/bin/true")`, `process("`+prog+`")`, `process("app")`, `process("`+self+`")`,
		`"main.work"`, `"runtime.gopark"`)
	for _, f := range tapsets.Files {
		text, err := tapsets.FS.ReadFile(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range f.Entries {
			if e.Private || e.Kind != grammar.FunctionEntry {
				continue
			}
			before := string(text[:e.Off])
			_, ex, _ := strings.Cut(before[strings.LastIndex(before, "/**"):], "Example: ")
			ex, _, _ = strings.Cut(ex, "\n")
			r, ds := compiler.Compile(context.Background(), compiler.Options{
				Scripts: []compiler.Script{{Name: "t.stp", Text: []byte(names.Replace(ex))}}, Limits: layout.Default(),
				Verify: true, Guru: true,
			})
			if r.Program == nil || ds.HasErrors() {
				var b strings.Builder
				(&diag.Printer{W: &b, Files: r.Files}).Print(ds)
				t.Errorf("%s:%d: %s\n%s", f.Name, e.Line, ex, b.String())
			}
			r.Close()
		}
	}
}
