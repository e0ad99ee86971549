package traces

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// notes are what is told without being asked for: the kernel tells of changes in the directory, sessions that their
// probes are in place (sd_notify, as to a service manager).
type notes struct {
	dir     string
	wake    func()
	inotify int // -1 if there is none: then the directory is looked at now and then
	file    *os.File
	socket  *net.UnixConn
	address string

	mu       sync.Mutex
	sessions map[int]*session // by process
}

func newNotes(dir string, wake func()) (*notes, error) {
	n := &notes{dir: dir, wake: wake, inotify: -1, sessions: map[int]*session{},
		address: "@gostap-agent-" + rand.Text()}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("a socket for sessions: %w", err)
	}
	f := os.NewFile(uintptr(fd), "notes")
	defer f.Close()
	// Whoever knows the name can send to it; the kernel says who did.
	err = errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1),
		unix.Bind(fd, &unix.SockaddrUnix{Name: n.address}))
	if err != nil {
		return nil, fmt.Errorf("a socket for sessions: %w", err)
	}
	c, err := net.FilePacketConn(f)
	if err != nil {
		return nil, err
	}
	socket, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, errors.New("a socket is no socket")
	}
	n.socket = socket
	go n.hear()
	if fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err == nil {
		n.inotify, n.file = fd, os.NewFile(uintptr(fd), "inotify")
		go n.see()
	}
	return n, nil
}

// watch has the kernel tell of the directory that is there now.
func (n *notes) watch() {
	if n.inotify >= 0 {
		unix.InotifyAddWatch(n.inotify, n.dir, unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO|unix.IN_MOVED_FROM|unix.IN_DELETE|
			unix.IN_ATTRIB|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_ONLYDIR|unix.IN_DONT_FOLLOW)
	}
}

// see reads what the kernel tells. What it is about is looked at afterwards.
func (n *notes) see() {
	b := make([]byte, 16<<10)
	for {
		if _, err := n.file.Read(b); err != nil {
			return
		}
		n.wake()
		time.Sleep(50 * time.Millisecond) // of many there is one look
	}
}

// hear reads what sessions tell.
func (n *notes) hear() {
	b, oob := make([]byte, 4096), make([]byte, 256)
	for {
		size, control, _, _, err := n.socket.ReadMsgUnix(b, oob)
		if err != nil {
			return
		}
		pid := sender(oob[:control])
		for line := range strings.Lines(string(b[:size])) {
			if strings.TrimSuffix(line, "\n") != "READY=1" {
				continue
			}
			n.mu.Lock()
			s := n.sessions[pid]
			n.mu.Unlock()
			if s != nil {
				s.runs()
			}
		}
	}
}

// sender is the process that has sent a datagram, 0 if that is not known.
func sender(control []byte) int {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0
	}
	for i := range messages {
		if c, err := unix.ParseUnixCredentials(&messages[i]); err == nil {
			return int(c.Pid)
		}
	}
	return 0
}

// know starts a session, and knows its process before it can tell anything.
func (n *notes) know(start func() (*session, error)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	s, err := start()
	if err == nil {
		n.sessions[s.child.PID()] = s
	}
	return err
}

func (n *notes) forget(s *session) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.sessions, s.child.PID())
}

func (n *notes) close() {
	n.socket.Close()
	if n.file != nil {
		n.file.Close()
	}
}
