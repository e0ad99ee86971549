package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
)

// ErrNoKernelTypes says that a program needs the kernel's type information and there is none.
var ErrNoKernelTypes = btf.ErrNone

// HaveKernelTypes says whether the kernel has type information, and why not.
func HaveKernelTypes() error {
	f, err := os.Open(btf.RunningPath)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrNoKernelTypes, err)
	}
	return f.Close()
}

// KernelTypes gives the running kernel's types. The error wraps ErrNoKernelTypes if it has none.
func KernelTypes() (*btf.Types, error) {
	x, err := btf.Running()
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = fmt.Errorf("%w: %v", ErrNoKernelTypes, err)
	}
	return x, err
}

// KernelType gives the id of the kernel's type with this kind and name, and whether there is one.
func KernelType(kind int, name string) (id uint32, ok bool, err error) {
	x, err := KernelTypes()
	if err != nil {
		return 0, false, err
	}
	if ids := x.FindKind(kind, name); len(ids) > 0 {
		return ids[0], true, nil
	}
	return 0, false, nil
}

// KernelMember gives the byte offset and size of a member of one of the kernel's structures, such as "task_struct",
// "thread.fsbase".
func KernelMember(structure, path string) (off, size int, err error) {
	x, err := KernelTypes()
	if err != nil {
		return 0, 0, err
	}
	return x.MemberAt(structure, path)
}

// KernelEnumerator gives the value of one of the names of an enum of the kernel.
func KernelEnumerator(enum, name string) (value int64, ok bool) {
	x, err := KernelTypes()
	if err != nil {
		return 0, false
	}
	return x.Enumerator(enum, name)
}

// TracepointArgs counts the arguments of a tracepoint: those of the function that its typedef describes, less
// the first, which is the tracer's own. 0 if there is no such tracepoint.
func TracepointArgs(name string) int {
	x, err := KernelTypes()
	if err != nil {
		return 0
	}
	for _, id := range x.FindKind(btf.KindTypedef, "btf_trace_"+name) {
		if f, ok := x.Prototype(id); ok {
			return f.Len() - 1
		}
	}
	return 0
}

// kernelTarget finds the type id in the kernel of what a tracing program attaches to: a function for
// fentry, fexit and hooks of security modules, the typedef btf_trace_NAME for a tracepoint.
func kernelTarget(ps *ebpf.ProgramSpec) (uint32, error) {
	kind, name := btf.KindFunc, ps.AttachTo
	switch ps.AttachType {
	case ebpf.AttachTraceRawTp:
		kind, name = btf.KindTypedef, "btf_trace_"+name
	case ebpf.AttachTraceFEntry, ebpf.AttachTraceFExit:
	case ebpf.AttachLSMMac:
		name = "bpf_lsm_" + name
	default:
		return 0, fmt.Errorf("programs of attach type %v are not supported", ps.AttachType)
	}
	id, ok, err := KernelType(kind, name)
	switch {
	case err != nil:
		return 0, err
	case !ok && kind == btf.KindTypedef:
		return 0, fmt.Errorf("this kernel has no tracepoint %s", ps.AttachTo)
	case !ok:
		return 0, fmt.Errorf("this kernel has no function %s in its type information", ps.AttachTo)
	}
	return id, nil
}
