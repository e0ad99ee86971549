package load

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// ErrNoKernelTypes says that a program needs the kernel's type information and there is none.
var ErrNoKernelTypes = errors.New("the kernel has no type information (CONFIG_DEBUG_INFO_BTF)")

// kernelTarget finds the type id in the kernel of what a tracing program attaches to: a function for
// fentry and fexit, the typedef btf_trace_NAME for a tracepoint.
func kernelTarget(ps *ebpf.ProgramSpec, o *Options) (btf.TypeID, error) {
	if o.Kernel == nil {
		o.Kernel = btf.NewCache()
	}
	k, err := o.Kernel.Kernel()
	if err != nil {
		return 0, fmt.Errorf("%w: %v", ErrNoKernelTypes, err)
	}
	switch ps.AttachType {
	case ebpf.AttachTraceRawTp:
		var t *btf.Typedef
		if err := k.TypeByName("btf_trace_"+ps.AttachTo, &t); err != nil {
			return 0, fmt.Errorf("this kernel has no tracepoint %s: %w", ps.AttachTo, err)
		}
		return k.TypeID(t)
	case ebpf.AttachTraceFEntry, ebpf.AttachTraceFExit:
		var f *btf.Func
		if err := k.TypeByName(ps.AttachTo, &f); err != nil {
			return 0, fmt.Errorf("this kernel has no function %s in its type information: %w", ps.AttachTo, err)
		}
		return k.TypeID(f)
	}
	return 0, fmt.Errorf("programs of attach type %v are not supported", ps.AttachType)
}
