package dw

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gostap/gostap/compiler/foreign"
)

var (
	buildDir string
	built    = map[string]string{}
	buildMu  sync.Mutex
)

func TestMain(m *testing.M) {
	// What Guard catches while sound files are read is a mistake of ours. Tests with broken files
	// switch this off.
	foreign.OnPanic = func(r any) { panic(r) }
	var err error
	if buildDir, err = os.MkdirTemp("", "dw"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(buildDir)
	os.Exit(code)
}

// tolerant lets Guard work as it does in production, for the rest of the test.
func tolerant(tb testing.TB) {
	old := foreign.OnPanic
	foreign.OnPanic = nil
	tb.Cleanup(func() { foreign.OnPanic = old })
}

// run runs a command in the build directory.
func run(tb testing.TB, name string, args ...string) string {
	tb.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = buildDir
	b, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%s %v: %v\n%s", name, args, err, b)
	}
	return string(b)
}

// gcc compiles a file of testdata with flags, once.
func gcc(tb testing.TB, flags, src string) string {
	tb.Helper()
	buildMu.Lock()
	defer buildMu.Unlock()
	key := flags + " " + src
	if p := built[key]; p != "" {
		return p
	}
	abs, err := filepath.Abs(filepath.Join("testdata", src))
	if err != nil {
		tb.Fatal(err)
	}
	out := filepath.Join(buildDir, strings.NewReplacer(" ", "", ",", "", "=", "", ".", "").Replace(key))
	run(tb, "gcc", append(strings.Fields(flags), "-w", "-o", out, abs)...)
	built[key] = out
	return out
}

// goprog builds a Go program of testdata, once.
func goprog(tb testing.TB, flags, src string) string {
	tb.Helper()
	buildMu.Lock()
	defer buildMu.Unlock()
	key := "go " + flags + " " + src
	if p := built[key]; p != "" {
		return p
	}
	abs, err := filepath.Abs(filepath.Join("testdata", src))
	if err != nil {
		tb.Fatal(err)
	}
	out := filepath.Join(buildDir, strings.NewReplacer(" ", "", "=", "", ".", "").Replace(key))
	args := []string{"build", "-o", out}
	if flags != "" {
		args = append(args, flags)
	}
	run(tb, "go", append(args, abs)...)
	built[key] = out
	return out
}

func openFile(tb testing.TB, path string) *File {
	tb.Helper()
	f, err := OpenELF(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

func openDwarf(tb testing.TB, path string) *Data {
	tb.Helper()
	d, err := openFile(tb, path).Data()
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = buildDir
	return cmd
}

// explore asks a File for everything, for its panics.
func explore(f *File) {
	f.Symbols()
	f.SymbolAt(0x1139)
	f.BuildID()
	f.FileOffset(0x1139)
	for _, s := range f.elf.Sections {
		f.Section(s.Name)
	}
	pcs := []uint64{0x1139, 0x1140, 0x401126}
	for _, s := range f.SymbolsNamed("main") {
		pcs = append(pcs, s.Addr, s.Addr+4)
	}
	for _, pc := range pcs {
		f.Frame(pc)
		f.Unwind(pc)
	}
	d, err := f.Data()
	if err != nil {
		return
	}
	units, _ := d.Units()
	for _, u := range units {
		u.Entry()
		u.Producer()
		u.Rows()
		u.Files()
	}
	for _, pc := range pcs {
		u, t, err := d.FuncTree(pc)
		if err != nil || t == nil {
			continue
		}
		u.RowAt(pc)
		InlineStack(t, pc)
		env := u.Env(t, pc)
		for _, v := range AllVars(t) {
			if ty, err := d.TypeOf(v); err == nil {
				u.VarPlace(v, ty, env, pc)
				u.LiveLines(v, t)
			}
		}
	}
	if ty, err := d.NamedType("struct outer"); err == nil {
		for _, f := range ty.Fields() {
			f.Type.Elem()
			f.Type.Fields()
			f.Type.Enums()
		}
	}
	d.NamedType("main.All")
	d.EnumWith("RED")
	d.FindGlobals("one")
	d.FindFuncs(func([]byte) bool { return true })
}
