package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCluster: in a real cluster of two nodes, pods are traced that come by a scale-up, in place of one that was
// killed, and by a rollout to another build, while the session runs: those on a node with a session from their first
// call on.
func TestCluster(t *testing.T) {
	c := upCluster(t)
	run, write := c.run, c.write
	app := filepath.Join(c.dir, "app")
	build := func(image, text string) {
		t.Helper()
		run("gcc", "-g", "-O1", "-static", "-Wl,--build-id", "-o", app+".new", write("app.c", text))
		run("mv", app+".new", app)
		run(c.lab, "load-image", image, app)
	}
	build("gostapapp1", clusterApp)
	space := c.pods(1)
	rolled := func() { run("kubectl", "-n", space, "rollout", "status", "deploy/cart", "--timeout=60s") }

	cmd := exec.Command(bin(t, "gostap"), "kube", "-n", space, "-l", "app=cart", "--agents", space+"-agents", "--",
		"--merge", "-e", fmt.Sprintf(`
		global calls[1000], told
		probe process(%q).function("handle") { calls[pid()]++ }
		probe timer.ms(50) { if (!told++) println("ready") }
		probe end { foreach (p in calls) printf("process %%d: %%d\n", p, calls[p]) }`, app))
	out, errs := &said{}, &said{}
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	out.await(t, "ready")
	process := map[string]int{} // of pods
	look := func() (pods []string) {
		t.Helper()
		rolled()
		time.Sleep(2 * time.Second) // all have made their calls
		for line := range strings.Lines(run("kubectl", "-n", space, "get", "pods", "-l", "app=cart", "-o",
			`jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\n"}{end}`)) {
			w := strings.Fields(line)
			pods = append(pods, w[0])
			list, _ := filepath.Glob("/proc/[0-9]*")
			for _, p := range list {
				group, _ := os.ReadFile(p + "/cgroup")
				words, _ := os.ReadFile(p + "/cmdline")
				if strings.Contains(string(group), w[1]) && strings.HasSuffix(string(words), "\x00500\x00") {
					process[w[0]], _ = strconv.Atoi(filepath.Base(p))
				}
			}
		}
		return pods
	}
	run("kubectl", "-n", space, "scale", "deploy/cart", "--replicas=4")
	pods := look()
	run("kubectl", "-n", space, "delete", "pod", pods[0])
	look()
	build("gostapapp2", clusterApp+"int more(int n) { return handle(n) + 7; }\n")
	run("kubectl", "-n", space, "set", "image", "deploy/cart", "app=localhost/gostapapp2:lab")
	look()
	cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, errs.text())
	}
	t.Logf("%s\n%s%v", errs.text(), out.text(), process)
	counts := map[int]int{}
	for _, m := range regexp.MustCompile(`process (\d+): (\d+)`).FindAllStringSubmatch(out.text(), -1) {
		pid, _ := strconv.Atoi(m[1])
		counts[pid], _ = strconv.Atoi(m[2])
	}
	whole := 0
	told := regexp.MustCompile(`pod ` + space + `/(\S+) on node \S+: traced from \S+, (from its start|([0-9.]+) s after)`)
	for _, m := range told.FindAllStringSubmatch(errs.text(), -1) {
		n := counts[process[m[1]]]
		delete(counts, process[m[1]])
		most := 1.0 // seconds
		if build := strings.Split(m[1], "-")[1]; build != strings.Split(pods[0], "-")[1] {
			most = 3 // translated first
		}
		late, _ := strconv.ParseFloat(m[3], 64)
		switch {
		case m[3] == "" && n != 500:
			t.Errorf("pod %s: %d calls, not 500", m[1], n)
		case m[3] == "":
			whole++
		case late >= most:
			t.Errorf("pod %s is traced %.2f s after its start", m[1], late)
		case n > 500 || n == 0 && late < 0.4:
			t.Errorf("pod %s: %d calls of 500, traced %.2f s after its start", m[1], n, late)
		}
		process[m[1]] = 0
	}
	if whole == 0 {
		t.Error("no pod was traced from its start")
	}
	for pod, pid := range process {
		if pid != 0 && counts[pid] == 0 && pod != pods[0] && !strings.Contains(errs.text(), pod) {
			t.Logf("pod %s was there before", pod)
		}
		delete(counts, pid)
	}
	if len(counts) > 0 {
		t.Errorf("processes of no pod that was asked for were traced: %v", counts)
	}
}
