// Package prom delivers the metrics of a session to Prometheus: it is asked for them at an address of one's own
// (prometheus://), or they are sent to it (remote-write+http://).
//
// In: lines, of which those of metrics and losses are taken. Out: the answers to who asks, made by client_golang, or
// requests of remote write, version 2.
package prom

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gostap/gostap/cmd/internal/deliver"
	"github.com/gostap/gostap/cmd/internal/deliver/buckets"
	"github.com/gostap/gostap/runtime/export/feed"
)

// Kinds are the words by which destinations of this package begin.
var Kinds = []string{"prometheus", "remote-write+http", "remote-write+https"}

// Scraped is an address where Prometheus asks.
type Scraped struct {
	text   string
	server *http.Server
	series *series
	mu     sync.Mutex
	taken  int       // lines so far
	asked  int       // of them were there when someone asked
	again  chan bool // someone has asked
}

// Listen opens the address.
func Listen(a *deliver.Address, cfg deliver.Config) (*Scraped, error) {
	if err := a.Rest(); err != nil {
		return nil, err
	}
	if a.Path != "" && a.Path != "/" && a.Path != "/metrics" {
		return nil, fmt.Errorf("%s: the path is /metrics", a.Text)
	}
	host, port, err := net.SplitHostPort(a.Host)
	if err != nil {
		return nil, fmt.Errorf("%s: write prometheus://HOST:PORT, or prometheus://:PORT for the loopback address",
			a.Text)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Text, err)
	}
	s := &Scraped{text: a.Text, series: newSeries(), again: make(chan bool, 1)}
	r := prometheus.NewRegistry()
	r.MustRegister(s.series)
	metrics := promhttp.HandlerFor(r, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: 4,
		ErrorHandling: promhttp.ContinueOnError})
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, q *http.Request) {
		s.mu.Lock()
		taken := s.taken
		s.mu.Unlock()
		metrics.ServeHTTP(w, q)
		s.mu.Lock()
		s.asked = max(s.asked, taken) // what came meanwhile may not be on the page
		s.mu.Unlock()
		select {
		case s.again <- true:
		default:
		}
	})
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	go s.server.Serve(l)
	cfg.Tell("%s: the metrics are at http://%s/metrics", a.Text, l.Addr())
	return s, nil
}

// Take takes a line.
func (s *Scraped) Take(l *feed.Line) {
	if s.series.take(l) {
		s.mu.Lock()
		s.taken++
		s.mu.Unlock()
	}
}

// Close waits until someone has asked for the last values.
func (s *Scraped) Close(ctx context.Context) error {
	defer s.server.Close()
	for {
		s.mu.Lock()
		asked := s.asked == s.taken
		s.mu.Unlock()
		if asked {
			over, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer stop()
			s.server.Shutdown(over)
			return nil
		}
		select {
		case <-s.again:
		case <-ctx.Done():
			return errors.New("nobody has asked for the last values")
		}
	}
}

// series are those of the last moment of each machine, which is one by what lasts of the origins of its lines.
type series struct {
	mu     sync.Mutex
	of     map[feed.Origin]*moment
	bounds buckets.ByMetric
}

// moment is what a machine has said last; that of the session itself has no name.
type moment struct {
	at     time.Time
	lines  []*feed.Line
	lost   map[string]uint64
	errors uint64
}

func newSeries() *series {
	return &series{of: map[feed.Origin]*moment{{}: {}}, bounds: buckets.ByMetric{}}
}

// at is the time of the last moment of where a line comes from.
func (s *series) at(l *feed.Line) time.Time {
	if m := s.of[l.Lasting()]; m != nil {
		return m.at
	}
	return time.Time{}
}

// take takes a line; ok tells that it changed something.
func (s *series) take(l *feed.Line) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.Type != "error" && l.Type != "lost" && l.Type != "metric" {
		return false
	}
	m := s.of[l.Lasting()]
	if m == nil {
		m = &moment{}
		s.of[l.Lasting()] = m
	}
	switch l.Type {
	case "error":
		m.errors++
	case "lost":
		if m.lost == nil {
			m.lost = map[string]uint64{}
		}
		m.lost[l.Cause] += l.Count
	case "metric":
		if !l.Time.Equal(m.at) {
			m.at, m.lines = l.Time, nil
		}
		m.lines = append(m.lines, l)
		s.bounds.Add(l)
	}
	return true
}

// missing says what gostap_lost_total counts.
const missing = "Hits and events that are missing."

// Describe says nothing: which metrics there are depends on the script.
func (s *series) Describe(chan<- *prometheus.Desc) {}

// Collect gives all series.
func (s *series) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for from, last := range s.of {
		for _, l := range last.lines {
			out <- s.metric(l)
		}
		count := func(name, help string, n uint64, labels feed.Fields) {
			names, values := labelsOf(&feed.Line{Labels: labels, Origin: from})
			out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), prometheus.CounterValue,
				float64(n), values...)
		}
		for cause, n := range last.lost {
			count("gostap_lost_total", missing, n, feed.Fields{{Name: "cause", Value: feed.Value{V: cause}}})
		}
		count("gostap_errors_total", "Run-time errors of the script.", last.errors, nil)
	}
}

// metric is a series as client_golang has it.
func (s *series) metric(l *feed.Line) (m prometheus.Metric) {
	names, values := labelsOf(l)
	desc := prometheus.NewDesc(l.Name, l.Help, names, nil)
	var err error
	switch {
	case l.Stats != nil:
		scale := max(l.Stats.Scale, 1)
		m, err = prometheus.NewConstHistogramWithCreatedTimestamp(desc, uint64(l.Stats.Count),
			float64(l.Stats.Sum)/float64(scale), s.cumulative(l), l.Begin, values...)
	case l.Kind == "counter":
		m, err = prometheus.NewConstMetricWithCreatedTimestamp(desc, prometheus.CounterValue, feed.Float(l.Number()),
			l.Begin, values...)
	default:
		m, err = prometheus.NewConstMetric(desc, prometheus.GaugeValue, feed.Float(l.Number()), values...)
	}
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}

// cumulative are the buckets of a series: how many values are not above each bound.
func (s *series) cumulative(l *feed.Line) map[float64]uint64 {
	out := map[float64]uint64{}
	b := s.bounds[l.Name]
	upper := b.Upper(max(l.Stats.Scale, 1))
	for i := range l.Histograms {
		var sum uint64
		for k, n := range b.Counts(&l.Histograms[i]) {
			if sum += n; k < len(upper) {
				out[upper[k]] = sum
			}
		}
	}
	return out
}

// labelsOf are the labels of a series: those of the script, and where it comes from, but for names that the script has
// taken.
func labelsOf(l *feed.Line) (names, values []string) {
	for _, f := range l.Labels {
		names, values = append(names, f.Name), append(values, strings.ToValidUTF8(f.String(), "�"))
	}
	for _, own := range [][2]string{{"machine", l.Machine}, {"node", l.Node}} {
		if own[1] != "" && !slices.Contains(names, own[0]) {
			names, values = append(names, own[0]), append(values, strings.ToValidUTF8(own[1], "�"))
		}
	}
	return names, values
}
