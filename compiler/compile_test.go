package compiler

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/internal/target/fake"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	cInt  = &types.Ctype{Kind: types.Int, Name: "int", Size: 4, Signed: true}
	cChar = &types.Ctype{Kind: types.Char, Name: "char", Size: 1, Signed: true}
	goInt = &types.Ctype{Kind: types.Int, Name: "int", Size: 8, Signed: true, Go: true}
	goU8  = &types.Ctype{Kind: types.Int, Name: "uint8", Size: 1, Go: true}
	goF64 = &types.Ctype{Kind: types.Float, Name: "float64", Size: 8, Go: true}
	goStr = &types.Ctype{Kind: types.GoString, Name: "string", Size: 16, Go: true}
	goErr = &types.Ctype{Kind: types.GoInterface, Name: "error", Size: 16, Go: true}
)

func slice(e *types.Ctype) *types.Ctype {
	t := &types.Ctype{Kind: types.GoSlice, Name: "[]" + e.Name, Size: 24, Go: true}
	t.SetElem(e)
	return t
}

func ptr(e *types.Ctype) *types.Ctype {
	t := &types.Ctype{Kind: types.Pointer, Name: "*" + e.Name, Size: 8, Go: e.Go}
	t.SetElem(e)
	return t
}

func array(e *types.Ctype, n int64) *types.Ctype {
	t := &types.Ctype{Kind: types.Array, Name: fmt.Sprintf("[%d]%s", n, e.Name), Size: n * e.Size, Count: n, Go: e.Go}
	t.SetElem(e)
	return t
}

func structOf(name string, size int64, goes bool, fs ...types.Field) *types.Ctype {
	t := &types.Ctype{Kind: types.Struct, Name: name, Size: size, Go: goes}
	t.SetFields(fs)
	return t
}

// goProgram is a Go program as the reader would show it.
func goProgram() *fake.Image {
	base := structOf("main.Base", 16, true, types.Field{Name: "id", Type: goInt},
		types.Field{Name: "tag", Type: goU8, Off: 8})
	server := structOf("main.Server", 64, true,
		types.Field{Name: "Base", Type: base, Embedded: true},
		types.Field{Name: "name", Type: goStr, Off: 16},
		types.Field{Name: "ports", Type: array(goInt, 3), Off: 32},
		types.Field{Name: "next", Type: nil, Off: 56})
	fs := server.Fields()
	fs[3].Type = ptr(server)
	p, r, l := debuginfo.Param, debuginfo.Result, debuginfo.Local
	fn := func(name string, line int, entry uint64) debuginfo.Func {
		return debuginfo.Func{Name: name, Entry: entry, End: entry + 0x100, File: "/src/main.go", Line: line,
			ABI: debuginfo.GoABIInternal, External: true}
	}
	ret := func(pcs ...uint64) (out []debuginfo.Site) {
		for _, pc := range pcs {
			out = append(out, debuginfo.Site{PC: pc, Kind: debuginfo.AtReturn, Insn: debuginfo.InsnRet})
		}
		return out
	}
	traceme := &fake.Func{Func: fn("main.traceme", 5, 0x401000), Push: 0x401006, Rets: ret(0x401050),
		Params: []*debuginfo.Var{fake.Reg("a", p, goInt, 0), fake.Reg("b", p, goInt, 3)},
		Res:    []*debuginfo.Var{fake.Reg("ret", r, goInt, 0)},
		Lines:  []debuginfo.Site{{PC: 0x401010, Line: 6, Insn: debuginfo.InsnStepped}},
		Locals: []*debuginfo.Var{fake.Mem("tmp", l, goInt, 7, 24)},
	}
	handle := &fake.Func{Func: fn("main.(*Server).Handle", 20, 0x402000), Push: 0x402006, Rets: ret(0x402050, 0x402070),
		Params: []*debuginfo.Var{
			fake.Reg("s", p, ptr(server), 0), fake.Words("path", p, goStr, 3, 2),
			fake.Words("args", p, slice(goStr), 5, 4, 8),
			{Name: "ratio", Kind: p, Type: goF64,
				Place: loc.Place{Type: goF64, Pieces: []loc.Piece{{Size: 8, Vector: 1}}}},
			{Name: "gone", Kind: p, Type: goInt,
				Err: &debuginfo.NotLiveError{Name: "gone", Reason: "optimised out here", Lines: []int{22, 23}}},
		},
		Res: []*debuginfo.Var{fake.Reg("n", r, goInt, 0), fake.Words("err", r, goErr, 3, 2)},
	}
	jump := &fake.Func{Func: fn("main.jump", 40, 0x403000), Push: 0x403006,
		Rets:   append(ret(0x403050), debuginfo.Site{PC: 0x403060, Kind: debuginfo.AtTail, Insn: debuginfo.InsnJump}),
		Params: []*debuginfo.Var{fake.Reg("x", p, goInt, 0)},
		Res:    []*debuginfo.Var{fake.Reg("~r0", r, goInt, 0)},
	}
	never := &fake.Func{Func: fn("main.never", 50, 0x404000)}
	small := &debuginfo.Func{Name: "main.small", File: "/src/main.go", Line: 60, ABI: debuginfo.GoABIInternal}
	img := &fake.Image{File: "/bin/app", Tongue: debuginfo.Go, List: []*fake.Func{handle, jump, never, traceme},
		Types: map[string]*types.Ctype{"main.Server": server, "string": goStr, "int": goInt},
		Globals: map[string]*debuginfo.Var{"main.count": {Name: "main.count", Kind: debuginfo.GlobalVar, Type: goInt,
			Place: loc.Place{Type: goInt, InMemory: true, Addr: loc.Static(0x500000, true), Writable: true}}},
		G: &debuginfo.Goroutine{G: loc.Register(14), GoID: 152, StackHi: 8, ParentGoID: 280, GoPC: 288,
			StartPC: 304, M: 48, Status: 144, WaitReason: -1},
	}
	img.Inlines = []*debuginfo.InlineSite{{Func: small, In: &traceme.Func, CallFile: "/src/main.go", CallLine: 6,
		Site: debuginfo.Site{PC: 0x401020, Func: &traceme.Func, File: "/src/main.go", Line: 61, CFA: fake.Frame()}}}
	return img
}

// cProgram is a C program.
func cProgram() *fake.Image {
	p, r := debuginfo.Param, debuginfo.Result
	node := structOf("struct node", 32, false,
		types.Field{Name: "flags", Type: cInt, BitOff: 3, BitSize: 5},
		types.Field{Name: "", Type: structOf("", 8, false, types.Field{Name: "in", Type: cInt, Off: 4}), Off: 8},
		types.Field{Name: "name", Type: array(cChar, 8), Off: 16},
		types.Field{Name: "next", Type: nil, Off: 24})
	node.Fields()[3].Type = ptr(node)
	fn := func(name string, line int, entry uint64) debuginfo.Func {
		return debuginfo.Func{Name: name, Entry: entry, End: entry + 0x100, File: "/src/trace.c", Line: line,
			External: true}
	}
	return &fake.Image{File: "/bin/trace", Types: map[string]*types.Ctype{"struct node": node}, List: []*fake.Func{
		{Func: fn("larger", 8, 0x401100), Params: []*debuginfo.Var{fake.Reg("n", p, cInt, 5)}},
		{Func: fn("traceme", 1, 0x401200),
			Params: []*debuginfo.Var{fake.Reg("a", p, cInt, 5), fake.Reg("b", p, cInt, 4)},
			Res:    []*debuginfo.Var{fake.Reg("return", r, cInt, 0)}},
		{Func: fn("visit", 30, 0x401300),
			Params: []*debuginfo.Var{fake.Reg("n", p, ptr(node), 5), fake.Reg("s", p, ptr(cChar), 4)}},
	}}
}

func fakeOpen(path string) (debuginfo.Image, error) {
	switch path {
	case "/bin/app":
		return goProgram(), nil
	case "/bin/trace":
		return cProgram(), nil
	case "/bin/stripped":
		img := goProgram()
		img.File, img.Stripped = path, "stripped with -ldflags=-w"
		return img, nil
	case "/bin/a-script":
		return nil, debuginfo.ErrNotELF
	}
	return nil, fmt.Errorf("open %s: %w", path, os.ErrNotExist)
}

func options(script string) Options {
	return Options{Scripts: []Script{{"t.stp", []byte(script)}}, Limits: layout.Default(), Open: fakeOpen,
		KernelFiles: kernelFiles, Verify: true, Guru: strings.HasPrefix(script, "# guru\n")}
}

func compile(script string, dump ...string) (*Result, diag.List) {
	o := options(script)
	o.Dump = dump
	return Compile(context.Background(), o)
}

// lowered compiles a script up to the pass before the optimiser.
func lowered(script string) (*Result, diag.List) {
	s := newState(context.Background(), options(script))
	r := &Result{Files: s.files, close: s.env.Close}
	var all diag.List
	for i := range passes {
		if passes[i].name == "opt" {
			r.Program = s.out
			break
		}
		if passes[i].asked {
			continue
		}
		ds := passes[i].run(s)
		all = append(all, ds...)
		if ds.HasErrors() {
			break
		}
	}
	return r, all
}

func messages(r *Result, ds diag.List) string {
	var b strings.Builder
	(&diag.Printer{W: &b, Files: r.Files, Codes: true}).Print(ds)
	return b.String()
}

// TestGolden compiles the scripts of testdata/*.txtar. A section "NAME.stp" is compiled; the
// section "NAME.out" holds the program, or the messages if there are errors. Scripts that begin with "# guru" are
// compiled with -g.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, f := range ar.Files {
			base, isScript := strings.CutSuffix(f.Name, ".stp")
			if !isScript {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+base, func(t *testing.T) {
				r, ds := lowered(string(f.Data))
				defer r.Close()
				got := messages(r, ds)
				if r.Program != nil {
					text := r.Program.String()
					// The limits are the same everywhere.
					if i := strings.Index(text, "\n"); i >= 0 && strings.HasPrefix(text, "limits") {
						text = strings.TrimLeft(text[i:], "\n")
					}
					got += text
				}
				out[base] = got
				if *update {
					return
				}
				for _, g := range ar.Files {
					if g.Name == base+".out" {
						if string(g.Data) != got {
							t.Errorf("got\n%s\nwant\n%s", got, g.Data)
						}
						return
					}
				}
				t.Errorf("no section %s.out; got\n%s", base, got)
			})
		}
		if *update {
			na := &txtar.Archive{Comment: ar.Comment}
			for _, f := range ar.Files {
				if base, ok := strings.CutSuffix(f.Name, ".stp"); ok {
					na.Files = append(na.Files, f, txtar.File{Name: base + ".out", Data: []byte(out[base])})
				}
			}
			if err := os.WriteFile(file, txtar.Format(na), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPassOrder holds the table of passes against what each needs.
func TestPassOrder(t *testing.T) {
	seen := map[string]bool{}
	phase := Phase(0)
	for _, p := range passes {
		if seen[p.name] {
			t.Errorf("two passes are named %s", p.name)
		}
		for _, a := range p.after {
			if !seen[a] {
				t.Errorf("%s must come after %s", p.name, a)
			}
		}
		if p.phase < phase {
			t.Errorf("%s belongs to phase %d, but one of phase %d comes before it", p.name, p.phase, phase)
		}
		phase = p.phase
		seen[p.name] = true
		if p.run == nil || p.about == "" {
			t.Errorf("%s is not complete", p.name)
		}
	}
}

func TestStopAndDump(t *testing.T) {
	const script = `probe process("/bin/app").function("main.traceme") { println($a) }`
	var all []string
	for _, p := range passes {
		if p.dump != nil {
			all = append(all, p.name)
		}
	}
	r, ds := compile(script, all...)
	if ds.HasErrors() {
		t.Fatal(messages(r, ds))
	}
	for _, name := range all {
		if r.Dumps[name] == "" {
			t.Errorf("pass %s has an empty dump", name)
		}
	}
	if len(r.Timings) < len(all) {
		t.Errorf("times of %d passes", len(r.Timings))
	}
	for stop, last := range map[Phase]string{Parse: "parse", Elaborate: "sema"} {
		r, ds := Compile(context.Background(),
			Options{Scripts: []Script{{"t", []byte(script)}}, Limits: layout.Default(), Open: fakeOpen, Stop: stop})
		if ds.HasErrors() || r.Program != nil || r.Timings[len(r.Timings)-1].Pass != last {
			t.Errorf("stop after %d: %v, last pass %v", stop, ds, r.Timings)
		}
	}
	_, ds = compile(script, "nonsense")
	diagtest.Find(t, ds, "no-pass")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := Options{Scripts: []Script{{"t", []byte("probe begin {}")}}, Limits: layout.Default()}
	_, ds := Compile(ctx, o)
	if d := diagtest.Find(t, ds, codeCancelled); !strings.Contains(d.Message, "its caller has cancelled it") {
		t.Error(d.Message)
	}
	why, stop := context.WithCancelCause(context.Background())
	stop(errors.New("the shop is closed"))
	_, ds = Compile(why, o)
	if d := diagtest.Find(t, ds, codeCancelled); !strings.Contains(d.Message, "the shop is closed") {
		t.Error(d.Message)
	}
	late, end := context.WithTimeout(context.Background(), 0)
	defer end()
	_, ds = Compile(late, o)
	if d := diagtest.Find(t, ds, codeCancelled); !strings.Contains(d.Message, "its time was over") {
		t.Error(d.Message)
	}
}

// TestBroken: a pass that makes a program against the rules is found out, and named.
func TestBroken(t *testing.T) {
	broken, err := ir.ParseText("probe \"begin\" {\n  site begin\n  long r0\nb0:\n  r0 = mov 1\n  end\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	broken.Probes[0].Handler.Blocks[0].Instrs[0].Dst = 7
	s := &state{out: broken}
	s.o.Verify = true
	if d := diagtest.Find(t, s.verify("fold"), codeInternal); !strings.Contains(d.Message,
		"pass fold made a bad program") {
		t.Error(d.Message)
	}
}

// TestCrossFile: a library given by -I shares the script's globals, with a warning; the embedded one keeps its names to
// itself.
func TestCrossFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lib.stp"), []byte("function double(n) { total = n * 2 return total }"),
		0o644); err != nil {
		t.Fatal(err)
	}
	script := `global total, len, i probe begin { total = 5 len = 1 i = 2 println(double(total), text_str("a\n"), str_replace("ab", "b", "c"), len, i) }`
	r, ds := Compile(context.Background(), Options{Scripts: []Script{{"t", []byte(script)}}, Limits: layout.Default(),
		Include: []string{dir}, Unoptimised: true})
	defer r.Close()
	d := diagtest.Find(t, ds, diag.CrossFile)
	if len(ds) != 1 || !strings.Contains(d.Message, "the global total of the script") {
		t.Errorf("%d messages: %s", len(ds), d.Message)
	}
	if f := r.Program.Func("double"); f == nil || !strings.Contains(r.Program.String(), "gset @total, r") {
		t.Errorf("double has a variable of its own:\n%s", r.Program)
	}
}
