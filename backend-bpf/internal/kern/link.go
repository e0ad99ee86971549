package kern

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Attach types of programs (enum bpf_attach_type).
const (
	AttachTraceRawTP    = 23
	AttachTraceFentry   = 24
	AttachTraceFexit    = 25
	AttachPerfEvent     = 41
	AttachKprobeMulti   = 42
	AttachNetfilter     = 45
	AttachUprobeMulti   = 48
	AttachUprobeSession = 57
)

// Program types (enum bpf_prog_type).
const (
	ProgSocketFilter  = 1
	ProgKprobe        = 2
	ProgTracepoint    = 5
	ProgPerfEvent     = 7
	ProgRawTracepoint = 17
	ProgTracing       = 26
)

// UprobeMulti describes a link of one program to many places in one file.
type UprobeMulti struct {
	Path    string
	Offsets []uint64
	Cookies []uint64
	// RefCtrs are file offsets of USDT semaphores, nil for none.
	RefCtrs []uint64
	// PID limits the link to one process; 0 for all.
	PID    uint32
	Return bool
}

// LinkUprobeMulti attaches prog.
func LinkUprobeMulti(prog int, u *UprobeMulti) (int, error) {
	path := cstr(u.Path)
	a := struct {
		progFd, targetFd, attachType, flags uint32
		path, offsets, refs, cookies        unsafe.Pointer
		count, uflags, pid, _               uint32
	}{progFd: uint32(prog), attachType: AttachUprobeMulti, path: ptr(path), offsets: ptr(u.Offsets),
		refs: ptr(u.RefCtrs), cookies: ptr(u.Cookies), count: uint32(len(u.Offsets)), pid: u.PID}
	if u.Return {
		a.uflags = 1
	}
	fd, err := call(cmdLinkCreate, unsafe.Pointer(&a), unsafe.Sizeof(a))
	runtime.KeepAlive(path)
	runtime.KeepAlive(u)
	return fd, err
}

// KprobeMulti describes a link of one program to many functions of the kernel, by name or by address.
type KprobeMulti struct {
	Syms    []string // one of the two
	Addrs   []uint64
	Cookies []uint64
	Return  bool
}

// LinkKprobeMulti attaches prog.
func LinkKprobeMulti(prog int, k *KprobeMulti) (int, error) {
	a := struct {
		progFd, targetFd, attachType, flags uint32
		kflags, count                       uint32
		syms, addrs, cookies                unsafe.Pointer
	}{progFd: uint32(prog), attachType: AttachKprobeMulti, count: uint32(len(k.Addrs)), addrs: ptr(k.Addrs),
		cookies: ptr(k.Cookies)}
	var pin runtime.Pinner // the kernel is given a table of pointers, which the collector does not see
	defer pin.Unpin()
	if len(k.Syms) > 0 {
		names := make([]*byte, len(k.Syms))
		for i, s := range k.Syms {
			names[i] = &cstr(s)[0]
			pin.Pin(names[i])
		}
		pin.Pin(&names[0])
		a.count, a.addrs, a.syms = uint32(len(k.Syms)), nil, unsafe.Pointer(&names[0])
	}
	if k.Return {
		a.kflags = 1
	}
	fd, err := call(cmdLinkCreate, unsafe.Pointer(&a), unsafe.Sizeof(a))
	runtime.KeepAlive(k)
	return fd, err
}

// LinkInfo is what the kernel tells of a link to functions of the kernel.
type LinkInfo struct {
	// Missed counts hits that ran no program: inside of another probe, or of a return probe without room. Known says
	// that the kernel counts them for links (6.7).
	Missed uint64
	Known  bool
}

// KprobeInfo asks for the count of a link (struct bpf_link_info): multi, or one to a perf event.
func KprobeInfo(fd int, multi bool) (LinkInfo, error) {
	var b [128]byte
	n, err := Info(fd, b[:])
	if err != nil {
		return LinkInfo{}, err
	}
	// Behind type, id and prog_id: kprobe_multi { u64 addrs; u32 count, flags; u64 missed },
	// or perf_event { u32 type; kprobe { u64 func_name; u32 name_len, offset; u64 addr, missed } }.
	const perfMissed, multiMissed = 16 + 8 + 24, 16 + 16
	if n < perfMissed+8 {
		return LinkInfo{}, nil
	}
	at := perfMissed
	if multi {
		at = multiMissed
	}
	return LinkInfo{Missed: binary.NativeEndian.Uint64(b[at:]), Known: true}, nil
}

// LinkPerf attaches prog to the perf event fd.
func LinkPerf(prog, perf int, cookie uint64) (int, error) {
	a := struct {
		progFd, targetFd, attachType, flags uint32
		cookie                              uint64
	}{uint32(prog), uint32(perf), AttachPerfEvent, 0, cookie}
	return call(cmdLinkCreate, unsafe.Pointer(&a), unsafe.Sizeof(a))
}

// LinkNetfilter attaches prog where packets of a family come by, in the caller's network namespace.
func LinkNetfilter(prog int, family, hook uint8, priority int32) (int, error) {
	a := struct {
		progFd, targetFd, attachType, flags uint32
		pf, hook                            uint32
		priority                            int32
		nfFlags                             uint32
	}{progFd: uint32(prog), attachType: AttachNetfilter, pf: uint32(family), hook: uint32(hook), priority: priority}
	return call(cmdLinkCreate, unsafe.Pointer(&a), unsafe.Sizeof(a))
}

// LinkTracing attaches a program that was loaded for one kernel function or tracepoint (tp_btf, fentry, fexit).
func LinkTracing(prog int, attachType uint32, cookie uint64) (int, error) {
	a := struct {
		progFd, targetFd, attachType, flags uint32
		btfID, _                            uint32
		cookie                              uint64
	}{progFd: uint32(prog), attachType: attachType, cookie: cookie}
	return call(cmdLinkCreate, unsafe.Pointer(&a), unsafe.Sizeof(a))
}

// RawTracepoint attaches prog to the tracepoint; "" for a program of type tracing, which knows its place.
func RawTracepoint(prog int, tp string, cookie uint64) (int, error) {
	var n []byte
	if tp != "" {
		n = cstr(tp)
	}
	a := struct {
		name   unsafe.Pointer
		fd, _  uint32
		cookie uint64
	}{name: ptr(n), fd: uint32(prog), cookie: cookie}
	size := unsafe.Sizeof(a)
	if cookie == 0 {
		size = unsafe.Offsetof(a.cookie)
	}
	fd, err := call(cmdRawTracepointOpen, unsafe.Pointer(&a), size)
	runtime.KeepAlive(n)
	return fd, err
}

// PerfUprobe opens a perf event of the uprobe PMU of the given type. pid -1 is every process.
// ref is the file offset of a semaphore, 0 for none. ret asks for a return probe; retBit is the bit
// of config that says so (format/retprobe of the PMU).
func PerfUprobe(pmu uint32, path string, offset, ref uint64, pid int, ret bool, retBit uint) (int, error) {
	p := cstr(path)
	var pin runtime.Pinner
	pin.Pin(&p[0]) // the attribute's field is a plain number
	defer pin.Unpin()
	attr := unix.PerfEventAttr{
		Type: pmu, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: ref << 32,
		Ext1: uint64(uintptr(unsafe.Pointer(&p[0]))), // uprobe_path
		Ext2: offset,                                 // probe_offset
	}
	if ret {
		attr.Config |= 1 << retBit
	}
	cpu := -1
	if pid == -1 {
		cpu = 0
	}
	fd, err := unix.PerfEventOpen(&attr, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	return fd, err
}

// PerfKprobe opens a perf event of the kprobe PMU at an offset in a function of the kernel; else as PerfUprobe.
func PerfKprobe(pmu uint32, symbol string, offset uint64, ret bool, retBit uint) (int, error) {
	return PerfUprobe(pmu, symbol, offset, 0, -1, ret, retBit) // kprobe_func and probe_offset stand at the same places
}

// PerfEvent opens an event on one CPU (pid -1), or in one thread on all of them (cpu -1).
func PerfEvent(attr unix.PerfEventAttr, pid, cpu int) (int, error) {
	attr.Size = uint32(unsafe.Sizeof(attr))
	return unix.PerfEventOpen(&attr, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// PerfTracepoint opens a perf event on the tracepoint with the id that tracefs gives.
func PerfTracepoint(id uint64) (int, error) {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
	return unix.PerfEventOpen(&attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// PerfEnable starts the event.
func PerfEnable(fd int) error { return unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0) }
