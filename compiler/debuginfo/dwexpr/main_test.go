package dwexpr_test

import (
	"os"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

func TestMain(m *testing.M) { os.Exit(elftest.Main(m)) }

func openDwarf(tb testing.TB, path string) *dw.Data {
	tb.Helper()
	f, err := elffile.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	d, err := dw.Open(f)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
