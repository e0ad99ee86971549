package session

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/page/state"
)

// paged is a page at /token/, whose states are is's n-th.
func paged(t *testing.T, is func(n int64) *state.State) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/token/state" || !r.URL.Query().Has("keeps") {
			http.NotFound(w, r)
			return
		}
		json.NewEncoder(w).Encode(is(asked.Add(1)))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/token/", asked
}

// counting is a state that runs, or has ended, with a global n.
func counting(is string, now, n int64) *state.State {
	return &state.State{Name: "gostap_7", State: is, Now: now, Globals: []state.Global{{Name: "n", Of: 1,
		Rows: []state.Row{{Key: []string{}, Value: fmt.Sprint(n)}}}}}
}

// shown is what a status has for the page.
func shown(t *testing.T, st *api.Status) *state.State {
	t.Helper()
	s, err := state.Unpack(st.Page)
	if err != nil {
		t.Fatalf("%v of %d bytes", err, len(st.Page))
	}
	return s
}

// TestPage: the states of a session's page come into the status, the last one too; nothing is new while only time
// passes; where the page is comes into no message.
func TestPage(t *testing.T) {
	address, asked := paged(t, func(n int64) *state.State {
		switch n {
		case 1, 2, 3:
			return counting(state.Running, n, 5)
		case 4:
			return counting(state.Running, n, 6)
		}
		return counting(state.Ended, n, 7)
	})
	s, err := stub(t, `case "$*" in *" --http=127.0.0.1:0 "*) ;; *) exit 3;; esac
		echo '{"at":"2026-01-02T03:04:05Z","page":"`+address+`"}' >&2
		trap 'echo told; exit 0' INT; while :; do sleep 0.05; done`).Start(
		&api.Spec{Tool: "syscount", Page: true}, Where{Namespace: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	var st api.Status
	until := func(n int64) {
		t.Helper()
		for range 3000 {
			if s.Tell(&st); asked.Load() >= n {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("asked %d times: %+v", asked.Load(), st)
	}
	until(2)
	first := st.Page
	if got := shown(t, &st); got.Globals[0].Rows[0].Value != "5" || got.State != state.Running {
		t.Errorf("%+v", got)
	}
	until(3)
	if st.Page != first {
		t.Errorf("only time has passed, and there is something new: %+v", shown(t, &st))
	}
	until(5)
	if got := shown(t, &st); got.Now != 4 && got.Now != 5 {
		t.Errorf("%+v", got)
	}
	s.Stop()
	st = ended(t, s)
	if got := shown(t, &st); st.Phase != api.Done || got.Globals[0].Rows[0].Value != "7" || got.State != state.Ended {
		t.Errorf("%s %+v", st.Phase, got)
	}
	if b, _ := json.Marshal(&st); strings.Contains(string(b), "token") || asked.Load() != 5 {
		t.Errorf("asked %d times: %s", asked.Load(), b)
	}
}

// TestPageAway: a session goes on, and ends, whatever its page answers, and an address elsewhere is not asked.
func TestPageAway(t *testing.T) {
	bad, asked := paged(t, func(int64) *state.State { return counting("<b>", 1, 1) })
	for _, address := range []string{bad, "http://127.0.0.1:1/token/", "http://192.0.2.1/token/", "file:///etc/",
		"http://localhost:80/", strings.Replace(bad, "http://", "http://x@", 1), bad + "?x"} {
		s, err := stub(t, `echo '{"at":"2026-01-02T03:04:05Z","page":"`+address+`"}' >&2; sleep 0.2`).Start(
			&api.Spec{Tool: "syscount", Page: true}, Where{Namespace: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		if st := ended(t, s); st.Phase != api.Done || st.Page != "" || st.Message != "" {
			t.Errorf("%s: %+v", address, st)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	// A session that was not asked for a page has none.
	s, err := stub(t, `echo '{"at":"2026-01-02T03:04:05Z","page":"`+bad+`"}' >&2; echo "$*"`).Start(
		&api.Spec{Tool: "syscount"}, Where{Namespace: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if st := ended(t, s); st.Page != "" || strings.Contains(st.Result.Text, "--http") || asked.Load() != 1 {
		t.Errorf("%+v", st)
	}
}
