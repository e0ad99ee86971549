package bpf

import (
	"github.com/cilium/ebpf/btf"

	"github.com/gostap/gostap/backend-bpf/internal/load"
)

// kernelTypes finds members of the running kernel's structures. The types are read when they are first asked for.
type kernelTypes struct{}

// Offset gives the byte offset and size of a member, such as "task_struct", "thread.fsbase".
func (kernelTypes) Offset(structure, path string) (off, size int, err error) {
	return load.KernelMember(structure, path)
}

// TracepointArgs counts the arguments of a tracepoint: those of the function that its typedef describes, less the first,
// which is the tracer's own. 0 if there is no such tracepoint.
func (kernelTypes) TracepointArgs(name string) int {
	k, err := btf.LoadKernelSpec()
	if err != nil {
		return 0
	}
	var t *btf.Typedef
	if err := k.TypeByName("btf_trace_"+name, &t); err != nil {
		return 0
	}
	p, ok := t.Type.(*btf.Pointer)
	if !ok {
		return 0
	}
	f, ok := p.Target.(*btf.FuncProto)
	if !ok {
		return 0
	}
	return len(f.Params) - 1
}
