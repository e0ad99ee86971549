package godwarf

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// TestStale asks for variables for which Go 1.26 gives places that have something else: in RCX, where another loop
// counts, and in a slot of the frame that has got the length of a string.
func TestStale(t *testing.T) {
	const file = "testdata/stale/main.go"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "prog")
	if b, err := exec.Command("go", "build", "-o", path, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	im, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	hooks := map[uint64]func(*thread){}
	asked := 0
	for _, c := range []struct {
		fn, text, name string
		want           func(hit int) int
	}{
		{"main.f20", "one(47)", "n654", func(hit int) int { return hit / 3 % 4 }},
		{"main.f17", "a519 := small(p, p)", "p", func(int) int { return 10 }},
	} {
		line := 1 + strings.Count(string(src[:strings.Index(string(src), c.text)]), "\n")
		sites, err := im.LineSites(debuginfo.LineQuery{Func: c.fn, Line: line})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sites {
			v, err := im.Var(s, c.name)
			var nl *debuginfo.NotLiveError
			if asked++; errors.As(err, &nl) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			hit := 0
			hooks[s.PC] = func(th *thread) {
				if got, want := th.show(v), fmt.Sprint(c.want(hit)); got != want {
					t.Errorf("%s, time %d: %s is %s, want %s", c.text, hit, c.name, got, want)
				}
				hit++
			}
		}
	}
	run(t, im, hooks)
	if asked < 2 {
		t.Error(asked)
	}
}
