package vm

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// busy does a bit of everything at probes that fire all the time: per-CPU and shared globals, arrays, aggregates,
// strings, output, returns of kernel functions, a tracepoint and a timer.
const busy = `
global n long
global per long [long, string 15] size 200
global text string 40 [long] size 50
global s stats hist_log
global sa stats [long] size 50

probe "traceme" {
  site uprobe path="/lab/prog" offset=$traceme
  long r0, r1
  string r2 15, r3 40
b0:
  gadd @n, 1
  r0 = intr tid()
  r2 = intr execname()
  madd @per[r0, r2], 1 !b1
  jump b1
b1:
  r1 = reg 3
  sadd @s, r1
  print "%s %d\n"(r2, r1)
  end
}

probe "deep" {
  site uprobe path="/lab/prog" offset=$deep
  long r0
  string r1 40
b0:
  r0 = intr cpu()
  r1 = sprint "on %d"(r0)
  mset @text[r0], r1 !b1
  sadd @sa[r0], 1 !b1
  jump b1
b1:
  end
}

probe "ret" {
  site kretprobe symbol="vfs_write"
  long r0
b0:
  r0 = reg 0
  sadd @s, r0
  end
}

probe "fork" {
  site tracepoint event="sched:sched_process_fork"
b0:
  gadd @n, 1
  end
}

probe "tick" {
  site profile period=1000000
b0:
  gadd @n, 1
  end
}
`

// TestRounds loads and unloads a module many times in the middle of load from four processes. Every round must see
// hits and end well, and the kernel's memory must be back where it was. GOSTAP_VM_ROUNDS says how often.
func TestRounds(t *testing.T) {
	rounds := 7
	if s := os.Getenv("GOSTAP_VM_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		rounds = n
	}
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		files := b.stage(t, k, map[string]string{"busy": busy})
		res := guest(t, k, Options{Files: files, Timeout: 3*time.Minute + time.Duration(rounds)*3*time.Second,
			Command: fmt.Sprintf(`
for q in 1 2 3 4; do (while [ ! -e /tmp/stop ]; do prog 500 deep >/dev/null; done) & done
mem() { sync; echo 3 >/proc/sys/vm/drop_caches; awk '/^SUnreclaim|^VmallocUsed|^Percpu/ { n += $2 } END { print n }' /proc/meminfo; }
i=0; bad=0; mute=0
while [ $i -lt %d ]; do
	[ $i -eq 4 ] && before=$(mem)
	kmodrun -cache /lab/cache -name busy -T 50ms busy.ir >/tmp/out 2>/tmp/err || { bad=$((bad+1)); head -3 /tmp/err; }
	# On a busy machine the four processes may not have run in these 50 ms.
	grep -q '^prog ' /tmp/out || kmodrun -cache /lab/cache -name busy -T 3s busy.ir >/tmp/out 2>/tmp/err || { bad=$((bad+1)); head -3 /tmp/err; }
	grep -q '^prog ' /tmp/out || mute=$((mute+1))
	i=$((i+1))
done
echo "rounds $i bad $bad mute $mute"
after=$(mem)
touch /tmp/stop; wait
echo "memory $before $after $((after - before))"
echo "modules $(lsmod | tail -n +2)"
`, rounds)})
		var before, after, grown int
		for _, l := range lines(res.Output, "memory ") {
			fmt.Sscanf(l, "memory %d %d %d", &before, &after, &grown)
		}
		t.Logf("%d rounds; unreclaimable slab, vmalloc and per-CPU memory: %d kB after 4 rounds, %d kB after all",
			rounds, before, after)
		var n, bad, mute int
		for _, l := range lines(res.Output, "rounds ") {
			fmt.Sscanf(l, "rounds %d bad %d mute %d", &n, &bad, &mute)
		}
		if n != rounds || bad != 0 || mute > 0 {
			t.Errorf("%d of %d rounds, %d went wrong, %d saw nothing\n%s", n, rounds, bad, mute, res.Output)
		}
		// One module's memory is over 1 MB; the caches of a busy guest move by some hundred kB.
		if before == 0 || grown > 600+8*rounds {
			t.Errorf("memory grew by %d kB", grown)
		}
		if !strings.Contains(res.Output, "modules \n") {
			t.Errorf("a module is left:\n%s", res.Output)
		}
	})
}
