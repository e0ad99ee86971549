package session

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-kmod/internal/stage"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dynlink"
	"github.com/gostap/gostap/compiler/debuginfo/rows"
)

// walks hands the module the tables by which its handlers walk stacks: of the probed programs with the libraries that
// their dynamic linker will map, and of what the target has mapped. Files of which nothing is known end stacks.
func (s *Session) walks() error {
	if !s.cfg.Unit.Walks {
		return nil
	}
	done := map[debuginfo.FileID]bool{}
	add := func(path, name string) error {
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			return nil
		}
		id := debuginfo.IDOf(&st)
		if done[id] {
			return nil
		}
		done[id] = true
		t, err := rows.Read(path, "")
		if err != nil {
			s.logf(1, "no stacks through %s: %v", name, err)
			return nil
		}
		begin, end, addition, ok := t.Mapped()
		if !ok {
			s.logf(1, "no stacks through %s: its code is not in one place", name)
			return nil
		}
		var key []byte
		identity := rows.Identity(id)
		for _, v := range append(identity[:], begin, end, addition) {
			key = binary.NativeEndian.AppendUint64(key, v)
		}
		val := make([]byte, 0, 8*len(t.Rows))
		for _, r := range t.Rows {
			val = binary.NativeEndian.AppendUint64(val, r)
		}
		switch _, err := s.m.Do(stage.Rows, 0, 0, key, val); err {
		case nil:
			s.logf(1, "%d rows of %s", len(t.Rows), name)
		case unix.ENOSPC:
			s.logf(1, "no room for the rows of %s: stacks are cut there", name)
		default:
			return fmt.Errorf("hand the rows of %s to the module: %w", name, err)
		}
		return nil
	}
	for _, path := range s.cfg.Unit.Files {
		if err := add(path, path); err != nil {
			return err
		}
		libs, err := dynlink.Needed(path, dynlink.Search{})
		if err != nil {
			continue
		}
		for _, l := range libs {
			for _, p := range l.Paths {
				if p == "" {
					continue
				}
				if err := add(p, p); err != nil {
					return err
				}
			}
		}
	}
	if s.cfg.Target == 0 {
		return nil
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", s.cfg.Target))
	if err != nil {
		return nil // it has ended
	}
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if len(f) < 6 || len(f[1]) < 3 || f[1][2] != 'x' || f[5][0] != '/' {
			continue
		}
		if err := add(fmt.Sprintf("/proc/%d/map_files/%s", s.cfg.Target, f[0]), f[5]); err != nil {
			return err
		}
	}
	return nil
}
