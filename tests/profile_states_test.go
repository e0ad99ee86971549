package tests

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap/runtime/export"
)

// livesSource is a program that writes a trace of itself: its goroutines sleep, wait for channels and locks, let others
// go first and call the system, and say at the end how long they lived, as they see it themselves.
const livesSource = `package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/trace"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type life struct {
	id                   string
	made, begun, ended   time.Time
}

//go:noinline
func live(l *life, c, back chan int, mu *sync.Mutex, wg *sync.WaitGroup) {
	l.begun = time.Now()
	buf := make([]byte, 64)
	l.id = strings.Fields(string(buf[:runtime.Stack(buf, false)]))[1]
	for n := range c {
		switch n % 5 {
		case 0:
			time.Sleep(time.Millisecond)
		case 1:
			mu.Lock()
			time.Sleep(10 * time.Microsecond)
			mu.Unlock()
		case 2:
			runtime.Gosched()
		case 3:
			back <- n
		case 4:
			syscall.Getppid()
		}
	}
	wg.Done()
	l.ended = time.Now()
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	rounds, _ := strconv.Atoi(os.Args[2])
	f, err := os.CreateTemp("", "profile-*.trace")
	if err != nil {
		panic(err)
	}
	fmt.Println("file", f.Name())
	trace.Start(f)
	var wg sync.WaitGroup
	var mu sync.Mutex
	back := make(chan int)
	go func() {
		for range back {
		}
	}()
	lives, all := make([]life, n), make([]chan int, n)
	begun := time.Now()
	for i := range all {
		all[i] = make(chan int)
		wg.Add(1)
		lives[i].made = time.Now()
		go live(&lives[i], all[i], back, &mu, &wg)
	}
	for i := range n * rounds {
		all[i*7919%n] <- i
	}
	time.Sleep(time.Second)
	for _, c := range all {
		close(c)
	}
	wg.Wait()
	took := time.Since(begun)
	for runtime.NumGoroutine() > 3 { // main, the one that receives, the tracer's
		time.Sleep(time.Millisecond)
	}
	trace.Stop()
	f.Close()
	for _, l := range lives {
		fmt.Println("life", l.id, l.ended.Sub(l.begun).Nanoseconds(), l.ended.Sub(l.made).Nanoseconds())
	}
	fmt.Println("took", took.Nanoseconds())
}
`

// spent is what a goroutine did in a state: how long, and how many times.
type spent struct{ ns, times int64 }

// transition is a line of go tool trace -d=parsed.
var transition = regexp.MustCompile(`StateTransition Time=(\d+) GoID=(\d+) (\w+)->(\w+) Reason="(.*)"`)

// traced adds a trace up by goroutine and state, of goroutines that begin and end in it.
func traced(t *testing.T, file string) map[string]map[string]spent {
	t.Helper()
	cmd := exec.Command("go", "tool", "trace", "-d=parsed", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	type now struct {
		state string
		since int64
		by    map[string]spent
	}
	alive, all := map[string]*now{}, map[string]map[string]spent{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := transition.FindStringSubmatch(lines.Text())
		if m == nil || m[3] == m[4] { // it is said again now and then
			continue
		}
		at, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		g := alive[m[2]]
		if m[3] == "NotExist" {
			g = &now{by: map[string]spent{}}
			alive[m[2]] = g
		}
		if g == nil {
			continue
		}
		if g.state != "" {
			s := g.by[g.state]
			g.by[g.state] = spent{s.ns + at - g.since, s.times + 1}
		}
		g.since, g.state = at, strings.ToLower(m[4])
		if g.state == "waiting" {
			g.state = m[5]
		}
		if m[4] == "NotExist" {
			all[m[2]] = g.by
			delete(alive, m[2])
		}
	}
	if err := cmd.Wait(); err != nil || lines.Err() != nil {
		t.Fatal(err, lines.Err())
	}
	return all
}

// traceName is what the runtime's trace calls a state of ours.
func traceName(state string) string {
	switch {
	case strings.HasPrefix(state, "sync.Mutex"), strings.HasPrefix(state, "semacquire"):
		return "sync"
	case strings.HasPrefix(state, "syscall"):
		return "syscall"
	case state == "GC assist wait":
		return "GC mark assist wait for work"
	}
	return state
}

// TestProfileStates: the states of each goroutine are those of the runtime's own trace of the same run, as often and as
// long, and sum to what the goroutine measures of its life itself. GOSTAP_ORACLE=full has 10,000 goroutines.
func TestProfileStates(t *testing.T) {
	t.Parallel()
	needRoot(t)
	n, rounds := 300, 30
	if os.Getenv("GOSTAP_ORACLE") == "full" {
		n, rounds = 10000, 10
	}
	app := builtGo(t, livesSource)
	for _, args := range [][]string{{"--each", "--buffer", "256"}, nil} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			command := fmt.Sprintf("%s %d %d", app, n, rounds)
			p, printed := writtenOut(t, append([]string{"--what", "wall", "-c", command}, args...)...)
			var file string
			var took int64
			fmt.Sscanf(printed[strings.Index(printed, "file"):], "file %s", &file)
			fmt.Sscanf(printed[strings.Index(printed, "took"):], "took %d", &took)
			defer os.Remove(file)
			theirs := traced(t, file)
			if args == nil {
				statesInAll(t, p, theirs, printed)
			} else {
				statesOfEach(t, p, theirs, printed, n)
			}
			var switches int64
			for _, by := range theirs {
				switches += by["running"].times
			}
			t.Logf("%d goroutines, %d switches, %d a second", n, switches, switches*1e9/took)
		})
	}
}

// livesOf are the lines of the program: the goroutine, how long it ran from its first statement to its last, and from
// the go statement on.
func livesOf(printed string) (out [][3]int64) {
	for line := range strings.Lines(printed) {
		var l [3]int64
		if k, _ := fmt.Sscanf(line, "life %d %d %d", &l[0], &l[1], &l[2]); k == 3 {
			out = append(out, l)
		}
	}
	return out
}

// statesOfEach compares goroutine by goroutine.
func statesOfEach(t *testing.T, p *export.Profile, theirs map[string]map[string]spent, printed string, n int) {
	t.Helper()
	mine := map[string]map[string]spent{}
	for i := range p.Samples {
		s := &p.Samples[i]
		g, state := s.Label("goroutine"), traceName(s.Label("state"))
		if mine[g] == nil {
			mine[g] = map[string]spent{}
		}
		was := mine[g][state]
		mine[g][state] = spent{was.ns + s.Values[0], was.times + s.Values[1]}
	}
	lives := livesOf(printed)
	if len(lives) != n {
		t.Fatalf("%d goroutines say how long they lived", len(lives))
	}
	var worst, worstLife float64
	var all, want int64
	off, offLife := 0, 0
	for _, l := range lives {
		id := strconv.FormatInt(l[0], 10)
		var sum int64
		for _, s := range mine[id] {
			sum += s.ns
		}
		if sum < l[1] {
			t.Errorf("goroutine %s: %d ns, and it saw %d pass itself", id, sum, l[1])
		}
		all, want = all+sum, want+l[2]
		d := float64(max(sum-l[2], l[2]-sum)) / float64(l[2])
		if worstLife = max(worstLife, d); d > 0.01 {
			offLife++
		}
		for state, s := range theirs[id] {
			m := mine[id][state]
			// Syscalls are not said to begin for those that do not block; running is split where they do.
			if waits := state != "running" && state != "syscall" && state != "runnable"; waits && m.times != s.times {
				t.Errorf("goroutine %s: %s %d times, the runtime's trace says %d", id, state, m.times, s.times)
			}
			if state == "running" || state == "syscall" {
				a, b := mine[id]["running"], mine[id]["syscall"]
				c, d := theirs[id]["running"], theirs[id]["syscall"]
				m, s = spent{a.ns + b.ns, 0}, spent{c.ns + d.ns, c.times}
			}
			// Between the two clocks of a change are the probes: some microseconds.
			d := float64(max(m.ns-s.ns, s.ns-m.ns)-10_000*s.times) / float64(l[2])
			if worst = max(worst, d); d > 0.01 {
				off++
			}
		}
	}
	t.Logf("greatest difference to the runtime's trace in a state: %.2f %% of the life (more than 1 %%: %d), "+
		"of the sum to the goroutine's own clock: %.2f %% (%d)", 100*worst, off, 100*worstLife, offLife)
	// A thread that loses its processor between the two clocks of a goroutine makes any difference: there are few such
	// in a large number, and what one state has too much another has too little.
	if max(all-want, want-all) > want/100 || n >= 10000 && offLife > 0 {
		t.Errorf("%d ns in all, and the goroutines say %d", all, want)
	}
}

// statesInAll compares the sums of all goroutines, by state.
func statesInAll(t *testing.T, p *export.Profile, theirs map[string]map[string]spent, printed string) {
	t.Helper()
	mine, want := map[string]spent{}, map[string]spent{}
	for i := range p.Samples {
		s := &p.Samples[i]
		if slices.ContainsFunc(s.Stack, func(f export.Frame) bool { return f.Func == "main.live" }) {
			state := traceName(s.Label("state"))
			mine[state] = spent{mine[state].ns + s.Values[0], mine[state].times + s.Values[1]}
		}
	}
	for _, l := range livesOf(printed) {
		for state, s := range theirs[strconv.FormatInt(l[0], 10)] {
			want[state] = spent{want[state].ns + s.ns, want[state].times + s.times}
		}
	}
	var all int64
	for _, w := range want {
		all += w.ns
	}
	for _, state := range []string{"chan receive", "chan send", "sleep", "sync"} {
		m, w := mine[state], want[state]
		t.Logf("%s: %d times, %d ns; the runtime's trace says %d, %d", state, m.times, m.ns, w.times, w.ns)
		// A thread that loses its processor between the two clocks of a change makes any difference, so what is left
		// over is a part of all time.
		if m.times != w.times || max(m.ns-w.ns, w.ns-m.ns) > w.ns/100+10_000*w.times+all/1000 {
			t.Errorf("%s: %d times, %d ns; the runtime's trace says %d, %d", state, m.times, m.ns, w.times, w.ns)
		}
	}
	if want["chan receive"].times == 0 || want["sleep"].times == 0 {
		t.Error("the trace has no waits")
	}
}
