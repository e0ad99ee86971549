package remote

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/runtime/unixsocket"
)

// listenAt has a process of its own serve each who connects to the socket at path, until a signal comes.
func listenAt(path string, stderr io.Writer) error {
	l, err := unixsocket.Listen(path, 0o600)
	if err != nil {
		return err
	}
	defer l.Close()
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
