package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/proofs"
)

// toolsAsked is the variable of the environment that asks for TestToolProofs: 1, or update to write the table.
const toolsAsked = "GOSTAP_TOOLS"

// proof is a tool under a load, and a number of it that somebody else knows.
type proof struct {
	tool string // with its options
	load string // a script of the shell; what it knows itself it writes to $OWN, a number in a line
	what string // the number
	// line findIt the number in what the tool prints: its group, summed over all lines, or how many lines there are.
	line string
	// strace counts the lines of strace -f of the same load; without it the load's own numbers are summed.
	strace string
	source string
	within int // percent that the two may be apart
}

const (
	trues  = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do /bin/true; done"
	findIt = "find /usr/share/doc -name README"
	spin   = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; "
	// readBig reads the file of 50 blocks (see file) in twice as many, and removes it.
	readBig = "dd if=$f of=/dev/null iflag=direct bs=32k; rm $f; "
	// rivalled leaves in $c how often the shell ran on a processor that it had to share.
	rivalled = "taskset -pc $(($(nproc)-1)) $$; yes >/dev/null & " + spin + "read a b c </proc/$$/schedstat; "
)

// toolProofs are those that need system calls, tracepoints and counters only.
var toolProofs = []proof{
	{tool: "execsnoop", load: trues, what: "starts of /bin/true", line: ` /bin/true$`, strace: `execve\("/bin/true"`},
	{tool: "execsnoop", load: "PATH=/nowhere:/bin env true; env nothing", what: "starts that fail",
		line: `\bENOENT\b`, strace: `execve\(.*= -1 ENOENT`},
	{tool: "exitsnoop", load: "for i in 1 2 3 4 5 6 7; do sh -c \"exit $i\"; echo $? >>$OWN; done",
		what: "sum of the statuses", line: `status (\d+)$`, source: "the shell's $?"},
	{tool: "forkstat", load: trues, what: "forks", line: ` fork `, strace: `^(\d+ +)?(clone3?|v?fork)\(`},
	{tool: "pidpersec", load: trues, what: "processes", line: `^\S+ +(\d+)`,
		strace: `^(\d+ +)?(clone3?|v?fork)\(`},
	{tool: "proclife", load: trues, what: "ends of true", line: `^true: (\d+) ended`, strace: `execve\("/bin/true"`},
	{tool: "killsnoop", load: "trap : USR1; for i in 1 2 3 4 5 6 7; do kill -USR1 $$; done; kill -0 99999999",
		what: "signals", line: `SIGUSR1|ESRCH`, strace: `^(\d+ +)?kill\(`},
	{tool: "sigsnoop --signal 10", load: "trap : USR1; for i in 1 2 3 4 5 6 7; do kill -USR1 $$; done",
		what: "SIGUSR1", line: `SIGUSR1`, strace: `--- SIGUSR1`},
	{tool: "crashsnoop", load: "for i in 1 2 3; do sh -c 'kill -SEGV $$'; echo $(($? / 139)) >>$OWN; done",
		what: "ends by SIGSEGV", line: `SIGSEGV`, source: "the shell's $?"},
	{tool: "naptime", load: "sleep 0.02; sleep 0.03; sleep 0.1; echo 20000 30000 100000 | tr ' ' '\\n' >$OWN",
		what: "microseconds asked for", line: `\s0\.(\d+)$`, source: "what was asked for"},
	{tool: "errsnoop --top 100", load: "for i in 1 2 3 4 5; do cat /nowhere/$i; done", what: "openat with ENOENT",
		line: `openat +ENOENT +\d+ +\w+ +(\d+)`, strace: `openat\(.*= -1 ENOENT`},
	{tool: "nicesnoop", load: "nice -n 3 true; nice -n 4 true", what: "calls", line: `setpriority`,
		strace: `setpriority\(`},
	{tool: "nssnoop", load: "unshare -u true; unshare -m true", what: "calls of unshare", line: ` unshare +CLONE`,
		strace: `unshare\(`},
	{tool: "setuids", load: "setpriv --reuid 1000 true; setpriv --regid 1000 --clear-groups true", what: "calls",
		line: ` setres[ug]id `, strace: `setres[ug]id\(`},
	{tool: "opensnoop", load: findIt, what: "opens", line: ` (find|sh) `, strace: `^(\d+ +)?openat\(`},
	{tool: "opensnoop --failed", load: findIt + "; cat /nowhere", what: "opens that fail", line: ` -1 `,
		strace: `openat\(.*= -1`},
	{tool: "statsnoop", load: "stat /etc/passwd /nowhere /etc/hosts", what: "calls with a name",
		line: ` /\S*$`, strace: `(newfstatat|statx|access|faccessat2?|statfs)\((AT_FDCWD, )?"/`},
	{tool: "unlinksnoop", load: "d=$(mktemp -d); for i in 1 2 3 4 5; do touch $d/$i; mv $d/$i $d/x$i; done; rm -r $d",
		what: "removed and renamed", line: ` (unlinkat|rename\w*|rmdir|unlink) `, strace: `(unlink|rename|rmdir)\w*\(`},
	{tool: "syncsnoop", load: "f=$(mktemp); for i in 1 2 3 4; " +
		"do dd if=/dev/zero of=$f bs=4k count=1 conv=fsync; done; rm $f",
		what: "calls of fsync", line: ` fsync `, strace: `fsync\(`},
	{tool: "locksnoop", load: "f=$(mktemp); for i in 1 2 3; do flock $f true; done; rm $f", what: "locks",
		line: ` flock +LOCK`, strace: `flock\(`},
	{tool: "mountsnoop", load: "d=$(mktemp -d); unshare -m sh -c \"mount -t tmpfs none $d; umount $d\"; rmdir $d",
		what: "calls", line: ` (mount|umount2?|move_mount|fsopen|fsmount|open_tree) `,
		strace: `^(\d+ +)?(mount|umount2?|move_mount|fsopen|fsmount|open_tree)\(`},
	{tool: "biosnoop", load: file + readBig + "echo 100 >$OWN", what: "reads of 32 KB by dd",
		line: ` dd .* read +\d+ +32768 `, source: "dd's blocks"},
	{tool: "biotop --interval 100s", load: file + readBig + "echo 3200 >$OWN", what: "KB read by dd",
		line: ` dd +\S+ +read +\d+ +(\d+)`, source: "dd's bytes"},
	{tool: "bitesize", load: file + readBig + "echo 100 >$OWN", what: "requests of 32 to 64 KB by dd",
		line: `^ *32768 .* (\d+)$`, source: "dd's blocks", within: 10},
	{tool: "biolatency --by op", load: file +
		"r() { set -- $(cat /sys/dev/block/$(stat -c %Hd:%Ld /var/tmp | sed 's/:.*/:0/')/stat); echo $1; }; a=$(r); " +
		"for i in 1 2 3 4 5 6 7 8; do dd if=$f of=/dev/null iflag=direct bs=4k; done; b=$(r); rm $f; " +
		"echo $((b-a)) >$OWN",
		what: "reads", line: `^read: (\d+) requests`, source: "/sys/dev/block/*/stat", within: 20},
	{tool: "runqlat", load: rivalled + "read a b d </proc/$!/schedstat; kill $!; echo $((c+d)) >$OWN", what: "waits",
		line: `^(\d+) waits`, source: "/proc/PID/schedstat", within: 10},
	{tool: "cpudist", load: spin + "read a b c </proc/$$/schedstat; echo $((a/1000)) >$OWN",
		what: "microseconds on processors", line: ` (\d+) us in all`, source: "/proc/PID/schedstat", within: 10},
	{tool: "cswstat --interval 100s", load: rivalled + "kill $!; echo $c >$OWN", what: "switches",
		line: ` sh +(\d+)`, source: "/proc/PID/schedstat", within: 10},
	{tool: "offcputime", load: "sleep 0.5; echo 500000 >$OWN", what: "microseconds that sleep waited",
		line: `^sleep .*: (\d+) us`, source: "what was asked for", within: 10},
	{tool: "syscount --call openat", load: findIt, what: "calls of openat", line: `^openat +(\d+)`,
		strace: `^(\d+ +)?openat\(`},
	{tool: "syscount --call newfstatat --by call", load: "ls -lR /usr/share/doc/bash", what: "errors of newfstatat",
		line: `^newfstatat +\d+ +(\d+)`, strace: `newfstatat\(.*= -1`},
	{tool: "pollsnoop --interval 100s", load: "for i in 1 2 3 4 5; do sleep 0.01; done", what: "sleeps",
		line: ` sleep +0 +0 +0 +0 +(\d+)`, strace: `nanosleep\(.*= 0`},
	{tool: "softirqs", load: "r() { awk '/TIMER:/ && !/HR/ { for (i = 2; i <= NF; " +
		"i++) n += $i } END { print n }' /proc/softirqs; }; " +
		"a=$(r); timeout 16 yes >/dev/null; b=$(r); echo $((b-a)) >$OWN", what: "TIMER", line: `^TIMER +(\d+)`,
		source: "/proc/softirqs", within: 20},
	{tool: "mmapsnoop", load: "true; ls /", what: "calls of mmap", line: ` mmap `, strace: `mmap\(`},
	{tool: "mmapsnoop", load: "strace -e brk -o $OWN.s ls /; set -- $(sed -n 's/^brk.*= //p' $OWN.s); rm $OWN.s; " +
		"for e; do :; done; echo $(((e-$1)/1024)) >$OWN", what: "KB that the heap of ls grew by",
		line: ` ls +brk +(\d+)`, source: "strace"},
	{tool: "pagefaults --interval 100s", load: perfCount("page-faults", "/bin/ls -lR /usr/share"), what: "of ls",
		line: ` ls +(\d+)`, source: "perf stat", within: 10},
	{tool: "shmsnoop", load: "ipcmk -M 4096 >$OWN.i; ipcrm -m $(sed 's/.*: //' $OWN.i); rm $OWN.i", what: "calls",
		line: ` (shmget|shmctl) `, strace: `(shmget|shmctl)\(`},
	{tool: "funccount syscall.close", load: findIt, what: "calls of close", line: `^close +(\d+)`,
		strace: `^(\d+ +)?close\(`},
	{tool: "trace t:sched:sched_process_exec", load: trues, what: "starts", line: ` true .*sched_process_exec `,
		strace: `execve\("/bin/true"`},
	{tool: "capable --unique", load: "f=$(mktemp); for i in 1 2 3; do chown 1:1 $f; chown 0:0 $f; " +
		"done; rm $f; echo 6 >$OWN",
		what: "processes of chown that need CHOWN", line: ` chown +0 CHOWN `, source: "how often it ran"},
	{tool: "bpfsnoop", load: "bpftool prog load /nowhere /sys/fs/bpf/x", what: "calls of bpf",
		line: ` bpftool +BPF_`, strace: `bpf\(`},
}

// TestToolProofs holds numbers of tools against what others count. It is asked for by GOSTAP_TOOLS=1; with
// GOSTAP_TOOLS=update it writes the table that docs/tools.md has.
func TestToolProofs(t *testing.T) {
	asked := os.Getenv(toolsAsked)
	if asked == "" {
		t.Skip(toolsAsked + "=1 asks for it; it takes three minutes")
	}
	needRoot(t)
	gostap := bin(t, "gostap")
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		t.Fatal(err)
	}
	kernel := regexp.MustCompile(`^\d+\.\d+`).FindString(unix.ByteSliceToString(uts.Release[:]))
	var rows []string
	for _, p := range slices.Concat(toolProofs, kernelProofs) {
		name, _, _ := strings.Cut(p.tool, " ")
		t.Run(name+"/"+strings.ReplaceAll(p.what, " ", "_"), func(t *testing.T) {
			ours, theirs, skipped := prove(t, gostap, p)
			// What is skipped is told; of a number that depends on time it may be as much as that is off.
			if d := ours - theirs; theirs == 0 || max(d, -d, skipped)*100 > p.within*theirs {
				t.Errorf("gostap %s: %s is %d, %s says %d\n%s", p.tool, p.what, ours, p.by(), theirs, p.load)
				return
			}
			load := p.load
			if len(load) > 48 {
				load = load[:45] + "..."
			}
			rows = append(rows, strings.Join([]string{p.tool, kernel, "`" + load + "`", p.what, fmt.Sprint(ours),
				fmt.Sprint(theirs), p.by()}, "\t"))
		})
	}
	if asked != "update" {
		return
	}
	// Rows of other kernels stay, and those of TestToolsOfPrograms.
	if err := proofs.Write("../cmd/internal/toolbox/proofs.tsv", rows, func(row []string) bool {
		return row[1] != kernel || row[6] == "the program"
	}); err != nil {
		t.Fatal(err)
	}
}

// by is whose the other number is.
func (p *proof) by() string {
	if p.source != "" {
		return p.source
	}
	return "strace -f"
}

// skippedHits is how many hits a tool says that it skipped.
func skippedHits(said string) int { return proofs.Sum(said, `skipped probes: (\d+)`) }

// prove gives the number of the tool and that of the other, and how many hits the tool skipped.
func prove(t *testing.T, gostap string, p proof) (ours, theirs, skipped int) {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("load.sh"), []byte(p.load+"\ntrue\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "OWN="+file("own"))
		out, err := cmd.CombinedOutput()
		if n := skippedHits(string(out)); err != nil || p.within == 0 && strings.Contains(string(out), "skipped") {
			t.Fatalf("%q: %v\n%s", args, err, out)
		} else if n > 0 {
			skipped += n
			t.Logf("%s", out)
		}
	}
	command := "exec /bin/sh " + file("load.sh") + " >/dev/null 2>&1"
	args := append([]string{gostap}, strings.Fields(p.tool)...)
	run(append(args, "-o", file("out"), "-c", command)...)
	ours = total(t, file("out"), p.line)
	if p.strace == "" {
		return ours, total(t, file("own"), `^(\d+)`), skipped
	}
	run("strace", "-f", "-qq", "-o", file("strace"), "/bin/sh", "-c", command) // as gostap does it
	return ours, total(t, file("strace"), p.strace), skipped
}

// total is proofs.Sum of a file.
func total(t *testing.T, path, pattern string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return proofs.Sum(string(text), pattern)
}

// TestToolText: what a traced program calls itself and its files reaches the terminal with escapes.
func TestToolText(t *testing.T) {
	needRoot(t)
	gostap := bin(t, "gostap")
	dir := t.TempDir()
	evil := filepath.Join(dir, "\x1b[31m\nevil")
	text, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(evil, text, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"execsnoop", "exitsnoop", "opensnoop", "proclife", "syscount --by process"} {
		out := filepath.Join(dir, "out")
		args := append([]string{gostap}, strings.Fields(tool)...)
		args = append(args, "-o", out, "-c", `"$EVIL"; cat "$EVIL" >/dev/null`)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "EVIL="+evil)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", tool, err, said)
		}
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got), `\033[31m\nevil`) || strings.ContainsRune(string(got), 0x1b) {
			t.Errorf("%s:\n%q", tool, got)
		}
	}
}
