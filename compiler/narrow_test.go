package compiler

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNarrow: a program of 32 bits makes system calls that the probes of system calls do not see, and the user is told.
func TestNarrow(t *testing.T) {
	for class, want := range map[byte]bool{1: true, 2: false} {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, []byte{0x7f, 'E', 'L', 'F', class, 1, 1, 0}, 0o755); err != nil {
			t.Fatal(err)
		}
		for script, calls := range map[string]bool{`probe syscall.read { println(name) }`: true,
			`probe begin { println("x") }`: false} {
			_, ds := Compile(t.Context(), Options{TargetPath: path,
				Scripts: []Script{{Name: "t.stp", Text: []byte(script)}}})
			told := false
			for _, d := range ds {
				told = told || d.Code == "left-out"
			}
			if told != (want && calls) {
				t.Errorf("class %d, %s: told %v: %v", class, script, told, ds)
			}
		}
	}
}
