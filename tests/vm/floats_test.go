package vm

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// spoil takes the thread's vector registers from the CPU, as a switch to another thread does, and leaves other values.
const spoil = `%{
#include <asm/fpu/api.h>
%}
function spoil:long() %{
	kernel_fpu_begin();
	asm volatile("pcmpeqd %xmm0, %xmm0; pcmpeqd %xmm1, %xmm1; pcmpeqd %xmm2, %xmm2; pcmpeqd %xmm14, %xmm14");
	kernel_fpu_end();
	STAP_RETVALUE = 1;
%}
`

// goFloats and the others print what the functions of testdata/vectors get and give.
const goFloats = `
probe process("%PROG").function("main.one").return {
	if (@entry($n) >= 0) printf("got one %d %.17g %.17g %.17g\n", @entry($n), @entry($x), @entry($y), $return)
}
probe process("%PROG").function("main.many") {
	if (%SPOIL) printf("got many %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g", $a, $b, $c, $d, $e, $f, $g, $h)
	printf(" %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g", $i, $j, $k, $l, $m, $n, $o, $p)
}
probe process("%PROG").function("main.many").return { printf(" %.17g %.17g\n", $return[0], $return[1]) }
probe process("%PROG").function("main.plane") {
	if ($z->real != 1 || $z->imag != -2)
		printf("got plane %.17g %.17g %.17g %.17g", $z->real, $z->imag, $w->real, $w->imag)
	else
		println($z$, $w$, $$parms$)
}
probe process("%PROG").function("main.plane").return {
	if (@entry($z->real) != 1 || @entry($z->imag) != -2)
		printf(" %.17g %.17g %.17g %.17g\n", $return[0]->real, $return[0]->imag, $return[1]->real, $return[1]->imag)
	else
		println($return[0]$)
}
probe process("%PROG").function("main.move") {
	if (!$p->Next) printf("got move %.17g %.17g %.17g", $p->X, $p->Y, $by)
	else println($p$, $p$$, " ", $by$)
}
probe process("%PROG").function("main.move").return {
	if (!$return[0]->Next) printf(" %.17g %.17g\n", $return[0]->X, $return[0]->Y)
	else println($return[0]$)
}
probe process("%PROG").function("main.deg.twice").return {
	printf("got twice %.17g %.17g %.17g\n", @entry($d), @entry($x), $return)
}
probe process("%PROG").function("main.one") {
	if ($n < 0)
		println($$parms, " ", $$parms$, " ", $y$, " ", $x * 2 + $y, " ", $x > 1.25 && $y < 0, " ", trunc($x * 1000))
}
`

const cFloats = `
probe process("%PROG").function("one").return {
	if (@entry($n) >= 0) printf("got one %d %.17g %.17g %.17g\n", @entry($n), @entry($x), @entry($y), $return)
}
probe process("%PROG").function("lesser").return {
	printf("got lesser %.17g %.17g %.17g\n", @entry($a), @entry($b), $return)
}
probe process("%PROG").function("one") {
	if ($n < 0) println($$parms$, " ", $y$, " ", $x * 2 + $y, " ", $x > 1.25 && $y < 0, " ", trunc($x * 1000))
}
`

const structC = `
probe process("%PROG").function("move").call { printf("got move %.17g %.17g %.17g %.17g", $v->x, $v->y, $v->z, $by) }
probe process("%PROG").function("move").return { printf(" %.17g %.17g %.17g\n", $return->x, $return->y, $return->z) }
probe process("%PROG").function("swap").call { printf("got swap %.17g %.17g", $v->x, $v->y) }
probe process("%PROG").function("swap").return { printf(" %.17g %.17g\n", $return->x, $return->y) }
probe process("%PROG").function("both").call { printf("got both %.17g %d %.17g", $m->x, $m->n, $by) }
probe process("%PROG").function("both").return { printf(" %.17g %d\n", $return->x, $return->n) }
`

// clang gives no places to parts of structures that come in one register, and gcc none to arguments of complex types.
const manyC = `
probe process("%PROG").function("many").call {
	if (%SPOIL)
		printf("got many %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g", $a, $b, $c, $d, $e, $f, $g, $h, $i, $j)
}
probe process("%PROG").function("many").return { printf(" %.17g\n", $return) }
probe process("%PROG").function("zero").call { if (%SPOIL) println("zero ", $x) }
`

const threadsOf = `
global same, wrong
probe process("%PROG").function("%Scheck").call {
	if ($half == $n / 2.0 && $third <= $n / 2.9999 && $third >= $n / 3.0001) same++
	else wrong++
}
probe end { printf("checks %d %d\n", same, wrong) }
`

// floatBuilds are programs and how to build them; the source is copied into the folder where the command runs.
var floatBuilds = []struct {
	name, source, prefix, script string
	build                        []string
	env                          string
	want                         []string
}{
	{"go", "main.go", "main.", goFloats, []string{"go", "build", "-o", "go", "main.go"}, "", goText},
	{"go122", "main.go", "main.", goFloats, []string{"go", "build", "-o", "go122", "main.go"},
		"GOTOOLCHAIN=go1.22.12", goText},
	{"gcc", "main.c", "", cFloats + manyC + structC,
		[]string{"gcc", "-O2", "-DO2", "-g", "-static", "-o", "gcc", "main.c", "-lm"}, "",
		[]string{"n=-1 x=1.5 y=-0.25 -0.25 2.75 1 1500\n", "zero 0\nzero 0\n"}},
	{"clang", "main.c", "", cFloats + manyC,
		[]string{"clang", "-O1", "-DO2", "-g", "-static", "-o", "clang", "main.c", "-lm"}, "",
		[]string{"n=-1 x=1.5 y=-0.25 -0.25 2.75 1 1500\n", "zero 0\nzero 0\n"}},
	{"rust", "main.rs", "", cFloats, []string{"rustc", "-O", "-g", "-C", "target-feature=+crt-static", "-o", "rust",
		"main.rs"}, "", []string{"n=-1 x=1.5 y=-0.25 -0.25 2.75 1 1500\n"}},
}

var goText = []string{"n=0xffffffffffffffff x=1.5 y=-0.25 n=-1 x=1.5 y=-0.25 -0.25 2.75 1 1500\n",
	"{N:1, X:2.5, Y:0.5, Next:&{N:0, X:9, Y:0, Next:nil}} 1\n", "{N:1, X:3.5, Y:-0.5, Next:(*main.place)(0x",
	"(1-2i)(0.5+4i)z=(1-2i) w=(0.5+4i)\n", "(-3-4i)\n"}

// compared are the lines that compareFloats looks at.
var compared = regexp.MustCompile(`(?m)^(got|own) .*\n`)

// TestFloats: numbers with a fraction in vector registers are read by modules, whether the thread has its registers in
// the CPU or not.
func TestFloats(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		cache := filepath.Join(dir, "cache")
		run := filepath.Join(b.dir, "kmodrun")
		files := map[string]string{run: run, cache: cache, dir + "/progs": dir + "/progs"}
		command := ""
		var ran []string
		for _, f := range floatBuilds {
			prog := filepath.Join(dir, "progs", f.name)
			if !buildFloats(t, filepath.Dir(prog), f.source, f.env, f.build) {
				continue
			}
			ran = append(ran, f.name)
			text := f.script + threadsOf
			if strings.Contains(text, "%SPOIL") {
				text = spoil + text
			}
			text = strings.NewReplacer("%PROG", prog, "%SPOIL", "spoil()", "%S", f.prefix).Replace(text)
			script := prog + ".stp"
			if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(run, "-v", "-r", kdir, "-cache", cache, "-name", f.name, "-c", prog, "-build",
				"-e", text).CombinedOutput()
			if err != nil {
				t.Fatalf("build %s: %v\n%s", f.name, err, out)
			}
			if gccWarning.Match(out) {
				t.Errorf("%s: gcc warns:\n%s", f.name, out)
			}
			command += "echo '== " + f.name + "'; " + run + " -cache " + cache + " -name " + f.name + " -c '" + prog +
				" 60 >/own' -e \"$(cat " + script + ")\"; echo rc $?; cat /own\n"
		}
		res := guest(t, k, Options{Files: files, Command: command})
		for _, f := range floatBuilds {
			if !slices.Contains(ran, f.name) {
				continue
			}
			out := part(res, f.name)
			compareFloats(t, f.name, f.script, out)
			for _, w := range append([]string{"checks 2400 0\n", "rc 0\n"}, f.want...) {
				if !strings.Contains(out, w) {
					t.Errorf("%s: no %q in\n%.3000s", f.name, w, compared.ReplaceAllString(out, ""))
				}
			}
		}
	})
}

// buildFloats builds a program in dir; false, with a line in the log, where a toolchain is not there.
func buildFloats(t *testing.T, dir, source, env string, build []string) bool {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors/" + source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, source), text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module vectors\n\ngo 1.22\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(build[0], build[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return true
	}
	_, missing := exec.LookPath(build[0])
	if missing != nil || env != "" && strings.Contains(string(out), "toolchain") {
		t.Logf("%s: %v\n%s", build[0], err, out)
		return false
	}
	t.Fatalf("%v: %v\n%s", build, err, out)
	return false
}

// compareFloats compares what a program said with what its probes printed: line by line, and bit by bit but for the
// bits of what is no number. Functions that the script does not name are left out.
func compareFloats(t *testing.T, name, script, out string) {
	t.Helper()
	read := func(prefix string) (all []string) {
		for line := range strings.Lines(out) {
			words, ok := strings.CutPrefix(strings.TrimSpace(line), prefix)
			what, _, _ := strings.Cut(words, " ")
			if !ok || what == "checks" || !strings.Contains(script, "got "+what+" ") {
				continue
			}
			var b strings.Builder
			for i, w := range strings.Fields(words) {
				if x, err := strconv.ParseFloat(w, 64); i > 0 && err == nil && x != x {
					w = "nan"
				} else if i > 0 && err == nil {
					w = fmt.Sprintf("%x/%g", math.Float64bits(x), x)
				} else if i > 0 && w != "-nan" {
					w = "not a number: " + w
				} else if i > 0 {
					w = "nan"
				}
				b.WriteString(" " + w)
			}
			all = append(all, b.String())
		}
		return all
	}
	want, got := read("own "), read("got ")
	if len(want) != len(got) || len(want) < 120 {
		t.Errorf("%s: the program has %d lines, the probes %d\n%.2000s", name, len(want), len(got), out)
	}
	bad := 0
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			if bad++; bad < 5 {
				t.Errorf("%s: line %d: the program says\n%s\nthe probes\n%s", name, i, want[i], got[i])
			}
		}
	}
	t.Logf("%s: %d lines equal, %d not", name, min(len(want), len(got))-bad, bad)
}
