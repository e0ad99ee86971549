package attach

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// FileID tells whether a file is the one that was looked at before.
type FileID struct {
	Dev, Ino uint64
	Size     int64
	// Mtime is in ns since 1970.
	Mtime int64
}

// Stat gives the identity of what path names now, through links.
func Stat(path string) (FileID, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return FileID{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return idOf(&st), nil
}

func idOf(st *unix.Stat_t) FileID {
	return FileID{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano()}
}

// SameFile reports whether both are the same file, written to or not.
func (a FileID) SameFile(b FileID) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// File is a file that is held open while probes are put into it: the kernel is given the
// descriptor's name, so that the file which was checked is the one which is probed.
type File struct {
	Path string
	fd   int
	id   FileID
	isGo *bool
}

// ErrReplaced says that the file at a path is not the one that was resolved.
var ErrReplaced = errors.New("the file was replaced since it was read")

// OpenFile opens path and compares it with want, unless that is zero.
func OpenFile(path string, want FileID) (*File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if err == unix.ENOENT {
			return nil, fmt.Errorf("cannot probe %s: the file does not exist any more: %w", path, err)
		}
		return nil, fmt.Errorf("cannot probe %s: %w", path, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("cannot probe %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil, fmt.Errorf("cannot probe %s: not a regular file", path)
	}
	f := &File{Path: path, fd: fd, id: idOf(&st)}
	if want != (FileID{}) && f.id != want {
		unix.Close(fd)
		return nil, fmt.Errorf("cannot probe %s: %w (%s); run the command again", path, ErrReplaced, differs(want, f.id))
	}
	return f, nil
}

func differs(was, is FileID) string {
	switch {
	case was.Dev != is.Dev || was.Ino != is.Ino:
		return fmt.Sprintf("inode %d then, %d now", was.Ino, is.Ino)
	case was.Size != is.Size:
		return fmt.Sprintf("%d bytes then, %d now", was.Size, is.Size)
	}
	return "it was written to"
}

// kernelPath is a name that leads to this very file, even if it is renamed, deleted or in another mount namespace.
func (f *File) kernelPath() string { return "/proc/self/fd/" + strconv.Itoa(f.fd) }

// ID gives the file's identity.
func (f *File) ID() FileID { return f.id }

// Close lets the file go. Links to it stay.
func (f *File) Close() {
	if f.fd >= 0 {
		unix.Close(f.fd)
		f.fd = -1
	}
}

// NoExec reports whether the file lies on a mount from which nothing can be run (there, probes never fire).
func (f *File) NoExec() bool {
	var st unix.Statfs_t
	return unix.Fstatfs(f.fd, &st) == nil && st.Flags&unix.ST_NOEXEC != 0
}

// IsGo reports whether the file is a program with Go's runtime in it, by its sections or the notes of Go's linker.
func (f *File) IsGo() (bool, error) {
	if f.isGo != nil {
		return *f.isGo, nil
	}
	r, err := os.Open(f.kernelPath())
	if err != nil {
		return false, err
	}
	defer r.Close()
	e, err := elf.NewFile(r)
	if err != nil {
		return false, fmt.Errorf("not an ELF file: %w", err)
	}
	found := false
	for _, s := range e.Sections {
		if strings.HasSuffix(s.Name, ".gopclntab") || s.Name == ".go.buildinfo" || s.Name == ".note.go.buildid" {
			found = true
		}
	}
	if len(e.Sections) == 0 {
		// Without section headers: Go's build information begins with this wherever it lies.
		magic := []byte("\xff Go buildinf:")
		for _, p := range e.Progs {
			if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 {
				continue
			}
			head := make([]byte, min(p.Filesz, 64<<10))
			if n, _ := p.ReadAt(head, 0); bytes.Contains(head[:n], magic) {
				found = true
			}
		}
	}
	f.isGo = &found
	return found, nil
}
