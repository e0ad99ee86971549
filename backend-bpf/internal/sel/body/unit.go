package body

import (
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/wire"
)

// Features is what the kernel can do beyond Linux 6.1.
type Features struct {
	// MayGoto: loops with the may_goto instruction (6.9). Without it loops are steps of bpf_loop.
	MayGoto bool
	// FuncIP: bpf_get_func_ip knows the entry of a user function at a return probe (6.6).
	FuncIP bool
	// Sleepable tells whether a uprobe's program may wait for a page that is not in memory (6.0); it is asked when one
	// reads memory of the traced program. nil means no.
	Sleepable func() bool
	// WriteRegs and WriteUser try whether a uprobe's program may change registers and memory of the traced program, and
	// say why not. Like Sleepable they are asked when a handler needs it.
	WriteRegs, WriteUser func() error
	// Override tries likewise whether a program may have a kernel function return at once, and Overridable whether that
	// one may. nil means yes.
	Override    func() error
	Overridable func(symbol string) error
	// Events tells whether programs at system calls, beginnings and ends of processes and forks are to go by perf
	// events of these tracepoints, since raw ones can be preempted and miss hits meanwhile (7.0). It is asked when
	// there is such a program. nil means no.
	Events func() bool
}

// Unit is one program being translated: what all of its handlers share.
type Unit struct {
	P      *ir.Program
	Layout *maps.Layout
	Feat   Features
	// CPUs is the number of possible CPUs.
	CPUs int
	// Types answers what it needs to know of kernel structures; it may be nil.
	Types Types
	// Name is the session's module name.
	Name string

	// Schema receives the print sites.
	Schema *wire.Schema
	Diags  diag.List

	// OtherPidNS: the tracer is not in the first pid namespace, so the numbers of processes that it is given are its
	// own namespace's.
	OtherPidNS bool
	// CanStop: some handler can end the session by itself, or the session holds them while places are attached, so all
	// of them look at the state.
	CanStop bool
	// Fired: handlers note that they ran.
	Fired bool
	// Hits: handlers count their hits.
	Hits bool
	// Share is how many thousandths of a CPU all hits may take, with what it costs to get to their handlers (Prices);
	// 0: the limits of P hold, for handlers that can take long.
	Share  int
	Prices backend.Prices
	// Scope: handlers are for threads of some control groups.
	Scope *backend.Scope

	Scratch  int    // bytes of the largest scratch slot, 0 if nobody needs one
	Zeros    int    // bytes of MapZero
	Text     []byte // contents of MapText
	TextAt   map[string]int
	Watching map[string]string // maps of the processes that run a file, by its path
	LastNote string
	Family   bool  // some handler is for the target's family
	Ended    bool  // some handler looks into MapEnded
	Timed    bool  // some handler is timed
	Kept     bool  // some handler keeps stacks
	Walks    bool  // some handler walks stacks by tables
	Slack    int   // bytes that have to follow the last text
	Hashes   *bool // some handler hashes as Go does; nil if that is not known yet
}

// Types finds offsets in structures of the kernel.
type Types interface {
	// Offset gives the byte offset and size of a member such as "task_struct", "thread.fsbase".
	Offset(structure, path string) (off, size int, err error)
	// TracepointArgs is the number of arguments of a tracepoint, 0 if it is not there.
	TracepointArgs(name string) int
	// Enumerator gives the value of one of an enum's names.
	Enumerator(enum, name string) (value int64, ok bool)
}

// Handler is one program to be made.
type Handler struct {
	*partition.Handler
	Name string
	// Capture is the index of the capture that a deferred handler's stub sends.
	Capture int
}

// TextOf puts text into the map of constants and gives its offset.
func (g *Body) TextOf(text string) int {
	u := g.U
	if o, ok := u.TextAt[text]; ok {
		return o
	}
	if u.TextAt == nil {
		u.TextAt = map[string]int{}
	}
	o := len(u.Text)
	u.Text = append(u.Text, text...)
	u.Text = append(u.Text, make([]byte, 8-len(text)%8)...)
	u.TextAt[text] = o
	return o
}

// refuse says that in, of pr's handler, is something that eBPF programs cannot do.
func refuse(u *Unit, pr *ir.Probe, in *ir.Instr, code diag.Code, format string, args ...any) {
	at, inner := u.P.Blame(pr, in.Pos, in.Via)
	d := u.Diags.Errorf(diag.Build, code, source.At(at), format, args...).Within(inner)
	// Modules have no hooks of the security modules, and no control groups either.
	if code != backend.CodeScope && (len(pr.Sites) == 0 || pr.Sites[0].Kind != probe.LSM) {
		d.Hintf("the kernel-module back end can do this: --runtime=kernel")
	}
}
