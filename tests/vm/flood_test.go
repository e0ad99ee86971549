package vm

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var lostEvents = regexp.MustCompile(`WARNING: (\d+) events? lost because the output buffer was full`)

var skippedProbes = regexp.MustCompile(`skipped probes: (\d+)`)

// TestFlood: handlers print more than the reader takes, for a while nothing at all. The program goes on, the kernel is
// well, and what was printed and what was counted as lost make up what was said, with every printed line whole and
// in order.
func TestFlood(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		const calls = 60000
		run, cache := filepath.Join(b.dir, "kmodrun"), filepath.Join(t.TempDir(), "cache")
		script := fmt.Sprintf(`global n probe process("%s").function("main.quick") { n++ printf("line %%d of a program that prints a lot, much more than is read\n", n) }
			probe end { printf("said %%d\n", n) }`, b.prog)
		command := fmt.Sprintf("%s %d time 2", b.prog, calls)
		args := []string{"-cache", cache, "-name", "flood", "-c", command, "-e", script}
		if out, err := exec.Command(run,
			append([]string{"-r", kdir, "-build"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		// The reader sleeps until the program is through; then it reads all.
		res := guest(t, k, Options{Parallel: true, Files: map[string]string{run: run, cache: cache, b.prog: b.prog},
			Command: `
cd /tmp; mkfifo slow
( sleep 1; while ! [ -e stop ]; do sleep 0.1; done; cat ) <slow >read &
` + fmt.Sprintf("%s -cache %s -name flood -c '%s >/tmp/call; touch /tmp/stop' -e '%s' >slow 2>errors; echo rc $?\n",
				run, cache, command, script) + `
wait
grep -c '^line [0-9]* of a program that prints a lot, much more than is read$' read
grep '^said' read; cat call
grep -v '^line [0-9]* of a\|^said\|^call' read | head -3
grep '^line' read | awk '{ if (last[$2]++) again++; n++ } END { print "again", again + 0 }'
cat errors
lsmod | tail -n +2
head -c 300 /proc/meminfo | grep MemFree >/dev/null && echo alive
`})
		out := strings.Split(res.Output, "\n")
		printed := 0
		if len(out) > 1 {
			fmt.Sscan(out[1], &printed)
		}
		lost := 0
		if m := lostEvents.FindStringSubmatch(res.Output); m != nil {
			fmt.Sscan(m[1], &lost)
		}
		skipped := 0 // hits whose handler did not get its lock: on a busy machine
		if m := skippedProbes.FindStringSubmatch(res.Output); m != nil {
			fmt.Sscan(m[1], &skipped)
		}
		if printed == 0 || lost == 0 || printed+lost+skipped != 2*calls || number(res.Output, "said ")+
			skipped != 2*calls {
			t.Errorf("%d lines, %d lost and %d skipped of %d", printed, lost, skipped, 2*calls)
		}
		for _, w := range []string{"\nagain 0\n", "\nalive\n", "rc 0\n"} {
			if !strings.Contains("\n"+res.Output, w) {
				t.Errorf("no %q", w)
			}
		}
		t.Logf("%d printed, %d lost", printed, lost)
		if t.Failed() {
			t.Log(res.Output)
		}
	})
}
