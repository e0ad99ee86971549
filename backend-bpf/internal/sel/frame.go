package sel

import "github.com/gostap/gostap/backend-bpf/internal/mach"

// slotsPerCPU is how many handlers may hold scratch memory on one CPU: handlers of user probes can be
// preempted by others.
const slotsPerCPU = 4

// temp gives a stack slot for use within one instruction.
func (g *gen) temp(n int) mach.Slot { return g.f.NewSlot(n) }
