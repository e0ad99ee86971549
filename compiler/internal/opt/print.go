package opt

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// maxPrintArgs bounds the arguments of a print that is put together from several; stap allows as many.
const maxPrintArgs = 32

// maxPrintText is the text, in bytes, behind which no further print is merged: one format that grows with every
// print of a long script would be copied each time.
const maxPrintText = 4096

// FuseSprints puts the format of a sprint in place of the %s that is the only use of its result, so
// that its text is never made where the handler runs:
//
//	r5 = sprint "%s(%d)"(r1, r2)          print "%6d %s(%d): %s\n"(r3, r1, r2, r4)
//	print "%6d %s: %s\n"(r3, r5, r4)
//
// This wants a plain %s, a text that cannot be longer than the register holds (nor have a NUL byte,
// which would end it), and arguments that are still the same at the print: registers with one
// definition, or no definition between the two. The padding of a width that comes from a register is
// not counted: where it alone makes the text too long, as in an indentation of 500 columns, the
// text that is printed has all of it. Run it when caps have been inferred. Cost: linear, once for
// each level of nesting.
func FuseSprints(p *ir.Program) {
	eachFunc(p, func(f *ir.Func) {
		for fuseOnce(p, f) {
		}
	})
}

// fuseOnce fuses all that can be seen at once and reports whether there was any.
func fuseOnce(p *ir.Program, f *ir.Func) bool {
	defs, count := singleDefs(f)
	any := false
	for r, d := range defs {
		any = any || d != nil && d.Op == ir.OpSprint && count[r] == 1
	}
	if !any {
		return false
	}
	useCount := make([]int32, len(f.Regs))
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			uses(b.Instrs[i].Args, func(v *ir.Val) { useCount[v.Reg]++ })
		}
		termUses(&b.Term, func(v *ir.Val) { useCount[v.Reg]++ })
	}
	fused := false
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			in := &b.Instrs[i]
			if in.Op == ir.OpPrint || in.Op == ir.OpSprint {
				fused = fuseInto(p, f, b, i, defs, count, useCount) || fused
			}
		}
	}
	if fused {
		eachInstr(f, func(in *ir.Instr) {
			// What was fused has no use any more; it goes at once, so that its arguments are free to fuse.
			if in.Op == ir.OpSprint && in.Dst != ir.NoReg && useCount[in.Dst] == 0 && count[in.Dst] == 1 {
				*in = ir.Instr{Op: ir.OpMov, Dst: in.Dst, Args: []ir.Val{ir.S("")}, Glob: -1, OnErr: ir.NoBlock,
					Pos: in.Pos}
			}
		})
	}
	return fused
}

func fuseInto(p *ir.Program, f *ir.Func, b *ir.Block, at int, defs []*ir.Instr, count, useCount []int32) bool {
	in := &b.Instrs[at]
	outer := p.Formats[in.N]
	if outer.IsHeaded() {
		return false
	}
	merged := &ir.Format{}
	var args []ir.Val
	n, fused := 0, false
	total := len(in.Args)
	for _, piece := range outer.Pieces {
		if piece.Conv == 0 {
			merged.Append(piece)
			continue
		}
		k := 1
		if piece.WidthArg {
			k++
		}
		if piece.PrecArg {
			k++
		}
		vals := in.Args[n : n+k]
		n += k
		if d := fusable(p, f, b, at, piece, vals[k-1], defs, count, useCount); d != nil &&
			total+len(d.Args)-1 <= maxPrintArgs {
			merged.Append(p.Formats[d.N].Pieces...)
			args = append(args, d.Args...)
			total += len(d.Args) - 1
			useCount[d.Dst]--
			fused = true
			continue
		}
		merged.Append(piece)
		args = append(args, vals...)
	}
	if fused {
		in.N, in.Args = int64(p.AddFormat(merged)), args
	}
	return fused
}

// fusable gives the sprint behind v if it can go in its place.
func fusable(p *ir.Program, f *ir.Func, b *ir.Block, at int, piece ir.Piece, v ir.Val, defs []*ir.Instr, count,
	useCount []int32) *ir.Instr {
	if piece != ir.Conv('s') || v.Kind != ir.ValReg || useCount[v.Reg] != 1 || defs[v.Reg] == nil ||
		defs[v.Reg].Op != ir.OpSprint {
		return nil
	}
	d := defs[v.Reg]
	inner := p.Formats[d.N]
	for _, q := range inner.Pieces {
		switch {
		case q.Conv == 0 && strings.IndexByte(q.Lit, 0) >= 0:
			return nil
		case q.Conv == 'c' && !q.Alt, q.Conv == 'b', q.Conv == 'm', q.Conv == 'M', q.Conv == 's' && q.Zero:
			return nil
		}
	}
	limit := f.Regs[v.Reg].Cap
	if formatCap(inner, d.Args, limit+1, 0, func(v ir.Val) int { return capOf(f, v) }) > limit {
		return nil
	}
	// Are the arguments still the same?
	from := slices.IndexFunc(b.Instrs[:at], func(in ir.Instr) bool { return in.Dst == v.Reg })
	for _, a := range d.Args {
		if a.Kind != ir.ValReg || count[a.Reg] == 1 {
			continue
		}
		if from < 0 || slices.ContainsFunc(b.Instrs[from+1:at], func(in ir.Instr) bool { return in.Dst == a.Reg }) {
			return nil
		}
	}
	return d
}

// MergePrints writes constant arguments into formats and makes one print of those that follow each
// other in a block with nothing between them that could be noticed. Cost: linear.
func MergePrints(p *ir.Program) {
	eachFunc(p, func(f *ir.Func) {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if in := &b.Instrs[i]; in.Op == ir.OpPrint || in.Op == ir.OpSprint {
					printConstants(p, in)
				}
			}
			mergeInBlock(p, b)
		}
	})
}

// printConstants makes text of the conversions whose arguments are all constants, and writes widths
// and precisions that are constants into the format.
func printConstants(p *ir.Program, in *ir.Instr) {
	if p.Formats[in.N].IsHeaded() || !slices.ContainsFunc(in.Args, func(v ir.Val) bool { return v.Kind != ir.ValReg }) {
		return
	}
	out := &ir.Format{}
	var args []ir.Val
	n := 0
	field := func(arg *bool, static *int, none int) {
		if !*arg {
			return
		}
		v := in.Args[n]
		n++
		if v.Kind == ir.ValReg {
			args = append(args, v)
			return
		}
		*arg, *static = false, textfmt.Field(v.Int)
		if *static == 0 {
			*static = none
		}
	}
	for _, piece := range p.Formats[in.N].Pieces {
		if piece.Conv == 0 {
			out.Append(piece)
			continue
		}
		field(&piece.WidthArg, &piece.Width, -1) // a width of 0 is none
		field(&piece.PrecArg, &piece.Prec, 0)
		v := in.Args[n]
		n++
		if v.Kind == ir.ValReg || piece.WidthArg || piece.PrecArg || piece.Conv == 'm' || piece.Conv == 'M' {
			out.Append(piece)
			args = append(args, v)
			continue
		}
		out.Append(ir.Literal(string(textfmt.Conv(nil, &piece, piece.Width, piece.Prec,
			textfmt.Val{Int: v.Int, Str: v.Str}))))
	}
	in.N, in.Args = int64(p.AddFormat(out)), args
}

func mergeInBlock(p *ir.Program, b *ir.Block) {
	last := -1           // the print that the next one may take in
	var grown *ir.Format // what it prints by now, nil if that is its own format still
	finish := func() {
		if grown != nil {
			b.Instrs[last].N = int64(p.AddFormat(grown))
		}
		last, grown = -1, nil
	}
	gone := false
	for i := range b.Instrs {
		in := &b.Instrs[i]
		switch {
		case in.Op == ir.OpPrint && len(p.Formats[in.N].Pieces) == 0:
			in.Op, gone = ir.OpNone, true
		case in.Op == ir.OpPrint && p.Formats[in.N].IsHeaded():
			finish()
		case in.Op == ir.OpPrint:
			if last >= 0 && (!mergeable(b, last, i) || grown != nil && literal(grown) > maxPrintText) {
				finish()
			}
			if last >= 0 {
				prev := &b.Instrs[last]
				if grown == nil {
					grown = &ir.Format{}
					grown.Append(p.Formats[prev.N].Pieces...)
				}
				grown.Append(p.Formats[in.N].Pieces...)
				in.Args = append(slices.Clip(prev.Args), in.Args...)
				in.Pos = prev.Pos
				prev.Op, gone = ir.OpNone, true
			}
			last = i
		case visible(p, in):
			finish()
		}
	}
	finish()
	if gone {
		b.Instrs = slices.DeleteFunc(b.Instrs, func(in ir.Instr) bool { return in.Op == ir.OpNone })
	}
}

// literal counts the bytes of text in a format.
func literal(f *ir.Format) int {
	n := 0
	for _, p := range f.Pieces {
		n += len(p.Lit)
	}
	return n
}

// visible reports whether a print must not move over in.
func visible(p *ir.Program, in *ir.Instr) bool {
	switch in.Op {
	case ir.OpNone:
		return false
	case ir.OpPrintHist, ir.OpSprintHist, ir.OpCall, ir.OpBudget, ir.OpLock, ir.OpUnlock, ir.OpReport, ir.OpStore,
		ir.OpSetReg:
		return true
	case ir.OpEmbed:
		return true
	case ir.OpIntr:
		return !in.Builtin().Silent() || p.MayFail(in)
	}
	return in.Op.CanFail() && p.MayFail(in)
}

// mergeable reports whether the arguments of print i still have their values at print j.
func mergeable(b *ir.Block, i, j int) bool {
	if len(b.Instrs[i].Args)+len(b.Instrs[j].Args) > maxPrintArgs {
		return false
	}
	for _, a := range b.Instrs[i].Args {
		if a.Kind == ir.ValReg && slices.ContainsFunc(b.Instrs[i+1:j],
			func(in ir.Instr) bool { return in.Op != ir.OpNone && in.Dst == a.Reg }) {
			return false
		}
	}
	return true
}
