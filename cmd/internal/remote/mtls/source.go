package mtls

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Source gives the files of a directory as they are: they are read anew when they have changed.
type Source struct {
	dir   string
	role  Role
	clock func() time.Time
	// tell is told that there are new ones, or why they are not used.
	tell func(string)

	mu     sync.Mutex
	keys   *Keys
	marks  [3]mark
	failed string // what was told last
}

// mark is what changes with a file.
type mark struct {
	inode, device  uint64
	size           int64
	written, moved syscall.Timespec
}

// Open reads them the first time.
func Open(dir string, role Role, tell func(string)) (*Source, error) {
	return open(dir, role, tell, time.Now)
}

func open(dir string, role Role, tell func(string), clock func() time.Time) (*Source, error) {
	s := &Source{dir: dir, role: role, clock: clock, tell: tell, marks: marks(dir)}
	var err error
	s.keys, err = load(dir, role, clock)
	return s, err
}

func marks(dir string) (all [3]mark) {
	for i, name := range files {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if s, ok := st.Sys().(*syscall.Stat_t); ok {
			all[i] = mark{s.Ino, uint64(s.Dev), s.Size, s.Mtim, s.Ctim}
		}
	}
	return all
}

// Keys are those of now. Files that are no good leave those of before.
func (s *Source) Keys() *Keys {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := marks(s.dir) // before they are read: what comes meanwhile is seen the next time
	if now == s.marks {
		return s.keys
	}
	k, err := load(s.dir, s.role, s.clock)
	if err != nil {
		if text := err.Error(); text != s.failed {
			s.failed = text
			s.tell(fmt.Sprintf("WARNING: the certificates of before stay, until %s: %s", stamp(s.keys.Until()), text))
		}
		return s.keys
	}
	s.keys, s.marks, s.failed = k, now, ""
	s.tell(fmt.Sprintf("the certificates in %s have changed; now it is %s, valid until %s", s.dir, k.Name(),
		stamp(k.Until())))
	return k
}
