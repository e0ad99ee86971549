package bpf

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cilium/ebpf/btf"
)

// kernelTypes finds members of the running kernel's structures. The types are read when they are first asked for.
type kernelTypes struct{}

var loadKernel = sync.OnceValues(btf.LoadKernelSpec)

// Offset gives the byte offset and size of a member, such as "task_struct", "thread.fsbase".
func (kernelTypes) Offset(structure, path string) (off, size int, err error) {
	k, err := loadKernel()
	if err != nil {
		return 0, 0, err
	}
	var s *btf.Struct
	if err := k.TypeByName(structure, &s); err != nil {
		return 0, 0, err
	}
	var t btf.Type = s
	for _, name := range strings.Split(path, ".") {
		o, m, err := member(t, name)
		if err != nil {
			return 0, 0, err
		}
		off, t = off+o, m
	}
	size, err = btf.Sizeof(t)
	return off, size, err
}

var errNoMember = errors.New("no such member")

// member finds a member by name, in anonymous members too.
func member(t btf.Type, name string) (int, btf.Type, error) {
	var ms []btf.Member
	switch t := btf.UnderlyingType(t).(type) {
	case *btf.Struct:
		ms = t.Members
	case *btf.Union:
		ms = t.Members
	}
	for _, m := range ms {
		if m.Name == name {
			if m.BitfieldSize != 0 {
				return 0, nil, fmt.Errorf("%s is a bit field", name)
			}
			return int(m.Offset.Bytes()), m.Type, nil
		}
	}
	for _, m := range ms {
		if m.Name == "" {
			if off, t, err := member(m.Type, name); err == nil {
				return int(m.Offset.Bytes()) + off, t, nil
			}
		}
	}
	return 0, nil, fmt.Errorf("%w: %s", errNoMember, name)
}
