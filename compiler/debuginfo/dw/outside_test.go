package dw_test

import (
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
)

func openELF(tb testing.TB, path string) *elffile.File {
	tb.Helper()
	f, err := elffile.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

func openData(tb testing.TB, path string) *dw.Data {
	tb.Helper()
	d, err := dw.Open(openELF(tb, path))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
