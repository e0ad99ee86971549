package opt

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irgen"
)

// BenchmarkOneLiner: all passes over a probe that counts and prints, and an end probe with a loop. The
// program is read anew each time, which is not timed.
func BenchmarkOneLiner(b *testing.B) {
	ar, err := txtar.ParseFile("testdata/run.one-liner.txtar")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		p, err := ir.ParseText(string(ar.Files[0].Data))
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		Run(p, Options{})
	}
}

// BenchmarkMany: a program of 200 random handlers.
func BenchmarkMany(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		p := irgen.Program(rand.New(rand.NewPCG(1, 1)))
		for i := range uint64(100) {
			q := irgen.Program(rand.New(rand.NewPCG(i, 1)))
			for _, pr := range q.Probes {
				eachInstr(pr.Handler, func(in *ir.Instr) {
					if in.Op == ir.OpPrint || in.Op == ir.OpSprint {
						in.N = int64(p.AddFormat(q.Formats[in.N]))
					}
					if in.Op == ir.OpCall {
						in.Op, in.Dst = ir.OpBudget, ir.NoReg
						in.Args = nil
					}
				})
				p.Probes = append(p.Probes, pr)
			}
		}
		b.StartTimer()
		Run(p, Options{})
	}
}
