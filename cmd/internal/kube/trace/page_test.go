package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gostap/gostap/cmd/internal/page/state"
)

// cluster is a kubectl that gives what is in the files trace (get) and events (get --watch, which follows it), says
// that there is no such Trace where a file gone is, and nothing but an error where a file away is. What is made is in
// created.
type cluster struct {
	t   *testing.T
	dir string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t, t.TempDir()}
	c.write("kubectl", `#!/bin/sh
cd `+c.dir+`
[ -e away ] && { echo 'E1128 22:27:56.574858 memcache.go:265] Unhandled Error' >&2; echo 'Unable to connect to the server: connection refused' >&2; exit 1; }
case "$*" in
create*) cat > created; echo '{"kind":"Trace","metadata":{"name":"x","namespace":"shop"}}';;
delete*) echo "$*" > deleted;;
*--watch*) [ -e gone ] && { echo 'Error from server (NotFound): traces.gostap.dev "x" not found' >&2; exit 1; }
	echo $$ > pid; exec tail -n +1 -f events;;
get*) [ -e trace ] || { echo 'Error from server (NotFound): traces.gostap.dev "x" not found' >&2; exit 1; }
	cat trace;;
esac
`)
	if err := os.Chmod(filepath.Join(c.dir, "kubectl"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write("events", "")
	t.Setenv("PATH", c.dir+":"+os.Getenv("PATH"))
	return c
}

func (c *cluster) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// has is a Trace, with more of its spec and of its status.
func has(spec, status string) string {
	return `{"kind":"Trace","metadata":{"name":"x","uid":"1","namespace":"shop"},"spec":{` + spec + `},"status":{` +
		status + `}}`
}

// tell has the watch tell of a Trace; what is told of later is all that a new one begins with.
func (c *cluster) tell(kind, trace string) {
	c.t.Helper()
	f, err := os.OpenFile(filepath.Join(c.dir, "events"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "{\"type\":%q,\"object\":%s}\n", kind, trace)
}

// away ends the watch, and has nothing answer any more.
func (c *cluster) away() {
	c.t.Helper()
	c.write("away", "")
	b, err := os.ReadFile(filepath.Join(c.dir, "pid"))
	if err != nil {
		c.t.Fatal(err)
	}
	var pid int
	fmt.Sscan(string(b), &pid)
	if p, err := os.FindProcess(pid); err != nil || p.Kill() != nil {
		c.t.Error("the watch had ended")
	}
}

// counted is a status with a page that has a global n and lines up to one.
func counted(phase string, n, line int) string {
	s := &state.State{Name: "gostap_7", State: state.Running, Now: int64(n), Last: uint64(line)}
	s.Globals = []state.Global{{Name: "n", Of: 1, Rows: []state.Row{{Key: []string{}, Value: fmt.Sprint(n)}}}}
	for i := max(1, line-2); i <= line; i++ {
		s.Lines = append(s.Lines, state.Line{Number: uint64(i), Text: fmt.Sprint("line ", i)})
	}
	text, err := state.Pack(s, 1<<20)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`"phase":%q,"page":%q`, phase, text)
}

// stream is what is written by one and read by another.
type stream struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// shows is a command that shows a Trace, and what a browser that looks at it sees.
type shows struct {
	t        *testing.T
	out, err stream
	end      context.CancelFunc
	status   chan int
	url      string
	last     uint64
	lines    []string
}

func show(t *testing.T, args ...string) *shows {
	t.Helper()
	s := &shows{t: t, status: make(chan int, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	s.end = cancel
	t.Cleanup(cancel)
	go func() { s.status <- Run(ctx, args, Streams{&s.out, &s.err}) }()
	s.until("an address", func() bool {
		if m := regexp.MustCompile(`(?m)^the trace is at (http://\S+/)`).FindStringSubmatch(s.err.String()); m != nil {
			s.url = m[1]
		}
		return s.url != ""
	})
	return s
}

func (s *shows) until(what string, is func() bool) {
	s.t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("not %s: %s%s", what, s.out.String(), s.err.String())
}

// now looks until the page is as is said.
func (s *shows) now(what string, is func(*state.State) bool) *state.State {
	s.t.Helper()
	var now state.State
	s.until(what, func() bool {
		r, err := http.Get(fmt.Sprintf("%sstate?since=%d", s.url, s.last))
		if err != nil {
			s.t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		now = state.State{}
		if err != nil || json.Unmarshal(b, &now) != nil {
			s.t.Fatalf("%v: %s", err, b)
		}
		for _, l := range now.Lines {
			s.lines = append(s.lines, l.Text)
		}
		s.last = now.Last
		return is(&now)
	})
	return &now
}

func global(want string) func(*state.State) bool {
	return func(s *state.State) bool { return len(s.Globals) == 1 && s.Globals[0].Rows[0].Value == want }
}

func notes(text string) func(*state.State) bool {
	return func(s *state.State) bool { return strings.Contains(s.Far.Note, text) }
}

// TestPage: a Trace is shown from before its beginning to behind its end, over a time in which the cluster is away and
// over bytes that are none; no line comes twice, and nobody can end it from there.
func TestPage(t *testing.T) {
	c := newCluster(t)
	const spec = `"page":true`
	c.write("trace", has(spec, `"phase":"Pending","message":"begins at 2026-12-01T02:00:00Z"`))
	s := show(t, "page", "-n", "shop", "x", "--http=0")
	s.now("pending", func(s *state.State) bool {
		return s.State == state.Pending && s.Name == "x" && s.Far.Note == "it begins at 2026-12-01T02:00:00Z"
	})
	c.tell("MODIFIED", has(spec, `"phase":"Running"`))
	s.now("nothing yet", notes("nothing has come of it yet"))
	c.tell("MODIFIED", has(spec, counted("Running", 5, 3)))
	if now := s.now("5", global("5")); now.State != state.Running || now.Far.Stops || now.Far.Note != "" {
		t.Errorf("%+v %+v", now, now.Far)
	}
	c.tell("MODIFIED", has(spec, counted("Running", 6, 4)))
	s.now("6", global("6"))
	c.tell("MODIFIED", has(spec, `"phase":"Running","page":"AAAA"`))
	s.now("unreadable", notes("cannot be read: unexpected EOF"))
	c.tell("MODIFIED", has(spec, counted("Running", 7, 8)))
	s.now("7", global("7"))

	c.away()
	if now := s.now("away", notes("since then the cluster does not answer (Unable to connect")); now.State !=
		state.Running || !global("7")(now) || now.Far.Clock != 0 {
		t.Errorf("%+v", now)
	}
	c.write("events", "")
	c.tell("ADDED", has(spec, counted("Running", 8, 9)))
	os.Remove(filepath.Join(c.dir, "away"))
	if now := s.now("8", global("8")); now.Far.Note != "" {
		t.Errorf("%+v", now.Far)
	}
	if r, err := http.Post(s.url+"stop", "", nil); err != nil || r.StatusCode != http.StatusConflict {
		t.Errorf("%+v %v", r, err)
	}
	c.tell("MODIFIED", has(spec, `"message":"1 of 2 nodes failed","totals":{"lost":3},`+counted("Failed", 9, 10)))
	if now := s.now("9", global("9")); now.State != state.Ended ||
		now.Error != "the trace is failed: 1 of 2 nodes failed" || now.Far.Note != "3 are missing in the result" {
		t.Errorf("%+v %+v", now, now.Far)
	}
	want := "line 1,line 2,line 3,line 4,line 6,line 7,line 8,line 9,line 10"
	if got := strings.Join(s.lines, ","); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	s.last = 0
	if now := s.now("still there", global("9")); len(now.Lines) != 9 {
		t.Errorf("%+v", now)
	}
	s.end()
	if status := <-s.status; status != 0 || s.out.String() != "" {
		t.Errorf("status %d: %s", status, s.out.String())
	}
}

// TestPageEnds: how the page of one begins that has finished, was refused, or is deleted meanwhile.
func TestPageEnds(t *testing.T) {
	for _, x := range []struct {
		name, status, then string
		is, err, note      string
	}{
		{"done", counted("Done", 5, 3), "", state.Ended, "", ""},
		{"refused", `"phase":"Refused","message":"no <b>pods</b>\n"`, "", state.Refused, "no <b>pods</b>", ""},
		{"done without", `"phase":"Done"`, "", state.Ended, "", "nothing has come of it for this page"},
		{"new", ``, "", state.Pending, "", "has not begun it yet"},
		{"another of its name", counted("Running", 5, 3), "MODIFIED", state.Gone, "the trace was deleted", ""},
		{"deleted", counted("Running", 5, 3), "DELETED", state.Gone, "the trace was deleted", ""},
		{"not found", counted("Running", 5, 3), "gone", state.Gone, "the trace was deleted", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := newCluster(t)
			c.write("trace", has(`"page":true`, x.status))
			if x.then == "gone" {
				c.write("gone", "")
			} else if x.then != "" {
				trace := has(`"page":true`, x.status)
				if x.then == "MODIFIED" {
					trace = strings.Replace(trace, `"uid":"1"`, `"uid":"2"`, 1)
				}
				c.tell(x.then, trace)
			}
			s := show(t, "page", "x")
			now := s.now(x.is, func(s *state.State) bool { return s.State == x.is })
			if now.Error != x.err || !strings.Contains(now.Far.Note, x.note) || (now.Far.Note == "") != (x.note == "") {
				t.Errorf("%q %q", now.Error, now.Far.Note)
			}
			s.end()
			if status := <-s.status; status != 0 {
				t.Errorf("status %d", status)
			}
		})
	}
}

// TestPageBad: of what cannot be read little is repeated.
func TestPageBad(t *testing.T) {
	for _, text := range []string{`{"state":"running","now":1` + strings.Repeat("1", 1<<20) + `}`,
		`{"state":"` + strings.Repeat("<", 1<<20) + `"}`} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, text)
		z.Close()
		v, r := newView("x", false), &resource{}
		r.Spec.Page, r.Status.Phase, r.Status.Page = true, "Running", base64.StdEncoding.EncodeToString(b.Bytes())
		if v.take(r); !strings.Contains(v.bad, "cannot be read: ") || len(v.bad) > 1000 {
			t.Errorf("%d bytes: %.100s", len(v.bad), v.bad)
		}
	}
}

// TestRunPage: run --http prints what it prints without, and its page's button ends the Trace.
func TestRunPage(t *testing.T) {
	c := newCluster(t)
	s := show(t, "run", "-l", "a=b", "--http", "0", "syscount")
	b, err := os.ReadFile(filepath.Join(c.dir, "created"))
	if err != nil || !strings.Contains(string(b), `"page":true`) {
		t.Errorf("%v: %s", err, b)
	}
	c.tell("ADDED", has(`"page":true`, `"result":{"text":"one\n","bytes":4},`+counted("Running", 5, 1)))
	if now := s.now("5", global("5")); !now.Far.Stops {
		t.Errorf("%+v", now.Far)
	}
	if r, err := http.Post(s.url+"stop", "", nil); err != nil || r.StatusCode != http.StatusNoContent {
		t.Errorf("%+v %v", r, err)
	}
	s.until("deleted", func() bool {
		_, err := os.Stat(filepath.Join(c.dir, "deleted"))
		return err == nil
	})
	c.tell("MODIFIED", has(`"page":true`, `"result":{"text":"one\ntwo\n","bytes":8},`+counted("Done", 6, 2)))
	if now := s.now("the end", func(s *state.State) bool { return s.State == state.Ended }); !global("6")(now) ||
		now.Far.Stops {
		t.Errorf("%+v", now)
	}
	if status := <-s.status; status != 0 || s.out.String() != "one\ntwo\n" ||
		!strings.Contains(s.err.String(), "trace x in shop; Ctrl-C ends it\n") {
		t.Errorf("status %d: %s%s", status, s.out.String(), s.err.String())
	}
}

// TestNoPage: what is wrong is told before anything is made, with what helps.
func TestNoPage(t *testing.T) {
	c := newCluster(t)
	c.write("trace", has(`"tool":"syscount"`, `"phase":"Running"`))
	for _, c := range [][2]string{
		{"page x", "the Trace x has no page: its spec.page is not true\n  hint: gostap kube run --page makes"},
		{"page", "page takes the name of a Trace\n  hint: gostap kube list"},
		{"page x y", "page takes the name of a Trace"},
		{"page x --http", "--http needs a value"},
		{"page x --http=", "--http needs a value"},
		{"page x --http no", `--http takes PORT or HOST:PORT, not "no"` + "\n  hint: --http 0 takes a free port"},
		{"page x -f", "no option -f here"},
		{"run -l a=b x --http", "--http needs a value"},
		{"run -l a=b errsnoop --http 0 --detach",
			"--detach leaves it to itself\n  hint: with --page gostap kube page"},
		{"run -l a=b errsnoop --http 0 --separate", "with --separate there is none"},
		{"run -l a=b errsnoop --page --in-order", "does not go with --in-order"},
		{"run -l a=b errsnoop --export x --page", "does not go with --export"},
		{"run -l a=b errsnoop --http 192.0.2.1:80", "cannot assign requested address"},
		{"profile -l a=b --http 0", "profile takes no --http"},
		{"profile -l a=b --page", "profile takes no --page"},
	} {
		args, want := c[0], c[1]

		var out, errw strings.Builder
		if status := Run(t.Context(), strings.Fields(args), Streams{&out, &errw}); status != 1 ||
			!strings.Contains(errw.String(), want) {
			t.Errorf("%s: status %d: %s", args, status, errw.String())
		}
	}
	if _, err := os.Stat(filepath.Join(c.dir, "created")); err == nil {
		t.Error("something was made")
	}
}
