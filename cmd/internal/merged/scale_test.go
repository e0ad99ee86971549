package merged

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/bits"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/runtime/merge"
)

// agentsAt is the variable of the environment that makes this program the agents of a simulation: a folder with the
// socket and what they count.
const agentsAt = "GOSTAP_SIMULATED_AGENTS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(agentsAt); dir != "" {
		agents(dir)
	}
	os.Exit(m.Run())
}

// simulated is what machines count in a simulation. The sessions here and what is between them are the real ones;
// events of the machines are made up, each machine's into as many elements, and of as many stacks, as it is told.
const simulated = `
global calls, by[40000], took, seen[2000], stacks[16384]
probe syscall.getpid { calls++ by[tid()]++ took <<< pid() seen[uid()] <<< gettimeofday_us() stacks[ustack()]++ }
probe timer.ms(500) {
	worst = 0 now = gettimeofday_us()
	foreach (m in seen) if (now - @max(seen[m]) > worst) worst = now - @max(seen[m])
	printf("worst %d us\n", worst)
}
probe end {
	foreach (k in by) sum += by[k]
	foreach (s in stacks) { at += stacks[s] n++ }
	printf("all %d in elements %d, of took %d, in %d stacks %d\n", calls, sum, @count(took), n, at)
	println(@hist_log(took))
}`

// agents serves as many sessions as are asked for.
func agents(dir string) {
	text, err := os.ReadFile(filepath.Join(dir, "program"))
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "new"))
	if err != nil {
		panic(err)
	}
	// A socket has a name before it is listened to.
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "socket")); err != nil {
		panic(err)
	}
	series, _ := strconv.Atoi(os.Getenv("GOSTAP_SIMULATED_SERIES"))
	stacks, _ := strconv.Atoi(os.Getenv("GOSTAP_SIMULATED_STACKS"))
	for n := 0; ; n++ {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go func() {
			defer c.Close()
			remote.Serve(c, c, "simulated", func(s remote.Session) int {
				return agent(s, string(text), n, series, stacks)
			})
		}()
	}
}

// agent counts a hundred events a second until a signal comes.
func agent(s remote.Session, text string, n, series, stacks int) int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM, unix.SIGINT)
	p, err := ir.ParseText(text)
	if err != nil {
		fmt.Fprintln(s.Err, "error:", err)
		return 1
	}
	p.Limits = layout.Default()
	global := map[string]int{}
	for i, g := range p.Globals {
		global[g.Name] = i
	}
	store := interp.NewMemStore(p)
	columns, known := merge.Columns(p), map[int64]bool{}
	var top *merge.Top
	if s.Top > 0 {
		top = &merge.Top{N: s.Top, Of: s.Ranked}
	}
	outer := strings.Repeat("example/shop.function;", 20) + "example/shop.leaf"
	did := 0
	count := func() {
		for range 25 {
			store.Add(global["calls"], nil, 1)
			element := did % series
			if top != nil {
				element = skewed(did, series)
			}
			store.Add(global["by"], interp.Key{{Int: int64(n%4*series + element)}}, 1)
			if stacks > 0 {
				store.Add(global["stacks"], interp.Key{{Int: int64(1 + did%stacks)}}, 1)
			}
			store.AddStat(global["took"], nil, int64(did%1000))
			store.AddStat(global["seen"], interp.Key{{Int: int64(n)}}, time.Now().UnixMicro())
			did++
		}
	}
	tell := func(end bool) error {
		snap, err := merge.Take(store, p, s.Shared)
		if err != nil {
			return err
		}
		told := merge.Told{Snapshot: snap, Rests: top.Cut(p, snap, end)}
		for _, k := range snap.Stacks(columns, known) {
			told.Stacks = append(told.Stacks, merge.Stack{Number: k, Folded: outer + strconv.FormatInt(k, 10)})
		}
		return s.Counted(told.Bytes(p))
	}
	time.Sleep(time.Duration(n%250) * time.Millisecond) // they do not begin at the same moment
	for tick := time.NewTicker(every); ; {
		select {
		case <-tick.C:
			if count(); tell(false) == nil {
				continue
			}
		case <-stop:
		}
		if tell(true) != nil {
			return 1
		}
		fmt.Fprintf(s.Out, "did %d\n", did)
		return 0
	}
}

// skewed is the element that an event is counted in where some are met more often: each once, and then the lower half
// of them half of the time, the lower quarter a quarter of it, and so on.
func skewed(did, series int) int {
	if did < series {
		return did
	}
	return (series >> min(bits.TrailingZeros(uint(did)), 30)) * (did % 97) / 97
}

// buffer gathers what is printed.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// simulation is what one shows.
type simulation struct {
	calls, did int           // as they were added up, as the machines say
	stacks     int           // how many there are of all machines
	lag        time.Duration // between a hit and its sum, of the machine that is farthest behind, once all have begun
	cpu, wall  time.Duration // of this process
	memory     int64         // of this process at most, in bytes
}

// left is what is said of elements that were not told.
var left = regexp.MustCompile(`WARNING: by has the greatest elements .* all that is missing adds up to (\d+)\n$`)

// simulate runs a session over machines for a while; top: they tell so many elements alone.
func simulate(tb testing.TB, machines, series, stacks, top int, lasts time.Duration) (r simulation) {
	tb.Helper()
	p, err := gostap.Compile(tb.Context(), simulated, gostap.Options{Portable: true, Elsewhere: true, Merge: true})
	if err != nil {
		tb.Fatal(err)
	}
	defer p.Close()
	m, err := p.Merge()
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := m.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "program"), []byte(m.Listing()), 0o644); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), agentsAt+"="+dir, "GOSTAP_SIMULATED_SERIES="+strconv.Itoa(series),
		"GOSTAP_SIMULATED_STACKS="+strconv.Itoa(stacks))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	socket := filepath.Join(dir, "socket")
	for range 100 {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	var hosts []remote.Host
	for range machines {
		hosts = append(hosts, remote.Host{Name: "m", URI: "unix:" + socket, Socket: socket})
	}
	var out, errs buffer
	ctx, stop := context.WithTimeout(tb.Context(), lasts)
	defer stop()
	before, begun := usage(), time.Now()
	o := remote.Options{Hosts: hosts, Request: remote.Request{Plan: plan, Top: top}, Out: &out, Err: &errs}
	_, err = Run(ctx, m, o,
		func(ctx context.Context, s *gostap.Session, out, errw io.Writer) error {
			return s.Print(ctx, out, errw, nil)
		})
	r.cpu, r.wall = usage()-before, time.Since(begun)
	r.memory = memory()
	said, missing := errs.String(), 0
	if m := left.FindStringSubmatch(said); m != nil {
		missing, _ = strconv.Atoi(m[1])
		said = said[:len(said)-len(m[0])]
	}
	if err != nil || said != "" || (missing > 0) != (top > 0) {
		tb.Fatalf("%v: %s", err, errs.String())
	}
	for _, l := range regexp.MustCompile(`(?m)did (\d+)$`).FindAllStringSubmatch(out.String(), -1) {
		n, _ := strconv.Atoi(l[1])
		r.did += n
	}
	var sum, took, at int
	_, last, _ := strings.Cut(out.String(), "all ")
	_, err = fmt.Sscanf(last, "%d in elements %d, of took %d, in %d stacks %d", &r.calls, &sum, &took, &r.stacks, &at)
	if err != nil || sum+missing != r.calls || took != r.calls || r.stacks != stacks || stacks > 0 && at != r.calls {
		tb.Errorf("%v: %q", err, last)
	}
	lags := regexp.MustCompile(`(?m)^worst (\d+) us$`).FindAllStringSubmatch(out.String(), -1)
	for i, l := range lags {
		if n, _ := strconv.Atoi(l[1]); i > len(lags)/2 { // the session is up
			r.lag = max(r.lag, time.Duration(n)*time.Microsecond)
		}
	}
	return r
}

// usage is the time on processors of this process.
func usage() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory is how much this process had at most.
func memory() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Maxrss << 10
}

// TestSimulation: what three hundred machines count comes here, each event once, also where they tell the greatest
// elements alone, of which the rest is known.
func TestSimulation(t *testing.T) {
	for _, top := range []int{0, 5} {
		r := simulate(t, 300, 10+10*top, 10-top, top, 5*time.Second)
		if r.calls != r.did || r.did < 300*25*2 {
			t.Errorf("%d calls were added up, and %d made", r.calls, r.did)
		}
		t.Logf("%+v", r)
	}
}

// BenchmarkMachines tells what a session takes here, by machines, elements of each machine's arrays, and its stacks of
// 21 functions.
func BenchmarkMachines(b *testing.B) {
	for _, c := range []struct{ machines, series, stacks, top int }{{1, 10, 0, 0}, {10, 10, 0, 0}, {100, 10, 0, 0},
		{1000, 10, 0, 0}, {1000, 100, 0, 0}, {100, 1000, 0, 0}, {1000, 1000, 0, 0}, {1000, 1000, 0, 50},
		{100, 10, 100, 0}, {1000, 10, 100, 0}, {1000, 10, 500, 0}} {
		name := fmt.Sprintf("machines=%d/elements=%d/stacks=%d/top=%d", c.machines, c.series, c.stacks, c.top)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := simulate(b, c.machines, c.series, c.stacks, c.top, 20*time.Second)
				if r.calls != r.did {
					b.Errorf("%d calls were added up, and %d made", r.calls, r.did)
				}
				b.ReportMetric(float64(r.cpu.Milliseconds())/r.wall.Seconds(), "cpu-ms/s")
				b.ReportMetric(float64(r.lag.Milliseconds()), "lag-ms")
				b.ReportMetric(float64(r.memory)/1e6, "MB")
				b.ReportMetric(float64(r.calls), "events")
			}
		})
	}
}
