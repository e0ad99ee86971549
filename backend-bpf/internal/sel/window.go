package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// A read of the program's memory takes nearly as long for a byte as for half a page, so lookups in maps read what lies
// together at once: a group of keys and elements into the window, which lies in the scratch slot. What does not change
// in a process is not even read twice.

// mostWindow is the most bytes that user_window reads.
const mostWindow = 528

// The window: where it lies in the program, how many bytes it has (0 for none yet), and those.
const (
	windowAt    = 0
	windowSize  = 8
	windowBytes = 16
)

// theWindow is where the window lies.
func (g *gen) theWindow() emit.Mem {
	if g.window == 0 {
		g.window = g.Area(windowBytes + mostWindow)
	}
	return emit.At(g.SlotAddr(), g.window)
}

// openWindow reads what is likely to be asked for. If that is too much, or not all there, it is read piece by piece.
func (g *gen) openWindow(in *ir.Instr) {
	n := in.Args[1].Int
	if n <= 0 || n > mostWindow {
		return
	}
	w, addr, shut := g.theWindow(), g.Long(in.Args[0]), g.Block()
	g.StoreIP(w, windowSize, 0, asm.DWord)
	g.ReadMem(false, g.ArgP(w.Plus(windowBytes)), emit.Const(n), addr, shut)
	g.StoreP(w, windowAt, addr, asm.DWord)
	g.StoreIP(w, windowSize, n, asm.DWord)
	g.Here(shut)
}

// near is near_uint8() and its family.
func (g *gen) near(in *ir.Instr, size int) {
	if in.Dst == ir.NoReg {
		g.fetch(in, size, false, false)
		return
	}
	w, addr := g.theWindow(), g.Long(in.Args[0])
	outside, done := g.Cold(), g.Block()
	at, length := g.Copy(addr), g.GetP(w, windowSize, asm.DWord)
	g.Alu(asm.Sub, at, g.GetP(w, windowAt, asm.DWord))
	g.Unless(asm.JGE, at, length, outside) // unsigned: what lies in front of it too
	g.Unless(asm.JGT, g.BinI(asm.Add, at, int64(size)), length, outside)
	at = g.Tight(at, mostWindow-size)
	g.Alu(asm.Add, at, w.Base)
	g.Load(g.Longs[in.Dst], at, w.Off+windowBytes, emit.Size(size))
	g.Jump(done)
	g.Set(outside)
	g.fetch(in, size, false, false)
	g.Jump(done)
	g.Set(done)
}

// The words of a schedule that a scratch slot remembers, behind the number of the process's address space, which the
// kernel gives to no other, and the address in it.
const (
	scheduleWords = 5
	scheduleBytes = 16 + 8*scheduleWords
)

// schedule is aes_schedule().
func (g *gen) schedule(in *ir.Instr) {
	if g.words == mach.NoSlot {
		g.words = g.F.NewSlot(mostBlock)
	}
	mm, ok := g.task.Member("task_struct", "mm")
	number, ok2 := g.task.Member("mm_struct", "context.ctx_id")
	if !ok || !ok2 || g.Frame.Reserved < scheduleBytes {
		g.readTo(g.words, in, 8*scheduleWords, false)
		return
	}
	p, addr := g.ReservedAt(), g.Copy(g.Long(in.Args[0]))
	space := g.Imm(0)
	unknown, done := g.Cold(), g.Block()
	m := g.Get(g.Call(asm.FnGetCurrentTaskBtf), mm, asm.DWord)
	g.UnlessI(asm.JEq, m, 0, unknown)
	g.Load(space, m, number, asm.DWord)
	g.UnlessI(asm.JEq, space, 0, unknown)
	g.Unless(asm.JNE, g.GetP(p, 0, asm.DWord), space, unknown)
	g.Unless(asm.JNE, g.GetP(p, 8, asm.DWord), addr, unknown)
	for i := range scheduleWords {
		g.StoreS(g.words, 8*i, g.GetP(p, 16+8*i, asm.DWord), asm.DWord)
	}
	g.Jump(done)
	g.Set(unknown)
	g.readTo(g.words, in, 8*scheduleWords, false)
	// The runtime fills it from the beginning, before there is any map.
	g.UnlessI(asm.JEq, g.GetS(g.words, 8*(scheduleWords-1), asm.DWord), 0, done)
	for i := range scheduleWords {
		g.StoreP(p, 16+8*i, g.GetS(g.words, 8*i, asm.DWord), asm.DWord)
	}
	g.StoreP(p, 8, addr, asm.DWord)
	g.StoreP(p, 0, space, asm.DWord)
	g.Jump(done)
	g.Set(done)
}

// hashes reports whether some handler of the program asks for schedules. Then all handlers leave alone what scratch
// slots remember, since they share them.
func hashes(p *ir.Program) bool {
	asks := func(f *ir.Func) bool {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if b.Instrs[i].Op == ir.OpIntr && b.Instrs[i].Name == "aes_schedule" {
					return true
				}
			}
		}
		return false
	}
	for _, f := range p.Funcs {
		if asks(f) {
			return true
		}
	}
	for _, pr := range p.Probes {
		if pr.Handler != nil && asks(pr.Handler) {
			return true
		}
	}
	return false
}
