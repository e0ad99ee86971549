package remote

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/unixsocket"
)

// TestReports: what a teller writes is what is read, and a line that is none ends it.
func TestReports(t *testing.T) {
	var out bytes.Buffer
	tell := &teller{to: &out}
	var many []string
	for range 3000 {
		many = append(many, strings.Repeat("f", 33)+string(rune('a'+len(many)%26))+string(rune('a'+len(many)/26%26))+
			string(rune('a'+len(many)/676)))
	}
	tell.tell(func(r *Report) { r.Script, r.Pods = strings.Repeat("\x01", 200), pods(many) })
	tell.tell(func(r *Report) {
		r.Pods = pods(podArgs([]string{"--x", "--pod=a/1", "--pod=a/2", "--pod=b", "--", "--pod=c"}))
	})
	tell.tell(func(r *Report) { r.Missing, r.Ended, r.Status = 7, true, 3 })
	text := out.String()
	var got []Report
	if err := ReadReports(&out, func(r Report) { got = append(got, r) }); err != nil || len(got) != 3 {
		t.Fatalf("%v, %d", err, len(got))
	}
	if len(got[0].Pods) != mostPods || !slices.Equal(got[1].Pods, []string{"a", "b"}) || got[2].Missing != 7 ||
		!got[2].Ended || got[2].Status != 3 || got[2].Script != got[0].Script {
		t.Errorf("%+v", got[1:])
	}
	for _, bad := range []string{"x\n", "[1]\n", `{"status":"0"}` + "\n", `{"missing":-1}`,
		strings.Repeat(" ", mostReport+1)} {
		n := 0
		err := ReadReports(strings.NewReader(text+bad), func(Report) { n++ })
		if err == nil || n != 3 {
			t.Errorf("%.20q: %v, %d", bad, err, n)
		}
	}
	(*teller)(nil).tell(nil) // nobody is told
}

// TestServeReports: an agent hears what a session runs, which pods it has then and later, and how it ended.
func TestServeReports(t *testing.T) {
	a, b := net.Pipe()
	var out bytes.Buffer
	served := make(chan int)
	go func() {
		served <- serveFor(&teller{to: &out}, b, b, "test", func(s Session) int {
			<-s.Sets
			s.Missing(5)
			return 3
		})
	}()
	c := newConn(a, a)
	for kind := byte(0); kind != frameExit; {
		var err error
		if kind, _, err = c.receive(); err != nil {
			t.Fatal(err)
		}
		if kind != frameHello {
			continue
		}
		if err := c.sendJSON(frameRequest, Request{Name: "s.stp", Args: []string{"--pod=a", "--pod=b/1"}}); err != nil {
			t.Fatal(err)
		}
		if err := c.sendJSON(framePods, []Pod{{UID: "b", Runs: true}, {UID: "c", Runs: true}, {UID: "d"}}); err != nil {
			t.Fatal(err)
		}
	}
	<-served
	var got []Report
	if err := ReadReports(&out, func(r Report) { got = append(got, r) }); err != nil || len(got) < 3 {
		t.Fatalf("%v: %+v", err, got)
	}
	last := got[len(got)-1]
	if !slices.Equal(got[0].Pods, []string{"a", "b"}) || got[0].Script != "s.stp" || got[0].Ended || !last.Ended ||
		last.Missing != 5 || last.Status != 3 || last.Lost || !slices.ContainsFunc(got, func(r Report) bool {
		return slices.Equal(r.Pods, []string{"b", "c"})
	}) {
		t.Errorf("%+v", got)
	}
}

// TestTeller: an agent that is not there, takes nothing, goes away or begins late is not waited for.
func TestTeller(t *testing.T) {
	began := time.Now()
	(&teller{}).tell(func(*Report) {})
	path := filepath.Join(t.TempDir(), "agent.sock")
	gone := &teller{socket: path}
	gone.tell(func(*Report) {})
	l, err := unixsocket.Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if gone.tell(func(*Report) {}); gone.to != nil {
		t.Error("it began late, and is told")
	}
	// It accepts nobody: what is told stays with the kernel, until that has enough.
	deaf := &teller{socket: path}
	for range 10000 {
		deaf.tell(func(r *Report) { r.Script = strings.Repeat("x", 200) })
	}
	if !deaf.mute {
		t.Error("it was waited for")
	}
	left := &teller{socket: path}
	left.tell(func(r *Report) { r.Script = "a" })
	var conns []net.Conn
	for range 2 {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		c.Close()
	}
	left.tell(func(*Report) {})
	if left.tell(func(*Report) {}); !left.mute {
		t.Error("it is still told")
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("%v", took)
	}
}

// FuzzReports: whatever bytes come, reading ends, and what is a report can be written as one line.
func FuzzReports(f *testing.F) {
	for _, s := range []string{"", "{}\n", `{"script":"a","pods":["b"],"ended":true,"status":-1}` + "\n{", "null\nnull",
		`{"missing":18446744073709551615}` + "\n", "\x00\xff\n", `{"script":"` + "\xff\\ud800" + `"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		n := 0
		err := ReadReports(r, func(r Report) {
			n++
			line, err := json.Marshal(r)
			if err != nil || bytes.IndexByte(line, '\n') >= 0 {
				t.Errorf("%+v: %v", r, err)
			}
		})
		if rest, _ := io.ReadAll(r); err == nil && len(rest) > 0 || n > bytes.Count(b, []byte("\n"))+1 {
			t.Errorf("%d reports, %v, %d bytes left", n, err, len(rest))
		}
	})
}
