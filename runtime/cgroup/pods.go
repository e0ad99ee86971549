package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tops are where hierarchies can be mounted as their top is: for an agent in a pod, the host's, by a mount of its own
// or by a process that sees it; the one here. Of version 1 the memory and pids hierarchies have a group for each pod.
var tops = []string{"/host/sys/fs/cgroup", "/proc/1/root/sys/fs/cgroup", "/sys/fs/cgroup"}

// uid is that of a pod: of the API a UUID, of a file on the node 32 digits. Behind a slash stands which of its
// containers is meant, by the ID that the runtime gave it.
var uid = regexp.MustCompile(`^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}(/[0-9a-f]{12,128})?$`)

// mostFolders and deepest bound a search.
const (
	mostFolders = 200_000
	deepest     = 10
)

// ArePods tells which of some words is no UID of a pod, nor UID/ID for one of its containers. All that is said of UIDs
// here is of such words.
func ArePods(uids []string) error {
	for _, u := range uids {
		if !uid.MatchString(u) {
			return fmt.Errorf("%q is no UID of a pod", u)
		}
	}
	return nil
}

// Pods are the control groups of pods of Kubernetes in one hierarchy: that in which the first of them was found, else
// that in which the kubelet has its groups. It is for one goroutine.
type Pods struct {
	// Controller is that of the hierarchy, as of a Group.
	Controller string
	dir        string          // its top
	parents    map[string]bool // folders in which there was a pod
	found      map[string]string
	walked     time.Time
}

// walkEvery is how often the whole hierarchy is looked through for pods that are not beside others.
const walkEvery = time.Second

// FindPods chooses the hierarchy: where a pod of uids is, else where the kubelet's groups are, else the first one.
func FindPods(uids []string) (*Pods, error) {
	if err := ArePods(uids); err != nil {
		return nil, err
	}
	var kubelets, first *Pods
	for _, top := range tops {
		for _, in := range []string{"", "/unified", "/memory", "/pids"} {
			dir := top + in
			g, err := Open(dir)
			if err != nil {
				continue
			}
			p := &Pods{Controller: g.Controller, dir: dir, parents: map[string]bool{}, found: map[string]string{}}
			if p.walk(names(uids)); len(p.found) > 0 {
				return p, nil
			}
			if kubelets == nil && len(p.parents) > 0 {
				kubelets = p
			}
			if first == nil {
				first = p
			}
		}
	}
	switch {
	case kubelets != nil:
		return kubelets, nil
	case first != nil:
		return first, nil
	}
	return nil, fmt.Errorf("there is no hierarchy of control groups in %s", strings.Join(tops, ", "))
}

// Find gives the folders of pods, by their UIDs. A pod that is not on this machine has none. A new one is seen at once
// beside others, elsewhere within a second.
func (p *Pods) Find(uids []string) (map[string]string, error) {
	if err := ArePods(uids); err != nil {
		return nil, err
	}
	whole, missing := map[string]string{}, map[string]string{}
	look := func() {
		clear(missing)
		for name, u := range names(uids) {
			dir := p.found[u]
			if _, err := os.Lstat(dir); dir != "" && err == nil {
				whole[u] = dir
			} else if whole[u] == "" {
				delete(p.found, u)
				missing[name] = u
			}
		}
	}
	look()
	if len(missing) > 0 {
		for dir := range p.parents {
			list, err := os.ReadDir(dir)
			if err != nil {
				delete(p.parents, dir)
			}
			for _, e := range list {
				if u := missing[podName(e.Name())]; u != "" && e.IsDir() {
					p.found[u] = filepath.Join(dir, e.Name())
				}
			}
		}
		look()
	}
	if len(missing) > 0 && time.Since(p.walked) > walkEvery {
		p.walk(missing)
		look()
	}
	out := map[string]string{}
	for _, word := range uids {
		u, id, one := strings.Cut(word, "/")
		dir := whole[u]
		if one && dir != "" {
			dir = container(dir, id)
		}
		if dir != "" {
			out[word] = dir
		}
	}
	return out, nil
}

// container gives the group of a container of a pod, "" if there is none: its name is the ID, or has it in it
// (cri-containerd-ID.scope). CRI-O has one beside it for what watches over the container.
func container(pod, id string) string {
	list, err := os.ReadDir(pod)
	if err != nil {
		return "" // it has gone meanwhile
	}
	for _, e := range list {
		if e.IsDir() && strings.Contains(e.Name(), id) && !strings.Contains(e.Name(), "conmon") {
			return filepath.Join(pod, e.Name())
		}
	}
	return ""
}

// names are those of the groups of pods: kubelet calls them podUID, or by systemd ...-podUID.slice with _ for each -.
func names(uids []string) map[string]string {
	out := map[string]string{}
	for _, u := range uids {
		u, _, _ = strings.Cut(u, "/")
		out["pod"+u], out["pod"+strings.ReplaceAll(u, "-", "_")+".slice"] = u, u
	}
	return out
}

// podName is the part of a folder's name that is the pod's.
func podName(name string) string {
	if strings.HasSuffix(name, ".slice") {
		name = name[strings.LastIndexByte(name, '-')+1:]
	}
	return name
}

// kubelets is a group under which the kubelet has those of pods, or such a one: ...-besteffort.slice and so on.
var kubelets = regexp.MustCompile(`^(kubepods|burstable|besteffort)(\.slice)?$`)

// walk finds the folders of names, and those in which pods lie.
func (p *Pods) walk(names map[string]string) {
	n := 0
	filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil // it has gone meanwhile
		case n > mostFolders || strings.Count(path[len(p.dir):], "/") > deepest:
			return fs.SkipDir
		}
		n++
		name := podName(d.Name())
		switch u := names[name]; {
		case u != "":
			p.found[u] = path
			fallthrough
		case pods.MatchString(name):
			p.parents[filepath.Dir(path)] = true
			return fs.SkipDir
		case kubelets.MatchString(name):
			p.parents[path] = true
		}
		return nil
	})
	p.walked = time.Now()
}

// pods is the group of a pod.
var pods = regexp.MustCompile(`^pod[0-9a-f]{8}([-_]?[0-9a-f]{4}){3}[-_]?[0-9a-f]{12}(\.slice)?$`)

// Programs are processes in groups and below them, one for each executable. denied tells that there are processes whose
// executable may not be looked at (CAP_SYS_PTRACE).
func Programs(dirs []string) (out []int, denied bool) {
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
				if err == nil {
					err = unix.Stat("/proc/"+s.Text()+"/exe", &st)
				}
				if denied = denied || errors.Is(err, fs.ErrPermission); err != nil || seen[file{st.Dev, st.Ino}] {
					continue
				}
				seen[file{st.Dev, st.Ino}] = true
				out = append(out, pid)
			}
			return nil
		})
	}
	return out, denied
}
