package partition

import (
	"github.com/gostap/gostap/compiler/caps"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// Peek says that a handler looks into the kernel.
type Peek struct {
	// What it does, in words: "reads kernel memory". "" for nothing.
	What string
	Pos  source.Pos
}

const readsMemory = "reads kernel memory"

// HostPeek finds the first place where a handler that fires in the tracer, or is served there, looks into the kernel:
// reads its memory, or asks for the current task or its ticks. A host needs a session for that which is an
// interp.Peeker.
func HostPeek(p *ir.Program) Peek {
	for _, pr := range p.Probes {
		for _, s := range pr.Sites {
			if s.Kind.OnHost() || s.Kind.Served() {
				if k := PeekIn(p, pr.Handler); k.What != "" {
					return k
				}
				break
			}
		}
	}
	return Peek{}
}

// PeekIn finds the first place where f, or else what it calls, looks into the kernel.
func PeekIn(p *ir.Program, f *ir.Func) Peek {
	for fn := range p.Reached(f) {
		for _, b := range fn.Blocks {
			for i := range b.Instrs {
				if what := peeks(p, &b.Instrs[i]); what != "" {
					return Peek{what, b.Instrs[i].Pos}
				}
			}
		}
	}
	return Peek{}
}

// peeks says how an instruction looks into the kernel, "" if it does not.
func peeks(p *ir.Program, in *ir.Instr) string {
	switch in.Op {
	case ir.OpLoad:
		if in.Kernel {
			return readsMemory
		}
	case ir.OpIntr:
		if f := in.Builtin(); f.Peeks != "" {
			return f.Peeks
		}
		if readsKernel(in) {
			return readsMemory
		}
	case ir.OpPrint, ir.OpSprint:
		for _, c := range p.Formats[in.N].Pieces {
			if (c.Conv == 'm' || c.Conv == 'M') && !c.Alt {
				return readsMemory
			}
		}
	}
	return ""
}

// readsKernel reports whether all that in needs is memory of the kernel.
func readsKernel(in *ir.Instr) bool {
	if in.Op == ir.OpIntr {
		return in.Builtin().Reads == caps.ReadKernel
	}
	return in.Op == ir.OpLoad && in.Kernel
}
