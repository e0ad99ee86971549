// Package probe holds what a probe point turns into: a Request as written, and the
// Sites it resolved to, each with the way to attach and what is known about it.
package probe

import (
	"fmt"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/source"
)

// Request is one probe point after aliases, braces and wildcards over aliases are
// expanded: plain components, each with an optional argument.
type Request struct {
	Comps      []Comp
	Optional   bool
	Sufficient bool
	Span       source.Span
}

// Comp is one component, such as function("main.*").
type Comp struct {
	Name string
	Arg  *ast.Literal
	Span source.Span
}

func (r Request) String() string {
	s := ""
	for i, c := range r.Comps {
		if i > 0 {
			s += "."
		}
		s += c.String()
	}
	return s
}

func (c Comp) String() string {
	if c.Arg == nil {
		return c.Name
	}
	return c.Name + "(" + ast.LiteralText(c.Arg) + ")"
}

// Site is one place or moment at which a probe's handler runs.
type Site struct {
	Kind Kind
	// Priority orders begin, end and error probes: smaller first.
	Priority int64

	// Point is the fully resolved probe point (what pp() gives), Func the probed function (ppfunc()).
	Point, Func string
	// Others are further probe points of the same kind, where only their texts are wanted (-l): sites for a hundred
	// thousand of them would take as many kilobytes.
	Others []string
	// Alias is the name the user wrote when it was an alias or wildcard (pn()).
	Alias string
	// Comps are the pattern-matched components as resolved.
	Comps []Comp
	// Optional says that the site is left out with a warning where it cannot be attached, and that none need be left:
	// its probe point has ? or !.
	Optional bool

	// Image and At say where in which program or kernel; nil and zero where there is no code.
	Image debuginfo.Image
	At    debuginfo.Site
	// Callers are the ways in which the probed place must have been come to for a hit to count, nil for any.
	Callers []Way
	// Names gives what has a name at a site that lies in no program, such as the arguments of a tracepoint; nil if
	// nothing has.
	Names Names

	// The parts below are each of some kinds, and zero for others.

	Timer   TimerPart
	Perf    PerfEvent
	Program ProgramPart
	Kernel  KernelPart
	Syscall SyscallPart
	Procfs  ProcfsPart
	LSM     LSMPart
	// Event names a tracepoint ("sched:sched_switch"), the hook of a Netfilter or LSM site, or the path of a file in
	// /proc.
	Event string
}

// TimerPart is when a Timer or Profile site fires: every Period, plus or minus up to Jitter.
type TimerPart struct{ Period, Jitter time.Duration }

// ProgramPart says which programs hit a site, and where in their file it is.
type ProgramPart struct {
	// Path is the traced file (as opened by the tracer), "" for any.
	Path string
	// PID limits the site to one process, 0 for all.
	PID int
	// Target limits the site to the -c or -x process (bare "process").
	Target bool
	// Exe limits the hits in the file Path to processes that run the program in this file, "" for no such limit.
	Exe string
	// Offset is the file offset that a uprobe takes.
	Offset uint64
	// RefCtr is the file offset of a USDT semaphore, 0 if none.
	RefCtr uint64
}

// KernelPart is where in the kernel a Kprobe or Kretprobe site is.
type KernelPart struct {
	// Symbol is a function: "vfs_read", "mod:func" for one of a module, or "_stext" with an Offset for what has no name
	// of its own. Offset is the bytes from Symbol on.
	Symbol string
	Offset uint64
	// MaxActive is for Kretprobe: how many calls can be under way at the same time, 0 for the back end's choice.
	MaxActive int
	// Wild says that a wildcard found the function: if the kernel refuses a probe there, it is left out with a
	// warning, as long as another is not.
	Wild bool
}

// SyscallPart says which system call a ProcessSyscall or ProcessSyscallReturn site is for.
type SyscallPart struct {
	// Nr is its number, AnySyscall for all.
	Nr int
	// Instead marks sites of a system call that a library's alias of another call takes along: they are for scripts
	// that do not probe the call itself.
	Instead bool
	// Forgets: where it returns, the registers do not hold its arguments any more.
	Forgets bool
	// Enter is, at a ProcessSyscallReturn, what has a name at the entry.
	Enter Names
}

// ProcfsPart is what a file in /proc is like: Mode its permissions, MaxSize the most bytes that a reader gets (0:
// MAXSTRINGLEN-1).
type ProcfsPart struct {
	Mode    uint32
	MaxSize int
}

// LSMPart is what a hook of the security modules is like.
type LSMPart struct {
	// Decides: the hook gives an int, 0 or -errno, and what it gives decides whether the kernel goes on.
	Decides bool
}

// Way is one way to a place: the return addresses on the stack, innermost first.
type Way []Caller

// Caller is a call on the way to a place: Return computes the return address that the stack has, Want the one that this
// call leaves there, both at the place. Without Return it is the address to which the kernel's return probe in the
// kernel says that the function returns.
type Caller struct {
	Return, Want loc.Prog
	// Of is the function whose return address is looked at, nil where it is sure to be there still: a return probe of
	// the kernel puts an address of its own in its place.
	Of *debuginfo.Func
}

// CallersKey tells sites apart whose Callers or guards differ.
func (s *Site) CallersKey() string {
	if s.Callers == nil && s.At.Guard == nil {
		return ""
	}
	var b strings.Builder
	for _, g := range s.At.Guard {
		fmt.Fprintf(&b, "!%s", g)
	}
	for _, w := range s.Callers {
		b.WriteString("|")
		for _, c := range w {
			fmt.Fprintf(&b, "<%s=%s>", c.Return, c.Want)
		}
	}
	return b.String()
}

// PerfEvent is something that the kernel counts for perf_event_open(2): each Period of it is a hit, or so many that
// there are about Hz hits a second.
type PerfEvent struct {
	Type       uint32 // PERF_TYPE_...
	Config     uint64 // what of that type
	Period, Hz uint64 // one of them is 0
	// Access, Addr and Len are for watchpoints (PERF_TYPE_BREAKPOINT): which accesses (HW_BREAKPOINT_...) to which
	// bytes.
	Access    uint32
	Addr, Len uint64
}

// AnySyscall is the Syscall.Nr of sites that every system call hits for which no other site of the same probe is.
const AnySyscall = -1

// Names are the variables of an event: of a tracepoint, of a system call.
type Names interface {
	// Vars lists them, Var finds one by name; the error is a *debuginfo.NotFoundError, or a *debuginfo.NotLiveError for
	// a variable that has its value at the entry only. In a system call's return, "return" is its result.
	Vars() []*debuginfo.Var
	Var(name string) (*debuginfo.Var, error)
}

// HasResult reports whether the first integer result is in a register where the site is: returnval() exists there.
func (s *Site) HasResult() bool {
	if s.Kind.Words() == SyscallRet {
		return true
	}
	return s.Image != nil && (s.At.Kind == debuginfo.AtReturn || s.At.Kind == debuginfo.AfterRet) &&
		(s.At.Func == nil || s.At.Func.ABI != debuginfo.GoABI0)
}

// IsReturn reports whether results can be asked for at s.
func (s *Site) IsReturn() bool {
	return s.Kind.Returns() || s.Kind == Uprobe && (s.At.Kind == debuginfo.AtReturn || s.At.Kind == debuginfo.AtTail)
}

// Title is what messages call s: its probe point, or its kind where it has none.
func (s *Site) Title() string {
	if s.Point != "" {
		return s.Point
	}
	return s.Kind.String()
}

// Offset gives how far an instruction is from the beginning of its program's file, or from its symbol in the kernel.
func (s *Site) Offset() uint64 {
	if s.Kind.InKernel() {
		return s.Kernel.Offset
	}
	return s.Program.Offset
}

// KernelFunc is the function of the kernel whose arguments or result come with a hit, "" where there is none.
func (s *Site) KernelFunc() string {
	switch {
	case s.Kind.InKernel():
		return s.Kernel.Symbol
	case s.Kind == LSM:
		return "bpf_lsm_" + s.Event
	}
	return ""
}

// Place gives where in the kernel s is, as loaders write it: "vfs_read+0x10".
func (s *Site) Place() string { return KernelPlace(s.Kernel.Symbol, s.Kernel.Offset) }

// KernelPlace writes the place that lies offset bytes behind symbol: "vfs_read+0x10", or "vfs_read" for 0.
func KernelPlace(symbol string, offset uint64) string {
	if offset == 0 {
		return symbol
	}
	return fmt.Sprintf("%s+%#x", symbol, offset)
}

// Go reports whether s lies in a Go program.
func (s *Site) Go() bool { return s.Image != nil && s.Image.Lang() == debuginfo.Go }
