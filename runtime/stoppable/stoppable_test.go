package stoppable

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// What comes behind Stop stays in the stream, also for a Read that waited: terminals, which block, and pipes of Go.
func TestStop(t *testing.T) {
	for _, kind := range []string{"blocking", "pipe"} {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		defer out.Close()
		if kind == "blocking" {
			fd, err := unix.Dup(int(in.Fd())) // Fd has it block
			if err != nil {
				t.Fatal(err)
			}
			in.Close()
			in = os.NewFile(uintptr(fd), "stdin")
			defer in.Close()
		}
		r := New(in)
		if !r.Ends() || r.timed != (kind == "pipe") {
			t.Errorf("%s: ends %v, timed %v", kind, r.Ends(), r.timed)
		}
		buf := make([]byte, 8)
		out.WriteString("one")
		if n, err := r.Read(buf); string(buf[:n]) != "one" || err != nil {
			t.Errorf("%s: read %q, %v", kind, buf[:n], err)
		}
		done := make(chan error)
		go func() {
			_, err := r.Read(buf)
			done <- err
		}()
		r.Stop()
		if err := <-done; !errors.Is(err, ErrStopped) {
			t.Errorf("%s: a Read that waited: %v", kind, err)
		}
		out.WriteString("two")
		if _, err := r.Read(buf); !errors.Is(err, ErrStopped) {
			t.Errorf("%s: behind Stop: %v", kind, err)
		}
		r.Close()
		if n, err := in.Read(buf); string(buf[:n]) != "two" || err != nil {
			t.Errorf("%s: the next reader has %q, %v", kind, buf[:n], err)
		}
	}
}

// A stream that is no file is read to its end.
func TestNoFile(t *testing.T) {
	r := New(bytes.NewReader([]byte("text")))
	if b, err := io.ReadAll(r); string(b) != "text" || err != nil || r.Ends() {
		t.Errorf("%q, %v", b, err)
	}
	r.Stop()
	r.Close()
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
}
