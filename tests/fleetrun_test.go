package tests

import (
	"os/exec"
	"regexp"
	"strings"
	"syscall"
)

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
	c.run("sleep", "3") // all have made their calls
	s.signal(syscall.SIGINT)
	if status := s.end(); status != 0 || s.stdout() != "ready\n2500 calls\n" ||
		!regexp.MustCompile(`(?m)^trace run-\w+ in `+space+`; Ctrl-C ends it$`).MatchString(s.stderr()) {
		c.t.Errorf("status %d\n%s%s", status, s.stdout(), s.stderr())
	}

	run := []string{"run", "-n", space, "-l", "app=cart", "--name", "aside", "errsnoop", "--for", "10m", "--detach"}
	if out, said, status := kube(run...); out != "aside\n" || status != 0 {
		c.t.Fatal(status, out, said)
	}
	c.until(space, "aside", "running", func(s *fleetStatus) bool {
		return len(s.Nodes) == 2 && s.Nodes[0].Phase == "Running" && s.Nodes[1].Phase == "Running"
	})
	row := regexp.MustCompile(`(?m)^` + space + ` +aside +errsnoop +app=cart +\S+ +Running +2 +5 +\d+ +\S+$`)
	if out, said, status := kube("list", "-n", space); !row.MatchString(out) || strings.Contains(out, "run-") {
		c.t.Error(status, out, said)
	}
	row = regexp.MustCompile(`(?m)^` + space + ` +aside +lab2 +Running +[23] +\d+$`)
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
