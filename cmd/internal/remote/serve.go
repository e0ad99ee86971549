package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Session is what a request becomes on the machine where it runs.
type Session struct {
	Request
	// Dirs are where the files of Include are now, one directory for each.
	Dirs     []string
	Out, Err io.Writer
	// Counted sends a snapshot.
	Counted func(snapshot []byte) error
	// Sets are the pods that come by frames, if Request.Follow says so, and Told tells of one.
	Sets <-chan []Pod
	Told func(Told) error
	// Missing tells the agent of the machine how many events and hits are missing, at the end.
	Missing func(n uint64)
}

// requestWithin bounds how long a session waits for its request.
const requestWithin = time.Minute

// Serve is serveFor for a session of which no agent wants to know.
func Serve(in io.Reader, out io.Writer, version string, run func(Session) int) int {
	return serveFor(nil, in, out, version, run)
}

// serveFor runs one session for who is at the other end of in and out. run is the command; it ends when the process
// gets a signal. The session ends as by TERM when nothing is heard any more. The exit status of the process is given. t
// tells an agent what becomes of the session.
func serveFor(t *teller, in io.Reader, out io.Writer, version string, run func(Session) int) int {
	// Signals are sent to the process itself, for the command to see. Before it looks they must not end it.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE)
	c := newConn(in, out)
	release, machine := uname()
	hello := Hello{Protocol: Protocol, Version: version, Kernel: release, Machine: machine}
	if c.sendJSON(frameHello, hello) != nil {
		return 1
	}
	frames := make(chan frame)
	ended := make(chan struct{})
	defer close(ended)
	go readFrames(c, frames, ended)
	var request Request
	timeout := time.After(requestWithin)
	for got := false; !got; {
		select {
		case <-timeout:
			return 1
		case f := <-frames:
			switch {
			case f.err != nil || f.kind == frameRequest && json.Unmarshal(f.body, &request) != nil:
				return 1
			case f.kind == frameRequest:
				got = true
			case f.kind == frameAlive:
				c.answer(f.body)
			}
		}
	}
	t.tell(func(r *Report) { r.Script, r.Pods = request.called(), pods(podArgs(request.Args)) })
	s := Session{Request: request, Out: writer{c, frameOut}, Err: writer{c, frameErr},
		Counted: func(b []byte) error {
			if len(b) > mostFrame {
				return fmt.Errorf("what was counted has more than %d MB", mostFrame>>20)
			}
			return c.send(frameCounted, b)
		},
		Told:    func(t Told) error { return c.sendJSON(frameTold, t) },
		Missing: func(n uint64) { t.tell(func(r *Report) { r.Missing = n }) }}
	sets := make(chan []Pod, 1) // the last one
	s.Sets = sets
	status, gone := 1, false
	if dir, err := s.unpack(); err != nil {
		fmt.Fprintf(s.Err, "error: %v\n", err)
	} else {
		done, lost := make(chan struct{}), new(atomic.Bool)
		go listen(c, frames, sets, t, done, lost)
		status = run(s)
		close(done)
		os.RemoveAll(dir)
		if gone = lost.Load(); gone && t != nil && t.started {
			// To a client that is gone this is as good as not said.
			fmt.Fprintln(s.Err, "error: the session was ended there before its time: the agent was stopped, or "+
				"nothing was heard from here")
			status = max(status, 1)
		}
	}
	t.tell(func(r *Report) { r.Ended, r.Status, r.Lost = true, status, gone })
	if c.send(frameExit, []byte{byte(status)}) != nil {
		return 1
	}
	return status
}

// called is what a log has for what runs.
func (r *Request) called() string {
	name := r.Name
	switch {
	case name == "" && r.Script != nil:
		name = r.Script.Name
	case name == "" && r.Plan != nil:
		name = "a plan"
	case name == "":
		name = "a script of the command line"
	}
	return name[:min(len(name), 200)]
}

// frame is what was received.
type frame struct {
	kind byte
	body []byte
	err  error
}

// readFrames receives until the link ends or done is closed.
func readFrames(c *conn, frames chan<- frame, done <-chan struct{}) {
	for {
		var f frame
		f.kind, f.body, f.err = c.receive()
		select {
		case frames <- f:
		case <-done:
			return
		}
		if f.err != nil {
			return
		}
	}
}

// listen passes signals and pods on until done is closed, and sends one of its own when the other side is gone, which
// it notes in gone.
func listen(c *conn, frames <-chan frame, sets chan []Pod, t *teller, done <-chan struct{}, gone *atomic.Bool) {
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	lost := newPatience()
	defer lost.Stop()
	var sig atomic.Int32
	// A signal that comes before the command looks for it is lost, so it is sent until the command has ended.
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	raise := func(n int32) {
		sig.Store(n)
		unix.Kill(unix.Getpid(), syscall.Signal(n))
	}
	for {
		select {
		case <-done:
			return
		case <-alive.C:
			if c.send(frameAlive, nil) != nil {
				gone.Store(true)
				raise(int32(unix.SIGTERM))
			}
		case <-again.C:
			if n := sig.Load(); n != 0 {
				raise(n)
			}
		case <-lost.C:
			if lost.over() {
				gone.Store(true)
				raise(int32(unix.SIGTERM))
			}
		case f := <-frames:
			switch {
			case f.err != nil:
				gone.Store(true)
				raise(int32(unix.SIGTERM))
				frames = nil
			case f.kind == frameAlive:
				c.answer(f.body)
			case f.kind == framePods:
				var set []Pod
				if json.Unmarshal(f.body, &set) == nil {
					select {
					case <-sets:
					default:
					}
					sets <- set
					t.tell(func(r *Report) { r.Pods = running(set) })
				}
			case f.kind == frameSignal && len(f.body) == 1:
				if n := syscall.Signal(f.body[0]); n == unix.SIGINT || n == unix.SIGTERM || n == unix.SIGHUP {
					raise(int32(n))
				}
			}
			if frames != nil {
				lost.heard()
			}
		}
	}
}

// unpack writes the files of Include, so that they can be read as they are on the machine where the command was typed.
// Messages name them as they were named there.
func (s *Session) unpack() (dir string, err error) {
	if len(s.Include) == 0 {
		return "", nil
	}
	sweep(os.TempDir())
	dir, err = os.MkdirTemp("", fmt.Sprintf("gostap-remote-%d-", os.Getpid()))
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	var names []string
	for i, d := range s.Include {
		at := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(at, 0o700); err != nil {
			return "", err
		}
		for _, f := range d.Files {
			if !filepath.IsLocal(f.Name) {
				return "", fmt.Errorf("%s: not a name of a file in a library", f.Name)
			}
			path := filepath.Join(at, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return "", err
			}
			if err := os.WriteFile(path, f.Text, 0o600); err != nil {
				return "", err
			}
		}
		s.Dirs = append(s.Dirs, at)
		names = append(names, at, strings.TrimSuffix(d.Path, "/"))
	}
	s.Err = renamer{s.Err, names}
	return dir, nil
}

// renamer puts names in place of others: pairs of what is there and what is to be.
type renamer struct {
	to    io.Writer
	names []string
}

func (r renamer) Write(b []byte) (int, error) {
	for p := range slices.Chunk(r.names, 2) {
		b = bytes.ReplaceAll(b, []byte(p[0]+"/"), []byte(p[1]+"/"))
	}
	if _, err := r.to.Write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// sweep removes what sessions have left that were killed.
func sweep(in string) {
	left, _ := filepath.Glob(filepath.Join(in, "gostap-remote-*-*"))
	for _, dir := range left {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), "gostap-remote-"), "-")
		n, err := strconv.Atoi(pid)
		var st unix.Stat_t
		if err == nil && errors.Is(unix.Kill(n, 0), unix.ESRCH) && unix.Lstat(dir, &st) == nil &&
			int(st.Uid) == os.Getuid() && st.Mode&unix.S_IFMT == unix.S_IFDIR {
			os.RemoveAll(dir)
		}
	}
}

// Main is "gostap remote-session": one session on standard input and output, or with --listen PATH one for each who
// connects to that socket, which only the user can. If an agent listens at the path socket, it is told.
func Main(args []string, stderr io.Writer, version, socket string, run func(Session) int) int {
	agent := len(args) == 1 && args[0] == "--agent" // one has started this, and has a pipe at 3
	switch {
	case len(args) == 0 || agent:
		in, out, err := ownStreams()
		if err != nil {
			fmt.Fprintf(stderr, "error: %v\n", err)
			return 1
		}
		if !agent {
			return serveFor(&teller{socket: socket}, in, out, version, run)
		}
		unix.CloseOnExec(3)
		return serveFor(&teller{started: true, to: os.NewFile(3, "reports")}, in, out, version, run)
	case len(args) == 2 && args[0] == "--listen":
		if err := listenAt(args[1], stderr); err != nil {
			fmt.Fprintf(stderr, "error: --listen: %v\n", err)
			return 1
		}
		return 0
	}
	fmt.Fprintln(stderr, "error: remote-session takes nothing, or --listen PATH\n"+
		"  hint: gostap --remote ssh://HOST starts it on HOST by itself")
	return 1
}

// ownStreams takes standard input and output for the link, so that nothing else that prints can disturb it, and a
// link that is broken is an error and not the end of the process.
func ownStreams() (in, out *os.File, err error) {
	r, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, err
	}
	w, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if err := unix.Dup3(int(null.Fd()), 0, 0); err != nil {
		return nil, nil, err
	}
	if err := unix.Dup3(2, 1, 0); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(r), "link"), os.NewFile(uintptr(w), "link"), nil
}
