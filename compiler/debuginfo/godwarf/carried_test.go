package godwarf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo"
)

const carriedSource = `package main

import "os"

type fail struct{ n int }

func (f *fail) Error() string { return "failed" }

//go:noinline
func get(n int) (*fail, error) { return &fail{n}, &fail{n * 3} }

//go:noinline
func plain(n int) (int, int) { return n, n * 5 }

//go:noinline
func use(n int) {}

//go:noinline
func again(n int) int {
	a, err := get(n)
	use(a.n)
	if err == nil {
		return 1
	}
	b, err := get(n + 1)
	if err != nil { // again err=&{6} +
		use(b.n)
		return b.n
	}
	return 2
}

//go:noinline
func other(n int, c bool) int {
	x, y := plain(n)
	use(x)
	if c {
		x, y = plain(n + 1)
		use(1) // other y=10 *
	}
	use(2) // other y= -
	return x + y
}

func main() {
	n := len(os.Args)
	use(again(n) + other(n, true) + other(n, false))
}
`

// TestCarried asks for results of calls for which the location list has the place of a value from before. Where the
// line ends in "+" the value must be found, and where it ends in "-" not; "*": the list has the value itself.
func TestCarried(t *testing.T) {
	im, path := imageOf(t, carriedSource)
	site := func(im *Image, fn string, line int) debuginfo.Site {
		sites, err := im.LineSites(debuginfo.LineQuery{Func: "main." + fn, Line: line})
		if err != nil || len(sites) != 1 {
			t.Fatal(line, sites, err)
		}
		return sites[0]
	}
	hooks := map[uint64]func(*thread){}
	hits, given := 0, 0
	check := func(im *Image, known bool) {
		for i, l := range strings.Split(carriedSource, "\n") {
			_, note, ok := strings.Cut(l, "// ")
			if !ok {
				continue
			}
			words := strings.Fields(note)
			name, want, _ := strings.Cut(words[1], "=")
			s := site(im, words[0], i+1)
			v, err := im.Var(s, name)
			var nl *debuginfo.NotLiveError
			if found := err == nil; found != (known && words[2] == "+" || words[2] == "*") {
				t.Errorf("line %d: %v", i+1, err)
			} else if errors.As(err, &nl) && known {
				given++
				want := debuginfo.Given{
					Line: i - 2, Caller: "main." + words[0], Callee: "main.plain", Result: 1, Results: 2,
				}
				if nl.Given == nil || *nl.Given != want {
					t.Errorf("line %d: it comes from %+v", i+1, nl.Given)
				}
			} else if found {
				hooks[s.PC] = func(th *thread) {
					hits++
					if got := th.perhaps(v); got != want {
						t.Errorf("line %d: %s is %s, want %s", i+1, name, got, want)
					}
				}
			}
		}
	}
	im.lists = true
	check(im, false)
	im.lists, im.effects = false, nil
	check(im, true)
	run(t, im, hooks)
	if hits != 2 || given != 1 {
		t.Errorf("%d hits, %d calls", hits, given)
	}
	// A source that was written after the program may be another one, and one that does not declare what the program
	// has is.
	src := filepath.Join(filepath.Dir(path), "main.go")
	for _, how := range []func() error{
		func() error { later := time.Now().Add(time.Hour); return os.Chtimes(src, later, later) },
		func() error {
			old := time.Now().Add(-time.Hour)
			text := strings.Replace(carriedSource, "a, err", "w, err", 1)
			text = strings.Replace(text, "x, y := ", "w, y := ", 1)
			if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
				return err
			}
			return os.Chtimes(src, old, old)
		},
	} {
		if err := how(); err != nil {
			t.Fatal(err)
		}
		im, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		check(im, false)
		im.Close()
	}
}
