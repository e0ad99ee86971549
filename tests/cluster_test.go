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
		c.called(500, 4)
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
	if strings.Contains(errs.text(), "is not used") {
		t.Errorf("sessions find what the agent has left: %s", errs.text())
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
		case late >= most && os.Getenv("GOSTAP_CLUSTER") == "":
			t.Logf("pod %s is traced %.2f s after its start, beside other tests", m[1], late)
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

// TestClusterRestart: while the API server is away nobody can be reached, and what is missing then is told; afterwards
// the pods are traced again in the same answer, and no session is left on any node.
func TestClusterRestart(t *testing.T) {
	c := upCluster(t)
	app := c.app()
	space := c.pods(2)
	cmd := exec.Command(bin(t, "gostap"), "kube", "-n", space+"-other", "-l", "app=cart", "--agents", space+"-agents",
		"--", "--merge", "-e", fmt.Sprintf(`
		global calls
		probe process(%q).function("handle") { calls++ }
		probe timer.ms(500) { printf("so far %%d\n", calls) }
		probe end { printf("%%d calls\n", calls) }`, app))
	out, errs := &said{}, &said{}
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	out.await(t, `so far [1-9]`)
	c.run("pkill", "-9", "-f", "kube-apiserver .*--advertise-address[ =]"+regexp.QuoteMeta(c.address())+" ")
	errs.await(t, `error: .*the connection was lost`)
	before := lastCount(out.text())
	c.run(c.lab, "up", "--nodes", "2")
	await := func(want string) {
		t.Helper()
		for end := time.Now().Add(2 * soon); !regexp.MustCompile(want).MatchString(errs.text()); {
			if time.Now().After(end) {
				t.Fatalf("nothing like %q in\n%s", want, errs.text())
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	await(`(?s)traced again from .*traced again from `)
	time.Sleep(2 * time.Second)
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	after := lastCount(out.text())
	if after <= before || !strings.Contains(out.text(), " calls\n") {
		t.Errorf("%d calls before, %d after\n%s", before, after, errs.text())
	}
	gaps := regexp.MustCompile(`missing: pod \S+ on node \S+ from [0-9:.]+ to [0-9:.]+, while its session was lost`)
	if n := len(gaps.FindAllString(errs.text(), -1)); n != 2 {
		t.Errorf("%d gaps are told, of two pods\n%s", n, errs.text())
	}
	for n := 0; ; n++ {
		left := c.processes("gostap remote-session")
		if len(left) == 0 {
			break
		}
		if n > 60 {
			t.Fatalf("left on nodes: %s", left)
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Logf("%d calls before, %d at the end\n%s", before, after, errs.text())
}

// lastCount is the last number of calls that was printed.
func lastCount(text string) (n int) {
	for _, m := range regexp.MustCompile(`(\d+)(?: calls)?\n`).FindAllStringSubmatch(text, -1) {
		n, _ = strconv.Atoi(m[1])
	}
	return n
}

// TestClusterRights: agents have what they need and nothing else: with any one thing of their manifest less pods are
// not traced, and that is said; with all of it they are.
func TestClusterRights(t *testing.T) {
	c := upCluster(t)
	app := c.app()
	space := c.pods(1)
	agents := space + "-agents"
	library := t.TempDir() // what an agent translates by itself comes with one, and has to be kept somewhere
	err := os.WriteFile(filepath.Join(library, "own.stp"), []byte("function own() { return 7 }\n"), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	sums := []string{"--merge", "-e", fmt.Sprintf(`global calls probe process(%q).function("handle") { calls++ }
		probe end { printf("%%d calls\n", calls) }`, app)}
	alone := []string{"-I", library, "-e", `global calls probe syscall.clock_nanosleep { calls += own() }
		probe end { printf("%d calls\n", calls) }`}
	for _, x := range []struct {
		line, less, says string // what is taken out of which line
		args             []string
	}{
		{"", "", "", sums}, {"", "", "", alone},
		{"add: [BPF,", "BPF, ", "CAP_BPF", sums},
		{"add: [BPF,", "PERFMON, ", "CAP_PERFMON", sums},
		{"add: [BPF,", ", SYS_PTRACE", "an agent needs CAP_SYS_PTRACE", sums},
		{"hostPID: true", "hostPID: true", "the node's processes", sums},
		{"mountPath: /host/sys/fs/cgroup", "", "control group", sums},
		{"mountPath: /tmp", "", "read-only file system", alone},
	} {
		c.sub("without "+x.line+x.less, func(t *testing.T) {
			text := ""
			for line := range strings.Lines(manifestOf(t, "--image", "localhost/gostap:lab", "--agents", agents)) {
				switch {
				case strings.Contains(line, "startupProbe: ") || strings.Contains(line, "failureThreshold: "):
					// it would keep the agent away from who asks
				case x.line == "" || !strings.Contains(line, x.line):
					text += line
				case x.less != "" && x.less != strings.TrimSpace(line):
					text += strings.Replace(line, x.less, "", 1)
				}
			}
			c.run("kubectl", "apply", "-f", c.write("agents.yaml", text))
			c.run("kubectl", "-n", agents, "rollout", "status", "ds/gostap-agent", "--timeout=60s")
			well := x.says == "" || x.args[0] == "-I" // a session that needs no library is run without /tmp
			out, err := exec.Command("kubectl", "-n", agents, "exec", "ds/gostap-agent", "--", "gostap", "kube",
				"health").CombinedOutput()
			if (err == nil) != well || !well && !strings.Contains(string(out), x.says) {
				t.Errorf("health: %v\n%s", err, out)
			}
			out, err = exec.Command(bin(t, "gostap"), append([]string{"kube", "-n", space + "-other", "-l", "app=cart",
				"--agents", agents, "--", "-T", "3"}, x.args...)...).CombinedOutput()
			n := lastCount(string(out))
			if x.says == "" && (n == 0 || err != nil) || x.says != "" && (n > 0 || err == nil ||
				!strings.Contains(string(out), x.says)) {
				t.Errorf("%d calls, %v\n%s", n, err, out)
			}
		})
	}
}
