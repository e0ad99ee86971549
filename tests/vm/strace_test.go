package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// straced are the calls that are traced by default: those of the load, and some that show the most.
const straced = "read write openat execve dup2 close brk mmap bind connect add_key fsetxattr getrandom _sysctl sendto"

// TestStrace runs SystemTap's own strace in guests, as a module and with eBPF: handlers that share their ends and go to
// what is each call's own by its number. GOSTAP_EXAMPLES=full traces all calls by eight hundred probes, which the
// verifier of an emulated machine looks at for a minute. The load says how often it calls what.
func TestStrace(t *testing.T) {
	script := guestExamples + "/process/strace.stp"
	if _, err := os.Stat(script); err != nil {
		t.Skip("not installed: systemtap-doc")
	}
	each(t, func(t *testing.T, k *Kernel, _ *bench) {
		headers, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		gostap := filepath.Join(dir, "gostap")
		if err := goBuild(gostap, "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		script := script
		if os.Getenv("GOSTAP_EXAMPLES") != "full" {
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			points := func(suffix string) string {
				return "nd_syscall." + strings.ReplaceAll(straced, " ", suffix+", nd_syscall.") + suffix
			}
			part := strings.Replace(string(text), "nd_syscall.* ", points("")+" ", 1)
			part = strings.Replace(part, "nd_syscall.*.return", points(".return"), 1)
			if strings.Contains(part, "nd_syscall.*") {
				t.Fatal("the script has other probes than it had")
			}
			script = filepath.Join(dir, "strace.stp")
			if err := os.WriteFile(script, []byte(part), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(gostap, "-w", "-p4", "-m", "tracer", "-r", headers, "--runtime=kernel",
			"--suppress-handler-errors", "--skip-badvars", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		load := "-c 'busybox dd if=/dev/zero of=/etc/copied bs=1 count=300' 2>&1; echo rc $?\n"
		res := guest(t, k, Options{Timeout: 10 * time.Minute,
			Files: map[string]string{"/lab/gostap": gostap, "/lab/tracer.ko": filepath.Join(dir, "tracer.ko"),
				"/lab/strace.stp": script},
			Command: "echo '== module'\n./gostap run tracer.ko " + load +
				"echo '== eBPF'\n./gostap --suppress-handler-errors --skip-badvars strace.stp " + load})
		for _, how := range []string{"module", "eBPF"} {
			said := part(res, how)
			for what, want := range map[string]int{
				`300\+0 records out`: 1, `rc 0`: 1, `read\(0, .*, 1\) = 1`: 300, `write\(1, .*, 1\) = 1`: 300,
				`open(at)?\(.*"/etc/copied", O_WRONLY\|O_CREAT\|O_TRUNC.*\) = [0-9]+`:     1,
				`execve\(".*/busybox", \["busybox", "dd", "if=/dev/zero", .*\], .*\) = 0`: 1,
				`dup2\([0-9]+, 1\) = 1`: 1,
			} {
				line := regexp.MustCompile(`(?m)(^|[ \t])` + what + `$`)
				if got := len(line.FindAllString(said, -1)); got != want {
					t.Errorf("%s: %d of %s, want %d\n%.3000s", how, got, what, want, said)
				}
			}
		}
	})
}
