// Package trusted opens files that the command believes: options in rc files, what it kept itself of earlier runs.
// Some of them hold commands, and the command runs as root.
//
// In: a path. Out: the file, if nobody but the effective user and root could have written what is in it: the file,
// the folders above it and the links on the way belong to one of the two, and neither group nor others may write to
// them. A folder like /tmp, in which everybody may make files but only take away his own, is good enough as long as
// what lies in it is.
package trusted

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/foreign"
)

// Error says why a file is not believed.
type Error struct {
	Path string // what is wrong: the file itself, or a folder above it
	Why  string
}

func (e *Error) Error() string { return e.Path + " " + e.Why }

// maxLinks is the kernel's limit.
const maxLinks = 40

// Check goes through path from the root on. The error is an *Error if somebody else has a say in it, and as os.Stat
// gives it if there is nothing.
func Check(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	done, rest, links := "/", path, 0
	if err := own("/"); err != nil {
		return err
	}
	for {
		rest = strings.TrimLeft(rest, "/")
		if rest == "" {
			return nil
		}
		part, tail, _ := strings.Cut(rest, "/")
		if part == ".." { // of a link's text; all links on the way here have been followed
			done, rest = filepath.Dir(done), tail
			continue
		}
		at := filepath.Join(done, part)
		if err := own(at); err != nil {
			return err
		}
		link, err := os.Readlink(at)
		if err != nil {
			done, rest = at, tail
			continue
		}
		if links++; links > maxLinks {
			return &os.PathError{Op: "stat", Path: path, Err: unix.ELOOP}
		}
		if filepath.IsAbs(link) {
			done = "/"
		}
		rest = link + "/" + tail
	}
}

// own looks at one component of a path.
func own(path string) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if why := Verdict(&st); why != "" {
		return &Error{path, why}
	}
	return nil
}

// Verdict says what is wrong with a file, folder or link, "" if it is as it should be.
func Verdict(st *unix.Stat_t) string {
	if me := os.Geteuid(); st.Uid != 0 && int(st.Uid) != me {
		return fmt.Sprintf("belongs to %s, not to %s", name(int(st.Uid)), name(me))
	}
	kind := st.Mode & unix.S_IFMT
	if kind == unix.S_IFLNK || kind == unix.S_IFDIR && st.Mode&unix.S_ISVTX != 0 {
		return ""
	}
	switch {
	case st.Mode&0o002 != 0:
		return "may be written to by everybody"
	case st.Mode&0o020 != 0:
		return "may be written to by its group"
	}
	return ""
}

// name is the user's, or the number where there is none.
func name(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return fmt.Sprintf("user %d", uid)
}

// Dir checks a folder that need not be there yet: what there is of the way to it.
func Dir(path string) error {
	for {
		err := Check(path)
		if !errors.Is(err, unix.ENOENT) || path == "/" || path == "." {
			return err
		}
		path = filepath.Dir(path)
	}
}

// Open opens a regular file.
func Open(path string) (*os.File, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	f, err := foreign.Open(path)
	if err != nil {
		return nil, err
	}
	// What was looked at by its name cannot have been replaced by anybody else; all the same, this is the file that
	// is read.
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if why := Verdict(&st); why != "" {
		f.Close()
		return nil, &Error{path, why}
	}
	return f, nil
}

// ReadFile reads a file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return foreign.Read(f, path, limit)
}
