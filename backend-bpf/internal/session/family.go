package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
)

// enterFamily puts the processes that the target has already made into the map of its family. The program that
// enters new ones is attached by now, so none is missed in between.
func (s *Session) enterFamily() error {
	m := s.col.Maps[plan.MapFamily]
	if m == nil || s.cfg.Target == 0 {
		return nil
	}
	kids := descendants(s.cfg.Target)
	if len(kids) == 0 {
		return nil
	}
	if features.OtherPidNS() {
		// The map goes by the numbers of the first namespace, which cannot be seen from here.
		s.logf(0, "WARNING: the %d processes that the target has already made are not traced: gostap runs in a pid "+
			"namespace", len(kids))
		return nil
	}
	one := binary.NativeEndian.AppendUint32(nil, 1)
	for _, pid := range kids {
		if err := kern.Update(m.FD(), binary.NativeEndian.AppendUint32(nil, uint32(pid)), one,
			kern.UpdateAny); err != nil {
			return fmt.Errorf("enter process %d into the target's family: %w", pid, err)
		}
	}
	return nil
}

// descendants lists the living children of a process, theirs and so on.
func descendants(pid int) []int {
	kids := map[int][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // with /stat behind it the folder of each process is read, too
	for _, d := range dirs {
		data, err := os.ReadFile(d + "/stat")
		if err != nil {
			continue // gone
		}
		// pid (name) state ppid ...; the name may hold anything.
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		if len(fields) < 2 {
			continue
		}
		parent, err := strconv.Atoi(string(fields[1]))
		self, err2 := strconv.Atoi(filepath.Base(d))
		if err == nil && err2 == nil {
			kids[parent] = append(kids[parent], self)
		}
	}
	var out []int
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		out = append(out, kids[todo[0]]...)
		todo = append(todo, kids[todo[0]]...)
	}
	return out
}
