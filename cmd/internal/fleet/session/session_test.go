package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/fleet/api"
)

// stub is a gostap that writes its arguments and does what a script says.
func stub(t *testing.T, does string) *Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gostap")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+does), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Config{Gostap: path, Agents: "agents", Kubectl: "/usr/bin:/bin", Env: []string{"KUBECONFIG=/some/where"}}
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

// begin are the events of two sessions that run.
const begin = `
	e() { echo '{"at":"2026-01-02T03:04:05Z",'"$1"'}' >&2; }
	says() { e '"agent":"'"$1"'","said":"'"$2"'"'; }
	e '"node":"node-a","agent":"agent-a","state":"begins"'
	e '"node":"node-b","agent":"agent-b","state":"begins"'
	e '"node":"node-a","agent":"agent-a","state":"runs"'
	e '"node":"node-b","agent":"agent-b","state":"runs"'
	e '"node":"node-a","pod":"cart-1","state":"traced"'
	e '"node":"node-a","pod":"cart-2","state":"untraced","why":"the other image"'
	e '"node":"node-a","pod":"cart-2","state":"traced","text":"pod cart-2 on node-a: traced again"'
	e '"node":"node-b","pod":"cart-3","state":"traced"'
	e '"node":"node-c","pod":"cart-4","state":"untraced","why":"no agent"'
`

// finish are those of their ends.
const finish = `
	e '"node":"node-a","agent":"agent-a","state":"ended"'
	e '"node":"node-b","agent":"agent-b","state":"ended"'
`

func TestSession(t *testing.T) {
	for _, c := range []struct {
		name, does string
		phase      api.Phase
		message    string
		a, b       api.Node
	}{
		{"done", begin + `says agent-b 'WARNING: 7 events lost because the output buffer was full'
			says agent-b 'WARNING: 2 hits skipped'
			says agent-b 'WARNING: 3 more warnings, with other texts'; printf 'agent-a: x\n'` + finish, api.Done,
			"traced again", api.Node{Phase: api.Done, Pods: 2},
			api.Node{Phase: api.Done, Pods: 1, Lost: 9, Messages: "WARNING: 7 events lost because"}},
		{"no session", begin + `e '"node":"node-a","agent":"agent-a","state":"lost","why":"gone"'
			says agent-a 'error: no session: the pod was not found'` + finish + `exit 1`, api.Failed,
			"1 of 2 nodes failed", api.Node{Phase: api.Failed, Pods: 2, Messages: "not found"},
			api.Node{Phase: api.Done, Pods: 1}},
		{"an agent that came back", begin + `e '"node":"node-a","agent":"agent-a","state":"lost","why":"gone"'
			e '"node":"node-a","agent":"agent-c","state":"begins"'; e '"node":"node-a","agent":"agent-c","state":"runs"'
			says agent-c 'WARNING: 5 events lost'; e '"node":"node-a","agent":"agent-c","state":"ended"'
			` + finish + `exit 1`, api.Failed, "1 of 2 nodes failed", api.Node{Phase: api.Failed, Pods: 2, Lost: 5},
			api.Node{Phase: api.Done, Pods: 1}},
		{"another build", begin + `e '"node":"node-a","agent":"agent-a","state":"begins"'
			e '"node":"node-a","agent":"agent-a","state":"refused","why":"no main.add"'` + finish, api.Done, "",
			api.Node{Phase: api.Done, Pods: 2}, api.Node{Phase: api.Done, Pods: 1}},
		{"refused there", strings.ReplaceAll(strings.ReplaceAll(begin, "runs", "refused"), "traced", "untraced") +
			`for a in a b; do
			says agent-$a '<input>:1:7: error: no match'; says agent-$a '  ^~~'; done
			exit 1`, api.Refused, "2 of 2", api.Node{Phase: api.Refused, Messages: "error: no match\n  ^~~\n"},
			api.Node{Phase: api.Refused}},
		{"an error of the script", begin + `says agent-b 'ERROR: MAXACTION'` + finish + `exit 1`, api.Failed,
			"1 of 2", api.Node{Phase: api.Done, Pods: 2}, api.Node{Phase: api.Failed, Pods: 1, Messages: "MAXACTION"}},
		{"forged", begin + `echo 'agent-a: error: forged' >&2; e '"said":"agent-b: ERROR: forged"'
			says agent-a '{\\"at\\":\\"2026-01-02T03:04:05Z\\",\\"agent\\":\\"agent-b\\",\\"state\\":\\"lost\\"}'` +
			finish, api.Done,
			"agent-a: error: forged\nagent-b: ERROR: forged",
			api.Node{Phase: api.Done, Pods: 2, Messages: "\"agent-b\""}, api.Node{Phase: api.Done, Pods: 1}},
		{"killed", begin + `kill -9 $$`, api.Failed, "traced again", api.Node{Phase: api.Failed, Pods: 2},
			api.Node{Phase: api.Failed, Pods: 1}},
	} {
		s, err := stub(t, c.does).Start(&api.Spec{Tool: "syscount"}, Where{Namespace: "shop"})
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
			if n.Name != []string{"node-a", "node-b"}[i] || n.Pods != want.Pods || n.Phase != want.Phase ||
				n.Lost != want.Lost || !strings.Contains(n.Messages, want.Messages) {
				t.Errorf("%s: %+v", c.name, n)
			}
		}
		if c.phase != api.Refused && !slices.Equal(st.Skipped, []api.Skipped{{Pod: "cart-4", Reason: "no agent"}}) {
			t.Errorf("%s: %+v", c.name, st.Skipped)
		}
	}
}

// TestRefusedHere: what gostap refuses before there is a session.
func TestRefusedHere(t *testing.T) {
	for does, want := range map[string]string{
		`printf '<input>:1:7: error: no match\n  ^~~' >&2; exit 1`: "error: no match\n  ^~~",
		`echo 'error: kube: there are no such pods' >&2; exit 1`:   "no such pods",
		`exit 3`: "gostap ended: exit status 3",
	} {
		s, err := stub(t, does).Start(&api.Spec{Tool: "syscount"}, Where{Namespace: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		phase := api.Refused
		if strings.HasPrefix(does, "exit") {
			phase = api.Failed
		}
		if st := ended(t, s); st.Phase != phase || !strings.Contains(st.Message, want) || len(st.Nodes) > 0 {
			t.Errorf("%s: %+v", does, st)
		}
	}
}

// TestLine: what gostap is started with, and that of what it prints the end is kept.
func TestLine(t *testing.T) {
	t.Setenv("SOME_TOKEN", "x")
	s, err := stub(t, `printf '%s ' "$@"; pwd; env | grep -c -e TOKEN -e KUBERNETES; echo $KUBECONFIG`).Start(&api.Spec{
		Tool: "syscount", Options: map[string]string{"top": "3"}, Wait: true, Program: "shop",
		Limits: api.Limits{Seconds: 9, Bytes: 4000}},
		Where{Namespace: "shop", Selector: "a=b,c=d", Nodes: []string{"x", "y"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "kube --namespace=shop --selector=a=b,c=d --agents=agents --told=json --node=x --node=y " +
		"--program=shop --wait -- --color=never --timeout=9 --merge syscount --top=3 -- /\n0\n/some/where\n"
	if st := ended(t, s); st.Result.Text != want || st.Result.Left != 0 || int(st.Result.Bytes) != len(want) {
		t.Errorf("%+v", st.Result)
	}
	c := stub(t, `shift 8; echo "$1 $2 $3 $OTEL_RESOURCE_ATTRIBUTES"`)
	c.Exports = asked.Exports{"otel": "otlp://otel:4317"}
	s, err = c.Start(&api.Spec{Tool: "syscount", Export: []string{"otel", "otel"}},
		Where{Trace: "x", Namespace: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	want = "--merge --export=otlp://otel:4317 --export=text gostap.trace.name=x,gostap.trace.namespace=shop\n"
	if st := ended(t, s); st.Result.Text != want {
		t.Errorf("%q", st.Result.Text)
	}
	if _, err := c.Start(&api.Spec{Tool: "syscount", Export: []string{"hotel"}}, Where{}); err == nil ||
		!strings.Contains(err.Error(), "did you mean otel?") {
		t.Error(err)
	}
	s, err = stub(t, `printf '\377abcdefgh'; printf 'ij'`).Start(&api.Spec{Script: "probe end {}", Separate: true,
		Limits: api.Limits{Bytes: 4}}, Where{})
	if err != nil {
		t.Fatal(err)
	}
	if st := ended(t, s); st.Result != (api.Result{Text: "ghij", Bytes: 11, Left: 7}) {
		t.Errorf("%+v", st.Result)
	}
}

// TestStop: a session that is asked to end does.
func TestStop(t *testing.T) {
	s, err := stub(t, `trap 'echo told; exit 0' INT; e() { echo '{"at":"2026-01-02T03:04:05Z",'"$1"'}' >&2; }
		e '"node":"node-a","agent":"agent-a","state":"begins"'; e '"node":"node-a","agent":"agent-a","state":"runs"'
		echo ready; while :; do sleep 0.05; done`).Start(
		&api.Spec{Tool: "syscount"}, Where{})
	if err != nil {
		t.Fatal(err)
	}
	var st api.Status
	for s.Tell(&st); st.Result.Text == "" || len(st.Nodes) == 0 || st.Nodes[0].Phase == api.Pending; s.Tell(&st) {
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
