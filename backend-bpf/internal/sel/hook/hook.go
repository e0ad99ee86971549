// Package hook knows the kinds of probes: which program serves one, which of its hits count, what its context holds.
//
// In: the sites of a handler. Out: code at the handler's beginning and end, code that reads the probed place, and
// programs that stand beside the handlers.
package hook

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/backend-bpf/internal/sel/task"
	"github.com/gostap/gostap/backend-bpf/internal/sel/text"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/probe"
)

// Hook writes what depends on where a handler is attached: which hits count, what there is to see of the probed place.
type Hook struct {
	*body.Body
	task *task.Task
	str  *text.Text

	ReadRegs uint64   // registers of the probed context that are looked at, a bit for each DWARF number
	SiteNum  mach.Reg // which of the handler's sites was hit, None if nobody asks
	answer   mach.Reg // what the program gives, None where that is Row.result
}

// New gives the Hook of a handler.
func New(b *body.Body, t *task.Task, str *text.Text) *Hook {
	return &Hook{Body: b, task: t, str: str, SiteNum: mach.None, answer: mach.None}
}

// Row is what the generator knows of a kind of site. The functions that it names stand in files of their own:
// uprobe.go, kernel.go, event.go (tracepoints), syscall.go, lifetime.go, sample.go, packet.go, lsm.go.
type Row struct {
	// program says which kind of program serves a handler, and what it is made for.
	program func(g *Hook) (ebpf.ProgramType, ebpf.AttachType, string)
	// event is the event ("group:name") at which hits come, where it is one and the same for all sites.
	event string
	// word is OpTraceArg, nil where a hit has no arguments.
	word func(g *Hook, in *ir.Instr)
	// first and then go on only with hits that the sites are for; between the two others' processes are left out.
	first, then func(g *Hook, out *mach.Block)
	// site gives the number of the site that was hit, nil for what the attachment carries (its cookie).
	site func(g *Hook) mach.Reg
	// IP gives the address of the probed instruction, nil for that of the registers.
	IP func(g *Hook) mach.Reg
	// multi are the registers that a link for many functions of the kernel has, as bits by their numbers; nil: there is
	// no such link, or it has none.
	multi func(*machine.Machine) uint64
	// noRegs says why the context has no registers of a program, "" if it has; NoStack the same of stacks.
	noRegs, NoStack string
	// deep: a program that uses much stack must stay on that of its thread (ownstack.go).
	deep bool
	// result is what a program returns.
	result int64
}

// hooks has a row for each kind of site that eBPF serves; the others fire in the tracer, or are served there.
// It is filled when the program begins: functions of the rows look at the row that they stand in.
var hooks [probe.NumKinds]*Row

func init() {
	hooks = [probe.NumKinds]*Row{
		probe.Uprobe:    {program: probed, deep: true},
		probe.Uretprobe: {program: probed, deep: true, then: (*Hook).nested},
		probe.Kprobe:    {program: probedInKernel, IP: (*Hook).kprobeIP, multi: callRegs},
		probe.Kretprobe: {program: probedInKernel, multi: returnRegs},
		probe.Profile:   {program: perfEvent},
		probe.Perf:      {program: perfEvent},
		probe.Tracepoint: {program: traced, word: (*Hook).eventWord, first: (*Hook).tracepointFilter,
			noRegs: eventless},
		probe.ProcessSyscall: {event: eventEnter, program: atOwnEvent, word: (*Hook).syscallWord,
			first: (*Hook).syscallFilter, site: (*Hook).syscallSite, noRegs: eventless},
		probe.ProcessSyscallReturn: {event: eventLeave, program: atOwnEvent, word: (*Hook).syscallWord,
			first: (*Hook).syscallFilter, site: (*Hook).syscallSite, noRegs: eventless},
		probe.ProcessBegin: {event: eventExec, program: atOwnEvent, then: (*Hook).runs, noRegs: lifeless},
		probe.ProcessFork: {event: eventLeave, program: atOwnEvent, first: (*Hook).processBorn, then: (*Hook).runs,
			noRegs: lifeless},
		probe.ProcessEnd: {event: eventExit, program: atOwnEvent, then: (*Hook).processEnds, noRegs: lifeless},
		probe.ThreadBegin: {event: eventLeave, program: atOwnEvent, first: (*Hook).threadBorn, then: (*Hook).runs,
			noRegs: lifeless},
		probe.ThreadEnd: {event: eventExit, program: atOwnEvent, then: (*Hook).threadEnds, noRegs: lifeless},
		probe.Netfilter: {program: filtering, word: (*Hook).packet, site: onlySite, result: nfAccept,
			noRegs:  "where packets come by there are no registers to look at",
			NoStack: "the kernel shows eBPF programs no stacks where packets come by"},
		probe.LSM: {program: asked, word: (*Hook).asking, site: onlySite, noRegs: eventless},
	}
}

const (
	eventless = "with eBPF a probe at a tracepoint or a system call has no registers of the program to look at"
	lifeless  = "where a process or thread begins or ends there is no instruction of the program to look at"
)

// Row gives the row of the handler's kind: all of its sites are of one (place.Decide).
func (g *Hook) Row() *Row {
	if h := hooks[g.H.Sites[0].Kind]; h != nil {
		return h
	}
	return &Row{}
}

// Wanted goes on only with hits that the sites are for, before those of others' processes are left out.
func (g *Hook) Wanted(out *mach.Block) {
	if first := g.Row().first; first != nil {
		first(g, out)
	}
}

// Counted goes on only with hits that count, behind what leaves others' processes out.
func (g *Hook) Counted(out *mach.Block) {
	if then := g.Row().then; then != nil {
		then(g, out)
	}
}

// HitSite gives the number of the site that was hit.
func (g *Hook) HitSite() mach.Reg {
	if site := g.Row().site; site != nil {
		return site(g)
	}
	return g.Call(asm.FnGetAttachCookie, emit.InReg(g.Ctx))
}

// ProgType says which kind of program serves the handler.
func (g *Hook) ProgType() (ebpf.ProgramType, ebpf.AttachType, string) { return g.Row().program(g) }

// atOwnEvent is hook.program of kinds that come at one event.
func atOwnEvent(g *Hook) (ebpf.ProgramType, ebpf.AttachType, string) {
	return atEvent(g.Row().event, g.Record)
}

// noEvent refuses OpTraceArg where there are no such arguments.
func (g *Hook) noEvent(in *ir.Instr) {
	g.Refuse(in, "bpf-no-event", "there are no arguments of an event at this kind of probe")
	g.MovI(g.Longs[in.Dst], 0)
}

// TraceArg is OpTraceArg.
func (g *Hook) TraceArg(in *ir.Instr) {
	switch word := g.Row().word; {
	case in.Dst == ir.NoReg:
	case word == nil:
		g.noEvent(in)
	default:
		word(g, in)
	}
}

// UserRegs reports whether the context holds registers, and refuses what in asks for if not.
func (g *Hook) UserRegs(in *ir.Instr, what string) bool {
	why := g.Row().noRegs
	if why != "" {
		g.Refuse(in, "bpf-no-registers", "%s: %s", what, why)
	}
	return why == ""
}

// onlySite is hook.site where all sites of a handler are one and the same place (place.Decide).
func onlySite(g *Hook) mach.Reg { return g.Imm(int64(g.H.IDs[0])) }

// IP gives the address of the probed instruction; at a return probe of the kernel, that of the instruction to which the
// function returns.
func (g *Hook) IP() mach.Reg {
	if ip := g.Row().IP; ip != nil {
		return ip(g)
	}
	return g.RegIn(g.Ctx, g.U.P.On().IP)
}
