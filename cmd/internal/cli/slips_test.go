package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSlips: what people type by mistake is answered by what they meant.
func TestSlips(t *testing.T) {
	dir := t.TempDir()
	run := func(temp string, args ...string) string {
		var out bytes.Buffer
		status := Run(args, Streams{In: strings.NewReader(""), Out: &out, Err: &out},
			[]string{"PATH=/bin:/usr/bin", "SYSTEMTAP_DIR=" + dir, "TMPDIR=" + temp})
		return fmt.Sprint(status, " ", out.String())
	}
	for _, c := range []struct {
		temp string
		args []string
		want []string
	}{
		{dir, []string{"probe begin { exit() }"}, []string{`1 error: there is no file "probe begin { exit() }"`,
			"hint: a script in the command line stands behind -e"}},
		{dir, []string{"BEGIN { " + strings.Repeat("x", 5000) + "}"}, []string{"stands behind -e"}},
		{dir, []string{"run"}, []string{"1 error:", "hint: gostap run NAME.ko"}},
		{dir, []string{"none.stp"}, []string{"1 error: none.stp: no such file or directory\n"}},
		{dir, []string{"--info", "more", "words"}, []string{"1 error: --info takes no words, and there is more\n"}},
		{dir, []string{"--cleanup", "x"}, []string{"1 error: --cleanup takes no words"}},
		{dir, []string{"--dump-functions", "x"}, []string{"1 error: lists of the library take no words"}},
		{dir, []string{"--version", "x"}, []string{"0 gostap"}},
		{dir, []string{"-W", "-e", "probe begin { x = 1 exit() }"}, []string{"1 ", "warning: ",
			"error: warnings are errors with -W, so nothing was run\n"}},
		{dir, []string{"-W", "-w", "-e", "probe begin { x = 1 exit() }"}, []string{"0 "}},
		{dir, []string{"-W", "-e", "probe begin { x = 1 y }"}, []string{"1 "}},
		{dir, []string{"-p2", "-e", "probe begin { println($1) }", "abc"},
			[]string{"1 ", "hint: $1 is the argument as a piece of the script; @1 is its text"}},
		{dir, []string{"-p2", "-e", `probe begin { println("a" . $2) }`, "x", "two words"},
			[]string{"1 ", "hint: $2 is the argument as a piece of the script; @2 is its text"}},
		{dir, []string{"-p2", "-e", "probe begin { println($1) }", "execnam()"},
			[]string{"1 ", "hint: did you mean execname"}},
		{dir + "/none", []string{"-c", "true", "-e", hello}, []string{"1 error: TMPDIR: ", "/none: no such file"}},
		{"/etc/passwd", []string{"-c", "true", "-e", hello}, []string{"1 error: TMPDIR: /etc/passwd is no directory"}},
		{"/etc/passwd", []string{"-k", "-e", hello}, []string{"1 error: TMPDIR: /etc/passwd is no directory"}},
		{"/etc/passwd", []string{"-e", hello}, []string{"0 hello\n"}},
		{"/etc/passwd", []string{"-p2", "-c", "true", "-e", hello}, []string{"0 # functions"}},
		{dir, []string{"-e", `probe begin { println(argc, argv[1], argv_2, 3 in argv) exit() }`, "a", "b"},
			[]string{"0 2ab0\n"}},
		{dir, []string{"-G", "argc=2", "-G", "argv_1=one", "-G", "argv_2=two", "-e",
			`probe begin { println(argc, argv[1], argv[2], 3 in argv) exit() }`}, []string{"0 2onetwo0\n"}},
		{dir, []string{"-G", "argv_1=7", "-e", `probe begin { exit() }`},
			[]string{"1 error: -G argv_1=7: the script has no global named argv_1"}},
	} {
		got := run(c.temp, c.args...)
		for _, w := range c.want {
			if i := strings.Index(got, w); i < 0 || w[0] >= '0' && w[0] <= '1' && i > 0 {
				t.Errorf("%q with TMPDIR %s: no %q in\n%s", c.args, c.temp, w, got)
			}
		}
	}
}

// TestDumpOnly: --dump without -p shows what the pass made, starts nothing and runs nothing; with -p3 the listing
// stands behind it.
func TestDumpOnly(t *testing.T) {
	const script = `probe begin { println(6 * 7) exit() }`
	run := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if n := Run(args, Streams{In: strings.NewReader(""), Out: &out, Err: &out}, nil); n != 0 {
			t.Errorf("%q: status %d: %s", args, n, &out)
		}
		return out.String()
	}
	const parsed = "probe begin {\n\tprintln(6 * 7)\n\texit()\n}\n"
	started := filepath.Join(t.TempDir(), "started")
	if got := run("--dump=parse", "-e", script, "-c", "touch "+started); got != parsed {
		t.Errorf("--dump=parse says %q, want %q", got, parsed)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("--dump has started the command of -c")
	}
	if got := run("--dump=opt", "-e", script); !strings.Contains(got, `print "42\n"()`) ||
		strings.Contains(got, "\n42\n") {
		t.Errorf("--dump=opt says %q", got)
	}
	if got := run("--dump=parse", "-p3", "-e", script); !strings.HasPrefix(got, parsed) || len(got) == len(parsed) {
		t.Errorf("--dump=parse -p3 says %q", got)
	}
}
