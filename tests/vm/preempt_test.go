package vm

// preemptScripts are handlers that processes run while others are in the middle of them on the same CPU: every line has to show one
// number in all its columns, and no hit may be missing.
var preemptScripts = []kernelScript{
	{name: "stacks", script: `probe process("%STACKS").function("work") { if (target_set_pid(pid())) println($a, " ", user_string($text), " ", pid(), " ", $b, " ", user_string($text), " ", tid(), " ", $d) }`,
		run: `RUN -c "STACKS 10" | ` + oneNumber, want: []string{"2400 lines, 0 wrong rc 0"}},
	{name: "stacks_return", script: `probe process("%STACKS").function("work").return { if (target_set_pid(pid())) println(@entry($a), " ", user_string(@entry($text)), " ", pid(), " ", $return / 4, " ", tid()) }`,
		run: `RUN -c "STACKS 10" | ` + oneNumber, want: []string{"2400 lines, 0 wrong rc 0"}},
}

// oneNumber counts lines and those whose columns differ.
const oneNumber = `awk '{ n++; for (i = 2; i <= NF; i++) if ($i != $1) { wrong++; break } } END { print n + 0 " lines, " wrong + 0 " wrong" }'`
