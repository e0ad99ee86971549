package output

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/snapshot"
	"github.com/gostap/gostap/runtime/wire"
)

// A snapshot (package snapshot) lies in the scratch slot: how many bytes it has, these, room for one more piece, and
// the numbers that the walk keeps.
const (
	snapLen  = 0
	snapData = 8
	snapNums = snapData + snapshot.Bytes + snapshot.Piece + snapshot.PieceTop
	snapSize = snapNums + 8*snapshot.Numbers
)

// snap gives the place of the snapshot that in is for.
func (g *Output) snap(in *ir.Instr) emit.Mem { return emit.At(g.SlotAddr(), g.snapOff(in)) }

func (g *Output) snapOff(in *ir.Instr) int {
	if g.Snaps == nil {
		g.Snaps = map[int64]int{}
	}
	if _, ok := g.Snaps[in.N]; !ok {
		g.Snaps[in.N] = g.Area(snapSize)
	}
	return g.Snaps[in.N]
}

// SnapRoot puts down a word of the values, or for -1 begins with as many as there will be.
func (g *Output) SnapRoot(in *ir.Instr) {
	s, i := g.snap(in), in.Args[0].Int
	if i >= 0 {
		g.StoreVal(s.Plus(snapData+snapshot.PieceTop+8*int(i)), in.Args[1])
		return
	}
	n := 8 * in.Args[1].Int
	g.StoreIP(s, snapLen, snapshot.PieceTop+n, asm.DWord)
	g.StoreIP(s, snapData, 0, asm.DWord)
	g.StoreIP(s, snapData+8, n, asm.DWord)
}

// SnapRead copies memory: as much of it as there is room for. The result is where it is, -1 where it cannot be read,
// which is put down as a piece without bytes, or there is no room.
func (g *Output) SnapRead(in *ir.Instr) {
	s, dst := g.snap(in), g.Reg()
	g.MovI(dst, -1)
	none := g.Block()
	addr := g.Copy(g.Long(in.Args[0]))
	n := g.Copy(g.Long(in.Args[1]))
	used := g.Tight(g.GetP(s, snapLen, asm.DWord), snapshot.Bytes)
	room := g.Imm(snapshot.Bytes - snapshot.PieceTop)
	g.UnlessI(asm.JGT, used, snapshot.Bytes-2*snapshot.PieceTop, none)
	g.UnlessI(asm.JEq, n, 0, none)
	g.Alu(asm.Sub, room, used)
	g.AtMost(n, room)
	n = g.Tight(n, snapshot.Piece)
	to := g.Bin(asm.Add, g.AddrP(s.Plus(snapData)), used)
	bad, on := g.Cold(), g.Block()
	g.Store(to, 0, addr, asm.DWord)
	g.ReadMem(false, emit.InReg(g.BinI(asm.Add, to, snapshot.PieceTop)), emit.InReg(n), addr, bad)
	g.AluI(asm.Add, used, snapshot.PieceTop)
	g.Mov(dst, used)
	g.Jump(on)
	g.Set(bad)
	g.MovI(n, 0)
	g.AluI(asm.Add, used, snapshot.PieceTop)
	g.Jump(on)
	g.Set(on)
	g.Store(to, 8, n, asm.DWord)
	g.AluI(asm.Add, n, 7)
	g.AluI(asm.And, n, ^7)
	g.Alu(asm.Add, n, used)
	g.StoreP(s, snapLen, n, asm.DWord)
	g.Here(none)
	g.Result(in, dst)
}

// SnapGet gives 8 bytes of a snapshot.
func (g *Output) SnapGet(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	at := g.Tight(g.Long(in.Args[0]), snapshot.Bytes)
	p := g.Bin(asm.Add, g.AddrP(g.snap(in).Plus(snapData)), at)
	g.Load(g.Longs[in.Dst], p, 0, asm.DWord)
}

// SnapAt gives a number that SnapSet has put down.
func (g *Output) SnapAt(in *ir.Instr) {
	if in.Dst != ir.NoReg {
		g.Load(g.Longs[in.Dst], g.snapNumber(in), 0, asm.DWord)
	}
}

// SnapSet keeps a number.
func (g *Output) SnapSet(in *ir.Instr) {
	v := g.Long(in.Args[1])
	g.Store(g.snapNumber(in), 0, v, asm.DWord)
}

func (g *Output) snapNumber(in *ir.Instr) mach.Reg {
	i := g.Tight(g.Long(in.Args[0]), snapshot.Numbers-1)
	g.AluI(asm.LSh, i, 3)
	return g.Bin(asm.Add, g.AddrP(g.snap(in).Plus(snapNums)), i)
}

// SnapTable gives a number of a constant table, 0 behind its end.
func (g *Output) SnapTable(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	table, dst := in.Args[1].Str, g.Reg()
	n := len(table) / 8
	if n == 0 || in.Args[1].Kind != ir.ValStr {
		g.MovI(g.Longs[in.Dst], 0)
		return
	}
	i, none := g.Copy(g.Long(in.Args[0])), g.Block()
	g.MovI(dst, 0)
	g.UnlessI(asm.JGE, i, int64(n), none) // unsigned: negative ones too
	i = g.Tight(i, n-1)
	g.AluI(asm.LSh, i, 3)
	p := g.Numbers(table)
	g.Alu(asm.Add, p, i)
	g.Load(dst, p, 0, asm.DWord)
	g.Here(none)
	g.Mov(g.Longs[in.Dst], dst)
}

// snapField sends a snapshot.
func (g *Output) snapField(l *body.Lazy) Field {
	return Field{Arg: l.Arg, size: 16 + snapshot.Bytes, put: func(r *Record) {
		snap := emit.At(g.SlotAddr(), l.Snap)
		r.Reg(g.task.Tgid())
		n := g.Tight(g.GetP(snap, snapLen, asm.DWord), snapshot.Bytes)
		room := g.LengthWord(r, n, mach.None)
		g.str.CopyBytes(g.ArgP(r.At(0)), n, g.ArgP(snap.Plus(snapData)))
		r.Grow(g.Tight(room, snapshot.Bytes), snapshot.Bytes)
	}}
}

// SnapArgs counts the snapshots among the arguments of a print statement.
func SnapArgs(f *ir.Func, in *ir.Instr) (n int) {
	for _, a := range in.Args {
		if !a.IsReg() {
			continue
		}
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if d := &b.Instrs[i]; d.Op == ir.OpIntr && d.Dst == a.Reg && d.Builtin().Text.Kind == wire.Snapshot {
					n++
				}
			}
		}
	}
	return n
}

// SnapBytes is the most bytes that one takes in a record.
const SnapBytes = 16 + snapshot.Bytes
