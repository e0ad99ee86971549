package vm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// kernelCosts are what a hit of a kernel probe may cost at most, in instructions more than a bare module's handler
// at the same probe. They have a margin of a fifth over what was measured.
var kernelCosts = []struct {
	name, script string
	most         int // as a module
}{
	{"count", `global n probe kernel.function("__x64_sys_getppid") { n++ } probe end { println(n) }`, 60},
	{"together", `global n probe kernel.function("__x64_sys_getppid"), kernel.function("tcp_set_*") { n++ } probe end { println(n) }`, 60},
	{"return", `global n probe kernel.function("__x64_sys_getppid").return { n++ } probe end { println(n) }`, 60},
	{"aggregate", `global s probe kernel.function("__x64_sys_getppid") { s <<< 1 } probe end { println(@count(s)) }`,
		200},
	{"array", `global n probe kernel.function("__x64_sys_getppid") { n[pid()]++ } probe end { foreach (p in n) println(n[p]) }`, 400},
}

// bareModule builds the module to compare with.
func bareModule(t *testing.T, kdir string) string {
	t.Helper()
	dir := t.TempDir()
	src, err := os.ReadFile("testdata/bare/bare.c")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bare.c": string(src), "Makefile": "obj-m := bare.o\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("make", "-s", "-C", kdir, "M="+dir, "CONFIG_DEBUG_INFO_BTF_MODULES=",
		"modules").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "bare.ko")
}

// TestKernelCost counts the instructions of a system call with a probe on it.
func TestKernelCost(t *testing.T) {
	if os.Getenv("GOSTAP_VM_COST") == "" {
		t.Skip("takes a minute a kernel: GOSTAP_VM_COST=1 runs it")
	}
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		facts, err := k.Facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		run, cache, prog := filepath.Join(b.dir, "kmodrun"), filepath.Join(dir, "cache"), kernelFixture(t)
		files := map[string]string{run: run, cache: cache, prog: prog, "/lab/bare.ko": bareModule(t, kdir)}
		const calls = 4000
		command := fmt.Sprintf(`cost() { for i in 1 2; do %[1]s calls %[2]d; done; }
cost >/dev/null
echo "== none"; cost
insmod bare.ko; echo "== bare"; cost; rmmod bare
insmod bare.ko ret=1; echo "== bare-return"; cost; rmmod bare
`, prog, calls)
		for _, s := range kernelCosts {
			args := []string{"-cache", cache, "-name", "cost_" + s.name}
			out, err := exec.Command(run, append(args, "-kernel-btf", facts.BTF, "-kernel-map", facts.Kallsyms, "-r",
				kdir, "-build", "-e", s.script)...).CombinedOutput()
			if err != nil {
				t.Fatalf("build %s: %v\n%s", s.name, err, out)
			}
			for _, how := range []string{"", " -bpf"} {
				command += fmt.Sprintf("echo '== %s%s'; %s%s %s -e '%s' -c '%s calls %d'\n", s.name, how, run, how,
					strings.Join(args, " "), s.script, prog, calls)
			}
		}
		res := guest(t, k, Options{Files: files, Command: command, Count: true})
		perCall := regexp.MustCompile(`per call (\d+)`)
		cost := func(name string) int {
			part := part(res, name)
			best := 0
			for _, m := range perCall.FindAllStringSubmatch(part, -1) {
				if n, _ := strconv.Atoi(m[1]); best == 0 || n < best {
					best = n
				}
			}
			if best == 0 {
				t.Errorf("%s was not measured:\n%s", name, res.Output)
			}
			return best
		}
		none := cost("none")
		bare := map[bool]int{false: cost("bare"), true: cost("bare-return")}
		t.Logf("getppid %d instructions, with a bare module's probe %d, at its return %d", none, bare[false],
			bare[true])
		for _, s := range kernelCosts {
			base := bare[strings.Contains(s.script, ".return")]
			for _, how := range []string{"", " -bpf"} {
				n := cost(s.name + how)
				t.Logf("%-16s %5d: added to a bare probe %4d, %.2f of its cost", s.name+how, n, n-base,
					float64(n-none)/float64(base-none))
				if how == "" && n-base > s.most {
					t.Errorf("%s: %d instructions a hit more than a bare probe, at most %d are wanted", s.name, n-base,
						s.most)
				}
			}
		}
	})
}
