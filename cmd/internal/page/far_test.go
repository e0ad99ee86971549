package page

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/gostap/gostap/cmd/internal/page/state"
)

// told is a state with the lines from one to another.
func told(is string, from, to uint64) *state.State {
	s := &state.State{Name: "gostap_1", State: is, Now: int64(to) + 1, Began: 1, Last: to, Probes: []state.Probe{},
		Globals: []state.Global{{Name: "n", Rows: []state.Row{{Key: []string{}, Value: fmt.Sprint(to)}}}}}
	for n := from; n <= to; n++ {
		s.Lines = append(s.Lines, state.Line{Number: n, Text: fmt.Sprint(n)})
	}
	return s
}

// TestFarLines: whatever lines states have in common or have not, and however often is asked, none comes twice, all
// come in order, and what is missing can be told by their numbers.
func TestFarLines(t *testing.T) {
	f := NewFar("calls", false)
	rnd := rand.New(rand.NewPCG(3, 4))
	sent, got := map[uint64]bool{}, []uint64{}
	var since, last uint64
	for range 400 {
		last += rnd.Uint64N(30)
		from := last - min(last, rnd.Uint64N(60))
		if rnd.IntN(5) == 0 {
			from = last + 1 // there was no room for lines
		}
		s := told(state.Running, max(from, 1), last)
		for _, l := range s.Lines {
			sent[l.Number] = true
		}
		f.Take(s)
		for range rnd.IntN(3) {
			now := f.state(since, shownLines, false)
			for _, l := range now.Lines {
				got = append(got, l.Number)
			}
			if since = now.Last; now.Name != "calls" || now.State != state.Running {
				t.Fatalf("%+v", now)
			}
		}
	}
	f.Take(told(state.Ended, last+3, last+4))
	for _, l := range f.state(since, shownLines, false).Lines {
		got = append(got, l.Number)
	}
	seen := map[uint64]bool{}
	for i, n := range got {
		if seen[n] || !sent[n] && n <= last || i > 0 && n <= got[i-1] {
			t.Fatalf("%d comes after %d", n, got[i-1])
		}
		seen[n] = true
	}
	missing := 0
	for n := range sent {
		if !seen[n] {
			missing++
		}
	}
	// A line that comes in a state behind one with later lines is left out.
	if missing > len(sent)/10 || !seen[last+4] {
		t.Errorf("%d of %d lines did not come", missing, len(sent))
	}
	for n := uint64(1); n < 100000; n += 500 {
		f.Take(told(state.Running, last+n, last+n+499))
	}
	if all := f.state(0, keptLines, false).Lines; len(all) != keptLines || cap(f.lines) > 8*keptLines {
		t.Errorf("%d lines are kept, in %d", len(all), cap(f.lines))
	}
}

// TestFarState: that it is over is said once all is known, and then it stays so; what is old has no clock.
func TestFarState(t *testing.T) {
	f := NewFar("calls", true)
	if s := f.state(0, 10, false); s.State != state.Starting || s.Lines == nil || !s.Far.Stops || s.Last != 0 {
		t.Errorf("%+v", s)
	}
	f.Take(told(state.Ended, 1, 2))
	f.Tell(state.Running, "", "", false)
	if s := f.state(0, 10, false); s.State != state.Running || s.Far.Clock < s.Now || !s.Far.Stops {
		t.Errorf("%+v", s)
	}
	f.Tell("", "", "it is old", true)
	if s := f.state(0, 10, false); s.State != state.Running || s.Far.Clock != 0 || s.Far.Note != "it is old" {
		t.Errorf("%+v", s.Far)
	}
	f.Tell(state.Ended, "one of two", "", false)
	f.Take(told(state.Running, 1, 3))
	if s := f.state(0, 10, false); s.State != state.Ended || s.Error != "one of two" || s.Far.Stops || s.Last != 3 {
		t.Errorf("%+v", s)
	}
}

// TestFarPage: the page of such a session answers who has the token, and none of its buttons do anything but stop
// where there is one.
func TestFarPage(t *testing.T) {
	for _, stops := range []bool{true, false} {
		p := listen(t, "0")
		f := NewFar("calls", stops)
		f.Take(told(state.Running, 1, 3))
		shown, over := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(shown)
			p.Show(t.Context(), f, func(ctx context.Context) {
				if !stops {
					<-over
				} else {
					<-ctx.Done()
				}
				f.Tell(state.Ended, "", "", false)
				f.state(0, 1, false) // somebody has seen it
			})
		}()
		r, err := http.Get(p.URL() + "state?since=2")
		if err != nil {
			t.Fatal(err)
		}
		var s state.State
		err = json.NewDecoder(r.Body).Decode(&s)
		if r.Body.Close(); err != nil || len(s.Lines) != 1 || s.Lines[0].Text != "3" ||
			s.Globals[0].Rows[0].Value != "3" {
			t.Errorf("%+v %v", s, err)
		}
		if r, err := http.Get(strings.Replace(p.URL(), p.token, p.token[1:], 1) + "state"); err != nil ||
			r.StatusCode != http.StatusForbidden {
			t.Errorf("%v %v", r, err)
		}
		for path, want := range map[string]int{"reset": 409, "on": 409, "off?probe=0": 409} {
			if got := ask(p, "POST", path, nil).StatusCode; got != want {
				t.Errorf("%s: %d", path, got)
			}
		}
		b, _ := io.ReadAll(ask(p, "GET", "download", nil).Body)
		if !strings.Contains(string(b), `"text":"1"`) {
			t.Errorf("%s", b)
		}
		want := 409
		if stops {
			want = 204
		}
		if got := ask(p, "POST", "stop", nil).StatusCode; got != want {
			t.Errorf("stop: %d, not %d", got, want)
		}
		close(over)
		<-shown
	}
}
