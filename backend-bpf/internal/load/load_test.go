package load

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	ktypes "github.com/gostap/gostap/compiler/debuginfo/btf"
)

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: loads BPF programs")
	}
}

// TestEncodeAgrees compares with the library's encoder wherever that one is right.
func TestEncodeAgrees(t *testing.T) {
	insns := asm.Instructions{
		asm.Mov.Imm(asm.R1, -1), asm.Mov.Reg32(asm.R2, asm.R1), asm.Add.Imm32(asm.R2, math.MaxInt32),
		asm.SDiv.Imm(asm.R1, 3), asm.SMod.Reg(asm.R1, asm.R2), asm.MovSX8.Reg(asm.R3, asm.R1),
		asm.MovSX32.Reg(asm.R3, asm.R1),
		asm.HostTo(asm.BE, asm.R1, asm.Half), asm.BSwap(asm.R1, asm.DWord), asm.Neg.Imm(asm.R2, 0),
		asm.LoadImm(asm.R4, math.MinInt64+5, asm.DWord), asm.LoadImm(asm.R4, 0x1_8000_0001, asm.DWord),
		asm.LoadMem(asm.R5, asm.RFP, -8, asm.Byte), asm.LoadMemSX(asm.R5, asm.RFP, -8, asm.Half),
		asm.StoreMem(asm.RFP, -16, asm.R5, asm.DWord), asm.StoreImm(asm.RFP, -16, -7, asm.Word),
		asm.AddAtomic.Mem(asm.R5, asm.R4, asm.DWord, 8),
		asm.JEq.Imm(asm.R1, 7, "end"), asm.JSLT.Reg32(asm.R1, asm.R2, "end"),
		asm.JGT.Imm32(asm.R1, -1, "back").WithSymbol("back"),
		asm.FnMapLookupElem.Call(), asm.FnGetStack.Call(),
		asm.Call.Label("sub"), asm.LongJump("end"),
		{OpCode: 0xe5, Offset: 1}, // may_goto
		asm.Ja.Label("back"),
		asm.Return().WithSymbol("end"),
		asm.Mov.Reg(asm.R0, asm.R1).WithSymbol("sub"), asm.Return(),
	}
	c, err := Encode(insns)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := append(asm.Instructions(nil), insns...).Marshal(&want, binary.LittleEndian); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(c.Bytes, want.Bytes()) {
		for i := 0; i < len(c.Bytes) && i < want.Len(); i += 8 {
			if !bytes.Equal(c.Bytes[i:i+8], want.Bytes()[i:i+8]) {
				t.Errorf("unit %d (%v): % x, library % x", i/8, insns[c.Insn[i/8]], c.Bytes[i:i+8], want.Bytes()[i:i+8])
			}
		}
	}
	if len(c.Funcs) != 2 || c.Funcs[1].Name != "sub" {
		t.Errorf("functions: %+v", c.Funcs)
	}
}

// TestEncodeAtomics: the operation is in the constant (the library of version 0.22.0 leaves it out).
func TestEncodeAtomics(t *testing.T) {
	for op, want := range map[asm.AtomicOp]uint32{
		asm.AddAtomic: 0x00, asm.FetchAdd: 0x01, asm.OrAtomic: 0x40, asm.FetchOr: 0x41, asm.AndAtomic: 0x50,
		asm.FetchAnd:  0x51,
		asm.XorAtomic: 0xa0, asm.FetchXor: 0xa1, asm.Xchg: 0xe1, asm.CmpXchg: 0xf1,
	} {
		c, err := Encode(asm.Instructions{op.Mem(asm.R1, asm.R2, asm.DWord, -24)})
		if err != nil {
			t.Fatal(err)
		}
		if got := binary.LittleEndian.Uint32(c.Bytes[4:]); got != want || c.Bytes[0] != 0xdb {
			t.Errorf("%v: opcode %#x, constant %#x, want 0xdb, %#x", op, c.Bytes[0], got, want)
		}
	}
}

// TestAtomicsRun runs them in the kernel.
func TestAtomicsRun(t *testing.T) {
	needRoot(t)
	// value[0] starts as 5: fetch-and-add 10, exchange with 77, compare-and-exchange 77 -> 99; the old values go to
	// [1], [2], [3].
	v := asm.R6
	insns := asm.Instructions{
		asm.LoadMapValue(v, 0, 0).WithReference("m"),
		asm.Mov.Imm(asm.R1, 10), asm.FetchAdd.Mem(v, asm.R1, asm.DWord, 0), asm.StoreMem(v, 8, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R1, 77), asm.Xchg.Mem(v, asm.R1, asm.DWord, 0), asm.StoreMem(v, 16, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 77), asm.Mov.Imm(asm.R1, 99), asm.CmpXchg.Mem(v, asm.R1, asm.DWord, 0),
		asm.StoreMem(v, 24, asm.R0, asm.DWord),
		asm.Mov.Imm(asm.R0, 0), asm.Return(),
	}
	first := make([]byte, 32)
	first[0] = 5
	col, err := Load(&ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{"m": {Type: ebpf.Array, KeySize: 4, ValueSize: 32, MaxEntries: 1,
			Contents: []ebpf.MapKV{{Key: uint32(0), Value: first}}}},
		Programs: map[string]*ebpf.ProgramSpec{"p": {Type: ebpf.SocketFilter, Instructions: insns, License: "GPL"}},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer col.Close()
	if _, err := kern.TestRun(col.Progs["p"].FD(), make([]byte, 64), 1); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 32)
	if err := kern.Lookup(col.Maps["m"].FD(), make([]byte, 4), b); err != nil {
		t.Fatal(err)
	}
	got := [4]uint64{}
	for i := range got {
		got[i] = binary.LittleEndian.Uint64(b[i*8:])
	}
	if want := [4]uint64{99, 5, 15, 77}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEncodeRefuses(t *testing.T) {
	far := asm.Instructions{asm.Ja.Label("end")}
	for range 40000 {
		far = append(far, asm.Mov.Imm(asm.R0, 0))
	}
	far = append(far, asm.Return().WithSymbol("end"))
	for name, c := range map[string]struct {
		insns asm.Instructions
		say   string
	}{
		"far jump":      {far, "goes over 40000"},
		"missing label": {asm.Instructions{asm.Ja.Label("nowhere")}, "label nowhere is missing"},
		"twice":         {asm.Instructions{asm.Return().WithSymbol("a"), asm.Return().WithSymbol("a")}, "twice"},
		"invalid":       {asm.Instructions{{OpCode: asm.InvalidOpCode}}, "not an instruction"},
		"large constant": {asm.Instructions{{OpCode: asm.Mov.Op(asm.ImmSource), Dst: asm.R1, Constant: 1 << 31}},
			"does not fit"},
		"store": {asm.Instructions{{OpCode: asm.StoreImmOp(asm.DWord), Dst: asm.R1, Constant: -1 << 40}},
			"does not fit"},
		"register": {asm.Instructions{asm.Mov.Reg(asm.R1, 12)}, "no such register"},
	} {
		if _, err := Encode(c.insns); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKernelType(t *testing.T) {
	if err := HaveKernelTypes(); err != nil {
		t.Skip(err)
	}
	start := time.Now()
	if _, ok, err := KernelType(ktypes.KindTypedef, "btf_trace_sched_process_exec"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	t.Logf("found in %v", time.Since(start))
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"btf_trace_sched_process_exec", "btf_trace_sched_process_exit", "btf_trace_sys_enter",
		"btf_trace_sched_switch"} {
		id, ok, err := KernelType(ktypes.KindTypedef, name)
		var td *btf.Typedef
		if e := spec.TypeByName(name, &td); e != nil {
			t.Fatal(e)
		}
		if want, _ := spec.TypeID(td); !ok || err != nil || id != uint32(want) {
			t.Errorf("%s: %d %v %v, want %d", name, id, ok, err, want)
		}
		want := len(td.Type.(*btf.Pointer).Target.(*btf.FuncProto).Params) - 1
		if n := TracepointArgs(strings.TrimPrefix(name, "btf_trace_")); n != want {
			t.Errorf("%s has %d arguments, want %d", name, n, want)
		}
	}
	if _, ok, err := KernelType(ktypes.KindFunc, "no_such_function_here"); ok || err != nil {
		t.Errorf("a missing function: %v %v", ok, err)
	}
	if n := TracepointArgs("no_such_tracepoint_here"); n != 0 {
		t.Errorf("a missing tracepoint has %d arguments", n)
	}
}

func TestKernelMember(t *testing.T) {
	if err := HaveKernelTypes(); err != nil {
		t.Skip(err)
	}
	start := time.Now()
	if _, _, err := KernelMember("task_struct", "pid"); err != nil {
		t.Fatal(err)
	}
	t.Logf("found in %v", time.Since(start))
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	var find func(t btf.Type, name string) (int, btf.Type)
	find = func(t btf.Type, name string) (int, btf.Type) {
		var ms []btf.Member
		switch t := btf.UnderlyingType(t).(type) {
		case *btf.Struct:
			ms = t.Members
		case *btf.Union:
			ms = t.Members
		}
		for _, m := range ms {
			if m.Name == name {
				return int(m.Offset.Bytes()), m.Type
			}
			if m.Name == "" {
				if off, t := find(m.Type, name); t != nil {
					return int(m.Offset.Bytes()) + off, t
				}
			}
		}
		return 0, nil
	}
	for _, c := range [][2]string{{"task_struct", "pid"}, {"task_struct", "real_parent"}, {"task_struct", "comm"},
		{"task_struct", "thread.fsbase"}, {"cred", "euid"}, {"signal_struct", "pids"}, {"pid", "numbers"},
		{"mm_struct", "arg_start"}, {"task_struct", "thread_info.flags"}, {"page", "lru"}} {
		var s *btf.Struct
		if err := spec.TypeByName(c[0], &s); err != nil {
			t.Fatal(err)
		}
		wantOff, wt := 0, btf.Type(s)
		for _, n := range strings.Split(c[1], ".") {
			var o int
			if o, wt = find(wt, n); wt == nil {
				t.Fatal(c)
			}
			wantOff += o
		}
		wantSize, err := btf.Sizeof(wt)
		if err != nil {
			t.Fatal(err)
		}
		off, size, err := KernelMember(c[0], c[1])
		if off != wantOff || size != wantSize || err != nil {
			t.Errorf("%v: %d %d %v, want %d %d", c, off, size, err, wantOff, wantSize)
		}
	}
	for _, c := range [][2]string{{"task_struct", "no_such"}, {"no_such_struct_here", "x"}, {"task_struct", "pid.x"},
		{"task_struct", "in_execve"}} {
		if off, _, err := KernelMember(c[0], c[1]); err == nil {
			t.Errorf("%v is at %d", c, off)
		}
	}
}

// loop is a program with a callback: it adds 0..n-1 up by bpf_loop.
func loop(n int32) asm.Instructions {
	long := &btf.Int{Name: "long", Size: 8, Encoding: btf.Signed}
	fn := func(name string, l btf.FuncLinkage, ps ...btf.FuncParam) *btf.Func {
		return &btf.Func{Name: name, Linkage: l, Type: &btf.FuncProto{Return: long, Params: ps}}
	}
	ptr := &btf.Pointer{Target: &btf.Void{}}
	return asm.Instructions{
		btf.WithFuncMetadata(asm.Mov.Imm(asm.R1, n), fn("main", btf.GlobalFunc, btf.FuncParam{Name: "ctx", Type: ptr})),
		asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: asm.R2, Src: asm.PseudoFunc,
			Constant: -1}.WithReference("body"),
		asm.StoreImm(asm.RFP, -8, 0, asm.Word), asm.StoreImm(asm.RFP, -4, 0, asm.Word),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, -8),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnLoop.Call(),
		asm.LoadMem(asm.R1, asm.RFP, -8, asm.DWord),
		asm.LoadMapValue(asm.R2, 0, 8).WithReference("sum"),
		asm.StoreMem(asm.R2, 0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0), asm.Return(),
		btf.WithFuncMetadata(asm.LoadMem(asm.R3, asm.R2, 0, asm.DWord).WithSymbol("body"),
			fn("body", btf.StaticFunc, btf.FuncParam{Name: "i", Type: long}, btf.FuncParam{Name: "p", Type: ptr})),
		asm.Add.Reg(asm.R3, asm.R1),
		asm.StoreMem(asm.R2, 0, asm.R3, asm.DWord),
		asm.Mov.Imm(asm.R0, 0), asm.Return(),
	}
}

func TestCallbacks(t *testing.T) {
	needRoot(t)
	spec := &ebpf.CollectionSpec{
		Maps:     map[string]*ebpf.MapSpec{"sum": {Type: ebpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 1}},
		Programs: map[string]*ebpf.ProgramSpec{},
	}
	for i := range 3 { // they share one set of type information
		spec.Programs[fmt.Sprint("p", i)] = &ebpf.ProgramSpec{Type: ebpf.SocketFilter,
			Instructions: loop(int32(100 * (i + 1))), License: "GPL"}
	}
	col, err := Load(spec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer col.Close()
	for i, want := range []uint64{4950, 19900, 44850} {
		if _, err := kern.TestRun(col.Progs[fmt.Sprint("p", i)].FD(), make([]byte, 64), 1); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 16)
		kern.Lookup(col.Maps["sum"].FD(), make([]byte, 4), b)
		if got := binary.LittleEndian.Uint64(b[8:]); got != want {
			t.Errorf("p%d: %d, want %d", i, got, want)
		}
	}
}

type note string

func (n note) String() string { return string(n) }

func TestRefusedProgram(t *testing.T) {
	needRoot(t)
	insns := asm.Instructions{
		asm.Mov.Imm(asm.R1, 1).WithSource(note("line one")),
		asm.LoadImm(asm.R2, 1<<40, asm.DWord),
		asm.Mov.Imm(asm.R3, 0).WithSource(note("line two")),
		asm.LoadMem(asm.R0, asm.R1, 0, asm.DWord), // a number is no address
		asm.Return().WithSource(note("line three")),
	}
	_, err := Load(&ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"bad": {Type: ebpf.Kprobe,
		Instructions: insns, License: "GPL"}}}, Options{})
	e, ok := errors.AsType[*ProgError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	if e.Insn() != 3 || e.Source() == nil || e.Source().String() != "line two" {
		t.Errorf("stopped at %d, source %v\n%s", e.Insn(), e.Source(), e.Log)
	}
	if !strings.Contains(e.Reason(), "invalid mem access") || !strings.Contains(err.Error(), "bad") {
		t.Errorf("message: %v\n%s", err, e.Log)
	}
	if !strings.Contains(e.Near(1), "> 3: ") {
		t.Errorf("near: %s", e.Near(1))
	}
}

func TestRefusedMap(t *testing.T) {
	needRoot(t)
	_, err := Load(&ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{"m": {Type: ebpf.RingBuf, MaxEntries: 1000}}},
		Options{})
	if e, ok := errors.AsType[*MapError](err); !ok || e.Map != "m" {
		t.Errorf("got %v", err)
	}
	_, err = Load(&ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"p": {Type: ebpf.Kprobe, License: "GPL",
		Instructions: asm.Instructions{asm.LoadMapPtr(asm.R1, 0).WithReference("gone"), asm.Return()}}}}, Options{})
	if err == nil || !strings.Contains(err.Error(), `map "gone"`) {
		t.Errorf("got %v", err)
	}
}

func TestFrozenMap(t *testing.T) {
	needRoot(t)
	col, err := Load(&ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{"c": {Type: ebpf.Array, KeySize: 4,
		ValueSize: 8, MaxEntries: 1, Flags: kern.FlagReadOnlyProg,
		Contents: []ebpf.MapKV{{Key: uint32(0), Value: uint64(7)}}}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer col.Close()
	if err := kern.Update(col.Maps["c"].FD(), make([]byte, 4), make([]byte, 8), kern.UpdateAny); err == nil {
		t.Error("a constant was changed")
	}
}

// BenchmarkLoad: a small program and a map, as a start does, against the library's own loader.
func BenchmarkLoad(b *testing.B) {
	needRoot(b)
	spec := func() *ebpf.CollectionSpec {
		return &ebpf.CollectionSpec{
			Maps: map[string]*ebpf.MapSpec{"sum": {Type: ebpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 1}},
			Programs: map[string]*ebpf.ProgramSpec{"p": {Type: ebpf.SocketFilter, Instructions: loop(5),
				License: "GPL"}},
		}
	}
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			c, err := Load(spec(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			c.Close()
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			c, err := ebpf.NewCollection(spec())
			if err != nil {
				b.Fatal(err)
			}
			c.Close()
		}
	})
}
