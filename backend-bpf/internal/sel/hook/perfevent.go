package hook

import (
	"strings"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
)

// There are two kinds of programs at a tracepoint. Those at raw ones are given the arguments, and cost less. Since
// Linux 7.0 they can be preempted, and while a thread is interrupted in one the kernel leaves out that program for the
// others on the CPU. Those at a perf event of the tracepoint run with preemption off on all kernels; they are given the
// record that the event would print:
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
func records(u *body.Unit) bool { return u.Feat.Events != nil && u.Feat.Events() }

// atEvent says which kind of program goes to an event.
func atEvent(event string, record bool) (ebpf.ProgramType, ebpf.AttachType, string) {
	if record {
		return ebpf.TracePoint, ebpf.AttachNone, event
	}
	return ebpf.Tracing, ebpf.AttachTraceRawTp, event[strings.IndexByte(event, ':')+1:]
}

// traced is hook.program of tracepoints.
func traced(g *Hook) (ebpf.ProgramType, ebpf.AttachType, string) {
	event := g.H.Sites[0].Event
	if g.Record {
		return ebpf.TracePoint, ebpf.AttachNone, event
	}
	return ebpf.RawTracepoint, ebpf.AttachNone, event[strings.LastIndexByte(event, ':')+1:]
}

// perfEvent is hook.program of what counters fire.
func perfEvent(*Hook) (ebpf.ProgramType, ebpf.AttachType, string) {
	return ebpf.PerfEvent, ebpf.AttachNone, ""
}

// Recorded reports whether the handler is given a record: those of system calls and of processes, where it is so for
// all, and those of kernel.trace at system calls, whose records have all that the tracepoint has but the registers,
// which are known.
func (g *Hook) Recorded() bool {
	event := g.Row().event
	if s := g.H.Sites[0]; s.Event == eventEnter || s.Event == eventLeave {
		event = s.Event
	}
	return event != "" && records(g.U)
}
