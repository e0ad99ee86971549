package tests

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// TestExportMachines: what two machines say is delivered as one session's: what is added up comes once and has the
// program's own counts, by deltas that add up to it; what is of each machine has that machine's resource or label.
func TestExportMachines(t *testing.T) {
	needRoot(t)
	bin(t, "gostap-export")
	prog := bin(t, "busyc")
	c := &collector{}
	address, asked := freeAddress(t), freeAddress(t)
	c.serveGRPC(t, address)
	s := begin(t, "-w", "--merge", "--remote", "direct", "--remote", "direct", "--every", "0.1",
		"--export", "otlp://"+address+"?temporality=delta", "--export", "prometheus://"+asked, "-e",
		`probe begin { log("begun") }`+gathering(prog))
	for n := 0; ; n++ { // the probes are in place where it has printed
		c.mu.Lock()
		printed := fmt.Sprint(c.logs)
		c.mu.Unlock()
		if strings.Contains(printed, "so far 0") {
			break
		}
		if n > 600 {
			t.Fatalf("nothing came: %s", printed)
		}
		time.Sleep(100 * time.Millisecond)
	}
	step(t, prog, "2000")
	step(t, prog, "40")
	s.signal(syscall.SIGINT)
	page := ""
	want := 2 * (2000 + 100 + 40 + 2)
	for range 100 { // until the values are the last
		if r, err := http.Get("http://" + asked + "/metrics"); err == nil {
			b, _ := io.ReadAll(r.Body)
			r.Body.Close()
			page = string(b)
		} else if page != "" {
			break // it has ended, since someone asked for the last values
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.end()
	for _, line := range []string{fmt.Sprintf("calls_total %d\n", want), fmt.Sprintf(`by_total{name="busyc"} %d`, want),
		`last_n{machine="direct"} 39`, `last_n{machine="direct#2"} 39`, `gostap_errors_total 0`} {
		if !strings.Contains(page, line) {
			t.Errorf("Prometheus does not get %q\n%s", line, page)
		}
	}
	var calls, by int64
	moments := 0
	last := map[string]int64{}
	for _, r := range c.allMetrics {
		machine, _ := attribute(r.Resource.Attributes, "gostap.machine").(string)
		if attribute(r.Resource.Attributes, "host.name") == nil {
			t.Errorf("a resource without a host: %v", r.Resource)
		}
		for _, m := range r.ScopeMetrics[0].Metrics {
			points := m.GetSum().GetDataPoints()
			switch m.Name {
			case "calls_total", "by_total":
				if machine != "" || m.GetSum().AggregationTemporality !=
					metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA {
					t.Errorf("%s of machine %q: %v", m.Name, machine, m)
				}
				for _, p := range points {
					if m.Name == "by_total" {
						by += p.GetAsInt()
						continue
					}
					calls += p.GetAsInt()
					moments++
				}
			case "last_n":
				for _, p := range m.GetGauge().GetDataPoints() {
					last[machine] = p.GetAsInt()
				}
			}
		}
	}
	if calls != int64(want) || by != int64(want) || moments < 2 {
		t.Errorf("deltas add up to %d and %d in %d moments, want %d", calls, by, moments, want)
	}
	if len(last) != 2 || last["direct"] != 39 || last["direct#2"] != 39 {
		t.Errorf("the last of each machine: %v", last)
	}
	texts := map[string]string{}
	for _, r := range c.allLogs {
		machine, _ := attribute(r.Resource.Attributes, "gostap.machine").(string)
		for _, l := range r.ScopeLogs[0].LogRecords {
			texts[machine] += l.Body.GetStringValue() + "\n"
		}
	}
	for machine, text := range map[string]string{"": fmt.Sprintf("%d calls\n", want), "direct": "steps",
		"direct#2": "steps"} {
		if !strings.Contains(texts[machine], text) {
			t.Errorf("%q does not say %q: %s", machine, text, texts[machine])
		}
	}
}
