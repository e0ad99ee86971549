package godwarf

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

const lateSource = `package main

import "os"

//go:noinline
func get(n int) int { return n * 3 }

//go:noinline
func use(n int) {}

//go:noinline
func f(n int) int {
	x := get(n)
	use(x)
	if n == 1 {
		x = 5
		use(8)
	}
	use(7) // joined
	use(6) // stored
	return x
}

func main() {
	println(f(len(os.Args)))
}
`

// imageOf builds a program of one file, main.go in the program's folder, and gives its image and its path.
func imageOf(t *testing.T, source string) (im *Image, path string) {
	t.Helper()
	dir := t.TempDir()
	src, path := filepath.Join(dir, "main.go"), filepath.Join(dir, "prog")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", path, src)
	cmd.Dir = dir
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	im, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { im.Close() })
	return im, path
}

// TestLate asks for a variable of which a branch has made another one: behind the branch the new value is in a register
// and the place in the frame still has the old one, which the location list names.
func TestLate(t *testing.T) {
	im, _ := imageOf(t, lateSource)
	got := map[string]string{}
	hooks := map[uint64]func(*thread){}
	for _, what := range []string{"joined", "stored"} {
		line := 1 + strings.Count(lateSource[:strings.Index(lateSource, what)], "\n")
		sites, err := im.LineSites(debuginfo.LineQuery{Func: "main.f", Line: line})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sites {
			v, err := im.Var(s, "x")
			var nl *debuginfo.NotLiveError
			switch {
			case errors.As(err, &nl):
				got[what] += " refused"
			case err != nil:
				t.Fatal(err)
			default:
				hooks[s.PC] = func(th *thread) { got[what] += " " + th.show(v) }
			}
		}
	}
	run(t, im, hooks)
	for what, g := range got {
		for _, x := range strings.Fields(g) {
			if x != "5" && x != "refused" {
				t.Errorf("%s: x is%s", what, g)
			}
		}
	}
	if got["stored"] == "" || got["joined"] == "" {
		t.Error(got)
	}
}
