package patch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mapping is a piece of a file in a process.
type mapping struct {
	start, end, offset uint64
	path               string
}

// mappings are those of a process that hold code.
func mappings(pid int) (out []mapping, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	for _, l := range strings.Split(string(b), "\n") {
		f := strings.SplitN(l, " ", 6)
		if len(f) < 6 || !strings.Contains(f[1], "x") {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		m := mapping{path: strings.TrimLeft(f[5], " ")}
		var errs [3]error
		m.start, errs[0] = strconv.ParseUint(from, 16, 64)
		m.end, errs[1] = strconv.ParseUint(to, 16, 64)
		m.offset, errs[2] = strconv.ParseUint(f[2], 16, 64)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// of reports whether m is a piece of the very file of p.
func (m mapping) of(pid int, p *program) bool {
	var st unix.Stat_t
	if unix.Stat(fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.start, m.end), &st) != nil {
		return false
	}
	id := p.elf.FileID()
	return st.Dev == id.Dev && st.Ino == id.Ino
}

// runs tells whether a process runs the programs that were looked at.
func (d *description) runs(pid int) error {
	maps, err := mappings(pid)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no process %d", pid)
	} else if err != nil {
		return err
	}
	for _, p := range d.programs {
		there, instead := false, ""
		for _, m := range maps {
			there = there || m.of(pid, p)
			if m.path == p.image.Path()+" (deleted)" {
				instead = "one that was at this path before and was replaced"
			}
		}
		switch {
		case there:
		case instead != "":
			return d.fault(p.line, "start it anew", "process %d does not run this file but %s", pid, instead)
		default:
			return d.fault(p.line, "", "process %d does not run %s", pid, p.path)
		}
	}
	return nil
}

// moment is one in the life of a patch.
type moment int

const (
	before moment = iota
	during
	after
)

// patched looks whether probes are in the code of a process, or all of it is as the file has it. A process that has
// ended is as it should be.
func (d *description) patched(pid int, when moment) error {
	maps, err := mappings(pid)
	if err != nil {
		return gone(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return gone(err)
	}
	defer mem.Close()
	for _, p := range d.programs {
		for _, m := range maps {
			if !m.of(pid, p) {
				continue
			}
			for _, f := range p.functions {
				for _, c := range f.changes {
					for _, at := range c.at {
						if at.offset < m.offset || at.offset-m.offset >= m.end-m.start {
							continue
						}
						b := []byte{0}
						if n, err := mem.ReadAt(b, int64(m.start+at.offset-m.offset)); n < 1 {
							return gone(err)
						}
						if (b[0] != at.first) == (when == during) {
							continue
						}
						return fmt.Errorf("process %d, %#x, %s of %s: %s", pid, at.address, c.what, f.name, [...]string{
							"another tracer has a probe there, or the code was changed otherwise",
							"there is no probe",
							"there is a probe still: another tracer's, or one that was not taken away"}[when])
					}
				}
			}
		}
	}
	return nil
}

// gone is nil for errors that a process gives that has ended: no entry in /proc, no memory.
func gone(err error) error {
	for _, e := range []error{fs.ErrNotExist, unix.ESRCH, unix.EIO, io.EOF} {
		if errors.Is(err, e) {
			return nil
		}
	}
	return err
}
