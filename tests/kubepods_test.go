package tests

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// said gathers what a command prints, for a test to wait for.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *said) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// await waits until the text matches.
func (s *said) await(t *testing.T, want string) {
	t.Helper()
	re := regexp.MustCompile(want)
	for end := time.Now().Add(20 * time.Second); !re.MatchString(s.text()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nothing like %q in\n%s", want, s.text())
		}
	}
}

// nodes stands for a cluster: kubectl is a script, agents are processes of this machine, pods are control groups.
type nodes struct {
	t        *testing.T
	dir, top string
}

func newNodes(t *testing.T) *nodes {
	t.Helper()
	n := &nodes{t: t, dir: t.TempDir()}
	for _, in := range []string{"", "/unified", "/memory", "/pids"} {
		if _, err := os.Stat("/sys/fs/cgroup" + in + "/cgroup.procs"); err == nil {
			n.top = "/sys/fs/cgroup" + in
			break
		}
	}
	n.write("kubectl", fmt.Sprintf(kubectlStub, n.dir, bin(t, "gostap")), 0o755)
	n.write("agents.json", `{"kind":"List","items":[`+n.pod("agent-a", 8, "a", "Running")+","+
		n.pod("agent-b", 9, "b", "Running")+"]}", 0o644)
	n.write("events", "", 0o644)
	n.write("pods.json", `{"kind":"List","items":[]}`, 0o644)
	return n
}

func (n *nodes) write(name, text string, mode os.FileMode) {
	n.t.Helper()
	if err := os.WriteFile(filepath.Join(n.dir, name), []byte(text), mode); err != nil {
		n.t.Fatal(err)
	}
}

func (n *nodes) uid(i int) string {
	return fmt.Sprintf("000000%02d-aaaa-bbbb-cccc-%012d", i, os.Getpid())
}

func (n *nodes) pod(name string, uid int, node, phase string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop","uid":%q},"spec":{"nodeName":%q},"status":{"phase":%q,`+
		`"containerStatuses":[{"ready":true}]}}`, name, n.uid(uid), node, phase)
}

// event is what the cluster tells of a pod.
func (n *nodes) event(kind, pod string) {
	n.t.Helper()
	f, err := os.OpenFile(filepath.Join(n.dir, "events"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(f, `{"type":%q,"object":%s}`+"\n", kind, pod)
		f.Close()
	}
	if err != nil {
		n.t.Fatal(err)
	}
}

// program makes a file of a program: it calls handle as often as it is told by its first argument, when the file of
// its second is there; where that is "-", at once.
func (n *nodes) program(name, more string) string {
	n.t.Helper()
	n.write(name+".c", `#include <stdlib.h>
#include <unistd.h>
#include <string.h>
__attribute__((noinline)) int handle(int n) { asm volatile(""); return n; }
int main(int argc, char **argv) {
	while (strcmp(argv[2], "-") && access(argv[2], F_OK)) usleep(5000);
	int n = atoi(argv[1]);
	for (int i = 0; i < n; i++) handle(i);
	while (access(argv[3], F_OK)) usleep(5000);
	return 0;
}
`+more, 0o644)
	path := filepath.Join(n.dir, name)
	if out, err := exec.Command("gcc", "-g", "-O1", "-static", "-Wl,--build-id", "-o", path, path+".c").
		CombinedOutput(); err != nil {
		n.t.Fatalf("%v: %s", err, out)
	}
	return path
}

// group makes the control group of a pod.
func (n *nodes) group(uid int) {
	n.t.Helper()
	g := filepath.Join(n.top, "pod"+n.uid(uid))
	if err := os.Mkdir(g, 0o755); err != nil {
		n.t.Skipf("no control groups can be made: %v", err)
	}
	n.t.Cleanup(func() { os.Remove(g) })
}

// start runs a program in the control group of a pod, from its first instruction.
func (n *nodes) start(uid int, args ...string) *exec.Cmd {
	n.t.Helper()
	return n.startIn("pod"+n.uid(uid), args...)
}

func (n *nodes) startIn(group string, args ...string) *exec.Cmd {
	n.t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `echo $$ > "$0" && exec "$@"`,
		filepath.Join(n.top, group, "cgroup.procs")}, args...)...)
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// kube starts the command.
func (n *nodes) kube(args ...string) (cmd *exec.Cmd, out, errs *said) {
	n.t.Helper()
	cmd = exec.Command(bin(n.t, "gostap"), append([]string{"kube"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+n.dir+":"+os.Getenv("PATH"))
	out, errs = &said{}, &said{}
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { cmd.Process.Kill() })
	stop := patience.AfterFunc(soon, func() { cmd.Process.Kill() })
	n.t.Cleanup(func() { stop() })
	return cmd, out, errs
}

// TestKubePods: pods that come while a session runs are traced: on a node with a session from their first call on, on
// one without by a session of its own, of a file of their own likewise; others of the same file are not. A pod that
// goes is told, and the session goes on.
func TestKubePods(t *testing.T) {
	needRoot(t)
	n := newNodes(t)
	app := n.program("app", "")
	image, other := filepath.Join(n.dir, "image"), filepath.Join(n.dir, "other")
	for _, to := range []string{image, other} {
		if out, err := exec.Command("cp", app, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	at := func(name string) string { return filepath.Join(n.dir, name) }
	n.write("pods.json", `{"kind":"List","items":[`+n.pod("cart-1", 1, "a", "Running")+"]}", 0o644)
	n.group(1)
	n.group(7) // of nobody
	n.start(1, image, "1000", at("go"), at("end1"))
	n.start(7, image, "5000", at("go"), at("end"))
	cmd, out, errs := n.kube("-n", "shop", "-l", "app=cart", "--agents", "tracing", "--", "--merge", "-e", fmt.Sprintf(`
		global calls, told
		probe process(%q).function("handle") { calls++ }
		probe timer.ms(50) { if (!told++) println("ready") }
		probe end { printf("%%d calls\n", calls) }`, app))
	out.await(t, "ready")

	// One of the same file on the node with a session, before its group is there.
	n.event("ADDED", n.pod("cart-2", 2, "a", "Pending"))
	time.Sleep(100 * time.Millisecond)
	n.group(2)
	time.Sleep(300 * time.Millisecond) // the kubelet takes longer
	n.start(2, image, "300", "-", at("end"))
	n.event("MODIFIED", n.pod("cart-2", 2, "a", "Running"))
	errs.await(t, `pod shop/cart-2 on node a: traced from \d\d:\d\d:\d\d\.\d\d\d, from its start\n`)

	// One on a node without.
	n.group(3)
	n.start(3, image, "70", at("go"), at("end"))
	n.event("ADDED", n.pod("cart-3", 3, "b", "Running"))
	errs.await(t, `pod shop/cart-3 on node b: traced from [0-9:.]+, [0-9.]+ s after its start\n`)

	// One of another file with the same content, where a session runs.
	n.group(4)
	n.start(4, other, "9", at("go"), at("end"))
	n.event("ADDED", n.pod("cart-4", 4, "a", "Running"))
	errs.await(t, `pod shop/cart-4 on node a: traced from `)

	n.write("go", "", 0o644)
	time.Sleep(500 * time.Millisecond)
	n.write("end1", "", 0o644)
	n.event("DELETED", n.pod("cart-1", 1, "a", "Running"))
	errs.await(t, `pod shop/cart-1 on node a: gone at `)
	n.event("DELETED", n.pod("cart-3", 3, "b", "Running"))
	errs.await(t, `pod shop/cart-3 on node b: gone at [0-9:.]+; the session there waits for others\n`)
	n.event("ADDED", n.pod("cart-5", 5, "c", "Running"))
	errs.await(t, `pod shop/cart-5 on node c: not traced: no agent of gostap is ready there: the node is linux on arm`)
	cmd.Process.Signal(syscall.SIGINT)
	err := cmd.Wait()
	if want := fmt.Sprintf("%d calls\n", 1000+300+70+9); err != nil || !strings.HasSuffix(out.text(), want) {
		t.Errorf("%v: %q, not %q\n%s", err, out.text(), want, errs.text())
	}
	for _, want := range []string{`missing: pod shop/cart-3 on node b before `, `missing: pod shop/cart-5 on node c: no agent`} {
		if !strings.Contains(errs.text(), want) {
			t.Errorf("no %q in\n%s", want, errs.text())
		}
	}
	if lines := bufio.NewScanner(strings.NewReader(errs.text())); strings.Contains(errs.text(), "error:") {
		for lines.Scan() {
			t.Log(lines.Text())
		}
		t.Error("there are errors")
	}
}

// TestKubeRollout: a session begins before there is a pod; one with another build of the program than the plan was made
// of is traced by a plan of the program that is here by then, in the same answer, and refused if that is another one.
func TestKubeRollout(t *testing.T) {
	needRoot(t)
	n := newNodes(t)
	app := n.program("app", "")
	cp := func(from, to string) {
		t.Helper()
		os.Remove(to)
		if out, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	at := func(name string) string { return filepath.Join(n.dir, name) }
	first, second := at("image-1"), n.program("image-2", "int more(int n) { return handle(n) + 7; }\n")
	third := n.program("image-3", "int less(int n) { return handle(n) - 7; }\n")
	cp(app, first)
	cmd, out, errs := n.kube("-n", "shop", "--wait", "-l", "app=cart", "--agents", "tracing", "--", "--merge", "-e",
		fmt.Sprintf(`global calls, told
		probe process(%q).function("handle") { calls++ }
		probe timer.ms(50) { if (!told++) println("ready") }
		probe end { printf("%%d calls\n", calls) }`, app))
	out.await(t, "ready")
	for i, p := range []string{first, second, third} {
		n.group(i + 1)
		if i == 1 {
			cp(second, app)
		}
		n.start(i+1, p, fmt.Sprint(7*(i+1)), at("go"), at("end"))
		n.event("ADDED", n.pod(fmt.Sprint("cart-", i+1), i+1, "a", "Running"))
		if i < 2 {
			errs.await(t, fmt.Sprintf(`pod shop/cart-%d on node a: traced from `, i+1))
		}
	}
	errs.await(t, `pod shop/cart-3 on node a: not traced: .*another build`)
	n.write("go", "", 0o644)
	time.Sleep(500 * time.Millisecond)
	cmd.Process.Signal(syscall.SIGINT)
	err := cmd.Wait()
	if want := fmt.Sprintf("%d calls\n", 7+14); err != nil || !strings.HasSuffix(out.text(), want) {
		t.Errorf("%v: %q, not %q\n%s", err, out.text(), want, errs.text())
	}
	if want := "missing: pod shop/cart-3 on node a: "; !strings.Contains(errs.text(), want) {
		t.Errorf("no %q in\n%s", want, errs.text())
	}
}

// TestKubeLost: the pods of a session that is lost get another one, which is told with the time that is missing.
func TestKubeLost(t *testing.T) {
	needRoot(t)
	n := newNodes(t)
	app := n.program("app", "")
	n.write("pods.json", `{"kind":"List","items":[`+n.pod("cart-1", 1, "a", "Running")+"]}", 0o644)
	n.group(1)
	n.start(1, app, "1000", filepath.Join(n.dir, "go"), filepath.Join(n.dir, "end"))
	cmd, out, errs := n.kube("-n", "shop", "-l", "app=cart", "--agents", "tracing", "--", "--merge", "-e", fmt.Sprintf(`
		global calls, told
		probe process(%q).function("handle") { calls++ }
		probe timer.ms(50) { if (!told++) println("ready") }
		probe end { printf("%%d calls\n", calls) }`, app))
	out.await(t, "ready")
	n.write("down", "", 0o644) // nothing of the cluster is to be reached for a while
	time.AfterFunc(6*time.Second, func() { os.Remove(filepath.Join(n.dir, "down")) })
	killed := 0
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
	for _, task := range tasks {
		list, _ := os.ReadFile(task)
		for _, f := range strings.Fields(string(list)) {
			words, _ := os.ReadFile("/proc/" + f + "/cmdline")
			var pid int
			if fmt.Sscan(f, &pid); strings.Contains(string(words), "remote-session") {
				syscall.Kill(pid, syscall.SIGKILL)
				killed++
			}
		}
	}
	if killed != 1 {
		t.Fatalf("%d sessions were killed", killed)
	}
	errs.await(t, `pod shop/cart-1 on node a: traced again from `)
	n.write("go", "", 0o644)
	time.Sleep(500 * time.Millisecond)
	cmd.Process.Signal(syscall.SIGINT)
	if cmd.Wait(); !strings.HasSuffix(out.text(), "\n1000 calls\n") {
		t.Errorf("%q\n%s", out.text(), errs.text())
	}
	want := `missing: pod shop/cart-1 on node a from [0-9:.]+ to [0-9:.]+, while its session was lost`
	if !regexp.MustCompile(want).MatchString(errs.text()) {
		t.Errorf("no %q in\n%s", want, errs.text())
	}
}

// TestKubeContainers: of a pod one container is traced, one that is begun again too, by its other ID; the others of the
// same file are not. A pod that has no such container is told.
func TestKubeContainers(t *testing.T) {
	needRoot(t)
	n := newNodes(t)
	app := n.program("app", "")
	at := func(name string) string { return filepath.Join(n.dir, name) }
	id := func(i int) string { return strings.Repeat(strconv.Itoa(i), 64) }
	group := func(uid, i int) string {
		g := "pod" + n.uid(uid) + "/cri-containerd-" + id(i) + ".scope"
		if err := os.Mkdir(filepath.Join(n.top, g), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Remove(filepath.Join(n.top, g)) })
		return g
	}
	status := func(name string, i int, state string) string {
		return fmt.Sprintf(`{"name":%q,"containerID":"containerd://%s","ready":true,"state":{%q:{}}}`, name, id(i),
			state)
	}
	pod := func(name string, uid int, statuses ...string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop","uid":%q},"spec":{"nodeName":"a"},`+
			`"status":{"phase":"Running","containerStatuses":[%s]}}`, name, n.uid(uid), strings.Join(statuses, ","))
	}
	n.write("pods.json", `{"kind":"List","items":[`+pod("cart", 1, status("app", 1, "running"),
		status("proxy", 2, "running"))+","+pod("lonely", 2, status("proxy", 3, "running"))+"]}", 0o644)
	n.group(1)
	n.group(2)
	n.startIn(group(1, 1), app, "100", at("go"), at("end"))
	n.startIn(group(1, 2), app, "7000", at("go"), at("end"))
	n.startIn(group(2, 3), app, "8000", at("go"), at("end"))
	cmd, out, errs := n.kube("-n", "shop", "-l", "app=cart", "-c", "app", "--agents", "tracing", "--", "--merge", "-e",
		fmt.Sprintf(`global calls, told
		probe process(%q).function("handle") { calls++ }
		probe timer.ms(50) { if (!told++) println("ready") }
		probe end { printf("%%d calls\n", calls) }`, app))
	out.await(t, "ready")
	errs.await(t, `WARNING: pod lonely: no container app runs in it\n`)
	n.write("go", "", 0o644)
	time.Sleep(300 * time.Millisecond)

	// It ends, and comes again.
	n.event("MODIFIED", pod("cart", 1, status("app", 1, "terminated"), status("proxy", 2, "running")))
	time.Sleep(100 * time.Millisecond)
	again := group(1, 4)
	n.event("MODIFIED", pod("cart", 1, status("app", 4, "running"), status("proxy", 2, "running")))
	time.Sleep(time.Second)
	n.startIn(again, app, "30", "-", at("end"))
	time.Sleep(300 * time.Millisecond)
	n.write("end", "", 0o644)
	cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil || !strings.HasSuffix(out.text(), "ready\n130 calls\n") {
		t.Errorf("%v: %s%s", err, out.text(), errs.text())
	}
}

// TestKubeDeleted: a program whose file was deleted while it ran is told as that.
func TestKubeDeleted(t *testing.T) {
	needRoot(t)
	n := newNodes(t)
	app := n.program("app", "")
	image := filepath.Join(n.dir, "image")
	if out, err := exec.Command("cp", app, image).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n.write("pods.json", `{"kind":"List","items":[`+n.pod("cart-1", 1, "a", "Running")+"]}", 0o644)
	n.group(1)
	started := n.start(1, image, "1", "-", filepath.Join(n.dir, "end"))
	for exe := fmt.Sprintf("/proc/%d/exe", started.Process.Pid); ; time.Sleep(5 * time.Millisecond) {
		if path, err := os.Readlink(exe); err != nil || path == image {
			break
		}
	}
	os.Remove(image)
	cmd, _, errs := n.kube("-n", "shop", "-l", "app=cart", "--agents", "tracing", "--", "--merge", "-e",
		fmt.Sprintf(`global calls probe process(%q).function("handle") { calls++ } probe end { println(calls) }`, app))
	errs.await(t, `pod shop/cart-1 on node a: not traced: its program /\S+/image was deleted or replaced while it ran`)
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
}
