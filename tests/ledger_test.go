package tests

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/gostap/gostap/tests/patience"
)

var metricsAt = regexp.MustCompile(`metrics are at (http://\S+)/metrics`)

// watched asks an agent that has said where its metrics are.
type watched struct {
	*session
	at string
}

func watch(s *session) *watched {
	s.t.Helper()
	s.said("metrics are at ")
	m := metricsAt.FindStringSubmatch(s.stderr())
	if m == nil {
		s.t.Fatal(s.stderr())
	}
	return &watched{s, m[1]}
}

func (w *watched) get(path string) (int, []byte) {
	w.t.Helper()
	r, err := (&http.Client{Timeout: time.Minute}).Get(w.at + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.StatusCode, text
}

// metrics are the values of those of the agent, without their prefix, as Prometheus reads them.
func (w *watched) metrics() map[string]float64 {
	w.t.Helper()
	_, text := w.get("/metrics")
	p := expfmt.NewTextParser(model.LegacyValidation)
	all, err := p.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		w.t.Fatalf("%v\n%s", err, text)
	}
	out := map[string]float64{}
	for name, f := range all {
		name, is := strings.CutPrefix(name, "gostap_agent_")
		for _, m := range f.Metric {
			key := name
			for _, l := range m.Label {
				key += " " + l.GetValue()
			}
			if is {
				out[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return out
}

// await waits until metrics are as is said; those that are not named are 0.
func (w *watched) await(want map[string]float64) {
	w.t.Helper()
	for mark := patience.Now(); ; time.Sleep(20 * time.Millisecond) {
		got := w.metrics()
		maps.DeleteFunc(got, func(name string, v float64) bool { return v == 0 })
		if maps.Equal(got, want) {
			return
		}
		if patience.Now()-mark > time.Minute {
			w.t.Fatalf("%v, not %v\n%s", got, want, w.stderr())
		}
	}
}

// TestAgentMetrics: an agent counts sessions that run, have ended well, have failed, were killed, left and refused, and
// says that it can trace.
func TestAgentMetrics(t *testing.T) {
	needRoot(t)
	dir := certificates(t)
	a := beginAgent(t, dir+"/localhost", "--metrics", "127.0.0.1:0", "--sessions", "2")
	w := watch(a.session)
	w.await(map[string]float64{"ready": 1})
	if code, text := w.get("/readyz"); code != 200 || string(text) != "ok\n" {
		t.Errorf("%d %s", code, text)
	}
	ann := []string{"--tls", dir + "/ann", "--remote", a.uri(), "-e"}
	if out, err := gostapRuns(t, append(ann, onRemote)...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.await(map[string]float64{"ready": 1, "sessions_total ok": 1})
	if out, err := gostapRuns(t, append(ann, `probe begin { error("so") }`)...); err == nil {
		t.Fatal(out)
	}
	w.await(map[string]float64{"ready": 1, "sessions_total ok": 1, "sessions_total failed": 1})

	runs := begin(t, append(ann, `probe timer.ms(10) { println("on") }`)...)
	runs.line("on")
	first := strings.TrimSpace(a.children())
	killed := begin(t, append(ann, `probe timer.ms(10) { println("on") }`)...)
	killed.line("on")
	for pid := range strings.FieldsSeq(a.children()) {
		if pid != first {
			exec.Command("kill", "-9", pid).Run()
		}
	}
	w.await(map[string]float64{"ready": 1, "sessions": 1, "sessions_total ok": 1, "sessions_total failed": 1,
		"sessions_total lost": 1})
	left := begin(t, append(ann, `probe timer.ms(10) { println("on") }`)...)
	left.line("on")
	if out, err := gostapRuns(t, append(ann, onRemote)...); err == nil {
		t.Fatal(out)
	}
	left.cmd.Process.Kill()
	w.await(map[string]float64{"ready": 1, "sessions": 1, "sessions_total ok": 1, "sessions_total failed": 1,
		"sessions_total lost": 1, "sessions_total abandoned": 1, "sessions_total refused": 1})
	runs.signal(syscall.SIGINT)
	if status := runs.end(); status != 0 {
		t.Errorf("status %d: %s", status, runs.stderr())
	}
	w.await(map[string]float64{"ready": 1, "sessions_total ok": 2, "sessions_total failed": 1,
		"sessions_total lost": 1, "sessions_total abandoned": 1, "sessions_total refused": 1})
	taken := "--metrics=" + strings.TrimPrefix(w.at, "http://")
	if out, err := gostapRuns(t, "agent", "--listen", "127.0.0.1:0", "--tls", dir+"/localhost", taken); err == nil ||
		!strings.Contains(out, "error: --metrics 127.0.0.1:") || strings.Contains(out, "listening") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAgentLost: what the warnings of a session count at its end is in the metrics of its agent.
func TestAgentLost(t *testing.T) {
	needRoot(t)
	path := bin(t, "busy")
	dir := certificates(t)
	a := beginAgent(t, dir+"/localhost", "--metrics", "127.0.0.1:0")
	w := watch(a.session)
	s := begin(t, "--tls", dir+"/ann", "--remote", a.uri(), "-s", "1", "-e", `probe process("`+path+
		`").function("main.step") { printf("step %d of a program that prints a lot\n", $n) }
		probe timer.ms(10) { if (!said++) println("ready") } global said`)
	s.line("ready")
	pid := strings.TrimSpace(a.children())
	exec.Command("kill", "-STOP", pid).Run()
	out, err := exec.Command(path, "100000").CombinedOutput()
	exec.Command("kill", "-CONT", pid).Run()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.signal(syscall.SIGINT)
	if status := s.end(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
	lost := counted(t, s.stderr(), "events lost because the output buffer was full")
	if lost == 0 {
		t.Error("nothing was lost")
	}
	w.await(map[string]float64{"ready": 1, "sessions_total ok": 1, "session_lost_total": float64(lost)})
}

// TestWaitMetrics: sessions that others begin where "gostap kube wait" is are counted there, with their pods; one that
// is killed is lost. Nobody who holds its socket or its port hurts it, and sessions do without it.
func TestWaitMetrics(t *testing.T) {
	needRoot(t)
	cache, err := os.MkdirTemp("", "wait") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(cache) })
	t.Setenv("XDG_CACHE_HOME", cache)
	socket := filepath.Join(cache, "gostap-agent", "agent.sock")
	w := watch(begin(t, "kube", "wait", "--metrics", "127.0.0.1:0"))
	awaitFile(t, socket)
	if st, err := os.Stat(socket); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	ready := map[string]float64{}
	if out, err := gostapRuns(t, "kube", "health"); err == nil {
		ready["ready"] = 1
	} else if code, text := w.get("/readyz"); code != 503 || string(text) != "not ready: "+
		strings.TrimPrefix(out, "error: ") {
		t.Errorf("%d: %s%s", code, text, out)
	}
	and := func(more map[string]float64) map[string]float64 {
		out := maps.Clone(ready)
		maps.Copy(out, more)
		return out
	}
	w.await(ready)

	if out, err := gostapRuns(t, "--remote", "direct", "-e", onRemote); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.await(and(map[string]float64{"sessions_total ok": 1}))
	if out, err := gostapRuns(t, "--remote", "direct", "-e", `probe begin { error("so") }`); err == nil {
		t.Fatal(out)
	}
	w.await(and(map[string]float64{"sessions_total ok": 1, "sessions_total failed": 1}))

	killed := begin(t, "--remote", "direct", "-e", `probe timer.ms(10) { println("on") }`)
	killed.line("on")
	w.await(and(map[string]float64{"sessions": 1, "sessions_total ok": 1, "sessions_total failed": 1}))
	if out, err := exec.Command("pkill", "-9", "-P", fmt.Sprint(killed.cmd.Process.Pid)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	counted := and(map[string]float64{"sessions_total ok": 1, "sessions_total failed": 1, "sessions_total lost": 1})
	w.await(counted)

	// Of connections that say nothing, or garbage, only some are kept, and a session that reports meanwhile is counted.
	runs := begin(t, "--remote", "direct", "-e", `probe timer.ms(10) { println("on") }`)
	runs.line("on")
	for i := range 1000 {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%10 == 0 {
			c.Write(bytes.Repeat([]byte{byte(i / 10)}, 3000))
		}
		if h, err := net.Dial("tcp", strings.TrimPrefix(w.at, "http://")); err == nil {
			defer h.Close()
		}
	}
	if out, err := gostapRuns(t, "--remote", "direct", "-e", onRemote); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	counted["sessions"], counted["sessions_total ok"] = 1, 2
	w.await(counted)
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.cmd.Process.Pid))
	if len(fds) > 200 {
		t.Errorf("%d descriptors", len(fds))
	}

	// Without the agent the session goes on, others begin, and another agent takes the place of the dead socket.
	w.cmd.Process.Kill()
	<-w.done
	runs.line("on")
	runs.signal(syscall.SIGINT)
	if status := runs.end(); status != 0 {
		t.Errorf("status %d: %s", status, runs.stderr())
	}
	if out, err := gostapRuns(t, "--remote", "direct", "-e", onRemote); err != nil || strings.Contains(out, "agent") {
		t.Errorf("%v: %s", err, out)
	}
	w = watch(begin(t, "kube", "wait", "--metrics=127.0.0.1:0"))
	w.await(ready)
	if out, err := gostapRuns(t, "--remote", "direct", "-e", onRemote); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	w.await(and(map[string]float64{"sessions_total ok": 1}))
	w.signal(syscall.SIGTERM)
	if status := w.end(); status != 0 || strings.Contains(w.stderr(), "WARNING") {
		t.Errorf("status %d: %s", status, w.stderr())
	}
	if left, _ := os.ReadDir(filepath.Dir(socket)); len(left) > 0 && strings.Contains(fmt.Sprint(left), "sock") {
		t.Errorf("left: %v", left)
	}
}

// TestHealth: with the rights of the agents' manifest a node can be traced, and with one of them less it cannot, which
// is said.
func TestHealth(t *testing.T) {
	needRoot(t)
	health := func(caps ...string) (string, error) {
		few := "-all"
		for _, c := range caps {
			few += ",+" + c
		}
		out, err := exec.Command("setpriv", "--no-new-privs", "--bounding-set="+few, "--inh-caps="+few,
			bin(t, "gostap"), "kube", "health").CombinedOutput()
		return string(out), err
	}
	if out, err := health(agentRights...); err != nil || out != "ready\n" {
		t.Errorf("%v: %s", err, out)
	}
	for without, want := range map[string]string{"bpf": "error: load tracing programs: no permission",
		"perfmon":    "error: load tracing programs: no permission",
		"sys_ptrace": "error: programs of the pods cannot be looked at: an agent needs CAP_SYS_PTRACE\n"} {
		few := slices.DeleteFunc(slices.Clone(agentRights), func(c string) bool { return c == without })
		if out, err := health(few...); err == nil || !strings.HasPrefix(out, want) {
			t.Errorf("without %s: %v: %s", without, err, out)
		}
	}
}
