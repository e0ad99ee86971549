package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-kmod/internal/stage"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// tracedFile is a file that has probes, as it was when they were placed.
type tracedFile struct {
	path   string
	id     debuginfo.FileID
	noExec bool
}

// file hands a traced file over to the module, which goes by its inode.
func (s *Session) file(i int, path string) error {
	refused := func(code diag.Code, format string, args ...any) error {
		d := &diag.Diagnostic{Phase: diag.Load, Code: code, Message: fmt.Sprintf("cannot probe %s: ", path) + fmt.Sprintf(format, args...)}
		for _, pl := range s.cfg.Unit.Sites {
			if pl.Site.Path == path {
				d.Span = source.At(s.cfg.Unit.Program.Probes[pl.Probe].Pos)
				break
			}
		}
		return d
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return refused(CodeAttach, "the file does not exist any more: %v", unix.ENOENT)
	} else if err != nil {
		return refused(CodeAttach, "%v", err)
	}
	defer f.Close()
	now, mode, err := identify(int(f.Fd()))
	if err != nil {
		return refused(CodeAttach, "%v", err)
	}
	if mode&unix.S_IFMT != unix.S_IFREG {
		return refused(CodeAttach, "not a regular file")
	}
	if want, ok := s.cfg.Files[path]; ok && now != want {
		return refused(CodeReplaced, "the file was replaced since it was read (%s); run the command again", differs(want, now))
	}
	if _, err := s.m.Do(stage.File, uint32(i), int64(f.Fd()), nil, nil); err != nil {
		return fmt.Errorf("hand %s to the module: %w", path, err)
	}
	var st unix.Statfs_t
	noExec := unix.Fstatfs(int(f.Fd()), &st) == nil && st.Flags&unix.ST_NOEXEC != 0
	s.files = append(s.files, tracedFile{path, now, noExec})
	return nil
}

func identify(fd int) (debuginfo.FileID, uint32, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return debuginfo.FileID{}, 0, err
	}
	return idOf(&st), st.Mode, nil
}

func idOf(st *unix.Stat_t) debuginfo.FileID {
	return debuginfo.FileID{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano()}
}

func differs(was, is debuginfo.FileID) string {
	switch {
	case was.Dev != is.Dev || was.Ino != is.Ino:
		return fmt.Sprintf("inode %d then, %d now", was.Ino, is.Ino)
	case was.Size != is.Size:
		return fmt.Sprintf("%d bytes then, %d now", was.Size, is.Size)
	}
	return "it was written to"
}

// Warnings implements backend.Warner.
func (s *Session) Warnings() []string {
	var out []string
	for _, f := range s.files {
		if f.noExec {
			out = append(out, fmt.Sprintf("%s lies on a mount from which nothing can be run (noexec): its probes cannot fire", f.path))
		}
		if strings.HasPrefix(f.path, "/proc/") || !s.everyProcess(f.path) {
			continue // the path goes with the process
		}
		var st unix.Stat_t
		switch err := unix.Stat(f.path, &st); {
		case err == unix.ENOENT:
			out = append(out, fmt.Sprintf("%s was deleted while it was traced", f.path))
		case err != nil:
		case st.Dev != f.id.Dev || st.Ino != f.id.Ino:
			out = append(out, fmt.Sprintf("%s was replaced while it was traced: processes that started after that were not seen", f.path))
		case idOf(&st) != f.id:
			out = append(out, fmt.Sprintf("%s was written to while it was traced", f.path))
		}
	}
	return out
}

// everyProcess reports whether some probe of a file is not limited to one process.
func (s *Session) everyProcess(path string) bool {
	for _, pl := range s.cfg.Unit.Sites {
		if k := pl.Site.Kind; pl.Site.Path == path && !pl.Site.Target && pl.Site.PID == 0 && (k == probe.Uprobe || k == probe.Uretprobe) {
			return true
		}
	}
	return false
}
