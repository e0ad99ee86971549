package tests

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestClusterExport: what a session over pods of a real cluster counts comes to a real Collector and a real Prometheus,
// though the Collector is away for a minute, and pods come, are killed and move to another node meanwhile: the sums and
// the histogram are those of the pods' own calls, and of what each node prints for itself.
func TestClusterExport(t *testing.T) {
	c := upCluster(t)
	otelcol, prometheus := realCollector(t), realPrometheus(t)
	app := c.app()
	space := c.pods(2)
	bin(t, "gostap-export")
	addresses := []string{freeAddress(t), freeAddress(t), freeAddress(t)} // Collector, scraped, Prometheus
	var written []string
	collect := func() *exec.Cmd {
		file := filepath.Join(c.dir, fmt.Sprintf("written%d", len(written)))
		written = append(written, file)
		return serveProgram(t, addresses[0], otelcol, "--config", c.write("otelcol.yaml",
			fmt.Sprintf(collectorConfig, addresses[0], file)))
	}
	collector := collect()
	serveProgram(t, addresses[2], prometheus, "--config.file="+c.write("prometheus.yaml",
		fmt.Sprintf(scrapeConfig, addresses[1])), "--storage.tsdb.path="+filepath.Join(c.dir, "data"),
		"--web.listen-address="+addresses[2])

	script := fmt.Sprintf(`probe process(%q).function("handle") { calls++ size <<< $n }
		probe end { print(@hist_linear(size, 0, 499, 50)) }`, app)
	kube := []string{"kube", "-n", space, "-l", "app=cart", "--agents", space + "-agents", "--", "-v"}
	all := begin(t, append(kube, "--merge", "--every", "1s", "--export", "otlp://"+addresses[0]+"?temporality=delta",
		"--export", "prometheus://"+addresses[1], "-e",
		`global calls metric "calls_total", size metric "size" `+script)...)
	each := begin(t, append(kube, "--remote-plan", "-e", "global calls, size "+script)...)
	for _, s := range []*session{all, each} {
		for s.said("attached in"); strings.Count(s.stderr(), "attached in") < 2; time.Sleep(50 * time.Millisecond) {
		}
	}
	rolled := func(n int) {
		t.Helper()
		c.run("kubectl", "-n", space, "scale", "deploy/cart", fmt.Sprintf("--replicas=%d", n))
		c.run("kubectl", "-n", space, "rollout", "status", "deploy/cart", "--timeout=60s")
		c.called(500, n)
	}
	rolled(4)
	collector.Process.Signal(syscall.SIGINT)
	collector.Wait()
	away := time.Now()
	rolled(6)
	// Those of one node move to the other.
	t.Cleanup(func() { c.try("kubectl", "uncordon", "lab2") })
	c.run("kubectl", "cordon", "lab2")
	moved := strings.Fields(c.run("kubectl", "-n", space, "get", "pods", "-l", "app=cart", "--field-selector",
		"spec.nodeName=lab2", "-o", "jsonpath={.items[*].metadata.name}"))
	c.run(append([]string{"kubectl", "-n", space, "delete", "pod"}, moved...)...)
	rolled(6)
	time.Sleep(time.Until(away.Add(time.Minute)))
	again := collect()
	time.Sleep(5 * time.Second) // longer than it is waited until something is sent again
	for _, s := range []*session{all, each} {
		s.signal(syscall.SIGINT)
		if status := s.end(); status != 0 {
			t.Errorf("status %d\n%s", status, s.stderr())
		}
	}
	again.Process.Signal(syscall.SIGINT)
	again.Wait()

	want := 500 * (4 + len(moved))
	row := regexp.MustCompile(`(?m)^(?:\S+: )? *(\d+) \|@* *(\d+)$`)
	rows := func(text string) map[int]int {
		out := map[int]int{}
		for _, m := range row.FindAllStringSubmatch(text, -1) {
			low, _ := strconv.Atoi(m[1])
			n, _ := strconv.Atoi(m[2])
			out[low] += n
		}
		maps.DeleteFunc(out, func(_, n int) bool { return n == 0 })
		return out
	}
	var calls, sizes, sum int64
	text := ""
	for _, file := range written {
		got := readCollected(t, file)
		for _, r := range got.allMetrics {
			for _, m := range r.ScopeMetrics[0].Metrics {
				for _, p := range m.GetSum().GetDataPoints() {
					if m.Name == "calls_total" {
						calls += p.GetAsInt()
					}
				}
				for _, p := range m.GetHistogram().GetDataPoints() {
					sizes, sum = sizes+int64(p.Count), sum+int64(p.GetSum())
				}
			}
		}
		for _, r := range got.allLogs {
			for _, l := range r.ScopeLogs[0].LogRecords {
				text += l.Body.GetStringValue() + "\n"
			}
		}
	}
	if calls != int64(want) || sizes != int64(want) || sum != int64(want)/500*(499*500/2) {
		t.Errorf("the Collector has %d calls, %d sizes that add up to %d, of %d", calls, sizes, sum, want)
	}
	if got := valueOf(t, addresses[2], "last_over_time(calls_total[5m])"); got != strconv.Itoa(want) {
		t.Errorf("Prometheus has %s calls, of %d", got, want)
	}
	merged, nodes := rows(text), rows(each.stdout())
	if !maps.Equal(merged, nodes) || len(merged) != 10 || merged[50] != want/10 {
		t.Errorf("of all %v, of each node %v\n%s", merged, nodes, each.stdout())
	}
	if strings.Count(each.stdout(), "value |") != 2 {
		t.Errorf("not two nodes:\n%s", each.stdout())
	}
	if !strings.Contains(all.stderr(), "are kept and sent again") {
		t.Errorf("nothing said of the Collector:\n%s", all.stderr())
	}
}
