package bpf

import "github.com/gostap/gostap/backend-bpf/internal/load"

// kernelTypes finds members of the running kernel's structures. The types are read when they are first asked for.
type kernelTypes struct{}

// Offset gives the byte offset and size of a member, such as "task_struct", "thread.fsbase".
func (kernelTypes) Offset(structure, path string) (off, size int, err error) {
	return load.KernelMember(structure, path)
}

// Enumerator gives the value of one of an enum's names.
func (kernelTypes) Enumerator(enum, name string) (int64, bool) {
	return load.KernelEnumerator(enum, name)
}

// TracepointArgs counts the arguments of a tracepoint. 0 if there is no such tracepoint.
func (kernelTypes) TracepointArgs(name string) int { return load.TracepointArgs(name) }
