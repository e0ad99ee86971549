package load

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/foreign"
)

// ErrNoKernelTypes says that a program needs the kernel's type information and there is none.
var ErrNoKernelTypes = errors.New("the kernel has no type information (CONFIG_DEBUG_INFO_BTF)")

// Kinds of types in BTF (include/uapi/linux/btf.h).
const (
	KindTypedef = 8
	KindFunc    = 12
	KindVar     = 14
)

// KernelType gives the id of the kernel's type with this kind and name, and whether there is one. It walks the
// type section once instead of building an index: 2 ms where the library takes 23.
func KernelType(kind uint32, name string) (id uint32, ok bool, err error) {
	raw, err := kernelBTF()
	if err != nil {
		return 0, false, err
	}
	return findType(raw, kind, name)
}

// HaveKernelTypes says whether the kernel has type information, and why not.
func HaveKernelTypes() error {
	f, err := os.Open(vmlinuxBTF)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrNoKernelTypes, err)
	}
	return f.Close()
}

const vmlinuxBTF = "/sys/kernel/btf/vmlinux"

// kernelBTF gives the kernel's type information, which does not change while the kernel runs.
var kernelBTF = sync.OnceValues(func() ([]byte, error) {
	f, err := os.Open(vmlinuxBTF)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoKernelTypes, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// From 6.17 on the kernel maps it; before, it is copied.
	if m, err := foreign.Map(f, vmlinuxBTF, st.Size(), unix.MAP_PRIVATE); err == nil {
		return m.Bytes, nil
	}
	b := make([]byte, st.Size())
	n := 0
	for n < len(b) {
		k, err := f.Read(b[n:])
		if k == 0 || err != nil {
			break
		}
		n += k
	}
	return b[:n], nil
})

var errBTF = errors.New("the kernel's type information is not of the known form")

// sectionsOf cuts raw BTF into its types and strings.
func sectionsOf(raw []byte) (types, strs []byte, err error) {
	le := binary.LittleEndian
	if len(raw) < 24 || le.Uint16(raw) != 0xeb9f {
		return nil, nil, errBTF
	}
	hdr := uint64(le.Uint32(raw[4:]))
	typeOff, typeLen := hdr+uint64(le.Uint32(raw[8:])), uint64(le.Uint32(raw[12:]))
	strOff, strLen := hdr+uint64(le.Uint32(raw[16:])), uint64(le.Uint32(raw[20:]))
	if typeOff+typeLen > uint64(len(raw)) || strOff+strLen > uint64(len(raw)) {
		return nil, nil, errBTF
	}
	return raw[typeOff : typeOff+typeLen], raw[strOff : strOff+strLen], nil
}

// typeSize gives the bytes of the type record that t begins with; t has at least 12.
func typeSize(t []byte) (int, error) {
	info, size := binary.LittleEndian.Uint32(t[4:]), 12
	n := int(info & 0xffff)
	switch k := info >> 24 & 0x1f; k {
	case kindInt, 14, 17: // and variable, declaration tag: one word more
		size += 4
	case kindArray:
		size += 12
	case kindStruct, kindUnion, 15, kindEnum64: // and data section: members
		size += 12 * n
	case kindEnum, 13: // and function prototype
		size += 8 * n
	case kindPtr, 7, KindTypedef, kindVolatile, kindConst, kindRestrict, KindFunc, kindFloat, kindTypeTag:
	default:
		return 0, fmt.Errorf("%w: a type is of kind %d", errBTF, k)
	}
	if size > len(t) {
		return 0, errBTF
	}
	return size, nil
}

// findType walks raw BTF.
func findType(raw []byte, kind uint32, name string) (id uint32, ok bool, err error) {
	types, strs, err := sectionsOf(raw)
	if err != nil {
		return 0, false, err
	}
	// Names are there once each, unless one is the tail of another; the kernel's own do not share tails.
	at := bytes.Index(strs, append(append([]byte{0}, name...), 0))
	if at < 0 {
		return 0, false, nil
	}
	want := uint32(at + 1)
	for id = 1; len(types) >= 12; id++ {
		if binary.LittleEndian.Uint32(types) == want && kindOf(types) == kind {
			return id, true, nil
		}
		n, err := typeSize(types)
		if err != nil {
			return 0, false, err
		}
		types = types[n:]
	}
	return 0, false, nil
}

// kernelTarget finds the type id in the kernel of what a tracing program attaches to: a function for
// fentry and fexit, the typedef btf_trace_NAME for a tracepoint.
func kernelTarget(ps *ebpf.ProgramSpec) (uint32, error) {
	kind, name := uint32(KindFunc), ps.AttachTo
	switch ps.AttachType {
	case ebpf.AttachTraceRawTp:
		kind, name = KindTypedef, "btf_trace_"+name
	case ebpf.AttachTraceFEntry, ebpf.AttachTraceFExit:
	default:
		return 0, fmt.Errorf("programs of attach type %v are not supported", ps.AttachType)
	}
	id, ok, err := KernelType(kind, name)
	switch {
	case err != nil:
		return 0, err
	case !ok && kind == KindTypedef:
		return 0, fmt.Errorf("this kernel has no tracepoint %s", ps.AttachTo)
	case !ok:
		return 0, fmt.Errorf("this kernel has no function %s in its type information", ps.AttachTo)
	}
	return id, nil
}
