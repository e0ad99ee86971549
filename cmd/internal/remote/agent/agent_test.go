package agent

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/cmd/internal/remote/ledger"
)

// TestLog: what others say comes into one line, and of many refusals the first are told.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	l := &log{to: &out}
	l.line("session 1: ann runs a\nsession 2: \x1b[31mb")
	if text := out.String(); strings.Count(text, "\n") != 1 || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
	out.Reset()
	for i := range 1000 {
		l.refused("10.0.0.1:1", fmt.Sprint("reason ", i))
	}
	if n := strings.Count(out.String(), "refused: 10.0.0.1:1: reason "); n != mostRefusals || l.left != 1000-n {
		t.Errorf("%d, %d left", n, l.left)
	}
	l.since = l.since.Add(-2 * 60e9)
	out.Reset()
	l.refused("", "again")
	if got := out.String(); got != "refused: 970 more\nrefused: a connection: again\n" {
		t.Errorf("%q", got)
	}
}

func TestOutcome(t *testing.T) {
	killed := exec.Command("sh", "-c", "kill -9 $$").Run()
	failed := exec.Command("false").Run()
	for _, c := range []struct {
		r    remote.Report
		err  error
		want string
	}{
		{remote.Report{Script: "x", Ended: true}, nil, "ended with status 0"},
		{remote.Report{Script: "x", Ended: true, Status: 3}, failed, "ended with status 3"},
		{remote.Report{Script: "x", Ended: true, Lost: true, Status: 1}, failed, "its client went away; it ended"},
		{remote.Report{Script: "x"}, killed, "its process was ended by a signal (signal: killed)"},
		{remote.Report{}, failed, "ended with status 1"},
		{remote.Report{}, nil, "ended"},
	} {
		if got := outcome(c.r, c.err); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestNote: what becomes of sessions of the directory, for the metrics.
func TestNote(t *testing.T) {
	a := &agent{ledger: ledger.New("test", func() error { return nil })}
	a.note()(nil, 3)
	a.note()(exec.Command("false").Run(), 0)
	a.note()(exec.Command("sh", "-c", "kill -9 $$").Run(), 4)
	w := httptest.NewRecorder()
	a.ledger.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{`total{result="ok"} 1`, `total{result="failed"} 1`, `total{result="lost"} 1`,
		"session_lost_total 7", "agent_sessions 0"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in\n%s", want, w.Body)
		}
	}
}
