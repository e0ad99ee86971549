package sel

import (
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// There are two kinds of programs at a tracepoint. Those at raw ones are given the arguments, and cost less. Since Linux 7.0 they can be
// preempted, and while a thread is interrupted in one the kernel leaves out that program for the others on the CPU. Those at a
// perf event of the tracepoint run with preemption off on all kernels; they are given the record that the event would print:
//
//	raw_syscalls:sys_enter    long id at 8, unsigned long args[6] at 16
//	raw_syscalls:sys_exit     long id at 8, long ret at 16
//
// (include/trace/events/syscalls.h; all records have 8 bytes of the tracer's own in front). Others are read where the
// kernel's types say (struct trace_event_raw_NAME).

// Offsets in the records of system calls.
const (
	recordNr   = 8
	recordArgs = 16
	recordRet  = 16
)

// Names of the events that the generator knows, with their groups.
const (
	eventEnter = "raw_syscalls:sys_enter"
	eventLeave = "raw_syscalls:sys_exit"
	eventExec  = "sched:sched_process_exec"
	eventExit  = "sched:sched_process_exit"
	eventFork  = "sched:sched_process_fork"
)

// records reports whether programs at events are given records.
func records(u *Unit) bool { return u.Feat.Events != nil && u.Feat.Events() }

// atEvent says which kind of program goes to an event.
func atEvent(event string, record bool) (ebpf.ProgramType, ebpf.AttachType, string) {
	if record {
		return ebpf.TracePoint, ebpf.AttachNone, event
	}
	return ebpf.Tracing, ebpf.AttachTraceRawTp, event[strings.IndexByte(event, ':')+1:]
}

// traced is hook.program of tracepoints.
func traced(g *gen) (ebpf.ProgramType, ebpf.AttachType, string) {
	event := g.h.Sites[0].Event
	if g.record {
		return ebpf.TracePoint, ebpf.AttachNone, event
	}
	return ebpf.RawTracepoint, ebpf.AttachNone, event[strings.LastIndexByte(event, ':')+1:]
}

// perfEvent is hook.program of what counters fire.
func perfEvent(*gen) (ebpf.ProgramType, ebpf.AttachType, string) {
	return ebpf.PerfEvent, ebpf.AttachNone, ""
}

// recorded reports whether the handler is given a record: those of system calls and of processes, where it is so for all, and those of
// kernel.trace at system calls, whose records have all that the tracepoint has but the registers, which are known.
func (g *gen) recorded() bool {
	event := g.hook().event
	if s := g.h.Sites[0]; s.Event == eventEnter || s.Event == eventLeave {
		event = s.Event
	}
	return event != "" && records(g.u)
}

// taskRegs gives the registers with which the current thread has entered the kernel.
func (g *gen) taskRegs() mach.Reg {
	return g.call(asm.FnTaskPtRegs, aReg(g.call(asm.FnGetCurrentTaskBtf)))
}

// number makes a plain number of a pointer, which the verifier does not let a handler calculate with: it is written to the stack and
// read from there as memory of the kernel.
func (g *gen) number(p mach.Reg) mach.Reg {
	from := g.temp(8)
	g.storeS(from, 0, p, asm.DWord)
	to := g.temp(8)
	g.storeIS(to, 0, 0, asm.DWord)
	g.call(asm.FnProbeReadKernel, aSlot(to, 0), aImm(8), aSlot(from, 0))
	return g.getS(to, 0, asm.DWord)
}
