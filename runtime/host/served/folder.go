package served

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Each session has a folder with its socket in one folder for all of them. While the session lives it holds a lock on
// the file "lock" there: of what has no such lock any more, the tracer was killed, and whoever comes next takes it
// away. All that happens with the lock of the common folder held.

const (
	lockName   = "lock"
	socketName = "http"
)

// errNoPlace says that there is no folder for sockets of this user's.
var errNoPlace = errors.New("there is no folder for the socket of the script's files: XDG_RUNTIME_DIR is not set")

// common gives the folder of all sessions of the user.
func common(uid int, runtimeDir string) (string, error) {
	switch {
	case uid == 0:
		return "/run/gostap", nil
	case runtimeDir == "":
		return "", errNoPlace
	}
	return filepath.Join(runtimeDir, "gostap"), nil
}

// folder is that of a session.
type folder struct {
	path string
	lock *os.File
}

// locked calls f with the lock of the common folder held, which is made if it is missing.
func locked(root string, f func() error) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	l, err := os.OpenFile(filepath.Join(root, "."+lockName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := unix.Flock(int(l.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", root, err)
	}
	return f()
}

// claim makes the folder of a session, and takes away those of killed ones. A name that was not asked for gets a number
// behind it if another session has it.
func claim(root, name string, asked bool) (f *folder, err error) {
	if name == "" || strings.ContainsAny(name, "/\x00") || strings.HasPrefix(name, ".") {
		return nil, fmt.Errorf("%q is no name for the folder of a session", name)
	}
	err = locked(root, func() error {
		sweep(root)
		for n := 1; ; n++ {
			path := filepath.Join(root, name)
			if n > 1 {
				path = fmt.Sprintf("%s_%d", path, n)
			}
			err := os.Mkdir(path, 0o755)
			switch {
			case err == nil:
				f = &folder{path: path}
				return f.hold()
			case !errors.Is(err, fs.ErrExist):
				return err
			case asked:
				return fmt.Errorf("a session named %s serves files already, in %s", name, path)
			}
		}
	})
	return f, err
}

// hold takes the lock that says that the session lives.
func (f *folder) hold() (err error) {
	f.lock, err = os.OpenFile(filepath.Join(f.path, lockName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = unix.Flock(int(f.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		f.remove()
	}
	return err
}

// remove takes the folder away.
func (f *folder) remove() {
	os.RemoveAll(f.path)
	if f.lock != nil {
		f.lock.Close()
	}
}

// sweep takes folders away whose sessions were killed, and gives their paths.
func sweep(root string) (gone []string) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(root, e.Name())
		if e.IsDir() && !alive(path) && os.RemoveAll(path) == nil {
			gone = append(gone, path)
		}
	}
	return gone
}

// alive reports whether a session holds the lock of a folder.
func alive(path string) bool {
	l, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // a folder without one is half made or half removed
	}
	defer l.Close()
	return unix.Flock(int(l.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}

// Sweep takes away what killed sessions of the user have left, and gives the paths.
func Sweep() (gone []string) {
	root, err := common(os.Geteuid(), os.Getenv("XDG_RUNTIME_DIR"))
	if err != nil {
		return nil
	}
	if _, err := os.Stat(root); err != nil {
		return nil
	}
	locked(root, func() error {
		gone = sweep(root)
		return nil
	})
	slices.Sort(gone)
	return gone
}
