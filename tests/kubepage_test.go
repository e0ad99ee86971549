package tests

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// TestKubePage: gostap kube --told=json says once where the page of a session over pods is, in an event of its own; who
// keeps its states gets the last one, too, with the sums of all pods, and the session ends then.
func TestKubePage(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	file("app.c", inPod, 0o644)
	app := filepath.Join(dir, "app")
	if out, err := exec.Command("gcc", "-g", "-O1", "-static", "-o", app, app+".c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file("kubectl", fmt.Sprintf(kubectlStub, dir, bin(t, "gostap")), 0o755)
	uid := fmt.Sprintf("00000011-aaaa-bbbb-cccc-%012d", os.Getpid())
	const pod = `{"kind":"List","items":[{"metadata":{"name":%q,"uid":%q},"spec":{"nodeName":"a"},
		"status":{"phase":"Running","containerStatuses":[{"ready":true}]}}]}`
	file("agents.json", fmt.Sprintf(pod, "agent-a", "8"+uid[1:]), 0o644)
	file("pods.json", fmt.Sprintf(pod, "cart-1", uid), 0o644)
	file("events", "", 0o644)
	top := "/sys/fs/cgroup"
	for _, in := range []string{"/unified", "/memory", "/pids"} {
		if _, err := os.Stat(top + "/cgroup.procs"); err != nil {
			top = "/sys/fs/cgroup" + in
		}
	}
	group := filepath.Join(top, "pod"+uid)
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no control groups can be made: %v", err)
	}
	p := exec.Command(app, filepath.Join(dir, "go"))
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill(); p.Wait(); os.Remove(group) })
	if err := os.WriteFile(group+"/cgroup.procs", []byte(strconv.Itoa(p.Process.Pid)), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s := begin(t, "kube", "-n", "shop", "-l", "app=cart", "--agents", "tracing", "--told=json", "--", "--merge",
		"--http=127.0.0.1:0", "-e", `global calls, told probe process("`+app+`").function("handle") { calls++ }
		probe process("`+app+`").function("tick") { told++ } probe timer.ms(50) { if (told) println("ready") }
		probe end { printf("%d calls\n", calls) }`)
	s.line("ready")
	m := regexp.MustCompile(`(?m)^\{"at":"[^"]+","page":"(http://127\.0\.0\.1:\d+/\S+/)"\}$`).FindAllStringSubmatch(
		s.stderr(), -1)
	if len(m) != 1 || strings.Count(s.stderr(), "127.0.0.1") != 1 {
		t.Fatalf("%q\n%s", m, s.stderr())
	}
	var now struct {
		State   string
		Globals []struct {
			Name string
			Rows []struct{ Value string }
		}
	}
	calls := func() string {
		t.Helper()
		r, err := http.Get(m[0][1] + "state?keeps")
		if err != nil {
			t.Fatalf("%v\n%s", err, s.stderr())
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(b, &now) != nil {
			t.Fatalf("%v: %s", err, b)
		}
		for _, g := range now.Globals {
			if g.Name == "calls" && len(g.Rows) == 1 {
				return g.Rows[0].Value
			}
		}
		return ""
	}
	file("go", "", 0o644)
	p.Wait()
	got := ""
	for end := patience.Now() + soon; got != "1000" && patience.Now() < end; time.Sleep(100 * time.Millisecond) {
		got = calls()
	}
	if got != "1000" || now.State != "running" {
		t.Errorf("%q calls, %s", got, now.State)
	}
	s.signal(syscall.SIGINT)
	for end := patience.Now() + soon; now.State != "ended" && patience.Now() < end; time.Sleep(100 * time.Millisecond) {
		got = calls()
	}
	if status := s.end(); status != 0 || got != "1000" || !strings.HasSuffix(s.stdout(), "\n1000 calls\n") {
		t.Errorf("status %d, %q\n%s%s", status, got, s.stdout(), s.stderr())
	}
}
