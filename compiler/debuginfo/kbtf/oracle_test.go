package kbtf

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/gostap/gostap/compiler/types"
)

// TestAgainstEbpf compares structures, unions and prototypes of the running kernel with what the eBPF library reads.
func TestAgainstEbpf(t *testing.T) {
	_, s := running(t)
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Skip("the library cannot read the kernel's BTF: ", err)
	}
	structs, bitFields := 0, 0
	for _, name := range []string{"task_struct", "file", "inode", "dentry", "sock", "sk_buff", "mm_struct",
		"vm_area_struct", "page", "cred", "bio", "request", "net_device", "module", "super_block", "path", "tcp_sock",
		"iphdr", "tcphdr", "perf_event_attr", "sched_entity", "work_struct", "list_head", "bpf_prog"} {
		var want *btf.Struct
		if err := spec.TypeByName(name, &want); errors.Is(err, btf.ErrNotFound) {
			continue
		} else if err != nil {
			t.Fatal(name, err)
		}
		got, err := s.Type("struct " + name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		structs++
		bitFields += same(t, name, got, want.Members, int64(want.Size))
	}
	if structs < 15 || bitFields < 50 {
		t.Errorf("only %d structures with %d bit fields were compared", structs, bitFields)
	}
	n := 0
	for _, name := range s.FuncNames("vfs_*") {
		var f *btf.Func
		if err := spec.TypeByName(name, &f); err != nil {
			continue // several
		}
		p, err := s.FuncProto(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n++
		proto := f.Type.(*btf.FuncProto)
		if len(p.Params) != len(proto.Params) {
			t.Errorf("%s has %d parameters, want %d", name, len(p.Params), len(proto.Params))
			continue
		}
		for i, x := range proto.Params {
			size, _ := btf.Sizeof(x.Type)
			if p.Params[i].Name != x.Name || p.Params[i].Type.Size != int64(size) {
				t.Errorf("%s: parameter %d is %s of %d bytes, want %s of %d", name, i, p.Params[i].Name,
					p.Params[i].Type.Size, x.Name, size)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d prototypes were compared", n)
	}
}

// same compares the fields of got, and counts bit fields.
func same(t *testing.T, name string, got *types.Ctype, want []btf.Member, size int64) (bits int) {
	t.Helper()
	fs := got.Fields()
	if got.Size != size || len(fs) != len(want) {
		t.Errorf("%s has %d bytes and %d fields, want %d and %d", name, got.Size, len(fs), size, len(want))
		return 0
	}
	for i, m := range want {
		f := fs[i]
		if f.Name != m.Name || 8*f.Off+f.BitOff != int64(m.Offset) || f.BitSize != int64(m.BitfieldSize) {
			t.Errorf("%s: field %d is %s at bit %d with %d bits, want %s at %d with %d", name, i, f.Name, 8*f.Off+
				f.BitOff, f.BitSize, m.Name, m.Offset, m.BitfieldSize)
		}
		if f.BitSize > 0 {
			bits++
			if f.Off+f.Type.Size > size || f.BitOff+f.BitSize > 8*f.Type.Size {
				t.Errorf("%s.%s: %d bits from bit %d of %d bytes at %d", name, f.Name, f.BitSize, f.BitOff, f.Type.Size,
					f.Off)
			}
			continue
		}
		if n, err := btf.Sizeof(m.Type); err == nil && int64(n) != f.Type.Size {
			t.Errorf("%s.%s has %d bytes, want %d", name, f.Name, f.Type.Size, n)
		}
		switch sub := btf.UnderlyingType(m.Type).(type) {
		case *btf.Struct:
			if m.Name == "" {
				bits += same(t, name+".{struct}", f.Type, sub.Members, int64(sub.Size))
			}
		case *btf.Union:
			if m.Name == "" {
				bits += same(t, name+".{union}", f.Type, sub.Members, int64(sub.Size))
			}
		case *btf.Int:
			if f.Type.Signed != (sub.Encoding&btf.Signed != 0) {
				t.Errorf("%s.%s: signed %t", name, f.Name, f.Type.Signed)
			}
		}
	}
	return bits
}

// BenchmarkEbpf is what BenchmarkOpenAndProto does, with the eBPF library.
func BenchmarkEbpf(b *testing.B) {
	running(b)
	b.ReportAllocs()
	for range b.N {
		file, err := os.Open("/sys/kernel/btf/vmlinux")
		if err != nil {
			b.Fatal(err)
		}
		data, err := io.ReadAll(file) // it wants a ReaderAt that it can read as a whole
		file.Close()
		if err != nil {
			b.Fatal(err)
		}
		spec, err := btf.LoadSpecFromReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		var f *btf.Func
		if err := spec.TypeByName("vfs_read", &f); err != nil {
			b.Fatal(err)
		}
	}
}
