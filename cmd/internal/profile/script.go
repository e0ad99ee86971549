package profile

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gostap/gostap"
)

// The codes that statements begin with.
const (
	codeBegin   = iota // pid, time
	codeUser           // thread, name of the thread, stack of the program
	codeKernel         // thread, name, stack of the kernel, of the program
	codeOut            // thread, 1 if it goes on to be runnable, time, stack of the kernel, of the program, name
	codeIn             // thread, time
	codeWake           // thread, time
	codePark           // goroutine, reason, time, stack
	codeReason         // number, text
	codeRun            // goroutine, time, address of its function
	codeReady          // goroutine, time, reason
	codeStep           // goroutine, time, stack: it lets others go first
	codeYield          // goroutine, time
	codeEnter          // goroutine, time, stack: a system call, or C
	codeLeave          // goroutine, time
	codeEnd            // goroutine, time
	codeMade           // goroutine, time, stack of its creator
	codeExit           // thread, time
	codeFirst          // address of a goroutine that was there before, time, what it did until then
	codeSum            // kind, times, nanoseconds, stack
	codeOpen           // kind, number of goroutines, sum of the times when it began, stack
	codeRan            // address of the function, times, nanoseconds
	codeOpenRun        // number of goroutines, sum of the times when it began
	codeTick           // time: goroutines are to be looked at
	codeMissed         // events that had no room
)

var begin = fmt.Sprintf(`probe begin { printf("%%d %%d %%d\n", %d, target(), gettimeofday_ns()) }
probe kernel.trace("sched_process_exit") { if (pid() == target()) printf("%%d %%d %%d\n", %d, tid(), gettimeofday_ns()) }
`, codeBegin, codeExit)

// most is how many goroutines there can be at once.
const most = 1 << 17

// plan gives the script for what is asked, and what makes samples of its events.
func plan(ctx context.Context, o *options, opt gostap.Options, n *namer) (string, collector, error) {
	isGo := has(ctx, opt, "runtime.gopark") && !o.threads
	switch o.what {
	case "cpu":
		return begin + fmt.Sprintf(`probe perf.type(1).config(0).hz(%d) {
  if (pid() == target()) {
    if (user_mode()) printf("%%d %%d %%s %%s\n", 1, tid(), execname(), ubacktrace())
    else printf("%%d %%d %%s %%s %%s\n", 2, tid(), execname(), backtrace(), ubacktrace())
  }
}
`, o.hz), newCPU(n, o.hz), nil
	case "wall", "off":
		if !isGo {
			return begin + threadScript, newThreads(n, o.what == "wall", o.pid), nil
		}
	}
	if !isGo {
		return "", nil, &slip{fmt.Sprintf("--what %s is known of goroutines only, and this is no Go program", o.what),
			"--what off tells what threads wait for"}
	}
	switch o.what {
	case "create":
		return begin + countScript(`process.function("runtime.newproc1").return`, "1"),
			newCounts(n, "created", "count"), nil
	case "alloc":
		if has(ctx, opt, "runtime.malloc*SC*") { // sizespecializedmalloc: these do not go through mallocgc
			return "", nil, &slip{"the program allocates by functions made for each size, which are not counted",
				"build it with GOEXPERIMENT=nosizespecializedmalloc"}
		}
		return begin + countScript(`process.function("runtime.mallocgc")`, "$size"),
			newCounts(n, "allocated", "bytes"), nil
	}
	if o.sample {
		return begin + fmt.Sprintf("probe timer.ms(%d) { printf(\"%%d %%d\\n\", %d, gettimeofday_ns()) }\n",
			tick.Milliseconds(), codeTick), newSamples(n, o.what), nil
	}
	if !o.each {
		since := time.Now()
		s := sumScript(o.what, o.pid != 0, most, since, func(fn string) bool { return has(ctx, opt, fn) })
		return begin + s, newSums(n, o.what, o.pid, since), nil
	}
	var b strings.Builder
	b.WriteString(begin + goroutineScript)
	for _, f := range []string{"exitsyscallNoP", "exitsyscall0"} { // one of them, by the version of Go
		if has(ctx, opt, "runtime."+f) {
			fmt.Fprintf(&b,
				"probe process.function(%q) { printf(\"%%d %%d %%d\\n\", 11, $gp->goid, gettimeofday_ns()) }\n",
				"runtime."+f)
		}
	}
	return b.String(), newGoroutines(n, o.what), nil
}

// has reports whether the program has a function that can be probed.
func has(ctx context.Context, opt gostap.Options, fn string) bool {
	l, _, err := gostap.List(ctx, fmt.Sprintf("process.function(%q)", fn), opt, gostap.ListOptions{})
	return err == nil && len(l) > 0
}

// threadScript tells when a thread leaves a processor, and why, when it is woken, and when it gets one.
const threadScript = `probe kernel.trace("sched_switch") {
  if ($prev->tgid == target())
    printf("%d %d %d %d %s %s %s\n", 3, $prev->pid, $preempt || $prev_state == 0, gettimeofday_ns(), backtrace(), ubacktrace(), execname())
  if ($next->tgid == target())
    printf("%d %d %d\n", 4, $next->pid, gettimeofday_ns())
}
probe kernel.trace("sched_wakeup") { if ($p->tgid == target()) printf("%d %d %d\n", 5, $p->pid, gettimeofday_ns()) }
probe kernel.trace("sched_wakeup_new") { if ($p->tgid == target()) printf("%d %d %d\n", 5, $p->pid, gettimeofday_ns()) }
`

// goroutineScript tells of each change of a goroutine's state. A park may be called off: then execute follows.
const goroutineScript = `global known
probe process.function("runtime.gopark") {
  if (!known[$reason]) { known[$reason] = 1 printf("%d %d %s\n", 7, $reason, @var("runtime.waitReasonStrings")[$reason]) }
  printf("%d %d %d %d %s\n", 6, goid(), $reason, gettimeofday_ns(), ubacktrace())
}
probe process.function("runtime.execute") { printf("%d %d %d %d\n", 8, $gp->goid, gettimeofday_ns(), $gp->startpc) }
probe process.function("runtime.ready") { printf("%d %d %d %d\n", 9, $gp->goid, gettimeofday_ns(), $gp->waitreason) }
probe process.function("runtime.asyncPreempt2"), process.function("runtime.Gosched") {
  printf("%d %d %d %s\n", 10, goid(), gettimeofday_ns(), ubacktrace())
}
probe process.function("runtime.goschedImpl"), process.function("runtime.goyield_m") {
  printf("%d %d %d\n", 11, $gp->goid, gettimeofday_ns())
}
probe process.function("runtime.reentersyscall") { printf("%d %d %d %s\n", 12, goid(), gettimeofday_ns(), ubacktrace()) }
probe process.function("runtime.exitsyscall") { printf("%d %d %d\n", 13, goid(), gettimeofday_ns()) }
probe process.function("runtime.goexit1") { printf("%d %d %d\n", 14, goid(), gettimeofday_ns()) }
` + made

const made = `probe process.function("runtime.newproc1").return {
  printf("%d %d %d %s\n", 15, $return->goid, gettimeofday_ns(), ubacktrace()) }
`
