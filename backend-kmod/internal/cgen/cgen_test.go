package cgen

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/kmod"
	"github.com/gostap/gostap/runtime/wire"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden compares the C of the programs in testdata.
func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.ir")
	if len(files) == 0 {
		t.Fatal("no programs")
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			u, ds := Generate(irtest.Parse(t, string(b)), Options{Name: "golden"})
			if ds.HasErrors() {
				t.Fatal(ds[0].Message)
			}
			golden := strings.TrimSuffix(f, ".ir") + ".c"
			if *update {
				if err := os.WriteFile(golden, []byte(u.C), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if u.C != string(want) {
				t.Errorf("the C differs from %s (-update writes it):\n%s", golden, u.C)
			}
		})
	}
}

// TestRefused checks that what a module cannot do is refused with words.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"register": {"probe \"p\" {\n site uprobe path=\"/a\" offset=16\n long r0\nb0:\n r0 = reg 40\n end\n}",
			"register 40"},
		"tp regs": {"probe \"p\" {\n site tracepoint event=\"a:b\"\n long r0\nb0:\n r0 = reg 0\n end\n}",
			"no registers"},
		"nesting": {"limits MAXNESTING=1000\nfunc f(r0) recursive {\n long r0\nb0:\n call f(r0)\n return\n}\nprobe " +
			"\"p\" {\n site uprobe path=\"/a\" offset=16\nb0:\n call f(1)\n end\n}", "kernel's stack"},
	} {
		t.Run(name, func(t *testing.T) {
			_, ds := Generate(irtest.Parse(t, c.text), Options{Name: "m"})
			if !ds.HasErrors() || !strings.Contains(ds[0].Message, c.want) {
				t.Errorf("want %q, got %v", c.want, ds)
			}
		})
	}
}

// TestDeferred: what only the host can do is sent to it, with what was read at the probed place.
func TestDeferred(t *testing.T) {
	const head = "global st stats hist_log\nglobal a long [long] size 4\nglobal s string 40\n"
	const site = "probe \"p\" {\n site uprobe path=\"/a\" offset=16\n"
	for name, c := range map[string]struct {
		text string
		args []wire.Arg
		says string
	}{
		"histogram": {head + site + "b0:\n printhist 0 @st\n end\n}", nil, "gs_emit(GS_DEFERRED"},
		"host": {head + site + " long r0\n string r1 20\nb0:\n r0 = reg 3\n r1 = sprint \"kill %d\"(r0)\n intr " +
			"system(r1)\n end\n}", []wire.Arg{{Kind: wire.Text}}, "hit->regs->bx"},
		"lazy": {head + site + " string r0 40\nb0:\n r0 = intr usymname(5)\n gset @s, r0\n end\n}",
			[]wire.Arg{{Kind: wire.Sym, Lazy: wire.SymName}}, "gs_pid()"},
		"matched": {head + site + " long r0, r2\n string r1 20\nb0:\n r0 = reg 0\n r1 = intr user_string(r0)\n r2 = " +
			"match \"a(b)\"(r1)\n r1 = intr matched(1)\n print \"%s\"(r1)\n end\n}", []wire.Arg{{Kind: wire.Text}},
			"gs_string(c"},
		"foreach": {head + "func f(r0) recursive {\n long r0, r1\nb0:\n iteropen i0 @a\n r1 = iternext i0 @a\n call " +
			"f(r1)\n return\n}\n" + site + " long r0\nb0:\n r0 = reg 0\n call f(r0)\n end\n}",
			[]wire.Arg{{Kind: wire.Int}}, "hit->regs->ax"},
	} {
		t.Run(name, func(t *testing.T) {
			u, ds := Generate(irtest.Parse(t, c.text), Options{Name: "m"})
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			if len(u.Deferred) != 1 || len(u.Schema.Captures) != 1 || !strings.Contains(u.C, c.says) ||
				!strings.Contains(u.C, "gs_emit(GS_DEFERRED") {
				t.Fatalf("%d bodies, %d captures\n%s", len(u.Deferred), len(u.Schema.Captures), u.C)
			}
			if got := u.Schema.Captures[0].Args; !slices.Equal(got, c.args) {
				t.Errorf("sends %v, want %v", got, c.args)
			}
			per := 1
			if u.Schema.Captures[0].Faults {
				per = 2
			}
			if n := len(u.Deferred[0].Params); n != per*len(c.args) {
				t.Errorf("the host's part takes %d values", n)
			}
		})
	}
	// What changes the program happens at once.
	_, ds := Generate(irtest.Parse(t, head+site+"b0:\n setreg 0, 1\n printhist 0 @st\n end\n}"), Options{Name: "m"})
	if !ds.HasErrors() || !strings.Contains(ds[0].Message, "changes the traced program") {
		t.Errorf("%v", ds)
	}
}

// TestIntrinsics walks the rows: each is translated, or made on the host, or the row says that a module refuses it.
// What only the host runs is translated where a begin handler in the module may come to it.
func TestIntrinsics(t *testing.T) {
	for _, f := range intrinsic.All() {
		want := f.Where == intrinsic.PrintOnly || f.Where == intrinsic.Anywhere && f.Refused&intrinsic.Module == 0
		if got := Translates(f.Name); got != want && f.Where != intrinsic.HostOnly {
			t.Errorf("%s: translated %v, its row says %v", f.Name, got, want)
		}
	}
	for name := range intrinsics {
		if intrinsic.Lookup(name) == nil {
			t.Errorf("%s is translated, but in no row", name)
		}
	}
}

// goImage is an image of which only the language is asked.
type goImage struct{ debuginfo.Image }

func (goImage) Lang() debuginfo.Lang { return debuginfo.Go }

func (goImage) Machine() *machine.Machine { return machine.AMD64 }

// TestIntrinsicsCompile compiles a call of every intrinsic that is translated.
func TestIntrinsicsCompile(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	b := ir.NewBuilder("")
	for _, f := range intrinsic.All() {
		if f.Where != intrinsic.Anywhere || !Translates(f.Name) {
			continue
		}
		if f.Name == overriding || f.Name == "set_call_word" {
			continue // these are for the kernel: TestGuruModule and TestChangedCalls of tests/vm
		}
		var args []ir.Val
		for _, p := range f.Params {
			switch {
			case f.Name == "register" || f.Name == "u_register":
				args = append(args, ir.S("rax"))
			case f.Name == "table_text" && p == types.String:
				args = append(args, ir.S("one\ntwo\n"))
			case p == types.String:
				r := b.Str("s", 20)
				b.Mov(r, ir.S("text"))
				args = append(args, ir.R(r))
			default:
				args = append(args, ir.I(8))
			}
		}
		for _, keep := range []bool{true, false} {
			dst := ir.NoReg
			if keep && f.Result != types.Unknown {
				dst = b.Reg("r", f.Result, 30)
			}
			if f.Name == "error" || f.Name == "abort" {
				ok := b.Block()
				bad := b.Block()
				b.Branch(b.Bin(ir.OpEq, ir.I(1), ir.I(1)), ok, bad)
				b.SetBlock(bad)
				b.Intr(f.Name, dst, args...)
				b.End()
				b.SetBlock(ok)
				continue
			}
			b.Intr(f.Name, dst, args...)
		}
	}
	b.End()
	p := irtest.Parse(t, "probe \"p\" {\n site uprobe path=\"/a\" offset=16\nb0:\n end\n}")
	p.Probes[0].Handler = b.Finish()
	for _, s := range p.Probes[0].Sites {
		s.Image, s.At.Func = goImage{}, &debuginfo.Func{} // where frame pointers lead to callers
	}
	if err := ir.Verify(p); err != nil {
		t.Fatal(err)
	}
	c, _, _, refused := cprog(p)
	if refused {
		t.Fatal("refused")
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/main.c", []byte(c+"\nint main(void) { return run(); }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(build(t, dir, "main.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestThreads runs the map, the aggregates and the locks from four threads under the thread sanitizer, each thread as a
// CPU of its own.
func TestThreads(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, kmod.Headers); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile("testdata/threads.c")
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(dir+"/threads.c", src, 0o644)
	gcc := exec.Command("gcc", "-std=gnu11", "-O1", "-g", "-Wall", "-Wno-unused-function", "-fwrapv",
		"-fsanitize=thread", "-o", "threads", "threads.c", "-lpthread")
	gcc.Dir = dir
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	// Without address randomisation: older sanitizers do not know all layouts.
	out, err := exec.Command("setarch", "-R", dir+"/threads").CombinedOutput()
	if err != nil || strings.Contains(string(out), "WARNING: ThreadSanitizer") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestNamesInFunctions: a function that several probes call is told the names of the site by the handler.
func TestNamesInFunctions(t *testing.T) {
	const text = "func f(r0) recursive {\n long r0\n string r1 40, r2 40\nb0:\n r1 = site ppfunc\n r2 = site pp\n " +
		"print \"%s %s\"(r1, r2)\n call f(r0)\n return\n}\n" + "probe \"p\" {\n site uprobe path=\"/a\" offset=16 " +
		"point=\"one\" func=\"fa\"\n site uprobe path=\"/a\" offset=32 point=\"two\" func=\"fb\"\nb0:\n call f(1)" +
		"\n end\n}"
	u, ds := Generate(irtest.Parse(t, text), Options{Name: "m"})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, want := range []string{`hit->name[0] = `, `hit->name[2] = `, `"one"`, `"fb"`, `gs_copy(`} {
		if !strings.Contains(u.C, want) {
			t.Errorf("no %s in\n%s", want, u.C)
		}
	}
	if strings.Contains(u.C, "hit->name[1] = ") {
		t.Error("pn() is told, and nobody asks")
	}
}
