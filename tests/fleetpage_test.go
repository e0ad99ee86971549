package tests

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// pages shows a Trace over five pods of a namespace in the page of who made it, and in that of who may only read it:
// both have the sum of all nodes while it runs, the second also when it has finished.
func (c *realCluster) pages(space string) {
	c.t.Helper()
	s := begin(c.t, "kube", "run", "-n", space, "-l", "app=cart", "--name", "shown", "--for=10m", "--http", "0", "-e",
		`global n, told probe process("/app").function("handle") { n++ }
		probe timer.ms(100) { if (!told++) println("ready") } probe end { printf("%d calls\n", n) }`)
	s.line("ready")
	own := address(c.t, s)
	for _, node := range []string{"lab1", "lab2"} {
		s.said("\n" + node + ": running, ")
	}

	// Somebody who may read Traces of this namespace, and nothing else of the cluster.
	c.run("kubectl", "-n", space, "create", "rolebinding", "looker", "--clusterrole", "gostap-view", "--user", "looker")
	real, err := exec.LookPath("kubectl")
	if err != nil {
		c.t.Fatal(err)
	}
	dir := c.t.TempDir()
	write(c.t, filepath.Join(dir, "kubectl"), "#!/bin/sh\nexec "+real+" --as looker \"$@\"\n")
	if err := os.Chmod(filepath.Join(dir, "kubectl"), 0o755); err != nil {
		c.t.Fatal(err)
	}
	path := os.Getenv("PATH")
	os.Setenv("PATH", dir+":"+path)
	looker := begin(c.t, "kube", "page", "-n", space, "shown")
	os.Setenv("PATH", path)
	theirs := address(c.t, looker)

	c.run("kubectl", "-n", space, "rollout", "restart", "deploy/cart")
	c.run("kubectl", "-n", space, "rollout", "status", "deploy/cart", "--timeout=60s")
	shows := func(url, state string) {
		c.t.Helper()
		var is, n string
		for end := time.Now().Add(2 * soon); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			if is, n = c.shown(url); is == state && n == "2500" {
				return
			}
		}
		c.t.Errorf("%s, %q calls at %s\n%s%s", is, n, url, s.stderr(), looker.stderr())
	}
	shows(own, "running")
	shows(theirs, "running")
	if r, err := http.Post(theirs+"stop", "", nil); err != nil || r.StatusCode != http.StatusConflict {
		c.t.Errorf("who may only look: %v %v", r, err)
	}
	if left := c.processes("^[^ ]*gostap kube --namespace=.*--http=127.0.0.1:0"); len(left) != 1 {
		c.t.Errorf("%q", left)
	}
	if r, err := http.Post(own+"stop", "", nil); err != nil || r.StatusCode != http.StatusNoContent {
		c.t.Errorf("who made it: %v %v", r, err)
	}
	if status := s.end(); status != 0 || s.stdout() != "ready\n2500 calls\n" {
		c.t.Errorf("status %d\n%s%s", status, s.stdout(), s.stderr())
	}
	shows(theirs, "ended")
	looker.signal(syscall.SIGINT)
	if status := looker.end(); status != 0 {
		c.t.Errorf("status %d\n%s", status, looker.stderr())
	}
	if out, err := c.trace("", space, "both", "tool: errsnoop, page: true, separate: true"); err == nil ||
		!strings.Contains(out, "with separate there is none") {
		c.t.Errorf("%v: %s", err, out)
	}
}

// shown is how a session is by its page, and the value of its global n.
func (c *realCluster) shown(url string) (state, n string) {
	c.t.Helper()
	r, err := http.Get(url + "state")
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	var now struct {
		State   string
		Globals []struct {
			Name string
			Rows []struct{ Value string }
		}
	}
	if b, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(b, &now) != nil {
		c.t.Fatalf("%v: %s", err, b)
	}
	for _, g := range now.Globals {
		if g.Name == "n" && len(g.Rows) == 1 {
			n = g.Rows[0].Value
		}
	}
	return now.State, n
}
