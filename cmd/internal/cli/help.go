package cli

import (
	"strings"

	"github.com/gostap/gostap/cmd/internal/completion"
	"github.com/gostap/gostap/cmd/internal/interactive"
	"github.com/gostap/gostap/cmd/internal/manual"
	"github.com/gostap/gostap/compiler/layout"
)

// ownCommands are the words that the command takes for itself, and that have a --help.
var ownCommands = []string{"agent", "completion", "dtrace", "fleet", "help", "info", "inject", "kube", "patch",
	"profile", "tools", "tplist", "types"}

// manualConfig is what "gostap help" has beside the documents.
func manualConfig(s Streams, env []string) manual.Config {
	return manual.Config{Usage: usage, Commands: ownCommands, Out: s.Out, Err: s.Err, Env: env,
		Help: func(command string) string {
			var out strings.Builder
			Run([]string{command, "--help"}, Streams{In: strings.NewReader(""), Out: &out, Err: &out}, env)
			return out.String()
		}}
}

// completionConfig is what a command line is completed from.
func completionConfig(s Streams, env []string) completion.Config {
	b := &bench{&command{options: &options{limits: layout.Default(), pass: 5}, Streams: s, env: env}}
	m := manualConfig(s, env)
	return completion.Config{Usage: usage, Commands: ownCommands, Help: m.Help, Env: env,
		Script: func(text string) (string, []string) { return interactive.Complete(b, text, false) },
		Point:  func(text string) (string, []string) { return interactive.Complete(b, text, true) }}
}

const usage = `gostap - trace Go, C, C++ and Rust programs and the kernel with stap scripts

usage: gostap [options] FILE [ARGS]          run a script
       gostap [options] -e 'SCRIPT' [ARGS]   run a one-liner
       gostap [options] -i [FILE [ARGS]]     build a script line by line, and run it (docs/interactive.md)
       gostap [options] -l|-L 'POINT'        list probe points
       gostap [options] run FILE.plan        run what -p4 -o FILE.plan made, here or elsewhere (docs/plan.md)
       gostap [options] run NAME.ko          run a module that -p4 -m NAME left
       gostap TOOL [options]                 a tool: execsnoop, biolatency ... (gostap tools lists them,
                                             gostap TOOL --help tells what it does; docs/tools.md)
       gostap help [NAME | -k WORD]          the documents: of a function, probe point, tool, message (gostap help)
       gostap profile -c CMD|-x PID          where the time goes (gostap profile --help)
       gostap inject WHAT [CALLERS]          calls fail meanwhile (gostap inject --help)
       gostap patch FILE                     functions do something else meanwhile (gostap patch --help)
       gostap types [NAME]                   how structures lie in memory (gostap types --help)
       gostap kube -l app=NAME ...           pods of Kubernetes, on all their nodes (gostap kube --help)
       gostap fleet install ...              Traces as a resource of Kubernetes (gostap fleet --help)
       gostap fleet run --hosts FILE ...     the hosts in FILE, in one answer (docs/remote.md)
       gostap agent [--listen [HOST]:PORT]   waits there for sessions by --remote tls:// (gostap agent --help)
       gostap dtrace -h|-G|-T -s FILE.d      static marks for C and C++ (gostap dtrace --help)
       gostap tplist -l FILE, info probes FILE   static marks of a program (gostap tplist --help)
       gostap completion bash|fish|zsh       what makes the shell complete such lines (gostap completion --help)
       gostap --info                         what this kernel allows
       gostap --cleanup                      remove what killed sessions have left

examples:
  gostap -L 'process("./app").function("main.*")'
      functions with file:line, arguments and results
  gostap -e 'probe process("./app").function("main.work") { println($n) }' -c ./app
      an argument of every call while ./app runs
  gostap -e 'probe process("./app").function("main.work").return { println($return) }' -x 4711
      results in a running process
  gostap -e 'global t, s
      probe process("./app").function("main.work") { t[goid()] = gettimeofday_ns() }
      probe process("./app").function("main.work").return { s <<< gettimeofday_ns() - t[goid()] }
      probe end { print(@hist_log(s)) }' -c ./app
      a latency histogram, right for goroutines that change threads

what to run:
  FILE, -                 script file, or - for standard input
  -e, --execute TEXT      script text
  -E, --add TEXT          further script text, any number of times
  -I, --include DIR       also look for library functions and aliases in DIR
                          (the index of big ones is kept in ~/.cache/gostap; --clean-cache, --disable-cache)
  -G, --global NAME=VAL   first value of a global
  -D, --define NAME=VAL   a limit: MAXACTION MAXSTRINGLEN MAXMAPENTRIES MAXERRORS ...
  -g, --guru              guru mode: allow changing the traced program

on what:
  -c, --command CMD       start CMD, trace it, stop when it ends; target() is its pid
  -x, --pid PID           target() is PID; stop when it ends
      --exe FILE          the program that process without a path means, in a script or a tool, whoever runs it
      --cgroup DIR        only threads in this control group, or below it: a folder of /sys/fs/cgroup; any number
                          of times
      --pod UID           only threads of this pod of Kubernetes; one that is not here has no hits; any number of times
  -T, --timeout SECS      stop after so many seconds
      --remote HOST       run there: ssh://[USER@]HOST[:PORT], [USER@]HOST, tls://HOST[:PORT] or unix:PATH; any
                          number of times, lines have the host's name then (--remote-prefix: also with one host)
      --tls DIR           the certificates for tls://, ~/.config/gostap/tls if not said (docs/remote.md)
      --merge             what the hosts of --remote count is added up, and begin, end and timer probes run once, here
      --elements N        of arrays of numbers hosts tell the N greatest elements, and how much may be missing
      --in-order[=TIME]   their lines in the order of time, each held back so long, 1s if not said
      --remote-plan       translate here, with the debug information of this machine, and run the plan there

listing:
  -l, --list POINT        probe points that match
  -L, --list-vars POINT   with arguments, locals and their types; more with -v

      --dump-functions, --dump-probe-types, --dump-probe-aliases
                          what the library and this version have

files of the script (probe procfs, prometheus, json_data) without a module:
      --serve ADDR        serve them at ADDR too: PORT of the loopback address, HOST:PORT, or /PATH of a Unix socket
                          (curl --unix-socket /run/gostap/NAME/http http://gostap/FILE reads one; docs/served.md)

output:
  -o, --output FILE       print to FILE; %Y, %H ... in it are the time, as in strftime(3)
      --format=json       an object a line: prints with their values by name, losses, errors, globals; the target's
                          own output goes to standard error then, unless -o is there (docs/json.md;
                          --format=json-schema prints the schema); --format=csv: prints as a table;
                          =perfetto, =ctf: time lines for ui.perfetto.dev and babeltrace2 (docs/export.md)
      --export DEST       deliver it: otlp://HOST:4317, otlp+http://HOST:4318, prometheus://HOST:PORT (scraped there),
                          remote-write+http://HOST/PATH; any number of times (docs/export.md)
      --every SECS        how often globals that are metrics are written to --format=json and --export, 10 if not said
  -S SIZE[,COUNT]         with -o: go on in FILE.1, FILE.2 ... after SIZE megabytes each, and keep the last COUNT
  -F                      with -o: trace in the background; a signal INT or TERM ends it
      --monitor[=SECS]    a window with probes, their hits and times, globals and output, drawn every second;
                          keys pause and switch probes (docs/monitor.md)
      --http [HOST:]PORT  the session in a browser: probes, globals, histograms, heat maps, flame graphs, output; its
                          address, with the token that it takes, is printed (docs/page.md)
      --max-cpu PERCENT   end the session, with an error, where hits take more of a CPU, with the way to handlers
      --max-hits N        end the session, with an error, where its probes are hit more than N times a second
  -t, --timing            report how often each probe ran and how long it took
  -C, --summary           at the end, a table of the system calls of the target (of all processes without one) like
                          that of strace -c, by the time that they took; -f: with those of its children
  -s, --buffer MB         megabytes of output buffer
  -v, --verbose           a line and a time per pass, sites and their cost, the codes of messages
                          (docs/errors.md); more with -vv
  -w, --no-warnings       no warnings        -W, --warnings-are-errors
      --color=WHEN        auto, always, never
      --no-global-var-display   do not print unread globals at the end
      --folded            print unread globals with stacks as keys for flamegraph.pl;
                          gostap profile FILE.folded -o FILE.svg draws them

      --vp ABCDE          verbosity of each of the passes 1 to 5

language:
      --compatible VER    answer systemtap_v with an older version
      --skip-badvars      variables that are not there read as 0
      --privilege LEVEL       refuse what a user of the group stapusr or stapsys may not do;
                              --unprivileged is --privilege=stapusr

limits:
      --suppress-handler-errors   errors of handlers are counted, not told, and stop nothing
      --suppress-time-limits      any number of statements in a handler (with -g)
      --rlimit-as=N, --rlimit-cpu=N, --rlimit-nproc=N, --rlimit-stack=N, --rlimit-fsize=N
                              what gostap itself may use, in bytes, seconds and processes

stages:
  -q, --coverage          say on standard error what a script uses of the library: place, declaration, how often
  -p N                    stop after: 1 parse, 2 elaborate, 3 translate, 4 compile, 5 run
      -p4 -o FILE.plan    leave a plan: "gostap run FILE.plan" needs neither script nor debug information
      --file PATH         with "run FILE.plan": a traced program or library that lies elsewhere here
      --digest SHA256     with "run FILE.plan": run no other than the plan with this digest
  -m, --module NAME       name of the session and of what it leaves behind here, as stap does, with -p4 and without:
                          NAME.bpf.o, or with --runtime=kernel NAME.ko, which "gostap run NAME.ko" runs
  -B NAME=VALUE           an argument for the make that builds modules; --modinfo NAME=VALUE: an entry for modinfo
  -k, --keep              keep the translation in a directory (--tmpdir NAME: in that one)
  -u, --unoptimized       do not optimise
      --emit=ftrace|perf  write the script as a shell script for the kernel's own tracer, or for perf
                          (docs/ftrace.md)
      --dump PASS         print what a pass made, and without -p no more; --dump=help lists the passes
      --runtime NAME      bpf (programs in the kernel), kernel (a module built with the
                          kernel's headers) or host (no kernel, no root)
  -r, --release REL       for another kernel (with -p4 or -l, or as a module): its release or build directory
      --kernel-btf FILE, --kernel-map FILE
                          another kernel's types (raw BTF, a vmlinux with it, or a copy of
                          /sys/kernel/btf) and symbols
                          (its /proc/kallsyms or System.map), for -p2 to -p4, -l and -L

Options in ~/.systemtap/rc, or $SYSTEMTAP_DIR/rc, come before those of the command line. Tapsets of
other packages are found in /usr/share/systemtap/tapset, or in $SYSTEMTAP_TAPSET. Options
of stap without effect here are accepted and ignored; unsupported ones are rejected with a reason.

exit status: 0 if all went well, 1 otherwise.
`
