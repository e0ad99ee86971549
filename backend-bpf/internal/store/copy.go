package store

import (
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/compiler/ir/interp"
)

// rawMost is how many bytes of an array are copied at once while its lock is held.
const rawMost = 16 << 20

// raw holds an array as the kernel gave it. The memory is kept from one copy to the next.
type raw struct {
	keys, vals []byte
	n          int
}

// CopyLocked implements interp.Copier. While the lock is held it only copies bytes to memory that was there before, so
// that nothing of Go's runtime comes in between; what they mean is found out afterwards.
func (s *Store) CopyLocked(class int, globs []int, clears []bool) ([]interp.Copied, error) {
	if s.raws == nil {
		s.raws = make([]raw, len(s.globals))
	}
	cursors := [2][]byte{}
	for _, i := range globs {
		g := &s.globals[i]
		if !s.bulk(g) {
			continue
		}
		r := &s.raws[i]
		if n := int(g.m.Entrys) + s.cpus + 64; r.keys == nil {
			r.keys, r.vals = make([]byte, n*g.ks), make([]byte, n*g.vs*s.copies(g))
		}
		for j := range cursors {
			if len(cursors[j]) < max(g.ks, 8) {
				cursors[j] = make([]byte, max(g.ks, 8))
			}
		}
	}
	if err := s.Lock(class); err != nil {
		return nil, err
	}
	out, err := s.copyRaw(globs, clears, cursors)
	s.Unlock(class)
	if err != nil {
		return nil, err
	}
	for j, i := range globs {
		if g := &s.globals[i]; s.bulk(g) {
			r := &s.raws[i]
			out[j].Elems = inOrder(s.parse(nil, g, r.keys, r.vals, r.n))
		}
	}
	return out, nil
}

// bulk reports whether g is an array that is copied as a whole.
func (s *Store) bulk(g *global) bool {
	return !g.Absent && g.g.IsArray() && (int(g.m.Entrys)+s.cpus+64)*(g.ks+g.vs*s.copies(g)) <= rawMost
}

func (s *Store) copyRaw(globs []int, clears []bool, cursors [2][]byte) ([]interp.Copied, error) {
	out := make([]interp.Copied, len(globs))
	for j, i := range globs {
		g := &s.globals[i]
		if s.bulk(g) {
			if err := s.all(g, &s.raws[i], clears[j], cursors); err != nil {
				return nil, s.fail(g, "copy", err)
			}
			continue
		}
		c, err := interp.CopyOf(s, g.g, i)
		if err == nil && clears[j] {
			err = s.Clear(i)
		}
		if err != nil {
			return nil, err
		}
		out[j] = c
	}
	return out, nil
}

// all reads an array into r, and takes its elements out if take is set.
func (s *Store) all(g *global, r *raw, take bool, cursors [2][]byte) error {
	r.n = 0
	span := g.vs * s.copies(g)
	room := len(r.keys) / g.ks
	var in []byte
	next := 0
	for {
		n, err := kern.LookupBatch(g.m.FD(), take, in, cursors[next], r.keys[r.n*g.ks:], r.vals[r.n*span:], room-r.n)
		switch err {
		case nil, unix.ENOENT:
			r.n += n
			if err != nil || n == 0 || r.n == room {
				return nil
			}
			in, next = cursors[next], 1-next
		case unix.EINTR, unix.EAGAIN:
		default:
			return err
		}
	}
}
