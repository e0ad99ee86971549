package tests

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/exp/api/remote"
	writev2 "github.com/prometheus/client_golang/exp/api/remote/genproto/v2"
	collectlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collecttrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gostap/gostap/runtime/export/feed"
	"github.com/gostap/gostap/tests/patience"
)

// collector takes OTLP by gRPC and by HTTP and keeps it.
type collector struct {
	mu      sync.Mutex
	logs    []*logs.LogRecord
	spans   []*trace.Span
	metrics map[string]*metrics.Metric // the last of each
	refuses bool
	// all that came, with its resources
	allLogs    []*logs.ResourceLogs
	allMetrics []*metrics.ResourceMetrics
}

func (c *collector) takeLogs(q *collectlogs.ExportLogsServiceRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allLogs = append(c.allLogs, q.ResourceLogs...)
	for _, r := range q.ResourceLogs {
		for _, s := range r.ScopeLogs {
			c.logs = append(c.logs, s.LogRecords...)
		}
	}
	if c.refuses {
		return status.Error(codes.InvalidArgument, "no logs here")
	}
	return nil
}

func (c *collector) takeSpans(q *collecttrace.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range q.ResourceSpans {
		for _, s := range r.ScopeSpans {
			c.spans = append(c.spans, s.Spans...)
		}
	}
}

func (c *collector) takeMetrics(q *collectmetrics.ExportMetricsServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.metrics == nil {
		c.metrics = map[string]*metrics.Metric{}
	}
	c.allMetrics = append(c.allMetrics, q.ResourceMetrics...)
	for _, r := range q.ResourceMetrics {
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				c.metrics[m.Name] = m
			}
		}
	}
}

type logsServer struct {
	collectlogs.UnimplementedLogsServiceServer
	c *collector
}

func (s logsServer) Export(_ context.Context, q *collectlogs.ExportLogsServiceRequest) (
	*collectlogs.ExportLogsServiceResponse, error) {
	return &collectlogs.ExportLogsServiceResponse{}, s.c.takeLogs(q)
}

type spansServer struct {
	collecttrace.UnimplementedTraceServiceServer
	c *collector
}

func (s spansServer) Export(_ context.Context, q *collecttrace.ExportTraceServiceRequest) (
	*collecttrace.ExportTraceServiceResponse, error) {
	s.c.takeSpans(q)
	return &collecttrace.ExportTraceServiceResponse{}, nil
}

type metricsServer struct {
	collectmetrics.UnimplementedMetricsServiceServer
	c *collector
}

func (s metricsServer) Export(_ context.Context, q *collectmetrics.ExportMetricsServiceRequest) (
	*collectmetrics.ExportMetricsServiceResponse, error) {
	s.c.takeMetrics(q)
	return &collectmetrics.ExportMetricsServiceResponse{}, nil
}

// serveGRPC serves at an address, which may be taken again after its server has gone.
func (c *collector) serveGRPC(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	collectlogs.RegisterLogsServiceServer(s, logsServer{c: c})
	collecttrace.RegisterTraceServiceServer(s, spansServer{c: c})
	collectmetrics.RegisterMetricsServiceServer(s, metricsServer{c: c})
	go s.Serve(l)
	t.Cleanup(s.Stop)
}

// ServeHTTP takes OTLP by HTTP.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	var err error
	switch r.URL.Path {
	case "/v1/logs":
		q := &collectlogs.ExportLogsServiceRequest{}
		if err = proto.Unmarshal(b, q); err == nil {
			err = c.takeLogs(q)
		}
	case "/v1/traces":
		q := &collecttrace.ExportTraceServiceRequest{}
		if err = proto.Unmarshal(b, q); err == nil {
			c.takeSpans(q)
		}
	case "/v1/metrics":
		q := &collectmetrics.ExportMetricsServiceRequest{}
		if err = proto.Unmarshal(b, q); err == nil {
			c.takeMetrics(q)
		}
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// freeAddress is one of the loopback device at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// exported is a script that says all there is to be said.
const exported = `
global calls metric "calls_total" labels "parity, text" help "Calls.", sizes metric "sizes" unit "By" labels "p",
  level = 3 metric "level", part metric "part", odd[2] metric "odd" labels "n" max 1
probe begin {
	for (i = -20; i < 300; i++) {
		calls[i % 2, i % 3 ? "a\"b" : "ü\n"]++
		sizes[i % 2] <<< i * i - 50
		level = i
		span("even " . sprint(i), 1000 + i, i, level)
	}
	odd[1] = 1 odd[2] = 5
	part = 1.5
	printf("%d %s %u\n", level, "text", -1)
	log("logged")
	sizes["x" == "y"] <<< 1 << 62
	error("wrong on purpose")
}
probe begin(1) { println("more ", level) exit() }
`

// lineOf gives the lines of a session, as a file has them.
func linesOf(t *testing.T, args ...string) (text []byte, lines []*feed.Line) {
	t.Helper()
	cmd := exec.Command(bin(t, "gostap"), append([]string{"-w", "--format=json"}, args...)...)
	text, _ = cmd.Output()
	err := feed.New(bytes.NewReader(text)).Each(func(l *feed.Line) error {
		lines = append(lines, l)
		return nil
	}, nil)
	if err != nil || len(lines) < 3 || lines[len(lines)-1].Type != "end" {
		t.Fatalf("%v: %s", err, text)
	}
	return text, lines
}

// attribute gives a value as a line has it.
func attribute(kv []*common.KeyValue, name string) any {
	for _, a := range kv {
		if a.Key != name {
			continue
		}
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_IntValue:
			return v.IntValue
		case *common.AnyValue_DoubleValue:
			return v.DoubleValue
		case *common.AnyValue_StringValue:
			return v.StringValue
		case *common.AnyValue_ArrayValue:
			var out []string
			for _, e := range v.ArrayValue.Values {
				out = append(out, e.GetStringValue())
			}
			return out
		}
	}
	return nil
}

// TestExportOTLP: a receiver of OTLP that is away at first has afterwards each line, once and with its values, by gRPC
// and by HTTP.
func TestExportOTLP(t *testing.T) {
	text, lines := linesOf(t, "--runtime=host", "-e", exported)
	for _, kind := range []string{"otlp", "otlp+http"} {
		t.Run(kind, func(t *testing.T) {
			c := &collector{}
			address := freeAddress(t)
			cmd := exec.Command(bin(t, "gostap-export"), "--drain", "1m", kind+"://"+address)
			cmd.Stdin = bytes.NewReader(text)
			time.AfterFunc(500*time.Millisecond, func() { // it was away
				if kind == "otlp" {
					c.serveGRPC(t, address)
				} else if l, err := net.Listen("tcp", address); err == nil {
					go http.Serve(l, c)
					t.Cleanup(func() { l.Close() })
				}
			})
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "are kept and sent again") ||
				!strings.Contains(string(out), "ERROR: wrong on purpose") {
				t.Fatalf("%v\n%s", err, out)
			}
			c.compare(t, lines)
		})
	}
}

// compare holds what came against the lines.
func (c *collector) compare(t *testing.T, lines []*feed.Line) {
	t.Helper()
	var wantLogs, wantSpans []*feed.Line
	last := map[string]*feed.Line{} // series by their text
	for _, l := range lines {
		switch l.Type {
		case "begin", "end":
		case "span":
			wantSpans = append(wantSpans, l)
		case "metric":
			last[l.Name+fmt.Sprint(l.Labels)] = l
		default:
			wantLogs = append(wantLogs, l)
		}
	}
	if end := lines[len(lines)-1]; end.Error != "" {
		wantLogs = append(wantLogs, &feed.Line{Type: "end", Message: end.Error})
	}
	if len(c.logs) != len(wantLogs) || len(c.spans) != len(wantSpans) || len(wantSpans) != 320 {
		t.Fatalf("%d logs of %d, %d spans of %d", len(c.logs), len(wantLogs), len(c.spans), len(wantSpans))
	}
	for i, l := range wantLogs {
		body := strings.TrimSuffix(l.Text+l.Message, "\n")
		if got := c.logs[i].Body.GetStringValue(); got != body || c.logs[i].EventName != "gostap."+l.Type {
			t.Errorf("log %d is %q (%s), want %q (%s)", i, got, c.logs[i].EventName, body, l.Type)
		}
		if !l.Time.IsZero() && c.logs[i].TimeUnixNano != uint64(l.Time.UnixNano()) {
			t.Errorf("log %d is of %d, want %d", i, c.logs[i].TimeUnixNano, l.Time.UnixNano())
		}
		fieldsAre(t, c.logs[i].Attributes, l)
	}
	for i, l := range wantSpans {
		s := c.spans[i]
		if s.Name != l.Name || s.StartTimeUnixNano != uint64(l.Begin.UnixNano()) ||
			s.EndTimeUnixNano-s.StartTimeUnixNano != uint64(1000+i-20) {
			t.Errorf("span %d is %v, want %+v", i, s, l)
		}
		fieldsAre(t, s.Attributes, l)
	}
	points := 0
	for _, m := range c.metrics {
		points += len(m.GetSum().GetDataPoints()) + len(m.GetGauge().GetDataPoints()) +
			len(m.GetHistogram().GetDataPoints())
	}
	for _, l := range last {
		seriesIs(t, c.metrics[l.Name], l)
	}
	if points != len(last)+1 || len(last) != 12 { // and what was lost
		t.Errorf("%d series, want %d: %v", points, len(last), last)
	}
}

func fieldsAre(t *testing.T, kv []*common.KeyValue, l *feed.Line) {
	t.Helper()
	for _, f := range l.Fields {
		want := f.V
		if n, ok := want.(uint64); ok {
			want = strconv.FormatUint(n, 10)
		}
		if got := attribute(kv, f.Name); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Errorf("%s is %#v, want %#v", f.Name, got, want)
		}
	}
	if l.PID != 0 && attribute(kv, "process.pid") != int64(l.PID) {
		t.Errorf("no pid %d in %v", l.PID, kv)
	}
}

// seriesIs holds a series of a metric against its line.
func seriesIs(t *testing.T, m *metrics.Metric, l *feed.Line) {
	t.Helper()
	if m == nil || m.Unit != l.Unit || m.Description != l.Help {
		t.Errorf("metric %s is %v", l.Name, m)
		return
	}
	mine := func(kv []*common.KeyValue) bool {
		return !slices.ContainsFunc(l.Labels, func(f feed.Field) bool { return attribute(kv, f.Name) != f.V })
	}
	if l.Stats == nil {
		for _, p := range slices.Concat(m.GetSum().GetDataPoints(), m.GetGauge().GetDataPoints()) {
			v := any(p.GetAsInt())
			if _, ok := p.Value.(*metrics.NumberDataPoint_AsDouble); ok {
				v = p.GetAsDouble()
			}
			if mine(p.Attributes) {
				if v != l.Number() || p.TimeUnixNano != uint64(l.Time.UnixNano()) ||
					(l.Kind == "counter") != m.GetSum().GetIsMonotonic() {
					t.Errorf("%s %v is %v, want %v", l.Name, l.Labels, v, l.Value)
				}
				return
			}
		}
		t.Errorf("no series %s %v", l.Name, l.Labels)
		return
	}
	for _, p := range m.GetHistogram().GetDataPoints() {
		if !mine(p.Attributes) {
			continue
		}
		if p.Count != uint64(l.Stats.Count) || p.GetSum() != float64(l.Stats.Sum) ||
			p.GetMin() != float64(l.Stats.Min) || p.GetMax() != float64(l.Stats.Max) {
			t.Errorf("%s %v: %v, want %+v", l.Name, l.Labels, p, l.Stats)
		}
		below := bucketsBelow(l)
		var sum uint64
		for i, bound := range p.ExplicitBounds {
			if sum += p.BucketCounts[i]; sum != below(bound) {
				t.Errorf("%s %v: %d values up to %g, want %d", l.Name, l.Labels, sum, bound, below(bound))
			}
		}
		return
	}
	t.Errorf("no series %s %v", l.Name, l.Labels)
}

// bucketsBelow says how many values are in buckets that end at a bound or before it.
func bucketsBelow(l *feed.Line) func(bound float64) uint64 {
	return func(bound float64) (n uint64) {
		for _, h := range l.Histograms {
			for _, b := range h.Buckets {
				if float64(b.To) <= bound {
					n += uint64(b.Count)
				}
			}
		}
		return n
	}
}

// remoteStore takes remote write.
type remoteStore struct {
	mu     sync.Mutex
	values map[string]float64 // the last of each series
}

func (w *remoteStore) Store(r *http.Request, _ remote.WriteMessageType) (*remote.WriteResponse, error) {
	b, err := io.ReadAll(r.Body)
	q := &writev2.Request{}
	if err == nil {
		err = q.UnmarshalVT(b)
	}
	if err != nil {
		return remote.NewWriteResponse(), err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ts := range q.Timeseries {
		var name string
		for i := 0; i < len(ts.LabelsRefs); i += 2 {
			k, v := q.Symbols[ts.LabelsRefs[i]], q.Symbols[ts.LabelsRefs[i+1]]
			if k != "job" && k != "instance" {
				name += fmt.Sprintf("%s=%q ", k, v)
			}
		}
		w.values[name] = ts.Samples[len(ts.Samples)-1].Value
	}
	resp := remote.NewWriteResponse()
	resp.SetStatusCode(http.StatusNoContent)
	return resp, nil
}

// TestExportPrometheus: who asks for the metrics gets those of the lines, and so does who takes remote write; the end
// waits until they were asked for.
func TestExportPrometheus(t *testing.T) {
	text, lines := linesOf(t, "--runtime=host", "-e", exported)
	w := &remoteStore{values: map[string]float64{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go http.Serve(l, remote.NewWriteHandler(w, remote.MessageTypes{remote.WriteV2MessageType},
		remote.WithWriteHandlerMiddlewares(remote.SnappyDecodeMiddleware(nil))))
	address := freeAddress(t)
	cmd := exec.Command(bin(t, "gostap-export"), "--drain", "1m", "prometheus://"+address,
		"remote-write+http://"+l.Addr().String())
	cmd.Stdin = bytes.NewReader(text)
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Who scrapes asks again and again: the values that a page has may be older than the last.
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var page string
	for open := true; open; {
		select {
		case err := <-ended:
			if open = false; err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
		case <-time.After(20 * time.Millisecond):
			r, err := http.Get("http://" + address + "/metrics")
			if err != nil {
				continue
			}
			if b, err := io.ReadAll(r.Body); err == nil {
				page = string(b)
			}
			r.Body.Close()
		}
	}
	want := map[string]float64{}
	for _, l := range lines {
		if l.Type != "metric" {
			continue
		}
		key := func(name string, more string) string {
			parts := []string{fmt.Sprintf("__name__=%q ", name)}
			for _, f := range l.Labels {
				parts = append(parts, fmt.Sprintf("%s=%q ", f.Name, f.String()))
			}
			if more != "" {
				parts = append(parts, more)
			}
			slices.Sort(parts)
			return strings.Join(parts, "")
		}
		if l.Stats != nil {
			want[key(l.Name+"_count", "")] = float64(l.Stats.Count)
			want[key(l.Name+"_sum", "")] = float64(l.Stats.Sum)
			want[key(l.Name+"_bucket", `le="+Inf" `)] = float64(l.Stats.Count)
			continue
		}
		switch v := l.Number().(type) {
		case int64:
			want[key(l.Name, "")] = float64(v)
		case float64:
			want[key(l.Name, "")] = v
		}
	}
	if len(want) < 15 {
		t.Errorf("%d series", len(want))
	}
	for name, v := range want {
		if got, ok := w.values[name]; !ok || got != v && !(math.IsNaN(got) && math.IsNaN(v)) {
			t.Errorf("written: %s is %g, want %g", name, got, v)
		}
	}
	scraped := map[string]bool{}
	for line := range strings.Lines(page) {
		scraped[strings.TrimSpace(line)] = true
	}
	for _, w := range []string{`calls_total{parity="0",text="a\"b"} 107`, `calls_total{parity="-1",text="ü\n"} 3`,
		`sizes_count{p="1"} 150`, `level 299`, `part 1.5`, `gostap_errors_total 1`} {
		if !scraped[w] {
			t.Errorf("asked: no line %s in\n%s", w, page)
		}
	}
}

// TestExportBad: what is wrong with destinations is told before anything is traced; what is not delivered is counted,
// and the status says so.
func TestExportBad(t *testing.T) {
	gostap := bin(t, "gostap")
	bin(t, "gostap-export")
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for to, want := range map[string]string{
		"otlp":                                 `--export: "otlp" is no destination`,
		"otpl://h:1":                           `nothing is delivered by "otpl"`,
		"otlp://h:1?histogram=big":             "histogram is explicit or exponential",
		"otlp://h:1?x=y":                       "there is no option x",
		"prometheus://" + busy.Addr().String(): "address already in use",
		"prometheus://127.0.0.1":               "write prometheus://HOST:PORT",
		"prometheus://192.0.2.1:1":             "assign requested address",
	} {
		out, err := exec.Command(gostap, "--export", to, "-e", `probe begin { println("traced") exit() }`).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "traced") {
			t.Errorf("%s: %v %s", to, err, out)
		}
	}
	text, _ := linesOf(t, "--runtime=host", "-e", exported)
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(binDir, "gostap-export"), args...)
		cmd.Stdin = bytes.NewReader(text)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%v: the status is 0", args)
		}
		return string(out)
	}
	if out := run("--drain", "0.1s", "--queue", "10", "otlp://"+freeAddress(t)); !strings.Contains(out,
		"10 logs wait, and those that come now are lost") && !strings.Contains(out, "10 spans wait") ||
		!strings.Contains(out, "320 spans were not delivered") ||
		!strings.Contains(out, " moments of metrics were not") {
		t.Errorf("nobody there: %s", out)
	}
	if out := run("--drain", "0.1s", "prometheus://"+freeAddress(t)); !strings.Contains(out,
		"nobody has asked for the last values") {
		t.Errorf("nobody asks: %s", out)
	}
	c := &collector{refuses: true}
	address := freeAddress(t)
	c.serveGRPC(t, address)
	if out := run("otlp://" + address); !strings.Contains(out, "no logs here") || !strings.Contains(out,
		" logs were not delivered") || strings.Contains(out, "spans were not") {
		t.Errorf("refused: %s", out)
	}
}

// TestExportSession: what a session says in the kernel comes to a receiver while it runs, and nothing is printed but
// what the target prints; a metric in the making is seen. The receiver ends before the session, and that is told.
func TestExportSession(t *testing.T) {
	needRoot(t)
	bin(t, "gostap-export")
	c := &collector{}
	address := freeAddress(t)
	c.serveGRPC(t, address)
	script := `global hits metric "hits_total" labels "pid"
		probe process("/bin/sh").function("main")?, process("/bin/sh").begin {
			if (pid() == target()) { hits[pid()]++ println("hit ", pid()) } }
		probe timer.ms(10) { if (hits[target()]) seen++ if (seen > 50) exit() }
		global seen`
	cmd := exec.Command(bin(t, "gostap"), "--every", "0.05", "--export", "otlp://"+address, "-e", script, "-c",
		"sh -c 'echo mine; sleep 1'")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	stop := patience.AfterFunc(soon, func() { cmd.Process.Kill() })
	defer stop()
	if err := cmd.Run(); err != nil || stdout.String() != "mine\n" {
		t.Errorf("%v: %q %s", err, stdout.String(), stderr.String())
	}
	if len(c.logs) != 1 || !strings.HasPrefix(c.logs[0].Body.GetStringValue(), "hit ") ||
		c.metrics["hits_total"] == nil {
		t.Errorf("%d logs %v, metrics %v", len(c.logs), c.logs, c.metrics)
	}
	cmd = exec.Command(bin(t, "gostap"), "--export", "otlp://"+address, "-e",
		`probe timer.ms(1) { println("tick") }`)
	cmd.Stderr = &stderr
	stderr.Reset()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = patience.AfterFunc(soon, func() { cmd.Process.Kill() })
	defer stop()
	for c.count() < 20 {
		time.Sleep(10 * time.Millisecond)
	}
	killed := false
	for _, pid := range children(t, cmd.Process.Pid) { // of whichever of its threads
		n, _ := strconv.Atoi(pid)
		if name, _ := os.ReadFile("/proc/" + pid + "/comm"); string(name) == "gostap-export\n" {
			p, _ := os.FindProcess(n)
			killed = p.Kill() == nil
		}
	}
	if err := cmd.Wait(); !killed || err == nil ||
		!strings.Contains(stderr.String(), "gostap-export: not all was delivered") {
		t.Errorf("killed %v: %v %s", killed, err, stderr.String())
	}
}

func (c *collector) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.logs)
}
