package vm

import (
	"strings"
	"testing"
	"time"
)

// hello counts and prints the arguments of a Go function, with arrays and aggregates, by host and kernel handlers.
const hello = `
global n long
global arr long [long, string 15] size 100
global names string 40 [long] size 10
global s string 40 init "none"
global st stats hist_log
global sa stats [string 15] size 10

probe "begin" {
  site begin
b0:
  mset @arr[100, "host"], 7
  print "begin\n"()
  end
}

probe "traceme" {
  site uprobe path="/lab/prog" offset=$traceme
  long r0 a, r1 b, r2
  string r3 15 name, r4 40
b0:
  gadd @n, 1
  r0 = reg 0
  r1 = reg 3
  r2 = gget @n
  r3 = intr execname()
  madd @arr[r0, r3], 2
  sadd @st, r1
  sadd @sa[r3], r1
  r4 = sprint "%s-%d"(r3, r0)
  mset @names[r0], r4
  gset @s, r4
  print "%d and %d (%d) %s\n"(r0, r1, r2, r4)
  end
}

probe "leaf" {
  site uprobe path="/lab/prog" offset=$leaf
  long r0, r1, r2
  string r3 20
b0:
  r0 = reg 0
  r1 = reg 3
  r2 = reg 2
  r3 = intr user_string_n(r0, r1)
  print "leaf %s %d\n"(r3, r2)
  end
}

probe "end" {
  site end
  long r0, r1, r2, r3
  string r4 15, r5 40
b0:
  r0 = gget @n
  r5 = gget @s
  print "n = %d, s = %s\n"(r0, r5)
  iteropen i0 @arr "k0-"
  jump b1
b1:
  r1 = iternext i0 @arr
  branch r1, b2, b3
b2:
  r1 = iterkey i0 @arr 0
  r4 = iterkey i0 @arr 1
  r2 = iterval i0 @arr
  r5 = mget @names[r1]
  print "arr %d %s %d %s\n"(r1, r4, r2, r5)
  jump b1
b3:
  r0 = sget.count @st
  r1 = sget.sum @st
  r2 = sget.max @sa["prog"]
  r3 = sget.bucket 0 @st, 68
  print "st %d %d %d %d\n"(r0, r1, r2, r3)
  end
}
`

const helloSaid = `begin
0 and 10 (1) prog-0
1 and 11 (2) prog-1
2 and 12 (3) prog-2
3 and 13 (4) prog-3
4 and 14 (5) prog-4
sum 70 8
leaf xyz 5
n = 5, s = prog-4
arr 100 host 7 
arr 4 prog 2 prog-4
arr 3 prog 2 prog-3
arr 2 prog 2 prog-2
arr 1 prog 2 prog-1
arr 0 prog 2 prog-0
st 5 60 14 5
`

// faults raises run-time errors at a probe, caught and not.
const faults = `
limits MAXERRORS=10

probe "traceme" {
  site uprobe path="/lab/prog" offset=$traceme
  long r0, r1
  string r2 100 msg, r3 20
b0:
  r0 = load8 16 !b1
  jump b2
b1:
  r2 = errmsg
  print "caught %s\n"(r2)
  jump b2
b2:
  r1 = load8k 16 !b3
  jump b4
b3:
  r2 = errmsg
  print "caught %s\n"(r2)
  jump b4
b4:
  r3 = intr user_string2(-4096, "instead")
  print "%s\n"(r3)
  r3 = intr user_string(8)
  print "not reached\n"()
  end
}
`

// endless never leaves its loop; the budget ends it.
const endless = `
limits MAXERRORS=10

probe "traceme" {
  site uprobe path="/lab/prog" offset=$traceme
b0:
  print "loop\n"()
  jump b1
b1:
  budget 1
  jump b1
}
`

// flood prints more than the buffers hold.
const count = `
global n long

probe "traceme" {
  site uprobe path="/lab/prog" offset=$traceme
  long r0
b0:
  gadd @n, 1
  end
}

probe "deep" {
  site uprobe path="/lab/prog" offset=$deep
  long r0
b0:
  gadd @n, 1
  end
}

probe "end" {
  site end
  long r0
b0:
  r0 = gget @n
  print "n = %d\n"(r0)
  end
}
`

const kernelSide = `
global calls long
global ret stats
global execs long
global ticks long

probe "kernel.function(\"__x64_sys_getppid\")" {
  site kprobe symbol="__x64_sys_getppid"
b0:
  gadd @calls, 1
  end
}

probe "kernel.function(\"vfs_read\").return" {
  site kretprobe symbol="vfs_read"
  long r0
b0:
  r0 = reg 0
  sadd @ret, r0
  end
}

probe "kernel.trace(\"sched_process_exec\")" {
  site tracepoint event="sched:sched_process_exec"
  string r0 15
b0:
  gadd @execs, 1
  r0 = intr execname()
  print "exec %s\n"(r0)
  end
}

probe "timer.profile" {
  site profile period=1000000
  long r0
b0:
  gadd @ticks, 1
  end
}

probe "end" {
  site end
  long r0, r1, r2
b0:
  r0 = gget @execs
  r1 = gget @ticks
  r1 = gt r1, 10
  r2 = sget.count @ret
  r2 = gt r2, 0
  print "execs %d ticks %d reads %d\n"(r0, r1, r2)
  end
}
`

// life sees processes begin and end, and walks stacks.
const life = `
probe "begin" {
  site process.begin path="/lab/prog"
  string r0 15
b0:
  r0 = intr execname()
  print "begin %s\n"(r0)
  end
}

probe "end" {
  site process.end path="/lab/prog"
  string r0 15
b0:
  r0 = intr execname()
  print "end %s\n"(r0)
  end
}

probe "leaf" {
  site uprobe path="/lab/prog" offset=$leaf
  string r0 200
b0:
  r0 = intr sprint_ubacktrace()
  print "from %s\n"(r0)
  end
}

probe "exit" {
  site kprobe symbol="__x64_sys_exit_group"
  string r0 200
b0:
  r0 = intr sprint_backtrace()
  print "kernel %s\n"(r0)
  end
}
`

// guru changes an argument, and memory below the stack; a bad address is an error.
const guru = `
limits MAXERRORS=10

probe "traceme" {
  site uprobe path="/lab/prog" offset=$traceme
  long r0, r1, r2
  string r3 60 msg
b0:
  r0 = reg 0
  r0 = add r0, 1000
  setreg 0, r0
  r1 = reg 7
  r1 = sub r1, 256
  store4 r1, 305419896
  r2 = load8 r1
  r2 = and r2, 4294967295
  print "stored %x\n"(r2)
  store8 16, 1 !b1
  end
b1:
  r3 = errmsg
  print "%s\n"(r3)
  r1 = reg 7
  store8k r1, 1 !b2
  end
b2:
  print "kernel refused\n"()
  store4k -9070988573094499857, 1 !b3
  end
b3:
  r3 = errmsg
  print "%s\n"(r3)
  store8k -10485760, 1 !b4
  end
b4:
  r3 = errmsg
  print "%s\n"(r3)
  store8k -10485764, 1 !b5
  end
b5:
  r3 = errmsg
  print "%s\n"(r3)
  end
}
`

// mounted traces a file on a file system that is unmounted meanwhile.
const mounted = `
global n long

probe "traceme" {
  site uprobe path="/mnt/t/prog" offset=$traceme
b0:
  gadd @n, 1
  end
}

probe "end" {
  site end
  long r0
b0:
  r0 = gget @n
  print "n = %d\n"(r0)
  end
}
`

const blacklisted = `
probe "kernel.function(\"do_int3\")" {
  site kprobe symbol="exc_int3" point="kernel.function(\"exc_int3\")"
b0:
  end
}
`

// TestModule is the walk through: load, trace, print, unload, in one guest.
func TestModule(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		files := b.stage(t, k, map[string]string{"hello": hello, "faults": faults, "endless": endless, "count": count,
			"kside": kernelSide, "black": blacklisted, "life": life, "guru": guru, "mounted": mounted})
		res := guest(t, k, Options{Files: files, Command: `
r() { n=$1; shift; echo "== $n"; kmodrun -cache /lab/cache -name $n "$@" $n.ir; echo "rc $?"; }
r hello -c /lab/prog
r faults -c '/lab/prog 1'
r endless -c '/lab/prog 1'
r count -c '/lab/prog 20000 deep'
r kside -c /lab/prog
r black -c /lab/prog
r life -c /lab/prog
r guru -c '/lab/prog 1'
echo "== mounted"
mkdir -p /mnt/t; mount -t tmpfs none /mnt/t; cp prog /mnt/t
kmodrun -cache /lab/cache -name mounted mounted.ir & p=$!
for i in $(seq 300); do [ -e /proc/gostap.mounted ] && break; sleep 0.2; done; sleep 1
/mnt/t/prog 3 >/dev/null; umount /mnt/t 2>&1; umount -l /mnt/t; echo "unmounted $?"
kill $p; wait $p; echo "rc $?"
echo "== modules"; lsmod | tail -n +2
`})
		want := map[string][]string{
			"faults": {"caught read fault at 0x0000000000000010\ncaught read fault at 0x0000000000000010\ninstead\n",
				"ERROR: read fault at 0x0000000000000008", "rc 1"},
			"endless": {"loop\n", "ERROR: MAXACTION exceeded", "rc 1"},
			"count":   {"n = 20804\n", "rc 0"},
			"kside":   {"exec prog\n", "execs 1 ticks 1 reads 1\n", "rc 0"},
			"life":    {"begin prog\n", "end prog\n", "from ", "runtime.main", "kernel  0xffffffff", "rc 0"},
			"guru": {"sum 1010 ", "stored 12345678\n", "write fault at 0x0000000000000010\n",
				"kernel refused\nwrite fault at 0x821d5ff3f31329ef\n" +
					"write fault at 0xffffffffff600000\nwrite fault at 0xffffffffff5ffffc\n", "rc 0"},
			"mounted": {"Device or resource busy", "unmounted 0\n", "n = 3\n", "rc 0"},
			"black":   {"cannot probe exc_int3: it is on the kernel's blacklist", "rc 1"},
		}
		// The program's own line may come before or after what was traced.
		said := strings.Join(without(part(res, "hello"), "sum 70 8"), "\n")
		if wanted := strings.Join(without(helloSaid+"rc 0\n", "sum 70 8"), "\n"); said != wanted {
			t.Errorf("hello said\n%s\nwant\n%s", said, wanted)
		}
		for name, ws := range want {
			for _, w := range ws {
				if !strings.Contains(part(res, name), w) {
					t.Errorf("%s: no %q in\n%s", name, w, part(res, name))
				}
			}
		}
		if m := strings.TrimSpace(part(res, "modules")); m != "" {
			t.Errorf("modules are left: %s", m)
		}
		if t.Failed() {
			t.Logf("console: %s", res.Console)
		}
	})
}

func without(text, line string) []string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if l != line {
			out = append(out, l)
		}
	}
	return out
}

// TestKilled kills the tracer; the target goes on, nothing is attached, and the module can be removed.
func TestKilled(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		files := b.stage(t, k, map[string]string{"count": count})
		res := guest(t, k, Options{Files: files, Timeout: 4 * time.Minute, Command: `
: >/tmp/said
kmodrun -v -cache /lab/cache -name count count.ir 2>/tmp/said & p=$!
for i in $(seq 300); do grep -q "attached in" /tmp/said && break; sleep 0.2; done
prog 2000000 & w=$!
sleep 0.5
kmodrun -cache /lab/cache -name count count.ir; echo "second $?"
rmmod count; echo "early $?"
kill -9 $p; wait $p
sleep 0.3
rmmod count; echo "rmmod $?"
wait $w; echo "target $?"
kmodrun -cache /lab/cache -name count count.ir & p=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -e /proc/gostap.count ] && break; sleep 0.2; done
kill -9 $p; wait $p
lsmod | grep -c "^count .* 0"
kmodrun -v -T 100ms -cache /lab/cache -name count count.ir; echo "again $?"
lsmod | tail -n +2
`})
		for _, w := range []string{"second 1", "early 1", "a module named count is loaded already", "rmmod 0",
			"target 0", "sum ", "removed module count, whose tracer was killed", "again 0"} {
			if !strings.Contains(res.Output, w) {
				t.Errorf("no %q in\n%s", w, res.Output)
			}
		}
		if t.Failed() {
			t.Logf("console: %s", res.Console)
		}
	})
}
