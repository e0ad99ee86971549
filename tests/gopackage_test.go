package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// countedProgram counts for itself: it prints the number of each goroutine, from its own stack trace, and how often
// that called work.
const countedProgram = `package main

import (
	"fmt"
	"runtime"
	"sync"
)

//go:noinline
func work(n int) int { return n * 3 }

func main() {
	var wg sync.WaitGroup
	for i := range 7 {
		wg.Go(func() {
			n := 0
			for k := range 20 + 3*i {
				if work(k) >= 0 {
					n++
				}
				runtime.Gosched()
			}
			var g int
			var b [64]byte
			fmt.Sscanf(string(b[:runtime.Stack(b[:], false)]), "goroutine %d ", &g)
			fmt.Printf("%d %d\n", g, n)
		})
	}
	wg.Wait()
}
`

// TestGoPackage: the program on the page about the package, in a module of its own outside of this one, counts by
// goroutine what the traced program counts itself.
func TestGoPackage(t *testing.T) {
	needRoot(t)
	page, err := os.ReadFile("../docs/go-package.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```go\n")
	text, _, ok := strings.Cut(text, "```\n")
	if !ok || strings.Count(text, "\n") > 40 {
		t.Fatalf("the page begins with no program of 40 lines\n%s", text)
	}
	checkout, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(checkout, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	// The module needs what this one needs, in the versions that are here.
	_, needs, _ := strings.Cut(read("go.mod"), "\n\n")
	language, needs, _ := strings.Cut(needs, "\n\n")
	mod := "module example.com/count\n\n" + language +
		"\n\nrequire github.com/gostap/gostap v0.0.0\n\nreplace github.com/gostap/gostap => " + checkout + "\n\n" +
		needs
	dir := t.TempDir()
	exe := func(name, main, mod, sum string) string {
		folder := filepath.Join(dir, name)
		for file, text := range map[string]string{"main.go": main, "go.mod": mod, "go.sum": sum} {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("go", "build", "-o", name+".bin", ".")
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return filepath.Join(folder, name+".bin")
	}
	count := exe("count", text, mod, read("go.sum"))
	traced := exe("traced", countedProgram, "module example.com/traced\n\ngo 1.26\n", "")
	own := filepath.Join(dir, "own")
	cmd := exec.Command(count, fmt.Sprintf("%s >%s", traced, own), "main.work")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%v\n%s%s", err, out, &errs)
	}
	lines := func(s string) []string {
		l := strings.Fields(strings.ReplaceAll(s, " ", ":"))
		slices.Sort(l)
		return l
	}
	b, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := lines(string(b)), lines(string(out)); len(want) != 7 || !slices.Equal(want, got) {
		t.Errorf("by the package %v, by the program %v", got, want)
	}
}
