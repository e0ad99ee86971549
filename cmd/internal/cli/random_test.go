package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// pieces are parts of scripts and of command lines, right and wrong ones.
var (
	exprs = []string{"1", "0", "-1", "9223372036854775807", `"text"`, `""`, "x", "a[1]", `a["k"]`, "n", "s", "$a", "$b",
		"$nope", "$return", "$$parms", "$$vars$", "@entry($a)", "@defined($a)", "@1", "$1",
		"pid()", "execname()", "goid()", "probefunc()", "ppfunc()", "gettimeofday_ns()", "user_string($a)", "@count(s)",
		"@avg(s)", "@hist_log(s)", "strlen(x)", `sprintf("%d %s", n, x)`, "f(1)", "f(x, 2)", "nofunc()",
		"thread_indent(1)", "@cast($a, \"int\")", "1 in a", "[1, 2] in a", "int_arg(1)", "(", ")", "$a->b[2]->c", "&$a",
		"tokenize(x, \",\")", "sprint_ubacktrace()"}
	ops = []string{"+", "-", "*", "/", "%", "<<", ">>", ">>>", "&", "|", "^", "&&", "||", "==", "!=", "<", ">", "<=",
		">=", ".", "=", "+=", ".=", "<<<", ",", "?", ":", "in", "=~"}
	stmts = []string{"println(%e)", "printf(\"%%d\\n\", %e)", "n++", "n = %e", "x = %e", "a[%e] = %e", "s <<< %e",
		"if (%e) { %s } else { %s }", "while (%e) { %s break }", "for (i = 0; i < 5; i++) { %s }",
		"foreach (k in a) { %s }", "foreach (k+ in a limit %e) { %s }", "foreach ([k, l-] in a) %s", "delete a",
		"delete a[%e]", "delete n", "return %e", "next", "break", "continue", "try { %s } catch (m) { println(m) }",
		"error(%e)", "exit()", "%e", ";", "{ %s %s }", "print(%e, %e)", "printdln(\",\", %e, %e)", "if (", "}",
		"%{ x %}", "do"}
	points = []string{"begin", "end", "error", "begin(5)", "timer.ms(5)", "timer.s(1)", "timer.jiffies(1)",
		`process("%b").function("main.traceme")`, `process("%b").function("main.*")`,
		`process("%b").function("main.traceme").return`, `process("%b").function("main.*").call`,
		`process("%b").statement("main.main@main.go:*")`, `process("%b").begin`, `process("%b").end`,
		"process.function(\"x\")", "process(1)", "kernel.function(\"x\")", "nothing", "never", "begin, end", "begin ?",
		"nothing ?", `process("/etc/passwd").function("*")`, `process("%b").function("*").inline`}
	flags = []string{"-u", "-w", "-W", "-v", "-vv", "-g", "-k", "-DMAXACTION=5", "-DMAXSTRINGLEN=32",
		"-DMAXMAPENTRIES=2", "-DX=1", "-Gn=5", "-Gx=abc", "-Gzz=1", "--runtime=bpf", "--color=always",
		"--no-global-var-display", "--dump=opt", "--dump=sema", "--dump=help", "-E", "-I", "/nonexistent", "-p", "-p3",
		"-", "-s", "1", "--version", "-h", "-mname", "-l", "-L", "begin", "--", "\x00", "\xff", ""}
)

func pick(r *rand.Rand, l []string) string { return l[r.IntN(len(l))] }

// fill replaces %e and %s by random parts of script, up to a depth.
func fill(r *rand.Rand, t string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		if t[i] != '%' || i+1 == len(t) {
			b.WriteByte(t[i])
			continue
		}
		switch i++; t[i] {
		case 'e':
			e := pick(r, exprs)
			for range r.IntN(3) {
				e += " " + pick(r, ops) + " " + pick(r, exprs)
			}
			b.WriteString(e)
		case 's':
			if depth > 0 {
				b.WriteString(fill(r, pick(r, stmts), depth-1))
			}
		case '%':
			b.WriteByte('%')
		default:
			b.WriteString(t[i-1 : i+1])
		}
	}
	return b.String()
}

func randomScript(r *rand.Rand, traced string) string {
	var b strings.Builder
	if r.IntN(4) > 0 {
		b.WriteString("global a, s, n, x\n")
	}
	if r.IntN(2) == 0 {
		fmt.Fprintf(&b, "function f(p) { %s return p }\n", fill(r, "%s %s", 2))
	}
	for range 1 + r.IntN(3) {
		fmt.Fprintf(&b, "probe %s { ", strings.ReplaceAll(pick(r, points), "%b", traced))
		for range r.IntN(5) {
			b.WriteString(fill(r, "%s ", 3))
		}
		b.WriteString("}\n")
	}
	text := b.String()
	if r.IntN(10) == 0 { // damage
		at := r.IntN(len(text))
		text = text[:at] + string(rune(r.IntN(256))) + text[min(len(text), at+r.IntN(4)):]
	}
	return text
}

// TestRandom runs random scripts and command lines: the command must end soon, with
// status 0 or 1, and never by a fault of its own.
func TestRandom(t *testing.T) {
	dir := t.TempDir()
	traced := filepath.Join(dir, "app")
	source := "package main\n\n//go:noinline\nfunc traceme(a, b int) (ret int) { return a + b }\n\nfunc main() { " +
		"println(traceme(1, 2)) }\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", traced, "main.go")
	build.Dir = dir
	if msg, err := build.CombinedOutput(); err != nil {
		t.Fatal(err, string(msg))
	}
	t.Chdir(dir)
	const runs = 600
	seed := uint64(1)
	if s := os.Getenv("GOSTAP_SEED"); s != "" {
		fmt.Sscan(s, &seed)
	}
	r := rand.New(rand.NewPCG(seed, 2))
	good := 0
	for i := range runs {
		args := []string{pick(r, []string{"-p1", "-p2", "-p3", "-p3", "-p4", "--runtime=host"})}
		if args[0] == "--runtime=host" {
			args = append(args, "-T0.02")
		}
		for range r.IntN(3) {
			args = append(args, pick(r, flags))
		}
		args = append(args, "-e", randomScript(r, traced))
		for range r.IntN(2) {
			args = append(args, pick(r, []string{"1", "text", "-5", `"`, ""}))
		}
		var out, errs bytes.Buffer
		done := make(chan int, 1)
		go func() {
			done <- Run(args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs},
				[]string{"PATH=/bin", "TMPDIR=" + dir, "XDG_CACHE_HOME=" + dir})
		}()
		select {
		case status := <-done:
			if status != 0 && status != 1 {
				t.Errorf("run %d: status %d of %q", i, status, args)
			}
			if strings.Contains(errs.String(), "internal error") {
				t.Errorf("run %d: %q\n%s", i, args, errs.String())
			}
			if status == 1 && errs.Len() == 0 {
				t.Errorf("run %d: fails without a word: %q", i, args)
			}
			if status == 0 {
				good++
			}
		case <-patience.After(90 * time.Second):
			t.Fatalf("run %d hangs: %q", i, args)
		}
	}
	if good < runs/50 {
		t.Errorf("only %d of %d scripts were right: the test shows little", good, runs)
	}
	t.Logf("%d of %d were right", good, runs)
}
