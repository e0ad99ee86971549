package kbtf

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// TestResolve: members are where another reader of BTF finds them, and what is not there is said.
func TestResolve(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		t.Skip("this kernel has no BTF")
	}
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	k, portable := New(Config{}), New(Config{Portable: true})
	s, err := portable.Kernel()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range []string{"task_struct", "file", "sk_buff", "inode", "mm_struct", "sock"} {
		var st *btf.Struct
		if err := spec.TypeByName(name, &st); err != nil {
			t.Fatal(err)
		}
		want := map[string]int64{}
		var walk func(ms []btf.Member, at int64)
		walk = func(ms []btf.Member, at int64) {
			for _, m := range ms {
				off := at + int64(m.Offset.Bytes())
				switch typ := btf.UnderlyingType(m.Type).(type) {
				case *btf.Struct:
					if m.Name == "" {
						walk(typ.Members, off)
					}
				case *btf.Union:
					if m.Name == "" {
						walk(typ.Members, off)
					}
				}
				if _, twice := want[m.Name]; m.Name != "" && m.BitfieldSize == 0 && !twice {
					want[m.Name] = off
				}
			}
		}
		walk(st.Members, 0)
		typ, err := s.Type("struct " + name)
		if err != nil {
			t.Fatal(err)
		}
		if size, err := k.Resolve("size struct~" + name); err != nil || size != int64(st.Size) {
			t.Errorf("size of %s: %d %v", name, size, err)
		}
		for member, off := range want {
			_, f, ok := memberOf(typ, member)
			if !ok || f.Owner == "" {
				t.Errorf("%s.%s is not found, or has no owner: %+v", name, member, f)
				continue
			}
			got, err := k.Resolve(fmt.Sprintf("member struct~%s %s %s", name, member, f.Shape()))
			if err != nil || got != off {
				t.Errorf("%s.%s: %d %v, want %d", name, member, got, err, off)
			}
			n++
		}
	}
	if n < 500 {
		t.Errorf("%d members only", n)
	}
	for what, want := range map[string]string{
		"member struct~task_struct nosuch 4s": "struct task_struct has no member nosuch",
		"member struct~nosuch pid 4s":         "it has no struct nosuch",
		"member struct~task_struct pid 8":     "member pid of struct task_struct is 4s there, and 8 where",
		"size struct~nosuch":                  "it has no struct nosuch",
		"constant NOSUCH_CONSTANT":            "it has no constant",
		"variable nosuch_variable 8":          "nosuch_variable",
		"this thing":                          "means nothing",
		"":                                    "means nothing",
		"member nosuch:struct~x y z":          "nosuch",
		"member struct~task_struct pid":       "and  where",
	} {
		if _, err := k.Resolve(what); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", what, err)
		}
	}
	both, err := k.Resolve("member struct~dentry d_name.len 4")
	name, err1 := k.Resolve("member struct~dentry d_name struct")
	length, err2 := k.Resolve("member struct~qstr len 4")
	if err != nil || err1 != nil || err2 != nil || both != name+length {
		t.Errorf("%d is not %d + %d: %v %v %v", both, name, length, err, err1, err2)
	}
	if n, err := k.Resolve("constant PIDTYPE_TGID"); err != nil || n != 1 {
		t.Errorf("%d %v", n, err)
	}
}
