// Package otlp delivers what a session says to an OpenTelemetry Collector, or to whatever else speaks OTLP: prints and
// messages as logs, span() as spans, metrics as metrics.
//
// In: lines. Out: requests by gRPC or HTTP, made by the OpenTelemetry SDK; the environment variables of OTLP exporters
// (OTEL_EXPORTER_OTLP_HEADERS, ..._CERTIFICATE and others) are for them.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	otellog "go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/gostap/gostap/cmd/internal/deliver"
	"github.com/gostap/gostap/cmd/internal/deliver/outbox"
	"github.com/gostap/gostap/runtime/export/feed"
)

// Kinds are the words by which destinations of this package begin.
var Kinds = []string{"otlp", "otlps", "otlp+http", "otlp+https"}

// scope is the name of what makes the data.
const scope = "github.com/gostap/gostap"

// batch is how many items go into a request, linger how long the first waits for others, mostMoments how many moments
// of a machine's metrics wait for a receiver that is away.
const (
	batch       = 2000
	linger      = 500 * time.Millisecond
	mostMoments = 60
)

// Destination is a receiver of OTLP.
type Destination struct {
	cfg                deliver.Config
	to                 *clients
	exponential, delta bool

	sources map[feed.Origin]*source
	hosts   map[string]*feed.Line // the first line of each machine, of the session here by ""
	logs    *outbox.Box[sdklog.Record]
	spans   *outbox.Box[trace.ReadOnlySpan]
	metrics *outbox.Box[*metricdata.ResourceMetrics]
}

// source is what says something: the session, or that of one of its machines.
type source struct {
	resource *resource.Resource
	logger   otellog.Logger
	tracer   oteltrace.Tracer
	gathered *gathered
}

// New makes a destination. Nothing is sent before the first line.
func New(ctx context.Context, a *deliver.Address, cfg deliver.Config) (*Destination, error) {
	d := &Destination{cfg: cfg, sources: map[feed.Origin]*source{}, hosts: map[string]*feed.Line{}}
	switch h := a.Option("histogram"); h {
	case "", "explicit":
	case "exponential":
		d.exponential = true
	default:
		return nil, fmt.Errorf("%s: histogram is explicit or exponential, not %q", a.Text, h)
	}
	switch t := a.Option("temporality"); t {
	case "", "cumulative":
	case "delta":
		d.delta = true
	default:
		return nil, fmt.Errorf("%s: temporality is cumulative or delta, not %q", a.Text, t)
	}
	if err := a.Rest(); err != nil {
		return nil, err
	}
	var err error
	if d.to, err = dial(ctx, a); err != nil {
		return nil, err
	}
	var once sync.Once
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		once.Do(func() { cfg.Tell("%s: %v", a.Text, err) }) // a part of a request was refused
	}))
	d.logs = outbox.New(outbox.Config[sdklog.Record]{What: "logs", To: a.Text, Send: d.to.logs.Export, Final: final,
		Most: cfg.Most, Batch: batch, Linger: linger, Tell: cfg.Tell})
	d.spans = outbox.New(outbox.Config[trace.ReadOnlySpan]{What: "spans", To: a.Text, Send: d.to.spans.ExportSpans,
		Final: final, Most: cfg.Most, Batch: batch, Linger: linger, Tell: cfg.Tell})
	// Each request has all series of a machine: of those that wait the last is enough, but what they say of the time in
	// between is worth some.
	d.metrics = outbox.New(outbox.Config[*metricdata.ResourceMetrics]{What: "moments of metrics", To: a.Text,
		Send: func(ctx context.Context, b []*metricdata.ResourceMetrics) error {
			return d.to.metrics.Export(ctx, b[0])
		},
		Final: final, Most: mostMoments, Batch: 1, Tell: cfg.Tell})
	return d, nil
}

// final reports whether an error stays: the receiver understands the request, and does not want it.
func final(err error) bool {
	text := err.Error()
	for _, s := range []string{"code = InvalidArgument", "code = Unimplemented", "code = PermissionDenied",
		"code = Unauthenticated", "code = NotFound", "400 Bad Request", "401 Unauthorized", "403 Forbidden",
		"404 Not Found", "405 Method Not Allowed", "413 "} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// source is one of lines. Each has a resource of its own, with the attributes that OpenTelemetry has for hosts and for
// pods of Kubernetes.
func (d *Destination) source(o feed.Origin) *source {
	if s := d.sources[o]; s != nil {
		return s
	}
	first := d.hosts[o.Machine]
	if first == nil {
		first = &feed.Line{} // of a machine that was never reached
	}
	service := d.cfg.Service
	if service == "" {
		service = "gostap"
	}
	kv := []attribute.KeyValue{attribute.String("service.name", service), attribute.String("os.type", "linux"),
		attribute.String("gostap.script", d.hosts[""].Script)}
	for _, t := range [][2]string{{"host.name", first.Host}, {"os.version", first.Kernel},
		{"gostap.version", first.Gostap}, {"gostap.machine", o.Machine}, {"k8s.node.name", o.Node},
		{"k8s.namespace.name", o.Namespace}, {"k8s.pod.name", o.Pod}} {
		if t[1] != "" {
			kv = append(kv, attribute.String(t[0], strings.ToValidUTF8(t[1], "�")))
		}
	}
	// Who runs it knows more of it (OTEL_RESOURCE_ATTRIBUTES); what is said there stays behind what is known here.
	r, err := resource.Merge(resource.Environment(), resource.NewSchemaless(kv...))
	if err != nil { // two schemas, of which one is none
		r = resource.NewSchemaless(kv...)
	}
	limits := trace.NewSpanLimits()
	limits.AttributeCountLimit = -1
	s := &source{resource: r, gathered: newGathered(d.exponential, d.delta),
		logger: sdklog.NewLoggerProvider(sdklog.WithResource(r), sdklog.WithAttributeCountLimit(-1),
			sdklog.WithProcessor(emitted{d.logs})).Logger(scope),
		tracer: trace.NewTracerProvider(trace.WithResource(r), trace.WithSampler(trace.AlwaysSample()),
			trace.WithRawSpanLimits(limits), trace.WithSpanProcessor(ended{d.spans})).Tracer(scope)}
	d.sources[o] = s
	d.metrics.Room(mostMoments * len(d.sources))
	return s
}

// Take takes a line.
func (d *Destination) Take(l *feed.Line) {
	if l.Type == "begin" || l.Type == "machine-begin" {
		d.hosts[l.Machine] = l
		return
	}
	lasting := l.Lasting()
	m := d.source(lasting) // of what is counted, which goes on when a pod comes or goes
	if l.Type == "metric" {
		if m.gathered.of(l) { // the first of another moment
			d.flush(m)
		}
		m.gathered.add(l)
		return
	}
	if l.Type != "warning" && l.Type != "lost" { // which can stand between the series of one moment
		d.flush(m)
	}
	s := m
	if l.Origin != lasting {
		s = d.source(l.Origin)
	}
	switch l.Type {
	case "span":
		_, span := s.tracer.Start(context.Background(), l.Name, oteltrace.WithTimestamp(l.Begin),
			oteltrace.WithAttributes(attributes(l)...))
		span.End(oteltrace.WithTimestamp(l.Time))
	case "end", "machine-end":
		if l.Error != "" {
			s.log(l, otellog.SeverityError, l.Error)
		}
	case "warning":
		s.log(l, otellog.SeverityWarn, l.Message)
	case "lost":
		m.gathered.lost(l)
		s.log(l, otellog.SeverityWarn, l.Message)
	case "error":
		s.log(l, otellog.SeverityError, l.Message)
	case "global":
		if l.Metric == "" { // else it is delivered as that
			s.log(l, otellog.SeverityInfo, l.Name)
		}
	default:
		s.log(l, otellog.SeverityInfo, strings.TrimSuffix(l.Text, "\n"))
	}
}

// log adds a log.
func (s *source) log(l *feed.Line, severity otellog.Severity, text string) {
	var r otellog.Record
	now := time.Now()
	r.SetObservedTimestamp(now)
	if r.SetTimestamp(l.Time); l.Time.IsZero() {
		r.SetTimestamp(now)
	}
	r.SetSeverity(severity)
	r.SetSeverityText(severity.String())
	r.SetBody(attribute.StringValue(strings.ToValidUTF8(text, "�")))
	r.SetEventName("gostap." + l.Type)
	r.AddAttributes(attributes(l)...)
	s.logger.Emit(context.Background(), r)
}

// flush hands the metrics on that were gathered.
func (d *Destination) flush(s *source) {
	if d.delta && d.metrics.Full() && len(s.gathered.lines) > 0 {
		s.gathered.lines = nil // it is a part of the difference that comes next
		d.metrics.Lose()
	}
	if m := s.gathered.take(s.resource); m != nil {
		d.metrics.Put(m)
	}
}

// Idle is told when there is nothing to take for now: a moment of metrics is complete.
func (d *Destination) Idle() {
	for _, s := range d.sources {
		d.flush(s)
	}
}

// Close delivers what is left.
func (d *Destination) Close(ctx context.Context) error {
	d.Idle()
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	closing := func(what string, close func(context.Context) uint64) {
		wg.Go(func() {
			if n := close(ctx); n > 0 {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, fmt.Errorf("%d %s were not delivered", n, what))
			}
		})
	}
	closing("logs", d.logs.Close)
	closing("spans", d.spans.Close)
	closing("moments of metrics", d.metrics.Close)
	wg.Wait()
	over, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	d.to.close(over)
	return errors.Join(errs...)
}

// emitted takes what the logger makes.
type emitted struct{ box *outbox.Box[sdklog.Record] }

func (emitted) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

func (e emitted) OnEmit(_ context.Context, r *sdklog.Record) error {
	e.box.Put(r.Clone())
	return nil
}

func (emitted) Shutdown(context.Context) error   { return nil }
func (emitted) ForceFlush(context.Context) error { return nil }

// ended takes what the tracer makes.
type ended struct {
	box *outbox.Box[trace.ReadOnlySpan]
}

func (ended) OnStart(context.Context, trace.ReadWriteSpan) {}
func (e ended) OnEnd(s trace.ReadOnlySpan)                 { e.box.Put(s) }
func (ended) Shutdown(context.Context) error               { return nil }
func (ended) ForceFlush(context.Context) error             { return nil }
