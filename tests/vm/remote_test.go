package vm

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// remoteKernels are the guests of TestRemote, by the names of hosts.
var remoteKernels = map[string]string{"old": "6.1.0-56-cloud-amd64", "mid": "6.12.118+deb13-cloud-amd64",
	"new": "7.3.4+deb13-cloud-amd64"}

// remoteGuest starts an SSH server in a guest, with nothing beside it but busybox.
const remoteGuest = `
for m in /mod/*.ko; do insmod $m || exit 9; done
for i in $(seq 100); do [ -e /sys/class/net/eth0 ] && break; sleep 0.1; done
ip link set eth0 up; ip addr add 10.0.2.15/24 dev eth0
chmod 700 /root /root/.ssh; chmod 600 /root/.ssh/authorized_keys /lab/key
dropbear -r /lab/key -p 22 -s -E 2>/dev/null
while [ ! -e /tmp/stop ]; do sleep 0.2; done
cat /sys/kernel/tracing/uprobe_events /sys/kernel/tracing/kprobe_events
ls -d /tmp/gostap* /root/.cache/gostap/bin/* 2>/dev/null
for p in /proc/[0-9]*; do case "$(readlink $p/exe)" in *gostap*) echo left $p ;; esac; done
`

// planned is a program of which the guests have the stripped file, and its script.
const (
	planned = `#include <stdlib.h>
#include <unistd.h>
struct req { int id; const char *name; long cost[4]; };
__attribute__((noinline)) long handle(struct req *r, int n) { asm volatile(""); return r->cost[n & 3] + n; }
struct req r = {7, "order", {10, 20, 30, 40}};
int main(int argc, char **argv) {
	long s = 0;
	for (int i = 0; i < atoi(argv[1]); i++) { r.id++; s += handle(&r, i); getppid(); usleep(10000); }
	return s != 145;
}
`
	plannedScript = `
global calls, sum, asked, ticks
probe process("PROGRAM").function("handle") { calls[user_string($r->name)]++ sum += $r->id * $r->cost[1] }
probe process("PROGRAM").function("handle").return { sum += $return }
probe kernel.trace("sched:sched_process_exec") {
	if ($p->tgid == target()) printf("exec %s %d\n", kernel_string($p->comm), $p->cred->uid->val)
}
probe syscall.getppid { if (pid() == target()) asked++ }
probe timer.ms(10) { ticks++ }
probe end { foreach (n in calls) printf("%s %d, %d, %d asked, %s\n", n, calls[n], sum, asked, ticks ? "ticks" : "none") }
`
	// The sum of what handle returns, and of (7 + 1 ... 7 + 6) * 20; the program itself checks the former.
	plannedWant = "exec planned 0\n: order 6, 1405, 6 asked, ticks\n"
)

// buildPlanned gives the program of planned and the file without debug information.
func buildPlanned(t *testing.T) (whole, stripped string) {
	t.Helper()
	dir := t.TempDir()
	whole, stripped = filepath.Join(dir, "planned"), filepath.Join(dir, "stripped")
	if err := os.WriteFile(whole+".c", []byte(planned), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"gcc", "-static", "-g", "-O1", "-Wl,--build-id", "-o", whole, whole + ".c"},
		{"strip", "-o", stripped, whole}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return whole, stripped
}

// machines are guests that run until they are stopped.
type machines struct {
	ssh  string // a folder with a command ssh that knows them
	stop map[string]context.CancelFunc
	end  map[string]chan string // what the guest printed at its end
}

// hosts boots guests with SSH servers and more files.
func hosts(t *testing.T, kernels, more map[string]string) *machines {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "id"},
		{"dropbearkey", "-t", "ed25519", "-f", "key"}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	m := &machines{dir, map[string]context.CancelFunc{}, map[string]chan string{}}
	config := "Host *\n User root\n HostName 127.0.0.1\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n" +
		" LogLevel ERROR\n IdentitiesOnly yes\n IdentityFile " + dir + "/id\n"
	for name, release := range kernels {
		k, err := Get(release)
		if err != nil {
			t.Fatal(err)
		}
		mods, err := k.Modules("virtio_pci?", "virtio_net")
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{"/lab/key": dir + "/key", "/root/.ssh/authorized_keys": dir + "/id.pub",
			"/sbin/dropbear": "/usr/sbin/dropbear"}
		maps.Copy(files, more)
		for i, f := range mods {
			files[fmt.Sprintf("/mod/%02d.ko", i)] = f
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		config = fmt.Sprintf("Host %s\n Port %d\n", name, port) + config
		ctx, cancel := context.WithCancel(context.Background())
		m.stop[name], m.end[name] = cancel, make(chan string, 1)
		go func() {
			res, err := k.Run(ctx, Options{Command: remoteGuest, Files: files, Timeout: 10 * time.Minute,
				Devices: []string{"-netdev", fmt.Sprintf("user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:%d-:22", port),
					"-device", "virtio-net-pci,netdev=n"}, Log: t.Logf})
			if err != nil {
				m.end[name] <- "crashed: " + err.Error()
				return
			}
			m.end[name] <- res.Output
		}()
		t.Cleanup(func() {
			cancel()
			<-m.end[name]
		})
	}
	config += " ConnectTimeout 30\n"
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nexec " + ssh + " -F " + dir + "/config \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for name := range kernels {
		m.awaitSSH(t, name)
	}
	return m
}

// awaitSSH waits until a guest answers.
func (m *machines) awaitSSH(t *testing.T, name string) {
	t.Helper()
	for mark := patience.Now(); ; time.Sleep(200 * time.Millisecond) {
		out, err := exec.Command(filepath.Join(m.ssh, "ssh"), name, "true").CombinedOutput()
		if err == nil {
			return
		}
		select {
		case text := <-m.end[name]:
			m.end[name] <- text
			t.Fatalf("%s ended: %s", name, text)
		default:
		}
		if patience.Now()-mark > 2*time.Minute {
			t.Fatalf("%s does not answer: %v\n%s", name, err, out)
		}
	}
}

// gostap gives the command with ssh for these machines.
func (m *machines) gostap(exe string, args ...string) *exec.Cmd {
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), "PATH="+m.ssh+":"+os.Getenv("PATH"), "SYSTEMTAP_DIR="+m.ssh)
	return cmd
}

// buffer is written to by a process while it is read.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// await waits until s is there n times.
func (b *buffer) await(t *testing.T, s string, n int) {
	t.Helper()
	for mark := patience.Now(); strings.Count(b.String(), s) < n; time.Sleep(20 * time.Millisecond) {
		if patience.Now()-mark > 2*time.Minute {
			t.Fatalf("%q is not there %d times:\n%s", s, n, b.String())
		}
	}
}

// TestRemote: one command traces machines with different kernels, which have nothing of gostap before. Each host's
// counts are those of what was started there; a host that dies is told, and the others go on; nothing is left.
func TestRemote(t *testing.T) {
	t.Parallel()
	if miss := Missing(); len(miss) > 0 {
		t.Skipf("not installed: %s", strings.Join(miss, ", "))
	}
	exe := filepath.Join(t.TempDir(), "gostap")
	if err := goBuild(exe, "../../cmd/gostap"); err != nil {
		t.Fatal(err)
	}
	whole, stripped := buildPlanned(t)
	m := hosts(t, remoteKernels, map[string]string{"/opt/planned": stripped})
	lib := t.TempDir()
	if err := os.WriteFile(filepath.Join(lib, "l.stp"), []byte("function mine:string () { return \"mine\" }\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "count.stp")
	text := `
global n, faults
probe syscall.getppid { if (pid() == target() || ppid() == target()) n++ }
probe kernel.function("do_exit") { if (ppid() == target()) faults++ }
probe end {
	printf("%s %d calls, %d ends, %s\n", %( kernel_v >= "7" %? "new" %: %( kernel_v >= "6.12" %? "mid" %: "old" %) %),
		n, faults, mine())
}
`
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-I", lib, "-c", `for n in 1 2 3 4 5 6 7; do busybox true; done; exit 0`, script}
	for name := range remoteKernels {
		args = append([]string{"--remote", "ssh://" + name}, args...)
	}
	out, err := m.gostap(exe, args...).CombinedOutput()
	for name := range remoteKernels {
		if want := fmt.Sprintf("%s: %s ", name, name); err != nil || !strings.Contains(string(out), want) ||
			strings.Count(string(out), " 7 ends, mine\n") != len(remoteKernels) {
			t.Errorf("%v; want %q and 7 ends of each:\n%s", err, want, out)
		}
	}
	// Translated here, and run where there is no debug information: one plan for all.
	script = filepath.Join(t.TempDir(), "planned.stp")
	if err := os.WriteFile(script, []byte(strings.ReplaceAll(plannedScript, "PROGRAM", whole)), 0o644); err != nil {
		t.Fatal(err)
	}
	args = []string{"--remote-plan", "--file=/opt/planned", "-c", "/opt/planned 6", script}
	for name := range remoteKernels {
		args = append([]string{"--remote", "ssh://" + name}, args...)
	}
	out, err = m.gostap(exe, args...).CombinedOutput()
	for name := range remoteKernels {
		for line := range strings.SplitSeq(strings.TrimSpace(plannedWant), "\n: ") {
			if err != nil || !strings.Contains(string(out), name+": "+line+"\n") {
				t.Errorf("%v; want %q of %s:\n%s", err, line, name, out)
			}
		}
	}
	// An error in the script has its own name there.
	bad := filepath.Join(t.TempDir(), "bad.stp")
	if err := os.WriteFile(bad, []byte("probe begin { nosuch() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err = m.gostap(exe, "--remote", "new", bad).CombinedOutput()
	if err == nil || !strings.Contains(string(out), bad+":1:15: error:") || strings.Contains(string(out), "copying") {
		t.Errorf("%v:\n%s", err, out)
	}

	cmd := m.gostap(exe, "--remote", "ssh://old", "--remote", "ssh://mid", "--remote", "ssh://new", "-e",
		`global n probe begin { println("ready") } probe timer.ms(20) { println("tick ", n++) }
		 probe kernel.function("vfs_read") { n++ } probe end { println("over") }`)
	var said buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said.await(t, "ready\n", len(remoteKernels))
	m.stop["old"]()
	said.await(t, "old: error: ", 1)
	for _, name := range []string{"mid", "new"} {
		said.await(t, name+": tick", strings.Count(said.String(), name+": tick")+3)
	}
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err == nil || !strings.Contains(said.String(), "new: over\n") ||
		!strings.Contains(said.String(), "mid: over\n") || strings.Contains(said.String(), "old: over") {
		t.Errorf("%v:\n%s", err, said.String())
	}

	// Killed here, it ends there.
	cmd = m.gostap(exe, "--remote", "new", "-e", `probe begin { println("ready") }
		probe kernel.function("vfs_read"), process("/bin/busybox").begin { }`)
	var last buffer
	cmd.Stdout = &last
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last.await(t, "ready\n", 1)
	cmd.Process.Kill()
	cmd.Wait()
	gone := `for i in $(seq 600); do ls -l /proc/[0-9]*/exe 2>/dev/null | grep -q gostap || break; sleep 0.1; done; touch /tmp/stop`
	if out, err := exec.Command(filepath.Join(m.ssh, "ssh"), "new", gone).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	end := <-m.end["new"]
	m.end["new"] <- end
	if !strings.HasPrefix(end, "/root/.cache/gostap/bin/gostap-") || strings.Count(end, "\n") != 1 {
		t.Errorf("left in the guest:\n%s", end)
	}
}
