package interp

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/probe"
)

// Context is what the probed place gives to a handler. An error from Read or Intrinsic becomes a
// run-time error of the script: a *textfmt.Fault as it is, anything else as ErrMemory or ErrArgument.
type Context interface {
	// Site is the site that fired, nil if that is not known.
	Site() *probe.Site
	// Reg gives the DWARF register n, ThreadPointer what thread-local addresses are relative to, Bias the
	// load bias of the site's binary. They are 0 where there is no probed program.
	Reg(n int) int64
	ThreadPointer() int64
	Bias() int64
	// Read fills buf from address addr of the traced process or of the kernel.
	Read(buf []byte, addr uint64, kernel bool) error
	// Intrinsic runs what depends on more than its arguments. ErrNoContext says that it means nothing here.
	Intrinsic(name string, args []Val) (Val, error)
}

// Attrs is a Context that knows better than the Site what OpSite gives.
type Attrs interface {
	// Attr gives an attribute, false to take that of the Site.
	Attr(name string) (Val, bool)
}

// Captured is a Context of a handler whose probed place is gone: values that were read there
// stand in for the instructions that would read them.
type Captured interface {
	// Captured gives the value for an instruction of the program (told apart by its address) that reads
	// the probed place: OpReg, OpTLS, OpBias, OpLoad, OpSite, OpTraceArg, and OpIntr of an intrinsic that cannot be
	// asked later. A code other than ErrNone is the error that reading raised there. false: nothing was captured for
	// it.
	Captured(in *ir.Instr) (Val, ir.Code, bool)
}

// Eventful is a Context of an event that has arguments: a tracepoint, a system call. Where the Context is none, they
// are 0.
type Eventful interface {
	// TraceArg gives the n-th argument word, as ir.OpTraceArg counts them.
	TraceArg(n int) int64
}

// Writer is a Context of a program that can be changed (guru mode). Where the Context is none, OpStore and
// OpSetReg raise an error that says so.
type Writer interface {
	// SetReg sets the DWARF register n.
	SetReg(n int, v int64) error
	// Write writes buf to address addr of the traced process or of the kernel. An error becomes
	// one of the script: a *textfmt.Fault as it is, anything else as ErrWrite.
	Write(buf []byte, addr uint64, kernel bool) error
}

// Filer is a Context of somebody who reads or writes a file of the script's.
type Filer interface {
	// Written gives what was written.
	Written() string
	// Reply sets what the reader gets, or adds to it.
	Reply(text string, add bool)
}

// Peeker looks into the kernel for handlers that run in the tracer. Sessions of back ends are Peekers.
type Peeker interface {
	// Peeks reports whether the next two work: a session makes ready for them only when its program asks for it.
	Peeks() bool
	// ReadKernel fills buf from address addr of the kernel.
	ReadKernel(buf []byte, addr uint64) error
	// CurrentTask gives the address of the kernel's structure for the calling thread.
	CurrentTask() (uint64, error)
	// Jiffies gives the number of ticks of the kernel's timer.
	Jiffies() (int64, error)
}

// ErrNoContext is why an intrinsic cannot run where it is.
var ErrNoContext = errors.New("not available in a handler that runs on the host")

// HostContext is the place of handlers that run in the tracer itself: begin, end, error and timers.
// Its processes, clocks and names are the tracer's own. The zero value is ready for use.
type HostContext struct {
	// Where is the site that fired.
	Where *probe.Site
	// Target is what target() gives.
	Target int
	// Name is what module_name() gives, "" for that of a session nobody has named.
	Name string
	// Input is what a probe on the standard input fired for.
	Input string
	// System runs a command for system(); nil refuses it.
	System func(command string) error
	// SwitchFile has the output go on in another file; nil does nothing.
	SwitchFile func() error
	// Kernel gives kernel memory and the current task; nil refuses them.
	Kernel Peeker
}

// Site implements Context, as do the next ones.
func (c *HostContext) Site() *probe.Site { return c.Where }

func (c *HostContext) Reg(int) int64        { return 0 }
func (c *HostContext) ThreadPointer() int64 { return 0 }
func (c *HostContext) Bias() int64          { return 0 }

// Read reads of the kernel only: there is no probed process.
func (c *HostContext) Read(buf []byte, addr uint64, kernel bool) error {
	if kernel && c.Kernel != nil {
		return c.Kernel.ReadKernel(buf, addr)
	}
	return &textfmt.Fault{Code: ir.ErrMemory, Args: []Val{{Int: int64(addr)}}}
}

// Intrinsic answers for the tracer's own process.
func (c *HostContext) Intrinsic(name string, args []Val) (Val, error) {
	if f := hostIntrinsics[name]; f != nil {
		return f(c, args)
	}
	return Val{}, fmt.Errorf("%s: %w", name, ErrNoContext)
}

func hostInt(f func() int64) func(*HostContext, []Val) (Val, error) {
	return func(*HostContext, []Val) (Val, error) { return Val{Int: f()}, nil }
}

func hostStr(f func() (string, error)) func(*HostContext, []Val) (Val, error) {
	return func(*HostContext, []Val) (Val, error) {
		s, err := f()
		return Val{Str: s}, err
	}
}

// hostThread gives the tracer's first thread: handlers can go on in another thread at any time, and what they keep by
// tid() has to be found again. Those that look into the kernel stay on one, which is the task that they see.
func hostThread(c *HostContext, _ []Val) (Val, error) {
	if c.Kernel == nil {
		return Val{Int: int64(os.Getpid())}, nil
	}
	return Val{Int: int64(unix.Gettid())}, nil
}

// hostIntrinsics are those that mean something in the tracer. Clocks: real time for
// gettimeofday_*, CLOCK_MONOTONIC for the others, as in all executors.
var hostIntrinsics = map[string]func(*HostContext, []Val) (Val, error){
	"pid":       hostInt(func() int64 { return int64(os.Getpid()) }),
	"tid":       hostThread,
	"ppid":      hostInt(func() int64 { return int64(os.Getppid()) }),
	"ns_pid":    hostInt(func() int64 { return int64(os.Getpid()) }),
	"ns_tid":    hostThread,
	"uid":       hostInt(func() int64 { return int64(os.Getuid()) }),
	"euid":      hostInt(func() int64 { return int64(os.Geteuid()) }),
	"gid":       hostInt(func() int64 { return int64(os.Getgid()) }),
	"egid":      hostInt(func() int64 { return int64(os.Getegid()) }),
	"pgrp":      hostInt(func() int64 { return int64(syscall.Getpgrp()) }),
	"sid":       hostInt(func() int64 { n, _ := unix.Getsid(0); return int64(n) }),
	"cpu":       hostInt(currentCPU),
	"execname":  hostStr(func() (string, error) { return comm("self") }),
	"pexecname": hostStr(func() (string, error) { return comm(fmt.Sprint(os.Getppid())) }),
	"module_name": func(c *HostContext, _ []Val) (Val, error) {
		return Val{Str: cmp.Or(c.Name, fmt.Sprintf("gostap_%d", os.Getpid()))}, nil
	},
	"task_current": func(c *HostContext, _ []Val) (Val, error) {
		if c.Kernel == nil {
			return Val{}, fmt.Errorf("task_current: %w", ErrNoContext)
		}
		n, err := c.Kernel.CurrentTask()
		return Val{Int: int64(n)}, err
	},
	"jiffies": func(c *HostContext, _ []Val) (Val, error) {
		if c.Kernel == nil {
			return Val{}, fmt.Errorf("jiffies: %w", ErrNoContext)
		}
		n, err := c.Kernel.Jiffies()
		return Val{Int: n}, err
	},
	"target":          func(c *HostContext, _ []Val) (Val, error) { return Val{Int: int64(c.Target)}, nil },
	"gettimeofday_ns": hostInt(func() int64 { return time.Now().UnixNano() }),
	"gettimeofday_us": hostInt(func() int64 { return time.Now().UnixMicro() }),
	"gettimeofday_ms": hostInt(func() int64 { return time.Now().UnixMilli() }),
	"gettimeofday_s":  hostInt(func() int64 { return time.Now().Unix() }),
	"get_cycles":      hostInt(monotonic),
	"local_clock_ns":  hostInt(monotonic),
	"ktime_get_ns":    hostInt(monotonic),
	"stp_pid":         hostInt(func() int64 { return int64(os.Getpid()) }),
	"loadavg": func(_ *HostContext, args []Val) (Val, error) {
		b, err := os.ReadFile("/proc/loadavg")
		if err != nil {
			return Val{}, err
		}
		return loadAverage(string(b), args[0].Int)
	},
	"tz_gmtoff": hostInt(func() int64 { // seconds west of UTC, as in the kernel
		_, off := time.Now().Zone()
		return -int64(off)
	}),
	"tz_name":    hostStr(func() (string, error) { name, _ := time.Now().Zone(); return name, nil }),
	"printk":     func(_ *HostContext, args []Val) (Val, error) { return Val{}, kernelLog(args[0].Int, args[1].Str) },
	"input_text": func(c *HostContext, _ []Val) (Val, error) { return Val{Str: c.Input}, nil },
	"env_var":    func(_ *HostContext, args []Val) (Val, error) { return Val{Str: os.Getenv(args[0].Str)}, nil },
	"randint": func(_ *HostContext, args []Val) (Val, error) {
		if args[0].Int <= 0 {
			return Val{}, fmt.Errorf("randint: %d is not above 0", args[0].Int)
		}
		return Val{Int: rand.Int64N(args[0].Int)}, nil
	},
	"switch_file": func(c *HostContext, _ []Val) (Val, error) {
		if c.SwitchFile == nil {
			return Val{}, nil
		}
		return Val{}, c.SwitchFile()
	},
	"system": func(c *HostContext, args []Val) (Val, error) {
		if c.System == nil {
			return Val{}, fmt.Errorf("system: %w", ErrNoContext)
		}
		return Val{}, c.System(args[0].Str)
	},
}

// kernelLog writes a line to the log of the kernel.
func kernelLog(level int64, text string) error {
	if level < 0 || level > 7 {
		return fmt.Errorf("printk: there is no level %d, they go from 0 to 7", level)
	}
	f, err := os.OpenFile("/dev/kmsg", os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("printk: %w", err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "<%d>%s\n", level, text); err != nil {
		return fmt.Errorf("printk: %w", err)
	}
	return nil
}

func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}

func currentCPU() int64 {
	var cpu uint32
	if _, _, e := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); e != 0 {
		return 0
	}
	return int64(cpu)
}

func comm(pid string) (string, error) {
	b, err := os.ReadFile("/proc/" + pid + "/comm")
	return strings.TrimSuffix(string(b), "\n"), err
}
