package ledger

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// contentType is the text format of Prometheus.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// sample is one value of a metric, with labels as they stand between braces.
type sample struct {
	labels string
	value  float64
}

// metric writes one with its values. An integer up to 2^53 is written with all its digits.
func metric(b *bytes.Buffer, name, kind, help string, values ...sample) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	for _, v := range values {
		b.WriteString(name)
		if v.labels != "" {
			b.WriteString("{" + v.labels + "}")
		}
		b.WriteString(" " + strconv.FormatFloat(v.value, 'f', -1, 64) + "\n")
	}
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func label(name, value string) string {
	return name + `="` + escapes.Replace(strings.ToValidUTF8(value, "\uFFFD")) + `"`
}

// metrics are all there are.
func (l *Ledger) metrics() []byte {
	var b bytes.Buffer
	metric(&b, "gostap_build_info", "gauge", "1, with the version of gostap and the release of the kernel.",
		sample{label("version", l.version) + "," + label("kernel", l.kernel), 1})
	ready := 0.0
	if l.Ready() == nil {
		ready = 1
	}
	c := l.count()
	metric(&b, "gostap_agent_ready", "gauge", "1 if programs can be loaded and attached here, else 0.",
		sample{"", ready})
	metric(&b, "gostap_agent_sessions", "gauge", "Sessions that run.", sample{"", float64(c.sessions)})
	metric(&b, "gostap_agent_pods", "gauge", "Pods that sessions trace.", sample{"", float64(c.pods)})
	var ended []sample
	for _, r := range results {
		ended = append(ended, sample{label("result", string(r)), float64(c.ended[r])})
	}
	metric(&b, "gostap_agent_sessions_total", "counter", "Sessions that have ended, or were refused.", ended...)
	metric(&b, "gostap_agent_session_lost_total", "counter",
		"Events and hits that are missing in what sessions have printed, as their warnings count them.",
		sample{"", float64(c.missing)})
	process(&b)
	return b.Bytes()
}

// process writes what there is to say of this process, under the names of Prometheus' own libraries. What is not known
// is left out.
func process(b *bytes.Buffer) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) == nil {
		seconds := func(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
		metric(b, "process_cpu_seconds_total", "counter", "CPU time of the agent without its sessions, in seconds.",
			sample{"", seconds(u.Utime) + seconds(u.Stime)})
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		var size, resident uint64 // pages (proc_pid_statm(5))
		if _, err := fmt.Sscan(string(text), &size, &resident); err == nil {
			metric(b, "process_resident_memory_bytes", "gauge", "Resident memory of the agent without its sessions.",
				sample{"", float64(resident) * float64(os.Getpagesize())})
		}
	}
	if t, ok := began(); ok {
		metric(b, "process_start_time_seconds", "gauge", "When the agent began, in seconds since 1970.", sample{"", t})
	}
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil { // one is that of the folder
		metric(b, "process_open_fds", "gauge", "Open file descriptors.", sample{"", float64(len(fds) - 1)})
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		metric(b, "process_max_fds", "gauge", "How many there can be.", sample{"", float64(limit.Cur)})
	}
}

// ticks are in a second, of what the kernel tells of processes: USER_HZ, 100 on all machines that gostap runs on.
const ticks = 100

// began is when this process did, in seconds since 1970.
func began() (seconds float64, ok bool) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, false
	}
	// The second field is a name in parentheses, with whatever is in it; the start is field 22, in ticks after boot.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return 0, false
	}
	after, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return 0, false
	}
	if text, err = os.ReadFile("/proc/stat"); err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if at, is := strings.CutPrefix(line, "btime "); is {
			boot, err := strconv.ParseUint(strings.TrimSpace(at), 10, 64)
			return float64(boot) + float64(after)/ticks, err == nil
		}
	}
	return 0, false
}
