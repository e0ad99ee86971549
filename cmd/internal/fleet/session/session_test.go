package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
)

// stub is a gostap that writes its arguments and does what a script says.
func stub(t *testing.T, does string) *Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gostap")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+does), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Config{Gostap: path, Kubectl: "/usr/bin:/bin", Env: []string{"KUBECONFIG=/some/where"}}
}

// ended waits until s has, and gives the last status.
func ended(t *testing.T, s *Session) (st api.Status) {
	t.Helper()
	for range 3000 {
		if s.Tell(&st) {
			return st
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it does not end: %+v", st)
	return st
}

var two = []Agent{{"agents", "agent-a", "node-a", []string{"1", "2"}}, {"agents", "agent-b", "node-b", []string{"3"}}}

func TestSession(t *testing.T) {
	for _, c := range []struct {
		name, does string
		phase      api.Phase
		message    string
		a, b       api.Node
	}{
		{"done", `echo 'agent-b: WARNING: 7 events lost because the output buffer was full' >&2
			echo 'agent-b: WARNING: 3 more warnings, with other texts' >&2; printf 'agent-a: x\n'`, api.Done, "",
			api.Node{Phase: api.Done}, api.Node{Phase: api.Done, Lost: 7, Messages: "WARNING: 7 events lost because"}},
		{"no session", `echo 'agent-a: error: no session: pods "agent-a" not found' >&2; exit 1`, api.Failed,
			"1 of 2 nodes failed", api.Node{Phase: api.Refused, Messages: "not found"}, api.Node{Phase: api.Done}},
		{"refused there", `for a in a b; do
			printf 'agent-%s: <input>:1:7: error: no match\nagent-%s:   ^~~\n' $a $a >&2; done
			exit 1`, api.Refused, "2 of 2", api.Node{Phase: api.Refused, Messages: "error: no match\n  ^~~\n"},
			api.Node{Phase: api.Refused}},
		{"lost", `echo 'agent-b: error: the connection was lost; the session there ends by itself' >&2; exit 1`,
			api.Failed,
			"1 of 2", api.Node{Phase: api.Done}, api.Node{Phase: api.Failed, Messages: "connection was lost"}},
		{"refused here", `printf '<input>:1:7: error: no match\n  ^~~' >&2; exit 1`,
			api.Refused, "error: no match\n  ^~~",
			api.Node{Phase: api.Refused}, api.Node{Phase: api.Refused}},
		{"killed", `kill -9 $$`, api.Failed, "gostap ended: signal: killed", api.Node{Phase: api.Failed},
			api.Node{Phase: api.Failed}},
	} {
		s, err := stub(t, c.does).Start(&api.Spec{Tool: "syscount"}, two)
		if err != nil {
			t.Fatal(err)
		}
		st := ended(t, s)
		if st.Phase != c.phase || !strings.Contains(st.Message, c.message) || len(st.Nodes) != 2 {
			t.Errorf("%s: %+v", c.name, st)
			continue
		}
		for i, want := range []api.Node{c.a, c.b} {
			n := st.Nodes[i]
			if n.Name != two[i].Node || int(n.Pods) != len(two[i].UIDs) || n.Phase != want.Phase ||
				n.Lost != want.Lost || !strings.Contains(n.Messages, want.Messages) {
				t.Errorf("%s: %+v", c.name, n)
			}
		}
	}
}

// TestLine: what gostap is started with, and that of what it prints the end is kept.
func TestLine(t *testing.T) {
	s, err := stub(t, `printf '%s ' "$@"; pwd; env | grep -c -e TOKEN -e KUBERNETES; echo $KUBECONFIG`).Start(&api.Spec{
		Tool: "syscount", Options: map[string]string{"top": "3"}, Limits: api.Limits{Seconds: 9, Bytes: 4000}}, two)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SOME_TOKEN", "x")
	want := "--color=never --remote-prefix --timeout=9 --merge --remote=kube://agents/agent-a?pods=1,2 " +
		"--remote=kube://agents/agent-b?pods=3 syscount --top=3 -- /\n0\n/some/where\n"
	if st := ended(t, s); st.Result.Text != want || st.Result.Left != 0 || int(st.Result.Bytes) != len(want) {
		t.Errorf("%+v", st.Result)
	}
	s, err = stub(t, `printf '\377abcdefgh'; printf 'ij'`).Start(&api.Spec{Script: "probe end {}", Separate: true,
		Limits: api.Limits{Bytes: 4}}, two)
	if err != nil {
		t.Fatal(err)
	}
	if st := ended(t, s); st.Result != (api.Result{Text: "ghij", Bytes: 11, Left: 7}) {
		t.Errorf("%+v", st.Result)
	}
}

// TestStop: a session that is asked to end does.
func TestStop(t *testing.T) {
	s, err := stub(t, `trap 'echo told; exit 0' INT; echo ready; while :; do sleep 0.05; done`).Start(
		&api.Spec{Tool: "syscount"}, two)
	if err != nil {
		t.Fatal(err)
	}
	var st api.Status
	for s.Tell(&st); st.Result.Text == ""; s.Tell(&st) {
		time.Sleep(10 * time.Millisecond)
	}
	if st.Phase != api.Running || st.Nodes[0].Phase != api.Running {
		t.Errorf("%+v", st)
	}
	s.Stop()
	s.Stop()
	if st := ended(t, s); st.Phase != api.Done || st.Result.Text != "ready\ntold\n" {
		t.Errorf("%+v", st)
	}
}

func TestTail(t *testing.T) {
	x := Tail{most: 10}
	for range 1000 {
		x.Write([]byte("abc"))
	}
	x.Write([]byte("12\xff4"))
	if text, total, left := x.Text(); text != "abcabc12\uFFFD4" || total != 3004 || left != 2994 || len(x.b) > 20 {
		t.Errorf("%q %d %d", text, total, left)
	}
}
