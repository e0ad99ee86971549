package kern

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Prog describes a program to load. Insns is in the machine's byte order.
type Prog struct {
	Name       string
	Type       uint32
	AttachType uint32
	Insns      []byte
	License    string
	Flags      uint32
	// BTF is the descriptor of the type information that FuncInfo and LineInfo speak of, 0 for none.
	BTF      int
	FuncInfo []byte
	LineInfo []byte
	// AttachBTF is the kernel's type id that a tracing program attaches to.
	AttachBTF uint32
	// Log receives the verifier's words when LogLevel is not 0.
	Log      []byte
	LogLevel uint32
}

// FlagSleepable makes a program one that may sleep (BPF_F_SLEEPABLE).
const FlagSleepable = 1 << 4

// Sizes of one record of FuncInfo and LineInfo.
const (
	funcInfoSize = 8
	lineInfoSize = 16
)

type progLoadAttr struct {
	progType, insnCnt  uint32
	insns, license     unsafe.Pointer
	logLevel, logSize  uint32
	logBuf             unsafe.Pointer
	kernVersion, flags uint32
	name               [16]byte
	ifindex            uint32
	attachType         uint32
	btfFd              uint32
	funcInfoRec        uint32
	funcInfo           unsafe.Pointer
	funcInfoCnt        uint32
	lineInfoRec        uint32
	lineInfo           unsafe.Pointer
	lineInfoCnt        uint32
	attachBTF          uint32
	attachFd           uint32
	coreReloCnt        uint32
	fdArray            uint64
	coreRelos          uint64
	coreReloRec        uint32
	logTrueSize        uint32
}

// ProgLoad loads p. need is the size of the whole log where the kernel tells it (6.4).
func ProgLoad(p *Prog) (fd int, need int, err error) {
	lic := cstr(p.License)
	a := progLoadAttr{
		progType: p.Type, insnCnt: uint32(len(p.Insns) / 8), insns: ptr(p.Insns), license: ptr(lic),
		// Kernels before 5.0 wanted their version for kprobe programs; later ones look away.
		kernVersion: 0, flags: p.Flags, name: name(p.Name), attachType: p.AttachType, attachBTF: p.AttachBTF,
	}
	if p.BTF > 0 {
		a.btfFd = uint32(p.BTF)
		if len(p.FuncInfo) > 0 {
			a.funcInfoRec, a.funcInfo, a.funcInfoCnt = funcInfoSize, ptr(p.FuncInfo),
				uint32(len(p.FuncInfo)/funcInfoSize)
		}
		if len(p.LineInfo) > 0 {
			a.lineInfoRec, a.lineInfo, a.lineInfoCnt = lineInfoSize, ptr(p.LineInfo),
				uint32(len(p.LineInfo)/lineInfoSize)
		}
	}
	if p.LogLevel != 0 && len(p.Log) > 0 {
		a.logLevel, a.logSize, a.logBuf = p.LogLevel, uint32(len(p.Log)), ptr(p.Log)
	}
	size := unsafe.Sizeof(a)
	fd, err = call(cmdProgLoad, unsafe.Pointer(&a), size)
	if err == unix.E2BIG {
		// A kernel before 6.4 does not know the last word; it takes a shorter structure.
		size = unsafe.Offsetof(a.coreRelos)
		fd, err = call(cmdProgLoad, unsafe.Pointer(&a), size)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(lic)
	return fd, int(a.logTrueSize), err
}

// BTFLoad loads type information.
func BTFLoad(data []byte) (int, error) {
	a := struct {
		btf, log        unsafe.Pointer
		size, logSize   uint32
		level, trueSize uint32
	}{btf: ptr(data), size: uint32(len(data))}
	fd, err := call(cmdBTFLoad, unsafe.Pointer(&a), unsafe.Sizeof(a))
	runtime.KeepAlive(data)
	return fd, err
}

// BTFLog loads type information in order to hear why the kernel refuses it.
func BTFLog(data, log []byte) error {
	a := struct {
		btf, log        unsafe.Pointer
		size, logSize   uint32
		level, trueSize uint32
	}{btf: ptr(data), log: ptr(log), size: uint32(len(data)), logSize: uint32(len(log)), level: 1}
	fd, err := call(cmdBTFLoad, unsafe.Pointer(&a), unsafe.Sizeof(a))
	runtime.KeepAlive(data)
	runtime.KeepAlive(log)
	if err == nil {
		Close(fd)
	}
	return err
}

// ProgStats is what the kernel counts about a program.
type ProgStats struct {
	ID       uint32
	JITed    uint32 // bytes of machine code
	RunCount uint64 // 0 unless the system counts runs
	RunNs    uint64
	// Missed counts runs that the kernel left out since the program was already running on that CPU.
	Missed uint64
	// Walked is how many instructions the verifier looked at before it let the program in (Linux 5.16), 0 if not known.
	Walked uint32
}

// ProgInfo asks for the counts of the program fd (struct bpf_prog_info).
func ProgInfo(fd int) (ProgStats, error) {
	var b [232]byte
	n, err := Info(fd, b[:])
	if err != nil {
		return ProgStats{}, err
	}
	le := binary.NativeEndian
	s := ProgStats{ID: le.Uint32(b[4:]), JITed: le.Uint32(b[16:])}
	if n >= 216 {
		s.RunNs, s.RunCount, s.Missed = le.Uint64(b[192:]), le.Uint64(b[200:]), le.Uint64(b[208:])
	}
	if n >= 220 {
		s.Walked = le.Uint32(b[216:])
	}
	return s, nil
}

type testRunAttr struct {
	fd, retval, in, out uint32
	dataIn, dataOut     unsafe.Pointer
	repeat, duration    uint32
	ctxIn, ctxOut       uint32
	ctx, ctxO           unsafe.Pointer
	flags, cpu          uint32
	batch, _            uint32
}

// RunTracepoint runs a program for raw tracepoints once, in the calling thread, with ctx for its argument words, and
// gives what the program gives.
func RunTracepoint(fd int, ctx []byte) (int32, error) {
	a := testRunAttr{fd: uint32(fd), ctxIn: uint32(len(ctx)), ctx: ptr(ctx)}
	_, err := call(cmdTestRun, unsafe.Pointer(&a), unsafe.Sizeof(a))
	runtime.KeepAlive(ctx)
	return int32(a.retval), err
}

// TestRun runs a program (of a networking type) repeat times on a packet of data and gives the mean time of one run.
// The kernel stops early when a signal is pending, as Go's scheduler sends them; they wait.
func TestRun(fd int, data []byte, repeat int) (ns uint32, err error) {
	if repeat > 1 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var all, old unix.Sigset_t
		for i := range all.Val {
			all.Val[i] = ^uint64(0)
		}
		if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
			return 0, err
		}
		defer unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	}
	a := testRunAttr{fd: uint32(fd), in: uint32(len(data)), dataIn: ptr(data), repeat: uint32(repeat)}
	_, err = call(cmdTestRun, unsafe.Pointer(&a), unsafe.Sizeof(a))
	runtime.KeepAlive(data)
	return a.duration, err
}

// ProgCode gives the machine code that the kernel made of the program fd, that of all its functions one behind the
// other, at most size bytes of it; nothing where the kernel does not show it (no compiler, kernel.kptr_restrict).
func ProgCode(fd, size int) ([]byte, error) {
	code := make([]byte, size)
	a := struct {
		_            [4]uint32 // type, id, tag
		jited, xlate uint32    // room for the code, none for the instructions
		code         unsafe.Pointer
	}{jited: uint32(size), code: ptr(code)}
	attr := struct {
		fd, len uint32
		info    unsafe.Pointer
	}{uint32(fd), uint32(unsafe.Sizeof(a)), unsafe.Pointer(&a)}
	_, err := call(cmdObjGetInfo, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	runtime.KeepAlive(code)
	if err != nil {
		return nil, err
	}
	if a.code == nil {
		return nil, nil
	}
	return code[:min(size, int(a.jited))], nil
}

// EnableStats has the kernel time all programs until the descriptor is closed (Linux 5.8).
func EnableStats() (int, error) {
	const cmdEnableStats = 32
	var runTime uint32 // BPF_STATS_RUN_TIME
	return call(cmdEnableStats, unsafe.Pointer(&runTime), unsafe.Sizeof(runTime))
}
