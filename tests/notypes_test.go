package tests

import (
	"os/exec"
	"strings"
	"testing"
)

// noTypes runs a command where the kernel's type information is not to be seen, as that of a kernel that was built
// without.
func noTypes(t *testing.T, args ...string) (string, error) {
	t.Helper()
	sh := []string{"-m", "sh", "-c", `mount --bind "$0" /sys/kernel/btf && exec "$@"`, t.TempDir()}
	out, err := exec.Command("unshare", append(sh, args...)...).CombinedOutput()
	return string(out), err
}

// TestNoTypes: without the kernel's types each tool and script that needs them is refused by one error, which counts
// the other places; what needs none counts what the program did, 40 calls and 2 before them.
func TestNoTypes(t *testing.T) {
	needRoot(t)
	for _, args := range []string{"execsnoop", "opensnoop", "biolatency", "tcpconnect", "runqlat", "syscount",
		"-e probe~syscall.read~{~println(ppid())~}", "--merge --remote direct -e global~n~probe~syscall.read~{~n++~}"} {
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "~", " ")
		}
		out, err := noTypes(t, append([]string{bin(t, "gostap")}, words...)...)
		if err == nil || strings.Count(out, " error: ") != 1 ||
			strings.Count(out, "the kernel has no type information (CONFIG_DEBUG_INFO_BTF)") != 1 {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
	prog := bin(t, "busyc")
	script := `global n, who probe process("` + prog + `").function("step") { n++ who[execname(), pid()]++ }`
	for _, where := range [][]string{nil, {"--merge", "--remote", "direct"}} {
		if len(where) > 0 {
			script = `global n probe process("` + prog + `").function("step") { n++ }`
		}
		out, err := noTypes(t, append(append([]string{bin(t, "gostap")}, where...), "-e", script, "-c", prog+" 40")...)
		if err != nil || !strings.Contains(out, "n=42\n") {
			t.Errorf("%v: %v\n%s", where, err, out)
		}
	}
}
