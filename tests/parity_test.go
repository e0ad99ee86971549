package tests

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/gostap/gostap/tests/patience"
	"github.com/gostap/gostap/tests/vm"
)

// The same script gives the same output with --runtime=bpf and --runtime=kernel. The whole-program tests
// (testdata/*.txtar that trace something, language/*.stp) run with both in a virtual machine, all in one boot. What
// they print must be what stands in the test.
//
// The guest has no compiler: the modules are built here before, by running the same commands with a gostap that
// builds only, and come from the cache there. GOSTAP_VM_KERNELS names other kernels than Linux 6.1, GOSTAP_PARITY=all
// takes every test, GOSTAP_PARITY="name name" those.

// parityReleases are the kernels of TestParity, and which cases run there.
func parityReleases() map[string]func(name string) bool {
	all := func(string) bool { return true }
	out := map[string]func(name string) bool{}
	for _, r := range strings.Fields(os.Getenv("GOSTAP_VM_KERNELS")) {
		out[r] = representative
	}
	if r := "6.1.0-56-cloud-amd64"; len(out) == 0 || out[r] != nil {
		out[r] = usual
	}
	switch one := os.Getenv("GOSTAP_PARITY"); one {
	case "":
		return out
	case "all":
		for r := range out {
			out[r] = all
		}
	default:
		for r := range out {
			out[r] = func(name string) bool { return strings.Contains(" "+one+" ", " "+name+" ") }
		}
	}
	return out
}

// usual are the cases of an ordinary test run: one for each feature.
func usual(name string) bool {
	switch name {
	case "c-unwind", "e-runtime", "g-mixed", "g-process", "s18-grow", "s21-go-values":
		return true
	case "lang-aggops", "lang-arith", "lang-compare", "lang-control", "lang-ifelse", "lang-logic", "lang-logicside",
		"lang-next", "lang-numbers", "lang-keys", "lang-globals", "lang-cut", "lang-delete", "lang-prints",
		"lang-tokenize", "lang-functions", "lang-arrays",
		"lang-operators-arithmetic", "lang-operators-bits", "lang-operators-assign",
		"lang-operators-decisions", "lang-operators-logic", "lang-operators-nested",
		"lang-foreach", "lang-histsort", "lang-match", "lang-recursion", "lang-slices", "lang-trycatch", "lang-wrap":
		return false
	}
	return strings.HasPrefix(name, "lang-")
}

// representative are the cases for further kernels.
func representative(name string) bool {
	switch name {
	case "e-runtime", "g-mixed", "g-process", "s05-statement-c", "s10-args-go", "s18-grow", "s21-go-values",
		"lang-arrays", "lang-errors", "lang-formats", "lang-hist", "lang-regex", "lang-speculate", "lang-stats",
		"lang-strings":
		return true
	}
	return false
}

// notInGuest are tests that cannot run in the guest at all, with the reason.
var notInGuest = map[string]string{
	"lang-operators-compare": "its hundreds of comparisons in one handler are too much for the verifier of Linux " +
		"6.1; operators-nested has them all",
	"lang-operators-strings": "too much for the verifier of Linux 6.1 in one handler",
	"c-stages":               "about the files that eBPF leaves; wants llvm-objdump and bpftool",
	"e-rights":               "about rights to use eBPF",
	"e-stripped":             "runs the C compiler",
	"u-callees":              "runs the C compiler",
	"u-labels":               "runs the C compiler",
	"u-library":              "runs the C compiler",
	"g-lives":                "runs the C compiler; shells differ in what they make processes for",
	"e-perf":                 "names programs of this machine",
	"g-floats-memory":        "runs the C compiler; about what eBPF cannot read",
	"g-fractions":            "about what eBPF cannot read",
	"l-timing":               "about an option that only eBPF has",
	"e-target":               "quotes the shell and names paths of this machine",
	// Modules are built here, where functions, types and events of another kernel are looked up.
	"k-process-syscall": "about the running kernel",
	"k-latetext":        "about the running kernel",
	"k-netfilter":       "about the running kernel",
	"k-trace":           "about the running kernel",
	"k-feed":            "about the running kernel",
	"k-events":          "about the running kernel",
	"k-syscall":         "about the running kernel",
	"k-own":             "about the running kernel",
	"x-classics":        "about the running kernel",
	"t-stack":           "names functions of this machine's C library",
	"k-peek":            "about the running kernel",
	"c-delay":           "about what eBPF refuses",
	"t-task":            "about the running kernel",
	"t-cmdline":         "about the running kernel",
}

// parityCase is one test.
type parityCase struct {
	name string
	cmd  string
	// want are stdout, stderr and status; files are laid into the working directory.
	want, files map[string]string
}

func parityCases(t *testing.T) []*parityCase {
	t.Helper()
	var out []*parityCase
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		comment := "\n" + string(ar.Comment)
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if !strings.Contains(comment, "\nroot\n") || notInGuest[name] != "" {
			continue
		}
		_, list, _ := strings.Cut(comment, "\nfixtures:")
		list, _, _ = strings.Cut(list, "\n")
		for _, f := range strings.Fields(list) {
			bin(t, f)
		}
		c := &parityCase{name: name, want: map[string]string{"stdout": "", "stderr": "", "status": "0\n"},
			files: map[string]string{}}
		for _, f := range ar.Files {
			switch f.Name {
			case "cmd":
				c.cmd = string(f.Data)
			case "stdout", "stderr", "status":
				c.want[f.Name] = string(f.Data)
			default:
				c.files[f.Name] = string(f.Data)
			}
		}
		out = append(out, c)
	}
	bin(t, "stap")
	files, _ = filepath.Glob("language/*.stp")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := "lang-" + strings.TrimSuffix(filepath.Base(file), ".stp")
		if notInGuest[name] != "" {
			continue
		}
		script, want, ok := strings.Cut(string(data), "### output\n")
		if !ok {
			t.Fatalf("%s: no output", file)
		}
		out = append(out, &parityCase{
			name: name,
			cmd:  "gostap -w --no-global-var-display s.stp -c \"$BIN/stap >/dev/null\"\n",
			want: map[string]string{"stdout": want, "stderr": "", "status": "0\n"},
			files: map[string]string{"s.stp": strings.Replace(script, "probe test {",
				`probe process.function("main.traceme") {`, 1)},
		})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	return out
}

// parityDir is laid out alike here and in the guest: BASE/run, BASE/work/CASE, BASE/cache, and for each runtime
// BASE/RUNTIME/gostap, which calls the real one.
type parityDir struct{ base string }

// A guest's CPU is taken away by the host for longer than handlers wait for each other otherwise: hence MAXTRYLOCK.

// builder stands in for gostap where the modules are built; runs that would build nothing come to nothing.
const builder = `#!/bin/sh
XDG_CACHE_HOME=%[1]s/cache %[2]s/gostap --runtime=kernel -D MAXTRYLOCK=20000 -r %[3]s -p4 "$@" >>%[1]s/log 2>&1 </dev/null
exit 0
`

const runner = `#!/bin/sh
XDG_CACHE_HOME=%[1]s/cache exec %[2]s/gostap --runtime=%[3]s -D MAXTRYLOCK=20000 "$@"
`

// inGuest runs the cases $@ with each runtime, one after the other: cases that trace the same program would see each
// other's. An emulated machine takes two minutes to look through the programs of all system calls (k-hosted).
const inGuest = `#!/bin/sh
mkdir -p %[1]s/now
for c in "$@"; do
	for rt in bpf kernel; do
		cp -r %[1]s/work/$c %[1]s/now/ && cd %[1]s/now/$c
		BIN=%[2]s PATH=%[1]s/$rt:%[2]s:$PATH NO_COLOR=1 TZ=UTC timeout 1000 sh ./cmd.sh >/out/$c.$rt.stdout 2>/out/$c.$rt.stderr </dev/null
		echo $? >/out/$c.$rt.status
		cd /; rm -rf %[1]s/now/$c
	done
done
lsmod | tail -n +2
`

func (d parityDir) write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	path = filepath.Join(d.base, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestParity(t *testing.T) {
	if miss := vm.Missing(); len(miss) > 0 {
		t.Skipf("not installed: %s", strings.Join(miss, ", "))
	}
	bin(t, "gostap")
	all := parityCases(t)
	for release, takes := range parityReleases() {
		t.Run(release, func(t *testing.T) {
			var cases []*parityCase
			for _, c := range all {
				if takes(c.name) {
					cases = append(cases, c)
				}
			}
			parity(t, release, cases)
		})
	}
}

func parity(t *testing.T, release string, cases []*parityCase) {
	k, err := vm.Get(release)
	if err != nil {
		t.Fatal(err)
	}
	kdir, err := k.BuildDir()
	if err != nil {
		t.Fatal(err)
	}
	d := parityDir{t.TempDir()}
	d.write(t, "build/gostap", fmt.Sprintf(builder, d.base, binDir, kdir), 0o755)
	for _, rt := range []string{"bpf", "kernel"} {
		d.write(t, rt+"/gostap", fmt.Sprintf(runner, d.base, binDir, rt), 0o755)
	}
	d.write(t, "run", fmt.Sprintf(inGuest, d.base, binDir), 0o755)
	var names []string
	for _, c := range cases {
		names = append(names, c.name)
		d.write(t, "work/"+c.name+"/cmd.sh", c.cmd, 0o644)
		for name, text := range c.files {
			d.write(t, "work/"+c.name+"/"+name, text, 0o644)
		}
	}
	start := time.Now()
	d.build(t, cases)
	built := time.Since(start)
	files := map[string]string{d.base: d.base}
	programs, err := os.ReadDir(binDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range programs { // what is about clusters is large, and a guest has little room
		if path := filepath.Join(binDir, e.Name()); e.Name() != "gostap-fleet" && e.Name() != "kubelab" {
			files[path] = path
		}
	}
	start = time.Now()
	// Two guests at a time, each with half of the cases.
	var wg sync.WaitGroup
	said := map[string][]byte{}
	var mu sync.Mutex
	for half := range 2 {
		var mine []string
		for i, n := range names {
			if i%2 == half {
				mine = append(mine, n)
			}
		}
		if len(mine) == 0 {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			res, err := k.Run(context.Background(),
				vm.Options{Files: files, Log: t.Logf, Command: d.base + "/run " + strings.Join(mine, " "),
					Timeout: 20 * time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			for _, complaint := range vm.Complaints(res.Console) {
				t.Errorf("the kernel says: %s", complaint)
			}
			if s := strings.TrimSpace(res.Output); s != "" {
				t.Errorf("modules are left, or the run failed: %s", s)
			}
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(said, res.Out)
		}()
	}
	wg.Wait()
	t.Logf("%d cases: modules built in %.1f s, guests ran %.1f s", len(cases), built.Seconds(),
		time.Since(start).Seconds())
	for _, c := range cases {
		d.compare(t, c, said)
	}
}

// build makes the modules, two cases at a time.
func (d parityDir) build(t *testing.T, cases []*parityCase) {
	var wg sync.WaitGroup
	slots := make(chan bool, 2)
	for _, c := range cases {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- true
			defer func() { <-slots }()
			now := filepath.Join(d.base, "now", c.name)
			os.MkdirAll(filepath.Dir(now), 0o755)
			if err := os.CopyFS(now, os.DirFS(filepath.Join(d.base, "work", c.name))); err != nil {
				t.Error(err)
				return
			}
			cmd := exec.Command("/bin/sh", "./cmd.sh")
			cmd.Dir = now
			cmd.Env = append(os.Environ(), "BIN="+binDir, "PATH="+d.base+"/build:"+binDir+":"+os.Getenv("PATH"),
				"NO_COLOR=1", "TZ=UTC")
			stop := patience.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
			cmd.Run() // what it prints means nothing
			stop()
		}()
	}
	wg.Wait()
	os.RemoveAll(filepath.Join(d.base, "now"))
}

// compare holds what a case said with each runtime against what it must say.
func (d parityDir) compare(t *testing.T, c *parityCase, said map[string][]byte) {
	for _, rt := range []string{"bpf", "kernel"} {
		wrong := ""
		for _, name := range []string{"stdout", "stderr", "status"} {
			got := strings.ReplaceAll(string(said[c.name+"."+rt+"."+name]), binDir, "$BIN")
			got = strings.ReplaceAll(got, filepath.Join(d.base, "now", c.name), "$WORK")
			if !matches(c.want[name], got) {
				wrong += name + ":\n" + differ(c.want[name], got)
			}
		}
		if wrong != "" {
			t.Errorf("%s: --runtime=%s: %s", c.name, rt, wrong)
		}
	}
}

// differ shows what lies between the lines that two texts have in common at their beginning and end.
func differ(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for len(a) > 0 && len(b) > 0 && matches(a[0], b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && matches(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return "--- got\n" + strings.Join(b, "\n") + "\n--- want\n" + strings.Join(a, "\n") + "\n"
}
