package hook

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// Since 6.13 the kernel gives functions that need 64 bytes of stack or more, in programs of the type of kprobes, a
// stack for each CPU: such programs do not interrupt themselves, it says. Those of uprobes do: a thread in the middle
// of one can be preempted or, where the program may sleep, wait for a page, and the next thread that comes to the probe
// on that CPU writes over what the first one keeps there. Seen on 7.3: values of one hit in the text of another, and,
// where one of the values was a pointer that the verifier had approved, a kernel that stops.

// Quit ends the program. Those of uprobes have the instruction of a tail call behind the end, on a way that the
// verifier knows to be impossible: a program with a tail call in any of its functions stays on the stack of the thread
// that it runs in. The kernel looks for tail calls before it looks where the program can go, and cuts off impossible
// ways at the end, so that nothing of it is left in the machine code, and no table of programs is needed, which
// programs that may sleep could not have. The session looks at what became of it (checkStacks).
func (g *Hook) Quit() {
	if n := g.Row().result; n != 0 {
		g.Ret(n)
		return
	}
	if g.answer != mach.None {
		g.Mov(mach.R0, g.answer)
		g.Cur.Term = mach.Term{Kind: mach.Exit}
		return
	}
	g.MovI(mach.R0, 0)
	if !g.U.Feat.MayGoto || !g.Row().deep {
		g.Cur.Term = mach.Term{Kind: mach.Exit}
		return
	}
	never, exit := g.Cold(), g.Block()
	g.CondI(asm.JNE, mach.R0, 0, never, exit)
	g.Cur.Term = mach.Term{Kind: mach.Exit}
	g.Set(never)
	g.Emit(mach.Ins{Op: mach.Call, Imm: int64(asm.FnTailCall), Dst: mach.None, Src: mach.None, Slot: mach.NoSlot})
	g.Cur.Term = mach.Term{Kind: mach.Exit}
}
