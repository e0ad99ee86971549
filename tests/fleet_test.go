package tests

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fleetStatus is what of a Trace these tests look at.
type fleetStatus struct {
	Phase, Message string
	Nodes          []struct {
		Name, Phase, Messages string
		Clock                 string
		Pods, Lost            int
	}
	Skipped []struct{ Pod, Reason string }
	Result  struct{ Text string }
}

// fleetTrace is a Trace over the pods of a deployment; the last word is more of its spec.
const fleetTrace = `apiVersion: gostap.dev/v1alpha1
kind: Trace
metadata: {name: %s, namespace: %s}
spec: {pods: {matchLabels: {app: cart}}, %s}
`

// fleetGo is a deployment with a pod on each node that calls a function of Go so many times.
const fleetGo = `apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  replicas: 2
  selector: {matchLabels: {app: cart, name: %[1]s}}
  template:
    metadata: {labels: {app: cart, name: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 1
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule,
         labelSelector: {matchLabels: {name: %[1]s}}}
      containers:
      - {name: app, image: "localhost/gostapfails:lab", imagePullPolicy: Never, args: ["%[3]d", /gostapfails, /never]}
`

// upFleet has two controllers in pods, one on each node; the API server reaches the first's webhooks by its address,
// since the lab resolves no services. An image has gostap, gostap-fleet, gostap-export, and files. A Trace can be
// delivered to an address under the name collector.
func (c *realCluster) upFleet(space, address string, files ...string) (node string) {
	c.t.Helper()
	c.fleetImage(files...)
	ip := c.run("kubectl", "get", "node", "lab1", "-o", `jsonpath={.status.addresses[?(@.type=="InternalIP")].address}`)
	fleet := space + "-fleet"
	all := c.run(bin(c.t, "gostap-fleet"), "manifests", "--image", "localhost/gostapfleet:lab", "-n", fleet, "--agents",
		space+"-agents", "--url", "https://"+ip+":9443", "--export", "collector=otlp://"+address)
	// What listens there is known before it begins.
	all = strings.Replace(all, "      serviceAccountName: gostap-fleet\n",
		"      serviceAccountName: gostap-fleet\n      hostNetwork: true\n", 1)
	all = strings.Replace(all, "--certs, /tls", "--certs, /tls, --every, 200ms, --listen, \"$(HOST_IP):9443\"", 1)
	all = strings.Replace(all, `--health, ":9440"`, `--health, "$(HOST_IP):9440"`, 1)
	all = strings.Replace(all, "        ports: [{", "        env: [{name: HOST_IP, valueFrom: {fieldRef: {fieldPath: "+
		"status.hostIP}}}]\n        ports: [{", 1)
	path := c.write("fleet.yaml", all)
	c.t.Cleanup(func() {
		c.try("kubectl", "delete", "traces", "-A", "--all", "--timeout=60s")
		c.try("kubectl", "delete", "--timeout=60s", "-f", path)
	})
	c.run("kubectl", "apply", "-f", path)
	c.run("kubectl", "-n", fleet, "rollout", "status", "deploy/gostap-fleet", "--timeout=120s")
	return fleet
}

// trace makes a Trace as a user, "" for the administrator, and gives what kubectl says.
func (c *realCluster) trace(user, space, name, spec string) (string, error) {
	args := []string{"kubectl", "create", "-f", c.write(name+".yaml", fmt.Sprintf(fleetTrace, name, space, spec))}
	if user != "" {
		args = append(args, "--as", user)
	}
	return c.try(args...)
}

// until waits until a Trace is as is said.
func (c *realCluster) until(space, name, what string, is func(*fleetStatus) bool) *fleetStatus {
	c.t.Helper()
	var text string
	for end := time.Now().Add(2 * soon); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		var x struct{ Status fleetStatus }
		out, err := exec.Command("kubectl", "-n", space, "get", "trace", name, "-o", "json").Output()
		if text = string(out); err == nil && json.Unmarshal(out, &x) == nil && is(&x.Status) {
			return &x.Status
		}
	}
	c.t.Fatalf("%s: not %s:\n%s", name, what, text)
	return nil
}

func (s *fleetStatus) finished() bool {
	return s.Phase == "Done" || s.Phase == "Failed" || s.Phase == "Refused"
}

func says(text string) func(*fleetStatus) bool {
	return func(s *fleetStatus) bool { return strings.Contains(s.Result.Text, text) }
}

// sessions are the processes of those on nodes, and of gostap kube.
func (c *realCluster) sessions() string {
	c.t.Helper()
	return strings.Join(c.processes("gostap remote-session|gostap kube --namespace="), "\n")
}

// TestFleet: in a real cluster of two nodes, with two controllers in pods, a Trace counts over all pods what their
// programs did, those of pods too that come while it runs, and nothing of the same program in another namespace;
// roles; refusals; the end by deletion; an agent and the leader killed.
func TestFleet(t *testing.T) {
	c := upCluster(t)
	app := c.app()
	space := c.pods(2)
	collector := &collector{}
	host := c.address() // which pods reach
	_, port, _ := strings.Cut(freeAddress(t), ":")
	collector.serveGRPC(t, host+":"+port)
	fleet := c.upFleet(space, host+":"+port, app)

	c.sub("sum", func(t *testing.T) {
		script := `export: [collector], script: "global n metric \"calls_total\", h, told
			probe process(\"/app\").function(\"handle\") { n++ h <<< $n }
			probe timer.ms(100) { if (!told++) println(\"ready\") }
			probe end { printf(\"%d calls\\n\", n) print(@hist_linear(h, 0, 499, 100)) }"`
		if out, err := c.trace("", space, "sum", script); err != nil {
			t.Fatal(out)
		}
		c.until(space, "sum", "ready", says("ready"))
		c.run("kubectl", "-n", space, "scale", "deploy/cart", "--replicas=5")
		c.run("kubectl", "-n", space, "rollout", "status", "deploy/cart", "--timeout=60s")
		c.until(space, "sum", "five pods", func(s *fleetStatus) bool {
			n := 0
			for _, x := range s.Nodes {
				n += x.Pods
			}
			return n == 5
		})
		c.called(500, 5)
		c.signalSession(syscall.SIGINT)
		s := c.until(space, "sum", "finished", (*fleetStatus).finished)
		if s.Phase != "Done" || !strings.Contains(s.Result.Text, "\n1500 calls\n") ||
			strings.Count(s.Result.Text, " 300\n") != 5 || len(s.Skipped) > 0 ||
			!strings.Contains(s.Nodes[0].Clock, ", within ") {
			t.Errorf("%+v", s)
		}
		collector.hasTrace(t, "sum", 1500, "1500 calls")
	})

	c.sub("run", func(t *testing.T) { c.runTraces(space) })

	c.sub("page", func(t *testing.T) { c.pages(space) })

	c.sub("roles", func(t *testing.T) {
		for _, role := range []string{"view", "tools", "scripts"} {
			c.run("kubectl", "-n", space, "create", "rolebinding", role, "--clusterrole", "gostap-"+role, "--user",
				role)
		}
		tool := "tool: errsnoop, limits: {seconds: 1}"
		script := "script: \"probe syscall.read { print(1) }\", separate: true"
		for _, x := range []struct{ user, space, name, spec, want string }{
			{"view", space, "r1", tool, `User "view" cannot create resource "traces"`},
			{"tools", space, "r2", tool, ""},
			{"tools", space + "-other", "r3", tool, `User "tools" cannot create resource "traces"`},
			{"tools", space, "r4", script, `has not the verb "script"`},
			{"scripts", space, "r5", script + ", guru: true", `has not the verb "guru"`},
			{"scripts", space, "r6", "script: \"probe begin { prinln(1) }\"",
				"<input>:1:15: error: no function is named prinln\n  probe begin { prinln(1) }\n" +
					"                ^~~~~~"},
			{"", space, "r7", `script: "global n probe syscall.read { n++ } probe end { println(cpu(), n) }"`,
				"error: cpu() asks the machine where it runs"},
			{"", space, "r8", "tool: errsnuop", "did you mean errsnoop?"},
		} {
			out, err := c.trace(x.user, x.space, x.name, x.spec)
			if (err == nil) != (x.want == "") || !strings.Contains(out, x.want) {
				t.Errorf("%s: %v: %s", x.name, err, out)
			}
		}
		if out, err := c.try("kubectl", "--as", "tools", "-n", space+"-other", "get", "traces"); err == nil {
			t.Errorf("seen from another namespace: %s", out)
		}
		s := c.until(space, "r2", "finished", (*fleetStatus).finished)
		if s.Phase != "Done" || len(s.Nodes) != 2 {
			t.Errorf("%+v", s)
		}
	})

	c.sub("program of the pods", func(t *testing.T) {
		fails := filepath.Join(c.dir, "fails")
		c.run("go", "build", "-o", fails, "./fixtures/fails")
		c.run(c.lab, "load-image", "gostapfails", fails)
		shop := space + "-go"
		t.Cleanup(func() { c.try("kubectl", "delete", "namespace", "--wait=false", shop) })
		c.run("kubectl", "create", "namespace", shop)
		pods := func(name string, calls int) {
			c.run("kubectl", "apply", "-f", c.write(name+".yaml", fmt.Sprintf(fleetGo, name, shop, calls)))
			c.run("kubectl", "-n", shop, "rollout", "status", "deploy/"+name, "--timeout=60s")
		}
		pods("idle", 0)
		if out, err := c.trace("", shop, "errors", "tool: go-errors, limits: {seconds: 600}"); err != nil ||
			!strings.Contains(out, "is looked for in the pods") {
			t.Fatal(err, out)
		}
		traced := func(n int) func(*fleetStatus) bool {
			return func(s *fleetStatus) bool {
				return len(s.Nodes) == 2 && s.Nodes[0].Pods == n && s.Nodes[1].Pods == n
			}
		}
		c.until(shop, "errors", "traced", traced(1))
		pods("busy", 1000)
		c.until(shop, "errors", "traced", traced(2))
		time.Sleep(time.Second) // all have made their calls
		c.signalSession(syscall.SIGINT)
		s := c.until(shop, "errors", "finished", (*fleetStatus).finished)
		if s.Phase != "Done" || !strings.Contains(s.Result.Text, `*errors.errorString("a tenth")`) ||
			!strings.Contains(s.Result.Text, "     200 main.handle") ||
			!strings.Contains(s.Result.Text, "2000 calls returned") {
			t.Errorf("%+v", s)
		}
	})

	c.sub("profile", func(t *testing.T) { c.profiles(space) })

	running := func(s *fleetStatus) bool {
		return len(s.Nodes) == 2 && s.Nodes[0].Phase == "Running" && s.Nodes[1].Phase == "Running"
	}
	long := "tool: errsnoop, inOrder: true, limits: {seconds: 600}"
	c.sub("deleted", func(t *testing.T) {
		c.trace("", space, "deleted", long)
		c.until(space, "deleted", "running", running)
		if all := c.sessions(); !strings.Contains(all, " remote-session") || !strings.Contains(all, " kube ") {
			t.Errorf("what runs is not seen: %s", all)
		}
		c.run("kubectl", "-n", space, "delete", "trace", "deleted", "--timeout=60s")
		if left := c.sessions(); left != "" {
			t.Errorf("left: %s", left)
		}
	})

	c.sub("agent", func(t *testing.T) {
		c.trace("", space, "agent", long)
		c.until(space, "agent", "running", running)
		victim := c.run("kubectl", "-n", space+"-agents", "get", "pods", "--field-selector", "spec.nodeName=lab2", "-o",
			"jsonpath={.items[0].metadata.name}")
		c.run("kubectl", "-n", space+"-agents", "delete", "pod", victim, "--grace-period=0", "--force")
		s := c.until(space, "agent", "traced again", func(s *fleetStatus) bool {
			return strings.Contains(s.Message, "traced again from")
		})
		if s.Nodes[0].Phase != "Running" || s.Nodes[1].Phase != "Failed" ||
			!strings.Contains(s.Nodes[1].Messages, "the connection was lost") {
			t.Errorf("%+v", s)
		}
	})

	// What a container has mounted in its place is all that gostap sees of a kernel without type information.
	c.sub("no types", func(t *testing.T) {
		c.run("kubectl", "-n", space+"-agents", "patch", "ds", "gostap-agent", "--type=json", "-p", `[
			{"op": "add", "path": "/spec/template/spec/volumes/-", "value": {"name": "none", "emptyDir": {}}},
			{"op": "add", "path": "/spec/template/spec/containers/0/volumeMounts/-",
			 "value": {"name": "none", "mountPath": "/sys/kernel/btf"}}]`)
		c.run("kubectl", "-n", space+"-agents", "rollout", "status", "ds/gostap-agent", "--timeout=60s")
		c.trace("", space, "kernel", "tool: syscount, limits: {seconds: 5}")
		s := c.until(space, "kernel", "finished", (*fleetStatus).finished)
		if s.Phase != "Refused" || len(s.Nodes) != 2 || !strings.Contains(s.Nodes[1].Messages,
			"the kernel has no type information (CONFIG_DEBUG_INFO_BTF)") {
			t.Errorf("%+v", s)
		}
		c.trace("", space, "user", `script: "global n probe process(\"/app\").function(\"handle\") { n++ }",
			limits: {seconds: 2}`)
		s = c.until(space, "user", "finished", (*fleetStatus).finished)
		if s.Phase != "Done" || len(s.Nodes) != 2 || !strings.HasPrefix(s.Result.Text, "n=") {
			t.Errorf("%+v", s)
		}
	})

	c.sub("leader", func(t *testing.T) {
		leader := strings.TrimSpace(c.run("ps", "-o", "ppid=", "-p", c.session()))
		c.run("kill", "-9", leader)
		s := c.until(space, "agent", "finished", (*fleetStatus).finished)
		if s.Phase != "Failed" || !strings.Contains(s.Message, "the controller was replaced") {
			t.Errorf("%+v", s)
		}
		if left := c.sessions(); left != "" {
			t.Errorf("left: %s", left)
		}
	})
	if t.Failed() {
		out, _ := c.try("kubectl", "-n", fleet, "logs", "-l", "app.kubernetes.io/name=gostap-fleet", "--tail=50")
		t.Log(out)
	}
}

// sub runs a part of the test, which ends alone if something of the cluster fails.
func (c *realCluster) sub(name string, do func(t *testing.T)) {
	whole := c.t
	whole.Run(name, func(t *testing.T) {
		c.t = t
		defer func() { c.t = whole }()
		do(t)
	})
}

// session is the process of the session that runs.
func (c *realCluster) session() string {
	c.t.Helper()
	all := c.processes("^[^ ]*gostap kube --namespace=")
	if len(all) != 1 {
		c.t.Fatalf("not one session, but %q", all)
	}
	pid, _, _ := strings.Cut(all[0], " ")
	return pid
}

// signalSession sends a signal to it.
func (c *realCluster) signalSession(s syscall.Signal) {
	c.t.Helper()
	c.run("kill", fmt.Sprintf("-%d", s), c.session())
}

// hasTrace looks at what came of a Trace: the last sum of its metric, a line that it printed, and whose they are.
func (c *collector) hasTrace(t *testing.T, name string, sum int64, line string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.metrics["calls_total"].GetSum().GetDataPoints(); len(p) != 1 || p[0].GetAsInt() != sum {
		t.Errorf("the collector has %v", p)
	}
	printed := 0
	for _, r := range c.allLogs {
		for _, l := range r.ScopeLogs[0].LogRecords {
			if l.Body.GetStringValue() == line {
				printed++
				if who := attribute(r.Resource.Attributes, "gostap.trace.name"); who != name {
					t.Errorf("it is of %v", who)
				}
			}
		}
	}
	if printed != 1 {
		t.Errorf("%q came %d times", line, printed)
	}
}
