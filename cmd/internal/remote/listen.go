package remote

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// listenAt has a process of its own serve each who connects to the socket at path, until a signal comes.
func listenAt(path string, stderr io.Writer) error {
	l, err := bind(path)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	sigs := make(chan os.Signal, 1)
	signal.Notify(sigs, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	stopped := make(chan struct{})
	go func() {
		<-sigs
		close(stopped)
		l.Close()
	}()
	fmt.Fprintf(stderr, "listening at %s; gostap --remote unix:%s runs sessions here\n", path, path)
	for {
		c, err := l.AcceptUnix()
		select {
		case <-stopped:
			if err == nil {
				c.Close()
			}
			return nil
		default:
		}
		if err != nil {
			fmt.Fprintf(stderr, "WARNING: %v\n", err)
			time.Sleep(100 * time.Millisecond) // too many open files, perhaps
			continue
		}
		if err := spawn(c); err != nil {
			fmt.Fprintf(stderr, "WARNING: no session: %v\n", err)
		}
	}
}

// bind makes the socket; one that nobody listens at any more is replaced.
func bind(path string) (*net.UnixListener, error) {
	if len(path) == 0 || len(path) > 107 {
		return nil, errors.New("the path of a socket has 1 to 107 bytes")
	}
	at := &net.UnixAddr{Name: path, Net: "unix"}
	if st, err := os.Lstat(path); err == nil {
		if st.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("%s is there and no socket", path)
		}
		if c, err := net.DialUnix("unix", nil, at); err == nil {
			c.Close()
			return nil, fmt.Errorf("%s: somebody listens there", path)
		}
		os.Remove(path)
	}
	// It must not be open to others for a moment: it is made in a directory of our own, and moved.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".gostap-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made := &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"}
	l, err := net.ListenUnix("unix", made)
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(made.Name, 0o600); err == nil {
		err = os.Rename(made.Name, path)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// spawn starts a session for who is at the other end of c: the user or root.
func spawn(c *net.UnixConn) error {
	defer c.Close()
	f, err := c.File()
	if err != nil {
		return err
	}
	defer f.Close()
	who, err := unix.GetsockoptUcred(int(f.Fd()), unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return err
	}
	if int(who.Uid) != os.Getuid() && who.Uid != 0 {
		return fmt.Errorf("user %d may not", who.Uid)
	}
	cmd := exec.Command("/proc/self/exe", "remote-session")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, os.Stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return nil
}
