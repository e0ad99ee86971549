package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

const (
	// mostDelay is the longest wait, in microseconds, as in modules.
	mostDelay = 1_000_000
	// delayRounds calls of bpf_loop look at the clock often enough for that: one takes 10 ns at least.
	delayRounds = 10
)

// delay is udelay() and mdelay(): unit is how many microseconds the argument counts. The thread waits with the
// processor running, since eBPF programs cannot sleep.
func delay(unit int64) func(g *gen, in *ir.Instr) {
	return func(g *gen, in *ir.Instr) {
		for _, s := range g.H.Sites {
			if !s.Kind.InThread() {
				g.Refuse(in, "bpf-function", "%s() waits at places of programs and in system calls only: at %s the "+
					"kernel may have turned off interrupts", in.Name, s.Title())
				return
			}
		}
		n := g.Copy(g.Long(in.Args[0]))
		none, some, long, fits := g.Block(), g.Block(), g.Block(), g.Block()
		g.CondI(asm.JSLE, n, 0, none, some)
		g.Set(some)
		g.CondI(asm.JGT, n, mostDelay/unit, long, fits)
		g.Set(long)
		g.MovI(n, mostDelay/unit)
		g.Jump(fits)
		g.Set(fits)
		g.AluI(asm.Mul, n, unit*1000)
		g.Alu(asm.Add, n, g.Call(asm.FnKtimeGetNs))
		until := g.Temp(8)
		g.StoreS(until, 0, n, asm.DWord)
		name := waiter(g)
		for range delayRounds {
			g.Call(asm.FnLoop, emit.Const(maxSteps), emit.Fn(name), emit.OnStack(until, 0), emit.Const(0))
		}
		g.Jump(none)
		g.Set(none)
	}
}

// waiter gives the function that looks at the clock: long (u64 turn, u64 *until). It ends the loop when it is time.
func waiter(g *gen) string {
	name := g.H.Name + "_wait"
	for _, f := range g.Funcs {
		if f.Name == name {
			return name
		}
	}
	f := mach.New(name)
	f.Params, f.Callback = 2, true
	g.Funcs = append(g.Funcs, f)
	c := emit.Code{F: f, Pos: g.Pos, Lock: -1}
	c.Set(c.Block())
	until := c.Copy(mach.R2)
	late := c.Block()
	c.Unless(asm.JGE, c.Call(asm.FnKtimeGetNs), c.Get(until, 0, asm.DWord), late)
	c.Ret(0)
	c.Set(late)
	c.Ret(1)
	return name
}
