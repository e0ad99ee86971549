package examples

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// held is an example that runs under a load (testdata/exload.c), with a number that it prints and where the same
// number comes from.
type held struct {
	name string
	args []string
	load string // what exload does, and how often
	what string // what is compared
	// found has one group whose numbers are added; without a group its matches are counted. PID is the load's.
	found string
	// source names the number: a word that exload says, "strace NAME...": the calls that strace -c counted of the same
	// load in a run of its own, "strace" alone all calls, "pahole": the size of struct task_struct.
	source string
	// off is by how much both may differ, in percent, and by, in ones, with why.
	off, by int64
	why     string
}

const call = "syscall.sched_get_priority_max"

var loads = []held{
	{"general/func_time_stats", []string{call}, "calls 700", "calls", `count:(\d+)`, "did", 0, 0, ""},
	{"general/sizeof", []string{"task_struct", "kernel<include/linux/sched.h>"}, "calls 1", "bytes of a structure",
		`byte-size: (\d+)`, "pahole", 0, 0, ""},
	{"io/iotime", nil, "files 300", "bytes written to a file", `load.file read: \d+ write: (\d+)`, "wchar", 0, 0, ""},
	{"io/iostats", nil, "files 300", "reads", `(?m)^ *exload +\d+ +(\d+)`, "strace read", 0, 0, ""},
	{"lwtools/accept2close-nd", nil, "connects 40", "accepted sockets that were closed", `PID +exload`, "did", 0, 0,
		""},
	{"lwtools/execsnoop-nd", nil, "execs 30", "programs that began", `exchild exchild calls 0`, "did", 0, 0, ""},
	{"lwtools/killsnoop-nd", nil, "signals 100", "calls of kill", `(?m)^PID +exload +10 +PID`, "did", 0, 0, ""},
	{"lwtools/opensnoop-nd", nil, "opens 200", "files that were opened", `exload +\d+ load\.file`, "did", 0, 0, ""},
	{"lwtools/rwtime-nd", []string{"exload"}, "files 300", "reads and writes", `(?m)\|@* +(\d+)$`,
		"strace read write", 0, 0, ""},
	{"lwtools/syscallbypid-nd", nil, "calls 700", "calls of one name", `PID +exload +sched_get_priority_max +(\d+)`,
		"strace sched_get_priority_max", 0, 0, ""},
	{"network/connect_stat", []string{"127.0.0.1"}, "connects 40", "connections", `127\.0\.0\.1: exload`, "did", 0, 0,
		""},
	{"network/netfilter_summary", nil, "datagrams 50", "packets to this machine", `--> +127\.1\.2\.3 : (\d+) packets`,
		"did", 0, 0, ""},
	{"network/who_sent_it", nil, "datagrams 50", "packets of the load", `exload\[PID\] sent packet to 127`, "did", 0, 0,
		""},
	{"process/forktracker", nil, "forks 50", "processes that it made", `exload \(PID:PID\) created`, "did", 0, 0, ""},
	{"process/pstree", nil, "forks 50", "processes that it made", `forked from PID`, "did", 0, 0, ""},
	{"process/schedtimes", nil, "spin 500000", "microseconds on a processor", `(?m)^ *exload: +PID +(\d+)`, "did", 4, 0,
		"exload ends some calls after it has looked"},
	{"process/semop-watch", nil, "semops 100", "operations", `operate on set`, "value", 0, 0, ""},
	{"process/sig_by_pid", nil, "signals 100", "signals", `exload +PID +exload +SIGUSR1 +(\d+)`, "did", 0, 0, ""},
	{"process/sig_by_proc", nil, "signals 100", "signals", `exload +exload +SIGUSR1 +(\d+)`, "did", 0, 0, ""},
	{"process/sigkill", nil, "kills 20", "killed processes", `SIGKILL was sent to exload`, "did", 0, 0, ""},
	{"process/sigmon", []string{"SIGUSR1"}, "signals 100", "signals", `SIGUSR1`, "did", 0, 0, ""},
	{"process/sleeptime", nil, "sleeps 50", "microseconds of sleep", `PID \(exload\) \w*nanosleep: (\d+)`,
		"microseconds", 10, 0, "the way into the call and out of it, which exload counts"},
	{"process/spawn_seeker", nil, "forks 50", "processes that it made", `(?m)^ *exload +(\d+) \(`, "did", 0, 0, ""},
	{"process/strace", nil, "calls 200", "calls of one name", `sched_get_priority_max\(SCHED_FIFO\) = 99`,
		"strace sched_get_priority_max", 0, 0, ""},
	{"process/syscalls_by_pid", nil, "calls 700", "calls", `(?m)^(\d+) +PID$`, "strace", 0, 2,
		"exit_group does not return, execve began before"},
	{"process/syscalls_by_proc", nil, "calls 700", "calls", `(?m)^(\d+) +exload$`, "strace", 0, 2,
		"exit_group does not return, execve began before"},
	{"process/wait4time", nil, "forks 50", "calls of wait4", `PID \(exload\) wait4`, "strace wait4", 0, 0, ""},
	{"profiling/errno", nil, "missing 150", "calls that failed", `PID unlink +exload +ENOENT +(\d+)`, "strace unlink",
		0, 0, ""},
	{"profiling/sched_switch", []string{"name", "exload"}, "kills 20", "processes that ended",
		`exload +\d+ +\d+ +\d+: +\d+:EXIT_DEAD \+`, "did", 0, 1, "exload itself"},
	{"profiling/topsys", nil, "late 30000", "calls of one name", `sched_get_priority_max +(\d+)`, "did", 0, 0, ""},
}

// TestLoads runs examples under loads and holds what they print against an independent source.
func TestLoads(t *testing.T) {
	pattern := os.Getenv(asked)
	if pattern == "" {
		t.Skip("asked for by " + asked + "=full: each takes seconds, and what others do to the machine counts")
	}
	if os.Getuid() != 0 {
		t.Skip("tracing needs root")
	}
	found(t)
	if pattern == "full" {
		pattern = ""
	}
	wanted := regexp.MustCompile(pattern)
	b := newBench(t)
	for _, prog := range []string{"exload", "exchild"} {
		cc := exec.Command("gcc", "-O1", "-o", filepath.Join(b.dir, prog), "testdata/exload.c")
		if out, err := cc.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	var table strings.Builder
	table.WriteString("| example | load | compared | gostap | source | says | may differ by |\n" +
		"|---|---|---|---|---|---|---|\n")
	n := 0
	for _, h := range loads {
		if !wanted.MatchString(h.name) {
			continue
		}
		got, want, why, said := b.hold(h)
		off := max(h.by, want*h.off/100)
		if why != "" || got < want-off || got > want+off || want == 0 {
			t.Errorf("%s: %d, want %d by %s: %s\n%.1500s", h.name, got, want, h.source, why, said)
			continue
		}
		n++
		may := h.why
		if may != "" {
			may = fmt.Sprintf("%d: %s", off, may)
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %d | %s | %d | %s |\n", h.name, h.load, h.what, got,
			sourceName(h.source), want, may)
	}
	t.Logf("%d of %d examples say what the sources say", n, len(loads))
	if *update && pattern == "" && !t.Failed() {
		writeOrCompare(t, "loads", table.String())
	}
}

// sourceName says in words where a number is from.
func sourceName(s string) string {
	switch name, calls, _ := strings.Cut(s, " "); {
	case name == "strace" && calls == "":
		return "strace -c, all calls"
	case name == "strace":
		return "strace -c: " + strings.ReplaceAll(calls, " ", ", ")
	case name == "pahole":
		return "pahole"
	case name == "wchar":
		return "/proc/self/io: wchar"
	case name == "value":
		return "semctl GETVAL"
	}
	return "the program's own count"
}

// hold runs an example and its source, and gives both numbers.
func (b *bench) hold(h held) (got, want int64, why, said string) {
	script := filepath.Join(b.dir, "examples", h.name+".stp")
	cmd := exec.Command(b.gostap, append([]string{script, "-w", "-c", "./exload " + h.load}, h.args...)...)
	cmd.Dir = b.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return 0, 0, err.Error(), errs.String()
	}
	said = errs.String() + out.String()
	own := map[string]int64{}
	for line := range strings.Lines(errs.String()) {
		var name string
		var n int64
		if k, _ := fmt.Sscanf(line, "%s %d", &name, &n); k == 2 {
			own[name] = n
		}
	}
	re := regexp.MustCompile(strings.ReplaceAll(h.found, "PID", strconv.FormatInt(own["pid"], 10)))
	for _, m := range re.FindAllStringSubmatch(out.String(), -1) {
		k := int64(1)
		if len(m) > 1 {
			k, _ = strconv.ParseInt(m[1], 10, 64)
		}
		got += k
	}
	name, calls, _ := strings.Cut(h.source, " ")
	var err error
	switch name {
	case "strace":
		want, err = b.strace(h.load, strings.Fields(calls))
	case "pahole":
		want, err = pahole()
	default:
		want = own[name]
	}
	if err != nil {
		why = err.Error()
	}
	return got, want, why, said
}

// strace counts calls of a load: those of some names, or all.
func (b *bench) strace(load string, names []string) (n int64, err error) {
	to := filepath.Join(b.dir, "strace")
	cmd := exec.Command("strace", append([]string{"-c", "-o", to, "./exload"}, strings.Fields(load)...)...)
	cmd.Dir = b.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("strace: %w\n%s", err, out)
	}
	text, err := os.ReadFile(to)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 5 || f[len(f)-1] == "total" {
			continue
		}
		k, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			continue // the heading
		}
		for _, name := range names {
			if name == f[len(f)-1] {
				n += k
			}
		}
		if len(names) == 0 {
			n += k
		}
	}
	return n, err
}

// pahole gives the size of the kernel's struct task_struct.
func pahole() (int64, error) {
	out, err := exec.Command("pahole", "-C", "task_struct", "/sys/kernel/btf/vmlinux").Output()
	m := regexp.MustCompile(`/\* size: (\d+)`).FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("pahole says nothing: %v", err)
	}
	return strconv.ParseInt(string(m[1]), 10, 64)
}
