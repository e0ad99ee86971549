package vm

// preemptScripts are handlers that processes run while others are in the middle of them on the same CPU: every line has
// to show one number in all its columns, and no hit may be missing.
var preemptScripts = []kernelScript{
	{name: "stacks", script: `probe process("%STACKS").function("work") { if (target_set_pid(pid())) println($a, " ", user_string($text), " ", pid(), " ", $b, " ", user_string($text), " ", tid(), " ", $d) }`,
		run: `RUN -c "STACKS 10" | ` + oneNumber, want: []string{"2400 lines, 0 wrong rc 0"}},
	{name: "stacks_return", script: `probe process("%STACKS").function("work").return { if (target_set_pid(pid())) println(@entry($a), " ", user_string(@entry($text)), " ", pid(), " ", $return / 4, " ", tid()) }`,
		run: `RUN -c "STACKS 10" | ` + oneNumber, want: []string{"2400 lines, 0 wrong rc 0"}},
	// Processes that make system calls, and many that begin and end, on two CPUs: since Linux 7.0 programs at raw
	// tracepoints miss some.
	{name: "crowd_calls", script: `global n, m, sum probe syscall.setpgid { n++; sum += pgid } probe syscall.setpgid.return { m++ } probe end { println(n, " ", m, " ", sum) }`,
		run: `RUN -c "CROWD 12 1500"`, want: []string{"18000 18000 13491000 rc 0"}},
	{name: "crowd_numbers", script: `global n, m probe process.syscall { if ($syscall == 109) n++ } probe process.syscall.return { if ($syscall == 109 && $return < 0) m++ } probe end { println(n, " ", m) }`,
		run: `RUN -c "CROWD 12 1500"`, want: []string{"18000 18000 rc 0"}},
	{name: "crowd_forks", script: `global n, ends, calls probe process.function("work") { n++ } probe process.end { ends++ } probe process.syscall { if ($syscall == 109) calls++ } probe end { println(n, " ", ends, " ", calls) }`,
		run: `RUN -c "CROWD 500 2 20"`, want: []string{"500 501 1000 rc 0"}},
	// A signal raised where the kernel holds the lock of the thread's signals comes when that is free; the second
	// one is the raised one.
	{name: "siglock", script: `global n probe kernel.function("send_signal_locked") { if (pid() == target() && !n++) raise(23) } probe end { println(n > 1 ? "raised" : "lost") }`,
		run: `RUN -c 'sh -c "kill -URG \$\$; usleep 1000; :"'`, want: []string{"raised rc 0"}},
}

// oneNumber counts lines and those whose columns differ.
const oneNumber = `awk '{ n++; for (i = 2; i <= NF; i++) if ($i != $1) { wrong++; break } } END { print n + 0 " lines, " wrong + 0 " wrong" }'`
