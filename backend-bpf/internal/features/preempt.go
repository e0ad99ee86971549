package features

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/debuginfo/tracefs"
)

// Until Linux 7.0 a tracepoint called what is attached to it with preemption off; since then (commit a46023d5616e)
// perf's part of it does so itself, and programs at raw tracepoints run with preemption on. While a thread is
// interrupted in one, the kernel leaves that program out for all other threads on the CPU.

// firstPreempted is the version before which there is nothing to look for, so that older kernels are not asked at all.
const firstPreempted = 7

// preempted finds out whether programs at raw tracepoints run with preemption on. Such a program looks at the CPU's
// count of reasons not to be preempted (the lower 8 bits of __preempt_count, include/linux/preempt.h), at a tracepoint
// that the kernel passes at the end of each trial run of another program. Where the kernel keeps the place of that
// count for itself (no CONFIG_KALLSYMS_ALL), its version has to do.
func preempted(release string) error {
	if v, _, _ := strings.Cut(release, "."); !newEnough(v) {
		return fmt.Errorf("no: before Linux %d.0 they run to their end", firstPreempted)
	}
	if n, err := preemptCount(); err == nil && n != 0 {
		return errors.New("no: preemption is off in them")
	}
	return nil
}

func newEnough(major string) bool {
	n, err := strconv.Atoi(major)
	return err == nil && n >= firstPreempted
}

// preemptCount gives the count of preemption that a program at a raw tracepoint sees.
func preemptCount() (int, error) {
	count, ok, err := load.KernelType(btf.KindVar, "__preempt_count")
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, errors.New("the kernel's types have no __preempt_count")
	}
	m, err := kern.MapCreate(&kern.Map{Name: "gostap_try", Type: uint32(ebpf.Array), KeySize: 4, ValueSize: 4,
		Entries: 1})
	if err != nil {
		return 0, no(err)
	}
	defer kern.Close(m)
	prog, err := loadProgram(&ebpf.ProgramSpec{Type: ebpf.RawTracepoint, Instructions: asm.Instructions{
		asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: asm.R1, Src: pseudoBTF, Constant: int64(count)},
		asm.FnThisCpuPtr.Call(),
		asm.LoadMem(asm.R6, asm.R0, 0, asm.Word),
		asm.And.Imm(asm.R6, 0xff),
		asm.Or.Imm(asm.R6, seen),
		asm.LoadMapPtr(asm.R1, m), asm.StoreImm(asm.RFP, -4, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.StoreMem(asm.R0, 0, asm.R6, asm.Word),
		asm.Mov.Imm(asm.R1, 0).WithSymbol("out"),
	}})
	if err != nil {
		return 0, err
	}
	defer kern.Close(prog)
	run, err := loadProgram(&ebpf.ProgramSpec{Type: ebpf.SocketFilter})
	if err != nil {
		return 0, err
	}
	defer kern.Close(run)
	link, err := kern.RawTracepoint(prog, "bpf_test_finish", 0)
	if err != nil {
		return 0, no(err)
	}
	defer kern.Close(link)
	if _, err := kern.TestRun(run, make([]byte, 64), 1); err != nil {
		return 0, no(err)
	}
	var key, val [4]byte
	if err := kern.Lookup(m, key[:], val[:]); err != nil {
		return 0, no(err)
	}
	v := binary.NativeEndian.Uint32(val[:])
	if v&seen == 0 {
		return 0, errors.New("the tracepoint was not passed")
	}
	return int(v &^ seen), nil
}

const (
	// seen marks a count that was written.
	seen = 1 << 8
	// pseudoBTF says that an instruction loads the address of a variable of the kernel (BPF_PSEUDO_BTF_ID).
	pseudoBTF = 3
)

// haveEventTracepoint looks at what it takes: numbers of events from tracefs, and perf events for all processes. An
// event itself is not opened, since the kernel waits long when it closes the last one.
func haveEventTracepoint() error {
	fs, err := tracefs.Open()
	if err != nil {
		return err
	}
	defer fs.Close()
	if _, err := fs.ID("raw_syscalls", "sys_enter"); err != nil {
		return err
	}
	return Probe(PerfClock)
}
