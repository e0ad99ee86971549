package sel

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// hook is what the generator knows of a kind of site. The functions that it names stand in files of their own:
// uprobe.go, kernel.go, event.go (tracepoints), syscall.go, lifetime.go, sample.go, packet.go.
type hook struct {
	// program says which kind of program serves a handler, and what it is made for.
	program func(g *gen) (ebpf.ProgramType, ebpf.AttachType, string)
	// event is the event ("group:name") at which hits come, where it is one and the same for all sites.
	event string
	// word is OpTraceArg, nil where a hit has no arguments.
	word func(g *gen, in *ir.Instr)
	// first and then go on only with hits that the sites are for; between the two others' processes are left out.
	first, then func(g *gen, out *mach.Block)
	// site gives the number of the site that was hit, nil for what the attachment carries (its cookie).
	site func(g *gen) mach.Reg
	// ip gives the address of the probed instruction, nil for that of the registers.
	ip func(g *gen) mach.Reg
	// multi are the registers that a link for many functions of the kernel has, by DWARF number; 0: there is no such link.
	multi uint32
	// noRegs says why the context has no registers of a program, "" if it has; noStack the same of stacks.
	noRegs, noStack string
	// deep: a program that uses much stack must stay on that of its thread (ownstack.go).
	deep bool
	// result is what a program returns.
	result int64
}

// hooks has a row for each kind of site that eBPF serves; the others fire in the tracer, or are refused (Refused).
// It is filled when the program begins: functions of the rows look at the row that they stand in.
var hooks [probe.NumKinds]*hook

func init() {
	hooks = [probe.NumKinds]*hook{
		probe.Uprobe:     {program: probed, deep: true},
		probe.Uretprobe:  {program: probed, deep: true, then: (*gen).nested},
		probe.Kprobe:     {program: probedInKernel, ip: (*gen).kprobeIP, multi: callRegs},
		probe.Kretprobe:  {program: probedInKernel, multi: returnRegs},
		probe.Profile:    {program: perfEvent},
		probe.Perf:       {program: perfEvent},
		probe.Tracepoint: {program: traced, word: (*gen).eventWord, first: (*gen).tracepointFilter, noRegs: eventless},
		probe.ProcessSyscall: {event: eventEnter, program: atOwnEvent, word: (*gen).syscallWord, first: (*gen).syscallFilter,
			site: (*gen).syscallSite, noRegs: eventless},
		probe.ProcessSyscallReturn: {event: eventLeave, program: atOwnEvent, word: (*gen).syscallWord, first: (*gen).syscallFilter,
			site: (*gen).syscallSite, noRegs: eventless},
		probe.ProcessBegin: {event: eventExec, program: atOwnEvent, then: (*gen).runs, noRegs: lifeless},
		probe.ProcessFork:  {event: eventLeave, program: atOwnEvent, first: (*gen).processBorn, then: (*gen).runs, noRegs: lifeless},
		probe.ProcessEnd:   {event: eventExit, program: atOwnEvent, then: (*gen).processEnds, noRegs: lifeless},
		probe.ThreadBegin:  {event: eventLeave, program: atOwnEvent, first: (*gen).threadBorn, then: (*gen).runs, noRegs: lifeless},
		probe.ThreadEnd:    {event: eventExit, program: atOwnEvent, then: (*gen).threadEnds, noRegs: lifeless},
		probe.Netfilter: {program: filtering, word: (*gen).packet, site: (*gen).onlySite, result: nfAccept,
			noRegs: "where packets come by there are no registers to look at", noStack: "the kernel shows eBPF programs no stacks where packets come by"},
	}
}

const (
	eventless = "with eBPF a probe at a tracepoint or a system call has no registers of the program to look at"
	lifeless  = "where a process or thread begins or ends there is no instruction of the program to look at"
)

// refused says of kinds that fire in the kernel why eBPF does not serve them.
var refused = [probe.NumKinds]string{
	probe.ProcfsRead:  "files in /proc need a kernel module",
	probe.ProcfsWrite: "files in /proc need a kernel module",
}

// Refused says why no eBPF program serves sites of kind k, "" if one does or if they fire in the tracer.
func Refused(k probe.Kind) string { return refused[k] }

// hook gives the row of the handler's kind: all of its sites are of one (place.Decide).
func (g *gen) hook() *hook {
	if h := hooks[g.h.Sites[0].Kind]; h != nil {
		return h
	}
	return &hook{}
}

// wanted goes on only with hits that the sites are for, before those of others' processes are left out.
func (g *gen) wanted(out *mach.Block) {
	if first := g.hook().first; first != nil {
		first(g, out)
	}
}

// counted goes on only with hits that count, behind what leaves others' processes out.
func (g *gen) counted(out *mach.Block) {
	if then := g.hook().then; then != nil {
		then(g, out)
	}
}

// hitSite gives the number of the site that was hit.
func (g *gen) hitSite() mach.Reg {
	if site := g.hook().site; site != nil {
		return site(g)
	}
	return g.call(asm.FnGetAttachCookie, aReg(g.ctx))
}

// progType says which kind of program serves the handler.
func (g *gen) progType() (ebpf.ProgramType, ebpf.AttachType, string) { return g.hook().program(g) }

// atOwnEvent is hook.program of kinds that come at one event.
func atOwnEvent(g *gen) (ebpf.ProgramType, ebpf.AttachType, string) {
	return atEvent(g.hook().event, g.record)
}

// noEvent refuses OpTraceArg where there are no such arguments.
func (g *gen) noEvent(in *ir.Instr) {
	g.refuse(in, "bpf-no-event", "there are no arguments of an event at this kind of probe")
	g.movI(g.longs[in.Dst], 0)
}

// traceArg is OpTraceArg.
func (g *gen) traceArg(in *ir.Instr) {
	switch word := g.hook().word; {
	case in.Dst == ir.NoReg:
	case word == nil:
		g.noEvent(in)
	default:
		word(g, in)
	}
}

// userRegs reports whether the context holds registers, and refuses what in asks for if not.
func (g *gen) userRegs(in *ir.Instr, what string) bool {
	why := g.hook().noRegs
	if why != "" {
		g.refuse(in, "bpf-no-registers", "%s: %s", what, why)
	}
	return why == ""
}

// onlySite is hook.site where all sites of a handler are one and the same place (place.Decide).
func (g *gen) onlySite() mach.Reg { return g.imm(int64(g.h.IDs[0])) }

// ip gives the address of the probed instruction; at a return probe of the kernel, that of the instruction to which the
// function returns.
func (g *gen) ip() mach.Reg {
	if ip := g.hook().ip; ip != nil {
		return ip(g)
	}
	return g.get(g.ctx, ptRegs[regIP], asm.DWord)
}
