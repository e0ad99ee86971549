package remote

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export/text"
)

// TestParseHost: what stands behind --remote, and what is refused there before anything is started with it.
func TestParseHost(t *testing.T) {
	for s, want := range map[string]Host{
		"ssh://root@box.example:2222": {Name: "root@box.example:2222", User: "root", Address: "box.example",
			Port: "2222"},
		"ssh://box/":               {Name: "box", Address: "box"},
		"ssh://[::1]:5":            {Name: "[::1]:5", Address: "::1", Port: "5"},
		"me@box":                   {Name: "me@box", User: "me", Address: "box"},
		"box":                      {Name: "box", Address: "box"},
		"unix:/run/g":              {Name: "/run/g", Socket: "/run/g"},
		"unix:///run/g":            {Name: "/run/g", Socket: "/run/g"},
		"direct":                   {Name: "direct", Direct: true},
		"kube://ns/p?pods=1-a,2-b": {Name: "p", Namespace: "ns", Pod: "p", Pods: "1-a,2-b"},
		"tls://web1":               {Name: "web1", TLS: true, Address: "web1", Port: "7478"},
		"tls://[::1]:7/":           {Name: "[::1]:7", TLS: true, Address: "::1", Port: "7"},
		"kube://ns/p-0":            {Name: "p-0", Namespace: "ns", Pod: "p-0"},
		"kube://ns/p/c":            {Name: "p", Namespace: "ns", Pod: "p", Container: "c"},
	} {
		want.URI = s
		if got, err := ParseHost(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "ssh://", "ssh://-oProxyCommand=x", "-oProxyCommand=x", "-l@box", "ssh://-l@box",
		"me@", "unix:", "ftp://box", "ssh://a:b@box", "ssh://box/path", "ssh://box?x", "a b", "a\nb",
		"tls://", "tls://me@box", "tls://box:0", "tls://box:70000", "tls://box/x", "tls://:7", "tls://box?x",
		"tls://-b",
		"kube://ns/p?pods=", "kube://ns/p?pods=x,", "kube://ns/p?x", "kube://p", "kube://ns/-p",
		"kube://ns/p/c/d", "kube://ns/p//", "kube://Ns/p",
		"unix:/" + strings.Repeat("x", 200)} {
		if h, err := ParseHost(s); err == nil {
			t.Errorf("%q is taken as %+v", s, h)
		}
	}
	a, b := Host{Name: "a"}, Host{Name: "b"}
	seen := names{}
	got := []string{seen.of(a), seen.of(b), seen.of(a), seen.of(a)}
	if !reflect.DeepEqual(got, []string{"a", "b", "a#2", "a#3"}) {
		t.Error(got)
	}
}

// TestLines: lines of several hosts are whole, whatever pieces they come in.
func TestLines(t *testing.T) {
	whole := "one\n\ntwo " + strings.Repeat("x", 300) + "\nlast"
	want := "h: one\nh: \nh: two " + strings.Repeat("x", 300) + "\nh: last\n"
	for n := 1; n < len(whole); n++ {
		var out bytes.Buffer
		l := lines{on: new(screen), to: &out, name: "h", err: new(error)}
		for rest := whole; rest != ""; {
			k := min(n, len(rest))
			l.write([]byte(rest[:k]))
			rest = rest[k:]
		}
		l.flush()
		if out.String() != want {
			t.Fatalf("pieces of %d: %q", n, out.String())
		}
	}
	var out bytes.Buffer
	l := lines{on: new(screen), to: &out, name: "h", err: new(error)}
	l.write(bytes.Repeat([]byte("y"), text.MostLine+5))
	if out.Len() < text.MostLine || len(l.rest) > text.MostLine {
		t.Error("a line without an end is kept for ever:", out.Len(), len(l.rest))
	}
}

// FuzzFrames: whatever comes from the other side, receiving ends and gives no more than came.
func FuzzFrames(f *testing.F) {
	var good bytes.Buffer
	c := newConn(&good, &good)
	c.send(frameOut, []byte("hello"))
	c.sendJSON(frameHello, Hello{Protocol: Protocol})
	f.Add(good.Bytes())
	f.Add([]byte("Last login: today\n"))
	f.Add([]byte{frameOut, 0x03, 0xff, 0xff, 0xff, 'x'})
	f.Fuzz(func(t *testing.T, in []byte) {
		c := newConn(bytes.NewReader(in), io.Discard)
		for n := 0; ; {
			kind, body, err := c.receive()
			if err != nil {
				return
			}
			if n += 5 + len(body); n > len(in) || int(binary.BigEndian.Uint32(in[n-len(body)-4:])) != len(body) ||
				kind != in[n-len(body)-5] {
				t.Fatalf("%d bytes of %d, a frame %c of %d", n, len(in), kind, len(body))
			}
		}
	})
}

// serve runs the other side in this process, and gives this side's end.
func serve(t *testing.T, run func(Session) int) *conn {
	a, b := net.Pipe()
	go func() {
		Serve(b, b, "test", run)
		b.Close()
	}()
	t.Cleanup(func() { a.Close() })
	return newConn(a, a)
}

// TestServe: libraries are unpacked, messages have their names of here, and all is gone afterwards.
func TestServe(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c := serve(t, func(s Session) int {
		text, err := os.ReadFile(filepath.Join(s.Dirs[0], "sub", "l.stp"))
		fmt.Fprintf(s.Err, "%s/sub/l.stp:1: %s %v\n", s.Dirs[0], text, err)
		fmt.Fprint(s.Out, strings.Repeat("z", 3*mostOut), s.Script.Name)
		return 7
	})
	var out, errs []byte
	for {
		kind, body, err := c.receive()
		if err != nil {
			t.Fatal(err)
		}
		switch kind {
		case frameHello:
			if err := c.sendJSON(frameRequest, Request{Script: &File{Name: "s.stp"}, Include: []Dir{{Path: "my lib/",
				Files: []File{{Name: "sub/l.stp", Text: []byte("text")}}}}}); err != nil {
				t.Fatal(err)
			}
		case frameOut:
			if out = append(out, body...); len(body) > mostOut {
				t.Error("a frame of", len(body))
			}
		case frameErr:
			errs = append(errs, body...)
		case frameExit:
			if string(errs) != "my lib/sub/l.stp:1: text <nil>\n" || string(out) != strings.Repeat("z",
				3*mostOut)+"s.stp" || len(body) != 1 || body[0] != 7 {
				t.Errorf("%q, %d bytes, %v", errs, len(out), body)
			}
			if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
				t.Error("left:", left)
			}
			return
		}
	}
}

// TestServeRefuses: names of files that lead out of the library's directory, and what is no request.
func TestServeRefuses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, name := range []string{"../x", "/etc/x", "a/../../x", ""} {
		c := serve(t, func(Session) int { t.Error(name, "was run"); return 0 })
		var errs []byte
		for kind := byte(0); kind != frameExit; {
			var body []byte
			var err error
			if kind, body, err = c.receive(); err != nil {
				t.Fatal(err)
			}
			switch kind {
			case frameHello:
				c.sendJSON(frameRequest, Request{Include: []Dir{{Path: "l", Files: []File{{Name: name}}}}})
			case frameErr:
				errs = append(errs, body...)
			}
		}
		if !bytes.Contains(errs, []byte("not a name of a file in a library")) {
			t.Errorf("%q: %s", name, errs)
		}
	}
	c := serve(t, func(Session) int { t.Error("run without a request"); return 0 })
	c.receive()
	c.send(frameRequest, []byte("[1"))
	if _, _, err := c.receive(); err == nil {
		t.Error("garbage is answered")
	}
}

// TestSweep removes what killed sessions left, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	gone := "gostap-remote-99999999-x"
	for _, n := range []string{gone, fmt.Sprintf("gostap-remote-%d-x", os.Getpid()), "gostap-remote-x-1", "other"} {
		if err := os.Mkdir(filepath.Join(dir, n), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir)
	left, _ := os.ReadDir(dir)
	if _, err := os.Stat(filepath.Join(dir, gone)); err == nil || len(left) != 3 {
		t.Error(left)
	}
}

func TestTail(t *testing.T) {
	log := "E1127 12:42:55.450863   25797 memcache.go:265] \"Unhandled Error\" err=\"refused\"\n"
	for text, want := range map[string]string{log + "no connection\r\n" + log: "no connection",
		log: strings.TrimSpace(log), " two\nlines\n": "two\nlines", "": ""} {
		var said tail
		said.Write([]byte(text))
		if got := said.text(); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// stranger has what says frames at a socket in place of a session, from its greeting on, and gives the socket's path.
func stranger(t *testing.T, says func(c *net.UnixConn, there *conn)) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		there := newConn(c, c)
		there.sendJSON(frameHello, Hello{Protocol: Protocol})
		says(c.(*net.UnixConn), there)
	}()
	return path
}

// TestDeaf: a session that hears nothing any more, since it is about to end, has ended in order when its end comes,
// whatever could not be sent to it before.
func TestDeaf(t *testing.T) {
	signals := make(chan os.Signal, 2)
	path := stranger(t, func(c *net.UnixConn, there *conn) {
		for kind, err := byte(0), error(nil); kind != frameRequest && err == nil; {
			kind, _, err = there.receive()
		}
		c.CloseRead()
		signals <- syscall.SIGTERM
		time.Sleep(200 * time.Millisecond)
		there.send(frameCounted, []byte("the last"))
		there.send(frameExit, []byte{7})
	})
	var out, errs bytes.Buffer
	var told []string
	status := Run(t.Context(), Options{Hosts: []Host{{Name: "a", Socket: path}}, Out: &out, Err: &errs,
		Signals: signals, Counted: func(_ int, b []byte) error { told = append(told, string(b)); return nil }})
	if status != 7 || errs.Len() > 0 || fmt.Sprint(told) != "[the last]" {
		t.Errorf("status %d, told %q\n%s", status, told, &errs)
	}
}
