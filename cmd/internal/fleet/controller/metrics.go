package controller

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
)

// done counts what a controller has come to. Its zero value is good.
type done struct {
	mu             sync.Mutex
	phases         map[api.Phase]float64
	lost           float64
	writes, failed float64
}

// finished has one more Trace that has come to its end.
func (d *done) finished(p api.Phase, lost int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.phases == nil {
		d.phases = map[api.Phase]float64{}
	}
	d.phases[p]++
	d.lost += float64(max(lost, 0))
}

// write writes a status.
func (c *Controller) write(ctx context.Context, t *api.Trace) error {
	err := c.Client.Status().Update(ctx, t)
	c.done.mu.Lock()
	defer c.done.mu.Unlock()
	if c.done.writes++; err != nil {
		c.done.failed++
	}
	return err
}

// Metrics tell how the controller does. No label names a Trace, a namespace or a user: who may read metrics need not
// know them, and there are as many series with ten Traces as with ten thousand. What is of all controllers together,
// the Traces by their phase, is told by the one that leads.
func (c *Controller) Metrics(leads func() bool) prometheus.Collector { return &metrics{c, leads} }

type metrics struct {
	c     *Controller
	leads func() bool
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("gostap_fleet_"+name, help, labels, nil)
}

// told are the metrics.
var told = struct{ leader, traces, finished, sessions, limit, lost, writes, failed *prometheus.Desc }{
	leader:   describe("leader", "1 if this controller runs sessions, else 0."),
	traces:   describe("traces", "Traces that are there, by phase; of the controller that leads.", "phase"),
	finished: describe("traces_finished_total", "Traces that this controller has seen to their end.", "phase"),
	sessions: describe("sessions", "Sessions of this controller."),
	limit:    describe("sessions_limit", "How many sessions run at a time; further Traces wait."),
	lost:     describe("lost_total", "Events and hits that are missing in results of Traces that have finished."),
	writes:   describe("status_writes_total", "Statuses that were written, or were to be."),
	failed: describe("status_write_errors_total", "Those of them that the API server has not taken, and that are "+
		"written again."),
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{told.leader, told.traces, told.finished, told.sessions, told.limit,
		told.lost, told.writes, told.failed} {
		to <- d
	}
}

// phases are those that a Trace can have.
var phases = []api.Phase{api.Pending, api.Running, api.Done, api.Refused, api.Failed}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	if m.leads() {
		tell(told.leader, prometheus.GaugeValue, 1)
		m.traces(tell)
	} else {
		tell(told.leader, prometheus.GaugeValue, 0)
	}
	c := m.c
	c.mu.Lock()
	running := len(c.runs)
	c.mu.Unlock()
	tell(told.sessions, prometheus.GaugeValue, float64(running))
	tell(told.limit, prometheus.GaugeValue, float64(c.Most))
	c.done.mu.Lock()
	defer c.done.mu.Unlock()
	for _, p := range phases[2:] {
		tell(told.finished, prometheus.CounterValue, c.done.phases[p], string(p))
	}
	tell(told.lost, prometheus.CounterValue, c.done.lost)
	tell(told.writes, prometheus.CounterValue, c.done.writes)
	tell(told.failed, prometheus.CounterValue, c.done.failed)
}

// listWithin is how long the cache of Traces is waited for.
const listWithin = 5 * time.Second

// traces tells how many there are. While that is not known nothing is told of it.
func (m *metrics) traces(tell func(*prometheus.Desc, prometheus.ValueType, float64, ...string)) {
	ctx, cancel := context.WithTimeout(context.Background(), listWithin)
	defer cancel()
	var all api.TraceList
	if err := m.c.Client.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil { // they are only counted
		return
	}
	count := map[api.Phase]int{}
	for i := range all.Items {
		p := all.Items[i].Status.Phase
		if p == "" {
			p = api.Pending
		}
		count[p]++
	}
	for _, p := range phases {
		tell(told.traces, prometheus.GaugeValue, float64(count[p]), string(p))
	}
}
