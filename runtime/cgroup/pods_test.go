package cgroup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestPods: pods are found by both ways in which kubelet names their groups, and no others; the programs that run in
// them are found.
func TestPods(t *testing.T) {
	const a, b = "0a1b2c3d-1111-2222-3333-444455556666", "ffffffff-1111-2222-3333-444455556666"
	if _, err := FindPods([]string{"../x"}); err == nil {
		t.Error("a path is taken as a UID")
	}
	top := ""
	for _, in := range []string{"", "/unified", "/memory", "/pids"} {
		if _, err := Open("/sys/fs/cgroup" + in); err == nil {
			top = "/sys/fs/cgroup" + in
			break
		}
	}
	if top == "" {
		t.Skip("no control groups in /sys/fs/cgroup")
	}
	dir := filepath.Join(top, "gostap-kubepods-test")
	first := filepath.Join(dir, "burstable", "pod"+a)
	second := filepath.Join(dir, "x.slice", "kubepods-besteffort-pod"+strings.ReplaceAll(b, "-", "_")+".slice")
	const id, id2 = "0123456789abcdef", "fedcba9876543210"
	inner, scope := filepath.Join(first, id), filepath.Join(second, "crio-"+id2+".scope")
	watches := filepath.Join(second, "crio-conmon-"+id2+".scope")
	for _, d := range []string{inner, watches, scope, filepath.Join(dir, "pod"+a+"x")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Skip(err)
		}
	}
	defer func() {
		for _, d := range []string{inner, first, filepath.Dir(first), watches, scope, second, filepath.Dir(second),
			filepath.Join(dir, "pod"+a+"x"), dir} {
			os.Remove(d)
		}
	}()
	p, err := FindPods([]string{a, b})
	if err != nil {
		t.Fatal(err)
	}
	const none = "01234567-89ab-cdef-0123-456789abcdef"
	found, err := p.Find([]string{a, b, none})
	if err != nil || len(found) != 2 || found[a] != first || found[b] != second {
		t.Fatalf("%q %v", found, err)
	}
	dirs := []string{found[a], found[b]}
	words := []string{a + "/" + id, b + "/" + id2, a + "/" + id2, none + "/" + id}
	found, err = p.Find(words)
	if err != nil || len(found) != 2 || found[words[0]] != inner || found[words[1]] != scope {
		t.Errorf("containers: %q %v", found, err)
	}
	if ArePods(append(words, a)) != nil || ArePods([]string{a + "/"}) == nil || ArePods([]string{a + "/../x"}) == nil {
		t.Error("words for pods and containers")
	}
	// One that comes later is seen at once beside the others; one that is not here yet has the hierarchy of others.
	later, err := FindPods([]string{none})
	if err != nil || later.Controller != p.Controller {
		t.Errorf("the hierarchy of a pod that is not here: %v %v, not %q", later, err, p.Controller)
	}
	for _, p := range []*Pods{p, later} {
		third := filepath.Join(filepath.Dir(first), "pod"+none)
		if err := os.Mkdir(third, 0o755); err != nil {
			t.Fatal(err)
		}
		found, err := p.Find([]string{none})
		os.Remove(third)
		if err != nil || found[none] != third {
			t.Errorf("a pod that came later: %q %v", found, err)
		}
		if found, err = p.Find([]string{none}); err != nil || len(found) > 0 {
			t.Errorf("a pod that has gone: %q %v", found, err)
		}
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	pid := []byte(strconv.Itoa(cmd.Process.Pid))
	if err := os.WriteFile(filepath.Join(inner, "cgroup.procs"), pid, 0o644); err != nil {
		t.Skip(err)
	}
	if p, _ := Programs(dirs); len(p) != 1 || p[0] != cmd.Process.Pid {
		t.Errorf("programs %v", p)
	}
}
