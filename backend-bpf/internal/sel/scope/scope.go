// Package scope writes the code that keeps handlers to the threads of some control groups (cgroups) and of those below
// them.
//
// In: which hierarchy the groups are of. Out: code that leaves a handler for other threads, and the map in which the
// session puts the groups (plan.MapScope).
package scope

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/backend-bpf/internal/sel/task"
)

// Map is the map of the groups: there is room for those that were and those that are to be.
func Map() *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: plan.MapScope, Type: ebpf.Hash, KeySize: 8, ValueSize: 8,
		MaxEntries: 2*plan.MaxScope + 1}
}

// Inside goes to out unless the current thread is in one of the groups. An error says why that cannot be asked here.
func Inside(t *task.Task, out *mach.Block) error {
	g := scoped{t, out}
	if t.U.Scope.Controller == "" {
		g.unified()
		return nil
	}
	return g.other(t.U.Scope.Controller)
}

type scoped struct {
	*task.Task
	out *mach.Block
}

// find gives the address of what the map has for a group, 0 for none.
func (g scoped) find(id mach.Reg) mach.Reg {
	key := g.Temp(8)
	g.StoreS(key, 0, id, asm.DWord)
	return g.Call(asm.FnMapLookupElem, emit.Map(plan.MapScope), emit.OnStack(key, 0))
}

// unified asks the kernel for the thread's group in the hierarchy of version 2 and for those above it.
func (g scoped) unified() {
	g.listed(func() mach.Reg { return g.Call(asm.FnGetCurrentCgroupId) }, func(level mach.Reg, _ *mach.Block) mach.Reg {
		return g.Call(asm.FnGetCurrentAncestorCgroupId, emit.InReg(level)) // 0 where there is none
	})
}

// other reads it from the thread's css_set, which has a group for each controller of version 1. Since 6.1 a group has
// the groups above it.
func (g scoped) other(controller string) error {
	var offs [7]int
	for i, m := range [...]struct{ of, member string }{{"task_struct", "cgroups"}, {"css_set", "subsys"},
		{"cgroup_subsys_state", "cgroup"}, {"cgroup", "kn"}, {"kernfs_node", "id"}, {"cgroup", "level"},
		{"cgroup", "ancestors"}} {
		off, ok := g.Member(m.of, m.member)
		if !ok {
			return fmt.Errorf("this kernel's %s has no %s", m.of, m.member)
		}
		offs[i] = off
	}
	index, ok := g.U.Types.Enumerator("cgroup_subsys_id", controller+"_cgrp_id")
	if name, has := renamed[controller]; !ok && has {
		index, ok = g.U.Types.Enumerator("cgroup_subsys_id", name+"_cgrp_id")
	}
	if !ok {
		return fmt.Errorf("this kernel does not tell which of its controllers %s is", controller)
	}
	css := g.KernelWord(g.Call(asm.FnGetCurrentTask), offs[0], 8)
	group := g.KernelWord(g.KernelWord(css, offs[1]+8*int(index), 8), offs[2], 8)
	id := func(group mach.Reg) mach.Reg { return g.KernelWord(g.KernelWord(group, offs[3], 8), offs[4], 8) }
	depth := g.KernelWord(group, offs[5], 4)
	g.listed(func() mach.Reg { return id(group) }, func(level mach.Reg, none *mach.Block) mach.Reg {
		g.Unless(asm.JGE, level, depth, none)
		at := g.BinI(asm.LSh, level, 3)
		g.Alu(asm.Add, at, group)
		return id(g.KernelWord(at, offs[6], 8))
	})
	return nil
}

// renamed are controllers that the kernel's enum calls otherwise.
var renamed = map[string]string{"blkio": "io"}

// listed leaves the handler unless the thread's own group is in the map, or one above it at the levels that groups of
// the map have: the element ScopeHead has those, a byte for each, with 1 added.
func (g scoped) listed(own func() mach.Reg, above func(level mach.Reg, none *mach.Block) mach.Reg) {
	in := g.Block()
	g.UnlessI(asm.JNE, g.find(own()), 0, in)
	head := g.find(g.Imm(-1)) // plan.ScopeHead
	g.UnlessI(asm.JEq, head, 0, g.out)
	levels := g.Get(head, 0, asm.DWord)
	for range plan.ScopeLevels {
		next := g.Block()
		level := g.BinI(asm.And, levels, 0xff)
		g.UnlessI(asm.JEq, level, 0, g.out)
		g.AluI(asm.Sub, level, 1)
		g.UnlessI(asm.JNE, g.find(above(level, next)), 0, in)
		g.Here(next)
		g.AluI(asm.RSh, levels, 8)
	}
	g.Jump(g.out)
	g.Set(in)
}
