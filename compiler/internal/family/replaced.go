package family

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// running gives the file that the process of -x has mapped under the name path, if that is not the file of that
// name any more: programs are built again while they run. It gives "" where it is, or where the process has nothing
// of that name.
func (e *Env) running(path string) string {
	if e.TargetPID <= 0 || e.foreign(path) {
		return ""
	}
	real := path
	if p, err := filepath.EvalSymlinks(path); err == nil {
		real = p
	}
	now, err := os.Stat(real)
	other := func(file string) bool {
		st, serr := os.Stat(file)
		return serr == nil && (err != nil || !os.SameFile(st, now))
	}
	dir := filepath.Join(e.proc(), strconv.Itoa(e.TargetPID))
	named := func(s string) bool {
		s = strings.TrimSuffix(s, " (deleted)")
		return s == real || s == path
	}
	exe := filepath.Join(dir, "exe")
	if link, lerr := os.Readlink(exe); lerr == nil && named(link) {
		if other(exe) {
			return exe
		}
		return ""
	}
	f, ferr := os.Open(filepath.Join(dir, "maps"))
	if ferr != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// address perms offset dev inode path
		at := strings.IndexByte(lines.Text(), '/')
		if at < 0 || !named(lines.Text()[at:]) {
			continue
		}
		area, _, _ := strings.Cut(lines.Text(), " ")
		if file := filepath.Join(dir, "map_files", area); other(file) {
			return file
		}
		return ""
	}
	return ""
}

// inUse is path, or what the process of -x runs in its place, which is said.
func (m *match) inUse(path string) string {
	file := m.env.running(path)
	if file == "" {
		return path
	}
	m.warnf("process %d runs another %s than the file that has this name now: what it runs is traced", m.env.TargetPID,
		path).
		Hintf("start the program again to trace the new one")
	return file
}
