package body

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// Func is what is known of the function that is being translated. What is by register is by the number of an ir.Reg.
type Func struct {
	Fn      *ir.Func
	Longs   []mach.Reg
	Strs    []*StrVar
	Uses    []int
	Defs    []int
	Printed []bool
	Consts  map[ir.Reg]string
	Lazies  map[ir.Reg]*Lazy
	Blocks  []*mach.Block
	Held    []int
}

// StoreVal writes a Long operand.
func (g *Body) StoreVal(p emit.Mem, v ir.Val) {
	if v.Kind == ir.ValInt {
		g.StoreIP(p, 0, v.Int, asm.DWord)
		return
	}
	g.StoreP(p, 0, g.Long(v), asm.DWord)
}

// Long gives the value of a Long operand in a register that must not be written.
func (g *Body) Long(v ir.Val) mach.Reg {
	switch v.Kind {
	case ir.ValReg:
		if r := g.Longs[v.Reg]; r != mach.None {
			return r
		}
	case ir.ValInt:
		return g.Imm(v.Int)
	}
	g.Fail("operand is not a number")
	return g.Imm(0)
}

// Result sets in's Long result.
func (g *Body) Result(in *ir.Instr, r mach.Reg) {
	if in.Dst != ir.NoReg {
		g.Mov(g.Longs[in.Dst], r)
	}
}

// OneOf sets dst to a constant on one of several ways that give it different values. Where Linux 6.1 has such a
// number on the stack, it takes the slot of a known number and that of an unknown one for different things
// and walks what is behind for each, so n such numbers make 2^n ways: it is not told that this one is known.
func (g *Body) OneOf(dst mach.Reg, v int64) {
	if g.U.Feat.MayGoto {
		g.MovI(dst, v)
		return
	}
	g.Load(dst, g.MapVal(plan.MapControl, 0), plan.CtlZero, asm.DWord)
	if v != 0 {
		g.AluI(asm.Add, dst, v)
	}
}

// Into sets dst to a Long operand.
func (g *Body) Into(dst mach.Reg, v ir.Val) {
	if v.Kind == ir.ValInt {
		g.MovI(dst, v.Int)
		return
	}
	if r := g.Long(v); r != dst {
		g.Mov(dst, r)
	}
}

// StrOf gives a String operand.
func (g *Body) StrOf(v ir.Val) Str {
	switch v.Kind {
	case ir.ValStr:
		return Literal(v.Str)
	case ir.ValReg:
		if text, ok := g.Consts[v.Reg]; ok {
			return Literal(text)
		}
		if sv := g.Strs[v.Reg]; sv != nil {
			return sv.Str()
		}
	}
	g.Fail("operand is not a string")
	return Literal("")
}

// Zero clears n bytes, a multiple of 8.
func (g *Body) Zero(p emit.Mem, n int) {
	const most = 24 * 8
	if n > most {
		g.U.Zeros = max(g.U.Zeros, n)
		g.Call(asm.FnProbeReadKernel, g.ArgP(p), emit.Const(int64(n)), emit.MapVal(plan.MapZero, 0))
		return
	}
	for i := 0; i < n; i += 8 {
		g.StoreIP(p, i, 0, asm.DWord)
	}
}

// Numbers gives the address of a constant table of numbers of 64 bits in a new register. No text of a script is the
// same.
func (g *Body) Numbers(table string) mach.Reg {
	const mark = "\x00numbers"
	return g.MapVal(plan.MapText, g.TextOf(mark+table)+len(mark))
}
