package tests

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// installed are the objects of the cluster, not of a namespace, that gostap has there.
func (c *realCluster) installed() (out []string) {
	c.t.Helper()
	for name := range strings.FieldsSeq(c.run("kubectl", "get", "-o", "name",
		"crd,clusterrole,clusterrolebinding,mutatingwebhookconfiguration,validatingwebhookconfiguration,namespace")) {
		if strings.Contains(name, "gostap") {
			out = append(out, name)
		}
	}
	return out
}

// fleetImage loads an image with gostap, gostap-fleet, gostap-export, and files, and gives its name.
func (c *realCluster) fleetImage(files ...string) string {
	c.t.Helper()
	root := filepath.Join(c.dir, "root")
	c.run("mkdir", "-p", root+"/bin")
	c.run("cp", bin(c.t, "gostap"), bin(c.t, "gostap-fleet"), bin(c.t, "gostap-export"), root+"/bin")
	for _, f := range files {
		c.run("cp", f, root)
	}
	return strings.TrimSpace(c.run(c.lab, "load-image", "gostapfleet", root, "/bin/gostap-fleet"))
}

// podNames are the names of those in a namespace.
func (c *realCluster) podNames(space string) string {
	return c.run("kubectl", "get", "pods", "-n", space, "-o", "name", "--sort-by=.metadata.name")
}

// aTrace makes one that runs in a namespace without pods. The lab resolves no services: the webhooks go first.
func (c *realCluster) aTrace(name string) {
	c.t.Helper()
	c.run("kubectl", "delete", "mutatingwebhookconfiguration,validatingwebhookconfiguration", "gostap-fleet")
	c.run("kubectl", "apply", "-f", c.write("trace.yaml", fmt.Sprintf(fleetTrace, name, "default",
		"tool: errsnoop, wait: true, limits: {seconds: 600}")))
	c.until("default", name, "running", func(s *fleetStatus) bool { return s.Phase == "Running" })
}

// TestFleetInstall: in a real cluster what gostap-fleet installs runs, is as it was when it is installed again, whoever
// has applied it before, and is gone when it is uninstalled.
func TestFleetInstall(t *testing.T) {
	c := upCluster(t)
	fleet := bin(t, "gostap-fleet")
	image := c.fleetImage()
	if left := c.installed(); len(left) > 0 {
		t.Fatalf("the cluster has %v", left)
	}
	t.Cleanup(func() { c.try(fleet, "uninstall", "--delete-traces", "--agents", "gostap-agents") })
	all := []string{fleet, "install", "--image", image, "--agents", "gostap-agents", "--wait", "2m"}
	count := func(out, word string, want int) {
		t.Helper()
		if n := strings.Count(out, ": "+word+"\n"); n != want {
			t.Errorf("%d of %d %s:\n%s", n, want, word, out)
		}
	}
	count(c.run(append(all, "--dry-run")...), "would be created", 20)
	if left := c.installed(); len(left) > 0 {
		t.Errorf("a dry run made %v", left)
	}
	out := c.run(all...)
	count(out, "created", 20)
	if !strings.HasSuffix(out, "\nDeployment gostap/gostap-fleet: 2 of 2 pods are ready\n") {
		t.Errorf("%s", out)
	}
	pods := c.podNames("gostap") + c.podNames("gostap-agents")
	count(c.run(all...), "as it was", 20)
	count(c.run(append(all, "--dry-run", "--replicas", "3")...), "would be changed", 1)
	if now := c.podNames("gostap") + c.podNames("gostap-agents"); now != pods {
		t.Errorf("pods\n%snow\n%s", pods, now)
	}
	// Another certificate by kubectl, which has begun the controller's pods anew: it is kept.
	c.run("kubectl", "apply", "--server-side", "--force-conflicts", "-f", c.write("fleet.yaml",
		c.run(fleet, "manifests", "--image", image, "--agents", "gostap-agents")))
	count(c.run(all...), "as it was", 20)
	if out, err := c.try(fleet, "install", "--image", image, "-n", "other"); err == nil ||
		!strings.Contains(out, "gostap-fleet is installed in the namespace gostap") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := c.try(append(all, "--agent-image", "localhost/missing:lab", "--wait", "5s")...); err == nil ||
		!strings.Contains(out, "DaemonSet gostap-agents/gostap-agent: 1 of 2 pods are made; pod gostap-agent-") {
		t.Errorf("%v: %s", err, out)
	}
	c.run(all...)

	c.aTrace("kept")
	if out, err := c.try(fleet, "uninstall", "--agents", "gostap-agents"); err == nil ||
		!strings.Contains(out, "there is a Trace, which would be deleted with its result:\n  default/kept (Running)") {
		t.Errorf("%v: %s", err, out)
	}
	out = c.run(fleet, "uninstall", "--agents", "gostap-agents", "--delete-traces")
	if left := c.installed(); len(left) > 0 {
		t.Errorf("left: %v\n%s", left, out)
	}
	if err := exec.Command("kubectl", "get", "traces", "-A").Run(); err == nil {
		t.Error("Traces are known")
	}
}
