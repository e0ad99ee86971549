package features

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	ktypes "github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/machine"
)

// try finds out about f.
func try(f Feature) error {
	switch f {
	case BPF:
		return haveBPF()
	case Ringbuf:
		return haveMap(ebpf.RingBuf, 0, 0, uint32(os.Getpagesize()))
	case Uprobe:
		return haveUprobe()
	case UprobeMulti:
		return haveUprobeMulti()
	case UprobeMultiPID:
		return haveUprobeMultiPID()
	case Cookie:
		return program(ebpf.Kprobe, asm.Instructions{asm.FnGetAttachCookie.Call()})
	case RefCtr:
		if _, err := os.Stat("/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset"); err != nil {
			return errors.New("the kernel's uprobes do not take the place of a semaphore")
		}
		return Probe(Uprobe)
	case Override:
		err := program(ebpf.Kprobe, asm.Instructions{asm.Mov.Imm(asm.R2, 0), asm.FnOverrideReturn.Call()})
		if err != nil && Probe(BPF) == nil {
			return errors.New("the kernel was built without it (CONFIG_BPF_KPROBE_OVERRIDE)")
		}
		return err
	case RawTracepoint:
		return haveRawTracepoint(0)
	case RawTPCookie:
		return haveRawTracepoint(1)
	case TPBTF:
		return tracing(ebpf.AttachTraceRawTp, "sched_process_exec")
	case RawTPPreempted:
		return preempted(release())
	case EventTracepoint:
		return haveEventTracepoint()
	case PerfClock:
		return havePerfClock()
	case Loop:
		return haveLoop()
	case MayGoto:
		return program(ebpf.Kprobe, asm.Instructions{{OpCode: 0xe5, Offset: 1}, asm.Mov.Imm(asm.R1, 0),
			asm.Mov.Imm(asm.R1, 1)})
	case FetchAtomics:
		return program(ebpf.Kprobe, asm.Instructions{
			asm.Mov.Imm(asm.R1, 1), asm.StoreMem(asm.RFP, -8, asm.R1, asm.DWord),
			asm.FetchAdd.Mem(asm.RFP, asm.R1, asm.DWord, -8)})
	case LookupPerCPU:
		return haveLookupPerCPU()
	case GetStack:
		return program(ebpf.Kprobe, asm.Instructions{
			asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -64), asm.Mov.Imm(asm.R3, 64), asm.Mov.Imm(asm.R4, 1<<8),
			asm.FnGetStack.Call()})
	case WriteRegs:
		m := machine.Host
		err := program(ebpf.Kprobe, asm.Instructions{asm.Mov.Imm(asm.R2, 0),
			asm.StoreMem(asm.R1, int16(m.Offset(m.C.Results[0])), asm.R2, asm.DWord)})
		if err == errVerifier {
			return errors.New("this kernel lets programs read the registers of a uprobe, not write them")
		}
		return err
	case WriteUser:
		// The kernel notes in its log that somebody loads such a program. It has the helper unless it is locked
		// down (bpf_tracing_func_proto).
		if lock := Lockdown(); (lock == "none" || lock == "" && noLockdown()) && hasCap(capSysAdmin) && !inUserNS() &&
			Probe(BPF) == nil {
			return nil
		}
		err := program(ebpf.Kprobe, asm.Instructions{
			asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, -8, asm.R1, asm.DWord),
			asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -8), asm.Mov.Imm(asm.R3, 8), asm.FnProbeWriteUser.Call()})
		if err != nil && Probe(BPF) == nil {
			return errors.New("the kernel withholds bpf_probe_write_user (locked down, no CAP_SYS_ADMIN, or built so)")
		}
		return err
	case Sleepable:
		return haveSleepable()
	case StringFuncs:
		return haveStringFuncs()
	case KernelTypes:
		return load.HaveKernelTypes()
	case Fentry:
		return tracing(ebpf.AttachTraceFEntry, "bpf_fentry_test1")
	case Kprobe:
		return haveKprobe()
	case KprobeMulti:
		return haveKprobeMulti()
	case KprobeMissed:
		return haveKprobeMissed()
	case KretprobeMulti:
		return haveKretprobeMulti()
	case Netfilter:
		return haveNetfilter()
	case LSM:
		return haveLSM()
	case Modules:
		return haveModules()
	}
	return fmt.Errorf("no such ability: %d", f)
}

// haveNetfilter loads a program that lets packets go on.
func haveNetfilter() error {
	code, err := load.Encode(asm.Instructions{asm.Mov.Imm(asm.R0, 1), asm.Return()})
	if err != nil {
		return err
	}
	fd, _, err := kern.ProgLoad(&kern.Prog{Name: "gostap_try", Type: uint32(ebpf.Netfilter),
		AttachType: kern.AttachNetfilter, License: "GPL", Insns: code.Bytes})
	if err == unix.EINVAL {
		return errors.New("this kernel has no such programs (Linux 6.4, CONFIG_NETFILTER_BPF_LINK)")
	}
	if err != nil {
		return no(err)
	}
	kern.Close(fd)
	return nil
}

// program loads insns with an end to them.
func program(typ ebpf.ProgramType, insns asm.Instructions) error {
	fd, err := loadProgram(&ebpf.ProgramSpec{Type: typ, Instructions: insns})
	kern.Close(fd)
	return err
}

func loadProgram(ps *ebpf.ProgramSpec) (int, error) {
	ps.Instructions = append(ps.Instructions, asm.Mov.Imm(asm.R0, 0), asm.Return())
	code, err := load.Encode(ps.Instructions)
	if err != nil {
		return -1, err
	}
	fd, _, err := kern.ProgLoad(&kern.Prog{Name: "gostap_try", Type: uint32(ps.Type), AttachType: uint32(ps.AttachType),
		License: "GPL", Insns: code.Bytes})
	if err != nil {
		if err == unix.EPERM && Probe(BPF) == nil {
			return -1, errors.New("the kernel refuses it although it loads other programs (locked down, or built so)")
		}
		if err == unix.EACCES {
			return -1, errVerifier
		}
		return -1, no(err)
	}
	return fd, nil
}

var errVerifier = errors.New("the kernel's verifier refuses it")

// haveBPF is what everything else stands on, so its words are those that a user without rights reads.
func haveBPF() error {
	code, err := load.Encode(asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()})
	if err != nil {
		return err
	}
	fd, _, err := kern.ProgLoad(&kern.Prog{Name: "gostap_try", Type: kern.ProgKprobe, License: "GPL",
		Insns: code.Bytes})
	switch err {
	case nil:
		kern.Close(fd)
		return nil
	case unix.ENOSYS:
		return errors.New("this kernel has no BPF (CONFIG_BPF_SYSCALL), or a filter of this container hides it")
	case unix.EINVAL:
		return errors.New("this kernel has BPF, but not for tracing (CONFIG_BPF_EVENTS)")
	}
	return no(err)
}

// haveSleepable loads a program that reads memory of the traced program by waiting for it.
func haveSleepable() error {
	code, err := load.Encode(asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, -8), asm.Mov.Imm(asm.R2, 1), asm.Mov.Imm(asm.R3, 0),
		asm.FnCopyFromUser.Call(),
		asm.Mov.Imm(asm.R0, 0), asm.Return()})
	if err != nil {
		return err
	}
	fd, _, err := kern.ProgLoad(&kern.Prog{Name: "gostap_try", Type: kern.ProgKprobe, Flags: kern.FlagSleepable,
		License: "GPL", Insns: code.Bytes})
	kern.Close(fd)
	return no(err)
}

func haveMap(typ ebpf.MapType, key, value, entries uint32) error {
	fd, err := kern.MapCreate(&kern.Map{Name: "gostap_try", Type: uint32(typ), KeySize: key, ValueSize: value,
		Entries: entries})
	kern.Close(fd)
	return no(err)
}

// haveUprobe asks for a uprobe in a directory: a kernel that can get as far as looking at the file says EINVAL.
func haveUprobe() error {
	b, err := os.ReadFile("/sys/bus/event_source/devices/uprobe/type")
	if err != nil {
		return errors.New("the kernel has no uprobes (CONFIG_UPROBE_EVENTS), or sysfs is not mounted")
	}
	typ, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 32)
	if err != nil {
		return err
	}
	fd, err := kern.PerfUprobe(uint32(typ), "/", 0, 0, -1, false, 0)
	kern.Close(fd)
	if err == unix.EINVAL {
		return nil
	}
	// This way takes CAP_SYS_ADMIN. The other way to the same probes does not.
	if (err == unix.EACCES || err == unix.EPERM) && try(UprobeMulti) == nil {
		return nil
	}
	return no(err)
}

// multiLink tries a link to a directory: EBADF means that all before the look at the file is as it should be.
func multiLink(pid uint32) error {
	prog, err := loadProgram(&ebpf.ProgramSpec{Type: ebpf.Kprobe, AttachType: ebpf.AttachTraceUprobeMulti})
	if err != nil {
		return err
	}
	defer kern.Close(prog)
	fd, err := kern.LinkUprobeMulti(prog, &kern.UprobeMulti{Path: "/", Offsets: []uint64{0}, Cookies: []uint64{1},
		PID: pid})
	kern.Close(fd)
	return err
}

func haveUprobeMulti() error {
	if err := multiLink(0); err != unix.EBADF {
		if err == nil {
			return errors.New("the kernel made a link where it could not")
		}
		return no(err)
	}
	return nil
}

// haveUprobeMultiPID: the first kernels with such links compared threads instead of processes. Those that
// do better look at the process's number before anything else.
func haveUprobeMultiPID() error {
	if err := Probe(UprobeMulti); err != nil {
		return err
	}
	if err := multiLink(^uint32(0)); err != unix.EINVAL {
		return errors.New("this kernel's limit goes by thread, not by process")
	}
	return nil
}

// haveRawTracepoint asks for a tracepoint that is not there: ENOENT means that it was looked for.
func haveRawTracepoint(cookie uint64) error {
	prog, err := loadProgram(&ebpf.ProgramSpec{Type: ebpf.RawTracepoint})
	if err != nil {
		return err
	}
	defer kern.Close(prog)
	fd, err := kern.RawTracepoint(prog, "gostap_no_such_tracepoint", cookie)
	kern.Close(fd)
	if err == unix.ENOENT {
		return nil
	}
	return no(err)
}

func tracing(at ebpf.AttachType, to string) error {
	kind, name := ktypes.KindFunc, to
	if at == ebpf.AttachTraceRawTp {
		kind, name = ktypes.KindTypedef, "btf_trace_"+to
	}
	id, ok, err := load.KernelType(kind, name)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("the kernel's types have no %s", name)
	}
	code, err := load.Encode(asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()})
	if err != nil {
		return err
	}
	typ := ebpf.Tracing
	if at == ebpf.AttachLSMMac {
		typ = ebpf.LSM
	}
	fd, _, err := kern.ProgLoad(&kern.Prog{Name: "gostap_try", Type: uint32(typ), AttachType: uint32(at),
		AttachBTF: id, License: "GPL", Insns: code.Bytes})
	if err == unix.EPERM && Probe(BPF) == nil {
		return errors.New("the kernel refuses it although it loads other programs (locked down, or built so)")
	}
	kern.Close(fd)
	return no(err)
}

// slowClock ticks once a second.
var slowClock = unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: 1e9}

func havePerfClock() error {
	fd, err := kern.PerfEvent(slowClock, -1, 0)
	if err != nil {
		if err == unix.EACCES || err == unix.EPERM {
			return fmt.Errorf("%s (kernel.perf_event_paranoid is %s)", Refusal(),
				readWord("/proc/sys/kernel/perf_event_paranoid"))
		}
		return no(err)
	}
	defer kern.Close(fd)
	prog, err := loadProgram(&ebpf.ProgramSpec{Type: ebpf.PerfEvent})
	if err != nil {
		return err
	}
	defer kern.Close(prog)
	l, err := kern.LinkPerf(prog, fd, 1)
	kern.Close(l)
	return no(err)
}

func haveLoop() error {
	long := &btf.Int{Name: "long", Size: 8, Encoding: btf.Signed}
	ptr := &btf.Pointer{Target: &btf.Void{}}
	fn := func(name string, l btf.FuncLinkage, ps ...btf.FuncParam) *btf.Func {
		return &btf.Func{Name: name, Linkage: l, Type: &btf.FuncProto{Return: long, Params: ps}}
	}
	c, err := load.Load(&ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"gostap_try": {Type: ebpf.Kprobe,
		License: "GPL", Instructions: asm.Instructions{
			btf.WithFuncMetadata(asm.Mov.Imm(asm.R1, 2),
				fn("try", btf.GlobalFunc, btf.FuncParam{Name: "ctx", Type: ptr})),
			asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: asm.R2, Src: asm.PseudoFunc,
				Constant: -1}.WithReference("body"),
			asm.Mov.Imm(asm.R3, 0), asm.Mov.Imm(asm.R4, 0), asm.FnLoop.Call(), asm.Mov.Imm(asm.R0, 0), asm.Return(),
			btf.WithFuncMetadata(asm.Mov.Imm(asm.R0, 0).WithSymbol("body"),
				fn("body", btf.StaticFunc, btf.FuncParam{Name: "i", Type: long}, btf.FuncParam{Name: "p", Type: ptr})),
			asm.Return(),
		}}}}, load.Options{})
	if err != nil {
		if e, ok := errors.AsType[unix.Errno](err); ok {
			return no(e)
		}
		return err
	}
	c.Close()
	return nil
}

func haveLookupPerCPU() error {
	m, err := kern.MapCreate(&kern.Map{Name: "gostap_try", Type: uint32(ebpf.PerCPUArray), KeySize: 4, ValueSize: 8,
		Entries: 1})
	if err != nil {
		return no(err)
	}
	defer kern.Close(m)
	return program(ebpf.Kprobe, asm.Instructions{
		asm.LoadMapPtr(asm.R1, m), asm.StoreImm(asm.RFP, -4, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.Mov.Imm(asm.R3, 0), asm.FnMapLookupPercpuElem.Call()})
}

func haveStringFuncs() error {
	var missing []string
	for _, f := range []string{"bpf_strcmp", "bpf_strnstr", "bpf_strnlen"} {
		_, ok, err := load.KernelType(ktypes.KindFunc, f)
		if err != nil {
			return err
		}
		if !ok {
			missing = append(missing, f)
		}
	}
	if missing != nil {
		return fmt.Errorf("the kernel's types have no %s", strings.Join(missing, ", "))
	}
	return nil
}

func haveKprobe() error {
	b, err := os.ReadFile("/sys/bus/event_source/devices/kprobe/type")
	if err != nil {
		return errors.New("the kernel was built without kprobes (CONFIG_KPROBE_EVENTS)")
	}
	typ, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 32)
	if err != nil {
		return err
	}
	// No function has this name.
	fd, err := kern.PerfKprobe(uint32(typ), "gostap_no_such_function", 0, false, 0)
	kern.Close(fd)
	if err == unix.ENOENT || err == unix.EADDRNOTAVAIL || err == unix.EINVAL {
		return nil
	}
	return no(err)
}

func haveKprobeMulti() error {
	prog, err := loadProgram(&ebpf.ProgramSpec{Type: ebpf.Kprobe, AttachType: ebpf.AttachTraceKprobeMulti})
	if err != nil {
		return err
	}
	defer kern.Close(prog)
	fd, err := kern.LinkKprobeMulti(prog, &kern.KprobeMulti{Addrs: []uint64{0}})
	kern.Close(fd)
	switch err {
	case unix.EINVAL:
		// A kernel without fprobe and one that finds no function at address 0 say the same; only the
		// first has no such function at all.
		if _, ok, e := load.KernelType(ktypes.KindFunc, "register_fprobe_ips"); e == nil && !ok {
			return errors.New("the kernel was built without fprobe (CONFIG_FPROBE)")
		}
		return nil
	case unix.EOPNOTSUPP, unix.Errno(524):
		return errors.New("the kernel was built without fprobe (CONFIG_FPROBE)")
	case unix.ENOENT, unix.ESRCH, nil:
		return nil
	}
	return no(err)
}

// haveKprobeMissed looks at how much the kernel tells of a link: to a clock, which is quickly made.
func haveKprobeMissed() error {
	perf, err := kern.PerfEvent(slowClock, -1, 0)
	if err != nil {
		return no(err)
	}
	defer kern.Close(perf)
	prog, err := loadProgram(&ebpf.ProgramSpec{Type: ebpf.PerfEvent})
	if err != nil {
		return err
	}
	defer kern.Close(prog)
	l, err := kern.LinkPerf(prog, perf, 1)
	if err != nil {
		return no(err)
	}
	defer kern.Close(l)
	info, err := kern.KprobeInfo(l, false)
	if err == nil && !info.Known {
		err = errors.New("this kernel does not tell for links what it missed")
	}
	return err
}

// haveKretprobeMulti: the first kernels with links to the returns of many functions took as many calls at a time as
// they have CPUs, twice, and left out the rest. Where fprobe stands on the function graph tracer, each thread has
// a stack for them.
func haveKretprobeMulti() error {
	if err := Probe(KprobeMulti); err != nil {
		return err
	}
	if _, _, err := load.KernelMember("fprobe", "entry_handler"); err != nil {
		return err
	}
	if _, _, err := load.KernelMember("fprobe", "rethook"); err == nil {
		return errors.New("this kernel has room for a few calls only")
	}
	return nil
}

// haveModules asks to load a module from no file: EBADF means that it would have been read.
func haveModules() error {
	_, _, errno := unix.Syscall(unix.SYS_FINIT_MODULE, ^uintptr(0), 0, 0)
	switch errno {
	case unix.EBADF, unix.EFAULT, unix.EINVAL:
		return nil
	case unix.ENOSYS:
		return errors.New("the kernel was built without modules (CONFIG_MODULES)")
	case unix.EPERM:
		if readWord("/proc/sys/kernel/modules_disabled") == "1" {
			return errors.New("switched off until the next boot (kernel.modules_disabled)")
		}
		if os.Geteuid() == 0 && hasCap(capSysModule) {
			return errors.New("switched off (booted with nomodule, or locked down)")
		}
		return errors.New("no permission (needs root or CAP_SYS_MODULE)")
	}
	return no(errno)
}
