// Package bench compares gostap with the peer (bpftrace) and with the least that can
// be done (a hand-written program on the best instruction). Each benchmark runs all
// contestants in turn, several rounds, and prints medians and ratios of one run. Run
// it with: make bench
package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var once sync.Once
var gostap, busy, busyC string

// build makes the command and the traced program once.
func build(tb testing.TB) {
	once.Do(func() {
		dir, err := os.MkdirTemp("", "gostap-bench")
		if err != nil {
			tb.Fatal(err)
		}
		gostap, busy, busyC = filepath.Join(dir, "gostap"), filepath.Join(dir, "busy"), filepath.Join(dir, "busyc")
		for out, pkg := range map[string]string{gostap: "./cmd/gostap", busy: "./tests/fixtures/busy"} {
			cmd := exec.Command("go", "build", "-o", out, pkg)
			cmd.Dir = filepath.Join("..", "..")
			if out == gostap {
				cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the Makefile builds it
			}
			if msg, err := cmd.CombinedOutput(); err != nil {
				tb.Fatalf("build %s: %v\n%s", pkg, err, msg)
			}
		}
	})
	if out, err := exec.Command("gcc", "-g", "-O0", "-fcf-protection=none", "-o", busyC,
		"../fixtures/busyc/busy.c").CombinedOutput(); err != nil {
		tb.Fatalf("build busy.c: %v\n%s", err, out)
	}
	if os.Geteuid() != 0 {
		tb.Skip("benchmarks trace real programs and need root")
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if gostap != "" {
		os.RemoveAll(filepath.Dir(gostap))
	}
	os.Exit(code)
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := append([]float64(nil), v...)
	sort.Float64s(s)
	return s[len(s)/2]
}

var perCall = regexp.MustCompile(`cpu_ns_per_call ([0-9.]+) wall_ns ([0-9]+)`)

// loop runs the traced program pinned to the last CPU and gives CPU ns per call and wall seconds.
func loop(tb testing.TB, calls int) (ns float64, wall float64) { return loopOf(tb, busy, calls) }

func loopOf(tb testing.TB, prog string, calls int) (ns float64, wall float64) {
	out, err := exec.Command("taskset", "-c", lastCPU(), prog, strconv.Itoa(calls)).Output()
	if err != nil {
		tb.Fatalf("busy: %v", err)
	}
	m := perCall.FindSubmatch(out)
	if m == nil {
		tb.Fatalf("busy printed %q", out)
	}
	ns, _ = strconv.ParseFloat(string(m[1]), 64)
	w, _ := strconv.ParseFloat(string(m[2]), 64)
	return ns, w / 1e9
}

func lastCPU() string {
	data, _ := os.ReadFile("/sys/devices/system/cpu/online")
	s := strings.TrimSpace(string(data))
	if i := strings.LastIndexAny(s, "-,"); i >= 0 {
		s = s[i+1:]
	}
	return s
}

// tracer is a running gostap or bpftrace.
type tracer struct {
	cmd *exec.Cmd
	out *lineCounter
}

// lineCounter reads lines, tells when a marker came and counts the rest.
type lineCounter struct {
	mu    sync.Mutex
	lines int
	first time.Time
	mark  chan struct{}
	done  chan struct{}
	tail  []string
}

func countLines(r io.Reader, marker string) *lineCounter {
	lc := &lineCounter{mark: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(lc.done)
		sc := bufio.NewScanner(r)
		sc.Buffer(make([]byte, 1<<20), 1<<20)
		marked := marker == ""
		if marked {
			close(lc.mark)
		}
		for sc.Scan() {
			if !marked && bytes.Contains(sc.Bytes(), []byte(marker)) {
				marked = true
				close(lc.mark)
				continue
			}
			lc.mu.Lock()
			if lc.lines++; lc.lines == 1 {
				lc.first = time.Now()
			}
			if len(lc.tail) > 20 {
				lc.tail = lc.tail[1:]
			}
			lc.tail = append(lc.tail, sc.Text())
			lc.mu.Unlock()
		}
	}()
	return lc
}

// start runs a tracer and waits until it says that its probes are in place.
func start(tb testing.TB, marker string, args ...string) *tracer {
	cmd := exec.Command(args[0], args[1:]...)
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	t := &tracer{cmd: cmd, out: countLines(r, marker)}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	w.Close()
	select {
	case <-t.out.mark:
	case <-t.out.done:
		tb.Fatalf("%s ended early: %s", args[0], strings.Join(t.out.tail, "\n"))
	case <-time.After(20 * time.Second):
		cmd.Process.Kill()
		tb.Fatalf("%s did not attach", args[0])
	}
	return t
}

// stop interrupts the tracer and gives the lines it printed after the marker.
func (t *tracer) stop() int {
	t.cmd.Process.Signal(syscall.SIGINT)
	hang := time.AfterFunc(20*time.Second, func() { t.cmd.Process.Kill() })
	t.cmd.Wait()
	hang.Stop()
	<-t.out.done
	return t.out.lines
}

// gostapRun starts gostap on a script; the line of a timer says that the probes are attached.
func gostapRun(tb testing.TB, script string) *tracer {
	script += "\nglobal said probe timer.ms(1) { if (!said) { said = 1 println(\"ATTACHED\") } }"
	return start(tb, "ATTACHED", gostap, "-w", "-e", script)
}

func bpftraceRun(tb testing.TB, script string) *tracer {
	return start(tb, "Attaching", "bpftrace", "-e", script)
}

func havePeer(tb testing.TB) bool {
	if _, err := exec.LookPath("bpftrace"); err != nil {
		tb.Log("bpftrace is not installed: its column is missing")
		return false
	}
	return true
}

// BenchmarkPerHit measures what a hit costs the traced thread, in CPU ns per call.
func BenchmarkPerHit(b *testing.B) {
	build(b)
	peer := havePeer(b)
	off, _ := pushOffset(b, busy, "main.step")
	fn := fmt.Sprintf("process(%q).function(\"main.step\")", busy)
	cases := []struct{ name, stap, bt string }{
		{"n++", "global n probe " + fn + " { n++ }", "uprobe:" + busy + ":\"main.step\" { @n = count(); }"},
		{"s[pid()] <<< 1", "global s probe " + fn + " { s[pid()] <<< 1 }", "uprobe:" + busy +
			":\"main.step\" { @s[pid] = count(); }"},
		{"printf", "probe " + fn + " { printf(\"%d %d\\n\", $n, pid()) }", "uprobe:" + busy +
			":\"main.step\" { printf(\"%d %d\\n\", reg(\"ax\"), pid); }"},
	}
	const calls, rounds = 100_000, 5
	for _, c := range cases {
		var bare, ours, theirs, empty []float64
		for range rounds {
			x := startBare(b, busy, off, "empty")
			ns, _ := loop(b, calls)
			x.Close()
			empty = append(empty, ns)

			x = startBare(b, busy, off, c.name)
			stop, read := make(chan struct{}), make(chan struct{})
			if x.ring != nil {
				null, _ := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
				go func() { x.drain(null, stop); null.Close(); close(read) }()
			} else {
				close(read)
			}
			ns, _ = loop(b, calls)
			close(stop)
			<-read
			x.Close()
			bare = append(bare, ns)

			t := gostapRun(b, c.stap)
			ns, _ = loop(b, calls)
			t.stop()
			ours = append(ours, ns)

			if peer {
				t := bpftraceRun(b, c.bt)
				time.Sleep(200 * time.Millisecond)
				ns, _ = loop(b, calls)
				t.stop()
				theirs = append(theirs, ns)
			}
		}
		e, x, o, p := median(empty), median(bare), median(ours), median(theirs)
		fmt.Printf("per hit %-15s  empty %6.0f ns  bare %6.0f ns  gostap %6.0f ns  bpftrace %6.0f ns   gostap/bare "+
			"%.2f  gostap/bpftrace %.2f\n", c.name, e, x, o, p, o/x, ratio(o, p))
		b.ReportMetric(o/x, "x-bare:"+strings.ReplaceAll(c.name, " ", ""))
	}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// BenchmarkEvents measures events per second that come out as text, and how many are
// lost: at a Go function, and at a C function that begins with a push, so that both
// tracers stand on the same cheap instruction.
func BenchmarkEvents(b *testing.B) {
	build(b)
	peer := havePeer(b)
	const calls, rounds = 300_000, 3
	for _, c := range []struct{ name, prog, stap, bt string }{
		{"Go function", busy, "process(%q).function(\"main.step\")",
			"uprobe:%s:\"main.step\" { printf(\"%%d %%d\\n\", reg(\"ax\"), pid); }"},
		{"C function, push", busyC, "process(%q).function(\"step\")",
			"uprobe:%s:step { printf(\"%%d %%d\\n\", arg0, pid); }"},
	} {
		var rates, theirs []float64
		lost, lostPeer := 0, 0
		add := func(rates *[]float64, lost *int, t *tracer) {
			t0 := time.Now()
			loopOf(b, c.prog, calls)
			n := t.stop()
			*rates = append(*rates, float64(n)/time.Since(t0).Seconds())
			*lost += max(calls+calls/20-n, 0)
		}
		for range rounds {
			add(&rates, &lost, gostapRun(b, "probe "+fmt.Sprintf(c.stap, c.prog)+
				" { printf(\"%d %d\\n\", $n, pid()) }"))
			if peer {
				t := bpftraceRun(b, fmt.Sprintf(c.bt, c.prog))
				time.Sleep(200 * time.Millisecond)
				add(&theirs, &lostPeer, t)
			}
		}
		total := rounds * (calls + calls/20)
		fmt.Printf("events  %-17s gostap %8.0f/s (%.2f %% lost)  bpftrace %8.0f/s (%.2f %% lost)  ratio %.1f\n", c.name,
			median(rates), 100*float64(lost)/float64(total), median(theirs), 100*float64(lostPeer)/float64(total),
			ratio(median(rates), median(theirs)))
	}
}

// BenchmarkStartup measures from the command to the first event and to the exit.
func BenchmarkStartup(b *testing.B) {
	build(b)
	peer := havePeer(b)
	target := exec.Command(busy)
	if err := target.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { target.Process.Kill(); target.Wait() }()
	const rounds = 7
	run := func(args ...string) (first, exit, rss float64) {
		cmd := exec.Command(args[0], args[1:]...)
		r, w, _ := os.Pipe()
		cmd.Stdout, cmd.Stderr = w, w
		t0 := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		w.Close()
		sc := bufio.NewScanner(r)
		for sc.Scan() {
			if strings.HasPrefix(sc.Text(), "HIT") {
				first = time.Since(t0).Seconds()
				break
			}
		}
		io.Copy(io.Discard, r)
		cmd.Wait()
		if first == 0 {
			b.Fatalf("%v printed no event", args)
		}
		return first, time.Since(t0).Seconds(), float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	}
	var f1, e1, m1, f2, e2, m2 []float64
	for range rounds {
		f, e, m := run(gostap, "-e", fmt.Sprintf(
			"probe process(%q).function(\"main.step\") { printf(\"HIT %%d\\n\", $n) exit() }", busy))
		f1, e1, m1 = append(f1, f), append(e1, e), append(m1, m)
		if peer {
			f, e, m := run("bpftrace", "-e", "uprobe:"+busy+
				":\"main.step\" { printf(\"HIT %d\\n\", reg(\"ax\")); exit(); }")
			f2, e2, m2 = append(f2, f), append(e2, e), append(m2, m)
		}
	}
	row := func(what string, a, p []float64, unit string, scale float64) {
		fmt.Printf("start   %-16s gostap %7.1f %s  bpftrace %7.1f %s  ratio %.2f\n", what, median(a)*scale, unit,
			median(p)*scale, unit, ratio(median(a), median(p)))
	}
	row("to first event", f1, f2, "ms", 1000)
	row("to exit", e1, e2, "ms", 1000)
	row("peak memory", m1, m2, "MB", 1)
}

var attachedIn = regexp.MustCompile(`(attached|detached) in ([0-9.]+) ms`)

// BenchmarkSites attaches and detaches at least a thousand sites.
func BenchmarkSites(b *testing.B) {
	build(b)
	goBin, err := exec.LookPath("go")
	if err != nil {
		b.Skip("no go command to trace")
	}
	goBin, _ = filepath.EvalSymlinks(goBin)
	var at, de []float64
	sites := ""
	for range 5 {
		cmd := exec.Command(gostap, "-v", "-w", "-e",
			fmt.Sprintf("global n probe process(%q).function(\"net/http.*\") { n++ } probe timer.ms(50) { exit() }",
				goBin))
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		for _, m := range attachedIn.FindAllSubmatch(out, -1) {
			ms, _ := strconv.ParseFloat(string(m[2]), 64)
			if string(m[1]) == "attached" {
				at = append(at, ms)
			} else {
				de = append(de, ms)
			}
		}
		if m := regexp.MustCompile(`attached (\d+) places`).FindSubmatch(out); m != nil {
			sites = string(m[1])
		}
	}
	fmt.Printf("sites   %s sites: attach %.1f ms, detach %.1f ms\n", sites, median(at), median(de))
}
