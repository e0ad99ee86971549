package tests

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"

	"github.com/gostap/gostap/tests/patience"
)

// TestExportMachines: what two machines say is delivered as one session's: what is added up comes once and has the
// program's own counts, by deltas that add up to it; what is of each machine has that machine's resource or label.
func TestExportMachines(t *testing.T) {
	needRoot(t)
	c := &collector{}
	address := freeAddress(t)
	c.serveGRPC(t, address)
	want := sessionOfMachines(t, "otlp://"+address+"?temporality=delta")
	c.machines(t, want)
}

// sessionOfMachines runs a session over two machines, which both see all that a program does, and delivers to a
// destination and to who asks: what that gets is looked at. It gives how many calls there were.
func sessionOfMachines(t *testing.T, destination string) (calls int) {
	t.Helper()
	bin(t, "gostap-export")
	prog, asked := bin(t, "busyc"), freeAddress(t)
	s := begin(t, "-w", "--merge", "--remote", "direct", "--remote", "direct", "--every", "0.1",
		"--export", destination, "--export", "prometheus://"+asked, "-e",
		`probe begin { log("begun") }`+gathering(prog))
	page := func() string {
		r, err := http.Get("http://" + asked + "/metrics")
		if err != nil {
			return ""
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return string(b)
	}
	for n := 0; ; n++ { // the probes are in place where numbers come from both
		text := page()
		if strings.Contains(text, `{machine="direct"} 0`) && strings.Contains(text, `{machine="direct#2"} 0`) {
			break
		}
		if n > 600 {
			t.Fatalf("nothing came: %s", text)
		}
		time.Sleep(100 * time.Millisecond)
	}
	step(t, prog, "2000")
	step(t, prog, "40")
	s.signal(syscall.SIGINT)
	last := ""
	calls = 2 * (2000 + 100 + 40 + 2)
	for range 100 { // until it has ended, since someone asked for the last values
		text := page()
		if text == "" && last != "" {
			break
		}
		last = text
		time.Sleep(50 * time.Millisecond)
	}
	s.end()
	for _, line := range []string{fmt.Sprintf("calls_total %d\n", calls),
		fmt.Sprintf(`by_total{name="busyc"} %d`, calls), `last_n{machine="direct"} 39`,
		`last_n{machine="direct#2"} 39`, `gostap_errors_total 0`} {
		if !strings.Contains(last, line) {
			t.Errorf("Prometheus does not get %q\n%s", line, last)
		}
	}
	return calls
}

// machines holds what came of sessionOfMachines against the calls.
func (c *collector) machines(t *testing.T, want int) {
	t.Helper()
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

// TestExportPods: what a machine has counted stays one series when pods come and go on it, also for those who add up
// deltas; its logs have the pod as long as there is one.
func TestExportPods(t *testing.T) {
	c := &collector{}
	address, asked := freeAddress(t), freeAddress(t)
	c.serveGRPC(t, address)
	const at = `"machine":"m","node":"n","namespace":"shop"`
	text := `{"type":"begin","schema":1,"gostap":"1","host":"h","kernel":"6.1","script":"s"}` + "\n" +
		`{"type":"machine-begin",` + at + `,"pod":"a","schema":1,"gostap":"1","host":"n","kernel":"6.1","script":"s"}` +
		"\n"
	for i, value := range []int{100, 150, 175} {
		pod := ""
		if i == 0 {
			pod = `,"pod":"a"`
		}
		time := fmt.Sprintf(`"time":"2026-01-02T03:04:1%dZ"`, i)
		text += fmt.Sprintf(`{"type":"text",%s%s,"text":"said %d\n"}`+"\n", at, pod, i)
		text += fmt.Sprintf(`{"type":"metric",%s%s,%s,"begin":"2026-01-02T03:04:05Z","name":"c_total",`+
			`"kind":"counter","labels":{"l":"x"},"value":%d}`+"\n", at, pod, time, value)
		text += fmt.Sprintf(`{"type":"lost",%s%s,"cause":"full","count":2,"message":"2 lost"}`+"\n", at, pod)
	}
	text += `{"type":"end","time":"2026-01-02T03:04:15Z","status":0,"errors":0}` + "\n"
	cmd := exec.Command(bin(t, "gostap-export"), "otlp://"+address+"?temporality=delta", "prometheus://"+asked)
	cmd.Stdin = strings.NewReader(text)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	page := ""
	for range 100 {
		if r, err := http.Get("http://" + asked + "/metrics"); err == nil {
			b, _ := io.ReadAll(r.Body)
			r.Body.Close()
			page = string(b)
		} else if page != "" {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, line := range []string{`c_total{l="x",machine="m",node="n"} 175`,
		`gostap_lost_total{cause="full",machine="m",node="n"} 6`} {
		if strings.Count(page, line+"\n") != 1 || strings.Count(page, "c_total{") != 1 {
			t.Errorf("not one %q in\n%s", line, page)
		}
	}
	sum := int64(0)
	for _, r := range c.allMetrics {
		for _, m := range r.ScopeMetrics[0].Metrics {
			if m.Name == "c_total" {
				sum += m.GetSum().DataPoints[0].GetAsInt()
			}
		}
		if attribute(r.Resource.Attributes, "k8s.pod.name") != nil ||
			attribute(r.Resource.Attributes, "k8s.node.name") != "n" {
			t.Errorf("metrics of %v", r.Resource)
		}
	}
	if sum != 175 {
		t.Errorf("deltas add up to %d", sum)
	}
	pods := map[any]int{}
	for _, r := range c.allLogs {
		pods[attribute(r.Resource.Attributes, "k8s.pod.name")] += len(r.ScopeLogs[0].LogRecords)
	}
	if pods["a"] != 2 || pods[nil] != 4 {
		t.Errorf("logs by pod: %v", pods)
	}
}

// TestExportAway: what there was no room for while a receiver was away is part of the difference that comes when it is
// back: deltas add up to all that was counted.
func TestExportAway(t *testing.T) {
	c := &collector{}
	address := freeAddress(t)
	cmd := exec.Command(bin(t, "gostap-export"), "otlp://"+address+"?temporality=delta")
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	moment := func(n int) {
		fmt.Fprintf(in, `{"type":"metric","time":%q,"begin":%q,"name":"c_total","kind":"counter","labels":{},`+
			`"value":%d}`+"\n", begin.Add(time.Duration(n)*time.Second).Format(time.RFC3339),
			begin.Format(time.RFC3339), n)
	}
	fmt.Fprintln(in, `{"type":"begin","schema":1,"gostap":"1","host":"h","kernel":"6.1","script":"s"}`)
	for n := range 100 {
		moment(n + 1)
	}
	time.Sleep(500 * time.Millisecond)
	c.serveGRPC(t, address)
	for end := patience.Now() + soon; c.added("c_total") < 50 && patience.Now() < end; {
		time.Sleep(50 * time.Millisecond)
	}
	moment(101)
	in.Close()
	if cmd.Wait(); c.added("c_total") != 101 || !strings.Contains(said.String(), "60 moments of metrics wait") {
		t.Errorf("deltas add up to %d\n%s", c.added("c_total"), &said)
	}
}

// added gives the sum of all that came of a counter.
func (c *collector) added(name string) (sum int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.allMetrics {
		for _, m := range r.ScopeMetrics[0].Metrics {
			for _, p := range m.GetSum().GetDataPoints() {
				if m.Name == name {
					sum += p.GetAsInt()
				}
			}
		}
	}
	return sum
}
