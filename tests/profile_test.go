package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gostap/gostap/runtime/export"
	"github.com/gostap/gostap/runtime/export/pprof"
)

// profiled writes a Go program, profiles it and reads the file that this gives. The program prints numbers that the
// profile is held against.
func profiled(t *testing.T, source string, args ...string) (p *export.Profile, printed string) {
	t.Helper()
	needRoot(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": source, "go.mod": "module app\n\ngo 1.24\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "app", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(dir, "out.pb.gz")
	cmd := exec.Command("../bin/gostap", append([]string{"profile", "-c", filepath.Join(dir, "app"), "-o", file},
		args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "lost") {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if p, err = pprof.Read(f); err != nil {
		t.Fatal(err)
	}
	return p, string(out)
}

// TestProfileWall: what goroutines do is what they say they do, by state and function, and adds up to their lives.
func TestProfileWall(t *testing.T) {
	t.Parallel()
	p, printed := profiled(t, `package main

import (
	"fmt"
	"sync"
	"time"
)

//go:noinline
func sleeps() { time.Sleep(150 * time.Millisecond) }

//go:noinline
func receives(c chan int) int { return <-c }

//go:noinline
func locks(mu *sync.Mutex) { mu.Lock(); mu.Unlock() }

func main() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	c := make(chan int)
	mu.Lock()
	begun := time.Now()
	wg.Add(3)
	go func() { sleeps(); wg.Done() }()
	go func() { receives(c); wg.Done() }()
	go func() { locks(&mu); wg.Done() }()
	for i := 0; i < 30; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	mu.Unlock()
	c <- 1
	wg.Wait()
	fmt.Println("wall", time.Since(begun).Nanoseconds())
}
`, "--what", "wall")
	var wall int64
	if _, err := fmt.Sscanf(printed[strings.Index(printed, "wall"):], "wall %d", &wall); err != nil {
		t.Fatal(err)
	}
	by, life := map[string]int64{}, map[string]int64{}
	for i := range p.Samples {
		s := &p.Samples[i]
		life[s.Label("goroutine")] += s.Values[0]
		for _, f := range s.Stack {
			if strings.HasPrefix(f.Func, "main.") {
				by[f.Func+" "+s.Label("state")] += s.Values[0]
				break
			}
		}
	}
	for what, least := range map[string]int64{"main.sleeps sleep": 150e6, "main.receives chan receive": 300e6,
		"main.locks sync.Mutex.Lock": 300e6, "main.main sleep": 300e6} {
		// A goroutine that was made before the clock was read may have waited less than the least only by that.
		if by[what] < least-least/100 || by[what] > wall {
			t.Errorf("%s: %d ns, want %d to %d", what, by[what], least, wall)
		}
	}
	if life["1"] < wall {
		t.Errorf("the main goroutine lived at least %d ns, and its states are %d", wall, life["1"])
	}
}

// TestProfileCPU: samples are where the time is spent, and as many as there is time.
func TestProfileCPU(t *testing.T) {
	t.Parallel()
	p, printed := profiled(t, `package main

import (
	"fmt"
	"syscall"
	"time"
)

//go:noinline
func spin(d time.Duration) (x int) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for i := 0; i < 100000; i++ {
			x += i * x
		}
	}
	return x
}

//go:noinline
func less() { spin(100 * time.Millisecond) }

//go:noinline
func more() { spin(400 * time.Millisecond) }

func main() {
	less()
	more()
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	fmt.Println("cpu", u.Utime.Nano()+u.Stime.Nano())
}
`)
	var cpu int64
	if _, err := fmt.Sscanf(printed[strings.Index(printed, "cpu"):], "cpu %d", &cpu); err != nil {
		t.Fatal(err)
	}
	by := map[string]int64{}
	for i := range p.Samples {
		for _, f := range p.Samples[i].Stack {
			by[f.Func] += p.Samples[i].Values[0]
		}
	}
	// A sample stands for a millisecond: what is between two is not known.
	if all := p.Total(0); all < cpu*8/10-5e6 || all > cpu*12/10+20e6 {
		t.Errorf("samples of %d ns, and the process used %d", all, cpu)
	}
	if by["main.more"] < 2*by["main.less"] || by["main.less"] == 0 {
		t.Errorf("less %d ns, more %d", by["main.less"], by["main.more"])
	}
}

// TestProfileAlloc: bytes and objects are what the program asked for.
func TestProfileAlloc(t *testing.T) {
	t.Parallel()
	p, _ := profiled(t, `package main

var sink []byte

//go:noinline
func makes() {
	for i := 0; i < 1000; i++ {
		sink = make([]byte, 5000)
	}
}

func main() { makes() }
`, "--what", "alloc")
	var bytes, n int64
	for i := range p.Samples {
		for k, f := range p.Samples[i].Stack {
			// The collector, which begins at an allocation, allocates as well.
			if f.Func == "main.makes" && k == 2 && p.Samples[i].Stack[1].Func == "runtime.makeslice" {
				bytes, n = bytes+p.Samples[i].Values[0], n+p.Samples[i].Values[1]
			}
		}
	}
	if bytes != 5000*1000 || n != 1000 {
		t.Errorf("%d bytes in %d objects", bytes, n)
	}
}

// TestProfileThreads: a C program's thread waits in the system call that it makes; without -o there is a table.
func TestProfileThreads(t *testing.T) {
	t.Parallel()
	needRoot(t)
	out, err := exec.Command("../bin/gostap", "profile", "--what", "off", "-c", "sleep 0.3").CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^ +3\d\d\.\d\d ms +\d+\.\d%  clock_nanosleep`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}
