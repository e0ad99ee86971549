// Package sel writes the eBPF code of handlers: it walks the blocks of an ir.Func and
// writes machine instructions over virtual registers (package mach), which package
// regalloc then places.
//
// In: an ir.Program with its layout (package maps) and handlers whose calls are
// inlined (package place). Out: instructions, and what the host must know to read the
// records (wire.Schema).
package sel

import (
	"errors"
	"fmt"
	maps2 "maps"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/regalloc"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/place"
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
	// WriteRegs and WriteUser try whether a uprobe's program may change registers and memory of the traced program, and say
	// why not. Like Sleepable they are asked when a handler needs it.
	WriteRegs, WriteUser func() error
	// Events tells whether programs at system calls, beginnings and ends of processes and forks are to go by perf events of these
	// tracepoints, since raw ones can be preempted and miss hits meanwhile (7.0). It is asked when there is such a program. nil means no.
	Events func() bool
}

// Unit is one program being translated. Handler adds one handler to it.
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
	// CanStop: some handler can end the session by itself, or the session holds them while places are attached, so all of
	// them look at the state.
	CanStop bool
	// Fired: handlers note that they ran.
	Fired bool

	scratch  int    // bytes of the largest scratch slot, 0 if nobody needs one
	zeros    int    // bytes of MapZero
	text     []byte // contents of MapText
	textAt   map[string]int
	watching map[string]string // maps of the processes that run a file, by its path
	lastNote string
	family   bool // some handler is for the target's family
	ended    bool // some handler looks into MapEnded
	timed    bool // some handler is timed
	slack    int  // bytes that have to follow the last text
}

// Types finds offsets in structures of the kernel.
type Types interface {
	// Offset gives the byte offset and size of a member such as "task_struct", "thread.fsbase".
	Offset(structure, path string) (off, size int, err error)
	// TracepointArgs is the number of arguments of a tracepoint, 0 if it is not there.
	TracepointArgs(name string) int
}

// Handler is one program to be made.
type Handler struct {
	*place.Handler
	Name string
	// Capture is the index of the capture that a deferred handler's stub sends.
	Capture int
}

// Result is a translated handler.
type Result struct {
	Spec    *ebpf.ProgramSpec
	Cookies []uint64
	// Args are the forms of the values that a deferred handler's record carries.
	Args []wire.Arg
	// Stack is the bytes of the largest frame.
	Stack int
	// Insns is the number of instructions.
	Insns int
	// Funcs: a kprobe.multi link can serve the handler (plan.Attach).
	Funcs bool
}

// Handler translates h. A handler that does not fit the stack is translated again with less on it.
func (u *Unit) Handler(h *Handler) (*Result, error) {
	sites, text, at := len(u.Schema.Sites), len(u.text), maps2.Clone(u.textAt)
	var err error
	// Through the dispatcher of recursive functions the verifier finds no end in one piece; step by step it does.
	steps := len(h.Subs) > 0
	for lv := 0; lv < len(levels); {
		u.Schema.Sites, u.text, u.textAt = u.Schema.Sites[:sites], u.text[:text], maps2.Clone(at)
		var res *Result
		res, err = u.handler(h, levels[lv], steps)
		switch {
		case errors.Is(err, errSteps) && !steps:
			steps = true
		case errors.Is(err, regalloc.ErrStack):
			lv++
		default:
			return res, err
		}
	}
	return nil, err
}

func (u *Unit) handler(h *Handler, lv level, steps bool) (*Result, error) {
	g := newGen(u, h, lv, steps)
	if err := g.run(); err != nil {
		return nil, err
	}
	var out asm.Instructions
	res := &Result{Cookies: g.cookies(), Args: g.sent, Funcs: g.multi()}
	funcs := referenced(g.funcs)
	for _, f := range funcs {
		ins, err := finish(f, u.note)
		if err != nil {
			return nil, err
		}
		if len(funcs) > 1 {
			ins[0] = describe(ins[0], f)
		}
		out = append(out, ins...)
		res.Stack = max(res.Stack, f.Stack)
	}
	typ, attach, to := g.progType()
	res.Insns = int(out.Size() / asm.InstructionSize)
	res.Spec = &ebpf.ProgramSpec{Name: h.Name, Type: typ, AttachType: attach, AttachTo: to, Instructions: out, License: "GPL"}
	if g.sleeps {
		res.Spec.Flags = kern.FlagSleepable
	}
	u.scratch = max(u.scratch, g.scratchSize())
	return res, nil
}

// referenced lists the first function and those that are called, or whose address is taken, by code that can run; the kernel wants no others.
func referenced(all []*mach.Func) []*mach.Func {
	byName := map[string]*mach.Func{}
	for _, f := range all {
		byName[f.Name] = f
	}
	out := all[:1:1]
	for i := 0; i < len(out); i++ {
		out[i].Link()
		for _, b := range out[i].Blocks {
			for k := range b.Ins {
				if in := &b.Ins[k]; (in.Op == mach.FuncPtr || in.Op == mach.CallFn) && byName[in.Sym] != nil && !slices.Contains(out, byName[in.Sym]) {
					out = append(out, byName[in.Sym])
				}
			}
		}
	}
	return out
}

// finish assigns registers and gives the instructions of a function.
func finish(f *mach.Func, note func(source.Pos) fmt.Stringer) (asm.Instructions, error) {
	st, err := regalloc.Run(f)
	if err != nil {
		return nil, err
	}
	f.Stack = st.Stack
	ins, err := f.Emit(note)
	if err != nil {
		return nil, err
	}
	ins[0] = ins[0].WithSymbol(f.Name)
	return ins, nil
}

// Maps gives the maps that the handlers translated so far need besides those of the layout.
func (u *Unit) Maps(ringBytes int) map[string]*ebpf.MapSpec {
	m := map[string]*ebpf.MapSpec{
		plan.MapOutput:   {Name: plan.MapOutput, Type: ebpf.RingBuf, MaxEntries: uint32(ringBytes)},
		plan.MapControl:  {Name: plan.MapControl, Type: ebpf.Array, KeySize: 4, ValueSize: plan.CtlSize, MaxEntries: 1, Flags: kern.FlagMmapable},
		plan.MapCounters: {Name: plan.MapCounters, Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: uint32(u.CPUs * plan.CounterRow), Flags: kern.FlagMmapable},
	}
	if u.scratch > 0 {
		m[plan.MapScratch] = &ebpf.MapSpec{Name: plan.MapScratch, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(u.scratch),
			MaxEntries: uint32(u.CPUs * slotsPerCPU)}
	}
	if u.family {
		m[plan.MapFamily] = familyMap()
	}
	if u.timed {
		m[plan.MapSpent] = spentMap(u)
	}
	if u.ended {
		m[plan.MapEnded] = endedMap()
	}
	if u.zeros > 0 {
		m[plan.MapZero] = &ebpf.MapSpec{Name: plan.MapZero, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(u.zeros), MaxEntries: 1,
			Flags: kern.FlagReadOnlyProg, Contents: []ebpf.MapKV{{Key: uint32(0), Value: make([]byte, u.zeros)}}}
	}
	if len(u.text) > 0 {
		// Strings are read a word at a time, so the last one has some zeros behind it.
		u.text = append(u.text, make([]byte, 16+u.slack)...)
		m[plan.MapText] = &ebpf.MapSpec{Name: plan.MapText, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(len(u.text)), MaxEntries: 1,
			Flags: kern.FlagReadOnlyProg, Contents: []ebpf.MapKV{{Key: uint32(0), Value: u.text}}}
	}
	return m
}

// note gives the script's line for a listing.
func (u *Unit) note(p source.Pos) fmt.Stringer {
	n := plan.Source{Pos: p}
	if u.P.Files == nil {
		return n
	}
	if at := u.P.Files.Position(p); at.File != nil {
		n.Text = fmt.Sprintf("%s:%d: %s", at.File.Name, at.Line, strings.TrimSpace(at.File.Line(at.Line)))
	}
	if n.Text == u.lastNote {
		n.Text = "" // listings show a line once for all that is made of it in a row
	} else {
		u.lastNote = n.Text
	}
	return n
}

// refuse says that in, of pr's handler, is something that eBPF programs cannot do.
func refuse(u *Unit, pr *ir.Probe, in *ir.Instr, code diag.Code, format string, args ...any) {
	at, inner := u.P.Blame(pr, in.Pos, in.Via)
	u.Diags.Errorf(diag.Build, code, source.At(at), format, args...).Within(inner).
		Hintf("the kernel-module back end can do this: --runtime=kernel")
}

func (g *gen) refuse(in *ir.Instr, code diag.Code, format string, args ...any) {
	refuse(g.u, g.u.P.Probes[g.h.Probe], in, code, format, args...)
}

// Watchers gives the programs that the handlers translated so far need besides, in the reverse of the order in which they are attached.
func (u *Unit) Watchers() ([]Watcher, error) { return watchers(u) }

// Dispatcher makes a program that goes to the one in table at the number of the system call.
func (u *Unit) Dispatcher(name, table string, kind probe.Kind) (*ebpf.ProgramSpec, *ebpf.MapSpec, error) {
	return dispatcherAt(u, name, table, kind)
}

// ExitKeepsMemory reports whether sched_process_exit comes before a process's memory is gone.
func (u *Unit) ExitKeepsMemory() bool { return exitKeepsMemory(u) }
