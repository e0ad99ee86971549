package profile

import (
	"context"
	"fmt"
	"strings"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// The codes that statements begin with.
const (
	codeBegin   = iota // pid, time
	codeUser           // thread, its name, process, its name, control group, stack of the program
	codeKernel         // the same, but a stack of the kernel and one of the program
	codeOut            // thread, 1 if it goes on to be runnable, time, process, control group, names, stacks
	codeIn             // thread, time, process, control group
	codeWake           // the same
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
	codeExit           // thread, time, 1 if it was the last one
	codeFirst          // address of a goroutine that was there before, time, what it did until then
	codeSum            // kind, times, nanoseconds, stack
	codeOpen           // kind, number of goroutines, sum of the times when it began, stack
	codeRan            // address of the function, times, nanoseconds
	codeOpenRun        // number of goroutines, sum of the times when it began
	codeTick           // time: goroutines are to be looked at
	codeMissed         // events that had no room
	codeLabels         // number of a set of labels, its text
	codeLabel          // goroutine, time, number of the set of labels that it has from then on
	codeCgroup         // number of a control group, its path
	codeFork           // thread
	codeExec           // process, its new name
)

// begin begins all scripts. before says that the process ran already: then nothing is counted before "from" is set
// (window.go). The process ends when the last of its threads does. A handler that looks at nothing but "from", and
// once, needs no lock.
func begin(before bool) string {
	from := int64(0)
	if before {
		from = endless
	}
	return fmt.Sprintf(`global from = %d
probe begin { printf("%%d %%d %%d\n", %d, target(), ktime_get_ns()) }
probe kernel.trace("sched_process_exit") {
  if (pid() == target()) {
    now = ktime_get_ns()
    if ($p->signal->live->counter == 0) { from = %[4]d printf("%%d %%d %%d %%d\n", %[3]d, tid(), ktime_get_ns(), 1) }
    else if (now >= from) printf("%%d %%d %%d %%d\n", %[3]d, tid(), now, 0)
  }
}
`, from, codeBegin, codeExit, int64(endless))
}

// most is how many goroutines there can be at once.
const most = 1 << 17

// plan gives the script for what is asked, and what makes samples of its events.
func plan(ctx context.Context, o *options, opt gostap.Options, n *namer) (string, collector, error) {
	isGo := has(ctx, opt, "runtime.gopark") && !o.threads
	start := begin(o.pid != 0)
	var l *labelling
	if isGo || o.what == "cpu" {
		var err error
		if l, err = labelled(ctx, opt); err != nil {
			n.notes = append(n.notes, "labels of goroutines are not told: "+err.Error())
		}
	}
	switch o.what {
	case "cpu":
		return start + following + cpuScript(o.hz, l), newCPU(n, o.hz, l != nil && l.running), nil
	case "wall", "off", "lock", "syscall", "lock,syscall", "syscall,lock":
		if !isGo {
			return start + following + threadScript(), newThreads(n, o.what, o.pid), nil
		}
	}
	if !isGo {
		who := "this is no Go program"
		if o.threads {
			who = "--threads asks for threads"
		}
		return "", nil, slip.New("--what "+o.what+" is known of goroutines only, and "+who,
			"--what off tells what threads wait for, --what lock,syscall parts of that")
	}
	switch o.what {
	case "create":
		return start + countScript("1", l, counted{function("newproc1") + ".return", "1", ""}),
			newCounts(n, "created", "count"), nil
	case "alloc":
		c := newCounts(n, "allocated", "bytes")
		if err := c.readTypes(ctx, opt); err != nil {
			return "", nil, err
		}
		return start + countScript("$size", l, allocating(has(ctx, opt, "runtime.mallocgc*SC*"))...), c, nil
	}
	if o.sample {
		return start + fmt.Sprintf(`probe timer.ms(%d) {
  now = ktime_get_ns()
  if (now >= from) printf("%%d %%d\n", %d, now)
}
`, tick.Milliseconds(), codeTick), newSamples(n, o.what), nil
	}
	if !o.each {
		since := clock()
		s := sumScript(o.what, o.pid != 0, most, since, l, func(fn string) bool { return has(ctx, opt, fn) })
		return start + s, newSums(n, o.what, o.pid, since), nil
	}
	return start + goroutineScript(l, func(fn string) bool { return has(ctx, opt, fn) }), newGoroutines(n, o.what), nil
}

// allocating is where memory is allocated. sized: there are functions for each size up to 512 bytes (the experiment
// sizespecializedmalloc of Go 1.26), which the compiler calls by themselves; so does mallocgc for these sizes.
func allocating(sized bool) []counted {
	if !sized {
		return []counted{{function("mallocgc"), "1", allocated}}
	}
	// heapBitsInSpan: up to as many words as a word has bits.
	return []counted{{function("mallocgc*SC*") + ", " + function("mallocgcTinySize*"), "1", allocated},
		{function("mallocgc"), "$size == 0 || $size > 512", allocated}}
}

// allocated sets k to the number of the type that memory is for: how far it is behind the program's first, and 1.
const allocated = `    k = $typ
    if (k) {
      first = @var("runtime.firstmoduledata")->types
      if (k >= first && k < @var("runtime.firstmoduledata")->etypes) k = k - first + 1
      else k = -1
    }
`

// has reports whether the program has a function that can be probed.
func has(ctx context.Context, opt gostap.Options, fn string) bool {
	l, _, err := gostap.List(ctx, fmt.Sprintf("process.function(%q)", fn), opt, gostap.ListOptions{})
	return err == nil && len(l) > 0
}

// cpuScript takes samples of processors.
func cpuScript(hz int, l *labelling) string {
	functions, text, format, last := "", "", "", ""
	if l != nil && l.running {
		functions, text, format, last = l.reads(), l.runningText(), " %s", ", t"
	}
	return fmt.Sprintf(`%sprobe perf.type(1).config(0).hz(%d) {
  if (ours(pid()) && ktime_get_ns() >= from) {
    group = cgroup_id(task_current())
%s    if (user_mode()) printf("%%d %%d %%s %%d %%s %%d %%s%[4]s\n", %[6]d, tid(), execname(), pid(), %[8]s, group,
      ubacktrace()%[5]s)
    else printf("%%d %%d %%s %%d %%s %%d %%s %%s%[4]s\n", %[7]d, tid(), execname(), pid(), %[8]s, group,
      backtrace(), ubacktrace()%[5]s)
  }
}
`, functions, hz, text, format, last, codeUser, codeKernel,
		leader(`@cast(task_current(), "task_struct", "kernel")`))
}

// threadScript tells when a thread leaves a processor, and why, when it is woken, and when it gets one.
func threadScript() string {
	return fmt.Sprintf(`probe kernel.trace("sched_switch") {
  now = ktime_get_ns()
  if (now >= from) {
    if (ours($prev->tgid))
      printf("%%d %%d %%d %%d %%d %%d %%s %%s %%s %%s\n", %d, $prev->pid, $preempt || $prev_state == 0, now, $prev->tgid,
        cgroup_id($prev), execname(), %s, backtrace(), ubacktrace())
    if (ours($next->tgid))
      printf("%%d %%d %%d %%d %%d\n", %d, $next->pid, now, $next->tgid, cgroup_id($next))
  }
}
probe kernel.trace("sched_wakeup"), kernel.trace("sched_wakeup_new") {
  now = ktime_get_ns()
  if (ours($p->tgid) && now >= from) printf("%%d %%d %%d %%d %%d\n", %d, $p->pid, now, $p->tgid, cgroup_id($p))
}
`, codeOut, leader("$prev"), codeIn, codeWake)
}

// goroutineScript tells of each change of a goroutine's state. A park may be called off: then execute follows.
func goroutineScript(l *labelling, has probed) string {
	var b strings.Builder
	b.WriteString("global known\n")
	if l != nil {
		fmt.Fprintf(&b, "%sglobal labelled[%d]\n", l.numbers(), most)
	}
	// change writes a probe that tells of a change: code, goroutine and what more there is, with its format.
	change := func(point string, code int, g, format, more string) {
		goroutine, reason := fmt.Sprintf("@cast(%s, \"runtime.g\")->goid", g), ""
		if l != nil { // the labels of one that is seen for the first time
			reason = fmt.Sprintf("if (!labelled[%[1]s]) { labelled[%[1]s] = 1 "+
				"printf(\"%%d %%d %%d %%d\\n\", %[2]d, %[1]s, now, label_id(%[3]s)) }\n    ", goroutine, codeLabel,
				l.of(g))
		}
		if code == codePark {
			reason += fmt.Sprintf("if (!known[$reason]) { known[$reason] = 1 printf(\"%%d %%d %%s\\n\", %d, $reason, "+
				"@var(\"runtime.waitReasonStrings\")[$reason]) }\n    ", codeReason)
		}
		fmt.Fprintf(&b, `probe %s {
  now = ktime_get_ns()
  if (now >= from) {
    %sprintf("%%d %%d %s\n", %d, %s, %s)
  }
}
`, point, reason, format, code, goroutine, more)
	}
	const given, stack = "$gp", "now, ubacktrace()"
	change(function("gopark"), codePark, self, "%d %d %s", "$reason, "+stack)
	change(function("execute"), codeRun, given, "%d %d", "now, $gp->startpc")
	change(function("ready"), codeReady, given, "%d %d", "now, $gp->waitreason")
	change(function("asyncPreempt2")+", "+function("Gosched"), codeStep, self, "%d %s", stack)
	change(function("goschedImpl")+", "+function("goyield_m"), codeYield, given, "%d", "now")
	change(function("reentersyscall"), codeEnter, self, "%d %s", stack)
	change(function("exitsyscall"), codeLeave, self, "%d", "now")
	for _, f := range []string{"exitsyscallNoP", "exitsyscall0"} { // one of them, by the version of Go
		if has("runtime." + f) {
			change(function(f), codeYield, given, "%d", "now")
		}
	}
	change(function("goexit1"), codeEnd, self, "%d", "now")
	change(function("newproc1")+".return", codeMade, "$return", "%d %s", stack)
	if l != nil {
		change(fmt.Sprintf("process.function(%q)", setsLabels), codeLabel, self, "%d %d", "now, label_id($labels)")
	}
	return b.String()
}

// function is the probe point of one of the runtime's.
func function(name string) string { return fmt.Sprintf("process.function(%q)", "runtime."+name) }
