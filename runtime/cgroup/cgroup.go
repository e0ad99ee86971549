// Package cgroup tells control groups apart as the kernel does.
//
// In: the folder of a group, in whatever mount of either version of the hierarchy. Out: the number by which the kernel
// knows it, how deep it lies, and which hierarchy it is of.
package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Group is a control group.
type Group struct {
	// ID is what bpf_get_current_cgroup_id gives in it: the inode of its folder (kernfs, 64-bit machines).
	ID uint64
	// Level is how many groups lie above it, 0 for the top one of its hierarchy.
	Level int
	// Controller is "" for the unified hierarchy (version 2), and one of the controllers of its own for another.
	Controller string
}

// depth bounds the levels of a hierarchy.
const depth = 1024

// Open looks at the folder of a group. It is an error where that is none, or where the top of its hierarchy is not to
// be seen, as in containers, so that its level is not known.
func Open(dir string) (g Group, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return g, &os.PathError{Op: "open the control group", Path: dir, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return g, &os.PathError{Op: "open the control group", Path: dir, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR ||
		fs.Type != unix.CGROUP2_SUPER_MAGIC && fs.Type != unix.CGROUP_SUPER_MAGIC {
		return g, fmt.Errorf("%s is not the folder of a control group: those lie below /sys/fs/cgroup", dir)
	}
	g.ID = st.Ino
	defer func() { // what was seen of a folder that goes meanwhile says nothing
		if gone := unix.Stat(dir, &st); gone != nil {
			err = &os.PathError{Op: "open the control group", Path: dir, Err: gone}
		}
	}()
	if g.Level, err = level(dir, fs.Type == unix.CGROUP2_SUPER_MAGIC, st.Dev); err != nil {
		return g, err
	}
	if fs.Type == unix.CGROUP_SUPER_MAGIC {
		g.Controller, err = controller(dir, st.Dev)
	}
	return g, err
}

// level counts the groups above a folder. The top one of a hierarchy is told by its files, since a mount may begin
// further down: of version 2 it has no cgroup.events, of version 1 it alone has release_agent.
func level(dir string, unified bool, dev uint64) (int, error) {
	named := dir
	for n := range depth {
		name := "release_agent"
		if unified {
			name = "cgroup.events"
		}
		_, err := os.Lstat(dir + "/" + name) // not cleaned: dir may be a link with /.. behind it
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, fmt.Errorf("find how deep the control group lies: %w", err)
		}
		if (err != nil) == unified {
			return n, nil
		}
		dir += "/.."
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil || st.Dev != dev {
			break
		}
	}
	return 0, fmt.Errorf("how deep the control group %s lies is not known, since the top of its hierarchy is not "+
		"mounted here: name it below /proc/1/root/sys/fs/cgroup of the host", named)
}

// controller gives a controller of a hierarchy of version 1, by the device of its mounts.
func controller(dir string, dev uint64) (string, error) {
	device := fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))
	for _, list := range []string{"/proc/self/mountinfo", "/proc/1/mountinfo"} {
		f, err := os.Open(list)
		if err != nil {
			continue
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - cgroup cgroup rw,memory (proc(5))
			w := strings.Fields(s.Text())
			i := slices.Index(w, "-")
			if len(w) < 3 || w[2] != device || i < 0 || i+3 >= len(w) || w[i+1] != "cgroup" {
				continue
			}
			for o := range strings.SplitSeq(w[i+3], ",") {
				if known[o] {
					return o, nil
				}
			}
			return "", fmt.Errorf("the hierarchy of %s has no controllers (%s), so that the kernel does not say in "+
				"which of its groups a thread is: name the group of another hierarchy", dir, w[i+3])
		}
	}
	return "", fmt.Errorf("which controllers the hierarchy of %s has is not known: it is not mounted here or for "+
		"process 1", dir)
}

// known are the controllers of version 1 (include/linux/cgroup_subsys.h).
var known = map[string]bool{"cpuset": true, "cpu": true, "cpuacct": true, "blkio": true, "memory": true,
	"devices": true, "freezer": true, "net_cls": true, "perf_event": true, "net_prio": true, "hugetlb": true,
	"pids": true, "rdma": true, "misc": true}
