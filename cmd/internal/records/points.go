package records

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/metric"
	"github.com/gostap/gostap/runtime/export/record"
)

// points writes what the metrics of a script are from time to time.
type points struct {
	w *writer
	// first is when the session began, since when the last moment was.
	first, since time.Time
	// series are those that were told last, by their metric and by their labels.
	series map[string]map[string]*series
	// out are those for which there was no room last, left counts them, at most, by metric.
	out  map[string]map[string]bool
	left map[string]int
	err  error // of a moment that could not be written
}

func newPoints(w *writer, begin time.Time) *points {
	return &points{w: w, first: begin, since: begin, series: map[string]map[string]*series{},
		out: map[string]map[string]bool{}, left: map[string]int{}}
}

// series is one that was told.
type series struct {
	begin time.Time
	last  int64 // its value or count
}

// every writes them each time that so much time has gone by, until the function that it gives is called.
func (p *points) every(s *gostap.Session, d time.Duration) (wait func()) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(d)
		defer tick.Stop()
		for p.err == nil {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				g, err := s.Globals()
				if ctx.Err() == nil && err == nil {
					p.err = cmp.Or(p.add(g, now), p.w.pause())
				}
			}
		}
	}()
	return func() { stop(); <-done }
}

// add writes all series as they are at one moment.
func (p *points) add(globals gostap.Globals, now time.Time) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(globals)) {
		g := globals[name]
		if g.Metric == nil {
			continue
		}
		told, here, left := p.series[g.Metric.Name], map[string]*series{}, map[string]bool{}
		known := len(told) // those of before and of now
		for i := range g.Elements {
			m := point(g.Metric, &g.Elements[i])
			key := keyOf(m)
			of := told[key]
			value := m.Value.Int
			if m.Stats != nil {
				value = m.Stats.Count
			}
			switch {
			case of == nil && known >= cmp.Or(g.Metric.Max, metric.MaxSeries):
				left[key] = true
				continue
			case of == nil:
				if of = (&series{begin: p.since}); p.out[g.Metric.Name][key] {
					of.begin = p.first // it was counted, and not told
				}
				known++
			case value < of.last && m.Type != record.Gauge:
				of.begin = now // the script has begun again
			}
			of.last = value
			here[key] = of
			m.Begin, m.Time = of.begin, now
			p.w.rec = record.Record{Kind: record.MetricPoint, Metric: m}
			if err := p.w.add(); err != nil {
				return err
			}
		}
		if len(left) > 0 && p.left[g.Metric.Name] == 0 {
			p.w.rec = record.Record{Kind: record.Warning, Text: tooMany(g.Metric)}
			if err := p.w.add(); err != nil {
				return err
			}
		}
		p.left[g.Metric.Name] = max(p.left[g.Metric.Name], len(left))
		// One that the script has deleted makes room, and begins again if it comes back.
		p.series[g.Metric.Name], p.out[g.Metric.Name] = here, left
	}
	p.since = now
	return nil
}

func tooMany(d *metric.Decl) string {
	return fmt.Sprintf("metric %s: it has more than %d series, and the others are not told; max N allows more", d.Name,
		cmp.Or(d.Max, metric.MaxSeries))
}

// end says which series were not told, and what went wrong on the way.
func (p *points) end() error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(p.left)) {
		if n := p.left[name]; n > 0 {
			p.w.rec = record.Record{Kind: record.Lost, Cause: "series", Count: uint64(n),
				Text: fmt.Sprintf("metric %s: %d series were not told, for there were too many", name, n)}
			if err := p.w.add(); err != nil {
				return err
			}
		}
	}
	return p.err
}

// point is an element of a global as a series.
func point(d *metric.Decl, e *gostap.Element) *record.Metric {
	m := &record.Metric{Name: d.Name, Help: d.Help, Unit: d.Unit, Type: record.Gauge}
	switch {
	case e.Stats != nil:
		m.Type, m.Stats = record.Distribution, statsOf(e.Stats)
	case d.Counter():
		m.Type, m.Value = record.Counter, valueOf(&e.Value)
	default:
		m.Value = valueOf(&e.Value)
	}
	for i, k := range keysOf(e.Key) {
		m.Labels = append(m.Labels, record.Field{Name: d.Labels[i], Value: k})
	}
	return m
}

// keyOf tells the series of a metric apart.
func keyOf(m *record.Metric) string {
	var b strings.Builder
	for i := range m.Labels {
		fmt.Fprintf(&b, "\x00%d %q", m.Labels[i].Int, m.Labels[i].Text)
	}
	return b.String()
}
