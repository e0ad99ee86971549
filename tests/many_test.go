package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMany: of variables whose types are too many to describe all of them, the last ones are left out, and said to be.
func TestMany(t *testing.T) {
	needRoot(t)
	const types = 30
	dir := t.TempDir()
	src := "package main\n\n"
	var params, args []string
	for i := range types {
		src += fmt.Sprintf("type t%d struct {\n", i)
		for k := range 150 {
			src += fmt.Sprintf("\tAFieldOf%dNumber%d int32\n", i, k)
		}
		src += "}\n\n"
		params = append(params, fmt.Sprintf("p%d *t%d", i, i))
		args = append(args, fmt.Sprintf("&t%d{}", i))
	}
	src += "//go:noinline\nfunc f(" + strings.Join(params, ", ") + ") { println(p0, p29) }\n\nfunc main() { f(" +
		strings.Join(args, ", ") + ") }\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	prog := filepath.Join(dir, "prog")
	if out, err := exec.Command("go", "build", "-o", prog, filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := begin(t, "-D", "MAXSTRINGLEN=200", "-e", `probe process(@1).function("main.f") { println($$parms$$) }`, prog,
		"-c", prog+" 2>/dev/null")
	if status := s.end(); status != 0 || s.stderr() != "" {
		t.Fatalf("status %d\n%s", status, s.stderr())
	}
	if got := s.stdout(); !strings.HasPrefix(got, "p0=&{AFieldOf0Number0:0, ") {
		t.Error(got)
	}
}
