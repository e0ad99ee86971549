package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/gostap/gostap/cmd/internal/remote"
)

// parsed reads metrics as Prometheus does.
func parsed(t *testing.T, text []byte) map[string]*dto.MetricFamily {
	t.Helper()
	p := expfmt.NewTextParser(model.LegacyValidation)
	all, err := p.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for name, f := range all {
		total := strings.HasSuffix(name, "_total")
		if f.GetHelp() == "" || total != (f.GetType() == dto.MetricType_COUNTER) ||
			!total && f.GetType() != dto.MetricType_GAUGE {
			t.Errorf("%s is a %v: %q", name, f.GetType(), f.GetHelp())
		}
	}
	return all
}

// value is that of a metric, with the value of its only label, "" for one without.
func value(all map[string]*dto.MetricFamily, name, label string) float64 {
	for _, m := range all[name].GetMetric() {
		if len(m.Label) == 0 && label == "" || len(m.Label) == 1 && m.Label[0].GetValue() == label {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return math.NaN()
}

// TestMetrics: what sessions have come to is what Prometheus reads.
func TestMetrics(t *testing.T) {
	why := errors.New("no rights")
	l := New("1.0 \"x\"\\\n\xff", func() error { return why })
	a, b := l.Begin(), l.Begin()
	a.Told(remote.Report{Script: "a", Pods: []string{"1", "2"}})
	a.Told(remote.Report{Script: "a", Pods: []string{"2", "3"}})
	b.Told(remote.Report{Script: "b", Pods: []string{"3", "4"}})
	for r, n := range map[Result]int{OK: 1, Failed: 2, Abandoned: 3, Lost: 4} {
		for range n {
			s := l.Begin()
			s.Told(remote.Report{Script: "c", Missing: 10})
			s.End(r)
		}
	}
	l.Refuse()
	all := parsed(t, l.metrics())
	for name, want := range map[string]float64{"gostap_agent_sessions": 2, "gostap_agent_pods": 3,
		"gostap_agent_ready": 0, "gostap_agent_session_lost_total": 100, "gostap_agent_sessions_total ok": 1,
		"gostap_agent_sessions_total failed": 2, "gostap_agent_sessions_total abandoned": 3,
		"gostap_agent_sessions_total lost": 4, "gostap_agent_sessions_total refused": 1} {
		name, label, _ := strings.Cut(name, " ")
		if got := value(all, name, label); got != want {
			t.Errorf("%s %s: %v, not %v", name, label, got, want)
		}
	}
	info := all["gostap_build_info"].GetMetric()[0]
	if info.Label[0].GetName() != "version" || info.Label[0].GetValue() != "1.0 \"x\"\\\n\uFFFD" ||
		info.Label[1].GetName() != "kernel" || info.Label[1].GetValue() == "" || info.GetGauge().GetValue() != 1 {
		t.Errorf("%v", info)
	}
	c := l.Begin()
	c.Told(remote.Report{Missing: math.MaxUint64})
	c.End(Failed)
	if l.count().missing != math.MaxUint64 {
		t.Error("what is missing has become less")
	}
	// Of this process: it has run for less than the machine, has some files open, and does not shrink to nothing.
	began, now := value(all, "process_start_time_seconds", ""), float64(time.Now().UnixMilli())/1000
	if began > now+2 || began < now-3600 || value(all, "process_cpu_seconds_total", "") <= 0 ||
		value(all, "process_resident_memory_bytes", "") < 1<<20 || value(all, "process_open_fds", "") < 3 ||
		value(all, "process_max_fds", "") < 3 {
		t.Errorf("began at %v of %v\n%s", began, now, l.metrics())
	}
	fds, _ := os.ReadDir("/proc/self/fd")
	if got := value(parsed(t, l.metrics()), "process_open_fds", ""); got != float64(len(fds)-1) {
		t.Errorf("%v descriptors, not %d", got, len(fds)-1)
	}
}

// TestOf: what a session was killed for is none of its failures.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		r      remote.Report
		killed bool
		want   Result
	}{
		{remote.Report{Script: "a", Ended: true}, false, OK},
		{remote.Report{Script: "a", Ended: true, Status: 1}, false, Failed},
		{remote.Report{Script: "a", Ended: true, Status: 1, Lost: true}, false, Abandoned},
		{remote.Report{Script: "a"}, false, Lost},
		{remote.Report{Script: "a", Ended: true}, true, Lost},
		{remote.Report{}, true, Lost},
		{remote.Report{}, false, Failed}, // it was asked for nothing
	} {
		if got := Of(c.r, c.killed); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestServe: each path, each method, and how often the machine is asked.
func TestServe(t *testing.T) {
	var why error
	asked := 0
	l := New("1", func() error { asked++; return why })
	get := func(method, path string) (int, string) {
		w := httptest.NewRecorder()
		l.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code, w.Body.String()
	}
	for range 100 {
		if code, text := get("GET", "/readyz"); code != 200 || text != "ok\n" {
			t.Errorf("%d %s", code, text)
		}
	}
	if asked != 1 {
		t.Errorf("the machine was asked %d times", asked)
	}
	why = errors.New("load tracing programs: no permission")
	l.checked = l.checked.Add(-checkEvery)
	for path, want := range map[string]string{"GET /healthz": "200 ok\n", "GET /x": "404 there are /metrics",
		"GET /readyz": "503 not ready: load tracing programs: no permission\n", "POST /metrics": "405 only GET",
		"GET /metrics": "200 # HELP gostap_build_info 1", "GET /": "404 there are"} {
		method, path, _ := strings.Cut(path, " ")
		code, text := get(method, path)
		if got := fmt.Sprint(code, " ", text); !strings.HasPrefix(got, want) {
			t.Errorf("%s %s: %s", method, path, got)
		}
	}
}

// TestCrowded: who connects and says nothing, or garbage, a thousand times, keeps nobody out.
func TestCrowded(t *testing.T) {
	at, err := Listen("--metrics", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := New("1", func() error { return nil })
	served := make(chan error)
	go func() { served <- l.Serve(at) }()
	for i := range 1000 {
		c, err := net.Dial("tcp", at.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		switch i % 3 {
		case 0:
			c.Write(bytes.Repeat([]byte{byte(i)}, 100))
		case 1:
			io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: x\r\nX: ")
		}
		if i == 10 {
			defer func() {
				c.SetReadDeadline(time.Now().Add(time.Minute))
				if _, err := bufio.NewReader(c).ReadByte(); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error("an early one is still there")
				}
			}()
		}
		if i%100 != 50 {
			continue
		}
		r, err := http.Get("http://" + at.Addr().String() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.Header.Get("Content-Type") != contentType {
			t.Fatalf("%v %v", err, r.Header)
		}
		parsed(t, text)
		if fds := value(parsed(t, l.metrics()), "process_open_fds", ""); fds > 1000+mostConns+50 {
			t.Errorf("%v descriptors", fds)
		}
	}
	at.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestAddress(t *testing.T) {
	for _, bad := range []string{"", "1", "a:b", ":70000", ":-1", "::1:5", ":http", "[::1]"} {
		err := Address("--metrics", bad)
		if err == nil || !strings.Contains(err.Error(), "--metrics takes [HOST]:PORT") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{":0", "127.0.0.1:9478", "[::1]:5", "localhost:65535"} {
		if err := Address("--metrics", good); err != nil {
			t.Error(err)
		}
	}
	at, err := Listen("--metrics", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if _, err := Listen("--metrics", at.Addr().String()); err == nil ||
		!strings.HasPrefix(err.Error(), "--metrics "+at.Addr().String()+": ") {
		t.Errorf("%v", err)
	}
}
