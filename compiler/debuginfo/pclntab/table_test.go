package pclntab

import (
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// plainFile reads an ELF file with the standard library alone.
type plainFile struct{ f *elf.File }

func (p plainFile) ELF() *elf.File { return p.f }

func (p plainFile) Section(name string) ([]byte, error) {
	s := p.f.Section(name)
	if s == nil {
		return nil, errors.New("no section " + name)
	}
	return s.Data()
}

func (p plainFile) Bytes(addr uint64, n int) ([]byte, error) {
	for _, g := range p.f.Progs {
		if g.Type == elf.PT_LOAD && addr >= g.Vaddr && addr-g.Vaddr < g.Filesz {
			b := make([]byte, min(uint64(n), g.Filesz-(addr-g.Vaddr)))
			_, err := g.ReadAt(b, int64(addr-g.Vaddr))
			return b, err
		}
	}
	return nil, fmt.Errorf("no address %#x", addr)
}

var fixtures sync.Map

// build builds testdata/prog.go once for each set of flags.
func build(t testing.TB, flags ...string) string {
	key := strings.Join(flags, " ")
	f, _ := fixtures.LoadOrStore(key, sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", "pclntab")
		if err != nil {
			return "", err
		}
		dirs = append(dirs, dir)
		out := filepath.Join(dir, "prog")
		args := append(append([]string{"build", "-trimpath=false", "-o", out}, flags...),
			"testdata/prog.go")
		b, err := exec.Command("go", args...).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%v: %s", err, b)
		}
		return out, nil
	}))
	path, err := f.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var dirs []string

func TestMain(m *testing.M) {
	code := m.Run()
	for _, d := range dirs {
		os.RemoveAll(d)
	}
	os.Exit(code)
}

func open(t testing.TB, path string) (*Table, plainFile) {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	tab, err := Open(plainFile{f})
	if err != nil {
		t.Fatal(err)
	}
	return tab, plainFile{f}
}

var variants = map[string][]string{
	"default":      {},
	"stripped":     {"-ldflags=-s -w"},
	"pie":          {"-buildmode=pie"},
	"pie stripped": {"-buildmode=pie", "-ldflags=-s -w"},
	"external":     {"-ldflags=-linkmode=external"},
	"ext pie s":    {"-buildmode=pie", "-ldflags=-linkmode=external -s -w"},
}

// TestAgainstGosym compares every function with the standard library's reader.
func TestAgainstGosym(t *testing.T) {
	for name, flags := range variants {
		t.Run(name, func(t *testing.T) {
			tab, f := open(t, build(t, flags...))
			data, err := f.Section(".gopclntab")
			if err != nil {
				t.Fatal(err)
			}
			ref, err := gosym.NewTable(nil, gosym.NewLineTable(data, tab.Text()))
			if err != nil {
				t.Fatal(err)
			}
			if tab.Len() != len(ref.Funcs) || tab.Len() < 1000 {
				t.Fatalf("%d functions, want %d", tab.Len(), len(ref.Funcs))
			}
			for i, fn := range ref.Funcs {
				if tab.Name(i) != fn.Name || tab.Entry(i) != fn.Entry || tab.End(i) != fn.End {
					t.Fatalf("function %d is %s %#x-%#x, want %s %#x-%#x", i, tab.Name(i), tab.Entry(i), tab.End(i),
						fn.Name, fn.Entry, fn.End)
				}
				if tab.Find(fn.Entry) != i || tab.Find(fn.End-1) != i {
					t.Fatalf("Find(%#x) = %d, want %d", fn.Entry, tab.Find(fn.Entry), i)
				}
				file, line, _ := ref.PCToLine(fn.Entry)
				line = max(line, 0) // the marks at the ends of the code have none
				if f, l := tab.Line(i, fn.Entry); f != file || l != line || tab.File(i) != file {
					t.Fatalf("%s is at %s:%d, want %s:%d", fn.Name, f, l, file, line)
				}
				if !strings.HasPrefix(fn.Name, "main.") && i%16 != 0 {
					continue
				}
				last := fn.Entry
				for _, r := range tab.Rows(i) {
					if r.Lo != last || r.Hi <= r.Lo {
						t.Fatalf("%s: rows are not contiguous at %#x", fn.Name, r.Lo)
					}
					last = r.Hi
					for _, pc := range []uint64{r.Lo, r.Hi - 1} {
						file, line, _ := ref.PCToLine(pc)
						line = max(line, 0)
						if r.File != file || r.Line != line {
							t.Fatalf("%s: %#x is %s:%d, want %s:%d", fn.Name, pc, r.File, r.Line, file, line)
						}
					}
				}
				// Padding belongs to no line.
				if last != tab.CodeEnd(i) || last > fn.End || fn.End-last >= 64 {
					t.Fatalf("%s: rows end at %#x, code at %#x, function at %#x", fn.Name, last, tab.CodeEnd(i), fn.End)
				}
			}
			if tab.Find(tab.Entry(0)-1) != -1 || tab.Find(tab.Entry(tab.Len())) != -1 {
				t.Error("Find outside of the code")
			}
		})
	}
}

func TestNamed(t *testing.T) {
	tab, _ := open(t, build(t))
	one := func(name string) int {
		l := tab.Named(name)
		if len(l) != 1 || tab.Name(l[0]) != name {
			t.Fatalf("Named(%q) = %v", name, l)
		}
		return l[0]
	}
	i := one("main.(*T).Method")
	if file := tab.File(i); !strings.HasSuffix(file, "/testdata/prog.go") {
		t.Errorf("file %q", file)
	}
	if l := tab.StartLine(i); l != 16 {
		t.Errorf("starts at line %d, want 16", l)
	}
	one("main.Map[go.shape.int]")
	one("main.main.func1")
	for _, no := range []string{"", "main.(*T).Metho", "ain.main", "main.inner", "main.main\x00"} {
		if l := tab.Named(no); l != nil {
			t.Errorf("Named(%q) = %v", no, l)
		}
	}
	sel := tab.Select(func(n []byte) bool { return strings.HasPrefix(string(n), "main.Map[") })
	if len(sel) != 2 {
		t.Errorf("selected %v", sel)
	}
	if d := tab.DeferReturn(one("main.deferring")); d <= tab.Entry(one("main.deferring")) {
		t.Errorf("deferreturn of main.deferring at %#x", d)
	}
	if tab.DeferReturn(i) != 0 {
		t.Error("main.(*T).Method has a deferreturn")
	}
	if tab.Flags(one("runtime.goexit"))&(FlagAsm|FlagTopFrame) != FlagAsm|FlagTopFrame {
		t.Errorf("flags of runtime.goexit %#x", tab.Flags(one("runtime.goexit")))
	}
	found := false
	tab.Names(func(n []byte) bool { found = string(n) == "main.inner"; return !found })
	if !found {
		t.Error("main.inner, which exists only inlined, has no name")
	}
}

func TestSelectFiles(t *testing.T) {
	tab, _ := open(t, build(t))
	in := map[string]bool{}
	for _, i := range tab.SelectFiles(func(n []byte) bool {
		return strings.HasSuffix(string(n), "/testdata/prog.go")
	}) {
		in[tab.Name(i)] = true
	}
	if !in["main.caller"] || !in["main.(*T).Method"] || in["runtime.main"] || len(in) < 5 || len(in) > 12 {
		t.Errorf("functions with code of prog.go: %v", in)
	}
	if l := tab.SelectFiles(func(n []byte) bool { return false }); l != nil {
		t.Errorf("nothing wanted: %v", l)
	}
	var files int
	tab.Files(func(n []byte) bool { files++; return true })
	if files < 50 {
		t.Errorf("%d files", files)
	}
}

// TestInlined checks the tree main.caller <- main.middle <- main.inner.
func TestInlined(t *testing.T) {
	for name, flags := range variants {
		t.Run(name, func(t *testing.T) {
			tab, _ := open(t, build(t, flags...))
			hosts := tab.SelectInlined(func(n []byte) bool { return string(n) == "main.inner" })
			if len(hosts) != 1 || tab.Name(hosts[0]) != "main.caller" {
				t.Fatalf("inlined in %v", hosts)
			}
			calls, ok := tab.Inlined(hosts[0])
			if !ok || len(calls) != 2 {
				t.Fatalf("calls %v", calls)
			}
			var inner, middle int
			for i, c := range calls {
				switch c.Name {
				case "main.inner":
					inner = i
				case "main.middle":
					middle = i
				}
			}
			if calls[inner].Parent != middle || calls[middle].Parent != -1 {
				t.Errorf("parents: %+v", calls)
			}
			if calls[inner].StartLine != 28 || calls[middle].StartLine != 30 {
				t.Errorf("start lines: %+v", calls)
			}
			if len(calls[inner].Ranges) == 0 {
				t.Fatalf("no ranges: %+v", calls)
			}
			pc := calls[inner].Ranges[0][0]
			var got []string
			for _, f := range tab.Frames(hosts[0], pc) {
				got = append(got, fmt.Sprintf("%s:%d", f.Name, f.Line))
			}
			if want := []string{"main.inner:28", "main.middle:30", "main.caller:33"}; !reflect.DeepEqual(got, want) {
				t.Errorf("frames %v, want %v", got, want)
			}
			if f := tab.Frames(hosts[0], tab.End(hosts[0])); f != nil {
				t.Errorf("frames behind the end: %v", f)
			}
		})
	}
}

func TestArgs(t *testing.T) {
	for name, flags := range variants {
		t.Run(name, func(t *testing.T) {
			tab, _ := open(t, build(t, flags...))
			for fn, want := range map[string]string{
				"main.(*T).Method":       "[{0 8} {8 8}] true true",
				"main.deferring":         "[{0 8} {8 8}] true true",
				"main.Map[go.shape.int]": "[{8 8} {16 8} {24 8} {32 8}] true true",
				"runtime.memmove":        "[] false false",
				"fmt.Fprintln":           "[{0 8} {8 8} {16 8} {24 8} {32 8}] true true",
			} {
				args, all, ok := tab.Args(tab.Named(fn)[0])
				if g := fmt.Sprint(args, all, ok); g != want {
					t.Errorf("%s: %s, want %s", fn, g, want)
				}
			}
		})
	}
}

// TestFramesAgainstRuntime compares this test's own stack with what the runtime says.
func TestFramesAgainstRuntime(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tab, _ := open(t, exe)
	pcs := make([]uintptr, 64)
	deep(func() { pcs = pcs[:runtime.Callers(1, pcs)] })
	// The test binary may be relocated; its own function tells by how much.
	here := runtime.FuncForPC(reflect.ValueOf(deep).Pointer())
	bias := uint64(here.Entry()) - tab.Entry(tab.Named(here.Name())[0])
	var want, got []string
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		want = append(want, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
		if !more {
			break
		}
	}
	// Callers gives one pc for each logical frame, inlined ones included: take the physical ones.
	last := -1
	for _, pc := range pcs {
		a := uint64(pc) - 1 - bias
		i := tab.Find(a)
		if i == last {
			continue
		}
		last = i
		for _, f := range tab.Frames(i, a) {
			got = append(got, fmt.Sprintf("%s %s:%d", f.Name, f.File, f.Line))
		}
	}
	if len(want) < 4 || !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func deep(f func()) { shallow(f) }

func shallow(f func()) { f() }

func TestRefused(t *testing.T) {
	hdr := func(magic uint32) []byte {
		b := make([]byte, 80)
		le.PutUint32(b, magic)
		b[6], b[7] = 1, 8
		return b
	}
	for _, c := range []struct {
		name string
		tab  []byte
		want error
	}{
		{"empty", nil, ErrCorrupt},
		{"1.2", hdr(0xfffffffb), ErrVersion},
		{"other", hdr(0x12345678), ErrVersion},
		{"32 bits", append([]byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 4}, make([]byte, 72)...), ErrCorrupt},
		{"short", hdr(0xfffffff1)[:40], ErrCorrupt},
		{"functions", func() []byte { b := hdr(0xfffffff1); b[8] = 200; return b }(), ErrCorrupt},
	} {
		if _, err := New(c.tab, 0, 0, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	self, err := elf.Open("/bin/ls")
	if err != nil {
		t.Skip(err)
	}
	defer self.Close()
	if _, err := Open(plainFile{self}); !errors.Is(err, ErrNone) {
		t.Errorf("a C program: %v", err)
	}
}
