package tests

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap"
)

// hierarchies gives a new folder for groups in each hierarchy that is mounted and has controllers: by version.
func hierarchies(t *testing.T) map[string]string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(mounts)) {
		w := strings.Fields(line)
		if w[2] != "cgroup" && w[2] != "cgroup2" || strings.Contains(w[3], "name=") ||
			strings.Contains(w[3], "cpuset") || out[w[2]] != "" {
			continue // a new group of cpuset takes no threads
		}
		dir := filepath.Join(w[1], fmt.Sprintf("gostap-test-%d", os.Getpid()))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Logf("no group in %s: %v", w[1], err)
			continue
		}
		t.Cleanup(func() {
			for _, d := range []string{"in/below", "in", "out", "."} {
				os.Remove(filepath.Join(dir, d))
			}
		})
		for _, d := range []string{"in", "in/below", "out"} {
			if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		out[w[2]] = dir
	}
	if len(out) == 0 {
		t.Skip("no hierarchy of control groups is mounted in which one can be made")
	}
	return out
}

// inGroup runs a program in a control group, and gives its number.
func inGroup(t *testing.T, dir string, args ...string) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("in %s: %v\n%s", dir, err, out)
	}
	return cmd.Process.Pid
}

// TestCgroups: a session that is kept to control groups has the hits of their threads and no others, of every kind of
// probe, and may be kept to others while it runs.
func TestCgroups(t *testing.T) {
	needRoot(t)
	prog := bin(t, "busyc")
	for version, dir := range hierarchies(t) {
		t.Run(version, func(t *testing.T) {
			at := func(name string) string { return filepath.Join(dir, name) }
			p, err := gostap.Compile(context.Background(), `global calls, begun, writes, execs, sampled, ended
probe process("`+prog+`").function("step") { calls[pid()]++ }
probe process("`+prog+`").begin { begun[pid()]++ }
probe process("`+prog+`").end { ended[pid()]++ }
probe syscall.write { if (pid() != target()) writes[pid()]++ }
probe kernel.trace("sched_process_exec") { execs[pid()]++ }
probe timer.profile { sampled[pid()]++ }`, gostap.Options{Cgroups: []string{at("in")}})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			s, err := p.Start(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Stop()
			in, below := inGroup(t, at("in"), prog, "2000"), inGroup(t, at("in/below"), prog, "400")
			outside := []int{inGroup(t, at("out"), prog, "2000"), inGroup(t, dir, prog, "2000")}
			// From now on the other one.
			if err := s.SetCgroups([]string{at("out"), at("in/below")}); err != nil {
				t.Fatal(err)
			}
			outside = append(outside, inGroup(t, at("in"), prog, "2000"))
			other, still := inGroup(t, at("out"), prog, "200"), inGroup(t, at("in/below"), prog, "40")
			if err := s.SetCgroups(nil); err != nil {
				t.Fatal(err)
			}
			outside = append(outside, inGroup(t, at("out"), prog, "2000"))
			if err := s.SetCgroups([]string{at("none")}); err == nil || !strings.Contains(err.Error(), "none") {
				t.Errorf("a group that is not there: %v", err)
			}
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
			g, err := s.Globals()
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]map[int]int64{
				"calls":  {in: 2100, below: 420, other: 210, still: 42},
				"begun":  {in: 1, below: 1, other: 1, still: 1},
				"ended":  {in: 1, below: 1, other: 1, still: 1},
				"writes": {in: 1, below: 1, other: 1, still: 1}, // the shell's is done before it is inside
				"execs":  {in: 1, below: 1, other: 1, still: 1},
			} {
				got := perPid(t, g, name)
				for pid, n := range want {
					if got[pid] != n {
						t.Errorf("%s of a process inside: %d, not %d", name, got[pid], n)
					}
				}
				if len(got) != len(want) {
					t.Errorf("%s: of %d processes, not of %d: %v; outside were %v", name, len(got), len(want), got,
						outside)
				}
			}
			for pid := range perPid(t, g, "sampled") {
				if pid != in && pid != below && pid != other && pid != still {
					t.Errorf("process %d was sampled and is not inside", pid)
				}
			}
		})
	}
}

// perPid gives an array whose keys are processes.
func perPid(t *testing.T, g gostap.Globals, name string) map[int]int64 {
	t.Helper()
	out := map[int]int64{}
	for _, e := range g[name].Elements {
		out[int(e.Key[0].Int)] = e.Value.Int
	}
	return out
}
