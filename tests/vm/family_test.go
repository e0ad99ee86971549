package vm

// Parts of the scripts' shell commands. A process waits at its gate until it reads a byte.
const (
	waiting = `rm -f /tmp/gate /tmp/said; : >/tmp/said; mkfifo /tmp/gate; `
	letGo   = ` 2>/tmp/said & r=$!; for i in $(seq 300); do grep -q "attached in" /tmp/said && break; sleep 0.3; done
		FORKS; echo -n 1234 >&9; wait $r; s=$?; exec 9>&-; grep -i -e warn -e error /tmp/said; (exit $s)`
)

// familyScripts are about the target and what it forks, and about pid namespaces.
var familyScripts = []kernelScript{
	{name: "function", script: `probe process.function("work") { println($n) }`, run: `RUN -c FORKS`,
		want: []string{"0 1 2 3 rc 0"}},
	{name: "return", script: `probe process.function("work").return { println($return) }`, run: `RUN -c FORKS`,
		want: []string{"1 2 3 4 rc 0"}},
	{name: "shell", script: `probe process.function("work") { println($n) }`, run: `RUN -c "FORKS >/dev/null; FORKS"`,
		want: []string{"0 0 1 1 2 2 3 3 rc 0"}},
	{name: "shells", script: `probe process("%FORKS").function("work") { if (target_set_pid(pid())) println($n) }`,
		run: `RUN -c "/bin/sh -c 'FORKS; FORKS'"`, want: []string{"0 0 1 1 2 2 3 3 rc 0"}},
	{name: "ends", script: `probe process.end { println(execname(), pid() == target()) }`, run: `RUN -c FORKS`,
		want: []string{"forks0 forks0 forks0 forks1 rc 0"}},
	{name: "begins", script: `global n probe process.begin { println(execname(), n++, pid() == target()) }`,
		run: `RUN -c "/bin/sh -c 'FORKS; true'"`, want: []string{"forks20 forks30 forks40 forks50 rc 0 sh01 sh10"}},
	{name: "calls", script: `probe process.syscall { if ($syscall == 231) println(execname()) }`, run: `RUN -c FORKS`,
		want: []string{"forks forks forks forks rc 0"}},
	{name: "running", script: `probe process.function("work") { println($n) }`,
		run:  waiting + `FORKS wait </tmp/gate & p=$!; exec 9>/tmp/gate; until pidof forks ends >/dev/null; do sleep 0.1; done; RUN -v -x $p` + letGo,
		want: []string{"0 1 2 3 rc 0"}},
	{name: "below", script: `probe process.function("work") { println($n, " ", ns_pid(), ns_tid(), " ", pid() != ns_pid(), tid() == pid(), target() == pid()) }`,
		run:  waiting + `unshare -p -f FORKS wait </tmp/gate & exec 9>/tmp/gate; until pidof forks ends >/dev/null; do sleep 0.1; done; RUN -v -x $(pidof forks | tr " " "\n" | sort -n | head -n 1)` + letGo,
		want: []string{"0 11 111 1 22 110 2 33 110 3 44 110 rc 0"}},
	{name: "inside", script: `probe process.function("work") { println($n, pid() == ns_pid(), tid() == ns_tid(), pid() == target(), ppid() == stp_pid(), " ", pgrp(), sid()) }`,
		run: `unshare -p -f --mount-proc RUN -c FORKS`, want: []string{"01111 00 11100 00 21100 00 31100 00 rc 0"}},
	{name: "levels", script: `probe process.function("work") { println($n, pid() != ns_pid(), tid() == pid(), pid() == target(), pid() > 1, ppid() > 0, " ", ns_pid()) }`,
		run:  `echo ': >/tmp/said; mkfifo /tmp/gate; unshare -p -f FORKS wait </tmp/gate & exec 9>/tmp/gate; until pidof forks ends >/dev/null; do sleep 0.1; done; RUN -v -x $(pidof forks | tr " " "\n" | sort -n | head -n 1)` + letGo + `' >/tmp/inner; rm -f /tmp/gate /tmp/said; unshare -p -f --mount-proc sh /tmp/inner`,
		want: []string{"011111 1 "}},
	// two is the first child of a namespace's shell
	{name: "alone", script: `probe process(2).function("work") { println($n, pid() == 2) exit() }`,
		run:  `rm -f /tmp/gate /tmp/said; : >/tmp/said; mkfifo /tmp/gate; echo 'FORKS wait </tmp/gate & exec 9>/tmp/gate; (until grep -q "attached in" /tmp/said; do sleep 0.3; done; FORKS; echo -n 1234 >&9) & RUN -v 2>/tmp/said' >/tmp/inner; unshare -p -f --mount-proc sh /tmp/inner`,
		want: []string{"01 rc 0"}},
	{name: "lives", script: `probe process.begin { printf("begin %d\n", pid() == target()) } probe process.end { printf("end %d %d\n", pid() == target(), pid() > 0) }`,
		run:  `unshare -p -f --mount-proc RUN -c FORKS`,
		want: []string{"begin 0 begin 0 begin 0 begin 1 end 0 1 end 0 1 end 0 1 end 1 1 rc 0"}},
	{name: "ran", script: `global n, t probe process("%FORKS").end { n++ t += pid() == target() } probe end { println(n, " ", t) }`,
		run: waiting + `FORKS wait </tmp/gate & p=$!; exec 9>/tmp/gate; until pidof forks ends >/dev/null; do sleep 0.1; done; RUN -v -x $p` + letGo, want: []string{"8 1 rc 0"}},
	{name: "ran_inside", script: `global n, t probe process("%FORKS").end { n++ t += pid() == target() } probe end { println(n, " ", t) }`,
		run:  `echo '` + waiting + `FORKS wait </tmp/gate & p=$!; exec 9>/tmp/gate; until pidof forks ends >/dev/null; do sleep 0.1; done; RUN -v -x $p` + letGo + `' >/tmp/inner; unshare -p -f --mount-proc sh /tmp/inner`,
		want: []string{"8 1 rc 0"}},
	// its first thread has ended before
	{name: "headless", script: `probe process("%ENDS").end { println(execname(), pid() != tid()) exit() }`,
		run: waiting + `ENDS wait </tmp/gate & exec 9>/tmp/gate; until pidof forks ends >/dev/null; do sleep 0.1; done; RUN -v` + letGo, want: []string{"ends1 rc 0"}},
	{name: "born", script: `global made, ended, all, born, gone
		probe process("%ENDS").begin { made[pid()]++ } probe process("%ENDS").end { ended[pid()]++ } probe process.end { if (execname() == "ends") all[pid()]++ }
		probe process("%ENDS").thread.begin { if (tid() != pid()) born[tid()]++ } probe process("%ENDS").thread.end { if (tid() != pid()) gone[tid()]++ }
		probe end { foreach (p in made) { m++ o += made[p] == 1 } foreach (p in ended) { e++ o += ended[p] == 1 } foreach (p in all) { a++ o += all[p] == 1 }
			foreach (t in born) { b++ o += born[t] == 1 } foreach (t in gone) { g++ o += gone[t] == 1 } println(m, " ", e, " ", a, " ", b, " ", g, " ", o) }`,
		run: `RUN -c "/bin/sh -c 'ENDS 40 >/dev/null'"`, want: []string{"41 41 41 120 120 363 rc 0"}},
}
