package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
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
  replicas: %[3]d
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

// realCluster is a cluster of two nodes.
type realCluster struct {
	t        *testing.T
	lab, dir string
}

// upCluster has one up, by the command that GOSTAP_CLUSTER names: "up --nodes 2", "env", "load-image NAME PATH
// [ENTRY]". Without that three tests have that of tests/kubelab if its programs have been built, and no other test,
// since all of them take minutes.
func upCluster(t *testing.T) *realCluster {
	needRoot(t)
	lab := os.Getenv("GOSTAP_CLUSTER")
	if lab == "" {
		if !slices.Contains([]string{"TestCluster", "TestClusterRestart", "TestFleet"}, t.Name()) {
			t.Skip("make fleet runs this, or GOSTAP_CLUSTER=COMMAND if that has a cluster; see the Makefile")
		}
		lab = ownLab(t)
	}
	c := &realCluster{t: t, lab: lab, dir: t.TempDir()}
	c.run(lab, "up", "--nodes", "2")
	for _, m := range regexp.MustCompile(`(PATH|KUBECONFIG)=(\S+)`).FindAllStringSubmatch(c.run(lab, "env"), -1) {
		t.Setenv(m[1], strings.ReplaceAll(m[2], "$PATH", os.Getenv("PATH")))
	}
	return c
}

// ownLab is the command that has a cluster of our own. One that is not up is ended with the test: what is measured in
// those that follow would be measured beside it.
func ownLab(t *testing.T) (lab string) {
	lab = bin(t, "kubelab")
	if out, err := exec.Command(lab, "build", "--check").CombinedOutput(); err != nil {
		t.Skipf("no cluster: %s", out)
	}
	if out, _ := exec.Command(lab, "status").Output(); string(out) == "down\n" {
		t.Cleanup(func() {
			if out, err := exec.Command(lab, "down").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	return lab
}

// address is where the API server listens.
func (c *realCluster) address() string {
	c.t.Helper()
	return c.run("kubectl", "get", "endpointslices", "kubernetes", "-o", "jsonpath={.endpoints[0].addresses[0]}")
}

// processes are those in pods of this cluster, and of no other one on this machine, whose command lines match: their
// numbers and those lines.
func (c *realCluster) processes(pattern string) (lines []string) {
	c.t.Helper()
	mine := "KUBERNETES_SERVICE_HOST=" + c.run("kubectl", "get", "service", "kubernetes", "-o",
		"jsonpath={.spec.clusterIP}")
	all, _ := c.try("pgrep", "-fa", pattern)
	for line := range strings.Lines(all) {
		pid, _, _ := strings.Cut(line, " ")
		environment, _ := os.ReadFile("/proc/" + pid + "/environ")
		if slices.Contains(strings.Split(string(environment), "\x00"), mine) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// called waits until all programs of pods that are to make so many calls, n or more of them, have made them: they are
// in pause, which is 34 on amd64.
func (c *realCluster) called(calls, n int) {
	c.t.Helper()
	over := patience.After(time.Minute)
	for {
		all := c.processes(fmt.Sprintf("^[^ ]+ %d$", calls))
		done := 0
		for _, line := range all {
			pid, _, _ := strings.Cut(line, " ")
			if in, _ := os.ReadFile("/proc/" + pid + "/syscall"); strings.HasPrefix(string(in), "34 ") {
				done++
			}
		}
		if done >= n && done == len(all) {
			return
		}
		select {
		case <-over:
			c.t.Fatalf("%d of %d programs have made their %d calls, of %d", done, len(all), calls, n)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// try runs a command, and gives all that it prints.
func (c *realCluster) try(args ...string) (string, error) {
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	return string(out), err
}

func (c *realCluster) run(args ...string) string {
	c.t.Helper()
	out, err := c.try(args...)
	if err != nil {
		c.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return out
}

func (c *realCluster) write(name, text string) string {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// app builds the program of the pods' image, and loads that.
func (c *realCluster) app() string {
	c.t.Helper()
	app := filepath.Join(c.dir, "app")
	c.run("gcc", "-g", "-O1", "-static", "-Wl,--build-id", "-o", app, c.write("app.c", clusterApp))
	c.run(c.lab, "load-image", "gostapapp1", app)
	return app
}

// pods makes both deployments, with so many pods each, and agents, in namespaces of their own, and gives the first.
func (c *realCluster) pods(n int) (space string) {
	c.t.Helper()
	space = fmt.Sprintf("shop-%d-%s", os.Getpid(), strings.ToLower(c.t.Name()))
	c.t.Cleanup(func() {
		c.try("kubectl", "delete", "namespace", "--wait=false", space, space+"-other", space+"-agents")
	})
	c.run(c.lab, "load-image", "gostap", bin(c.t, "gostap"))
	c.run("kubectl", "apply", "-f", c.write("pods.yaml", fmt.Sprintf(clusterPods, space, 500, n)))
	c.run("kubectl", "apply", "-f", c.write("other.yaml", fmt.Sprintf(clusterPods, space+"-other", 1000000, n)))
	agents := c.run(bin(c.t, "gostap"), "kube", "manifest", "--image", "localhost/gostap:lab", "--agents",
		space+"-agents")
	c.run("kubectl", "apply", "-f", c.write("agents.yaml", agents))
	c.run("kubectl", "-n", space+"-agents", "rollout", "status", "ds/gostap-agent", "--timeout=60s")
	c.run("kubectl", "-n", space, "rollout", "status", "deploy/cart", "--timeout=60s")
	return space
}
