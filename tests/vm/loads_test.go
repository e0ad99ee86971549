package vm

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/pages"
)

var update = flag.Bool("update", false, "write the table of docs/compat.md")

// guestExamples is where the package systemtap-doc has the scripts.
const guestExamples = "/usr/share/systemtap/examples"

// guestLoad is an example that needs what the machine of the tests does not have, a load (testdata/loads), and where
// the number that it prints comes from besides.
type guestLoad struct {
	name string
	// load is what the load does, and how often; "calls N" is the module of another script that calls a function of the
	// kernel.
	load string
	what string // what is compared
	// found has one group whose numbers are added; without a group its matches are counted. PID is the load's.
	found string
	// source is the word by which the load says its number.
	source string
	// brief says that it runs in every test of this package.
	brief bool
}

var guestLoads = []guestLoad{
	{"interrupt/interrupts-by-dev", "disk 100", "interrupts of a disk", `virtio\d+-req\.\d+ : +(\d+)`, "interrupts",
		true},
	{"interrupt/scf", "calls 60", "calls of smp_call_function", `(?m)^\] = (\d+)$`, "did", false},
	{"lwtools/biolatency-nd", "disk 100", "reads of a disk", `(?m)\|@* +(\d+)$`, "reads", false},
	{"memory/hugepage_clear_delays", "huge 8", "huge pages", `loads\( *PID\) count=(\d+)`, "thp_fault_alloc", false},
	{"memory/hugepage_collapse", "collapses 6", "huge pages made of small ones",
		`loads \(PID\) collapse_huge_page`, "thp_collapse_alloc", false},
	{"memory/hugepage_cow_delays", "copies 5", "huge pages copied", `loads\( *\d+\) count=(\d+)`, "did", false},
	{"memory/mmfilepage", "cache 200", "pages of a file", `(?m)^loads +PID +\d+ +\d+ +(\d+) +\d+$`, "did", false},
	{"memory/overcommit", "refused 40", "mappings refused", `process loads \(PID\), 268435456 pages`, "did", false},
	{"memory/pfaults", "faults 300", "minor faults", `(?m)^\d+:PID:17592\d{9}d:w:minor:\d+$`, "minflt", true},
	{"process/futexes", "lock 200", "waits for a lock", `loads\[PID\] lock 0x[0-9a-f]+ contended (\d+) times`, "did",
		true},
}

// sources are those words in a reader's.
var sources = map[string]string{"did": "the program's own count", "interrupts": "/proc/interrupts",
	"reads": "/sys/block/vda/stat", "minflt": "/proc/PID/stat: minflt",
	"thp_fault_alloc":    "/proc/vmstat: thp_fault_alloc",
	"thp_collapse_alloc": "/proc/vmstat: thp_collapse_alloc"}

// crossCalls is the load of interrupt/scf: a module that calls the function, since hardly anything else does.
const crossCalls = `
%{
#include <linux/smp.h>
static void nothing(void *unused) { }
%}
function call_others () %{ smp_call_function(nothing, NULL, 1); %}
probe begin { while (n < $1) { call_others() n++ } printf("did %d\n", n) exit() }
`

// TestGuestLoads runs examples about memory, locks, interrupts and disks under loads, as modules and with eBPF, and
// holds what they print against an independent source. GOSTAP_EXAMPLES=full runs all, and with -update writes the table
// of docs/compat.md.
func TestGuestLoads(t *testing.T) {
	if _, err := os.Stat(guestExamples); err != nil {
		t.Skip("not installed: systemtap-doc")
	}
	full := os.Getenv("GOSTAP_EXAMPLES") == "full"
	var loads []guestLoad
	for _, l := range guestLoads {
		if full || l.brief {
			loads = append(loads, l)
		}
	}
	each(t, func(t *testing.T, k *Kernel, _ *bench) {
		files, command := stageLoads(t, k, loads)
		res := guest(t, k, Options{Files: files, Command: command, Timeout: 10 * time.Minute,
			Devices: []string{"-blockdev", "driver=null-co,node-name=d,size=16777216,read-zeroes=on", "-device",
				"virtio-blk-pci,drive=d"}})
		var rows []string
		for _, l := range loads {
			for _, how := range loadWays {
				label := l.name + " " + how.name
				said, out := part(res, label), string(res.Out[outName(l, how.name)])
				own := map[string]int{}
				for line := range strings.Lines(said) {
					var name string
					var n int
					if got, _ := fmt.Sscanf(line, "%s %d", &name, &n); got == 2 {
						own[name] = n
					}
				}
				got, want := 0, own[l.source]
				re := regexp.MustCompile(strings.ReplaceAll(l.found, "PID", strconv.Itoa(own["pid"])))
				for _, m := range re.FindAllStringSubmatch(out, -1) {
					n := 1
					if len(m) > 1 {
						n, _ = strconv.Atoi(m[1])
					}
					got += n
				}
				// A processor of a guest stops while it holds a lock, and the other's hit is skipped, which is told.
				skipped := 0
				if m := locksSkipped.FindStringSubmatch(said); m != nil {
					skipped, _ = strconv.Atoi(m[1])
				}
				if got > want || got+skipped < want || want == 0 || own["did"] == 0 || own["rc"] != 0 {
					t.Errorf("%s: %d and %d skipped, want %d by %s\n%s\n%.1500s", label, got, skipped, want, l.source,
						said, out)
				}
				rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %d | %s | %d |\n", l.name, how.name, l.load,
					l.what, got, sources[l.source], want))
			}
		}
		if *update && full && !t.Failed() {
			writeLoads(t, "The kernel is Debian's "+k.Release+".\n\n"+
				"| example | as | load | compared | gostap | source | says |\n|---|---|---|---|---|---|---|\n"+
				strings.Join(rows, ""))
		}
		if t.Failed() {
			t.Logf("console: %s", Excerpt(res.Console))
		}
	})
}

// locksSkipped is what is said of hits that were skipped because a lock was held too long.
var locksSkipped = regexp.MustCompile(`(\d+) skipped because a lock`)

// loadWays are the ways in which each example runs, with the arguments of gostap.
var loadWays = []struct{ name, args string }{{"module", "run %s.ko"}, {"eBPF", "-w --runtime=bpf %s.stp"}}

// outName is the file that an example writes.
func outName(l guestLoad, how string) string {
	return strings.ReplaceAll(l.name, "/", "-") + "." + how
}

// buildLoads makes the program of the loads in dir, and gives its path.
func buildLoads(t *testing.T, dir string) string {
	t.Helper()
	load := filepath.Join(dir, "loads")
	cc := exec.Command("gcc", "-O1", "-static", "-pthread", "-o", load, "testdata/loads/loads.c",
		"testdata/loads/freepages.c")
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return load
}

// stageLoads builds modules of examples, and gives the files for the guest and what it runs.
func stageLoads(t *testing.T, k *Kernel, loads []guestLoad) (files map[string]string, command string) {
	t.Helper()
	headers, err := k.BuildDir()
	if err != nil {
		t.Fatal(err)
	}
	facts, err := k.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	gostap, calls := filepath.Join(dir, "gostap"), filepath.Join(dir, "calls.stp")
	if err := goBuild(gostap, "../../cmd/gostap"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(calls, []byte(crossCalls), 0o644); err != nil {
		t.Fatal(err)
	}
	files = map[string]string{"/lab/gostap": gostap, "/lab/loads": buildLoads(t, dir)}
	build := func(name string, args ...string) {
		cmd := exec.Command(gostap, append([]string{"-w", "-p4", "-m", name, "-r", headers, "--runtime=kernel",
			"--kernel-btf", facts.BTF, "--kernel-map", facts.Kallsyms}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("build %s: %v\n%s", name, err, out)
		}
		files["/lab/"+name+".ko"] = filepath.Join(dir, name+".ko")
	}
	mods, err := k.Modules("virtio_pci?", "virtio_blk")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mods {
		at := "/lab/" + filepath.Base(m)
		files[at] = m
		command += "insmod " + at + "\n"
	}
	command += "until [ -e /sys/block/vda ]; do sleep 0.2; done\nmkdir /tmp/ram; mount -t ramfs ram /tmp/ram\n" +
		"echo 16 >/proc/sys/vm/nr_hugepages\n"
	for _, l := range loads {
		name := strings.NewReplacer("/", "_", "-", "_").Replace(l.name)
		script := filepath.Join(guestExamples, l.name+".stp")
		build(name, script)
		files["/lab/"+name+".stp"] = script
		what, n, _ := strings.Cut(l.load, " ")
		run := "./loads " + l.load
		if what == "calls" {
			build("calls", "-g", calls, n)
			run = "./gostap run calls.ko"
		}
		// Memory is promised to the load as the kernel always does, but for the one that is refused it.
		promise := 0
		if what == "refused" {
			promise = 2
		}
		for _, how := range loadWays {
			command += fmt.Sprintf("echo '== %s %s'\necho %d >/proc/sys/vm/overcommit_memory\n./gostap "+how.args+
				" -o /out/%s -c '%s'; echo rc $?\necho 0 >/proc/sys/vm/overcommit_memory\n", l.name, how.name, promise,
				name, outName(l, how.name), run)
		}
	}
	return files, command
}

// writeLoads puts the table into the page.
func writeLoads(t *testing.T, table string) {
	t.Helper()
	err := pages.Write("../../docs/compat.md", "<!-- guest: made by GOSTAP_EXAMPLES=full go test ./tests/vm -run "+
		"GuestLoads -update -->\n", "<!-- end of guest -->\n", table)
	if err != nil {
		t.Fatal(err)
	}
}
