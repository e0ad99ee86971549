package vm

// eventScripts are about the library's events that stand on functions of the kernel.
var eventScripts = []kernelScript{
	{name: "vfs", args: "open 4", script: `
		global n
		probe vfs.open { if (pid() == target() && pathname == "/etc/passwd") n[pathname, ino > 0, devname, MAJOR(dev), flags & 3]++ }
		probe vfs.open.return { if (pid() == target() && pathname == "/etc/passwd") n["back", ret, error_str, error, 0]++ }
		probe vfs.read.return { if (isinstr(pathname, "/passwd") && !ret) n["end of file", bytes_read, error_str, error, pos > 0]++ }
		probe end { foreach ([a, b, c, d, e] in n-) println(a, " ", b, " ", c, " ", d, " ", e, ": ", n[a, b, c, d, e]) }`,
		want: []string{"/etc/passwd 1 N/A 0 0: ", "back 0  0 0: "}},
	{name: "vfsio", run: "RUN -c 'sh -c \"echo four >/tmp/x; dd if=/tmp/x 2>/dev/null\"'", script: `
		probe vfs.write { if (pathname == "/tmp/x") printf("%s %d at %d\n", name, bytes_to_write, pos) }
		probe vfs.write.return { if (pathname == "/tmp/x") printf("%s %d of %d error %d\n", name, bytes_written, bytes_to_write, error) }
		probe vfs.read.return { if (pathname == "/tmp/x" && bytes_read) printf("%s %d of %d ino %d dev %d\n", name, bytes_read, bytes_to_read > 5, ino > 0, dev > 0) }`,
		want: []string{"four rc 0 vfs.read 5 of 1 ino 1 dev 1 vfs.write 5 at 0 vfs.write 5 of 5 error 0"}},
	{name: "tcpudp", run: "ip link set lo up 2>/dev/null || ifconfig lo up; (echo hello | nc -l -p 4242 >/dev/null " +
		"&) ; sleep 1; RUN -c 'sh -c \"nc 127.0.0.1 4242 </dev/null\"'", script: `
		probe tcp.sendmsg { printf("send %s:%d %s:%d %d\n", saddr, sport, daddr, dport > 1024, size) }
		probe tcp.sendmsg.return { printf("sent %d\n", size) }
		probe tcp.recvmsg.return { if (size > 0) printf("got %d family %d\n", size, family) }
		probe tcp.receive { if (psh) printf("%s:%d %s ack %d fin %d proto %x\n", saddr, sport, daddr, ack, fin, protocol) }
		probe socket.create { if (family == 2) printf("create %s %d\n", sock_type_num2str(type), requester) }
		probe socket.close { if (type == 1 && family != 1) printf("close %s\n", sock_prot_num2str(protocol)) }
		probe socket.sendmsg { if (type == 1 && family != 1) printf("sendmsg %s %d\n", sock_prot_num2str(protocol), size) }`,
		want: []string{"127.0.0.1:4242 127.0.0.1 ack 1 fin 0 proto 800", "create STREAM 0", "close TCP close TCP",
			"sendmsg TCP 6", "got 6 family 2", "sent 6"}},
	{name: "cache", run: "mkdir -p /tmp/r; mount -t ramfs none /tmp/r; " +
		"RUN -c 'dd if=/dev/zero of=/tmp/r/seven bs=4096 count=7'", script: `
		global n, wrote, at, sync, first, pages
		probe generic.fop.write_iter { if (isinstr(pathname, "seven")) n[count, units, buf > 0]++ }
		probe generic.fop.write_iter.return { if (isinstr(pathname, "seven")) wrote += size }
		probe vfs.do_sync_write { if (isinstr(pathname, "seven")) { sync += bytes_to_write at += pos } }
		probe vfs.add_to_page_cache { if (pid() == target() && MAJOR(dev) == 0) { pages++ first += !index } }
		probe end {
			foreach ([a, b, c] in n) printf("%d times %d %s %d\n", n[a, b, c], a, b, c)
			printf("wrote %d handed %d at %d cached %d first %d\n", wrote, sync, at, pages > 0, first)
		}`,
		// The places where they began: 4096 * (0 + 1 + ... + 6).
		want: []string{"7 times 4096 bytes 1", "wrote 28672 handed 28672 at 86016 cached 1 first 1"}},
	{name: "headers", run: "ip link set lo up 2>/dev/null || ifconfig lo up; (echo hello | nc -l -p 4243 >/dev/null " +
		"&) ; sleep 1; RUN -c 'sh -c \"nc 127.0.0.1 4243 </dev/null\"'", script: `
		global odd, n
		probe tcp.ipv4.receive { n += dport == 4243 if (tcphdr - iphdr != 20 || @iphdr_cast(iphdr)->protocol != 6) odd++ }
		probe tcp.ipv6.receive ? { odd++ }
		probe end { printf("some %d odd %d\n", n > 2, odd) }`,
		want: []string{"some 1 odd 0"}},
	{name: "messages", args: "messages", script: `
		probe socket.send { if (pid() == target()) printf("%s %s %s %d\n", name, sock_fam_num2str(family), sock_type_num2str(type), size) }
		probe socket.sendmsg.return { if (pid() == target()) sent .= sprint(" ", size) }
		probe socket.receive { if (pid() == target() && family == 1) printf("%s %d %d\n", name, size, success) }
		global sent
		probe end { println("sent", sent) }`,
		want: []string{"socket.sendmsg LOCAL DGRAM 1\nsocket.sendmsg LOCAL DGRAM 2\nsocket.sendmsg LOCAL DGRAM 3\n" +
			"socket.sendmsg LOCAL DGRAM 4\nsocket.sendmsg LOCAL DGRAM 5\nsocket.sendmsg LOCAL DGRAM 6\n" +
			"socket.sendmsg LOCAL DGRAM 7\nsocket.recvmsg 1 1\nsocket.recvmsg 1 1\nsocket.recvmsg 2 1\n" +
			"socket.recvmsg 3 1\nsocket.recvmsg 4 1\nsocket.recvmsg 5 1\nsocket.recvmsg 6 1\nsocket.recvmsg 7 1\n" +
			"socket.recvmsg -11 0\n", "sent 1 2 3 4 5 6 7\n"}},
	// What the kernel counts itself is the oracle: on a slow machine it takes up a connection twice, and drops one.
	{name: "mib", run: "ip link set lo up 2>/dev/null || ifconfig lo up; (echo hello | nc -l -p 4242 >/dev/null &) ; " +
		"sleep 1; opens() { awk '/^Tcp: [0-9]/ { print $6 + $7 }' /proc/net/snmp; }; was=$(opens); " +
		"RUN -c 'sh -c \"nc 127.0.0.1 4242 </dev/null\"' >/tmp/mib; awk -v all=$(($(opens) - was)) '$1 == \"opens\" " +
		"{ $2 = $2 > 0 && $2 <= all ? \"counted\" : $2 \" of \" all } { print }' /tmp/mib", script: `
		function tcpmib_filter_key:long (sk:long, op:long) { return op && (tcpmib_local_port(sk) == 4242 || tcpmib_remote_port(sk) == 4242) ? 2 : 0 }
		probe tcpmib.ActiveOpens, tcpmib.PassiveOpens, tcpmib.CurrEstab, tcpmib.InSegs, tcpmib.OutSegs, ipmib.InReceives, ipmib.OutRequests { }
		probe end { printf("opens %d now %d in %d out %d packets %d %d\n", ActiveOpens[2] + PassiveOpens[2], CurrEstab[2] < 2, InSegs[2] > 2, OutSegs[2] > 2, InReceives[1] > 2, OutRequests[1] > 2) }`,
		// A few hits can be missed: a program of a function's probe does not run while another one is interrupted.
		want: []string{"opens counted now 1 in 1 out 1 packets 1 1"}},
	{name: "processes", run: "RUN -c 'sh -c \"true & wait; sleep 0.1\"'", script: `
		global started, released, on
		probe kprocess.start { if (ppid() == target()) started++ }
		probe kprocess.release { if (task_pid(task_parent(task)) == target()) released = released_pid == pid && released_pid > 1 }
		probe scheduler.cpu_on { if (pid() == target() && !idle) on = 1 }
		probe end { println("started ", started > 0, " released ", released, " on ", on) }`,
		want: []string{"started 1 released 1 on 1"}},
	{name: "tty", run: "RUN -c 'sh -c \"echo hello >/dev/tty1; stty -F /dev/ptmx rows 33 cols 44\"'", script: `
		probe tty.open { if (file_name == "tty1") printf("opened %s %d %d\n", file_name, file_mode & 3, inode_number > 0) }
		probe tty.write { if (file_name == "tty1") printf("write %s %d %s", name, nr, user_string_n(buffer, nr)) }
		probe tty.release { if (file_name == "tty1") printf("release %d\n", inode_state >= 0) }
		probe tty.init { printf("init %s %s|%s\n", driver_name, name, module) }
		probe tty.resize { printf("%s from %d %d to %d %d\n", name, old_row, old_col, new_row, new_col) }`,
		want: []string{"init pty_master ptm| opened tty1 2 1 pts0 from 0 0 to 33 0 pts0 from 33 0 to 33 44 rc 0 " +
			"release 1 write write 6 hello"}},
	{name: "netfilter", run: "ip link set lo up 2>/dev/null || ifconfig lo up; RUN -c 'ping -c 5 -s 200 127.0.0.1' " +
		">/tmp/netfilter; grep -v -e PING -e bytes -e round -e statistics -e ^$ /tmp/netfilter", script: `
		global n
		probe netfilter.ip.local_in { if (protocol == 1) n[name, pf, saddr, length, indev_name]++ }
		probe netfilter.ipv4.post_routing { if (protocol == 1) n[name, pf, daddr, length, outdev_name]++ }
		probe netfilter.pf("NFPROTO_IPV4").hook("NF_INET_PRE_ROUTING").priority("NF_IP_PRI_RAW") { if ($skb->len == 228) { n["error", "", execname(), $hooknum, ""]++ try { println(1 / ($skb->len - 228)) } catch { } } }
		probe end { foreach ([a, b, c, d, e] in n) if (a != "error") printf("%s %s %s %d %s: %d\n", a, b, c, d, e, n[a, b, c, d, e]) }`,
		want: []string{"5 packets transmitted, 5 packets received, 0% packet loss netfilter.ip.local_in ipv4 " +
			"127.0.0.1 228 lo: 10 netfilter.ip.post_routing ipv4 127.0.0.1 228 lo: 10 rc 0"},
		noBPF: "cannot look at packets with eBPF: this kernel has no such programs"},
}
