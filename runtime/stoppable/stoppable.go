// Package stoppable reads streams until somebody says that nothing more is wanted.
//
// In: a stream. Out: what it gives. Behind Stop nothing is taken of it any more: a terminal or a pipe keeps what comes
// for whoever reads it next.
package stoppable

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// ErrStopped is what Read gives behind Stop.
var ErrStopped = errors.New("reading was stopped")

// Reader reads a stream. One goroutine reads; any may stop it.
type Reader struct {
	in      io.Reader
	file    *os.File // in, if a wait for it can be ended
	timed   bool     // by its deadline; else by stop
	stopped atomic.Bool
	wake    *os.File // what is closed to end a wait
	stop    *os.File // its other end
}

// New gives a reader of in. Streams that are no files are read all the same, but a Read of them that waits goes on.
func New(in io.Reader) *Reader {
	r := &Reader{in: in}
	f, ok := in.(*os.File)
	if !ok {
		return r
	}
	if f.SetReadDeadline(time.Time{}) == nil {
		r.file, r.timed = f, true
		return r
	}
	if stop, wake, err := os.Pipe(); err == nil {
		r.file, r.stop, r.wake = f, stop, wake
	}
	return r
}

// Read reads what is there, or waits for it.
func (r *Reader) Read(b []byte) (int, error) {
	if r.stopped.Load() {
		return 0, ErrStopped
	}
	if r.file != nil && !r.timed {
		fds := []unix.PollFd{{Fd: int32(r.file.Fd()), Events: unix.POLLIN},
			{Fd: int32(r.stop.Fd()), Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(fds, -1); err == unix.EINTR {
				continue
			} else if err != nil {
				return 0, err
			}
			break
		}
	}
	if r.stopped.Load() {
		return 0, ErrStopped
	}
	n, err := r.in.Read(b)
	if r.timed && errors.Is(err, os.ErrDeadlineExceeded) && r.stopped.Load() {
		err = ErrStopped
	}
	return n, err
}

// Ends reports whether Stop ends a Read that waits.
func (r *Reader) Ends() bool { return r.file != nil }

// Stop ends the Read that waits, and all others. It is called once.
func (r *Reader) Stop() {
	r.stopped.Store(true)
	switch {
	case r.timed:
		r.file.SetReadDeadline(time.Unix(1, 0))
	case r.file != nil:
		r.wake.Close()
	}
}

// Close gives back what New took, for whoever reads the stream next. It comes behind Stop and the last Read.
func (r *Reader) Close() {
	switch {
	case r.timed:
		r.file.SetReadDeadline(time.Time{})
	case r.file != nil:
		r.stop.Close()
	}
}
