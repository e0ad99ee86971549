// Package served has the files of a script (probes of procfs) read and written by other processes without a kernel
// module: over HTTP at a Unix socket, and at an address of the network if the user asks for one.
//
// In: the files, a name, addresses, and a function that runs their handlers. Out: listening sockets, and their requests
// as calls of that function, each in a goroutine of its own.
package served

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gostap/gostap/runtime/unixsocket"
)

// File is a file of the script's.
type File struct {
	Path string
	// Mode are its permissions: of those who may read and of those who may write. Its owner is who traces.
	Mode uint32
	// Reads and Writes tell which handlers it has.
	Reads, Writes bool
}

// Request is somebody who reads or writes a file.
type Request struct {
	File int // index in Config.Files
	// Write: Text is written; otherwise it is what the handler is to give.
	Write bool
	Text  string
	// Peer is who asks.
	Peer Peer
}

// ErrEnded is the answer of a session that has ended, ErrBroken that of a handler that did not come to its end.
var (
	ErrEnded  = errors.New("the session has ended")
	ErrBroken = errors.New("the probe's handler did not come to its end")
)

// Config is what is served.
type Config struct {
	Files []File
	// Name is that of the session, Asked that the user gave it.
	Name  string
	Asked bool
	// Addresses are where the user wants the files besides: a path, HOST:PORT, or PORT of the loopback address.
	Addresses []string
	// Piece is the most bytes that a handler takes of what is written; what is longer comes in pieces.
	Piece int
	// Run runs the handler for a request and gives the text for the reader. It is called by many goroutines.
	Run func(*Request) (string, error)
}

// Server serves files.
type Server struct {
	cfg       Config
	folder    *folder // nil if there is none
	listeners []net.Listener
	addresses []string
	http      *http.Server
	done      sync.WaitGroup
}

const (
	// mostConns is how many connections there are at a time; others wait.
	mostConns = 64
	// patience is how long a connection may take over a request, slow how long over reading the answer, and parting how
	// long answers have that are under way when the session ends.
	patience = 30 * time.Second
	slow     = 5 * time.Minute
	parting  = time.Second
)

// Listen makes the sockets. Who connects waits until Serve.
func Listen(c Config) (_ *Server, err error) {
	s := &Server{cfg: c}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	mode := fs.FileMode(0o600)
	for _, f := range c.Files {
		if f.Mode&0o077 != 0 {
			mode = 0o666 // who may do what is looked at with each request
		}
	}
	root, err := common(os.Geteuid(), os.Getenv("XDG_RUNTIME_DIR"))
	switch {
	case err == nil:
		if s.folder, err = claim(root, c.Name, c.Asked); err != nil {
			return nil, err
		}
		if err := s.listenAt(s.folder.path+"/"+socketName, mode); err != nil {
			return nil, err
		}
	case len(c.Addresses) == 0:
		return nil, err
	}
	for _, a := range c.Addresses {
		if strings.HasPrefix(a, "/") {
			if err := s.listenAt(a, mode); err != nil {
				return nil, err
			}
			continue
		}
		host, port, err := Split(a)
		if err != nil {
			return nil, err
		}
		l, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			return nil, err
		}
		s.listeners = append(s.listeners, l)
		s.addresses = append(s.addresses, "http://"+l.Addr().String()+"/")
	}
	return s, nil
}

func (s *Server) listenAt(path string, mode fs.FileMode) error {
	l, err := unixsocket.Listen(path, mode)
	if err == nil {
		s.listeners, s.addresses = append(s.listeners, l), append(s.addresses, path)
	}
	return err
}

// Split takes an address of the network apart: HOST:PORT, :PORT or PORT, the latter two of the loopback address.
func Split(address string) (host, port string, err error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	if host, port, err = net.SplitHostPort(address); err != nil {
		return "", "", err
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return "", "", fmt.Errorf("%q is no port", port)
	}
	return cmp.Or(host, "127.0.0.1"), port, nil
}

// Addresses are paths of sockets, and URLs.
func (s *Server) Addresses() []string { return slices.Clone(s.addresses) }

// Serve begins to answer.
func (s *Server) Serve() {
	s.http = &http.Server{
		Handler: s, ReadTimeout: patience, WriteTimeout: slow, IdleTimeout: patience, MaxHeaderBytes: 16 << 10,
		ConnContext: withPeer,
		// What it has to say is about connections that end in the middle.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	room := make(chan struct{}, mostConns)
	for _, l := range s.listeners {
		s.done.Go(func() { s.http.Serve(&bounded{Listener: l, room: room}) })
	}
}

// Close takes the sockets away. Config.Run has to give ErrEnded from here on.
func (s *Server) Close() {
	if s.http != nil {
		ctx, stop := context.WithTimeout(context.Background(), parting)
		s.http.Shutdown(ctx)
		stop()
		s.http.Close()
	}
	for _, l := range s.listeners {
		l.Close()
	}
	s.done.Wait()
	if s.folder != nil {
		s.folder.remove()
	}
}

// bounded is a listener with so many connections at a time.
type bounded struct {
	net.Listener
	room chan struct{}
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	b.room <- struct{}{}
	return &counted{Conn: c, room: b.room}, nil
}

// counted is one of them.
type counted struct {
	net.Conn
	once sync.Once
	room chan struct{}
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.once.Do(func() { <-c.room })
	return c.Conn.Close()
}
