package tests

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// agentRights are the capabilities of the agents' manifest.
var agentRights = []string{"bpf", "perfmon", "sys_ptrace"}

// withRights has the agents run with so many capabilities and no others, as a user who gains none by being root.
func (n *nodes) withRights(caps []string) {
	n.t.Helper()
	few := "-all"
	for _, c := range caps {
		few += ",+" + c
	}
	gostap := bin(n.t, "gostap")
	stub := strings.ReplaceAll(fmt.Sprintf(kubectlStub, n.dir, gostap), "exec "+gostap, fmt.Sprintf(
		"exec setpriv --no-new-privs --bounding-set=%s --inh-caps=%s %s", few, few, gostap))
	n.write("kubectl", stub, 0o755)
}

// text is the code of a process of a program, as it is in its memory.
func text(t *testing.T, pid int, program string) []byte {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	b := make([]byte, s.Size)
	if _, err := mem.ReadAt(b, int64(s.Addr)); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAgentRights: an agent with the capabilities of the manifest traces programs of other users, counts each call, and
// leaves the code of programs in pods that nobody asked for as it is, byte by byte. With one capability less nothing is
// traced, and that is said.
func TestAgentRights(t *testing.T) {
	needRoot(t)
	if !slices.ContainsFunc(strings.Split(manifestOf(t), "\n"), func(l string) bool {
		return strings.Contains(l, "drop: [ALL], add: ["+strings.ToUpper(strings.Join(agentRights, ", "))+"]")
	}) {
		t.Errorf("the manifest has other capabilities than %q", agentRights)
	}
	for _, less := range append([]string{""}, agentRights...) {
		t.Run("without_"+less, func(t *testing.T) {
			n := newNodes(t)
			n.withRights(slices.DeleteFunc(slices.Clone(agentRights), func(c string) bool { return c == less }))
			for _, dir := range []string{n.dir, filepath.Dir(n.dir)} { // another user waits for files there
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			app, other := n.program("app", ""), filepath.Join(n.dir, "other")
			if out, err := exec.Command("cp", app, other).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			n.write("pods.json", `{"kind":"List","items":[`+n.pod("cart-1", 1, "a", "Running")+"]}", 0o644)
			n.group(1)
			n.group(7) // of nobody who was asked for
			nobody := []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}
			at := func(name string) string { return filepath.Join(n.dir, name) }
			n.start(1, append(nobody, app, "1000", at("go"), at("end"))...)
			bystander := n.start(7, append(nobody, other, "5000", at("go"), at("end"))...)
			awaitProgram(t, bystander.Process.Pid, "other")
			before := text(t, bystander.Process.Pid, other)
			cmd, out, errs := n.kube("-n", "shop", "-l", "app=cart", "--agents", "tracing", "--", "--merge", "-e",
				fmt.Sprintf(`global calls, told
				probe process(%q).function("handle") { calls++ }
				probe timer.ms(50) { if (!told++) println("ready") }
				probe end { printf("%%d calls\n", calls) }`, app))
			if less == "sys_ptrace" { // tracepoints and functions of the kernel are traced without it
				errs.await(t, "cart-1 on node a: not traced: no permission to look at .* CAP_SYS_PTRACE")
				cmd.Process.Signal(syscall.SIGINT)
				if cmd.Wait(); !strings.HasSuffix(out.text(), "\n0 calls\n") {
					t.Errorf("without %s: %s", less, out.text())
				}
				return
			}
			if less != "" {
				err := cmd.Wait()
				if err == nil || strings.Contains(out.text(), "ready") ||
					!strings.Contains(errs.text(), "permission") && !strings.Contains(errs.text(), "CAP_") {
					t.Errorf("without %s: %v\n%s\n%s", less, err, out.text(), errs.text())
				}
				return
			}
			out.await(t, "ready")
			if !bytes.Equal(text(t, bystander.Process.Pid, other), before) {
				t.Error("the code of a program in another pod was changed")
			}
			n.write("go", "", 0o644)
			time.Sleep(500 * time.Millisecond) // the calls take a millisecond
			n.event("DELETED", n.pod("cart-1", 1, "a", "Running"))
			errs.await(t, "gone at ")
			cmd.Process.Signal(syscall.SIGINT)
			if err := cmd.Wait(); err != nil || !strings.HasSuffix(out.text(), "\n1000 calls\n") {
				t.Errorf("%v: %s\n%s", err, out.text(), errs.text())
			}
			if !bytes.Equal(text(t, bystander.Process.Pid, other), before) {
				t.Error("the code of a program in another pod is another one afterwards")
			}
		})
	}
}

// manifestOf is what gostap kube manifest prints.
func manifestOf(t *testing.T, options ...string) string {
	t.Helper()
	out, err := exec.Command(bin(t, "gostap"), append([]string{"kube", "manifest"}, options...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// awaitProgram waits until a process runs a program.
func awaitProgram(t *testing.T, pid int, name string) {
	t.Helper()
	for range 200 {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); filepath.Base(exe) == name {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("process %d does not run %s", pid, name)
}
