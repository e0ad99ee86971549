package session

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
)

// enterRunning puts the processes that run the file at path already into the map of those that do. The programs that
// enter new ones are attached by now, so none is missed in between.
func (s *Session) enterRunning(watch, path string) error {
	m := s.col.Maps[watch]
	if m == nil {
		return fmt.Errorf("the plan has no map %s", watch)
	}
	want, err := os.Stat(path)
	if err != nil {
		return err
	}
	bit := 0
	if features.OtherPidNS() {
		bit = plan.WatchedInside
	}
	one := binary.NativeEndian.AppendUint32(nil, 1)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil {
			continue
		}
		if st, err := program(d); err != nil || !os.SameFile(st, want) {
			continue
		}
		key := binary.NativeEndian.AppendUint32(nil, uint32(pid|bit))
		if err := kern.Update(m.FD(), key, one, kern.UpdateAny); err != nil {
			return fmt.Errorf("enter process %d into those that run %s: %w", pid, path, err)
		}
		// What has gone on to another program meanwhile was taken out before it was entered. What has ended stays in:
		// nothing comes of it, and the next process with the number is looked at when it is made.
		if st, err := program(d); err == nil && !os.SameFile(st, want) {
			if err := kern.Delete(m.FD(), key); err != nil && err != unix.ENOENT {
				return fmt.Errorf("take process %d out of those that run %s: %w", pid, path, err)
			}
		}
	}
	return nil
}

// program gives the file that a process runs by its folder in /proc. Where the first thread has ended, the others'
// links still lead to it.
func program(dir string) (os.FileInfo, error) {
	st, err := os.Stat(dir + "/exe")
	if err == nil {
		return st, nil
	}
	links, _ := filepath.Glob(dir + "/task/[0-9]*/exe")
	for _, l := range links {
		if st, err := os.Stat(l); err == nil {
			return st, nil
		}
	}
	return nil, err
}
