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
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/proofs"
)

// toolCount is a number that a tool prints of a program that counts itself.
type toolCount struct {
	tool, program string // with their arguments
	what          string
	line          string // finds the number in what the tool prints: its group, summed over all lines, or their number
	own           string // the same in what the program prints
	within        int    // percent that the two may be apart
}

var countedTools = []toolCount{
	{"go-errors", "labours fails", "errors of get", `^ *(\d+) main\.get `, `^errors of get (\d+)`, 0},
	{"go-errors --each", "labours fails", "errors of check", ` main\.check: `, `^errors of check (\d+)`, 0},
	{"go-calls main.*", "labours fails", "calls of get", `^ *(\d+) main\.get$`, `^calls of get (\d+)`, 0},
	{"go-callers main.get", "labours fails", "calls of get", `^(\d+) calls`, `^calls of get (\d+)`, 0},
	{"go-latency main.get", "labours fails", "calls of get",
		`^main\.get: (\d+) calls`, `^calls of get (\d+)`, 0},
	{"go-trace main.get", "labours fails", "returns of get", ` <- main\.get `, `^calls of get (\d+)`, 0},
	{"go-slow main.holds --min 10ms", "labours locks", "calls of 10 ms",
		` main\.holds\(`, `^waits for a mutex (\d+)`, 0},
	{"go-schedlat", "labours locks", "readers that had waited", `^sync\.RWMutex\.RLock +(\d+)`,
		`^waits for a reader's lock (\d+)`, 0},
	{"go-offcpu", "labours locks", "waits for a mutex",
		`^sync\.Mutex\.Lock +(\d+)`, `^waits for a mutex (\d+)`, 0},
	{"go-locks", "labours locks", "waits for a mutex", ` Lock +(\d+)`, `^waits for a mutex (\d+)`, 0},
	{"go-locks", "labours locks", "waits of readers", `\.RLock +(\d+)`, `^waits for a reader's lock (\d+)`, 0},
	{"go-chans", "labours channels", "sends", `^send +(\d+) .* main\.produce `, `^sent (\d+)`, 0},
	{"go-allocs", "labours makes", "nodes", ` (\d+) main\.node$`, `^nodes (\d+)`, 0},
	{"go-gc", "labours collects", "cycles", ` \d+! `, `^collections (\d+)`, 0},
	{"go-gc", "labours collects", "microseconds of pauses", `^GC \w+ termination +\d+ +(\d+)`,
		`^pauses in microseconds (\d+)`, 15},
	{"go-leaks", "labours leaks", "goroutines left", `^ *(\d+) .* main\.leaks\.func1$`, `^leaked (\d+)`, 0},
	{"go-goroutines", "labours leaks", "goroutines started",
		`^ *(\d+) .* main\.leaks\.func1$`, `^leaked (\d+)`, 0},
	{"go-http", "labours serves", "answers with 200", `^ *(\d+) .* 200 `, `^requests with 200 (\d+)`, 0},
	{"go-http --each --failed", "labours serves", "answers with 404", ` 404 `, `^requests with 404 (\d+)`, 0},
	{"go-httpclient", "labours serves", "answers with 200", `^ *(\d+) .* 200 `, `^requests with 200 (\d+)`, 0},
	{"go-httpclient --each", "labours serves", "errors", `url\.Error`, `^requests refused (\d+)`, 0},
	{"go-grpc", "rpcs", "calls served",
		`^ *(\d+) .* server +OK +/test\.Echo/Say`, `^served /test.Echo/Say 0 x (\d+)`, 0},
	{"go-grpc", "rpcs", "streams of clients", `^ *(\d+) .* stream `, `^streamed \S+ \d+ x (\d+)`, 0},
	{"go-sql", "labours queries", "queries", `^ *(\d+) .* query `, `^queries (\d+)`, 0},
	{"go-sql", "labours queries", "queries failed", `^ *\d+ +(\d+) .* query `, `^queries failed (\d+)`, 0},
	{"go-panics", "labours panics", "panics", `^(\d+) panics,`, `^panics (\d+)`, 0},
	{"go-timers", "labours sleeps", "sleeps", `^runtime\.goroutineReady +(\d+)`, `^sleeps (\d+)`, 0},
	{"go-timers", "labours sleeps", "timers with a channel",
		`^time\.sendTime +(\d+)`, `^timers with a channel (\d+)`, 0},
	{"tcpconnect", "labours connects", "connections", ` ok$`, `^connections (\d+)`, 0},
	{"tcpconnect --failed", "labours connects", "refused", ` failed$`, `^connections refused (\d+)`, 0},
	{"tcpaccept", "labours connects", "connections", ` labours +\d+ `, `^connections (\d+)`, 0},
	{"tcplife", "labours connects", "bytes sent, both sides", ` (\d+) +\d+ +\d+$`, `^bytes sent (\d+)`, 0},
	{"tcpstates", "labours connects", "connections", ` SYN_SENT +ESTABLISHED `, `^connections (\d+)`, 0},
	{"tcptop --interval 100s --top 100", "labours connects", "bytes sent, both sides",
		` (\d+) +\d+$`, `^bytes sent (\d+)`, 0},
	{"sockbytes", "labours connects", "bytes of datagrams",
		` INET/DGRAM +(\d+) `, `^bytes of datagrams (\d+)`, 0},
	{"connectsnoop", "labours connects", "connections that are begun", ` EINPROGRESS `,
		`^connections(?: refused)? (\d+)`, 0},
	{"solisten", "labours connects", "listeners", ` ok +127\.0\.0\.1:`, `^listeners (\d+)`, 0},
	{"bindsnoop", "labours connects", "sockets for datagrams", ` DGRAM +ok +127\.0\.0\.1:`,
		`^sockets for datagrams (\d+)`, 0},
	{"memleak", "heaps", "allocations", `^(\d+) allocations of`, `^allocations (\d+)`, 0},
	{"memleak", "heaps", "bytes not freed", `^(\d+) bytes in`, `^bytes not freed (\d+)`, 0},
	{"mallocs", "heaps", "bytes asked for", ` *(\d+) +\d+ \d+ +heaps$`, `^bytes asked for (\d+)`, 0},
	{"pthreadlocks", "heaps locks", "waits", `^0x.* \d+ +(\d+) +\d+ +\d+$`, `^waits (\d+)`, 20},
	{"pgqueries --postgres statements", "statements", "statements", `^ *(\d+) +\d+ +\d+ select`, `^statements (\d+)`, 0},
	{"pgqueries --each --min 15ms --postgres statements", "statements", "slow statements", ` select `,
		`^slow statements (\d+)`, 0},
	{"usdt --mark query__done", "statements", "statements", `^ *(\d+) query__done`, `^statements (\d+)`, 0},
	{"uflow run", "statements", "returns", ` <- run `, `^statements (\d+)`, 0},
	{"funclatency run", "statements", "calls", `^run: (\d+) calls`, `^statements (\d+)`, 0},
	{"funcslower run --min 15ms", "statements", "slow calls", ` run$`, `^slow statements (\d+)`, 0},
	{"stackcount run", "statements", "calls", `^(\d+) times`, `^statements (\d+)`, 0},
	{"gethostlatency", "heaps names", "names", ` heaps +\d+ (ok|failed) `, `^names (\d+)`, 0},
	{"threadsnoop", "heaps locks", "threads", ` heaps +\d+$`, `^threads (\d+)`, 0},
	{"lockorder", "heaps orders", "pairs", ` takes 0x`, `^pairs (\d+)`, 0},
	{"cppthrows", "hurls", "runtime_error", `^ *(\d+) St13runtime_error `, `^errors (\d+)`, 0},
	{"cppthrows", "hurls", "of the program's own type", `^ *(\d+) 3Odd `, `^odd (\d+)`, 0},
	{"inotifysnoop", "doings watches", "calls", ` inotify_add_watch `, `^watches (\d+)`, 0},
	{"inotifysnoop --failed", "doings watches", "calls that fail", ` ENOENT `, `^watches failed (\d+)`, 0},
	{"ptracesnoop", "doings peeks", "bytes", ` (?:read|write) .* (\d+)$`, `^bytes (\d+)`, 0},
	{"sofdsnoop", "doings passes", "messages", ` send .*`, `^messages (\d+)`, 0},
	// Other programs of the machine may have such timers, too.
	{"timersnoop --top 1000", "doings clocks", "timers", `^timerfd_tmrproc +hrtimer +(\d+)`, `^timers (\d+)`, 10},
	{"go-netpoll", "doings polls", "waits", ` read +(\d+) `, `^waits (\d+)`, 0},
	{"go-netpoll", "doings polls", "deadlines", ` read .* (\d+)$`, `^deadlines (\d+)`, 0},
	// At the end of the program a segment may still come.
	{"tcprtt --port 4791", "doings segments", "segments", `^127\.0\.0\.1 +(\d+)`, `^segments (\d+)`, 10},
}

// TestToolsOfPrograms holds numbers of tools against what the traced programs count themselves. GOSTAP_TOOLS=1 asks for
// it; with GOSTAP_TOOLS=update it puts its rows into the table that docs/tools.md has.
func TestToolsOfPrograms(t *testing.T) {
	asked := os.Getenv("GOSTAP_TOOLS")
	if asked == "" {
		t.Skip("GOSTAP_TOOLS=1 asks for it; it takes a minute")
	}
	needRoot(t)
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		t.Fatal(err)
	}
	kernel := regexp.MustCompile(`^\d+\.\d+`).FindString(unix.ByteSliceToString(uts.Release[:]))
	gostap := bin(t, "gostap")
	rows := map[string]string{}
	for _, c := range countedTools {
		t.Run(strings.Fields(c.tool)[0]+"/"+strings.ReplaceAll(c.what, " ", "_"), func(t *testing.T) {
			name, args, _ := strings.Cut(c.program, " ")
			out := filepath.Join(t.TempDir(), "out")
			words := strings.Fields(c.tool)
			if words[len(words)-1] == name {
				words[len(words)-1] = bin(t, name)
			}
			cmd := exec.Command(gostap, append(words, "-o", out, "-c", bin(t, name)+" "+args)...)
			var complaints strings.Builder
			cmd.Stderr = &complaints
			own, err := cmd.Output()
			skipped := skippedHits(complaints.String())
			if err != nil || c.within == 0 && strings.Contains(complaints.String(), "skipped") {
				t.Fatalf("gostap %s: %v\n%s", c.tool, err, &complaints)
			}
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := proofs.Sum(string(text), c.line), proofs.Sum(string(own), c.own)
			if d := ours - theirs; theirs == 0 || max(d, -d, skipped)*100 > c.within*theirs {
				t.Errorf("gostap %s: %s is %d, the program says %d\n%s\n%s\n%s", c.tool, c.what, ours, theirs, text,
					own, &complaints)
				return
			}
			key := c.tool + "\t" + kernel + "\t`" + c.program + "`\t" + c.what
			rows[key] = fmt.Sprintf("%s\t%d\t%d\tthe program", key, ours, theirs)
		})
	}
	if asked != "update" {
		return
	}
	if err := proofs.Write("../cmd/internal/toolbox/proofs.tsv", slices.Collect(maps.Values(rows)),
		func(row []string) bool { return rows[strings.Join(row[:4], "\t")] == "" }); err != nil {
		t.Fatal(err)
	}
}
