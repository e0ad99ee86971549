package session

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-kmod/internal/stage"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
)

// file hands a traced file over to the module, which goes by its inode.
func (s *Session) file(i int, path string) error {
	fd, f, err := traced.Open(path, unix.O_RDONLY, s.cfg.Files[path])
	if err != nil {
		d := &diag.Diagnostic{Phase: diag.Load, Code: CodeAttach, Message: err.Error()}
		if errors.Is(err, traced.ErrReplaced) {
			d.Code = CodeReplaced
		}
		for _, pl := range s.cfg.Unit.Sites {
			if pl.Site.Program.Path == path {
				d.Span = source.At(s.cfg.Unit.Program.Probes[pl.Probe].Pos)
				break
			}
		}
		return d
	}
	defer unix.Close(fd)
	if _, err := s.m.Do(stage.File, uint32(i), int64(fd), nil, nil); err != nil {
		return fmt.Errorf("hand %s to the module: %w", path, err)
	}
	f.All = s.everyProcess(path)
	s.files = append(s.files, f)
	return nil
}

// Warnings implements backend.Warner.
func (s *Session) Warnings() []string {
	var out []string
	for i := range s.files {
		out = append(out, s.files[i].Warnings()...)
	}
	return out
}

// everyProcess reports whether some probe of a file is not limited to one process.
func (s *Session) everyProcess(path string) bool {
	for _, pl := range s.cfg.Unit.Sites {
		if st := pl.Site; st.Program.Path == path && !st.Program.Target && st.Program.PID == 0 && st.Kind.InUser() {
			return true
		}
	}
	return false
}
