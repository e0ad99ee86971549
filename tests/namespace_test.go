package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestPidNamespace runs gostap itself in a pid namespace of its own: the numbers that it is given, prints and looks up
// are all of that namespace; a program in a namespace below has one there as well.
func TestPidNamespace(t *testing.T) {
	needRoot(t)
	if out, err := exec.Command("unshare", "-pf", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("no namespaces here: %v %s", err, out)
	}
	gostap, busy := bin(t, "gostap"), bin(t, "busy")
	const where = `global k probe process.function("main.step") { if (!k[pid()]++) printf("%d %d %d %d|", pid() == target(), tid() < 1000, pid() < 1000, ns_pid() < 1000) `
	for _, c := range []struct{ name, sh, want string }{
		{"-c", `$GOSTAP -w --no-global-var-display -e '` + where + `}' -c "$BUSY 20" | sed "s/calls.*//"`, "1 1 1 1|"},
		{"-x", `$BUSY & $GOSTAP -w --no-global-var-display -e '` + where + ` if (!ppid()) exit() if (pid() != ` +
			"'$!'" + `) error("pid") printf("%d", ppid() == '$$') exit() }' -x $!; kill $!`, "1 1 1 1|1"},
		{"process(PID)", `$BUSY & $GOSTAP -w -e 'probe process('$!').function("main.step") { printf("%d", pid() == '$!') exit() }'; kill $!`, "1"},
		{"begin and end", `$GOSTAP -w -e 'probe process.begin { printf("%d ", pid() == target()) } probe process.end { printf("%d", pid() == target()) }' -c "$BUSY 20" | sed "s/calls.*//" | tr -d "\n"`, "1 1"},
		{"names", `$GOSTAP -w -e 'probe process.function("main.inner") { print_ubacktrace() exit() }' -c "$BUSY 20 >&2" | grep -c 'main.step'`, "1"},
		{"nested", `unshare -pf --mount-proc $BUSY & until P=$(pgrep -o -x busy); do sleep 0.02; done; $GOSTAP -w --no-global-var-display -e '` + where + ` exit() }' -x $P; kill -9 $P`, "1 1 1 1|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("unshare", "-pf", "--kill-child", "--mount-proc", "sh", "-c", c.sh)
			cmd.Env = append(cmd.Environ(), "GOSTAP="+gostap, "BUSY="+busy)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := timed(t, cmd)
			if strings.TrimSpace(out) != c.want {
				t.Errorf("%v, got %s, want %s\n%s", err, out, c.want, stderr.String())
			}
		})
	}
}

// TestHeldMaps: a stack is whole though another thread has the lock of what the process has mapped, also where nothing
// but the kernel tells what that is.
func TestHeldMaps(t *testing.T) {
	needRoot(t)
	gostap, held := bin(t, "gostap"), bin(t, "held")
	cmd := exec.Command("unshare", "-pf", "--kill-child", "--mount-proc", gostap, "-w", "--folded", "-e",
		`global n probe process.function("leaf") { n[ustack()]++ }`, "-c", held+" 500 >/dev/null")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := timed(t, cmd)
	if strings.Contains(stderr.String(), "unshare: ") {
		t.Skipf("no namespaces here: %s", stderr.String())
	}
	hits := 0
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		stack, count, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(stack, "_start;") || !strings.HasSuffix(stack, ";main;bsearch;compare;leaf") {
			t.Error(line)
		}
		n, _ := strconv.Atoi(count)
		hits += n
	}
	if err != nil || hits != 501 {
		t.Errorf("%v, %d hits\n%s%s", err, hits, out, stderr.String())
	}
}

// TestLayers traces a program on a file system of two layers that lie on different devices: stat(2) does not tell the
// one that the kernel knows the file by.
func TestLayers(t *testing.T) {
	needRoot(t)
	gostap, trace := bin(t, "gostap"), bin(t, "trace")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"t", "up", "work", "m"} {
		if err := os.Mkdir(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const script = `probe process("./m/prog").begin { println("begins") } probe process("./m/prog").library("./m/prog").function("main") { println("main") }
probe process("/bin/true").library("./m/prog").function("main") { println("wrong") } probe process("./m/prog").end { println("ends") }`
	cmd := exec.Command("unshare", "-m", "sh", "-c", `mount -t tmpfs none t && mkdir t/lo && cp $PROG t/lo/prog &&
mount -t overlay overlay -o lowerdir=t/lo,upperdir=up,workdir=work m || exit 77
exec $GOSTAP -w -e "$SCRIPT" -c './m/prog >/dev/null'`)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOSTAP="+gostap, "PROG="+trace, "SCRIPT="+script)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := timed(t, cmd)
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 {
		t.Skipf("no such mounts here: %s", stderr.String())
	}
	if string(out) != "begins\nmain\nends\n" {
		t.Errorf("%v: %s%s", err, out, stderr.String())
	}
}
