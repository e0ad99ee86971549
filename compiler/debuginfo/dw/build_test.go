package dw

import (
	"os"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

func TestMain(m *testing.M) { os.Exit(elftest.Main(m)) }

func openFile(tb testing.TB, path string) *elffile.File {
	tb.Helper()
	f, err := elffile.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

func openDwarf(tb testing.TB, path string) *Data {
	tb.Helper()
	d, err := Open(openFile(tb, path))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
