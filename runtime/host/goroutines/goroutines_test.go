package goroutines

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/open"
)

// waiting is a program whose goroutines wait, each elsewhere, and which prints their stacks by its own runtime, without
// inlined functions.
const waiting = `package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

//go:noinline
func deep(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
}

func receives(c chan int) { <-c } // inlined

type T struct{ mu sync.Mutex }

//go:noinline
func (t *T) locks() { t.mu.Lock() }

// now gives the stacks of all others, and whether all of them wait.
func now() (stacks []string, still bool) {
	list := make([]runtime.StackRecord, 1000)
	n, _ := runtime.GoroutineProfile(list)
	still = true
	for _, r := range list[:n] {
		var out []string
		frames := runtime.CallersFrames(r.Stack())
		for {
			f, more := frames.Next()
			if f.Func != nil { // not inlined
				out = append(out, f.Function)
			}
			if !more {
				break
			}
		}
		if slices.Contains(out, "main.main") {
			continue
		}
		still = still && (out[0] == "runtime.gopark" || slices.Contains(out, "syscall.Syscall"))
		if len(r.Stack()) < 32 { // 32 is all that it tells
			stacks = append(stacks, fmt.Sprint(out))
		}
	}
	return stacks, still
}

func main() {
	c := make(chan int)
	t := &T{}
	t.mu.Lock()
	var wg sync.WaitGroup
	wg.Add(1)
	p := make([]int, 2)
	syscall.Pipe(p)
	for i := range 300 {
		go deep(i%20, func() { receives(c) })
	}
	go deep(3, t.locks)
	go deep(4, wg.Wait)
	go deep(5, func() { time.Sleep(time.Hour) })
	go deep(6, func() { select {} })
	d := make(chan int)
	go deep(7, func() { select { case <-d: case d <- 1: } })
	go deep(8, func() { syscall.Read(p[0], make([]byte, 1)) })
	go func() { defer func() { recover(); receives(c) }(); panic(1) }()
	go deep(200, func() { receives(c) })
	var stacks []string
	for still := false; !still; {
		time.Sleep(10 * time.Millisecond)
		stacks, still = now()
	}
	for _, s := range stacks {
		fmt.Println(s)
	}
	fmt.Println("end")
	time.Sleep(time.Hour)
	os.Exit(0)
}
`

// TestAll holds what is read against what the program's own runtime says.
func TestAll(t *testing.T) {
	for _, mode := range []string{"exe", "pie"} {
		t.Run(mode, func(t *testing.T) { all(t, mode) })
	}
}

func all(t *testing.T, mode string) {
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": waiting, "go.mod": "module app\n\ngo 1.25\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	app := filepath.Join(dir, "app")
	build := exec.Command("go", "build", "-buildmode="+mode, "-o", app, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(app)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var want []string
	for s := bufio.NewScanner(pipe); s.Scan() && s.Text() != "end"; {
		want = append(want, s.Text())
	}
	img, err := open.Open(app)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	r, err := New(cmd.Process.Pid, img)
	if err != nil {
		t.Fatal(err)
	}
	reasons := r.Reasons()
	if !slices.Contains(reasons, "chan receive") {
		t.Fatalf("reasons %q", reasons)
	}
	gs, err := r.All(300)
	if err != nil {
		t.Fatal(err)
	}
	bias := uint64(0)
	if mode == "pie" {
		bias = r.bias
	}
	var got []string
	count := map[string]int{}
	for _, g := range gs {
		if g.Cut {
			t.Errorf("goroutine %d: %x is cut", g.ID, g.Stack)
		}
		var names []string
		for i, pc := range g.Stack {
			pc -= bias
			if i > 0 {
				pc--
			}
			name := "?"
			if fn := img.FuncAt(pc); fn != nil {
				name = fn.Name
			}
			if !strings.Contains(name, ".gowrap") && !strings.HasSuffix(name, "-fm") { // the runtime leaves them out
				names = append(names, name)
			}
		}
		if g.Status == Waiting {
			count[reasons[g.Reason]]++
		}
		if g.Status == Syscall {
			count["syscall"]++
		}
		got = append(got, "["+strings.Join(names, " ")+"]")
	}
	for state, n := range map[string]int{"chan receive": 302, "sync.Mutex.Lock": 1, "sync.WaitGroup.Wait": 1,
		"select": 1, "select (no cases)": 1} {
		if count[state] != n {
			t.Errorf("%d goroutines in %q, want %d: %v", count[state], state, n, count)
		}
	}
	if count["sleep"] != 2 || count["syscall"] < 1 {
		t.Errorf("%v", count)
	}
	var mine []string
	deepest := 0
	for _, s := range got {
		if strings.Count(s, "main.deep") == 201 {
			deepest++
			continue
		}
		if strings.Contains(s, "main.") && !strings.Contains(s, "main.main ") {
			mine = append(mine, s)
		}
	}
	if deepest != 1 {
		t.Errorf("%d stacks of 200 calls", deepest)
	}
	slices.Sort(mine)
	slices.Sort(want)
	if !slices.Equal(mine, want) {
		t.Errorf("%d stacks, want %d", len(mine), len(want))
		for i := range mine {
			if i < len(want) && mine[i] != want[i] {
				t.Fatalf("got  %s\nwant %s", mine[i], want[i])
			}
		}
	}
}

// TestGone: a process that is not there is an error.
func TestGone(t *testing.T) {
	if _, err := (&Reader{mem: 1 << 30, allglen: 8, allgs: 16}).All(5); err == nil {
		t.Error("no error")
	}
	var b [8]byte
	parts := []part{{8, b[:], false}, {16, b[:], false}}
	mem(os.Getpid()).readAll(parts)
	if parts[0].ok || parts[1].ok {
		t.Error("address 8 was read")
	}
}

func BenchmarkAll(b *testing.B) {
	pid, err := strconv.Atoi(os.Getenv("GOSTAP_BENCH_PID"))
	if err != nil {
		b.Skip("GOSTAP_BENCH_PID is the process to read")
	}
	img, err := open.Open("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		b.Fatal(err)
	}
	r, err := New(pid, img)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := r.All(64); err != nil {
			b.Fatal(err)
		}
	}
}
