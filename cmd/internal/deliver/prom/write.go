package prom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/exp/api/remote"
	writev2 "github.com/prometheus/client_golang/exp/api/remote/genproto/v2"

	"github.com/gostap/gostap/cmd/internal/deliver"
	"github.com/gostap/gostap/cmd/internal/deliver/outbox"
	"github.com/gostap/gostap/runtime/export/feed"
)

// mostRequests is how many moments wait for a receiver that is away.
const mostRequests = 600

// Written is a receiver of remote write.
type Written struct {
	series  *series
	box     *outbox.Box[*writev2.Request]
	service string
	hosts   map[string]string    // by machine; that of the session has no name
	pending map[feed.Origin]bool // whose series were taken that are in no request yet
}

// Dial makes a destination.
func Dial(a *deliver.Address, cfg deliver.Config) (*Written, error) {
	if err := a.Rest(); err != nil {
		return nil, err
	}
	if a.Path == "" || a.Path == "/" {
		a.Path = "/api/v1/write"
	}
	api, err := remote.NewAPI(strings.TrimPrefix(a.Kind, "remote-write+")+"://"+a.Host,
		remote.WithAPIPath(strings.TrimPrefix(a.Path, "/")),
		remote.WithAPILogger(slog.New(slog.NewTextHandler(io.Discard, nil))),
		remote.WithAPIHTTPClient(&http.Client{Timeout: 30 * time.Second}),
		remote.WithAPIBackoff(remote.BackoffConfig{MaxRetries: 1, Min: time.Millisecond, Max: time.Millisecond}))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Text, err)
	}
	w := &Written{series: newSeries(), service: cfg.Service, hosts: map[string]string{},
		pending: map[feed.Origin]bool{}}
	w.box = outbox.New(outbox.Config[*writev2.Request]{What: "moments of metrics", To: a.Text,
		Send: func(ctx context.Context, b []*writev2.Request) error {
			_, err := api.Write(ctx, remote.WriteV2MessageType, b[0])
			return err
		},
		Final: func(err error) bool {
			text := err.Error()
			return strings.Contains(text, " 400") || strings.Contains(text, " 401") || strings.Contains(text, " 403") ||
				strings.Contains(text, " 404") || strings.Contains(text, " 415")
		},
		Most: mostRequests, Batch: 1, Tell: cfg.Tell})
	return w, nil
}

// Take takes a line.
func (w *Written) Take(l *feed.Line) {
	if l.Type == "begin" || l.Type == "machine-begin" {
		w.hosts[l.Machine] = l.Host
	}
	// Warnings and losses can stand between the series of one moment.
	from := l.Lasting()
	if w.pending[from] && l.Type != "warning" && l.Type != "lost" && (l.Type != "metric" ||
		!l.Time.Equal(w.series.at(l))) {
		w.send(from)
	}
	if w.series.take(l) && (l.Type == "metric" || l.Type == "lost") {
		w.pending[from] = true
	}
}

// Idle is told when there is nothing to take for now: the moments are complete.
func (w *Written) Idle() {
	for from := range w.pending {
		w.send(from)
	}
}

// send hands a moment on.
func (w *Written) send(from feed.Origin) {
	delete(w.pending, from)
	w.box.Room(mostRequests * len(w.series.of))
	w.box.Put(w.request(from))
}

// Close delivers what is left.
func (w *Written) Close(ctx context.Context) error {
	w.Idle()
	if n := w.box.Close(ctx); n > 0 {
		return errors.New(strconv.FormatUint(n, 10) + " moments of metrics were not delivered")
	}
	return nil
}

// request has all series of a machine's moment.
func (w *Written) request(from feed.Origin) *writev2.Request {
	s := w.series
	s.mu.Lock()
	defer s.mu.Unlock()
	t := writev2.NewSymbolTable()
	r := &writev2.Request{}
	add := func(l *feed.Line, name string, at, begin time.Time, kind writev2.Metadata_MetricType, v float64,
		more ...string) {
		names, values := labelsOf(l)
		pairs := [][2]string{{"__name__", name}}
		for i := range names {
			pairs = append(pairs, [2]string{names[i], values[i]})
		}
		for i := 0; i < len(more); i += 2 {
			pairs = append(pairs, [2]string{more[i], more[i+1]})
		}
		for _, own := range [][2]string{{"job", w.job()}, {"instance", w.hosts[from.Machine]}} {
			if !slices.ContainsFunc(pairs, func(p [2]string) bool { return p[0] == own[0] }) {
				pairs = append(pairs, own)
			}
		}
		slices.SortFunc(pairs, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		ts := &writev2.TimeSeries{Samples: []*writev2.Sample{{Value: v, Timestamp: at.UnixMilli()}},
			Metadata: &writev2.Metadata{Type: kind, HelpRef: t.Symbolize(l.Help), UnitRef: t.Symbolize(l.Unit)}}
		if kind != writev2.Metadata_METRIC_TYPE_GAUGE && !begin.IsZero() {
			ts.CreatedTimestamp = begin.UnixMilli()
		}
		for _, p := range pairs {
			if p[1] != "" { // a label without a value is none
				ts.LabelsRefs = append(ts.LabelsRefs, t.Symbolize(p[0]), t.Symbolize(p[1]))
			}
		}
		r.Timeseries = append(r.Timeseries, ts)
	}
	last := s.of[from]
	for _, l := range last.lines {
		switch {
		case l.Stats != nil:
			kind := writev2.Metadata_METRIC_TYPE_HISTOGRAM
			cumulative := s.cumulative(l)
			for _, le := range sortedKeys(cumulative) {
				add(l, l.Name+"_bucket", l.Time, l.Begin, kind, float64(cumulative[le]), "le", formatFloat(le))
			}
			add(l, l.Name+"_bucket", l.Time, l.Begin, kind, float64(l.Stats.Count), "le", "+Inf")
			add(l, l.Name+"_sum", l.Time, l.Begin, kind, float64(l.Stats.Sum)/float64(max(l.Stats.Scale, 1)))
			add(l, l.Name+"_count", l.Time, l.Begin, kind, float64(l.Stats.Count))
		case l.Kind == "counter":
			add(l, l.Name, l.Time, l.Begin, writev2.Metadata_METRIC_TYPE_COUNTER, feed.Float(l.Number()))
		default:
			add(l, l.Name, l.Time, l.Begin, writev2.Metadata_METRIC_TYPE_GAUGE, feed.Float(l.Number()))
		}
	}
	for cause, n := range last.lost {
		add(&feed.Line{Help: missing, Origin: from}, "gostap_lost_total", time.Now(), time.Time{},
			writev2.Metadata_METRIC_TYPE_COUNTER, float64(n), "cause", cause)
	}
	r.Symbols = t.Symbols()
	return r
}

func (w *Written) job() string {
	if w.service != "" {
		return w.service
	}
	return "gostap"
}

func sortedKeys(m map[float64]uint64) []float64 {
	var out []float64
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// formatFloat writes a bound as Prometheus does, with a fraction.
func formatFloat(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !math.IsInf(f, 0) && !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
