package btf_test

import (
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
)

// BenchmarkFind opens the running kernel's types and finds some, as a short script does. Many names end in "inode".
func BenchmarkFind(b *testing.B) {
	for range b.N {
		x, err := btf.Open(btf.RunningPath, nil)
		if err != nil {
			b.Skip(err)
		}
		for _, name := range []string{"task_struct", "mm_struct", "inode", "file", "super_block"} {
			if len(x.FindKind(btf.KindStruct, name)) != 1 {
				b.Fatal(name, " is not there")
			}
		}
	}
}
