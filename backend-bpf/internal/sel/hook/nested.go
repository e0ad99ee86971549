package hook

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
)

// nestedCalls is how many calls under return probes the kernel keeps of a thread (MAX_URETPROBE_DEPTH). What is called
// deeper returns without a hit, and the kernel counts that nowhere.
const nestedCalls = 64

// nested is hook.then of return probes: it counts, at the return of a C function, hits of the innermost call that
// the kernel keeps when it keeps no more. Before Linux 6.13, when struct uprobe_task got ri_timer, the call that
// returns is still among those that are counted.
func (g *Hook) nested(*mach.Block) {
	task, ok := g.task.Member("task_struct", "utask")
	depth, ok2 := g.task.Member("uprobe_task", "depth")
	if !ok || !ok2 {
		return
	}
	most := int64(nestedCalls)
	if _, ok := g.task.Member("uprobe_task", "ri_timer"); ok {
		most--
	}
	n := g.Get(g.Get(g.Call(asm.FnGetCurrentTaskBtf), task, asm.DWord), depth, asm.Word)
	full, onward := g.Cold(), g.Block()
	g.CondI(asm.JGE, n, most, full, onward)
	g.Set(full)
	g.Count(ir.LostNested)
	g.Jump(onward)
	g.Set(onward)
}

// probed is hook.program of instructions of programs.
func probed(*Hook) (ebpf.ProgramType, ebpf.AttachType, string) {
	return ebpf.Kprobe, ebpf.AttachNone, ""
}
