package providers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
)

// read parses text and gives what it says as text.
func read(text string) (string, string) {
	files := &source.FileSet{}
	list, err := parse(files.Add("a.d", []byte(text)))
	if err != nil {
		var b bytes.Buffer
		(&diag.Printer{W: &b, Files: files}).One(err.(*diag.Diagnostic))
		return "", b.String()
	}
	var out []string
	for i := range list {
		for k := range list[i].marks {
			m := &list[i].marks[k]
			s := list[i].name + ":" + m.name + " " + macro(&list[i], m)
			for _, a := range m.args {
				s += fmt.Sprintf(" [%s|%s]", a.typ, a.name)
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n"), ""
}

// TestParse: what files of providers say.
func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"provider p { probe a(); };", "p:a P_A"},
		{"provider p { probe a; }", "p:a P_A"},
		{"provider p { probe a(void); }", "p:a P_A"},
		{"/* x */ provider p { // y\n probe query__done(int, unsigned long bytes); };\n",
			"p:query__done P_QUERY_DONE [int|] [unsigned long|bytes]"},
		{"typedef struct { int a; } s_t;\nstruct q { int b; };\nprovider p { probe a(s_t *x, struct q); };",
			"p:a P_A [s_t *|x] [struct q|]"},
		{"#pragma D attributes Evolving/Evolving/Common provider p args\n#define X \\\n provider\n" +
			"provider p { probe a(size_t); };",
			"p:a P_A [size_t|]"},
		{"provider p { probe a(const char *s, const size_t, char **v, uint8_t x[4], string t); };",
			"p:a P_A [const char *|s] [const size_t|] [char **|v] [uint8_t[4]|x] [string|t]"},
		{"provider p { probe a(int x) : (int y); probe b(enum e v, enum e); };",
			"p:a P_A [int|x]\np:b P_B [enum e|v] [enum e|]"},
		{"provider p { probe a(); };\nprovider q { probe a(); };", "p:a P_A\nq:a Q_A"},
	} {
		if got, errs := read(c.text); got != c.want {
			t.Errorf("%s\n%s%s\nwant\n%s", c.text, got, errs, c.want)
		}
	}
}

// TestMistakes: the place, and what was expected.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "a.d:1:1: error: the file has no provider"},
		{"provider p { probe a(int x; };",
			"a.d:1:27: error: expected \")\" behind the arguments of a, found \";\""},
		{"provider p {\n prob a(); };",
			"a.d:2:2: error: expected probe or }, found \"prob\"\n   prob a(); };\n   ^~~~"},
		{"provider { probe a(); };", "a.d:1:10: error: expected the name of a provider, found \"{\""},
		{"providr p { probe a(); };", "hint: did you mean provider?"},
		{"provider p { probe a()", "expected \";\" behind the probe, found the end of the file"},
		{"provider p { probe a(); probe a(); };", "provider p has two probes a"},
		{"/* provider p { };", "the comment has no end"},
		{"typedef int x provider p { probe a(); };", "the declaration has no semicolon before \"provider\""},
		{"provider p { probe a(int,,int); };", "expected an argument"},
		{"provider p { probe a(" + strings.Repeat("int,", 12) + "int); };",
			"probe a has 13 arguments, and 12 is the most"},
	} {
		if got, errs := read(c.text); got != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s\n%s%s\nwant\n%s", c.text, got, errs, c.want)
		}
	}
}

// FuzzParse: no text makes the parser panic or hang.
func FuzzParse(f *testing.F) {
	f.Add("provider p { probe a(int x, char *y[3]); }; typedef int t;")
	f.Fuzz(func(t *testing.T, text string) { read(text) })
}

const shop = `provider shop {
	probe order__start(int id, const char *customer, long cents);
	probe order__done(int, unsigned char, short, _Bool ok, struct order *next);
	probe idle;
	probe many(char a, signed char b, unsigned short c, int d, unsigned e, long f, unsigned long g, void *h, char i[4],
		int j, int k, int l);
};
`

// program uses all marks of shop, and prints what it gives them where a mark is in use.
const program = `#include "shop.h"
#include <stdio.h>
struct order { int x; };
enum color { red, green = 7 };
static const int minus = -4;
#ifdef __cplusplus
template <typename T> static inline void deep(T v) { SHOP_ORDER_START(v, "deep", 7); }
#else
static inline void deep(int v) { SHOP_ORDER_START(v, "deep", 7); }
#endif
int main(int argc, char **argv)
{
	char name[16] = "ada";
	struct order o = {1};
	(void)argv;
	for (int i = 0; i < 3; i++) {
		unsigned char small = (unsigned char)(200 + i);
		short less = (short)(-300 - i);
		if (!SHOP_ORDER_START_ENABLED() || !SHOP_MANY_ENABLED())
			continue;
		printf("start %d %s %ld\n", i - 1, name, 1L << (40 + i));
		SHOP_ORDER_START(i - 1, name, 1L << (40 + i));
		printf("done %d %d %d %d\n", minus - i, small, less, i == 1);
		SHOP_ORDER_DONE(minus - i, small, less, i == 1, &o);
		SHOP_IDLE();
		printf("many %d %d %d %d %u %ld %lu %d %s %d %d %d\n", (char)(i - 2), -7, 65530, -9 * (i + 1), 4000000000u + i,
			-1L - i, ~0ul - i, 1, name, argc, green, i);
		SHOP_MANY((char)(i - 2), (signed char)-7, (unsigned short)65530, -9 * (i + 1), 4000000000u + i, -1L - i,
			~0ul - i, &o, name, argc, green, i);
	}
	printf("start %d deep 7\n", argc);
	deep(argc);
	return 0;
}
`

// TestCompilers: the header compiles without warnings, and notes and semaphores are what readers of marks expect, with
// C and C++ of gcc and clang. That the values are right too is shown by tests/testdata/d-trace.txtar.
func TestCompilers(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	d := file("shop.d", shop)
	file("prog.c", program)
	file("prog.cc", program)
	run := func(args ...string) {
		var out, errs bytes.Buffer
		if status := Run(args, &out, &errs, os.Environ()); status != 0 {
			t.Fatalf("%q: %s", args, &errs)
		}
	}
	run("-h", "-s", d, "-o", filepath.Join(dir, "shop.h"), "--tapset", filepath.Join(dir, "shop.stp"))
	run("-C", "-G", "-s", d, "-o", filepath.Join(dir, "shop.o"))
	for _, c := range []string{"gcc -O0", "gcc -O2", "gcc -O2 -fPIC -pie", "gcc -O1 -static", "gcc -std=c99 -O2",
		"gcc -std=c2x -Os", "clang -O0", "clang -O2", "g++ -O0", "g++ -O2", "g++ -std=c++98 -O2", "g++ -std=c++20 -Os",
		"clang++ -O0", "clang++ -O2 -std=c++17"} {
		args := strings.Fields(c)
		if _, err := exec.LookPath(args[0]); err != nil {
			t.Log(err)
			continue
		}
		src := "prog.c"
		if strings.Contains(args[0], "++") {
			src = "prog.cc"
		}
		bin := filepath.Join(dir, "prog")
		cmd := exec.Command(args[0], append(args[1:], "-Wall", "-Wextra", "-Werror", "-o", bin, src, "shop.o")...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", c, err, out)
			continue
		}
		out, err := exec.Command(bin).Output()
		if err != nil || string(out) != "start 1 deep 7\n" {
			t.Errorf("%s: %v: marks are in use that nobody uses:\n%s", c, err, out)
		}
		notes, _ := exec.Command("readelf", "-n", bin).Output()
		if n := bytes.Count(notes, []byte("Provider: shop")); n < 5 {
			t.Errorf("%s: %d marks\n%s", c, n, notes)
		}
	}
}

// TestOptions: mistakes of the command line.
func TestOptions(t *testing.T) {
	d := filepath.Join(t.TempDir(), "a.d")
	if err := os.WriteFile(d, []byte("provider p { probe a(); };"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string
	}{
		{"-s " + d, "one of -h, -G and -T is needed"},
		{"-h", "-s is needed"},
		{"-h -s /nonexistent.d", "/nonexistent.d"},
		{"-h -s " + d + " -o /nonexistent/a.h", "no such file or directory"},
		{"-h -G -s " + d, "one of -h, -G and -T is needed"},
		{"--colour", "gostap dtrace --help tells the options"},
	} {
		var out, errs bytes.Buffer
		status := Run(strings.Fields(c.args), &out, &errs, nil)
		if status != 1 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: %d %s", c.args, status, &errs)
		}
	}
	var out, errs bytes.Buffer
	status := Run([]string{"-G", "-s", d, "-o", d + ".o"}, &out, &errs, []string{"CC=/nonexistent/cc"})
	if status != 1 || !strings.Contains(errs.String(), "/nonexistent/cc") {
		t.Errorf("%d %s", status, &errs)
	}
}
