// Package traced is what every back end sees to at the places that it probes: that a file is the one that was resolved,
// that there is a target process where a site wants one, and what to say of files and functions that cannot be probed.
//
// In: sites, and files as they are now. Out: identities, and errors and warnings in words.
package traced

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// Identify notes which files the sites of p lie in, so that attaching can tell if one was replaced since. A path
// whose file cannot be looked at is left out.
func Identify(p *ir.Program) map[string]debuginfo.FileID {
	files := map[string]debuginfo.FileID{}
	for _, pr := range p.Probes {
		for _, s := range pr.Sites {
			if s.Program.Exe != "" {
				if id, err := Stat(s.Program.Exe); err == nil {
					files[s.Program.Exe] = id
				}
			}
			if s.Program.Path == "" {
				continue
			}
			if im, ok := s.Image.(debuginfo.Identified); ok {
				files[s.Program.Path] = im.FileID()
			} else if _, ok := files[s.Program.Path]; !ok {
				if id, err := Stat(s.Program.Path); err == nil {
					files[s.Program.Path] = id
				}
			}
		}
	}
	return files
}

// Stat gives the identity of what path names now, through links. The error is a unix.Errno.
func Stat(path string) (debuginfo.FileID, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return debuginfo.FileID{}, err
	}
	return debuginfo.IDOf(&st), nil
}

// File is a file that has probes, as it was when they were placed.
type File struct {
	Path string
	ID   debuginfo.FileID
	// NoExec: it lies on a mount from which nothing can be run, and there probes never fire.
	NoExec bool
	// All: some probes are not limited to one process.
	All bool
}

// ErrReplaced says that the file at a path is not the one that was resolved.
var ErrReplaced = errors.New("the file was replaced since it was read")

// Open opens path with the flags of open(2), and gives its descriptor and what it is. It has to be a regular file, and,
// unless want is zero, the one that want says. Errors name the path.
func Open(path string, flags int, want debuginfo.FileID) (fd int, f File, err error) {
	flags |= unix.O_CLOEXEC | unix.O_NONBLOCK // a pipe in place of the file is not waited for
	for fd, err = unix.Open(path, flags, 0); err == unix.EINTR; {
		fd, err = unix.Open(path, flags, 0)
	}
	if err == unix.ENOENT {
		return -1, f, fmt.Errorf("cannot probe %s: the file does not exist any more: %w", path, err)
	} else if err != nil {
		return -1, f, fmt.Errorf("cannot probe %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			unix.Close(fd)
			fd, err = -1, fmt.Errorf("cannot probe %s: %w", path, err)
		}
	}()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fd, f, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fd, f, errors.New("not a regular file")
	}
	f = File{Path: path, ID: debuginfo.IDOf(&st)}
	if want != (debuginfo.FileID{}) && f.ID != want {
		return fd, f, fmt.Errorf("%w (%s); run the command again", ErrReplaced, differs(want, f.ID))
	}
	var fs unix.Statfs_t
	f.NoExec = unix.Fstatfs(fd, &fs) == nil && fs.Flags&unix.ST_NOEXEC != 0
	return fd, f, nil
}

func differs(was, is debuginfo.FileID) string {
	switch {
	case !was.SameFile(is):
		return fmt.Sprintf("inode %d then, %d now", was.Ino, is.Ino)
	case was.Size != is.Size:
		return fmt.Sprintf("%d bytes then, %d now", was.Size, is.Size)
	}
	return "it was written to"
}

// Warnings says what the user should know of the file after tracing.
func (f *File) Warnings() []string {
	var out []string
	warn := func(format string) { out = append(out, fmt.Sprintf(format, f.Path)) }
	if f.NoExec {
		warn("%s lies on a mount from which nothing can be run (noexec): its probes cannot fire")
	}
	if strings.HasPrefix(f.Path, "/proc/") || !f.All {
		return out // the path goes with the process
	}
	switch now, err := Stat(f.Path); {
	case err == unix.ENOENT:
		warn("%s was deleted while it was traced")
	case err != nil:
	case !now.SameFile(f.ID):
		warn("%s was replaced while it was traced: processes that started after that were not seen")
	case now != f.ID:
		warn("%s was written to while it was traced")
	}
	return out
}

// NeedsTarget is the error of a site of the target process where there is none (target 0), else nil.
func NeedsTarget(s *probe.Site, target int) error {
	if s.Program.Target && target == 0 {
		return fmt.Errorf("%s: there is no target process; name it with -c or -x", s.Title())
	}
	return nil
}
