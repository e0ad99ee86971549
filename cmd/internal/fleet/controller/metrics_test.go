package controller

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
)

// TestMetrics: Traces by what they have come to, what was lost, sessions, and statuses that were written; the Traces of
// the cluster are told by who leads, and no label names one.
func TestMetrics(t *testing.T) {
	l := newLab(t, `e() { echo '{"at":"2026-01-02T03:04:05Z",'"$1"'}' >&2; }
		e '"node":"a","agent":"agent-a","state":"begins"'; e '"node":"a","agent":"agent-a","state":"runs"'
		e '"node":"a","agent":"agent-a","said":"WARNING: 7 events lost because"'
		e '"node":"a","agent":"agent-a","state":"ended"'`, trace("x"), trace("later"),
		trace("no", func(t *api.Trace) { t.Spec.Nodes.MatchLabels = map[string]string{"disk": "tape"} }))
	leads := false
	r := prometheus.NewPedanticRegistry()
	if err := r.Register(l.c.Metrics(func() bool { return leads })); err != nil {
		t.Fatal(err)
	}
	got := func() map[string]float64 {
		t.Helper()
		all, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]float64{}
		for _, f := range all {
			if total := strings.HasSuffix(f.GetName(), "_total"); total != (f.GetType() == dto.MetricType_COUNTER) {
				t.Errorf("%s is a %v", f.GetName(), f.GetType())
			}
			for _, m := range f.Metric {
				key := strings.TrimPrefix(f.GetName(), "gostap_fleet_")
				for _, x := range m.Label {
					if key += " " + x.GetValue(); x.GetName() != "phase" {
						t.Errorf("a label %s", x.GetName())
					}
				}
				if v := m.GetGauge().GetValue() + m.GetCounter().GetValue(); v != 0 {
					out[key] = v
				}
			}
		}
		delete(out, "status_writes_total")
		return out
	}
	is := func(want map[string]float64) {
		t.Helper()
		if now := got(); !maps.Equal(now, want) {
			t.Errorf("%v, not %v", now, want)
		}
	}
	is(map[string]float64{"sessions_limit": 2})
	leads = true
	is(map[string]float64{"sessions_limit": 2, "leader": 1, "traces Pending": 3})
	l.step("x")
	is(map[string]float64{"sessions_limit": 2, "leader": 1, "traces Pending": 2, "traces Running": 1, "sessions": 1})
	l.until("x", finished)
	l.until("no", finished)
	l.step("x")
	want := map[string]float64{"sessions_limit": 2, "leader": 1, "traces Pending": 1, "traces Done": 1,
		"traces Refused": 1, "traces_finished_total Done": 1, "traces_finished_total Refused": 1, "lost_total": 7}
	is(want)
	if n := l.c.done.writes; n < 3 {
		t.Errorf("%v statuses", n)
	}
	gone := trace("gone")
	if err := l.c.write(t.Context(), gone); err == nil {
		t.Error("a status of no Trace")
	}
	want["status_write_errors_total"] = 1
	is(want)
	leads = false
	for _, p := range phases {
		delete(want, fmt.Sprint("traces ", p))
	}
	delete(want, "leader")
	is(want)
}
