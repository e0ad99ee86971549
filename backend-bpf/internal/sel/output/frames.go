package output

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
)

// Stacks by frame pointers, of code that has them. The kernel's own walk ends such a stack by a read that fails, at the
// frame pointer 0 below the outermost function: a page fault, which takes as long as ten frames.

// The words of such a walk, in front of its list: how many addresses there are, and the frame that gives the next one.
const (
	framesN    = 0
	framesFP   = 8
	framesHead = 16
)

// shortStack is how many addresses most stacks have at most; what lies behind them is not looked at where there are no
// more.
const shortStack = 16

// framed reports whether the handler walks the program's stack by frame pointers itself.
func (g *Output) framed() bool {
	return g.hook.Row().NoStack == "" && partition.FramePointers(g.H.Sites) &&
		g.H.Sites[0].Kind.Code() == probe.UserCode
}

// frames stores the addresses of the program's stack, at most room of them, in a list in front of which there are ahead
// bytes for the caller, and gives how many bytes they take. Zeros are behind them: up to the first shortStack ones
// alone, if there are no more.
func (g *Output) frames(room, ahead int) (list emit.Mem, n mach.Reg) {
	m := g.U.P.On()
	base := g.TempBuffer(framesHead + ahead + 8*room)
	st := emit.At(base, 0)
	list = st.Plus(framesHead + ahead)
	short := min(room, shortStack)
	g.Zero(list, 8*short)
	g.StoreP(list, 0, g.hook.RegIn(g.Ctx, m.IP), asm.DWord)
	g.StoreP(st, framesFP, g.hook.RegIn(g.Ctx, m.FP), asm.DWord)
	g.StoreIP(st, framesN, 1, asm.DWord)
	first := 1
	if partition.ReturnOnTop(g.H.Sites) {
		first = 2
		s := g.Temp(8)
		walk := g.Block()
		res := g.Call(asm.FnProbeReadUser, emit.OnStack(s, 0), emit.Const(8), emit.InReg(g.hook.RegIn(g.Ctx, m.SP)))
		g.UnlessI(asm.JNE, res, 0, walk)
		g.StoreP(list, 8, g.GetS(s, 0, asm.DWord), asm.DWord)
		g.StoreIP(st, framesN, 2, asm.DWord)
		g.Here(walk)
	}
	fr := g.Temp(8)
	g.StoreS(fr, 0, base, asm.DWord)
	walk := func(turns int) {
		g.Call(asm.FnLoop, emit.Const(int64(turns)), emit.Fn(g.frameStep(room, ahead)), emit.OnStack(fr, 0),
			emit.Const(0))
	}
	if short > first {
		walk(short - first) // so many are there already
	}
	if room > short {
		more, done := g.Block(), g.Block()
		g.CondI(asm.JGE, g.GetP(st, framesN, asm.DWord), int64(short), more, done)
		g.Set(more)
		g.Zero(list.Plus(8*short), 8*(room-short))
		walk(room - 1)
		g.Here(done)
	}
	n = g.GetP(st, framesN, asm.DWord)
	g.AluI(asm.LSh, n, 3)
	return list, n
}

// frameStep gives the name of the callback that goes from a frame to its caller: long (u64 turn, struct { words } *).
// Where the stack ends there is no frame any more.
func (g *Output) frameStep(room, ahead int) string {
	name := fmt.Sprintf("%s_frames%d", g.H.Name, room)
	for _, f := range g.Funcs {
		if f.Name == name {
			return name
		}
	}
	f := mach.New(name)
	f.Params, f.Callback = 2, true
	c := emit.Code{F: f, Lock: -1}
	c.Set(c.Block())
	base := c.Get(c.Copy(mach.R2), 0, asm.DWord)
	end, done := c.Block(), c.Block()
	fp, n := c.Get(base, framesFP, asm.DWord), c.Get(base, framesN, asm.DWord)
	c.UnlessI(asm.JEq, fp, 0, done)
	c.UnlessI(asm.JGE, n, int64(room), done)
	slot := f.NewSlot(16) // the caller's frame pointer, and where it goes on
	r := c.Call(asm.FnProbeReadUser, emit.OnStack(slot, 0), emit.Const(16), emit.InReg(fp))
	c.UnlessI(asm.JNE, r, 0, end)
	item := c.BinI(asm.LSh, c.Tight(n, room-1), 3)
	c.Alu(asm.Add, item, base)
	c.Store(item, framesHead+ahead, c.GetS(slot, 8, asm.DWord), asm.DWord)
	c.Store(base, framesFP, c.GetS(slot, 0, asm.DWord), asm.DWord)
	c.AluI(asm.Add, n, 1)
	c.Store(base, framesN, n, asm.DWord)
	c.Ret(0)
	c.Set(end)
	c.StoreI(base, framesFP, 0, asm.DWord)
	c.Jump(done)
	c.Set(done)
	c.Ret(1)
	g.Funcs = append(g.Funcs, f)
	return name
}
