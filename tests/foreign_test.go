package tests

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignValues: programs of C++ and Rust that say each of their values, with {:?} or as it is to look, are traced
// with and without optimisation, and $v$$ is the same text.
func TestForeignValues(t *testing.T) {
	needRoot(t)
	builds := []struct {
		tool, source string
		flags        []string
	}{
		{"g++", "cplusvalues/cplusvalues.cpp", []string{"-std=c++17", "-g", "-O0"}},
		{"g++", "cplusvalues/cplusvalues.cpp", []string{"-std=c++17", "-g", "-O2"}},
		{"clang++", "cplusvalues/cplusvalues.cpp", []string{"-std=c++17", "-g", "-O1"}},
		{"rustc", "rustvalues/main.rs", []string{"-g", "--cap-lints=allow", "-Copt-level=0"}},
		{"rustc", "rustvalues/main.rs", []string{"-g", "--cap-lints=allow", "-Copt-level=2"}},
	}
	for _, b := range builds {
		t.Run(b.tool+strings.Join(b.flags, ""), func(t *testing.T) {
			if _, err := exec.LookPath(b.tool); err != nil {
				t.Skip(err) // the compiler of Rust is no part of what the tests install
			}
			prog := filepath.Join(t.TempDir(), "values")
			cmd := exec.Command(b.tool, append(b.flags, "-o", prog, b.source)...)
			cmd.Dir = "fixtures"
			if msg, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			saysItself(t, prog)
		})
	}
}

// saysItself holds what gostap shows of the values of prog against what it writes itself, by lines.
func saysItself(t *testing.T, prog string) {
	t.Helper()
	said := filepath.Join(t.TempDir(), "said")
	cmd := exec.Command(bin(t, "gostap"), "-e", `probe process(@1).function("said_by_itself*") { println($v$$) }`, prog,
		"-c", prog+" >"+said)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.Bytes())
	}
	want, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	if len(w) != len(g) {
		t.Errorf("%d lines, not %d\n%s", len(g), len(w), errs.Bytes())
	}
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			t.Errorf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
}
