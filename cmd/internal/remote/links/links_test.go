package links

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// served serves commands at a socket, whose path it gives.
func served(t testing.TB, run Command) string {
	path := filepath.Join(t.TempDir(), "links")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		Serve(l, run)
		close(done)
	}()
	t.Cleanup(func() {
		l.Close()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Error("commands have not ended with their server")
		}
	})
	return path
}

func opened(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestLink: a command has its arguments, its input to the end, its output and what it says besides, and its status
// comes; and nothing stays open.
func TestLink(t *testing.T) {
	path := served(t, func(_ context.Context, args []string, in io.Reader, out, errw io.Writer) int {
		b, err := io.ReadAll(in)
		fmt.Fprintf(out, "%q %s", args, bytes.ToUpper(b))
		fmt.Fprintf(errw, "said %v", err)
		return 7
	})
	before := opened(t)
	for range 3 {
		var errs bytes.Buffer
		l, err := Dial(t.Context(), path, []string{"exec", "a b"}, &errs)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(l.Pipe, "input")
		got := make(chan string)
		go func() {
			b, _ := io.ReadAll(l.Pipe)
			got <- string(b)
		}()
		l.Pipe.(*net.UnixConn).CloseWrite()
		if s := <-got; s != `["exec" "a b"] INPUT` {
			t.Errorf("%q", s)
		}
		if status := l.Wait(); status != 7 || errs.String() != "said <nil>" {
			t.Errorf("status %d, said %q", status, errs.String())
		}
	}
	for end := time.Now().Add(10 * time.Second); opened(t) > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d files are open, %d were before", opened(t), before)
		}
	}
}

// TestKilled: a command that reads, writes or waits ends when who asked for it kills it or is gone, or with the server.
func TestKilled(t *testing.T) {
	ended := make(chan string, 4)
	path := served(t, func(ctx context.Context, args []string, in io.Reader, out, _ io.Writer) int {
		switch args[0] {
		case "reads":
			io.Copy(io.Discard, in)
		case "writes":
			for err := error(nil); err == nil; {
				_, err = out.Write(make([]byte, 64<<10))
			}
		case "waits":
			<-ctx.Done()
		}
		ended <- args[0]
		return 0
	})
	for _, what := range []string{"reads", "writes", "waits"} {
		l, err := Dial(t.Context(), path, []string{what}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
			t.Fatalf("%s has ended before", what)
		case <-time.After(50 * time.Millisecond):
		}
		l.Kill()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s goes on", what)
		}
		if status := l.Wait(); status != -1 {
			t.Errorf("status %d", status)
		}
	}
	// The end of the test ends this one.
	if _, err := Dial(t.Context(), path, []string{"reads"}, io.Discard); err != nil {
		t.Fatal(err)
	}
}

// TestStrangers: what is no request is not answered, and takes nothing.
func TestStrangers(t *testing.T) {
	path := served(t, func(context.Context, []string, io.Reader, io.Writer, io.Writer) int {
		t.Error("it runs")
		return 0
	})
	before := opened(t)
	for _, c := range []struct {
		text string
		fds  []int
	}{{`["a"]`, nil}, {`["a"]`, []int{0}}, {`["a"]`, []int{0, 1, 2}}, {`{}`, []int{0, 1}}, {`["a"`, []int{0, 1}},
		{`["a"]` + strings.Repeat(" ", mostArgs), []int{0, 1}}} {
		conn, err := net.Dial("unixpacket", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := conn.(*net.UnixConn).WriteMsgUnix([]byte(c.text), unix.UnixRights(c.fds...), nil); err != nil {
			t.Fatal(err)
		}
		conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		if n, err := conn.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%.20s with %d files: %d bytes, %v", c.text, len(c.fds), n, err)
		}
		conn.Close()
	}
	for end := time.Now().Add(10 * time.Second); opened(t) > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d files are open, %d were before", opened(t), before)
		}
	}
	if _, err := Dial(t.Context(), path, []string{strings.Repeat("x", mostArgs)}, io.Discard); err == nil {
		t.Error("a command line of any length is sent")
	}
}
