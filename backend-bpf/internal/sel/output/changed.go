package output

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
)

// ChangedProgram counts in plan.MapChanged when a process maps something where it had code when its ranges were
// entered: vm_unmapped_area(unsigned long addr, struct vm_unmapped_area_info *) says where the kernel will do so. While
// the host reads what a process has mapped, all of it counts. Code that is only unmapped does no harm: nobody runs it.
func ChangedProgram(u *body.Unit) (*ebpf.ProgramSpec, error) {
	size, _, err := u.Types.Offset("vm_unmapped_area_info", "length")
	if err != nil {
		return nil, err
	}
	f := mach.New(plan.ProgChanged)
	f.Params = 1
	c := &emit.Code{F: f, Lock: -1}
	c.Set(c.Block())
	out, count, ranges := c.Block(), c.Block(), c.Block()
	ctx := c.Copy(mach.R1)
	low, info := c.Get(ctx, 0, asm.DWord), c.Get(ctx, 8, asm.DWord)
	c.UnlessI(asm.JGT, low, 1<<48, out) // an error
	slot := f.NewSlot(8)
	c.StoreIS(slot, 0, 0, asm.DWord)
	c.Call(asm.FnProbeReadKernel, emit.OnStack(slot, 0), emit.Const(8),
		emit.InReg(c.BinI(asm.Add, info, int64(size))))
	last := c.BinI(asm.Sub, c.Bin(asm.Add, low, c.GetS(slot, 0, asm.DWord)), 1)
	whose := c.BinI(asm.RSh, c.Call(asm.FnGetCurrentPidTgid), 32)
	key := f.NewSlot(8)
	c.StoreS(key, 0, whose, asm.DWord)
	c.Cond(asm.JEq, whose, c.Get(c.MapVal(plan.MapControl, 0), plan.CtlLooking, asm.Word), count, ranges)
	c.Set(ranges)
	proc := c.Call(asm.FnMapLookupElem, emit.Map(plan.MapProcs), emit.OnStack(key, 0))
	c.UnlessI(asm.JEq, proc, 0, out)
	many := c.Get(proc, plan.ProcCount, asm.Word)
	c.UnlessI(asm.JEq, many, 0, out)
	at := search(c, plan.MapRanges, plan.MaxRanges, plan.RangeSize, c.Get(proc, plan.ProcFirst, asm.Word), many, last)
	c.Unless(asm.JGT, c.Get(at, plan.RangeStart, asm.DWord), last, out)
	c.Cond(asm.JLE, c.Get(at, plan.RangeEnd, asm.DWord), low, out, count)
	c.Set(count)
	n := c.Call(asm.FnMapLookupElem, emit.Map(plan.MapChanged), emit.OnStack(key, 0))
	c.UnlessI(asm.JEq, n, 0, out)
	c.Atomic(asm.AddAtomic, n, 0, c.Imm(1), asm.DWord)
	c.Here(out)
	c.Ret(0)
	ins, err := emit.Finish(f, nil)
	if err != nil {
		return nil, err
	}
	return &ebpf.ProgramSpec{Name: plan.ProgChanged, Type: ebpf.RawTracepoint, AttachTo: "vm_unmapped_area",
		Instructions: ins, License: "GPL"}, nil
}

// search gives the address of the last of count items from first on whose first word is not above key, or of the first
// one. The map has most of them, a power of two. Numbers have less than 64 bits. Steps have no branches, which the
// verifier would multiply; a short list skips the first ones.
func search(w *emit.Code, of string, most, size int, first, count, key mach.Reg) mach.Reg {
	val := w.MapVal(of, 0)
	at := func(i mach.Reg) mach.Reg {
		p := w.BinI(asm.And, i, int64(most-1))
		w.AluI(asm.LSh, p, emit.Log2(int64(size)))
		w.Alu(asm.Add, p, val)
		return p
	}
	low, n := w.Copy(first), w.Copy(count)
	steps := emit.Log2(int64(most))
	entries := map[int64]*mach.Block{}
	for _, few := range []int64{8, 15} { // a small program, a library
		if few < steps {
			entries[few] = w.Block()
			w.UnlessI(asm.JLE, n, 1<<few, entries[few])
		}
	}
	for left := steps; left > 0; left-- {
		if b := entries[left]; b != nil {
			w.Here(b)
		}
		half := w.BinI(asm.RSh, n, 1)
		below := w.Get(at(w.Bin(asm.Add, low, half)), 0, asm.DWord)
		w.Alu(asm.Sub, below, key)
		w.AluI(asm.Sub, below, 1)
		w.AluI(asm.ArSh, below, 63)
		w.Alu(asm.And, below, half)
		w.Alu(asm.Add, low, below)
		w.Alu(asm.Sub, n, half)
	}
	return at(low)
}
