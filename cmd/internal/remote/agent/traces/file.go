package traces

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/trusted"
)

const (
	mostFile    = 256 << 10 // bytes
	mostFiles   = 100
	mostEntries = 2000 // of the directory
)

// stamp changes with a file.
type stamp struct {
	ino           uint64
	size          int64
	mtime, ctime  unix.Timespec
	mode, uid     uint32
	links, device uint64
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{st.Ino, st.Size, st.Mtim, st.Ctim, st.Mode, st.Uid, uint64(st.Nlink), st.Dev}
}

// wrong is why a file, or the directory, is not believed.
type wrong struct{ text, hint string }

func (w *wrong) Error() string {
	if w.hint == "" {
		return w.text
	}
	return w.text + "\n  hint: " + w.hint
}

// believed says what is wrong with who can write to a file, nil if it is as it should be.
func believed(path string, st *unix.Stat_t) error {
	why := trusted.Verdict(st)
	switch {
	case why == "":
		return nil
	case strings.HasPrefix(why, "belongs"):
		return &wrong{fmt.Sprintf("%s %s: who can write there runs what he likes", path, why),
			fmt.Sprintf("chown %d %s", os.Geteuid(), path)}
	}
	return &wrong{fmt.Sprintf("%s %s, who could run what they like", path, why), "chmod go-w " + path}
}

// openDir opens the directory with the files, if nobody but its owner can put any there.
func openDir(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return nil, &wrong{path + " is a symbolic link, and none is followed", "name the directory itself"}
		}
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		st.Mode &^= unix.S_ISVTX // in a directory like /tmp everybody makes files
		if err = believed(path, &st); err == nil {
			err = above(path)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// above looks at the way to a directory.
func above(path string) error {
	err := trusted.Check(path)
	var t *trusted.Error
	if !errors.As(err, &t) {
		return err
	}
	hint := "chmod go-w " + t.Path
	if strings.HasPrefix(t.Why, "belongs") {
		hint = fmt.Sprintf("chown %d %s", os.Geteuid(), t.Path)
	}
	return &wrong{fmt.Sprintf("%s: %s %s", path, t.Path, t.Why), hint}
}

// entries are the names in the directory, in their order, without those of files that are being written or edited
// (.NAME, NAME~). more says that there are too many to look at.
func entries(dir *os.File) (names []string, more bool, err error) {
	names, err = dir.Readdirnames(mostEntries + 1)
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	more = len(names) > mostEntries
	names = slices.DeleteFunc(names, func(n string) bool { return n[0] == '.' || strings.HasSuffix(n, "~") })
	slices.Sort(names)
	return names, more, nil
}

// errBusy is that a file is being written.
var errBusy = errors.New("it is being written")

// look gives the stamp of a file, without opening it.
func look(dir *os.File, name string) (s stamp, err error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return s, err
	}
	return stampOf(&st), nil
}

// regular refuses what is no file.
func regular(path string, st *unix.Stat_t) error {
	what := ""
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return nil
	case unix.S_IFLNK:
		return &wrong{path + " is a symbolic link, and none is followed", "put the file itself there"}
	case unix.S_IFDIR:
		what = "a directory"
	case unix.S_IFIFO:
		what = "a FIFO"
	case unix.S_IFSOCK:
		what = "a socket"
	default:
		what = "a device"
	}
	return &wrong{path + " is " + what + ", and no file", ""}
}

// take reads a file whole. The error is a *wrong if it is not to be believed, or errBusy if it is not as was.
func take(dir *os.File, name string, was stamp) ([]byte, error) {
	path := filepath.Join(dir.Name(), name)
	var st unix.Stat_t
	// What is no file is not opened at all: that does something to some devices.
	if err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := regular(path, &st); err != nil {
		return nil, err
	}
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC|
		unix.O_NOCTTY, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := regular(path, &st); err != nil {
		return nil, err
	}
	if err := believed(path, &st); err != nil {
		return nil, err
	}
	if stampOf(&st) != was || written(fd) {
		return nil, errBusy
	}
	if st.Size > mostFile {
		return nil, &wrong{fmt.Sprintf("%s has %d bytes, and %d are taken at most", path, st.Size, mostFile), ""}
	}
	b, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	if err != nil {
		return nil, err
	}
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if stampOf(&st) != was || int64(len(b)) != was.size {
		return nil, errBusy
	}
	return b, nil
}

// written says that somebody has a file open to write to it: no lease to read it is given then. Where there are no
// leases nobody is known to.
func written(fd int) bool {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return err == unix.EAGAIN
}
