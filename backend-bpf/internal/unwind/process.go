package unwind

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process is what a process has mapped that can be run, and what tells it apart from the one that it was before.
type process struct {
	maps []mapping
	// stack and code are what its mm_struct has in start_stack and end_code, changed is how often it had mapped
	// something in place of code before.
	stack, code, changed uint64
}

// mapping is a part of a process's memory that can be run.
type mapping struct {
	lo, hi, off uint64
	ino         uint64 // of the file
	path        string
}

// look reads that. The error is os.ErrNotExist for one that is gone.
func look(pid int) (*process, error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	for range 8 { // it may be replaced by another program in between
		p := &process{}
		if err := p.identify(dir); err != nil {
			return nil, err
		}
		maps, err := os.ReadFile(dir + "maps")
		if err != nil {
			return nil, err
		}
		p.read(maps)
		again := &process{}
		if err := again.identify(dir); err != nil {
			return nil, err
		}
		if again.stack == p.stack && again.code == p.code {
			return p, nil
		}
	}
	return nil, fmt.Errorf("process %d runs another program all the time", pid)
}

// identify reads stack and code.
func (p *process) identify(dir string) error {
	const state, endCode, startStack = 3, 27, 28 // as proc(5) counts
	data, err := os.ReadFile(dir + "stat")
	if err != nil {
		return err
	}
	// pid (name) state ...; the name may hold anything.
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(f) <= startStack-state {
		return fmt.Errorf("%sstat has %d fields", dir, len(f))
	}
	if p.code, err = strconv.ParseUint(string(f[endCode-state]), 10, 64); err != nil {
		return err
	}
	p.stack, err = strconv.ParseUint(string(f[startStack-state]), 10, 64)
	return err
}

// same reports whether walks have to know the same of both.
func (p *process) same(q *process) bool {
	return p.stack == q.stack && p.code == q.code && p.changed == q.changed && slices.Equal(p.maps, q.maps)
}

func (p *process) read(maps []byte) {
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if len(f) < 5 || len(f[1]) < 3 || f[1][2] != 'x' {
			continue
		}
		lo, hi, ok := strings.Cut(f[0], "-")
		m := mapping{path: strings.Join(f[5:], " ")}
		var errs [4]error
		m.lo, errs[0] = strconv.ParseUint(lo, 16, 64)
		m.hi, errs[1] = strconv.ParseUint(hi, 16, 64)
		m.off, errs[2] = strconv.ParseUint(f[2], 16, 64)
		m.ino, errs[3] = strconv.ParseUint(f[4], 10, 64)
		if !ok || errs != [4]error{} || m.hi <= m.lo || m.path == "[vsyscall]" {
			continue
		}
		p.maps = append(p.maps, m)
	}
}

// way is where the file of a mapping can be read, "" if nowhere. What is mapped itself is to be had by who may
// administrate or restore processes; others go by its name in the process's own tree, and see by its number that it is
// the same.
func (m *mapping) way(pid int) string {
	var st unix.Stat_t
	mapped := fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.lo, m.hi)
	if err := unix.Stat(mapped, &st); err != unix.EPERM && err != unix.EACCES {
		return mapped
	}
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	for _, path := range []string{exe, fmt.Sprintf("/proc/%d/root%s", pid, m.path)} {
		if unix.Stat(path, &st) == nil && st.Ino == m.ino && st.Mode&unix.S_IFMT == unix.S_IFREG {
			return path
		}
	}
	return ""
}
