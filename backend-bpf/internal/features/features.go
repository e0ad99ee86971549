// Package features finds out what the running kernel can do by trying it: it loads a
// small program or asks for something that cannot succeed and looks at which error
// comes. Versions are never compared: distributions leave things out and put things in.
//
// In: the kernel. Out: yes or no with a reason, per ability. Each is tried when it is
// first asked for, takes well under a millisecond (but for those that read the kernel's
// types) and is remembered.
package features

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// Feature is one ability of the kernel.
type Feature uint8

// The abilities.
const (
	BPF             Feature = iota // tracing programs can be loaded
	Ringbuf                        // ring buffers
	Uprobe                         // uprobes through perf events
	UprobeMulti                    // one link for many uprobes, with cookies
	UprobeMultiPID                 // such a link can be limited to one process
	Cookie                         // uprobes through perf events have cookies
	RefCtr                         // the kernel counts a USDT semaphore up and down
	RawTracepoint                  // tracepoints without their formatting
	RawTPCookie                    // those have cookies
	TPBTF                          // tracepoints with types
	RawTPPreempted                 // programs of both can be interrupted by other threads
	EventTracepoint                // tracepoints through perf events, whose programs cannot
	PerfClock                      // programs at the ticks of a CPU's clock
	Loop                           // bpf_loop
	MayGoto                        // loops that the kernel bounds
	FetchAtomics                   // atomics that give the old value
	LookupPerCPU                   // reading another CPU's element
	GetStack                       // stack traces
	WriteRegs                      // a uprobe's program may change registers
	WriteUser                      // ... and memory of the traced program
	Sleepable                      // a uprobe's program may wait for a page to be read in
	StringFuncs                    // bpf_strstr and others
	KernelTypes                    // the kernel's BTF
	Fentry                         // programs at functions of the kernel
	Kprobe                         // breakpoints in the kernel
	KprobeMulti                    // many of them with one link
	KretprobeMulti                 // ... at returns, however many calls are under way
	KprobeMissed                   // the kernel tells how many hits of a link it missed
	Override                       // a program may make a kernel function return an error
	Netfilter                      // programs where packets come by
	LSM                            // programs at the hooks of security modules
	Modules                        // loadable kernel modules
	numFeatures
)

var names = [numFeatures]struct{ name, what string }{
	BPF:            {"bpf", "load tracing programs"},
	Ringbuf:        {"ringbuf", "ring buffers for output"},
	Uprobe:         {"uprobe", "probes in user programs"},
	UprobeMulti:    {"uprobe_multi", "many such probes with one link"},
	UprobeMultiPID: {"uprobe_multi pid", "limit such a link to one process"},
	Cookie:         {"uprobe cookie", "tell uprobes of one program apart"},
	RefCtr:         {"uprobe refcount", "USDT marks with semaphores"},
	RawTracepoint:  {"raw_tracepoint", "kernel tracepoints"},
	RawTPCookie:    {"raw_tracepoint cookie", "tell tracepoints of one program apart"},
	TPBTF:          {"tp_btf", "kernel tracepoints with types"},
	RawTPPreempted: {"preemptible tracepoints",
		"since Linux 7.0; system calls are probed through perf events then, which lose no hits"},
	EventTracepoint: {"perf tracepoint",
		"system calls, beginnings and ends of processes without loss where tracepoints can be preempted"},
	PerfClock:      {"perf cpu-clock", "timer.profile"},
	Loop:           {"bpf_loop", "loops without a fixed bound"},
	MayGoto:        {"may_goto", "cheaper loops"},
	FetchAtomics:   {"fetch atomics", "locks and sequence numbers"},
	LookupPerCPU:   {"lookup_percpu_elem", "reading other CPUs' values"},
	GetStack:       {"get_stack", "backtraces"},
	WriteRegs:      {"register writes", "guru mode: change arguments and results in registers"},
	WriteUser:      {"probe_write_user", "guru mode: change memory of the traced program"},
	Sleepable:      {"sleepable uprobe", "read memory of the traced program that is not loaded yet"},
	StringFuncs:    {"string kfuncs", "string functions of the kernel"},
	KernelTypes:    {"kernel BTF", "types of the kernel"},
	Fentry:         {"fentry", "kernel.function, cheaply"},
	Kprobe:         {"kprobe", "kernel.function and kernel.statement"},
	KprobeMulti:    {"kprobe_multi", "many kernel functions with one link"},
	KretprobeMulti: {"kretprobe_multi", "returns of many kernel functions with one link"},
	KprobeMissed:   {"kprobe missed", "count the hits of a link that the kernel missed"},
	Override:       {"override_return", "guru mode: make a kernel function fail"},
	Netfilter:      {"netfilter", "packets of IPv4 and IPv6"},
	LSM:            {"lsm", "hooks of security modules"},
	Modules:        {"modules", "the kernel-module back end"},
}

func (f Feature) String() string { return names[f].name }

// What says what the ability is for.
func (f Feature) What() string { return names[f].what }

var results [numFeatures]struct {
	once sync.Once
	err  error
}

// Probe gives nil if the kernel has f, else why not. It may be called from any goroutine.
func Probe(f Feature) error {
	r := &results[f]
	r.once.Do(func() { r.err = try(f) })
	return r.err
}

// Has reports whether the kernel has f.
func Has(f Feature) bool { return Probe(f) == nil }

// Ready says why programs of users cannot be traced, nil if they can. Nothing of it is remembered.
func Ready() error {
	for _, f := range []Feature{BPF, Ringbuf, Uprobe} {
		if err := try(f); err != nil {
			return fmt.Errorf("%s: %w", f.What(), err)
		}
	}
	return nil
}

// Row is one line of a report.
type Row struct {
	Name string
	// OK is the answer, unless it is Unknown. Reason says why it is no, or adds to a yes. What says what it is for.
	OK, Unknown  bool
	What, Reason string
}

// Info tries everything.
func Info() []Row {
	var rows []Row
	for f := range numFeatures {
		err := Probe(f)
		r := Row{Name: f.String(), What: f.What(), OK: err == nil}
		if err != nil {
			r.Reason = err.Error()
		}
		rows = append(rows, r)
	}
	return append(rows, systemRows()...)
}

// no makes a reason out of the kernel's number.
func no(err error) error {
	switch err {
	case nil:
		return nil
	case unix.EPERM, unix.EACCES:
		return fmt.Errorf("%s", Refusal())
	case unix.ENOSYS:
		return fmt.Errorf("the kernel was built without it")
	case unix.EINVAL, unix.E2BIG, unix.EOPNOTSUPP, unix.Errno(524):
		return fmt.Errorf("this kernel does not have it (%v)", err)
	}
	return err
}
