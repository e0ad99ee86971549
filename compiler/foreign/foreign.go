// Package foreign opens, reads and maps files that belong to others: programs, libraries, debug files, scripts.
//
// In: a path. Out: a descriptor of a regular file (Open), its bytes up to a bound (ReadFile), or a mapping of them
// (Map). A path that leads to a pipe, a device or a socket is refused by name and never opened: opening alone may
// wait for ever, rewind a tape or start a watchdog.
//
// # Mapped bytes
//
// Who may write to a file may also cut it short while it is mapped, and then the next look at it is a fault
// (SIGBUS), which ends a Go program unless the goroutine has asked for a panic instead. So this package is the only
// one that maps files, it knows which addresses are whose, and there are two ways to be safe from them:
//
//   - Guard, at the entries of everything that reads such bytes, makes faults and other panics of a
//     reader the error of the function;
//   - Goroutine, at the beginning of the program and of each goroutine of it that reads them, has whatever Guard
//     does not cover
//     end as a panic that Explain tells from a mistake of ours.
//
// A file that is written to in place while it is read gives inconsistent bytes, which are as foreign as any others.
// Whoever has read it asks Changed at the end.
package foreign

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// NotRegularError says that a path leads to something that is not a file with contents.
type NotRegularError struct {
	Path string
	// Is says what it is: "a directory", "a named pipe".
	Is string
}

func (e *NotRegularError) Error() string {
	return fmt.Sprintf("%s is %s, not a regular file", e.Path, e.Is)
}

// Unwrap lets a directory be told from the rest by errors.Is.
func (e *NotRegularError) Unwrap() error {
	if e.Is == "a directory" {
		return unix.EISDIR
	}
	return fs.ErrInvalid
}

// Reason is what err says without the path: of *os.PathError and *NotRegularError, for messages that name the path
// themselves.
func Reason(err error) error {
	switch e := err.(type) {
	case *os.PathError:
		return e.Err
	case *NotRegularError:
		return errors.New("it is " + e.Is)
	}
	return err
}

// kind says in words what a mode means, "" for a regular file.
func kind(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return ""
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFIFO:
		return "a named pipe"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFCHR, unix.S_IFBLK:
		return "a device"
	}
	return "no file"
}

// Open opens a regular file for reading. Errors are *os.PathError and *NotRegularError.
func Open(path string) (*os.File, error) { return openAs(path, false) }

// OpenText opens a regular file, or a pipe that has no name: /dev/stdin and the <(command) of shells lead to one,
// and whoever writes to it is there already.
func OpenText(path string) (*os.File, error) { return openAs(path, true) }

func openAs(path string, pipe bool) (*os.File, error) {
	// A descriptor of this kind names the file and does not touch what it leads to.
	at, err := open(path, unix.O_PATH)
	if err != nil {
		return nil, err
	}
	defer unix.Close(at)
	if err := regular(at, path); err != nil && !(pipe && nameless(at)) {
		return nil, err
	}
	fd, err := open("/proc/self/fd/"+strconv.Itoa(at), unix.O_RDONLY)
	if errors.Is(err, unix.ENOENT) { // there is no /proc
		if fd, err = open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY); err != nil {
			return nil, err
		}
		if err := regular(fd, path); err != nil {
			unix.Close(fd)
			return nil, err
		}
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
	}
	return os.NewFile(uintptr(fd), path), nil
}

func open(path string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Open(path, flags|unix.O_CLOEXEC, 0)
		if err == nil {
			return fd, nil
		}
		if err != unix.EINTR {
			return -1, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// nameless reports whether fd is a pipe of pipe(2).
func nameless(fd int) bool {
	var fs unix.Statfs_t
	return unix.Fstatfs(fd, &fs) == nil && fs.Type == unix.PIPEFS_MAGIC
}

func regular(fd int, path string) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if is := kind(st.Mode); is != "" {
		return &NotRegularError{path, is}
	}
	return nil
}

// ReadFile reads a regular file of at most limit bytes. Files of procfs and sysfs are regular files too.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path, limit)
}

// Read reads at most limit bytes to the end; the error names path.
func Read(r io.Reader, path string, limit int64) ([]byte, error) {
	if f, ok := r.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			if st.Size() > limit {
				return nil, tooLarge(path, limit)
			}
			// One byte more shows the end without another read.
			b := make([]byte, 0, st.Size()+512)
			return readAll(b, f, path, limit)
		}
	}
	return readAll(nil, r, path, limit)
}

func readAll(b []byte, r io.Reader, path string, limit int64) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return nil, tooLarge(path, limit)
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		}
	}
}

func tooLarge(path string, limit int64) error {
	if limit >= 1<<20 {
		return fmt.Errorf("%s has more than %d MB, which is the limit", path, limit>>20)
	}
	return fmt.Errorf("%s has more than %d bytes, which is the limit", path, limit)
}
