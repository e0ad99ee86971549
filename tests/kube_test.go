package tests

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gostap/gostap/tests/patience"
)

// inPod is a program that calls tick until a file is there, then handle 1000 times.
const inPod = `#include <unistd.h>
__attribute__((noinline)) void tick(void) { asm volatile(""); }
__attribute__((noinline)) int handle(int n) { asm volatile(""); return n; }
int main(int argc, char **argv) {
	while (access(argv[1], F_OK)) { tick(); usleep(5000); }
	for (int i = 0; i < 1000; i++) handle(i);
	return 0;
}
`

// kubectl stands for the command: pods are on two nodes, whose agents are processes of this machine.
const kubectlStub = `#!/bin/sh
case "$*" in
*" --watch "*gostap-agent*|*gostap-agent*" --watch "*) exec sleep 1000 ;;
*gostap-agent*) cat %[1]s/agents.json ;;
"get pods --namespace shop --selector app=cart --output json") cat %[1]s/pods.json ;;
"get pods --namespace shop --selector app=cart --watch --output-watch-events --output json")
	exec tail -n +1 -f %[1]s/events ;;
"exec -i -q --namespace tracing agent-"*" -- gostap remote-session")
	if [ -e %[1]s/down ]; then echo "The connection to the server was refused" >&2; exit 1; fi
	exec %[2]s remote-session ;;
"exec -i -q --namespace tracing agent-"*" -- gostap pod-program "*)
	while [ "$1" != pod-program ]; do shift; done
	echo "$*" >>%[1]s/copies
	exec %[2]s "$@" ;;
"get node c --output json") echo '{"status":{"nodeInfo":{"operatingSystem":"linux","architecture":"arm64"}}}' ;;
*) echo "Error from server (Forbidden): $*" >&2; exit 1 ;;
esac
`

// TestKube: the calls of the pods that are asked for are counted, on the nodes where they are, and not those of the
// same program elsewhere; a pod without an agent is told, and what kubectl refuses.
func TestKube(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("app.c", inPod, 0o644)
	app := filepath.Join(dir, "app")
	if out, err := exec.Command("gcc", "-g", "-O1", "-static", "-o", app, app+".c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	elsewhere := filepath.Join(dir, "elsewhere") // what pods run is another file
	if out, err := exec.Command("cp", app, elsewhere).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write("kubectl", fmt.Sprintf(kubectlStub, dir, bin(t, "gostap")), 0o755)
	uid := func(n int) string { return fmt.Sprintf("0000000%d-aaaa-bbbb-cccc-%012d", n, os.Getpid()) }
	pod := func(name, uid, node, phase string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"uid":%q},"spec":{"nodeName":%q},"status":{"phase":%q,`+
			`"containerStatuses":[{"ready":true}]}}`, name, uid, node, phase)
	}
	list := func(pods ...string) string { return `{"kind":"List","items":[` + strings.Join(pods, ",") + `]}` }
	write("agents.json", list(pod("agent-a", uid(8), "a", "Running"), pod("agent-b", uid(9), "b", "Running")), 0o644)
	write("pods.json", list(pod("cart-1", uid(1), "a", "Running"), pod("cart-2", uid(2), "b", "Running"),
		pod("cart-3", uid(3), "c", "Running"), pod("cart-4", uid(4), "a", "Pending")), 0o644)
	write("events", "", 0o644)
	var top string
	for _, in := range []string{"", "/unified", "/memory", "/pids"} {
		if _, err := os.Stat("/sys/fs/cgroup" + in + "/cgroup.procs"); err == nil {
			top = "/sys/fs/cgroup" + in
			break
		}
	}
	start := func(group string) *exec.Cmd {
		t.Helper()
		cmd := exec.Command(elsewhere, filepath.Join(dir, "go"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		if group == "" {
			return cmd
		}
		g := filepath.Join(top, group)
		if err := os.Mkdir(g, 0o755); err != nil {
			t.Skipf("no control groups can be made: %v", err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); os.Remove(g) })
		if err := os.WriteFile(g+"/cgroup.procs", []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	all := []*exec.Cmd{start("pod" + uid(1)), start("kubepods-pod" + strings.ReplaceAll(uid(2), "-", "_") + ".slice"),
		start("pod" + uid(7)), start("")}
	env := append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(bin(t, "gostap"), append([]string{"kube"}, args...)...)
		cmd.Env = env
		return cmd
	}
	script := fmt.Sprintf(`global calls, ticks, told
		probe process(%[1]q).function("tick") { ticks[pid()]++ }
		probe process(%[1]q).function("handle") { calls[$n & 1]++ }
		probe timer.ms(50) { foreach (p in ticks) n++ if (n == 2 && !told++) println("ready") }
		probe end { printf("%%d even, %%d odd\n", calls[0], calls[1]) }`, app)
	cmd := run("-n", "shop", "-l", "app=cart", "--agents", "tracing", "--", "--merge", "-e", script)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	stop := patience.AfterFunc(soon, func() { cmd.Process.Kill() })
	defer stop()
	b := make([]byte, 4096)
	n, _ := r.Read(b)
	if string(b[:n]) != "ready\n" {
		t.Fatalf("%q %s", b[:n], said.String())
	}
	write("go", "", 0o644)
	for _, p := range all {
		p.Wait()
	}
	cmd.Process.Signal(syscall.SIGINT)
	out.ReadFrom(r)
	if err := cmd.Wait(); err != nil || out.String() != "1000 even, 1000 odd\n" {
		t.Errorf("%v: %q\n%s", err, out.String(), said.String())
	}
	for _, want := range []string{"pod cart-3 on node c: not traced: no agent of gostap is ready there: the node is " +
		"linux on arm64, and this gostap is for linux on amd64",
		"pod cart-4: it does not run (Pending)",
		"missing: pod cart-3 on node c: no agent"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in %s", want, said.String())
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-n", "prod", "-l", "app=cart", "-e", "probe begin { }"}, "Error from server (Forbidden)"},
		{[]string{"-e", "probe begin { }"}, "no pods are named"},
		{[]string{"-l", "a=b", "pod-1", "-e", "probe begin { }"}, "not by both"},
		{[]string{"-n"}, "-n needs a value"},
		{[]string{"-l", "app=cart", "--told", "xml", "-e", "probe begin { }"}, "--told takes json"},
		{[]string{"-n", "shop", "-l", "app=cart", "--agents", "tracing", "--program", "x", "--", "-e",
			"probe begin { }"}, "--program is about a script that is translated here"},
		{[]string{"-n", "shop", "-l", "app=cart", "--agents", "tracing", "--node", "x", "--", "-e", "probe begin { }"},
			"none of the pods is on a node that --node names"},
		{[]string{"manifest", "x"}, `kube manifest takes no "x"`},
	} {
		if out, err := run(c.args...).CombinedOutput(); err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v %s", c.args, err, out)
		}
	}
	if out, err := run("manifest", "--image", "here/gostap:1").Output(); err != nil ||
		!strings.Contains(string(out), "        image: \"here/gostap:1\"\n") || strings.Contains(string(out), "{{") {
		t.Errorf("%v %s", err, out)
	}
}
