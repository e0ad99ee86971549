package tests

// Parts of loads.
const (
	// wire is a pair of devices that nobody else has, in a network of its own; the other end answers nothing.
	wire = "ip link add gsv0 type veth peer name gsv1; ip addr add 10.9.8.1/24 dev gsv0; ip link set gsv0 up; " +
		"ip link set gsv1 up; ip neigh add 10.9.8.2 lladdr 02:00:00:00:00:01 dev gsv0; "
	// file is one on a disk, of 50 blocks of 64 KB.
	file     = "f=$(mktemp -p /var/tmp); dd if=/dev/urandom of=$f bs=64k count=50 conv=fsync; "
	readFile = "for i in 1 2 3 4; do dd if=$f of=/dev/null iflag=direct bs=4k; done; "
	// loop is a disk of 200 blocks of 4 KB in that file.
	loop = "f=$(mktemp -p /var/tmp); dd if=/dev/zero of=$f bs=4k count=200; l=$(losetup --find --show $f); "
)

// perfCount is a command of which perf stat counts events, separated by commas: a number for each. Where nobody has
// mounted a tracefs perf does, and leaves it; so it has mounts of its own.
func perfCount(events, command string) string {
	return "unshare -m perf stat -x, -e " + events + " -o $OWN.p " + command +
		"; sed -n 's/^\\([0-9]\\+\\),.*/\\1/p' $OWN.p >$OWN; rm $OWN.p"
}

// kernelProofs are those of what the kernel does by itself or for many: memory, interrupts, queues, packets.
var kernelProofs = []proof{
	{tool: "slabratetop --interval 100s --top 100", load: trues, what: "tasks", line: ` task_struct +(\d+)`,
		strace: `^(\d+ +)?(clone3?|v?fork)\(`},
	{tool: "pagealloc --top 100", load: perfCount("kmem:mm_page_alloc", "/bin/ls -lR /usr/share/doc"),
		what: "pages of ls", line: ` ls +(\d+)`, source: "perf stat (pieces)", within: 5},
	{tool: "kmem --by process --top 100", load: perfCount("kmem:kmalloc,kmem:kmem_cache_alloc",
		"/bin/ls -lR /usr/share/doc"), what: "allocations of ls", line: ` ls +(\d+)`, source: "perf stat", within: 1},
	{tool: "faultstacks --top 10000", load: perfCount("exceptions:page_fault_user", "/bin/ls -lR /usr/share/doc"),
		what: "faults of ls", line: `^ls \(\d+\): (\d+) faults`, source: "perf stat"},
	{tool: "compactsnoop", load: perfCount("compaction:mm_compaction_end",
		"sh -c 'echo 1 >/proc/sys/vm/compact_memory'"), what: "runs", line: ` sh +\d+ +\d+$`, source: "perf stat"},
	{tool: "wakeuptime", load: "sleep 0.2; sleep 0.1; sleep 0.3", what: "wakings of sleep", line: ` sleep +(\d+)`,
		strace: `clock_nanosleep\(`},
	{tool: "wakeuptime", load: "sleep 0.2; sleep 0.1; sleep 0.3; echo 600000 >$OWN",
		what: "microseconds that sleep waited", line: ` sleep +\d+ +(\d+)`, source: "what was asked for", within: 10},
	{tool: "cpumigrate", load: "r() { awk '/nr_migrations/ { print $3 }' /proc/$$/sched; }; a=$(r); " +
		"for i in 1 2 3 4 5 6 7 8 9 10; do taskset -pc 0 $$; taskset -pc 1 $$; done; b=$(r); echo $((b-a)) >$OWN",
		what: "moves of the shell", line: ` sh +(\d+)`, source: "/proc/PID/sched", within: 20},
	// The kernel does not tell of each switch to the idle task and from it: bpftrace has the same gaps.
	{tool: "cpuidle", load: "r() { awk '/^cpu / { print $5 + $6 }' /proc/stat; }; a=$(r); sleep 3; b=$(r); " +
		"echo $(((b-a)*10000)) >$OWN", what: "microseconds", line: `^ +\d+ +\d+ +(\d+)`,
		source: "/proc/stat", within: 25},
	{tool: "cpuwalk", load: "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; read a b c </proc/$$/schedstat; " +
		"echo $((a*99/1000000000)) >$OWN", what: "samples, 99 a second", line: `^(\d+) samples`,
		source: "/proc/PID/schedstat", within: 10},
	{tool: "runqslower --min 0", load: rivalled + "kill $!; echo $c >$OWN", what: "waits",
		line: ` sh +\d+ +\d `, source: "/proc/PID/schedstat", within: 10},
	{tool: "runqlen", load: "spin() { exec taskset -c $(($(nproc)-1)) timeout 3 sh -c 'while :; do :; done'; }; " +
		"spin & spin & wait; echo 297 >$OWN", what: "samples with threads waiting", line: ` (\d+) with threads`,
		source: "99 a second", within: 25},
	{tool: "loads --interval 100s", load: "sed 's/^[0-9]*\\.\\(..\\).*/\\1/' /proc/loadavg >$OWN",
		what: "hundredths, one minute", line: `^\S+ \d+\.(\d\d) `, source: "/proc/loadavg", within: 10},
	{tool: "hardirqs", load: file + "r() { awk '$1 ~ /^[0-9]+:/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } " +
		"END { print n }' /proc/interrupts; }; a=$(r); " + readFile + "b=$(r); rm $f; echo $((b-a)) >$OWN",
		what: "interrupts", line: `^ +\d+ \S+ +(\d+) `, source: "/proc/interrupts", within: 10},
	{tool: "workq", load: "for i in 1 2 3 4 5 6 7; do unshare -U true; done; sleep 0.2", what: "namespaces freed",
		line: `^free_user_ns +(\d+)`, strace: `unshare\(CLONE_NEWUSER`},
	{tool: "biostacks --top 1000", load: file + readFile + "rm $f; echo 3200 >$OWN", what: "requests",
		line: `^(\d+) requests`, source: "dd's blocks", within: 10},
	{tool: "bioerr", load: "d=$(mktemp -d); mount -t tmpfs -o size=64k none $d; truncate -s 1M $d/f; " +
		"l=$(losetup --find --show $d/f); dd if=/dev/zero of=$l bs=4k oflag=direct; n=0; " +
		"for i in 1 2 3 4 5 6 7 8 9 10; " +
		"do dd if=/dev/zero of=$l bs=4k seek=200 count=1 oflag=direct || n=$((n+1)); done; losetup -d $l; umount $d; " +
		"rmdir $d; echo $n >$OWN", what: "writes without space", line: ` write +1600 +(?:no space|I/O error)$`,
		source: "dd"},
	{tool: "bioseek", load: loop + "dd if=$l of=/dev/null bs=4k count=50 iflag=direct; losetup -d $l; rm $f; " +
		"echo 49 >$OWN", what: "of 50 in order", line: `^loop.* requests, (\d+) `, source: "dd's blocks"},
	{tool: "writeback", load: "f=$(mktemp -p /var/tmp); r() { awk '/^nr_written / { print $2 }' /proc/vmstat; }; " +
		"a=$(r); dd if=/dev/urandom of=$f bs=1M count=20 conv=notrunc; sync; b=$(r); rm $f; echo $((b-a)) >$OWN",
		what: "pages", line: ` (\d+) [A-Z_]+ +\d+\.\d+$`, source: "/proc/vmstat", within: 20},
	{tool: "netif --device gsv0", load: "unshare -nm sh -c '" + wire + "for i in 1 2 3 4 5 6 7; " +
		"do bash -c \"echo hello >/dev/udp/10.9.8.2/99\"; done; mount -t sysfs none /sys; " +
		"cat /sys/class/net/gsv0/statistics/tx_bytes' >$OWN", what: "bytes out", line: ` out +\d+ +\d+ +(\d+)`,
		source: "/sys/class/net", within: 25},
	{tool: "tcpretrans", load: "unshare -n sh -c '" + wire + "timeout 4 bash -c \"echo >/dev/tcp/10.9.8.2/99\"; " +
		"awk \"/^Tcp: [0-9]/ { print \\$13 }\" /proc/net/snmp' >$OWN", what: "segments",
		line: ` 10\.9\.8\.2:99 .* SYN_SENT`, source: "/proc/net/snmp"},
	{tool: "tcpresets", load: "for i in 1 2 3 4 5; do bash -c 'echo >/dev/tcp/127.0.0.1/1'; done", what: "received",
		line: ` received .* 127\.0\.0\.1:1$`, strace: `ECONNREFUSED`},
	{tool: "skbdrop", load: perfCount("skb:kfree_skb", "-a sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; "+
		"do bash -c \"echo >/dev/tcp/127.0.0.1/1\"; done'"), what: "packets", line: `^ +(\d+) `, source: "perf stat",
		within: 20},
	{tool: "sslsniff", load: "d=$(mktemp -d); openssl req -x509 -newkey rsa:2048 -nodes -keyout $d/k -out $d/c " +
		"-subj /CN=x -days 2; sleep 3 | openssl s_server -quiet -naccept 1 -accept 4792 -key $d/k -cert $d/c " +
		">$d/got & sleep 1; (seq 1000; sleep 0.3) | openssl s_client -quiet -connect 127.0.0.1:4792; wait $!; " +
		"wc -c <$d/got >$OWN; rm -r $d", what: "bytes read", line: `^read: (\d+) bytes`, source: "wc -c"},
	{tool: "bashreadline", load: "printf 'echo $((40+%d))\\n' 2 2 2 | script -qc 'bash --norc -i' /dev/null | " +
		"grep -c 42 >$OWN", what: "lines", line: ` echo \$\(\(40\+2`, source: "the shell's output"},
}
