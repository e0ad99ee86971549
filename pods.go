package gostap

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/manifest"
	"github.com/gostap/gostap/runtime/cgroup"
)

// Reach is what the probes of a session have to do with a pod.
type Reach struct {
	// Runs: a process of the pod runs that is not one of the runtime of containers. Traced: one has a file with probes
	// in it, or the program has probes in no files. Age is how long ago the first such process began.
	Runs, Traced bool
	Age          time.Duration
	// Denied: programs of the pod's processes may not be looked at, for want of CAP_SYS_PTRACE.
	Denied bool
	// Deleted is a program that runs in the pod and has no file any more.
	Deleted string
	// Other is a file of a process of the pod that is equal to one with probes and lies elsewhere, so that the pod's
	// calls into it have no hits: a session of its own, which is prepared for this pod, has them.
	Other string
}

// placedFile is a file with probes.
type placedFile struct {
	id  string // as manifest.Traced has it
	ino inode
}

// inode tells files on disk apart, also through the mounts of containers: layers of images have the numbers of what
// lies below them, and a file that was copied up has been changed later.
type inode struct {
	number uint64
	sec, n int64
}

func inodeOf(path string) (inode, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return inode{}, &os.PathError{Op: "look at", Path: path, Err: err}
	}
	return inode{st.Ino, st.Ctim.Sec, st.Ctim.Nsec}, nil
}

// lookAtFiles notes which files have probes, for Reach.
func (s *Session) lookAtFiles() error {
	for path := range manifest.Places(s.p.ir) {
		at, err := inodeOf(path)
		if err != nil {
			return err
		}
		t, err := manifest.Look(path)
		if err != nil {
			return err
		}
		s.files = append(s.files, placedFile{t.ID, at})
	}
	return nil
}

// Reach looks at what runs in a pod of Options.Pods or SetPods now. It is for one goroutine at a time.
func (s *Session) Reach(pod string) (r Reach, err error) {
	defer guard(&err, nil)()
	if s.p.pods == nil {
		return r, fmt.Errorf("the program was compiled without Options.Pods")
	}
	var dir string
	ran, err := s.between(func() {
		if found, ferr := s.p.pods.Find([]string{pod}); ferr == nil {
			dir = found[pod]
		}
	})
	if err != nil || !ran || dir == "" {
		return r, err
	}
	if s.looked == nil {
		s.looked = map[inode]string{}
	}
	pids, denied := cgroup.Programs([]string{dir})
	r.Denied = denied
	for _, pid := range pids {
		exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		if err != nil || runtimes.MatchString(exe) {
			continue
		}
		r.Runs = true
		if path, ok := strings.CutSuffix(exe, " (deleted)"); ok {
			r.Deleted = path
		}
		if len(s.files) == 0 {
			r.Traced, r.Age = true, max(r.Age, age(pid))
			continue
		}
		for _, path := range mapped(nil, pid) {
			at, err := inodeOf(path)
			if err != nil {
				continue // the process has ended
			}
			id, known := s.looked[at]
			if !known {
				t, err := manifest.Look(path)
				if err != nil {
					continue
				}
				id = t.ID
				s.looked[at] = id
			}
			here, equal := false, false
			for _, f := range s.files {
				here, equal = here || f.ino == at, equal || f.id == id
			}
			switch {
			case here:
				r.Traced = true
				r.Age = max(r.Age, age(pid))
			case equal:
				r.Other = path
			}
		}
	}
	return r, nil
}

// runtimes are what is in a container before its program is, and what keeps the namespaces of a pod.
var runtimes = regexp.MustCompile(`(^|/)(pause|catatonit|runc|crun|youki|memfd:runc[^/]*|memfd:crun[^/]*|runsc)( \(deleted\))?$|runc_cloned`)

// age is how long ago a process began, 0 if it is not there.
func age(pid int) time.Duration {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	var now unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 20 {
		return 0
	}
	const tick = 10 * time.Millisecond // USER_HZ
	n, err := strconv.ParseInt(f[19], 10, 64)
	if err != nil {
		return 0
	}
	return max(time.Duration(now.Nano())-time.Duration(n)*tick, 0)
}
