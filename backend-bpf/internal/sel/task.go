package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
)

// offset finds a member of a kernel structure.
func (g *gen) offset(in *ir.Instr, structure, path string) (int, bool) {
	if g.u.Types == nil {
		g.refuse(in, "bpf-kernel-types", "this needs the types of the kernel, which this kernel does not publish (CONFIG_DEBUG_INFO_BTF)")
		return 0, false
	}
	off, _, err := g.u.Types.Offset(structure, path)
	if err != nil {
		g.refuse(in, "bpf-kernel-types", "this kernel's %s has no %s: %v", structure, path, err)
		return 0, false
	}
	return off, true
}

// kernelWord reads n bytes of kernel memory at p + off; what cannot be read is 0.
func (g *gen) kernelWord(p mach.Reg, off, n int) mach.Reg {
	s := g.temp(8)
	g.storeIS(s, 0, 0, asm.DWord)
	g.call(asm.FnProbeReadKernel, aSlot(s, 0), aImm(int64(n)), aReg(g.binI(asm.Add, p, int64(off))))
	return g.getS(s, 0, asm.DWord)
}

// memberType is the structure that a pointer member of task_struct leads to.
var memberType = map[string]string{"real_parent": "task_struct", "cred": "cred"}

// taskInt reads an int behind a pointer of the current task.
func (g *gen) taskInt(in *ir.Instr, via, field string) {
	a, ok := g.offset(in, "task_struct", via)
	b, ok2 := g.offset(in, memberType[via], field)
	if !ok || !ok2 {
		g.result(in, g.imm(0))
		return
	}
	p := g.kernelWord(g.call(asm.FnGetCurrentTask), a, 8)
	g.result(in, g.kernelWord(p, b, 4))
}

// taskPid reads the number of the current task's process group or session.
func (g *gen) taskPid(in *ir.Instr, kind int) {
	find := g.needed(in)
	p, ok := g.pidOf(g.call(asm.FnGetCurrentTask), kind, find)
	if _, ok2 := find("pid", "numbers"); !ok || !ok2 {
		g.result(in, g.imm(0))
		return
	}
	g.result(in, g.numberOf(p))
}

// ppid reads the number of the parent of the current process.
func (g *gen) ppid(in *ir.Instr) {
	if !g.u.OtherPidNS {
		g.taskInt(in, "real_parent", "tgid")
		return
	}
	par, ok := g.offset(in, "task_struct", "real_parent")
	p, ok2 := g.pidOf(g.kernelWord(g.call(asm.FnGetCurrentTask), par, 8), pidTgid, g.needed(in))
	if !ok || !ok2 {
		g.result(in, g.imm(0))
		return
	}
	g.result(in, g.numberOf(p))
}

func (g *gen) pexecname(in *ir.Instr) {
	dst := g.strs[in.Dst]
	par, ok := g.offset(in, "task_struct", "real_parent")
	comm, ok2 := g.offset(in, "task_struct", "comm")
	if !ok || !ok2 {
		g.assign(dst, literal(""))
		return
	}
	const n = 16
	p := g.kernelWord(g.call(asm.FnGetCurrentTask), par, 8)
	s := mem{slot: g.temp(n)}
	g.zero(s, n)
	g.call(asm.FnProbeReadKernelStr, g.argP(s), aImm(n), aReg(g.binI(asm.Add, p, int64(comm))))
	g.assign(dst, padded(s, n-1))
}

// nsPid gives the number of the current process, or thread, in its own pid namespace: the last of the numbers
// that its struct pid holds, one for each namespace from the first one down.
func (g *gen) nsPid(in *ir.Instr, thread bool) {
	find := g.needed(in)
	level, ok := find("pid", "level")
	numbers, ok2 := find("pid", "numbers")
	p, ok3 := g.currentPid(thread, find)
	if !ok || !ok2 || !ok3 {
		g.result(in, g.imm(0))
		return
	}
	n := g.kernelWord(p, level, 4)
	g.result(in, g.kernelWord(g.bin(asm.Add, p, g.binI(asm.Mul, n, upidSize)), numbers, 4))
}

// tls is OpTLS: the thread's fs base, as the kernel keeps it. It is set through the kernel by arch_prctl and clone,
// so what the kernel keeps is right for the running thread too.
func (g *gen) tls(in *ir.Instr) {
	off, ok := g.offset(in, "task_struct", "thread.fsbase")
	if !ok {
		g.movI(g.longs[in.Dst], 0)
		return
	}
	g.load(g.longs[in.Dst], g.call(asm.FnGetCurrentTaskBtf), off, asm.DWord)
}
