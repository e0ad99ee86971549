package profile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export"
	"github.com/gostap/gostap/runtime/export/pprof"
)

// TestLabelsOf: texts of labels as handlers write them, also where they are cut or odd.
func TestLabelsOf(t *testing.T) {
	l := func(kv ...string) (out []export.Label) {
		for i := 0; i < len(kv); i += 2 {
			out = append(out, export.Label{Key: kv[i], Text: kv[i+1]})
		}
		return out
	}
	for text, want := range map[string][]export.Label{
		"0\x02":                       nil,
		"2\x02b\x01x\x02a\x01<&>\x02": l("a", "<&>", "b", "x"),
		"1\x02a\x01\x02":              l("a", ""),
		"1\x02state\x01mine\x02":      l("pprof.state", "mine"),
		"2\x02a\x01x\x02b\x01lon":     l("a", "x", "b", "lon...", "labels", "there are more"),
		"9\x02" + strings.Repeat("a\x01\x02", 8): append(l(slices.Repeat([]string{"a", ""}, 8)...),
			l("labels", "there are more")...),
		"12\x02":                    l("labels", "there are more"), // a map of more than one bucket
		"1\x02a\x01x\x02b\x01y\x02": unread,                        // a value with such bytes in it
		"2\x02a\x01x\x02":           unread,
		"1\x02a\x01x\x01y\x02":      unread,
		"?":                         unread, "": unread,
	} {
		if got := labelsOf(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// labelledSource is a program with labels: it does things under them, as often as it says, and has goroutines that
// wait all the time.
const labelledSource = `package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"time"
)

//go:noinline
func spinA() { spin() }

//go:noinline
func spinB() { spin() }

//go:noinline
func spin() {
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
	}
}

var never = make(chan int)

//go:noinline
func waits() { <-never }

//go:noinline
func naps(n int) {
	for i := 0; i < n; i++ {
		time.Sleep(time.Microsecond)
	}
}

func do(f func(), labels ...string) {
	pprof.Do(context.Background(), pprof.Labels(labels...), func(context.Context) { f() })
}

func main() {
	do(spinA, "work", "a", "and", "<more>")
	do(spinB, "work", "b")
	done := make(chan int)
	for i := 0; i < 5; i++ {
		for k := 0; k < 10; k++ {
			do(func() {
				go waits() // has the labels
				go func() { naps(3); done <- 1 }()
			}, "work", strconv.Itoa(i), "state", "mine")
		}
	}
	go waits()
	for i := 0; i < 50; i++ {
		<-done
	}
	do(func() { naps(7) }, "work", "main")
	naps(5)
	if len(os.Args) > 1 {
		fmt.Println("ready")
		for {
			do(func() { naps(1) }, "work", "on")
		}
	}
}
`

func builtFor(t *testing.T, source, release string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": source, "go.mod": "module app\n\ngo 1.22\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "app", ".")
	build.Dir = dir
	if release != "" {
		build.Env = append(os.Environ(), "GOTOOLCHAIN="+release)
	}
	if out, err := build.CombinedOutput(); err != nil {
		if release != "" {
			t.Skipf("no %s: %s", release, out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "app")
}

// recorded is the profile that the options give.
func recorded(t *testing.T, ctx context.Context, o *options) *export.Profile {
	t.Helper()
	o.hz, o.output = 997, filepath.Join(t.TempDir(), "out.pb.gz")
	var said bytes.Buffer
	err := record(ctx, o, Streams{Out: &said, Err: &said}, os.Environ())
	if err != nil || said.Len() > 0 {
		t.Fatalf("%v\n%s", err, said.String())
	}
	f, err := os.Open(o.output)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := pprof.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLabels: what goroutines do is told under the labels that they have then, as often as the program does it, for
// each release of Go with another form of labels.
func TestLabels(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for _, release := range []string{"", "go1.25.5", "go1.22.12"} {
		t.Run(release, func(t *testing.T) {
			app := builtFor(t, labelledSource, release)
			has := func(s *export.Sample, fn string) bool {
				return slices.ContainsFunc(s.Stack, func(f export.Frame) bool { return f.Func == fn })
			}
			for _, each := range []bool{false, true} {
				naps := map[string]int64{}
				p := recorded(t, t.Context(), &options{command: app, what: "wall", each: each})
				for i := range p.Samples {
					if s := &p.Samples[i]; has(s, "main.naps") && s.Label("state") == "sleep" {
						naps[s.Label("work")+" "+s.Label("pprof.state")] += s.Values[1]
					}
				}
				want := map[string]int64{"main ": 7, " ": 5}
				for i := range 5 {
					want[fmt.Sprintf("%d mine", i)] = 30
				}
				if !reflect.DeepEqual(naps, want) {
					t.Errorf("each %v: naps %v, want %v", each, naps, want)
				}
			}
			p := recorded(t, t.Context(), &options{command: app, what: "cpu"})
			seen := 0
			for i := range p.Samples {
				s := &p.Samples[i]
				for fn, want := range map[string]string{"main.spinA": "a <more>", "main.spinB": "b "} {
					if got := s.Label("work") + " " + s.Label("and"); has(s, fn) {
						if seen++; got != want {
							t.Errorf("cpu: labels %q in %s: %v", got, fn, s.Labels)
						}
					}
				}
			}
			if seen == 0 {
				t.Error("cpu: no sample in the functions that spin")
			}
			labelsBefore(t, app)
		})
	}
}

// labelsBefore: goroutines that wait from before the beginning to behind the end have their labels.
func labelsBefore(t *testing.T, app string) {
	cmd := exec.Command(app, "on")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	out.Read(make([]byte, 6))
	for _, sample := range []bool{false, true} {
		p := recorded(t, t.Context(), &options{pid: cmd.Process.Pid, what: "chan", sample: sample,
			length: 100 * time.Millisecond})
		took, got := p.Duration.Nanoseconds(), map[string]int64{}
		for i := range p.Samples {
			s := &p.Samples[i]
			if slices.ContainsFunc(s.Stack, func(f export.Frame) bool { return f.Func == "main.waits" }) {
				got[s.Label("work")] += s.Values[0]
			}
		}
		want := map[string]int64{"": took}
		for i := range 5 {
			want[strconv.Itoa(i)] = 10 * took
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("sample %v: for %d ns %v, want %v", sample, took, got, want)
		}
	}
}
