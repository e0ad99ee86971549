package cdwarf

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/types"
)

func names(fs []*debuginfo.Func) (out []string) {
	for _, f := range fs {
		out = append(out, f.Name)
	}
	return out
}

func TestFuncs(t *testing.T) {
	for name := range builds {
		im := open(t, build(t, name))
		fs, err := im.Funcs("r[bfl]*")
		if want := []string{"rbig", "rbool", "rfl", "rfloat", "rld"}; err != nil || !slices.Equal(names(fs), want) {
			t.Errorf("%s: %v, %v", name, names(fs), err)
		}
		for _, f := range fs {
			if !strings.HasSuffix(f.File, "testdata/callee.c") || f.Line == 0 || f.End <= f.Entry || !f.External ||
				f.ABI != debuginfo.SysV {
				t.Errorf("%s: %+v", name, f)
			}
			if im.FuncAt(f.Entry) != f || im.FuncAt(f.End-1) != f {
				t.Errorf("%s: %s is not found at its own address", name, f.Name)
			}
		}
		if fs, err := im.Funcs("helper"); err != nil || len(fs) != 2 || fs[0].External || fs[0].File == fs[1].File {
			t.Errorf("%s: helper: %v, %v", name, fs, err)
		}
		all, err := im.Funcs("*")
		if err != nil || !slices.IsSortedFunc(all, func(a, b *debuginfo.Func) int {
			return strings.Compare(a.Name, b.Name)
		}) {
			t.Errorf("%s: *: %v, %v", name, names(all), err)
		}
		for _, n := range []string{"_start", "_init", "frame_dummy"} {
			if slices.Contains(names(all), n) {
				t.Errorf("%s: * matches %s", name, n)
			}
		}
		if fs, err := im.Funcs("_start"); err != nil || len(fs) != 1 {
			t.Errorf("%s: _start: %v, %v", name, fs, err)
		}
		var nf *debuginfo.NotFoundError
		if fs, err := im.Funcs("blokcs"); !errors.As(err, &nf) || !slices.Contains(nf.Near, "blocks") {
			t.Errorf("%s: %v, %v", name, fs, err)
		}
		if s := im.FuncAt(0x10); s != nil {
			t.Errorf("%s: function at 0x10: %+v", name, s)
		}
	}
	im := open(t, build(t, "O0"))
	fs, err := im.Funcs("also")
	if err != nil || len(fs) != 1 || fs[0].Entry != one(t, im, "oneline").Entry {
		t.Fatalf("alias: %v, %v", fs, err)
	}
	s, err := im.EntrySite(fs[0])
	if err != nil || s.Func != fs[0] {
		t.Fatal(s, err)
	}
	if v, err := im.Var(s, "a"); err != nil || v.Type.Name != "int" {
		t.Errorf("parameter by the alias: %v, %v", v, err)
	}
}

func TestEntrySites(t *testing.T) {
	im := open(t, build(t, "O0"))
	for name, behind := range map[string]bool{"many": false, "floats": true, "loopfirst": false, "rvoid": false,
		"structs": true} {
		f := one(t, im, name)
		s, err := im.EntrySite(f)
		if err != nil || (s.PC > f.Entry) != behind {
			t.Errorf("%s at %#x is probed at %#x, %v", name, f.Entry, s.PC, err)
		}
		if !behind && s.Insn != debuginfo.InsnPush {
			t.Errorf("%s: %v under the probe", name, s.Insn)
		}
	}
	im = open(t, build(t, "O0-cet"))
	f := one(t, im, "many")
	if s, err := im.EntrySite(f); err != nil || s.PC != f.Entry+4 || s.Insn != debuginfo.InsnPush {
		t.Errorf("behind endbr64: %+v, %v", s, err)
	}
	if s, err := im.SiteAt(f.Entry + 1); err == nil {
		t.Errorf("a site within an instruction: %+v", s)
	}
	s, err := im.SiteAt(f.Entry)
	if err != nil || s.Kind != debuginfo.AtEntry || s.Line != f.Line+1 {
		t.Errorf("%+v, %v", s, err)
	}
	if off, err := im.FileOffset(s.PC); err != nil || off == 0 {
		t.Errorf("offset %#x, %v", off, err)
	}
}

func TestGlobals(t *testing.T) {
	for name := range builds {
		im := open(t, build(t, name))
		s, err := im.EntrySite(one(t, im, "useall"))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		live(t, im.f, map[uint64]func(*state){s.PC: func(st *state) {
			for _, n := range []string{"counter", "tls_first", "tls_second", "hidden@callee.c", "hidden@main.c", "head",
				"sink"} {
				v, err := im.Global(n)
				if err != nil && name == "O2-lto" && n == "head" && strings.Contains(err.Error(), "optimised out") {
					found[n] = `->{val=11 name="first"` // written and never read
					continue
				}
				if err != nil {
					t.Errorf("%s: %s: %v", name, n, err)
					continue
				}
				b, err := st.bytes(v.Place)
				if err != nil {
					t.Errorf("%s: %s: %v", name, n, err)
				}
				found[n] = show(st, v.Type, b)
			}
			if v, err := im.Var(s, "hidden"); err != nil {
				t.Errorf("%s: hidden: %v", name, err)
			} else if b, _ := st.bytes(v.Place); show(st, v.Type, b) != "100" {
				t.Errorf("%s: hidden is another unit's", name)
			}
		}})
		for n, want := range map[string]string{"counter": "11", "tls_first": "3", "tls_second": "44",
			"hidden@callee.c": "100", "hidden@main.c": "200"} {
			if found[n] != want {
				t.Errorf("%s: %s is %s, want %s", name, n, found[n], want)
			}
		}
		if !strings.HasPrefix(found["head"], `->{val=11 name="first"`) {
			t.Errorf("%s: head is %s", name, found["head"])
		}
	}
	im := open(t, build(t, "O2"))
	if v, err := im.Global("hidden"); err == nil || !strings.Contains(err.Error(), "several units") ||
		!strings.Contains(err.Error(), "hidden@") {
		t.Errorf("hidden: %v, %v", v, err)
	}
	var nf *debuginfo.NotFoundError
	if v, err := im.Global("countr"); !errors.As(err, &nf) || !slices.Contains(nf.Near, "counter") {
		t.Errorf("countr: %v, %v", v, err)
	}
}

func TestVariableErrors(t *testing.T) {
	im := open(t, build(t, "O2"))
	f := one(t, im, "blocks")
	entry, err := im.EntrySite(f)
	if err != nil {
		t.Fatal(err)
	}
	ret := debuginfo.Site{PC: f.Entry, Kind: debuginfo.AfterRet, Func: f}
	for _, c := range []struct {
		site debuginfo.Site
		name string
		want string
	}{
		{entry, "totl", `no variable "totl"; total`},
		{entry, "t", "it belongs to a block that begins at line"},
		{entry, "w", "it belongs to the inlined function twice"},
		{entry, "return", "a result exists at .return only"},
		{ret, "n", "@entry($n)"},
		{ret, "total", "the function has returned"},
	} {
		v, err := im.Var(c.site, c.name)
		text := fmt.Sprint(err)
		var nf *debuginfo.NotFoundError
		if errors.As(err, &nf) {
			text += "; " + strings.Join(nf.Near, ", ")
		}
		if err == nil || !strings.Contains(text, c.want) {
			t.Errorf("%s: %+v, %s", c.name, v, text)
		}
	}
	if v, err := im.Var(ret, "return"); err != nil || v.Type.Name != "int" || v.Kind != debuginfo.Result {
		t.Errorf("return: %+v, %v", v, err)
	}
	if v, err := im.Var(ret, "counter"); err != nil || v.Kind != debuginfo.GlobalVar {
		t.Errorf("a global behind the return: %+v, %v", v, err)
	}
	im = open(t, build(t, "O0"))
	h := one(t, im, "fact")
	// Within the prologue the parameter is in neither place.
	s, err := im.SiteAt(h.Entry + 1)
	if err != nil {
		t.Fatal(err)
	}
	var nl *debuginfo.NotLiveError
	if v, err := im.Var(s, "n"); !errors.As(err, &nl) || !strings.Contains(nl.Reason, "not stored it yet") {
		t.Errorf("n in the prologue: %+v, %v", v, err)
	}
	// A local before its declaration.
	s, err = im.EntrySite(one(t, im, "oneline"))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := im.Var(s, "x"); !errors.As(err, &nl) {
		t.Errorf("x at the entry: %+v, %v", v, err)
	}
}

func TestTypes(t *testing.T) {
	im := open(t, build(t, "O2"))
	n, err := im.Type("struct node")
	if err != nil || n.Kind != types.Struct {
		t.Fatal(n, err)
	}
	op := n.Fields()[5]
	if op.Name != "op" || op.Type.Elem().Name != "struct opaque" || len(op.Type.Elem().Fields()) != 1 ||
		op.Type.Elem().Size != 4 {
		t.Errorf("a struct that another unit defines: %+v", op.Type.Elem())
	}
	if _, err := im.Type("struct nod"); err == nil {
		t.Error("struct nod was found")
	}
}

// Without DWARF there are names.
func TestStripped(t *testing.T) {
	full := build(t, "O2")
	dir := t.TempDir()
	out := filepath.Join(dir, "g")
	if b, err := exec.Command("strip", "-g", "-o", out, full).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, b)
	}
	im := open(t, out)
	if im.HasTypes() || !strings.Contains(im.NoTypes(), "stripped") {
		t.Errorf("types: %v, %q", im.HasTypes(), im.NoTypes())
	}
	f := one(t, im, "many")
	s, err := im.EntrySite(f)
	if err != nil || s.PC != f.Entry || f.End <= f.Entry {
		t.Fatal(s, err)
	}
	if _, err := im.Vars(s); !errors.Is(err, debuginfo.ErrNoTypes) {
		t.Errorf("variables: %v", err)
	}
	if _, err := im.Var(s, "a"); !errors.Is(err, debuginfo.ErrNoTypes) {
		t.Errorf("variable: %v", err)
	}
	if _, err := im.LineSites(debuginfo.LineQuery{Func: "*", File: "callee.c", Line: 20}); !errors.Is(err,
		debuginfo.ErrNoTypes) {
		t.Errorf("lines: %v", err)
	}
	if _, err := im.Global("counter"); !errors.Is(err, debuginfo.ErrNoTypes) {
		t.Errorf("global: %v", err)
	}
	if fr := im.Lookup(f.Entry + 5); len(fr) != 1 || fr[0].Func != "many" || fr[0].Off != 5 {
		t.Errorf("frames %+v", fr)
	}
	hits := 0
	live(t, im.f, map[uint64]func(*state){s.PC: func(*state) { hits++ }})
	if hits != 1 {
		t.Errorf("%d hits", hits)
	}
	bare := filepath.Join(dir, "s")
	if b, err := exec.Command("strip", "-o", bare, full).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, b)
	}
	im = open(t, bare)
	var nf *debuginfo.NotFoundError
	if _, err := im.Funcs("many"); !errors.As(err, &nf) {
		t.Errorf("functions without symbols: %v", err)
	}
}

// The C library: no DWARF, aliases, indirect functions, a dynamic symbol table only.
func TestLibrary(t *testing.T) {
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	if _, err := os.Stat(libc); err != nil {
		t.Skip(err)
	}
	im := open(t, libc)
	f := one(t, im, "malloc")
	if s, err := im.EntrySite(f); err != nil || s.PC < f.Entry {
		t.Errorf("%+v, %v", s, err)
	}
	var nf *debuginfo.NotFoundError
	if fs, err := im.Funcs("memcpy"); !errors.As(err, &nf) || !strings.Contains(nf.Detail, "indirect") {
		if len(fs) != 1 || fs[0].Entry == 0 {
			t.Errorf("memcpy: %v, %v", fs, err)
		}
	}
	if fs, err := im.Funcs("str*"); err != nil || len(fs) < 20 {
		t.Errorf("str*: %d, %v", len(fs), err)
	}
}

// A program whose debug information is in .dwo files is read as any other, and says which one is not there.
func TestSplit(t *testing.T) {
	dir := t.TempDir()
	src, err := filepath.Abs("testdata/callee.c")
	if err != nil {
		t.Fatal(err)
	}
	main, _ := filepath.Abs("testdata/main.c")
	for _, v := range []string{"-gdwarf-5", "-gdwarf-4"} {
		cmd := exec.Command("gcc", "-g", v, "-gsplit-dwarf", "-w", "-o", "split"+v, src, main)
		cmd.Dir = dir
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, b)
		}
		im := open(t, filepath.Join(dir, "split"+v))
		s, err := im.EntrySite(one(t, im, "many"))
		if err != nil {
			t.Fatal(err)
		}
		if vars, err := im.Vars(s); err != nil || len(vars) < 6 {
			t.Errorf("%s: %v, %v", v, vars, err)
		}
		// The files that the program names are gone: it says which.
		dwo, err := filepath.Glob(filepath.Join(dir, "*callee.dwo"))
		if err != nil || len(dwo) != 1 {
			t.Fatalf("%q, %v", dwo, err)
		}
		if err := os.Remove(dwo[0]); err != nil {
			t.Fatal(err)
		}
		im = open(t, filepath.Join(dir, "split"+v))
		if s, err = im.EntrySite(one(t, im, "many")); err != nil {
			t.Fatal(err)
		}
		if _, err := im.Vars(s); !errors.Is(err, debuginfo.ErrNoTypes) ||
			!strings.Contains(err.Error(), "-gsplit-dwarf): there is no "+dwo[0]) {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// C++: methods by their plain or linker's names, parameters, and results of class type in registers.
func TestCpp(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "a.cc")
	os.WriteFile(src, []byte(`
namespace ns { struct Box { int v; virtual ~Box() {} int get(int add) const; }; __attribute__((noinline)) int Box::get(int add) const { return v + add; } }
struct Pod { int a; double b; };
template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
__attribute__((noinline)) Pod make(int i) { return Pod{i, i * 2.0}; }
int main() { ns::Box b; b.v = 7; return b.get(3) + (int)make(2).b + twice(4) != 22; }
`), 0o644)
	for _, opt := range []string{"-O0", "-O2"} {
		out := filepath.Join(dir, "cpp"+opt)
		if b, err := exec.Command("g++", "-g", opt, "-o", out, src).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, b)
		}
		im := open(t, out)
		get := one(t, im, "get")
		if get.Symbol != "_ZNK2ns3Box3getEi" || one(t, im, "_ZNK2ns3Box3getEi").Entry != get.Entry {
			t.Errorf("%s: %+v", opt, get)
		}
		one(t, im, "twice<int>")
		s, err := im.EntrySite(get)
		if err != nil {
			t.Fatal(err)
		}
		this, err := im.Var(s, "this")
		if err != nil || this.Type.Kind != types.Pointer || this.Type.Elem().Size != 16 {
			t.Fatalf("%s: this: %+v, %v", opt, this, err)
		}
		add, err := im.Var(s, "add")
		if err != nil {
			t.Fatal(err)
		}
		mk := one(t, im, "make")
		r, err := im.Results(debuginfo.Site{PC: mk.Entry, Kind: debuginfo.AfterRet, Func: mk})
		if err != nil || len(r) != 1 || r[0].Err != nil || len(r[0].Place.Pieces) != 2 {
			t.Errorf("%s: result of class type: %v, %v", opt, r, err)
		}
		hits := 0
		live(t, im.f, map[uint64]func(*state){s.PC: func(st *state) {
			hits++
			if b, err := st.bytes(add.Place); err != nil || show(st, add.Type, b) != "3" {
				t.Errorf("%s: add is %v, %v", opt, b, err)
			}
		}})
		if hits != 1 {
			t.Errorf("%s: %d hits", opt, hits)
		}
	}
}

// Operators of C++ by their names, which have no scopes and may have spaces: with debug information and without.
func TestOperators(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "a.cc")
	os.WriteFile(src, []byte(`
#include <cstdlib>
#include <new>
void *operator new(std::size_t n) { return std::malloc(n); }
void *operator new[](std::size_t n) { return std::malloc(n + 1); }
void operator delete(void *p) noexcept { std::free(p); }
struct Box { int v; bool operator==(const Box &b) const; operator bool() const; };
bool Box::operator==(const Box &b) const { return v == b.v; }
Box::operator bool() const { return v; }
extern "C" int operators(int n) { return n; }
`), 0o644)
	for _, flag := range []string{"-g", "-s"} {
		lib := filepath.Join(dir, "lib"+flag+".so")
		if b, err := exec.Command("g++", "-O2", "-fPIC", "-shared", flag, "-o", lib, src).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, b)
		}
		im := open(t, lib)
		for pattern, want := range map[string]string{
			"operator new*": "operator new, operator new[]", "operator new": "operator new",
			"operator new[]": "operator new[]", "operator delete*": "operator delete",
			"* new*":     "operator new, operator new[]",
			"operator==": "Box::operator==", "operator bool": "Box::operator bool", "operators": "operators",
			"operator*": "Box::operator bool, Box::operator==, operator delete, operator new, operator new[], " +
				"operators",
		} {
			fs, err := im.Funcs(pattern)
			var names []string
			for _, f := range fs {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, ", "); got != want {
				t.Errorf("%s %s: %q, want %q (%v)", flag, pattern, got, want, err)
			}
		}
	}
}
