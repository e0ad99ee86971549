package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestKubeProgram: a process without a path is the program that runs in the pods, which is copied from there, also that
// of a pod of another build that comes later. What each interface of it holds is told, though this machine has the
// program elsewhere and the others have it only while a pod runs.
func TestKubeProgram(t *testing.T) {
	needRoot(t)
	n := newNodes(t)
	build := func(name, word string) string {
		path := filepath.Join(n.dir, name)
		cmd := exec.Command("go", "build", "-ldflags=-buildid="+word, "-o", path, "./fixtures/fails")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return path
	}
	one, two := build("one", "one"), build("two", "two")
	go1, go2, end := filepath.Join(n.dir, "go1"), filepath.Join(n.dir, "go2"), filepath.Join(n.dir, "end")
	n.group(1)
	n.group(2)
	n.group(3)
	a, b := n.start(1, one, "1000", go1, end), n.start(2, one, "500", go1, end)
	other := exec.Command(one, "700", go1, go1) // of no pod
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	n.write("pods.json", `{"kind":"List","items":[`+n.pod("cart-1", 1, "a", "Running")+","+
		n.pod("cart-2", 2, "b", "Running")+"]}", 0o644)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(n.dir, "cache"))
	cmd, out, errs := n.kube("-n", "shop", "-l", "app=cart", "--agents", "tracing", "--", "--merge", "-e", `
		global e, told
		probe process.function("main.handle").return { e[$return[1]$]++ }
		probe timer.ms(50) { if (!told++) println("ready") }
		probe end { foreach (x+ in e) println(e[x], " ", x) }`)
	out.await(t, "ready")
	n.write("go1", "", 0o644)
	other.Wait()
	c := n.start(3, two, "300", go2, end)
	n.event("ADDED", n.pod("cart-3", 3, "a", "Running"))
	errs.await(t, `cart-3 on node a: traced`)
	n.write("go2", "", 0o644)
	n.write("end", "", 0o644)
	for _, p := range []*exec.Cmd{a, b, c} {
		p.Wait()
	}
	cmd.Process.Signal(syscall.SIGINT)
	err := cmd.Wait()
	if want := "ready\n180 *errors.errorString(\"a tenth\")\n1620 nil\n"; err != nil || out.text() != want {
		t.Errorf("%v: %q, want %q\n%s", err, out.text(), want, errs.text())
	}
	copies, _ := filepath.Glob(n.dir + "/cache/gostap/programs/*/*")
	asked, _ := os.ReadFile(n.dir + "/copies")
	if len(copies) != 2 || strings.Count(string(asked), "\n") != 2 {
		t.Errorf("copies %v, asked for by %s", copies, asked)
	}
}
