package vm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// unavailable has one request in four of a server fail.
const unavailable = `global n probe process("%PROG").function("main.(*Store).Get").call {
  if (n++ % 4 < 1) skip_function(0, @var("main.ErrTimeout"))
}`

// TestServed has requests of a server of Go fail, whose stacks grow and whose garbage is collected all the time: as
// often as GOSTAP_GURU_RUNS says with eBPF on Linux 7.3 and with a module on 6.1, and a tenth as often with the tracer
// killed meanwhile. The clients in the program count.
func TestServed(t *testing.T) {
	if miss := Missing(); len(miss) > 0 {
		t.Skipf("not installed: %s", strings.Join(miss, ", "))
	}
	runs, _ := strconv.Atoi(os.Getenv("GOSTAP_GURU_RUNS"))
	if runs <= 0 {
		t.Skip("GOSTAP_GURU_RUNS says how often: 100 take some ten minutes on each kernel")
	}
	dir := t.TempDir()
	gostap, served := filepath.Join(dir, "gostap"), filepath.Join(dir, "served")
	for out, pkg := range map[string]string{gostap: "../../cmd/gostap", served: "./testdata/served"} {
		if err := goBuild(out, pkg); err != nil {
			t.Fatal(err)
		}
	}
	script := strings.ReplaceAll(unavailable, "%PROG", served)
	for release, module := range map[string]bool{"6.1.0-56-cloud-amd64": true, "7.3.4+deb13-cloud-amd64": false} {
		t.Run(release, func(t *testing.T) {
			k, err := Get(release)
			if err != nil {
				t.Fatal(err)
			}
			tracer := gostap + " -g -e '" + script + "'"
			if module {
				kdir, err := k.BuildDir()
				if err != nil {
					t.Fatal(err)
				}
				build := exec.Command(gostap, "-g", "-p4", "-m", "served", "--runtime=kernel", "-r", kdir, "-e", script)
				build.Dir = dir
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("build served.ko: %v\n%s", err, out)
				}
				tracer = gostap + " run " + dir + "/served.ko"
			}
			command := "ip link set lo up 2>/dev/null || ifconfig lo up\n"
			command += fmt.Sprintf("for i in $(seq %d); do %s -c '%s 400' 2>&1; echo rc $?; done; echo == killed\n",
				runs, tracer, served)
			dead := max(runs/10, 1)
			command += fmt.Sprintf("for i in $(seq %d); do %s done\n", dead, strings.TrimPrefix(killed(served, tracer),
				"echo '== killed'; "))
			res := guest(t, k, Options{Files: map[string]string{dir: dir}, Command: command,
				Timeout: time.Duration(runs+10) * time.Minute})
			whole, rest, _ := strings.Cut(res.Output, "== killed\n")
			good := strings.Count(whole, "requests 400 failed 100 wrong 0 left out 100\nrc 0\n")
			if good != runs {
				t.Errorf("%d of %d runs were right:\n%s", good, runs, whole)
			}
			went := strings.Count(rest, " wrong 0 left out ")
			if went != dead || strings.Count(rest, "rc 0\n") != dead || strings.Contains(rest, "failed 0 ") {
				t.Errorf("after %d of %d tracers were killed all went on well:\n%s", went, dead, rest)
			}
			t.Logf("%s: %d of %d runs right, %d of %d right after SIGKILL", release, good, runs, went, dead)
		})
	}
}
