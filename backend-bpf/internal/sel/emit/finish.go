package emit

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/regalloc"
	"github.com/gostap/gostap/compiler/source"
)

// Finish assigns registers and gives the instructions of a function.
func Finish(f *mach.Func, note func(source.Pos) fmt.Stringer) (asm.Instructions, error) {
	st, err := regalloc.Run(f)
	if err != nil {
		return nil, err
	}
	f.Stack = st.Stack
	ins, err := f.Emit(note)
	if err != nil {
		return nil, err
	}
	ins[0] = ins[0].WithSymbol(f.Name)
	return ins, nil
}
