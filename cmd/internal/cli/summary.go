package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// summaryText is the script of -C: a table of system calls like that of strace -c. WHO says whose calls count; it is
// asked at the return as well, so that nobody else's calls wait for the lock of __c_began.
// Its names begin with __c, so that a script beside it has none of them.
const summaryText = `
global __c_began%, __c_took, __c_failed
probe syscall_any { if (WHO) __c_began[tid()] = gettimeofday_ns() }
probe syscall_any.return {
	if (WHO && tid() in __c_began) {
		__c_took[name] <<< gettimeofday_ns() - __c_began[tid()]
		if (retval < 0 && retval >= -4095) __c_failed[name]++
		delete __c_began[tid()]
	}
}
probe end(1000000000), error(1000000000) {
	foreach (__c in __c_took) {
		__c_all += @sum(__c_took[__c])
		__c_calls += @count(__c_took[__c])
		__c_bad += __c_failed[__c]
	}
	println("% time     seconds  usecs/call     calls    errors syscall")
	println("------ ----------- ----------- --------- --------- ----------------")
	foreach (__c in __c_took @sum-) {
		__c_sum = @sum(__c_took[__c])
		__c_share = __c_all ? __c_sum * 10000 / __c_all : 0
		printf("%3d.%02d %4d.%06d %11d %9d %9s %s\n", __c_share / 100, __c_share % 100, __c_sum / 1000000000,
			__c_sum / 1000 % 1000000, @avg(__c_took[__c]) / 1000, @count(__c_took[__c]),
			__c_failed[__c] ? sprint(__c_failed[__c]) : "", __c)
	}
	println("------ ----------- ----------- --------- --------- ----------------")
	printf("100.00 %4d.%06d %11d %9d %9s total\n", __c_all / 1000000000, __c_all / 1000 % 1000000,
		__c_calls ? __c_all / __c_calls / 1000 : 0, __c_calls, __c_bad ? sprint(__c_bad) : "")
}
`

// summaryOf is the script for the processes that are traced: all, the target, or the target and what comes from it.
func (o *options) summaryOf() gostap.Source {
	who := "1"
	if o.command != "" || o.pid != 0 {
		if who = "pid() == target()"; o.follow {
			who = "target_set_pid(pid())"
		}
	}
	return gostap.Source{Name: "<-C>", Text: strings.ReplaceAll(summaryText, "WHO", who)}
}

// checkSummary looks at -C and -f.
func (o *options) checkSummary() error {
	switch {
	case o.follow && !o.summary:
		return slip.New("-f goes with -C, whose table then counts the processes that the target makes too",
			"in scripts, target_set_pid(pid()) tells whether a process comes from the target")
	case o.follow && o.command == "" && o.pid == 0:
		return slip.New("-f follows the target of -c or -x, and there is none", "without one -C counts all processes")
	case o.summary && (o.emit != "" || o.runtime == "host"):
		return slip.New(fmt.Sprintf("-C counts system calls, which --%s does without",
			map[bool]string{true: "emit", false: "runtime=host"}[o.emit != ""]), "")
	}
	return nil
}

// colours writes stap's -C WHEN as --color=WHEN: it is told from the table's -C by what follows.
func colours(args []string) []string {
	for i := 0; i+1 < len(args); i++ {
		if when := args[i+1]; args[i] == "-C" && (when == "always" || when == "never" || when == "auto") {
			return append(append(slices.Clone(args[:i]), "--color="+when), colours(args[i+2:])...)
		}
		if args[i] == "--" {
			break
		}
	}
	return args
}
