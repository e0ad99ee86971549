package tests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	collectlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collecttrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gostap/gostap/tests/oracle"
)

// prometheusRelease is the release of Prometheus that is built, of the module of that version.
const prometheusRelease = "v0.316.0"

// realProgram is a program that variable names, or one that is built, once for all runs, if GOSTAP_ORACLE=full asks.
func realProgram(t *testing.T, variable, name string, build func(to string) *exec.Cmd) string {
	t.Helper()
	if path := os.Getenv(variable); path != "" {
		return path
	}
	if !oracle.Full() {
		t.Skipf("GOSTAP_ORACLE=full builds %s, for minutes; %s names one that is there", name, variable)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cache, "gostap-tests", name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	half := path + ".new"
	if out, err := build(half).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	if err := os.Rename(half, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// serveProgram runs a program until the test is done, and waits until it listens.
func serveProgram(t *testing.T, address string, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s", &said)
		}
	})
	for end := time.Now().Add(soon); !answers(address); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not listen at %s", name, address)
		}
	}
	return cmd
}

// answers says whether somebody listens at an address.
func answers(address string) bool {
	c, err := net.Dial("tcp", address)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// realCollector is the Collector, with the receiver for OTLP and a file for all that comes.
func realCollector(t *testing.T) string {
	return realProgram(t, "GOSTAP_OTELCOL", "otelcol-v0.162.0", func(to string) *exec.Cmd {
		cmd := exec.Command("go", "build", "-o", to, ".")
		cmd.Dir = filepath.Join("testdata", "otelcol")
		return cmd
	})
}

// collectorConfig is of an address and a file.
const collectorConfig = `receivers: {otlp: {protocols: {grpc: {endpoint: %q}}}}
exporters: {file: {path: %q}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    logs: {receivers: [otlp], exporters: [file]}
    traces: {receivers: [otlp], exporters: [file]}
    metrics: {receivers: [otlp], exporters: [file]}
`

// realPrometheus is Prometheus.
func realPrometheus(t *testing.T) string {
	return realProgram(t, "GOSTAP_PROMETHEUS", "prometheus-"+prometheusRelease, func(to string) *exec.Cmd {
		return exec.Command("sh", "-ec", `GOBIN="$1" go install github.com/prometheus/prometheus/cmd/prometheus@"$2"
			mv "$1/prometheus" "$3"`, "sh", filepath.Dir(to), prometheusRelease, to)
	})
}

// scrapeConfig has Prometheus ask an address twice a second.
const scrapeConfig = `scrape_configs:
- job_name: gostap
  scrape_interval: 500ms
  scrape_timeout: 500ms
  static_configs: [{targets: [%q]}]
`

// TestExportCollector: what a real Collector has written into its file is what the lines say, record by record.
func TestExportCollector(t *testing.T) {
	otelcol := realCollector(t)
	dir, address := t.TempDir(), freeAddress(t)
	bin(t, "gostap-export")
	written, config := filepath.Join(dir, "written"), filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf(collectorConfig, address, written)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	lines, parsed := linesOf(t, "--runtime=host", "-e", exported)
	// collected is what a Collector has in its file of what is delivered.
	collected := func(deliver func()) *collector {
		os.Remove(written)
		server := serveProgram(t, address, otelcol, "--config", config)
		deliver()
		// At its end the file is whole.
		if err := server.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		server.Wait()
		return readCollected(t, written)
	}
	collect := func(deliver *exec.Cmd, good func(out string, err error) bool) *collector {
		return collected(func() {
			if out, err := deliver.CombinedOutput(); !good(string(out), err) {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
	deliver := exec.Command(bin(t, "gostap-export"), "--drain", "1m", "otlp://"+address)
	deliver.Stdin = bytes.NewReader(lines)
	c := collect(deliver, func(_ string, err error) bool { return err == nil })
	c.compare(t, parsed)

	// And the same by a session itself, of which only the number of records is known beforehand.
	session := exec.Command(bin(t, "gostap"), "--runtime=host", "--export", "otlp://"+address, "-e", exported)
	c2 := collect(session, func(out string, _ error) bool { return strings.Contains(out, "wrong on purpose") })
	if len(c2.logs)%len(c.logs) != 0 || len(c2.spans)%len(c.spans) != 0 || len(c2.metrics) != len(c.metrics) {
		t.Errorf("a session: %d logs, %d spans, %d metrics, by gostap-export alone %d, %d, %d", len(c2.logs),
			len(c2.spans), len(c2.metrics), len(c.logs), len(c.spans), len(c.metrics))
	}

	// And what two machines have counted.
	needRoot(t)
	calls := 0
	c3 := collected(func() { calls = sessionOfMachines(t, "otlp://"+address+"?temporality=delta") })
	c3.machines(t, calls)
}

// readCollected reads a file of the Collector's: a request in each line.
func readCollected(t *testing.T, path string) *collector {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := &collector{}
	lax := protojson.UnmarshalOptions{DiscardUnknown: true}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	read := func(to proto.Message) {
		if err := lax.Unmarshal(in.Bytes(), to); err != nil {
			t.Fatalf("%v: %.200s", err, in.Bytes())
		}
	}
	for in.Scan() {
		var logs collectlogs.ExportLogsServiceRequest
		var spans collecttrace.ExportTraceServiceRequest
		var metrics collectmetrics.ExportMetricsServiceRequest
		switch {
		case bytes.HasPrefix(in.Bytes(), []byte(`{"resourceLogs"`)):
			read(&logs)
			_ = c.takeLogs(&logs)
		case bytes.HasPrefix(in.Bytes(), []byte(`{"resourceSpans"`)):
			read(&spans)
			c.takeSpans(&spans)
		default:
			read(&metrics)
			c.takeMetrics(&metrics)
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// counting is a script whose metrics change for a minute, and are known at the end.
const counting = `
global ticks metric "ticks_total" labels "parity" help "Ticks.", sizes metric "sizes" unit "By", level metric "level"
probe timer.ms(100) {
	ticks[level % 2 ? "odd" : "even"]++
	sizes <<< level * level
	if (++level == 600) exit()
}
`

// TestExportScraped: a real Prometheus that scrapes a session has at the end the values that it ended with, and all
// values on the way only grow.
func TestExportScraped(t *testing.T) {
	prometheus := realPrometheus(t)
	dir, address, own := t.TempDir(), freeAddress(t), freeAddress(t)
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, fmt.Appendf(nil, scrapeConfig, address), 0o644); err != nil {
		t.Fatal(err)
	}
	bin(t, "gostap-export")
	serveProgram(t, own, prometheus, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+own)
	session := exec.Command(bin(t, "gostap"), "--runtime=host", "--every", "1s", "--export", "prometheus://"+address,
		"-e", counting)
	if out, err := session.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sum := 0
	for i := range 600 {
		sum += i * i
	}
	for query, want := range map[string]string{
		`last_over_time(ticks_total{parity="even"}[5m])`:         "300",
		`last_over_time(ticks_total{parity="odd"}[5m])`:          "300",
		`last_over_time(level[5m])`:                              "600",
		`last_over_time(sizes_count[5m])`:                        "600",
		`last_over_time(sizes_sum[5m])`:                          fmt.Sprint(sum),
		`last_over_time(sizes_bucket{le="+Inf"}[5m])`:            "600",
		`last_over_time(sizes_bucket{le="255.0"}[5m])`:           "16",
		`last_over_time(gostap_errors_total[5m])`:                "0",
		`count(count_over_time(ticks_total[5m]) >= bool 60)`:     "2",
		`sum(resets({__name__=~"ticks_total|sizes_count"}[5m]))`: "0",
	} {
		if got := valueOf(t, own, query); got != want {
			t.Errorf("%s is %s, want %s", query, got, want)
		}
	}
}

// valueOf is the one value that Prometheus answers a query with.
func valueOf(t *testing.T, address, query string) string {
	t.Helper()
	r, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var answer struct {
		Error string
		Data  struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Data.Result) != 1 {
		return fmt.Sprintf("%d values %s", len(answer.Data.Result), answer.Error)
	}
	return fmt.Sprint(answer.Data.Result[0].Value[1])
}
