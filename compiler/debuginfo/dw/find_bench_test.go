package dw

import (
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

// One look through all entries of a program.
func BenchmarkFindFuncs(b *testing.B) {
	d := openDwarf(b, elftest.GoCommand(b))
	info, _ := d.File().Section(".debug_info")
	b.SetBytes(int64(len(info)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.FindFuncs(func(name []byte) bool { return string(name) == "strings.HasPrefix" }); err != nil {
			b.Fatal(err)
		}
	}
}
