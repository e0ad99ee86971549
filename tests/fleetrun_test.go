package tests

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
)

// fleetTwo is a deployment of a pod with two containers of the same program.
const fleetTwo = `apiVersion: apps/v1
kind: Deployment
metadata: {name: two, namespace: %s}
spec:
  replicas: 1
  selector: {matchLabels: {app: cart, two: "yes"}}
  template:
    metadata: {labels: {app: cart, two: "yes"}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: app, image: "localhost/gostapapp1:lab", imagePullPolicy: Never, args: ["3000"]}
      - {name: side, image: "localhost/gostapapp1:lab", imagePullPolicy: Never, args: ["100000"]}
`

// runTraces has Traces run by gostap kube run and its like, over five pods of a namespace: what is printed on the way
// and after Ctrl-C, whom it belongs to, what is refused.
func (c *realCluster) runTraces(space string) {
	c.t.Helper()
	gostap := bin(c.t, "gostap")
	kube := func(args ...string) (stdout, stderr string, status int) {
		cmd := exec.Command(gostap, append([]string{"kube"}, args...)...)
		var said strings.Builder
		cmd.Stderr = &said
		out, _ := cmd.Output()
		return string(out), said.String(), cmd.ProcessState.ExitCode()
	}

	s := begin(c.t, "kube", "run", "-n", space, "-l", "app=cart", "--for=10m", "-e",
		`global n, told probe process("/app").function("handle") { n++ }
		probe timer.ms(100) { if (!told++) println("ready") } probe end { printf("%d calls\n", n) }`)
	s.line("ready")
	c.run("kubectl", "-n", space, "rollout", "restart", "deploy/cart")
	c.run("kubectl", "-n", space, "rollout", "status", "deploy/cart", "--timeout=60s")
	for _, node := range []string{"lab1", "lab2"} {
		s.said("\n" + node + ": running, ")
	}
	c.called(500, 5)
	s.signal(syscall.SIGINT)
	if status := s.end(); status != 0 || s.stdout() != "ready\n2500 calls\n" ||
		!strings.Contains(s.stderr(), "the trace is being ended; ") ||
		!regexp.MustCompile(`(?m)^trace run-\w+ in `+space+`; Ctrl-C ends it$`).MatchString(s.stderr()) {
		c.t.Errorf("status %d\n%s%s", status, s.stdout(), s.stderr())
	}

	// Of a pod with two containers of the same program the one that is named, whose first calls may be missing: the
	// cluster tells its ID when it runs.
	s = begin(c.t, "kube", "run", "-n", space, "-l", "app=cart", "-c", "app", "--for=10m", "-e",
		`global n, told probe process("/app").function("handle") { n++ }
		probe timer.ms(100) { if (!told++) println("ready") } probe end { printf("%d calls\n", n) }`)
	s.line("ready")
	for _, node := range []string{"lab1", "lab2"} {
		s.said("\n" + node + ": running, ")
	}
	c.run("kubectl", "apply", "-f", c.write("two.yaml", fmt.Sprintf(fleetTwo, space)))
	c.run("kubectl", "-n", space, "rollout", "status", "deploy/two", "--timeout=60s")
	c.called(3000, 1)
	s.signal(syscall.SIGINT)
	status, n := s.end(), 0
	_, err := fmt.Sscanf(s.stdout(), "ready\n%d calls\n", &n)
	missing := regexp.MustCompile(`(?m)^WARNING: missing: pod ` + space + `/two-\S+ on node lab\d before `)
	if status != 0 || err != nil || n > 3000 || n < 100 || (n < 3000) != missing.MatchString(s.stderr()) {
		c.t.Errorf("status %d\n%s%s", status, s.stdout(), s.stderr())
	}
	c.run("kubectl", "-n", space, "delete", "deploy/two")
	c.run("kubectl", "-n", space, "wait", "--for=delete", "pod", "-l", "two=yes", "--timeout=60s")

	// More hits than there may be end it, on each node.
	s = begin(c.t, "kube", "run", "-n", space, "-l", "app=cart", "--max-hits", "100", "--for=10m", "-e",
		`global n, told probe process("/app").function("handle") { n++ }
		probe timer.ms(100) { if (!told++) println("ready") } probe end { println(n > 50) }`)
	s.line("ready")
	c.run("kubectl", "-n", space, "rollout", "restart", "deploy/cart")
	if status = s.end(); status != 1 || s.stdout() != "ready\n1\n" ||
		strings.Count(s.stderr(), " hits a second are more than the 100 of --max-hits") != 2 {
		c.t.Errorf("status %d\n%s%s", status, s.stdout(), s.stderr())
	}
	c.run("kubectl", "-n", space, "rollout", "status", "deploy/cart", "--timeout=60s")

	run := []string{"run", "-n", space, "-l", "app=cart", "--name", "aside", "errsnoop", "--for", "10m", "--detach"}
	if out, said, status := kube(run...); out != "aside\n" || status != 0 {
		c.t.Fatal(status, out, said)
	}
	c.until(space, "aside", "running", func(s *fleetStatus) bool {
		return len(s.Nodes) == 2 && s.Nodes[0].Phase == "Running" && s.Nodes[1].Phase == "Running"
	})
	// Pods that were replaced may be ending.
	row := regexp.MustCompile(`(?m)^` + space + ` +aside +errsnoop +app=cart +\S+ +Running +2 +[5-9] +\d+ +\S+$`)
	if out, said, status := kube("list", "-n", space); !row.MatchString(out) ||
		strings.Count(out, " run-") != 1 || strings.Count(out, " Failed ") != 1 {
		c.t.Error(status, out, said)
	}
	row = regexp.MustCompile(`(?m)^` + space + ` +aside +lab2 +Running +[2-5] +\d+$`)
	if out, said, status := kube("top", "-n", space); !row.MatchString(out) {
		c.t.Error(status, out, said)
	}
	if out, said, status := kube("stop", "-n", space, "aside"); status != 0 || !strings.Contains(out, "COMM") {
		c.t.Error(status, out, said)
	}
	if left := c.sessions(); left != "" {
		c.t.Errorf("left: %s", left)
	}

	for _, x := range []struct {
		want string
		args []string
	}{
		{"error: <input>:1:15: error: no function is named prinln\n",
			[]string{"run", "-n", space, "-l", "app=cart", "-e", "probe begin { prinln(1) }"}},
		{`error: there is no tool "errsnuop"` + "\n  hint: did you mean errsnoop?\n",
			[]string{"run", "-n", space, "-l", "app=cart", "errsnuop"}},
		{`traces.gostap.dev "none" not found`, []string{"logs", "-n", space, "none"}},
	} {
		if out, said, status := kube(x.args...); status != 1 || !strings.Contains(said, x.want) {
			c.t.Error(x.args, status, out, said)
		}
	}
}
