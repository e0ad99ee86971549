package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/runtime/export"
)

// TestChildren: all that a command starts is followed, by fork and exec, and is told apart.
func TestChildren(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	p := recorded(t, t.Context(), &options{what: "off",
		command: "sh -c 'sleep 0.3 & for i in 1 2 3 4 5; do sh -c \"sleep 0.05; true\"; done; wait'"})
	slept, long := map[string]int64{}, 0
	for i := range p.Samples {
		s := &p.Samples[i]
		if s.Label("state") == "clock_nanosleep" {
			slept[s.Label("process")] += s.Values[0]
		}
	}
	for who, ns := range slept {
		switch {
		case !strings.HasPrefix(who, "sleep/") || ns < 25e6:
			t.Errorf("%s slept for %d ns", who, ns)
		case ns >= 200e6:
			long++
		}
	}
	if len(slept) != 6 || long == 0 {
		t.Errorf("six processes slept, one of them long: %v", slept)
	}

	const n = 20
	p = recorded(t, t.Context(), &options{what: "wall",
		command: fmt.Sprintf("sh -c 'for i in $(seq %d); do /bin/true; done'", n)})
	seen := map[string]bool{}
	for i := range p.Samples {
		if who := p.Samples[i].Label("process"); strings.HasPrefix(who, "true/") {
			seen[who] = true
		}
	}
	if len(seen) != n {
		t.Errorf("%d of %d processes are told: %v", len(seen), n, seen)
	}
}

// TestCgroup: what a process does is told for the control group that it is in then.
func TestCgroup(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "cgroup2", 0, ""); err != nil {
		t.Skipf("no control groups of version 2: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	name := fmt.Sprintf("gostap-test-%d", os.Getpid())
	group := filepath.Join(dir, name)
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip(err)
	}
	defer os.Remove(group)
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	p := recorded(t, t.Context(), &options{what: "off", by: "cgroup",
		command: fmt.Sprintf("sh -c 'sleep 0.1; echo $$ >%s/cgroup.procs; sleep 0.1'", group)})
	// A thread that is held up between the start of its timer and its switch is off for less than it asked for.
	slept, off := map[string]bool{}, []string{}
	for i := range p.Samples {
		if s := &p.Samples[i]; s.Label("state") == "clock_nanosleep" && s.Values[0] >= 50e6 {
			slept[s.Label("cgroup")] = true
		}
		off = append(off, fmt.Sprint(p.Samples[i].Values[0], p.Samples[i].Labels))
	}
	if before := cgroupOf(string(own)); len(slept) != 2 || !slept[before] || !slept["/"+name] {
		t.Errorf("slept in %v, want %s and /%s; off for %q", slept, before, name, off)
	}
}

// TestThreadNumbers: a thread whose number one had before that has ended is another one.
func TestThreadNumbers(t *testing.T) {
	c := newThreads(&namer{stacks: map[string][]export.Frame{}}, "wall", 0)
	for _, e := range [][]int64{
		{codeWake, 7, 1000, 5, 1}, {codeIn, 7, 1100, 5, 1}, {codeExit, 7, 1300, 0}, {codeIn, 7, 1350, 5, 1},
		{codeFork, 7}, {codeWake, 7, 2000, 6, 1}, {codeIn, 7, 2500, 6, 1}, {codeExit, 7, 2600, 0},
	} {
		c.event(num(e...))
	}
	got := sumsOf(c.finish(5000))
	if got[running] != 200+100 || got[runnable] != 100+500 {
		t.Errorf("%v", got)
	}
}
