package obj

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

const script = "probe a { n++ }\nprobe b {\n\tprint(n)\n}\n"

// sample is a plan with everything that an object can hold: programs of several kinds, functions that two of them
// share and functions of the same name that differ, callbacks, maps of all kinds.
func sample() *plan.Plan {
	files := &source.FileSet{}
	f := files.Add("sample.stp", []byte(script))
	at := func(in asm.Instruction, off int) asm.Instruction { return in.WithSource(plan.Source{Pos: f.Pos(off)}) }
	long := &btf.Int{Name: "long", Size: 8, Encoding: btf.Signed}
	ptr := &btf.Pointer{Target: &btf.Void{}}
	fn := func(in asm.Instruction, name string, l btf.FuncLinkage, ps ...btf.FuncParam) asm.Instruction {
		return btf.WithFuncMetadata(in.WithSymbol(name),
			&btf.Func{Name: name, Linkage: l, Type: &btf.FuncProto{Return: long, Params: ps}})
	}
	prog := func(name string, add int32, pos int) asm.Instructions {
		return asm.Instructions{
			at(fn(asm.LoadMapValue(asm.R6, 0, plan.CtlState).WithReference(plan.MapControl), name, btf.GlobalFunc,
				btf.FuncParam{Name: "ctx", Type: ptr}), pos),
			asm.LoadMem(asm.R1, asm.R6, 0, asm.Word),
			asm.JEq.Imm(asm.R1, 3, "out"),
			at(asm.LoadMapValue(asm.R7, 0, 8).WithReference(plan.MapScalars), pos+6),
			asm.Mov.Imm(asm.R1, 1), asm.FetchAdd.Mem(asm.R7, asm.R1, asm.DWord, 0),
			asm.LoadMapValue(asm.R8, 0, 2).WithReference(plan.MapText),
			asm.LoadMem(asm.R1, asm.R8, 0, asm.Byte),
			asm.Call.Label("twice"),
			asm.Mov.Imm(asm.R1, 10),
			asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: asm.R2, Src: asm.PseudoFunc,
				Constant: -1}.WithReference("step"),
			asm.Mov.Imm(asm.R3, 0), asm.Mov.Imm(asm.R4, 0), asm.FnLoop.Call(),
			asm.LoadMapPtr(asm.R1, 0).WithReference("hash_1"),
			asm.StoreImm(asm.RFP, -8, 0, asm.Word), asm.StoreImm(asm.RFP, -4, 0, asm.Word),
			asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -8), asm.FnMapLookupElem.Call(),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return(),

			fn(asm.Mov.Reg(asm.R0, asm.R1), "twice", btf.StaticFunc, btf.FuncParam{Name: "x", Type: long}),
			asm.Add.Reg(asm.R0, asm.R1), asm.Return(),

			fn(asm.Mov.Reg(asm.R0, asm.R1), "step", btf.StaticFunc, btf.FuncParam{Name: "i", Type: long},
				btf.FuncParam{Name: "p", Type: ptr}),
			asm.Add.Imm(asm.R0, add), asm.Mov.Imm(asm.R0, 0), asm.Return(),
		}
	}
	simple := asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}
	scalars := make([]byte, 64)
	scalars[8] = 42
	return &plan.Plan{
		Program: &ir.Program{Files: files, Limits: layout.Default()},
		Spec: &ebpf.CollectionSpec{
			Maps: map[string]*ebpf.MapSpec{
				plan.MapOutput: {Type: ebpf.RingBuf, MaxEntries: 4096},
				plan.MapControl: {Type: ebpf.Array, KeySize: 4, ValueSize: plan.CtlSize, MaxEntries: 1,
					Flags: 1 << 10},
				plan.MapCounters: {Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: uint32(plan.CounterRow),
					Flags: 1 << 10},
				plan.MapScalars: {Type: ebpf.Array, KeySize: 4, ValueSize: 64, MaxEntries: 1, Flags: 1 << 10,
					Contents: []ebpf.MapKV{{Key: uint32(0), Value: scalars}}},
				plan.MapText: {Type: ebpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 1, Flags: 1 << 7,
					Contents: []ebpf.MapKV{{Key: uint32(0), Value: []byte("the long strings")}}},
				"hash_1": {Type: ebpf.Hash, KeySize: 8, ValueSize: 24, MaxEntries: 2048},
				"lru_2":  {Type: ebpf.LRUCPUHash, KeySize: 16, ValueSize: 8, MaxEntries: 128},
			},
			Programs: map[string]*ebpf.ProgramSpec{
				"probe_0":  {Type: ebpf.Kprobe, Instructions: prog("probe_0", 1, 0), License: "GPL"},
				"probe_1":  {Type: ebpf.Kprobe, Instructions: prog("probe_1", 2, 16), License: "GPL"},
				"return.2": {Type: ebpf.Kprobe, Instructions: simple, License: "GPL"},
				"exec_3": {Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp, AttachTo: "sched_process_exec",
					Instructions: simple, License: "GPL"},
				"rawexit_4": {Type: ebpf.RawTracepoint, AttachTo: "sched_process_exit", Instructions: simple,
					License: "GPL"},
				"clock_5": {Type: ebpf.PerfEvent, Instructions: simple, License: "GPL"},
			},
		},
		Attach: []plan.Attach{{Prog: "return.2", Kind: probe.Uretprobe}},
	}
}

func write(t *testing.T, p *plan.Plan) (string, []byte) {
	t.Helper()
	b, err := Write(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sample.bpf.o")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path, b
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestSections(t *testing.T) {
	_, b := write(t, sample())
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != elf.EM_BPF || f.Type != elf.ET_REL {
		t.Errorf("%v %v", f.Machine, f.Type)
	}
	for _, want := range []string{"uprobe/probe_0", "uprobe/probe_1", "uretprobe/return_2", "tp_btf/sched_process_exec",
		"raw_tp/sched_process_exit", "perf_event", ".text", ".maps", ".data.gostap_control", ".data.gostap_scalars",
		".rodata.gostap_text",
		"license", ".BTF", ".BTF.ext", ".symtab", ".reluprobe/probe_0"} {
		if f.Section(want) == nil {
			t.Errorf("no section %s", want)
		}
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, s := range syms {
		n[s.Name]++
	}
	// "twice" is the same in both programs, "step" is not.
	for _, want := range []string{"probe_0", "probe_1", "return_2", "twice", "step", "step_2", "hash_1", "gostap_out",
		"_license"} {
		if n[want] != 1 {
			t.Errorf("symbol %s is there %d times", want, n[want])
		}
	}
	if n["twice_2"] != 0 {
		t.Error("a shared function is there twice")
	}
}

// TestSameBytes: the object does not depend on the order of Go's maps.
func TestSameBytes(t *testing.T) {
	_, a := write(t, sample())
	for range 5 {
		if _, b := write(t, sample()); !bytes.Equal(a, b) {
			t.Fatal("two objects of one plan differ")
		}
	}
}

func TestObjdump(t *testing.T) {
	path, _ := write(t, sample())
	out := run(t, "llvm-objdump", "-d", "-r", "-t", path)
	for _, want := range []string{"elf64-bpf", "<probe_0>:", "<twice>:", "R_BPF_64_64", "R_BPF_64_32", "hash_1",
		"atomic_fetch_add"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for l := range strings.Lines(out) {
		// Stores of constants are news to older disassemblers.
		if f := strings.Fields(l); strings.Contains(l, "<unknown>") && len(f) > 1 &&
			!slices.Contains([]string{"62", "6a", "72", "7a"}, f[1]) {
			t.Errorf("unknown instruction: %s", l)
		}
	}
}

func TestBpftoolBTF(t *testing.T) {
	path, _ := write(t, sample())
	out := run(t, "bpftool", "btf", "dump", "file", path)
	for _, want := range []string{"FUNC 'probe_0'", "FUNC 'step_2'", "DATASEC '.maps'", "VAR 'hash_1'",
		"DATASEC '.data.gostap_scalars'"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestBpftoolLoad(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	path, _ := write(t, sample())
	// A file system of our own, which goes away with the mount.
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "bpf", "bpf", dir).CombinedOutput(); err != nil {
		t.Skipf("mount: %v %s", err, out)
	}
	defer exec.Command("umount", dir).Run()
	out := run(t, "bpftool", "-d", "prog", "loadall", path, dir+"/p")
	if strings.Contains(out, "failed") {
		t.Log(out)
	}
	ents, err := os.ReadDir(dir + "/p")
	if err != nil || len(ents) != 6 {
		t.Fatalf("%v, %v\n%s", ents, err, out)
	}
	dump := run(t, "bpftool", "prog", "dump", "xlated", "pinned", dir+"/p/probe_1", "linum")
	if !strings.Contains(dump, "probe b {") || !strings.Contains(dump, "sample.stp") {
		t.Errorf("the script's lines are missing:\n%s", dump)
	}
}

// TestReadBack reads the object with the library and compares it with what was written.
func TestReadBack(t *testing.T) {
	path, _ := write(t, sample())
	spec, err := ebpf.LoadCollectionSpec(path)
	if err != nil {
		t.Fatal(err)
	}
	p := sample()
	for name, ms := range p.Spec.Maps {
		got := spec.Maps[name]
		switch name {
		case plan.MapControl, plan.MapScalars:
			got = spec.Maps[".data."+name]
		case plan.MapText:
			got = spec.Maps[".rodata."+name]
		}
		if got == nil {
			t.Errorf("map %s is missing; there are %v", name, spec.Maps)
			continue
		}
		if got.Type != ms.Type || got.KeySize != ms.KeySize || got.ValueSize != ms.ValueSize ||
			got.MaxEntries != ms.MaxEntries {
			t.Errorf("map %s is %v, want %v", name, got, ms)
		}
		if len(ms.Contents) > 0 && !bytes.Equal(got.Contents[0].Value.([]byte), ms.Contents[0].Value.([]byte)) {
			t.Errorf("map %s begins as %q", name, got.Contents[0].Value)
		}
	}
	for name, ps := range p.Spec.Programs {
		got := spec.Programs[identifier(name)]
		if got == nil {
			t.Errorf("program %s is missing", name)
			continue
		}
		if got.Type != ps.Type || got.AttachTo != ps.AttachTo && ps.Type != ebpf.Kprobe || got.License != "GPL" {
			t.Errorf("program %s: %v %q %q", name, got.Type, got.AttachTo, got.License)
		}
		want, err := load.Encode(ps.Instructions)
		if err != nil {
			t.Fatal(err)
		}
		if n := int(got.Instructions.Size()); n != len(want.Bytes) {
			t.Errorf("program %s has %d bytes, want %d", name, n, len(want.Bytes))
		}
	}
	var srcs []string
	for _, in := range spec.Programs["probe_1"].Instructions {
		if l, ok := in.Source().(*btf.Line); ok {
			srcs = append(srcs, fmt.Sprintf("%s:%d:%d %s", l.FileName(), l.LineNumber(), l.LineColumn(), l.Line()))
		}
	}
	if len(srcs) == 0 || srcs[0] != "sample.stp:2:1 probe b {" || srcs[1] != "sample.stp:2:7 probe b {" {
		t.Errorf("lines: %q", srcs)
	}
	if os.Geteuid() != 0 {
		return
	}
	// The library's encoder of v0.22.0 drops the operation of atomic instructions; the loader of this
	// module does not.
	col, err := load.Load(&ebpf.CollectionSpec{Maps: loadable(spec),
		Programs: map[string]*ebpf.ProgramSpec{"probe_0": spec.Programs["probe_0"]}}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	col.Close()
}

// loadable gives the maps with the flag that loaders add to data sections.
func loadable(spec *ebpf.CollectionSpec) map[string]*ebpf.MapSpec {
	out := map[string]*ebpf.MapSpec{}
	for n, m := range spec.Maps {
		c := m.Copy()
		for i := range c.Contents {
			if _, ok := c.Contents[i].Value.([]byte); !ok {
				c.Contents = nil
			}
		}
		out[n] = c
	}
	return out
}

func TestRefuses(t *testing.T) {
	for name, change := range map[string]func(*plan.Plan){
		"addressed directly": func(p *plan.Plan) {
			in := p.Spec.Programs["probe_0"].Instructions
			in[14] = asm.LoadMapPtr(asm.R1, 0).WithReference(plan.MapScalars)
		},
		"not there": func(p *plan.Plan) { delete(p.Spec.Maps, "hash_1") },
		"first contents": func(p *plan.Plan) {
			p.Spec.Maps["hash_1"].Contents = []ebpf.MapKV{{Key: uint64(0), Value: make([]byte, 24)}}
		},
		"no section":        func(p *plan.Plan) { p.Spec.Programs["clock_5"].Type = ebpf.XDP },
		"does not fit":      func(p *plan.Plan) { p.Spec.Programs["clock_5"].Instructions[0].Constant = 1 << 40 },
		"first contents of": func(p *plan.Plan) { p.Spec.Maps[plan.MapScalars].Contents[0].Value = []byte("short") },
	} {
		p := sample()
		change(p)
		if _, err := Write(p); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIdentifier(t *testing.T) {
	for in, want := range map[string]string{"": "_", "a.b-c": "a_b_c", "9x": "_x", "main.(*T).M": "main___T__M",
		"ok_1": "ok_1"} {
		if got := identifier(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
