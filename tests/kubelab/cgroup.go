package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const cgroupRoot = "/sys/fs/cgroup"

func unified() bool {
	_, err := os.Stat(cgroupRoot + "/cgroup.controllers")
	return err == nil
}

// cgroups are the cluster's cgroups, one in each hierarchy.
func (l *lab) cgroups() (dirs []string) {
	if unified() {
		return []string{filepath.Join(cgroupRoot, l.group)}
	}
	files, _ := filepath.Glob(cgroupRoot + "/*/cgroup.procs")
	for _, f := range files {
		dir := filepath.Dir(f)
		if st, err := os.Lstat(dir); err == nil && st.Mode()&fs.ModeSymlink == 0 {
			dirs = append(dirs, filepath.Join(dir, l.group))
		}
	}
	return dirs
}

// tracked is the file that takes the cluster's processes in, but for those of pods, in one of the hierarchies.
func (l *lab) tracked() string {
	dirs := l.cgroups()
	dir := dirs[0]
	for _, d := range dirs {
		if d == filepath.Join(cgroupRoot, "pids", l.group) {
			dir = d
		}
	}
	return filepath.Join(dir, "system", "cgroup.procs")
}

// makeCgroups makes the cgroups, with one inside for each of the names.
func (l *lab) makeCgroups(names ...string) error {
	if len(l.cgroups()) == 0 {
		return hinted("there are no cgroups at "+cgroupRoot, "mount -t cgroup2 none "+cgroupRoot)
	}
	for _, dir := range l.cgroups() {
		for _, name := range append([]string{"", "system"}, names...) {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				return err
			}
			if name == "system" {
				continue
			}
			if unified() {
				handDown(filepath.Dir(filepath.Join(dir, name)))
			}
			// A new group has no processors and no memory to begin with.
			for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
				own := filepath.Join(dir, name, file)
				if text, err := os.ReadFile(own); err == nil && strings.TrimSpace(string(text)) == "" && !unified() {
					text, _ = os.ReadFile(filepath.Join(filepath.Dir(filepath.Join(dir, name)), file))
					os.WriteFile(own, text, 0)
				}
			}
		}
	}
	return nil
}

// handDown lets the groups in one have its controllers; those that cannot be had are not needed.
func handDown(dir string) {
	text, _ := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	for _, c := range strings.Fields(string(text)) {
		os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+c), 0)
	}
}

// killAll ends whatever is in the cluster's cgroups, and removes those.
func (l *lab) killAll() error {
	left := 0
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		left = 0
		for _, dir := range l.cgroups() {
			var groups []string
			filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					groups = append(groups, path)
				}
				return nil
			})
			for _, g := range groups {
				text, _ := os.ReadFile(filepath.Join(g, "cgroup.procs"))
				for _, word := range strings.Fields(string(text)) {
					if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
						syscall.Kill(pid, syscall.SIGKILL)
					}
				}
			}
			for i := len(groups) - 1; i >= 0; i-- {
				if syscall.Rmdir(groups[i]) != nil {
					left++
				}
			}
		}
		if left == 0 {
			return nil
		}
	}
	return fmt.Errorf("%d cgroups of %s cannot be removed: their processes do not end", left, l.group)
}
