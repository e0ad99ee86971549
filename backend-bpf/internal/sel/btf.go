package sel

import (
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// describe gives a function's first instruction the type information that the kernel wants
// of programs with callbacks.
func describe(in asm.Instruction, f *mach.Func) asm.Instruction {
	long := &btf.Int{Name: "long", Size: 8, Encoding: btf.Signed}
	p := &btf.FuncProto{Return: long}
	for i := 0; i < f.Params; i++ {
		p.Params = append(p.Params, btf.FuncParam{Name: "a" + string(rune('0'+i)),
			Type: &btf.Pointer{Target: &btf.Void{}}})
	}
	fn := &btf.Func{Name: f.Name, Type: p, Linkage: btf.StaticFunc}
	if f.Global {
		fn.Linkage = btf.GlobalFunc
		// With this tag a void * is the context, whatever type that has for the kind of program.
		fn.ParamTags = [][]string{{"arg:ctx"}, nil}
		p.Params[1].Type = long
	}
	return btf.WithFuncMetadata(in, fn)
}
