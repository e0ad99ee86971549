// Package unixsocket makes sockets that have names in the file system.
//
// In: a path, who may connect. Out: a listener. It is never open to others, not for a moment; what somebody has left
// there that nobody serves any more gives way; what is served, and any other file, stays.
package unixsocket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// longest is the length in bytes that a path can have (unix(7)).
const longest = 107

// Listener listens at a path.
type Listener struct {
	*net.UnixListener
	path string
	own  os.FileInfo
}

// Listen makes the socket at path.
func Listen(path string, mode fs.FileMode) (*Listener, error) {
	if len(path) == 0 || len(path) > longest {
		return nil, fmt.Errorf("the path of a socket has 1 to %d bytes, and this has %d", longest, len(path))
	}
	if err := vacate(path); err != nil {
		return nil, err
	}
	// It is made in a folder of our own, and gets its name when it is as it is to be.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".gostap-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	at, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	made := fmt.Sprintf("/proc/self/fd/%d/s", at.Fd()) // the path of the folder may be too long
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	s := &Listener{UnixListener: l, path: path}
	made = filepath.Join(dir, "s")
	if err = os.Chmod(made, mode); err == nil {
		if s.own, err = os.Lstat(made); err == nil {
			if err = os.Link(made, path); errors.Is(err, fs.ErrExist) { // since we looked
				err = fmt.Errorf("somebody serves %s already", path)
			}
		}
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return s, nil
}

// vacate takes away a socket that nobody serves any more. Anything else that is there is an error.
func vacate(path string) error {
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if st.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there already, and is no socket", path)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, unix.ECONNREFUSED) { // one that is busy gives other errors
		return fmt.Errorf("somebody serves %s already", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Close ends listening, and takes the socket away if it is still the one at its path.
func (l *Listener) Close() error {
	err := l.UnixListener.Close()
	if st, serr := os.Lstat(l.path); serr == nil && os.SameFile(st, l.own) {
		os.Remove(l.path)
	}
	return err
}
