package tests

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	return writtenOut(t, append([]string{"-c", builtGo(t, source)}, args...)...)
}

// builtGo builds a Go program.
func builtGo(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": source, "go.mod": "module app\n\ngo 1.25\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "app", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "app")
}

// written is the profile that the command writes.
func written(t *testing.T, args ...string) *export.Profile {
	t.Helper()
	p, _ := writtenOut(t, args...)
	return p
}

func writtenOut(t *testing.T, args ...string) (p *export.Profile, printed string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "out.pb.gz")
	out, err := exec.Command(bin(t, "gostap"), append([]string{"profile", "-o", file}, args...)...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "lost") || strings.Contains(string(out), "not told") {
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

// held has what holds times against those of others do so up to five times, until nothing is wrong: on a busy machine a
// thread that loses its processor between the two clocks of an event makes any difference.
func held(t *testing.T, once func() (wrong []string)) {
	t.Helper()
	for left := 4; ; left-- {
		wrong := once()
		for _, w := range wrong {
			if left == 0 {
				t.Error(w)
			} else {
				t.Log("once more: " + w)
			}
		}
		if left == 0 || len(wrong) == 0 {
			return
		}
	}
}

// TestProfileWall: what goroutines do is what they say they do, by state and function, and adds up to their lives.
func TestProfileWall(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--each"}} {
		t.Run(strings.Join(args, ""), func(t *testing.T) {
			t.Parallel()
			held(t, func() []string { return profileWall(t, args...) })
		})
	}
}

func profileWall(t *testing.T, args ...string) (wrong []string) {
	t.Helper()
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
`, append([]string{"--what", "wall"}, args...)...)
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
			wrong = append(wrong, fmt.Sprintf("%s: %d ns, want %d to %d", what, by[what], least, wall))
		}
	}
	if args != nil && life["1"] < wall {
		t.Errorf("the main goroutine lived at least %d ns, and its states are %d", wall, life["1"])
	}
	return wrong
}

// TestProfileLives: the states of 10,000 goroutines add up to what they measure of their lives themselves.
func TestProfileLives(t *testing.T) {
	t.Parallel()
	p, printed := profiled(t, `package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var lives atomic.Int64

//go:noinline
func live(begun time.Time, c chan int, mu *sync.Mutex, wg *sync.WaitGroup) {
	for n := range c {
		switch n % 4 {
		case 0:
			time.Sleep(time.Millisecond)
		case 1:
			mu.Lock()
			mu.Unlock()
		case 2:
			runtime.Gosched()
		}
	}
	lives.Add(int64(time.Since(begun)))
	wg.Done()
}

func main() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	all := make([]chan int, 10000)
	for i := range all {
		all[i] = make(chan int)
		wg.Add(1)
		go live(time.Now(), all[i], &mu, &wg)
	}
	for n := range 40000 {
		all[n*7919%len(all)] <- n
	}
	time.Sleep(time.Second)
	for _, c := range all {
		close(c)
	}
	wg.Wait()
	fmt.Println("lives", lives.Load())
}
`, "--what", "wall")
	var lives int64
	if _, err := fmt.Sscanf(printed[strings.Index(printed, "lives"):], "lives %d", &lives); err != nil {
		t.Fatal(err)
	}
	var got int64
	for i := range p.Samples {
		s := &p.Samples[i]
		// Before it runs for the first time, a goroutine is runnable where main.main made it.
		made := len(s.Stack) > 2 && s.Stack[1].Func == "runtime.newproc.func1"
		if made || slices.ContainsFunc(s.Stack, func(f export.Frame) bool {
			return strings.HasPrefix(f.Func, "main.live") || strings.HasPrefix(f.Func, "main.main.gowrap")
		}) {
			got += s.Values[0]
		}
	}
	t.Logf("%d ns, the program says %d", got, lives)
	if max(got-lives, lives-got) > lives/100 {
		t.Errorf("%d ns, the program says %d", got, lives)
	}
}

// TestProfileCPU: samples are where the time is spent, and as many as there is time.
func TestProfileCPU(t *testing.T) {
	t.Parallel()
	held(t, func() []string { return profileCPU(t) })
}

func profileCPU(t *testing.T) (wrong []string) {
	t.Helper()
	p, printed := profiled(t, `package main

import (
	"fmt"
	"syscall"
	"time"
)

func used() int64 {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

//go:noinline
func spin(d time.Duration) (x int) {
	for end := used() + int64(d); used() < end; {
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
	fmt.Println("cpu", used())
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
		wrong = append(wrong, fmt.Sprintf("samples of %d ns, and the process used %d", all, cpu))
	}
	if by["main.more"] < 2*by["main.less"] || by["main.less"] == 0 {
		wrong = append(wrong, fmt.Sprintf("less %d ns, more %d", by["main.less"], by["main.more"]))
	}
	return wrong
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
	out, err := exec.Command(bin(t, "gostap"), "profile", "--what", "off", "-c", "sleep 0.3").CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^ +3\d\d\.\d\d ms +\d+\.\d%  clock_nanosleep`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestProfileRunning: a process that waits from before the beginning to behind the end is told all the same.
func TestProfileRunning(t *testing.T) {
	t.Parallel()
	needRoot(t)
	sleep := exec.Command("sleep", "1000")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer sleep.Wait()
	defer sleep.Process.Kill()
	for sys := ""; !strings.HasPrefix(sys, "230 "); { // until it is in clock_nanosleep
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", sleep.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		sys = string(b)
	}
	out, err := exec.Command(bin(t, "gostap"), "profile", "--what", "wall", "--for", "500ms", "-x",
		strconv.Itoa(sleep.Process.Pid)).CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^ +[45]\d\d\.\d\d ms +100\.0%  clock_nanosleep`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestProfileWaiting: goroutines that wait from before the beginning, to behind the end or not, are told with their
// stacks, and the states of all sum to the time.
func TestProfileWaiting(t *testing.T) {
	t.Parallel()
	needRoot(t)
	app := builtGo(t, `package main

import (
	"fmt"
	"sync"
	"time"
)

//go:noinline
func waits(c chan int) {
	for range c {
	}
}

//go:noinline
func locks(mu *sync.Mutex) { mu.Lock() }

func main() {
	c, often := make(chan int), make(chan int)
	var mu sync.Mutex
	mu.Lock()
	for range 1000 {
		go waits(c)
		go locks(&mu)
	}
	go waits(often)
	time.Sleep(200 * time.Millisecond)
	fmt.Println("ready")
	for {
		often <- 1
		time.Sleep(time.Millisecond)
	}
}
`)
	cmd := exec.Command(app)
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
	for _, what := range []string{"wall", "lock,chan", "wall --sample", "lock,chan --sample"} {
		p := written(t, append([]string{"-x", strconv.Itoa(cmd.Process.Pid), "--for", "1s", "--what"},
			strings.Fields(what)...)...)
		by := map[string]int64{}
		for i := range p.Samples {
			s := &p.Samples[i]
			for _, f := range s.Stack {
				if strings.HasPrefix(f.Func, "main.") {
					by[f.Func+" "+s.Label("state")] += s.Values[0]
					break
				}
			}
		}
		// A thousand wait from before the beginning to behind the end, which comes when it can: to the nanosecond.
		// One more goes on now and then, and may have done so while they were read.
		took := p.Duration.Nanoseconds()
		least := 1000 * took
		if strings.Contains(what, "--sample") { // the collector marks what it scans: then a stack is left out
			least = 990 * took
		}
		if took < 1e9 {
			t.Errorf("%s: %d ns", what, took)
		}
		if got := by["main.waits chan receive"]; got < least || got > 1001*took {
			t.Errorf("%s: 1001 goroutines in a channel for %d ns: %d ns", what, took, got)
		}
		if got := by["main.locks sync.Mutex.Lock"]; got < least || got > 1000*took {
			t.Errorf("%s: 1000 goroutines at a lock for %d ns: %d ns", what, took, got)
		}
		if all := p.Total(0); strings.HasPrefix(what, "wall") && (all < 2002*took || all > 2030*took) {
			t.Errorf("2002 goroutines and those of the runtime for %d ns: %d ns", took, all)
		}
	}
}

// TestProfileTrace: the times that goroutines wait are those of the runtime's own trace of the same run.
func TestProfileTrace(t *testing.T) {
	t.Parallel()
	held(t, func() []string { return profileTrace(t) })
}

func profileTrace(t *testing.T) (wrong []string) {
	t.Helper()
	p, printed := profiled(t, `package main

import (
	"fmt"
	"os"
	"runtime/trace"
	"sync"
	"time"
)

//go:noinline
func ping(a, b chan int) {
	for range 2000 {
		b <- <-a
	}
}

//go:noinline
func pong(a, b chan int) {
	for i := range 2000 {
		a <- i
		<-b
		if i%50 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

//go:noinline
func contend(mu *sync.Mutex) {
	for range 30 {
		mu.Lock()
		time.Sleep(2 * time.Millisecond)
		mu.Unlock()
	}
}

func main() {
	f, err := os.CreateTemp("", "profile-*.trace")
	if err != nil {
		panic(err)
	}
	fmt.Println("file", f.Name())
	trace.Start(f)
	var wg sync.WaitGroup
	var mu sync.Mutex
	a, b := make(chan int), make(chan int)
	wg.Go(func() { ping(a, b) })
	wg.Go(func() { pong(a, b) })
	for range 3 {
		wg.Go(func() { contend(&mu) })
	}
	wg.Wait()
	trace.Stop()
	f.Close()
}
`, "--what", "lock,chan")
	var name string
	if _, err := fmt.Sscanf(printed[strings.Index(printed, "file"):], "file %s", &name); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(name)
	text, err := exec.Command("go", "tool", "trace", "-pprof=sync", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := pprof.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	delay := slices.IndexFunc(theirs.Types, func(v export.Type) bool { return v.Unit == "nanoseconds" })
	in := func(p *export.Profile, value int, fn, leaf string) (sum int64) {
		for i := range p.Samples {
			s := &p.Samples[i]
			has := func(name string) bool {
				return slices.ContainsFunc(s.Stack, func(f export.Frame) bool { return f.Func == name })
			}
			if has(fn) && has(leaf) {
				sum += s.Values[value]
			}
		}
		return sum
	}
	for _, c := range [][2]string{{"main.contend", "sync.(*Mutex).Lock"}, {"main.ping", "runtime.chanrecv1"}} {
		mine, want := in(p, 0, c[0], c[1]), in(theirs, delay, c[0], c[1])
		t.Logf("%s in %s: %d ns, the runtime's trace says %d", c[1], c[0], mine, want)
		// Between the two clocks of a wait are the probes: some microseconds each time.
		waits := in(p, 1, c[0], c[1])
		if want == 0 || max(mine-want, want-mine) > want/50+5000*waits {
			wrong = append(wrong, fmt.Sprintf("%s in %s: %d ns, the runtime's trace says %d", c[1], c[0], mine, want))
		}
	}
	return wrong
}
