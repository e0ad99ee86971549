// Package links has one process run commands that connect to other machines, as functions, for others that would start
// a program for each: a thousand links are a thousand connections then, and not as many processes.
//
// In: a socket of Unix, whose directory is its owner's alone; a command's arguments. Out: its standard input and output
// as one end of a pair of sockets, what it says on standard error, its exit status.
//
// A request is one packet: the arguments as JSON, with the other end of the pair and that of a pipe for standard error
// as its rights (unix(7), SCM_RIGHTS). The answer is one packet, the status in a byte, when the command has ended. Who
// closes the connection ends the command.
package links

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Variable is that of the environment with the path of a socket where Serve is.
const Variable = "GOSTAP_LINKS"

// mostArgs bounds a request.
const mostArgs = 64 << 10

// Link is a command that runs elsewhere.
type Link struct {
	// Pipe is its standard input and output.
	Pipe net.Conn
	asks net.Conn
	said chan struct{} // closed when all that it says was written
}

// Dial has the process behind a socket run a command. What the command says on standard error is written to errw.
func Dial(ctx context.Context, socket string, args []string, errw io.Writer) (_ *Link, err error) {
	request, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	if len(request) > mostArgs {
		return nil, fmt.Errorf("a command line of %d bytes is too long", len(request))
	}
	d := net.Dialer{}
	asks, err := d.DialContext(ctx, "unixpacket", socket)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			asks.Close()
		}
	}()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	ours := os.NewFile(uintptr(pair[0]), "link")
	defer ours.Close() // FileConn has its own
	defer unix.Close(pair[1])
	pipe, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		pipe.Close()
		return nil, err
	}
	defer w.Close()
	_, _, err = asks.(*net.UnixConn).WriteMsgUnix(request, unix.UnixRights(pair[1], int(w.Fd())), nil)
	if err != nil {
		pipe.Close()
		r.Close()
		return nil, err
	}
	l := &Link{Pipe: pipe, asks: asks, said: make(chan struct{})}
	go func() {
		defer close(l.said)
		defer r.Close()
		io.Copy(errw, r)
	}()
	return l, nil
}

// Kill ends the command, if it has not ended.
func (l *Link) Kill() {
	l.Pipe.Close()
	l.asks.Close()
}

// Wait closes the command's standard input, and waits for its end. It gives the exit status, -1 for one that was ended.
func (l *Link) Wait() int {
	l.Pipe.(*net.UnixConn).CloseWrite()
	status := [1]byte{}
	n, err := l.asks.Read(status[:])
	l.Kill()
	<-l.said
	if n != 1 || err != nil {
		return -1
	}
	return int(status[0])
}

// Command runs a command line to its end, or to that of ctx, and gives its exit status.
type Command func(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int

// Serve runs commands for who connects to l, each in a goroutine of its own, until l is closed; then it ends those that
// run, and waits for them.
func Serve(l *net.UnixListener, run Command) {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for {
		c, err := l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // there are too many files, say
			time.Sleep(50 * time.Millisecond)
			continue
		}
		all.Add(1)
		go func() {
			defer all.Done()
			defer c.Close()
			serve(ctx, c, run)
		}()
	}
}

// grace is how long a command has to end with its input, before it is cut off.
const grace = 2 * time.Second

// serve runs the command that is asked for at a connection.
func serve(ctx context.Context, c *net.UnixConn, run Command) {
	args, pipe, errw, err := receive(c)
	if err != nil {
		return
	}
	defer errw.Close()
	defer pipe.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		c.Read(make([]byte, 1)) // nothing comes: this is its end
		pipe.Close()
		time.AfterFunc(grace, stop)
	}()
	// What reads its input would wait for that beyond its end.
	defer context.AfterFunc(ctx, func() { pipe.Close() })()
	status := run(ctx, args, input{pipe}, pipe, errw)
	pipe.Close()
	errw.Close()
	c.Write([]byte{byte(status)})
}

// input has an end where it is closed: that is none of the command's errors.
type input struct{ from *os.File }

func (i input) Read(b []byte) (int, error) {
	n, err := i.from.Read(b)
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	return n, err
}

// receive takes a request.
func receive(c *net.UnixConn) (args []string, pipe *os.File, errw *os.File, err error) {
	b, rights := make([]byte, mostArgs), make([]byte, unix.CmsgSpace(4*16))
	n, m, flags, _, err := c.ReadMsgUnix(b, rights)
	if err != nil {
		return nil, nil, nil, err
	}
	var fds []int
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	for i := range messages {
		some, e := unix.ParseUnixRights(&messages[i])
		fds, err = append(fds, some...), errors.Join(err, e)
	}
	if err == nil {
		err = json.Unmarshal(b[:n], &args)
	}
	if err == nil && (len(fds) != 2 || flags&(unix.MSG_CTRUNC|unix.MSG_TRUNC) != 0) {
		err = errors.New("it is no request")
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
		if err == nil {
			err = unix.SetNonblock(fd, true) // so that who waits for it takes no thread
		}
	}
	if err != nil {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return nil, nil, nil, err
	}
	return args, os.NewFile(uintptr(fds[0]), "link"), os.NewFile(uintptr(fds[1]), "messages"), nil
}
