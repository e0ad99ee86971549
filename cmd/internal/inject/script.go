package inject

import (
	"fmt"
	"strings"
)

// script makes the script. The number of calls is one atomic step, so that the share is exact.
func (r *request) script() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	var who []string
	if r.target {
		who = append(who, "pid() == target()")
	}
	if r.name != "" {
		who = append(who, fmt.Sprintf("execname() == %q", r.name))
	}
	if r.program != "" || len(r.callers) == 0 {
		p("global calls, failed")
	} else {
		p("global calls, failed, inside")
	}
	point := fmt.Sprintf("kernel.function(%q).call", r.function)
	switch {
	case r.program != "" && len(r.callers) > 0:
		point = fmt.Sprintf("process(%q).function(%q).callee(%q)", r.program, r.callers[0], r.function)
	case r.program != "":
		point = fmt.Sprintf("process(%q).function(%q).call", r.program, r.function)
	default:
		// The outermost caller is the last. Each counts where the one around it does.
		for i := len(r.callers) - 1; i >= 0; i-- {
			cond := who
			if i < len(r.callers)-1 {
				cond = []string{fmt.Sprintf("inside[tid(), %d] > 0", i+1)}
			}
			p("probe kernel.function(%q).call { %sinside[tid(), %d]++ }", r.callers[i], iff(cond), i)
			p("probe kernel.function(%q).return { if (inside[tid(), %d] > 1) inside[tid(), %[2]d]--; else delete "+
				"inside[tid(), %[2]d] }", r.callers[i], i)
		}
		if len(r.callers) > 0 {
			who = []string{"inside[tid(), 0] > 0"}
			// A return that was missed ends with its system call at the latest: who makes the next is in no caller.
			var none []string
			for i := range r.callers {
				none = append(none, fmt.Sprintf("delete inside[tid(), %d]", i))
			}
			p("probe kernel.trace(\"raw_syscalls:sys_enter\") { %s }", strings.Join(none, "; "))
		}
	}
	p("probe %s {", point)
	if len(who) > 0 {
		p("  if (!(%s)) next", strings.Join(who, " && "))
	}
	if r.oneIn > 1 {
		p("  if (calls++ %% %d > 0) next", r.oneIn)
	} else {
		p("  calls++")
	}
	if r.times > 0 {
		p("  if (failed >= %d) next", r.times)
		p("  if (++failed == %d) exit()", r.times)
	} else {
		p("  failed++")
	}
	if r.program != "" {
		p("  skip_function(%s)", strings.Join(r.results, ", "))
	} else {
		p("  override_return(%d)", r.value)
	}
	p("}")
	p(`probe end { printf("%%d of %%d calls failed\n", failed, calls) }`)
	return b.String()
}

func iff(cond []string) string {
	if len(cond) == 0 {
		return ""
	}
	return "if (" + strings.Join(cond, " && ") + ") "
}
