package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpen: the level is how deep a group was made below the top of its hierarchy, also through links and dots.
func TestOpen(t *testing.T) {
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		t.Skip(err)
	}
	found := false
	for line := range strings.Lines(string(mounts)) {
		w := strings.Fields(line)
		if w[2] != "cgroup" && w[2] != "cgroup2" {
			continue
		}
		top, err := Open(w[1])
		if strings.Contains(w[3], "name=") {
			if err == nil || !strings.Contains(err.Error(), "has no controllers") {
				t.Errorf("%s: %+v %v", w[1], top, err)
			}
			continue
		}
		if err != nil || (top.Controller == "") != (w[2] == "cgroup2") || !strings.Contains(w[3], top.Controller) {
			t.Logf("%s is not the top of a hierarchy: %+v, %v", w[1], top, err) // in a container
			continue
		}
		found = true
		dir := filepath.Join(w[1], "gostap-open-test")
		if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o755); err != nil {
			t.Logf("no group can be made in %s: %v", w[1], err)
			continue
		}
		t.Cleanup(func() {
			for _, d := range []string{"a/b", "a", "."} {
				os.Remove(filepath.Join(dir, d))
			}
		})
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(filepath.Join(dir, "a"), link); err != nil {
			t.Fatal(err)
		}
		for path, level := range map[string]int{dir: 1, dir + "/a/": 2, dir + "/a/b": 3, dir + "/a/b/../../a": 2,
			link: 2, link + "/b": 3} {
			if g, err := Open(path); err != nil || g.Level != top.Level+level || g.Controller != top.Controller {
				t.Errorf("%s: %+v, %v", path, g, err)
			}
		}
	}
	if !found {
		t.Skip("the top of no hierarchy of control groups is to be seen here")
	}
}

// TestOpenOthers: what is no group is told by name.
func TestOpenOthers(t *testing.T) {
	for path, want := range map[string]string{t.TempDir(): "is not the folder of a control group",
		"/nowhere/at/all": "no such file or directory", "/proc/self/stat": "is not the folder of a control group"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
