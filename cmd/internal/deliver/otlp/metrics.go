package otlp

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/gostap/gostap/cmd/internal/deliver/buckets"
	"github.com/gostap/gostap/runtime/export/feed"
)

// gathered are the series of one moment.
type gathered struct {
	exponential bool
	at          time.Time
	lines       []*feed.Line
	bounds      buckets.ByMetric
	losses      []*feed.Line
	before      deltas // nil for series that are cumulative
}

func newGathered(exponential, delta bool) *gathered {
	g := &gathered{exponential: exponential, bounds: buckets.ByMetric{}}
	if delta {
		g.before = deltas{}
	}
	return g
}

// temporality is that of counters and histograms.
func (g *gathered) temporality() metricdata.Temporality {
	if g.before != nil {
		return metricdata.DeltaTemporality
	}
	return metricdata.CumulativeTemporality
}

// of reports whether a series is of another moment than those that were gathered.
func (g *gathered) of(l *feed.Line) bool { return len(g.lines) > 0 && !l.Time.Equal(g.at) }

// add gathers a series.
func (g *gathered) add(l *feed.Line) {
	g.at = l.Time
	g.lines = append(g.lines, l)
	g.bounds.Add(l)
}

// lost gathers what is missing, which is a metric as well.
func (g *gathered) lost(l *feed.Line) { g.losses = append(g.losses, l) }

// take gives what was gathered, nil if that is nothing.
func (g *gathered) take(r *resource.Resource) *metricdata.ResourceMetrics {
	if g.before != nil {
		g.lines = g.before.all(g.lines)
	}
	if len(g.lines) == 0 && len(g.losses) == 0 {
		g.lines = nil
		return nil
	}
	var metrics []metricdata.Metrics
	byName := map[string][]*feed.Line{}
	for _, l := range g.lines {
		if byName[l.Name] == nil {
			metrics = append(metrics, metricdata.Metrics{Name: l.Name, Description: l.Help, Unit: l.Unit})
		}
		byName[l.Name] = append(byName[l.Name], l)
	}
	for i := range metrics {
		metrics[i].Data = g.data(metrics[i].Name, byName[metrics[i].Name])
	}
	if len(g.losses) > 0 {
		var points []metricdata.DataPoint[int64]
		for _, l := range g.losses {
			n, _ := number(l.Count)
			points = append(points, metricdata.DataPoint[int64]{Value: n, Time: time.Now(),
				Attributes: attribute.NewSet(attribute.String("cause", l.Cause))})
		}
		metrics = append(metrics, metricdata.Metrics{Name: "gostap.lost",
			Description: "hits and events that are missing", Unit: "{event}",
			Data: sum(points, metricdata.CumulativeTemporality)})
	}
	g.lines, g.losses = nil, nil
	return &metricdata.ResourceMetrics{Resource: r,
		ScopeMetrics: []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{Name: scope}, Metrics: metrics}}}
}

// data gives the series of a metric.
func (g *gathered) data(name string, lines []*feed.Line) metricdata.Aggregation {
	switch {
	case lines[0].Stats == nil:
		return numbers(lines, g.temporality())
	case g.exponential && !slices.ContainsFunc(lines, linear):
		return exponential(lines, g.temporality())
	}
	var points []metricdata.HistogramDataPoint[float64]
	for _, l := range lines {
		s, scale := l.Stats, max(l.Stats.Scale, 1)
		p := metricdata.HistogramDataPoint[float64]{Attributes: labels(l), StartTime: l.Begin, Time: l.Time,
			Count: uint64(s.Count), Sum: float64(s.Sum) / float64(scale)}
		p.Min, p.Max = extrema(s)
		b := g.bounds[name]
		p.Bounds = b.Upper(scale)
		p.BucketCounts = make([]uint64, len(p.Bounds)+1)
		for i := range l.Histograms {
			p.BucketCounts = b.Counts(&l.Histograms[i])
		}
		points = append(points, p)
	}
	return metricdata.Histogram[float64]{DataPoints: points, Temporality: g.temporality()}
}

func linear(l *feed.Line) bool {
	return len(l.Histograms) > 0 && l.Histograms[0].Kind != "log" || l.Stats.Scale > 1
}

// exponential gives them exponential buckets, whose upper bounds belong to them: a power of two is counted one bucket
// above its own.
func exponential(lines []*feed.Line, over metricdata.Temporality) metricdata.Aggregation {
	var points []metricdata.ExponentialHistogramDataPoint[float64]
	for _, l := range lines {
		s := l.Stats
		p := metricdata.ExponentialHistogramDataPoint[float64]{Attributes: labels(l), StartTime: l.Begin, Time: l.Time,
			Count: uint64(s.Count), Sum: float64(s.Sum)}
		p.Min, p.Max = extrema(s)
		for i := range l.Histograms {
			e, _ := buckets.ExponentialOf(&l.Histograms[i])
			p.ZeroCount = e.Zero
			p.PositiveBucket = metricdata.ExponentialBucket{Offset: e.Positive.Offset, Counts: e.Positive.Counts}
			p.NegativeBucket = metricdata.ExponentialBucket{Offset: e.Negative.Offset, Counts: e.Negative.Counts}
		}
		points = append(points, p)
	}
	return metricdata.ExponentialHistogram[float64]{DataPoints: points, Temporality: over}
}

func extrema(s *feed.Stats) (low, high metricdata.Extrema[float64]) {
	if s.Count == 0 || s.Min > s.Max { // nothing, or what was added since
		return low, high
	}
	scale := float64(max(s.Scale, 1))
	return metricdata.NewExtrema(float64(s.Min) / scale), metricdata.NewExtrema(float64(s.Max) / scale)
}

// numbers gives the series of a metric of numbers: whole ones, or with fractions where one has any.
func numbers(lines []*feed.Line, over metricdata.Temporality) metricdata.Aggregation {
	var whole []metricdata.DataPoint[int64]
	var real []metricdata.DataPoint[float64]
	for _, l := range lines {
		switch v := l.Number().(type) {
		case int64:
			whole = append(whole, metricdata.DataPoint[int64]{Attributes: labels(l), StartTime: l.Begin, Time: l.Time,
				Value: v})
		case float64:
			real = append(real, metricdata.DataPoint[float64]{Attributes: labels(l), StartTime: l.Begin, Time: l.Time,
				Value: v})
		}
	}
	counter := lines[0].Kind == "counter"
	switch {
	case counter && len(real) > 0:
		return sum(real, over)
	case counter:
		return sum(whole, over)
	case len(real) > 0:
		return metricdata.Gauge[float64]{DataPoints: real}
	}
	return metricdata.Gauge[int64]{DataPoints: whole}
}

func sum[N int64 | float64](points []metricdata.DataPoint[N], over metricdata.Temporality) metricdata.Sum[N] {
	return metricdata.Sum[N]{DataPoints: points, Temporality: over, IsMonotonic: true}
}

func labels(l *feed.Line) attribute.Set {
	var kv []attribute.KeyValue
	for _, f := range l.Labels {
		kv = append(kv, pair(f.Name, f.V))
	}
	return attribute.NewSet(kv...)
}
