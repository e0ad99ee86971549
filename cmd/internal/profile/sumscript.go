package profile

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/machine"
)

// What a goroutine does, as the low eight bits of a word of sumScript's; below these stand the runtime's reasons to
// wait. The bits above are when that began, in nanoseconds since the script was made.
const (
	kindRunning  = 250 + iota
	kindStepping // it runs, and is about to let others go first
	kindRunnable
	kindSyscall // in a system call, or in C
	kindIdle    // something that is not asked for
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
	fmt.Fprintf(&b, "global st[%d], stack[%d], sums[32768], open[65536], known[256], missed\n", most, most)
	// lab is the number of a goroutine's set of labels, which is read when it gets them and when it is first seen.
	lab, label := "0", func(g, labels string) string { return "" }
	if l != nil {
		fmt.Fprintf(&b, "%sglobal lab[%d]\n", l.numbers(), most)
		lab, label = "lab[g]", func(g, labels string) string {
			if labels == "" {
				labels = l.of(g)
			}
			return fmt.Sprintf("  id = label_id(%[2]s)\n  if (id) lab[%[1]s] = id\n"+
				"  else if (lab[%[1]s]) delete lab[%[1]s]\n", g, labels)
		}
	}
	// The clock is looked at first: see window.go.
	now := fmt.Sprintf("clock = ktime_get_ns()\n  if (clock < from) next\n  now = clock - %d", since)
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
%s  k = s & 255
  if (!s) { %s%s}
`, point, now, g, reason, label("g", ""), first(did))
		if all {
			fmt.Fprintf(&b, "  else if (k == %d || k == %d)\n    ran[@cast(g, \"runtime.g\")->startpc, %s] <<< "+
				"now - (s >> 8)\n", kindRunning, kindStepping, lab)
		}
		fmt.Fprintf(&b, "  else if (k != %d) sums[k, stack[g], %s] <<< now - (s >> 8)\n%s} catch { missed <<< 1 } }\n",
			kindIdle, lab, body)
	}
	set := func(kind any) string { return fmt.Sprintf("  st[g] = (now << 8) | %v\n", kind) }
	const given, keep = "$gp", "  stack[g] = ustack()\n"
	// idle is what is not asked for; it is not written where it stands already.
	idle := fmt.Sprintf("  if ((st[g] & 255) != %d) st[g] = (now << 8) | %d\n", kindIdle, kindIdle)
	running, runnable := idle, idle
	if all {
		running, runnable = set(kindRunning), set(kindRunnable)
	}

	park := set("$reason") + keep
	if !all {
		park = "  if (known[$reason] == 1) {\n" + park + "  } else\n" + idle
	}
	probe(function("gopark"), self, kindRunning, fmt.Sprintf(`  if (!known[$reason]) {
    why = @var("runtime.waitReasonStrings")[$reason]
    known[$reason] = %s ? 1 : 2
    printf("%%d %%d %%s\n", %d, $reason, why)
  }
`, reasons(list), codeReason), park)
	probe(function("ready"), given, "$gp->waitreason", "", runnable)
	if all || asks("syscall") || asks("gc") { // the others' parks are never called off
		probe(function("execute"), given, kindRunnable, "", running)
	}
	if all || asks("syscall") {
		probe(function("reentersyscall"), self, kindRunning, "", set(kindSyscall)+keep)
		probe(function("exitsyscall"), self, kindSyscall, "", running)
	}
	made := runnable
	if all {
		probe(function("asyncPreempt2")+", "+function("Gosched"), self, kindRunning, "", set(kindStepping)+keep)
		probe(function("goschedImpl")+", "+function("goyield_m"), given, kindRunning, "",
			fmt.Sprintf("  if (k != %d) delete stack[g]\n", kindStepping)+set(kindRunnable))
		for _, f := range []string{"exitsyscallNoP", "exitsyscall0"} { // one of them, by the version of Go
			if has("runtime." + f) {
				probe(function(f), given, kindSyscall, "", set(kindRunnable))
			}
		}
		probe(function("goexit1"), self, kindRunning, "", fmt.Sprintf("  st[g] = (now << 8) | %d\n", kindIdle))
		made += keep
	}
	fmt.Fprintf(&b, "probe %s.return { try {\n  %s\n  g = $return\n%s  if (!st[g]) { %s}\n%s"+
		"} catch { missed <<< 1 } }\n",
		function("newproc1"), now, label("g", ""), first(kindIdle), made)
	if l != nil {
		probe(fmt.Sprintf("process.function(%q)", setsLabels), self, kindRunning, "",
			running+label("g", "$labels"))
	}
	opened, ran := "", ""
	if all {
		b.WriteString("global ran[16384], openrun[4096]\n")
		opened = fmt.Sprintf("if (k == %d || k == %d) openrun[%s] <<< s >> 8\n    else ", kindRunning, kindStepping,
			lab)
		ran = fmt.Sprintf(`  foreach ([f, l] in ran)
    printf("%%d %%d %%d %%d %%d\n", %d, f, @count(ran[f, l]), @sum(ran[f, l]), l)
  foreach (l in openrun) printf("%%d %%d %%d %%d\n", %d, @count(openrun[l]), @sum(openrun[l]), l)
`, codeRan, codeOpenRun)
	}
	fmt.Fprintf(&b, `probe end {
  foreach (g in st) {
    s = st[g]
    k = s & 255
    %sif (k != %d) open[k, stack[g], %s] <<< s >> 8
  }
%s%s%s%s}
`, opened, kindIdle, lab, ran, printed("sums", codeSum), printed("open", codeOpen), missed)
	return b.String()
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
