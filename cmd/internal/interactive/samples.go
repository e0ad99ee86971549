package interactive

import (
	"fmt"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// samples are scripts to begin with.
var samples = []struct{ name, about, text string }{
	{"hello", "print a line and end", `probe begin {
  println("hello")
  exit()
}
`},
	{"opens", "files that programs open", `probe syscall.openat {
  printf("%-16s %6d %s\n", execname(), pid(), argstr)
}
`},
	{"calls", "system calls by program, the ten busiest every 5 seconds", `global calls
probe syscall.* { calls[execname()]++ }
probe timer.s(5) {
  foreach (name in calls- limit 10)
    printf("%-16s %8d\n", name, calls[name])
  delete calls
}
`},
	{"reads", "how long reads take, as a histogram", `global took
probe syscall.read.return { took <<< gettimeofday_us() - @entry(gettimeofday_us()) }
probe end {
  if (@count(took)) print(@hist_log(took))
}
`},
	{"programs", "programs that begin", `probe process.begin {
  printf("%s %d: %s\n", ctime(gettimeofday_s()), pid(), cmdline_str())
}
`},
	{"switches", "which programs get a processor", `global n
probe kernel.trace("sched:sched_switch") { n[execname()]++ }
probe end {
  foreach (name in n- limit 20)
    printf("%-16s %8d\n", name, n[name])
}
`},
}

func (s *session) sample(arg string) error {
	for _, e := range samples {
		switch arg {
		case "":
			fmt.Fprintf(s.Out, "  %-10s %s\n", e.name, e.about)
		case e.name:
			return s.replace(e.text)
		}
	}
	if arg != "" {
		return slip.New(fmt.Sprintf("there is no sample %s", arg), "sample lists them")
	}
	return nil
}
