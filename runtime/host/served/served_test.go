package served

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolders: a name belongs to one session at a time, and what a killed one has left goes away.
func TestFolders(t *testing.T) {
	root := filepath.Join(t.TempDir(), "all")
	a, err := claim(root, "a", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := claim(root, "a", true); err == nil || !strings.Contains(err.Error(), "named a serves files already") {
		t.Errorf("the name of a session that lives: %v", err)
	}
	b, err := claim(root, "a", false)
	if err != nil || b.path != a.path+"_2" {
		t.Fatalf("a name that was made up: %v %v", b, err)
	}
	for _, name := range []string{"", "../x", "x/y", ".lock", "..", "x\x00"} {
		if _, err := claim(root, name, true); err == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
	if gone := sweep(root); gone != nil {
		t.Errorf("sessions that live: %v were removed", gone)
	}
	a.lock.Close() // as the kernel does for a process that is killed
	if err := os.Mkdir(filepath.Join(root, "half"), 0o755); err != nil {
		t.Fatal(err)
	}
	if gone := fmt.Sprint(sweep(root)); gone != fmt.Sprint([]string{a.path, root + "/half"}) {
		t.Errorf("removed: %s", gone)
	}
	if a, err = claim(root, "a", true); err != nil {
		t.Errorf("the name of a killed session: %v", err)
	}
	a.remove()
	b.remove()
	if left, _ := filepath.Glob(root + "/[^.]*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestMay: permissions are those that the kernel would give a process at a file.
func TestMay(t *testing.T) {
	root, owner := Peer{Known: true}, Peer{Known: true, Uid: 5, Gid: 7}
	member := Peer{Known: true, Uid: 6, Gid: 8, groups: []uint32{3, 9}}
	other, nobody := Peer{Known: true, Uid: 6, Gid: 8}, Peer{}
	for _, c := range []struct {
		p    Peer
		mode uint32
		want string
	}{
		{root, 0, "rw"}, {owner, 0o600, "rw"}, {owner, 0o066, ""}, {owner, 0o400, "r"},
		{member, 0o640, "r"}, {member, 0o626, "w"}, {member, 0o606, ""},
		{other, 0o604, "r"}, {other, 0o660, ""}, {nobody, 0o600, ""}, {nobody, 0o002, "w"},
	} {
		got := ""
		if c.p.may(c.mode, reading, 5, 9) {
			got = "r"
		}
		if c.p.may(c.mode, writing, 5, 9) {
			got += "w"
		}
		if got != c.want {
			t.Errorf("%+v at %o: %q, not %q", c.p, c.mode, got, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for in, want := range map[string]string{"9100": "127.0.0.1 9100", ":0": "127.0.0.1 0", "0.0.0.0:80": "0.0.0.0 80",
		"[::1]:80": "::1 80", "host:http": "host http", "": "-", ":": "-", "x": "-", "a:b:c": "-", "host:": "-",
		"1.2.3.4": "-", "99999": "-", "-1": "-"} {
		host, port, err := Split(in)
		got := host + " " + port
		if err != nil {
			got = "-"
		}
		if got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

// TestRequests: what is asked reaches the handlers, in pieces that they take, and nothing else does.
func TestRequests(t *testing.T) {
	var seen []string
	s := &Server{cfg: Config{Piece: 4, Files: []File{{Path: "both", Mode: 0o666, Reads: true, Writes: true},
		{Path: "mine", Mode: 0o600, Reads: true, Writes: true}, {Path: "in", Mode: 0o222, Writes: true},
		{Path: "prometheus", Mode: 0o444, Reads: true}, {Path: "a/b c.json", Mode: 0o444, Reads: true}},
		Run: func(q *Request) (string, error) {
			seen = append(seen, fmt.Sprintf("%d%q", q.File, q.Text))
			switch q.Text {
			case "over":
				return "", ErrEnded
			case "bad":
				return "", ErrBroken
			}
			return fmt.Sprintf("text of %d", q.File), nil
		}}}
	unknown, root, other := Peer{}, Peer{Known: true}, Peer{Known: true, Uid: 1 << 20, Gid: 1 << 20}
	for _, c := range []struct {
		method, path, body, header string
		peer                       Peer
		status                     int
		want, asked                string
	}{
		{"GET", "/both", "", "", root, 200, "text of 0", `[0""]`},
		{"GET", "/metrics", "", "", unknown, 200, "text of 3", `[3""]`},
		{"GET", "/a/b%20c.json", "", "", other, 200, "text of 4", `[4""]`},
		{"GET", "/mine", "", "", unknown, 200, "text of 1", `[1""]`}, // who asked for the address shows all
		{"GET", "/mine", "", "", other, 403, "mask", `[]`},
		{"GET", "/in", "", "", root, 405, `procfs("in").read`, `[]`},
		{"GET", "/none", "", "", root, 404, "no file none", `[]`},
		{"GET", "/../both", "", "", root, 404, "no file", `[]`},
		{"GET", "/", "", "", other, 200, "-rw-rw-rw- both\n-rw------- mine\n", `[]`},
		{"PUT", "/in", "abcdefghi", "", other, 204, "", `[2"abcd" 2"efgh" 2"i"]`},
		{"POST", "/both", "", "", unknown, 204, "", `[0""]`},
		{"PUT", "/mine", "x", "", unknown, 403, "mask", `[]`},
		{"PUT", "/mine", "x", "", root, 204, "", `[1"x"]`},
		{"PUT", "/prometheus", "x", "", root, 405, `procfs("prometheus").write`, `[]`},
		{"PUT", "/both", "bad", "", root, 500, "did not come to its end", `[0"bad"]`},
		{"PUT", "/both", "aaaaover", "", root, 503, "ended", `[0"aaaa" 0"over"]`},
		{"PUT", "/both", strings.Repeat("x", mostWritten+1), "", root, 413, "at most", `[]`},
		{"DELETE", "/both", "", "", root, 405, "GET reads", `[]`},
		{"POST", "/both", "x", "Origin", unknown, 403, "browser", `[]`},
		{"GET", "/both", "", "Host", unknown, 403, "by the name evil.example", `[]`},
	} {
		seen = []string{}
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Host = "localhost:9"
		switch c.header {
		case "Host":
			r.Host = "evil.example:9"
		case "Origin":
			r.Header.Set(c.header, "http://evil.example")
		}
		ctx := context.WithValue(r.Context(), peerKey{}, c.peer)
		r = r.WithContext(context.WithValue(ctx, http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code != c.status || !strings.Contains(body, c.want) || fmt.Sprint(seen) != c.asked {
			t.Errorf("%s %s: %d %q, handlers %v", c.method, c.path, w.Code, body, seen)
		}
	}
}

// TestPeer: who connects to a socket is known, and the answer to who asks at the end gets through.
func TestPeer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	asked := make(chan Peer, 1)
	s := &Server{cfg: Config{Files: []File{{Path: "f", Mode: 0o400, Reads: true}}}}
	s.cfg.Run = func(q *Request) (string, error) {
		asked <- q.Peer
		return "text", nil
	}
	if err := s.listenAt(path, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Serve()
	c := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", path)
	}}}
	r, err := c.Get("http://x/f")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	r.Body.Close()
	if p := <-asked; err != nil || string(text) != "text" || !p.Known || p.Pid != os.Getpid() || p.Uid != os.Getuid() ||
		p.Gid != os.Getgid() {
		t.Errorf("%+v %q %v", p, text, err)
	}
	s.Close()
	if _, err := c.Get("http://x/f"); err == nil {
		t.Error("it answers after its end")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is there after the end")
	}
}
