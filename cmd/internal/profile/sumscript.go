package profile

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/machine"
)

// A word of sumScript's is all that is known of a goroutine, in one number, so that handlers find and change it in one
// place and by one access: no other event of a goroutine comes in between, so no lock is needed. Its lowest kindBits
// say what the goroutine does, the stackBits above by the number of its stack where it began that, and the others
// when, in units of 2^tickShift ns since the script was made. They last for mostTime.
const (
	kindBits  = 7
	stackBits = 15
	timeShift = kindBits + stackBits
	tickShift = 6 // 64 ns
)

// mostTime is how long the times of words last, and a profile by sums.
const mostTime = 1<<(64-timeShift+tickShift) - 1<<40 // ns

// What a goroutine does; below these stand the runtime's reasons to wait.
const (
	kindRunning  = 120 + iota
	kindStepping // it runs, and is about to let others go first
	kindRunnable
	kindSyscall // in a system call, or in C
	kindIdle    // something that is not asked for

	mostReasons = 64 // those have a bit each in a number of the script
	kindMask    = 1<<kindBits - 1
	stackMask   = 1<<stackBits - 1
	doingMask   = 1<<timeShift - 1
)

// probed is what a program has of what the script may probe, which depends on the version of Go.
type probed func(fn string) bool

// sumScript adds up in the kernel what goroutines do, by state and stack, so that no hit is sent. A goroutine is known
// by the address of its g; of one that was there before, the first event is sent. At the end it prints the sums, and of
// what has not ended the number and the sum of the beginnings, so that the host can count it up to any moment.
//
// before: the program ran already. all: every state is wanted, else those that the list in what names, and what is not
// needed for these is not probed. most is how many goroutines there can be.
func sumScript(what string, before bool, most int, since int64, l *labelling, has probed) string {
	var b strings.Builder
	all := what == "wall" || what == "off"
	list := strings.Split(what, ",")
	asks := func(what string) bool {
		for _, w := range list {
			if w == what {
				return true
			}
		}
		return all
	}
	fmt.Fprintf(&b, "global st[%d], sums[32768], open[65536], missed\n", most)
	// lab is the number of a goroutine's set of labels, which is read when it gets them and when it is first seen. In
	// keys it stands above what the goroutine does.
	lab, labelled, label := "0", "", func(g, labels string) string { return "" }
	if l != nil {
		fmt.Fprintf(&b, "%sglobal lab[%d]\n", l.numbers(), most)
		lab, labelled, label = "lab[g]", fmt.Sprintf(" | lab[g] << %d", timeShift), func(g, labels string) string {
			if labels == "" {
				labels = l.of(g)
			}
			return fmt.Sprintf("  id = label_id(%[2]s)\n  if (id) lab[%[1]s] = id\n"+
				"  else if (lab[%[1]s]) delete lab[%[1]s]\n", g, labels)
		}
	}
	doing := fmt.Sprintf("s & %d%s", doingMask, labelled)
	took := fmt.Sprintf("now - (s >>> %d)", timeShift)
	// The clock is looked at first: see window.go.
	now := fmt.Sprintf("clock = ktime_get_ns()\n  if (clock < from) next\n  now = (clock - %d) >> %d", since, tickShift)
	// first sends that g is seen for the first time, and what it did before.
	first := func(did any) string {
		if !before {
			return "\n"
		}
		return fmt.Sprintf("printf(\"%%d %%d %%d %%d %%d\\n\", %d, g, now, %v, %s)\n", codeFirst, did, lab)
	}
	// probe writes a probe; g is the goroutine, which did something before if it is seen for the first time; body
	// follows when its last state has been added up.
	probe := func(point, g string, did any, reason, body string) {
		fmt.Fprintf(&b, `probe %s { try {
  %s
  g = %s
  s = st[g]
%s  k = s & %d
  if (!s) { %s%s}
`, point, now, g, reason, kindMask, label("g", ""), first(did))
		if all {
			fmt.Fprintf(&b, "  else if (k == %d || k == %d)\n    ran[@cast(g, \"runtime.g\")->startpc, %s] <<< %s\n",
				kindRunning, kindStepping, lab, took)
		}
		fmt.Fprintf(&b, "  else if (k != %d) sums[%s] <<< %s\n%s} catch { missed <<< 1 } }\n", kindIdle, doing, took,
			body)
	}
	// set notes what the goroutine does from now on, with the stack that is known, with that of here, or without one.
	set := func(kind any) string {
		return fmt.Sprintf("  st[g] = now << %d | s & %d | %v\n", timeShift, stackMask<<kindBits, kind)
	}
	const given = "$gp"
	setHere := func(kind any) string {
		return fmt.Sprintf("  st[g] = now << %d | stack_number(ustack()) << %d | %v\n", timeShift, kindBits, kind)
	}
	setOnly := func(kind any) string { return fmt.Sprintf("  st[g] = now << %d | %v\n", timeShift, kind) }
	// idle is what is not asked for; it is not written where it stands already.
	idle := fmt.Sprintf("  if (k != %d)%s", kindIdle, setOnly(kindIdle))
	running, runnable := idle, idle
	if all {
		running, runnable = set(kindRunning), set(kindRunnable)
	}

	// Reasons are told when they are seen first. Where all are wanted a bit for each says that it was: if another
	// handler changes that number meanwhile it is told twice.
	park, isKnown, told := setHere("$reason"), "known >> $reason & 1", "known = known | 1 << $reason"
	if all {
		b.WriteString("global known\n")
	} else {
		b.WriteString("global known[256]\n")
		isKnown, told = "known[$reason]", "known[$reason] = "+reasons(list)+" ? 1 : 2"
		park = "  if (known[$reason] == 1)\n" + park + "  else\n" + idle
	}
	probe(function("gopark"), self, kindRunning, fmt.Sprintf(`  if (!(%s)) {
    if ($reason >= %d) error("a reason to wait that is not known")
    why = @var("runtime.waitReasonStrings")[$reason]
    %s
    printf("%%d %%d %%s\n", %d, $reason, why)
  }
`, isKnown, mostReasons, told, codeReason), park)
	probe(function("ready"), given, "$gp->waitreason", "", runnable)
	if all || asks("syscall") || asks("gc") { // the others' parks are never called off
		probe(function("execute"), given, kindRunnable, "", running)
	}
	if all || asks("syscall") {
		probe(function("reentersyscall"), self, kindRunning, "", setHere(kindSyscall))
		probe(function("exitsyscall"), self, kindSyscall, "", running)
	}
	made := fmt.Sprintf("  k = s & %d\n%s", kindMask, runnable)
	if all {
		probe(function("asyncPreempt2")+", "+function("Gosched"), self, kindRunning, "", setHere(kindStepping))
		probe(function("goschedImpl")+", "+function("goyield_m"), given, kindRunning, "",
			fmt.Sprintf("  if (k != %d) s = 0\n", kindStepping)+set(kindRunnable))
		for _, f := range []string{"exitsyscallNoP", "exitsyscall0"} { // one of them, by the version of Go
			if has("runtime." + f) {
				probe(function(f), given, kindSyscall, "", set(kindRunnable))
			}
		}
		probe(function("goexit1"), self, kindRunning, "", setOnly(kindIdle))
		made = setHere(kindRunnable)
	}
	fmt.Fprintf(&b, "probe %s.return { try {\n  %s\n  g = $return\n  s = st[g]\n%s  if (!s) { %s}\n%s"+
		"} catch { missed <<< 1 } }\n",
		function("newproc1"), now, label("g", ""), first(kindIdle), made)
	if l != nil {
		probe(fmt.Sprintf("process.function(%q)", setsLabels), self, kindRunning, "",
			running+label("g", "$labels"))
	}
	opened, ran := "", ""
	if all {
		b.WriteString("global ran[16384], openrun[4096]\n")
		opened = fmt.Sprintf("if (k == %d || k == %d) openrun[%s] <<< s >>> %d\n    else ", kindRunning, kindStepping,
			lab, timeShift)
		ran = fmt.Sprintf(`  foreach ([f, l] in ran)
    printf("%%d %%d %%d %%d %%d\n", %d, f, @count(ran[f, l]), @sum(ran[f, l]), l)
  foreach (l in openrun) printf("%%d %%d %%d %%d\n", %d, @count(openrun[l]), @sum(openrun[l]), l)
`, codeRan, codeOpenRun)
	}
	fmt.Fprintf(&b, `probe end {
  foreach (g in st) {
    s = st[g]
    k = s & %d
    %sif (k != %d) open[%s] <<< s >>> %d
  }
%s%s%s%s}
`, kindMask, opened, kindIdle, doing, timeShift, ran, words("sums", codeSum), words("open", codeOpen), missed)
	return b.String()
}

// words prints a table of statistics by what a goroutine does and its labels.
func words(table string, code int) string {
	return fmt.Sprintf("  foreach (d in %[1]s)\n    printf(\"%%d %%d %%d %%d %%d %%s\\n\", %[2]d, d & %[3]d, "+
		"@count(%[1]s[d]), @sum(%[1]s[d]), d >> %[4]d, stack_numbered(d >> %[5]d & %[6]d))\n", table, code, kindMask,
		timeShift, kindBits, stackMask)
}

// self is the running goroutine, in code of Go.
var self = fmt.Sprintf("u_register(%q)", machine.Host.Registers[machine.Host.Goroutine].Name)

// missed prints how many events had no room.
var missed = fmt.Sprintf("  if (@count(missed)) printf(\"%%d %%d\\n\", %d, @count(missed))\n", codeMissed)

// printed prints a table of statistics by kind and stack.
func printed(table string, code int) string {
	return fmt.Sprintf("  foreach ([k, w, l] in %[1]s)\n    printf(\"%%d %%d %%d %%d %%d %%s\\n\", %[2]d, k, "+
		"@count(%[1]s[k, w, l]), @sum(%[1]s[k, w, l]), l, w)\n", table, code)
}

// counted is a place where something is counted, when, and what sets k, the kind of codeSum.
type counted struct{ point, condition, kind string }

// countScript adds up a number by kind, stack and labels.
func countScript(number string, l *labelling, at ...counted) string {
	var b strings.Builder
	label := "0"
	if l != nil {
		label = "label_id(" + l.of(self) + ")"
		b.WriteString(l.numbers())
	}
	b.WriteString("global sums[32768], missed\n")
	for _, c := range at {
		fmt.Fprintf(&b, `probe %s { try {
  if (ktime_get_ns() >= from && (%s)) {
    k = 0
%s    sums[k, ustack(), %s] <<< %s
  }
} catch { missed <<< 1 } }
`, c.point, c.condition, c.kind, label, number)
	}
	fmt.Fprintf(&b, "probe end {\n%s%s}\n", printed("sums", codeSum), missed)
	return b.String()
}

// reasons is the condition that the text "why" is a reason to wait that is asked for; wanted says the same.
func reasons(list []string) string {
	var or []string
	for _, w := range list {
		switch w {
		case "wall", "off":
			return "1"
		case "syscall":
			or = append(or, `why == "IO wait"`)
		case "chan":
			or = append(or, `substr(why, 0, 5) == "chan "`, `substr(why, 0, 6) == "select"`)
		case "lock":
			or = append(or, `substr(why, 0, 5) == "sync."`, `substr(why, 0, 10) == "semacquire"`)
		case "gc":
			or = append(or, `substr(why, 0, 3) == "GC "`, `substr(why, 0, 18) == "garbage collection"`)
		}
	}
	return "(" + strings.Join(or, " || ") + ")"
}
