package tests

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/proofs"
	"github.com/gostap/gostap/tests/vm"
)

// builtDir is the variable of the environment that names a folder of programs that are built already.
const builtDir = "GOSTAP_FIXTURES_BUILT"

// guestPrograms are those of the loads, which a guest gets from this machine.
var guestPrograms = strings.Fields(`sh bash true env cat sleep nice stat touch mv rm dd mktemp mkdir rmdir ls chown
	tr wc seq timeout yes sort sync sed grep awk find unshare setpriv flock mount umount losetup script ipcmk ipcrm
	taskset truncate strace perf bpftool openssl ip nproc`)

// guestSetup makes a guest look like the machines that the loads are written for: a disk below /var/tmp.
const guestSetup = `until [ -e /dev/vda ]; do sleep 0.2; done
mkdir -p /var/tmp; mount -t ext4 /dev/vda /var/tmp
ln -s /bin/bash /usr/bin/bash; ln -s /lib/x86_64-linux-gnu /usr/lib
mkdir -p /lab/source/tests; cd /lab/source/tests
`

// TestToolsInGuests runs TestToolProofs and TestToolsOfPrograms in guests with the kernels that GOSTAP_VM_KERNELS
// names: with this very program, the same loads, and the programs of this machine. It is asked for as they are;
// GOSTAP_TOOLS_MATCH is a pattern of names of tools.
func TestToolsInGuests(t *testing.T) {
	asked := os.Getenv(toolsAsked)
	if asked == "" {
		t.Skip(toolsAsked + "=1 asks for it; a kernel takes a quarter of an hour")
	}
	if miss := vm.Missing(); len(miss) > 0 {
		t.Skipf("not installed: %s", strings.Join(miss, ", "))
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	table, err := filepath.Abs("../cmd/internal/toolbox/proofs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none")
	if err := os.WriteFile(none, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"/lab/tests": own, "/lab/source/cmd/internal/toolbox/proofs.tsv": none,
		"/usr/lib/ssl/openssl.cnf": "/etc/ssl/openssl.cnf", "/lab/built/gostap": bin(t, "gostap"),
		"/usr/share/doc/bash": "/usr/share/doc/bash", "/usr/share/doc/strace": "/usr/share/doc/strace",
		"/etc/nsswitch.conf": "/etc/nsswitch.conf", "/etc/hosts": "/etc/hosts"}
	for _, name := range guestPrograms {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		files["/bin/"+name] = path
	}
	for _, c := range countedTools {
		name, _, _ := strings.Cut(c.program, " ")
		files["/lab/built/"+name] = bin(t, name)
	}
	for _, release := range vm.Releases() {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			g := toolGuest{release: release, files: files, table: table}
			out := g.run(t, 2, os.Getenv("GOSTAP_TOOLS_MATCH"))
			failed, skipped := failures(out)
			// A guest's processor stops while it holds a lock, and hits of the other are skipped, which is told; or its
			// threads wait for it meanwhile. That is asked again where there is one processor.
			if len(skipped) > 0 {
				again := g.run(t, 1, "^("+strings.Join(skipped, "|")+")$")
				more, rest := failures(again)
				out, failed = out+again, slices.Concat(failed, more, rest)
			}
			if len(failed) > 0 || !strings.Contains(out, "--- PASS: TestTool") {
				t.Errorf("%q fail in the guest:\n%s", failed, out)
			}
		})
	}
}

// failures are the tests of tools that failed, and the tools of those that failed for skipped hits, or for a number
// that depends on time.
func failures(out string) (failed, skipped []string) {
	for block := range strings.SplitSeq(out, "=== RUN   ") {
		test, said, _ := strings.Cut(block, "\n")
		part := strings.Split(strings.TrimSpace(test), "/")
		switch {
		case len(part) < 3 || !strings.Contains(out, "--- FAIL: "+strings.TrimSpace(test)+" ("):
		case strings.Contains(said, "skipped because a lock"), slices.ContainsFunc(toolProofsOf(part[1]), ofTime):
			skipped = append(skipped, regexp.QuoteMeta(part[1]))
		default:
			failed = append(failed, strings.TrimSpace(test))
		}
	}
	return failed, skipped
}

// toolProofsOf are those of a tool.
func toolProofsOf(name string) (out []proof) {
	for _, p := range slices.Concat(toolProofs, kernelProofs) {
		if tool, _, _ := strings.Cut(p.tool, " "); tool == name {
			out = append(out, p)
		}
	}
	return out
}

func ofTime(p proof) bool { return p.within > 0 }

// toolGuest is a guest of a kernel in which tools are run.
type toolGuest struct {
	release string
	files   map[string]string
	table   string
}

// run runs tests of tools, all or those of a pattern, on so many processors, and gives what they say.
func (g *toolGuest) run(t *testing.T, cpus int, only string) string {
	t.Helper()
	k, err := vm.Get(g.release)
	if err != nil {
		t.Fatal(err)
	}
	disk := filepath.Join(t.TempDir(), "disk")
	if out, err := exec.Command("mke2fs", "-q", "-t", "ext4", disk, "512M").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mods, err := k.Modules("virtio_pci?", "virtio_blk", "ext4?", "loop?", "veth?")
	if err != nil {
		t.Fatal(err)
	}
	files, command := maps.Clone(g.files), ""
	for _, m := range mods {
		at := "/lab/" + filepath.Base(m)
		files[at] = m
		command += "insmod " + at + "\n"
	}
	pattern := "^(TestToolProofs|TestToolsOfPrograms)$"
	if only != "" {
		pattern += "/" + only
	}
	command += guestSetup + fmt.Sprintf("%s=update %s=/lab/built /lab/tests -test.v -test.timeout 0 -test.run '%s'\n",
		toolsAsked, builtDir, pattern) + "cp ../cmd/internal/toolbox/proofs.tsv /out/table\n"
	res, err := k.Run(t.Context(), vm.Options{Command: command, Timeout: 3 * time.Hour, Files: files, CPUs: cpus,
		MemoryMB: 3072, Log: t.Logf, Devices: []string{"-drive", "if=none,format=raw,id=d,file=" + disk,
			"-device", "virtio-blk-pci,drive=d"}})
	if err != nil {
		t.Fatal(err)
	}
	if said := vm.Complaints(res.Console); len(said) > 0 {
		t.Errorf("the kernel complains:\n%s", vm.Excerpt(res.Console))
	}
	if os.Getenv(toolsAsked) == "update" {
		takeRows(t, g.table, regexp.MustCompile(`^\d+\.\d+`).FindString(g.release), string(res.Out["table"]))
	}
	return res.Output
}

// tableLock: guests of several kernels write to one table.
var tableLock sync.Mutex

// takeRows puts the rows that a guest found into the table, in place of those that it had of the same numbers.
func takeRows(t *testing.T, table, kernel, found string) {
	t.Helper()
	tableLock.Lock()
	defer tableLock.Unlock()
	key := func(row []string) string { return strings.Join(append(slices.Clone(row[:2]), row[3]), "\t") }
	fresh, rows := map[string]bool{}, []string(nil)
	for line := range strings.Lines(found) {
		line = strings.TrimRight(line, "\n")
		if row := strings.Split(line, "\t"); len(row) == 7 && row[1] == kernel {
			rows, fresh[key(row)] = append(rows, line), true
		}
	}
	if len(rows) == 0 {
		t.Fatal("the guest found no numbers")
	}
	if err := proofs.Write(table, rows, func(row []string) bool { return !fresh[key(row)] }); err != nil {
		t.Fatal(err)
	}
}

func TestFailures(t *testing.T) {
	const out = "=== RUN   TestTool\n=== RUN   TestTool/a/x_y\n=== RUN   TestTool/b/x\n    t.go:1: 3 skipped because " +
		"a lock was held\n=== RUN   TestTool/c/p/q\n    t.go:2: c is 3\n=== RUN   TestTool/d/x\n    t.go:3: 1 " +
		"skipped because a lock\n=== RUN   TestTool/runqlen/x\n    t.go:4: is 2\n--- FAIL: TestTool (1.00s)\n" +
		"    --- PASS: TestTool/a/x_y (0.50s)\n    --- FAIL: TestTool/b/x (0.50s)\n" +
		"    --- FAIL: TestTool/c/p/q (0.50s)\n    --- PASS: TestTool/d/x (0.50s)\n" +
		"    --- FAIL: TestTool/runqlen/x (0.50s)\nFAIL\n"
	failed, skipped := failures(out)
	if fmt.Sprint(failed) != "[TestTool/c/p/q]" || fmt.Sprint(skipped) != "[b runqlen]" {
		t.Errorf("failed %q, skipped %q", failed, skipped)
	}
}
