package cgen

import (
	"os"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
)

func TestDumpTmp(t *testing.T) {
	b, err := os.ReadFile(os.Getenv("IRTEXT"))
	if err != nil {
		t.Skip()
	}
	p, err := ir.ParseText(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(p); err != nil {
		t.Fatal(err)
	}
	u, ds := Generate(p, Options{Name: "gs_try"})
	for _, d := range ds {
		t.Log(d)
	}
	os.WriteFile(os.Getenv("COUT"), []byte(u.C), 0o644)
}
