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

// clusterPods are two deployments of the same program with the same labels, in two namespaces.
const clusterPods = `apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: %[1]s}
spec:
  replicas: 1
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: app, image: "localhost/gostapapp1:lab", imagePullPolicy: Never, args: ["%[2]d"]}
`

// clusterApp calls handle as often as it is told, once in a millisecond, and stays.
const clusterApp = `#include <stdlib.h>
#include <unistd.h>
#include <signal.h>
__attribute__((noinline)) int handle(int n) { asm volatile(""); return n; }
static void bye(int s) { _exit(0); }
int main(int argc, char **argv) {
	signal(SIGTERM, bye);
	for (int i = 0, n = atoi(argv[1]); i < n; i++) { handle(i); usleep(1000); }
	for (;;) pause();
}
`

// TestCluster: in a real cluster of two nodes, pods are traced that come by a scale-up, in place of one that was
// killed, and by a rollout to another build, while the session runs: those on a node with a session from their first
// call on. GOSTAP_CLUSTER names a command that has one: "up --nodes 2", "env", "load-image NAME PATH".
func TestCluster(t *testing.T) {
	needRoot(t)
	lab := os.Getenv("GOSTAP_CLUSTER")
	if lab == "" {
		t.Skip("GOSTAP_CLUSTER names no command that has a cluster")
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run(lab, "up", "--nodes", "2")
	for _, m := range regexp.MustCompile(`(PATH|KUBECONFIG)=(\S+)`).FindAllStringSubmatch(run(lab, "env"), -1) {
		t.Setenv(m[1], strings.ReplaceAll(m[2], "$PATH", os.Getenv("PATH")))
	}
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	app := filepath.Join(dir, "app")
	build := func(image, text string) {
		t.Helper()
		run("gcc", "-g", "-O1", "-static", "-Wl,--build-id", "-o", app+".new", write("app.c", text))
		run("mv", app+".new", app)
		run(lab, "load-image", image, app)
	}
	build("gostapapp1", clusterApp)
	run(lab, "load-image", "gostap", bin(t, "gostap"))
	space := fmt.Sprintf("shop-%d", os.Getpid())
	defer exec.Command("kubectl", "delete", "namespace", "--wait=false", space, space+"-other", space+"-agents").Run()
	run("kubectl", "apply", "-f", write("pods.yaml", fmt.Sprintf(clusterPods, space, 500)))
	run("kubectl", "apply", "-f", write("other.yaml", fmt.Sprintf(clusterPods, space+"-other", 1000000)))
	agents := run(bin(t, "gostap"), "kube", "manifest", "--image", "localhost/gostap:lab", "--agents",
		space+"-agents")
	run("kubectl", "apply", "-f", write("agents.yaml", agents))
	run("kubectl", "-n", space+"-agents", "rollout", "status", "ds/gostap-agent", "--timeout=60s")
	rolled := func() { run("kubectl", "-n", space, "rollout", "status", "deploy/cart", "--timeout=60s") }
	rolled()

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
