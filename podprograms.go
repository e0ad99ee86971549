package gostap

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/gostap/gostap/runtime/cgroup"
)

// PodProgram is a program that runs in a pod.
type PodProgram struct {
	// Name is its path in its container. Path is where it can be opened here while the process PID runs.
	Name, Path string
	PID        int
}

// PodPrograms are the programs that run in pods on this machine, by the pods' UIDs, one for each file. Those of the
// runtime of containers are left out.
func PodPrograms(uids []string) (out []PodProgram, err error) {
	defer guard(&err, nil)()
	pods, err := cgroup.FindPods(uids)
	if err != nil {
		return nil, plain(err)
	}
	found, err := pods.Find(uids)
	if err != nil {
		return nil, plain(err)
	}
	var dirs []string
	for _, dir := range found {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	seen := map[inode]bool{}
	pids, denied := cgroup.Programs(dirs)
	for _, pid := range pids {
		exe := "/proc/" + strconv.Itoa(pid) + "/exe"
		name, err := os.Readlink(exe)
		if err != nil || runtimes.MatchString(name) {
			continue
		}
		at, err := inodeOf(exe)
		if err != nil || seen[at] {
			continue
		}
		seen[at] = true
		path := fmt.Sprintf("/proc/%d/root%s", pid, name)
		if in, err := inodeOf(path); err != nil || in != at {
			path = exe // it was replaced since, or lies in another namespace
		}
		out = append(out, PodProgram{name, path, pid})
	}
	if len(out) == 0 && denied {
		return nil, plain(errors.New("no permission to look at the programs of its processes: needs CAP_SYS_PTRACE"))
	}
	return out, nil
}
