package wait

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/cmd/internal/remote/crowd"
	"github.com/gostap/gostap/cmd/internal/remote/ledger"
	"github.com/gostap/gostap/runtime/unixsocket"
)

// TestRun: what is wrong with a command line is told, and nothing waits.
func TestRun(t *testing.T) {
	for line, want := range map[string]string{
		"wait --metrics x":                "--metrics takes [HOST]:PORT",
		"wait --metrics=":                 "--metrics takes [HOST]:PORT",
		"wait --metrics 192.0.2.1:65535":  "--metrics 192.0.2.1:65535: ",
		"wait cart-0":                     `kube wait takes no "cart-0"`,
		"health --metrics :1":             "kube health: unknown flag: --metrics",
		"health x":                        `kube health takes no "x"`,
		"wait --help":                     "usage: gostap kube wait",
		"health -h":                       "usage: gostap kube wait",
		"wait --metrics 127.0.0.1:0 more": `kube wait takes no "more"`,
	} {
		args := strings.Fields(line)
		if !Is(args) {
			t.Errorf("%q is not ours", line)
		}
		var out bytes.Buffer
		status := Run(args, Streams{&out, &out}, nil, "1")
		if !strings.Contains(out.String(), want) || (status == 0) != strings.HasPrefix(want, "usage") {
			t.Errorf("%q: %d\n%s", line, status, out.String())
		}
	}
	if Is(nil) || Is([]string{"-n", "x", "wait"}) {
		t.Error("a pod is taken for a command")
	}
	if s := Socket([]string{"XDG_CACHE_HOME=/tmp"}); s != "/tmp/gostap-agent/agent.sock" || Socket(nil) != "" {
		t.Error(s)
	}
}

// TestDesk: a session is what reports, whatever it says later; more than there is room for are not taken.
func TestDesk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := unixsocket.Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{ledger: ledger.New("1", func() error { return nil }),
		waiting: crowd.Crowd[*net.UnixConn]{Most: mostWaiting}}
	over := make(chan struct{})
	go func() {
		d.serve(l)
		close(over)
	}()
	dial := func(says string) net.Conn {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, says)
		return c
	}
	is := func(want ...string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			w := httptest.NewRecorder()
			d.ledger.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
			missing := ""
			for _, m := range want {
				if !strings.Contains(w.Body.String(), "\ngostap_agent_"+m+"\n") {
					missing = m
				}
			}
			if missing == "" {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("no %s in\n%s", missing, w.Body)
			}
		}
	}
	runs := dial(`{"script":"a","pods":["1","2"]}` + "\n")
	defer runs.Close()
	for _, says := range []string{"", "x\n", "[]\n", "GET / HTTP/1.0\r\n\r\n"} {
		dial(says).Close()
	}
	dial(`{"script":"b"}` + "\n" + `{"script":"b","ended":true,"missing":3}` + "\n").Close()
	dial(`{"script":"c"}` + "\n" + `{"script":"c","ended":true,"status":1}` + "\n").Close()
	dial(`{"script":"d"}` + "\n" + `{"script":"d","ended":true,"lost":true,"status":1}` + "\n").Close()
	dial(`{"script":"e"}` + "\n").Close()
	dial(`{"script":"f"}` + "\n{{{{\n").Close()
	is("sessions 1", "pods 2", `sessions_total{result="ok"} 1`, `sessions_total{result="failed"} 1`,
		`sessions_total{result="abandoned"} 1`, `sessions_total{result="lost"} 2`, "session_lost_total 3")
	for i := 2; i <= mostSessions; i++ {
		defer dial(`{"script":"g"}` + "\n").Close()
		if i%(mostWaiting/2) == 0 || i == mostSessions { // not more at a time than are waited for
			is(fmt.Sprint("sessions ", i))
		}
	}
	late := dial(`{"script":"h"}` + "\n")
	defer late.Close()
	late.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := late.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("one too many: %v", err)
	}
	runs.Close()
	is(fmt.Sprint("sessions ", mostSessions-1), `sessions_total{result="lost"} 3`)
	l.Close()
	<-over
}
