package cgroup

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tops are where hierarchies can be mounted as their top is: for an agent in a pod, the host's, by a mount of its own
// or by a process that sees it; the one here. Of version 1 the memory and pids hierarchies have a group for each pod.
var tops = []string{"/host/sys/fs/cgroup", "/proc/1/root/sys/fs/cgroup", "/sys/fs/cgroup"}

// uid is that of a pod: of the API a UUID, of a file on the node 32 digits.
var uid = regexp.MustCompile(`^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`)

// mostFolders and deepest bound a search.
const (
	mostFolders = 200_000
	deepest     = 10
)

// ArePods tells which of some words is no UID of a pod.
func ArePods(uids []string) error {
	for _, u := range uids {
		if !uid.MatchString(u) {
			return fmt.Errorf("%q is no UID of a pod", u)
		}
	}
	return nil
}

// Pods gives the folders of the control groups of pods of Kubernetes, by their UIDs: kubelet calls them podUID, or by
// systemd ...-podUID.slice with _ for each -. A pod that is not on this machine has none.
func Pods(uids []string) (dirs []string, err error) {
	if err := ArePods(uids); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, u := range uids {
		names["pod"+u], names["pod"+strings.ReplaceAll(u, "-", "_")+".slice"] = true, true
	}
	for _, top := range tops {
		for _, in := range []string{"", "/unified", "/memory", "/pids"} {
			dir := top + in
			var st unix.Statfs_t
			if unix.Statfs(dir, &st) != nil ||
				st.Type != unix.CGROUP2_SUPER_MAGIC && st.Type != unix.CGROUP_SUPER_MAGIC {
				continue
			}
			if dirs, err = below(dir, names); len(dirs) > 0 || err != nil {
				return dirs, err
			}
		}
	}
	return nil, nil
}

// below finds folders by their names, or the ends of these behind a -.
func below(top string, names map[string]bool) (out []string, err error) {
	n := 0
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil // it has gone meanwhile
		case n > mostFolders || strings.Count(path[len(top):], "/") > deepest:
			return fs.SkipDir
		}
		n++
		name := d.Name()
		if strings.HasSuffix(name, ".slice") {
			name = name[strings.LastIndexByte(name, '-')+1:]
		}
		if names[name] {
			out = append(out, path)
			return fs.SkipDir
		}
		return nil
	})
	return out, err
}

// Programs are processes in groups and below them, one for each executable.
func Programs(dirs []string) (out []int) {
	type file struct{ dev, ino uint64 }
	seen := map[file]bool{}
	for _, dir := range dirs {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() != "cgroup.procs" {
				return nil
			}
			f, err := os.Open(path)
			if err != nil {
				return nil
			}
			defer f.Close()
			for s := bufio.NewScanner(f); s.Scan(); {
				var st unix.Stat_t
				pid, err := strconv.Atoi(s.Text())
				if err != nil || unix.Stat("/proc/"+s.Text()+"/exe", &st) != nil || seen[file{st.Dev, st.Ino}] {
					continue
				}
				seen[file{st.Dev, st.Ino}] = true
				out = append(out, pid)
			}
			return nil
		})
	}
	return out
}
