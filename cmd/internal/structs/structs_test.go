package structs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/types"
)

// ran runs the command and gives what it prints.
func ran(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = Run(args, &o, &e)
	return o.String(), e.String(), status
}

// TestGaps: the room that structures do not use, as it follows from the offsets alone.
func TestGaps(t *testing.T) {
	num := func(size int64) *types.Ctype { return &types.Ctype{Kind: types.Int, Size: size} }
	at := func(off, size int64) types.Field { return types.Field{Name: "m", Type: num(size), Off: off} }
	bit := func(off, size, bitOff, bits int64) types.Field {
		return types.Field{Name: "b", Type: num(size), Off: off, BitOff: bitOff, BitSize: bits}
	}
	for _, c := range []struct {
		name   string
		size   int64
		fields []types.Field
		want   string // of each member bytes and bits in front, then those at the end
	}{
		{"full", 8, []types.Field{at(0, 4), at(4, 4)}, "0.0 0.0 | 0.0"},
		{"hole", 16, []types.Field{at(0, 1), at(8, 8)}, "0.0 7.0 | 0.0"},
		{"end", 16, []types.Field{at(0, 8), at(8, 1)}, "0.0 0.0 | 7.0"},
		{"bits", 4, []types.Field{bit(0, 4, 0, 3), bit(0, 4, 3, 5)}, "0.0 0.0 | 0.24"},
		{"bits and a byte", 8, []types.Field{bit(0, 4, 0, 3), at(4, 4)}, "0.0 0.29 | 0.0"},
		{"a byte in the bits' word", 4, []types.Field{bit(0, 4, 0, 3), at(1, 1)}, "0.0 0.5 | 2.0"},
		{"bits behind a byte", 4, []types.Field{at(0, 1), bit(0, 4, 8, 4)}, "0.0 0.0 | 0.20"},
		{"bits in the middle", 4, []types.Field{bit(0, 4, 0, 3), bit(0, 4, 8, 4)}, "0.0 0.5 | 0.20"},
		{"flexible", 4, []types.Field{at(0, 4), {Name: "f", Type: &types.Ctype{Kind: types.Array, Size: -1, Count: -1},
			Off: 4}}, "0.0 0.0 | 0.0"},
		{"empty", 1, nil, "| 1.0"},
		{"overlapping", 8, []types.Field{at(0, 8), at(4, 4)}, "0.0 0.0 | 0.0"},
	} {
		s := &types.Ctype{Kind: types.Struct, Size: c.size}
		s.SetFields(c.fields)
		g := find(s)
		var parts []string
		for _, h := range g.before {
			parts = append(parts, fmt.Sprintf("%d.%d", h.bytes, h.bits))
		}
		got := strings.Join(append(parts, fmt.Sprintf("| %d.%d", g.end.bytes, g.end.bits)), " ")
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestDeclare: members as C writes them.
func TestDeclare(t *testing.T) {
	for _, c := range []struct{ typ, name, want string }{
		{"int", "x", "int                        x"},
		{"char[16]", "s", "char                       s[16]"},
		{"int[2][3]", "m", "int                        m[2][3]"},
		{"void (*)(struct inode *)", "f", "void (*f)(struct inode *)"},
		{"int (* const)(void)", "f", "int (* const f)(void)"},
		{"int (**)(...)", "_vptr.V", "int (**_vptr.V)(...)"},
		{"int (*[4])(void)", "table", "int (*table[4])(void)"},
		{"struct a *", "", "struct a *"},
	} {
		if got := declare(c.typ, c.name); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.typ, c.name, got, c.want)
		}
	}
}

// built compiles a program of the test's own.
func built(t *testing.T, name, text string, command ...string) string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, name)
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skip(err)
	}
	bin := filepath.Join(dir, "a.out")
	cmd := exec.Command(command[0], append(command[1:], "-o", bin, src)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// TestLayouts: whole declarations of C++ and Go.
func TestLayouts(t *testing.T) {
	cxx := built(t, "a.cc", `struct base { virtual ~base() {} int b; };
namespace shop {
struct cart : public base { char c; long list[3]; int f : 3; int g : 4; union { int u; float w; }; void (*call)(int); };
}
int main() { shop::cart c; return c.b; }
`, "g++", "-g")
	out, errs, status := ran(t, "--file", cxx, "-I", "shop::cart")
	out = regexp.MustCompile(`at \S+/a.cc`).ReplaceAllString(out, "at a.cc")
	if want := `/* declared at a.cc:3 */
struct shop::cart {
	struct base                <base>;                   /*     0    16 */
	char                       c;                        /*    12     1 */

	/* hole of 3 bytes */

	long int                   list[3];                  /*    16    24 */
	int                        f:3;                      /*    40:0     4 */
	int                        g:4;                      /*    40:3     4 */

	/* hole of 25 bits */

	union {
		int                        u;                /*    44     4 */
		float                      w;                /*    44     4 */
	};                                                   /*    44     4 */
	void (*call)(int);                                   /*    48     8 */

	/* size: 56, cache lines: 1, members: 7 */
	/* members take: 53, holes: 1, holes take: 3 */
	/* bit fields take: 7 bits, bit holes: 1, bit holes take: 25 bits */
};
`; out != want {
		t.Errorf("%d %s\n%s\nwant\n%s", status, errs, out, want)
	}
	app := built(t, "a.go", `package main

import "fmt"

type inner struct{ a bool; b int64 }

type server struct {
	name string
	inner
	on bool
	f  func() error
	m  map[string]int
}

func main() { fmt.Println(&server{}) }
`, "go", "build")
	out, errs, status = ran(t, "--file", app, "-E", "main.server")
	if want := `type main.server struct {
	name                  string                         /*     0    16 */
	inner main.inner struct {
		a                     bool                   /*    16     1 */

		/* hole of 7 bytes */

		b                     int64                  /*    24     8 */
	}                                                    /*    16    16 */
	on                    bool                           /*    32     1 */

	/* hole of 7 bytes */

	f                     func() error                   /*    40     8 */
	m                     map[string]int                 /*    48     8 */

	/* size: 56, cache lines: 1, members: 5 */
	/* members take: 49, holes: 1, holes take: 7 */
}
`; out != want {
		t.Errorf("%d %s\n%s\nwant\n%s", status, errs, out, want)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--file", app, "main.serve"}, "has no type main.serve\n  hint: did you mean main.server?"},
		{[]string{"--file", cxx, "shop::car"}, "has no type shop::car\n  hint: did you mean shop::cart?"},
		{[]string{"--file", app, "int"}, "int is no structure, but an integer of 8 bytes"},
		{[]string{"--file", "/etc/passwd"}, "/etc/passwd: not an ELF executable"},
		{[]string{"--file", app, "x*"}, "has no structure whose name fits x*"},
		{[]string{"--file", app, "x[*"}, "x[* is no pattern"},
		{[]string{"--contains", "no_such_thing_t"}, "has no type no_such_thing_t"},
		{[]string{"--sort", "colour"}, `--sort does not know "colour"`},
		{[]string{"-E"}, "no type is named\n  hint: gostap types -E task_struct"},
		{[]string{"--module", "nonesuch"}, `no module "nonesuch"`},
		{[]string{"--colour"}, "gostap types --help lists the options"},
	} {
		if out, errs, status := ran(t, c.args...); status != 1 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%q: %d\n%s%s", c.args, status, out, errs)
		}
	}
}

// row of a table as text: name and size, and the holes.
var rowForm = regexp.MustCompile(`^(.*\S\s+-?\d+)\s+(\d+)$`)

// lines are the rows of a table: the number of holes by "name size", as several structures may have one name.
func lines(t *testing.T, text string) map[string]int {
	t.Helper()
	rows := map[string]int{}
	for line := range strings.Lines(text) {
		m := rowForm.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Fatalf("a row reads %q", line)
		}
		holes, _ := strconv.Atoi(m[2])
		fields := strings.Fields(m[1])
		rows[strings.Join(fields, " ")] = holes
	}
	return rows
}

// pahole runs the peer.
func pahole(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("pahole"); err != nil {
		t.Skip(err)
	}
	out, err := exec.Command("pahole", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestPahole: sizes and holes of all structures of the kernel, of libc and of a Go program are those that pahole tells,
// but where it is known to err.
func TestPahole(t *testing.T) {
	files := []string{"/sys/kernel/btf/vmlinux", built(t, "a.go",
		"package main\nimport \"net/http\"\nfunc main() { http.ListenAndServe(\":0\", nil) }\n", "go", "build")}
	if out, err := exec.Command("readelf", "-n", "/lib/x86_64-linux-gnu/libc.so.6").Output(); err == nil {
		if m := regexp.MustCompile(`Build ID: (..)(\w+)`).FindSubmatch(out); m != nil {
			f := fmt.Sprintf("/usr/lib/debug/.build-id/%s/%s.debug", m[1], m[2])
			if _, err := os.Stat(f); err == nil {
				files = append(files, f)
			} else {
				t.Log("not held against pahole: ", err)
			}
		}
	}
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			t.Log("not held against pahole: ", err)
			continue
		}
		want := lines(t, pahole(t, "-s", f))
		src, err := opened(&options{file: f})
		if err != nil {
			t.Fatal(err)
		}
		defer src.close()
		functions, words := map[string]bool{}, map[string]bool{}
		src.each(func(s debuginfo.Structure) {
			key := strings.Join(strings.Fields(fmt.Sprint(bare(named(s.Type)), " ", s.Type.Size)), " ")
			for _, m := range s.Type.Fields() {
				functions[key] = functions[key] || m.Type.Kind == types.GoFunc
			}
			for _, h := range find(s.Type).before {
				words[key] = words[key] || h.bits > 0 && h.bytes > 0
			}
		})
		out, errs, status := ran(t, "--file", f)
		if status != 0 {
			t.Fatalf("%s: %s", f, errs)
		}
		got := lines(t, out)
		other := 0
		for name, w := range want {
			g, ok := got[name]
			switch {
			case !ok:
				t.Errorf("%s: %s is not told", f, name)
			case g == w:
			case g < w && functions[name]:
				other++ // a function value takes no room there
			case g == w+1 && words[name]:
				other++ // bits of words that overlap, and bytes behind them, are one hole of bits there
			default:
				t.Errorf("%s: %s has %d holes, pahole says %d", f, name, g, w)
			}
		}
		t.Logf("%s: %d structures, %d of them with another number of holes on purpose", f, len(want), other)
		if len(want) < 300 || other > len(want)/10 {
			t.Errorf("%s: %d structures, %d other", f, len(want), other)
		}
	}
}

// offsets reads a declaration: the members at its first level, each as name, offset and size.
func offsets(text string) (out []string) {
	form := regexp.MustCompile(`^\t([^\t/].*);\s*/\*\s*(\d+)(?:: *\d+)?\s+(\d+) \*/$`)
	for line := range strings.Lines(text) {
		m := form.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		name := m[1]
		if i := strings.Index(name, "(*"); i >= 0 { // a pointer to a function
			name = strings.TrimPrefix(strings.TrimLeft(name[i:], "(* "), "const ")
			name = name[:strings.IndexAny(name, ")[")]
		} else {
			name, _, _ = strings.Cut(name, ":")
			name, _, _ = strings.Cut(name, "[")
			name = name[strings.LastIndexAny(name, " }")+1:]
		}
		out = append(out, strings.Join([]string{name, m[2], m[3]}, " "))
	}
	return out
}

// TestOffsets: members of structures of the kernel have the offsets and sizes that pahole tells.
func TestOffsets(t *testing.T) {
	src, err := opened(&options{})
	if err != nil {
		t.Skip(err)
	}
	want := map[string][][]string{} // several structures may have one name
	attribute := regexp.MustCompile(` __attribute__\(\(.*\)\)`)
	for text := range strings.SplitSeq(pahole(t, "/sys/kernel/btf/vmlinux"), "\n}") {
		at := strings.LastIndex(text, "\nstruct ")
		if at < 0 {
			continue
		}
		name, rest, _ := strings.Cut(text[at+len("\nstruct "):], " {")
		want[name] = append(want[name], offsets(attribute.ReplaceAllString(rest, "")))
	}
	same, odd, members := 0, 0, 0
	src.each(func(s debuginfo.Structure) {
		theirs := want[bare(s.Type.Name)]
		if theirs == nil || s.Type.Kind != types.Struct || same+odd >= 4000 {
			return
		}
		if s.Type.Name == "struct orc_entry" {
			return // it is packed: the words that pahole tells its bit fields to be in reach beyond its end
		}
		var b bytes.Buffer
		if err := layout(&b, s, false, false); err != nil {
			t.Error(err)
		}
		g := offsets(b.String())
		if !slices.ContainsFunc(theirs, func(o []string) bool { return slices.Equal(g, o) }) {
			odd++
			t.Errorf("%s\n%q\npahole:\n%q", s.Type.Name, g, theirs)
			return
		}
		same++
		members += len(g)
	})
	t.Logf("%d structures with %d members are the same", same, members)
	if same < 3000 || members < 20000 {
		t.Error("too few")
	}
}

// TestContains: what contains a type is what pahole says, and those that have it in an array or in a structure without
// a name.
func TestContains(t *testing.T) {
	const kernel = "/sys/kernel/btf/vmlinux"
	if _, err := os.Stat(kernel); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"wait_queue_head_t", "list_head", "wait_queue_head", "mutex", "kref"} {
		got := map[string]bool{}
		out, errs, _ := ran(t, "--contains", name)
		for n := range lines(t, out) {
			got[strings.Fields(n)[0]] = true
		}
		n, others, theirs := 0, 0, map[string]bool{}
		for want := range strings.FieldsSeq(pahole(t, "--contains", name, kernel)) {
			if n++; !got[want] {
				t.Errorf("%s contains %s: %s", want, name, errs)
			}
			theirs[want] = true
		}
		for more := range got {
			if theirs[more] {
				continue
			}
			others++
			inner := regexp.MustCompile(`(\t\t(struct )?` + name + ` |\t(struct )?` + name + ` .*\[\d*\];)`)
			if text, _, _ := ran(t, more); !inner.MatchString(text) {
				t.Errorf("%s is said to contain %s\n%s", more, name, text)
			}
		}
		t.Logf("%s: %d, and %d more", name, n, others)
	}
}
