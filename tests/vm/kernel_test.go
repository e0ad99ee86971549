package vm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
)

// kernelProbes looks at calls in the kernel from all sides: counts, results, pairing of entry and return, addresses,
// stacks, and calls that block: in a system call that only the program makes, the tracer's runtime sleeps by another
// one. %BASE is the distance of do_sys_openat2 from _stext.
const kernelProbes = `
global entries long
global returns long
global bases long
global offs long
global frames long [long, long] size 100
global unpaired long
global slept long
global woke long
global all long
global stacks long

probe "open" {
  site kprobe symbol="do_sys_openat2" func="do_sys_openat2" point="open"
  long r0, r1, r2
  string r3 80, r4 100
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  branch r2, b1, b2
b1:
  gadd @entries, 1
  r0 = reg 7
  r0 = add r0, 8
  r1 = intr tid()
  mset @frames[r1, r0], 1
  r2 = reg 4
  r3 = intr user_string(r2)
  r2 = intr addr()
  r4 = intr symdata(r2)
  print "opens %s at %s\n"(r3, r4)
  end
b2:
  end
}

probe "open.return" {
  site kretprobe symbol="do_sys_openat2" func="do_sys_openat2" point="return"
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  branch r2, b1, b2
b1:
  gadd @returns, 1
  r0 = reg 7
  r1 = intr tid()
  r2 = mhas @frames[r1, r0]
  r2 = eq r2, 0
  gadd @unpaired, r2
  r0 = reg 0
  r0 = shl r0, 32
  r0 = sar r0, 32
  print "open %d\n"(r0)
  end
b2:
  end
}

probe "base" {
  site kprobe symbol="_stext" offset=%BASE at="line" point="base"
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  gadd @bases, r2
  end
}

probe "inside" {
  site kprobe symbol="do_sys_openat2" offset=%INSIDE at="line" point="inside"
  long r0, r1, r2
  string r3 80
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  branch r2, b1, b3
b1:
  gadd @offs, 1
  r0 = gget @offs
  r0 = eq r0, 1
  branch r0, b2, b3
b2:
  r2 = reg 16
  r3 = intr symdata(r2)
  print "inside %s\n"(r3)
  end
b3:
  end
}

probe "sleep" {
  site kprobe symbol="__x64_sys_clock_nanosleep" point="sleep"
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  gadd @slept, r2
  end
}

probe "sleep.return" {
  site kretprobe symbol="__x64_sys_clock_nanosleep" point="woke"
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  gadd @woke, r2
  end
}

probe "room" {
  site kretprobe symbol="hrtimer_nanosleep" point="room" maxactive=200
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  gadd @all, r2
  end
}

probe "o1" {
  site kprobe symbol="__x64_sys_getppid" point="o1"
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  branch r2, b1, b2
b1:
  print "order 1\n"()
  end
b2:
  end
}

probe "o4" {
  site kretprobe symbol="__x64_sys_getppid" point="o4"
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  branch r2, b1, b2
b1:
  print "order 4\n"()
  end
b2:
  end
}

probe "o2" {
  site kprobe symbol="__x64_sys_getppid" point="o2"
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  branch r2, b1, b2
b1:
  print "order 2\n"()
  end
b2:
  end
}

probe "o5" {
  site kretprobe symbol="__x64_sys_getppid" point="o5"
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  branch r2, b1, b2
b1:
  print "order 5\n"()
  end
b2:
  end
}

probe "o3" {
  site kprobe symbol="__x64_sys_getppid" point="o3"
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  branch r2, b1, b2
b1:
  print "order 3\n"()
  end
b2:
  end
}

probe "o6" {
  site kretprobe symbol="__x64_sys_getppid" point="o6"
  long r0, r1, r2
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  branch r2, b1, b2
b1:
  print "order 6\n"()
  end
b2:
  end
}

probe "where" {
  site kprobe symbol="__x64_sys_getppid" func="__x64_sys_getppid" point="where"
  site kprobe symbol="__x64_sys_getpgid" func="__x64_sys_getpgid" point="elsewhere"
  long r0, r1, r2
  string r3 400, r4 40, r5 40
b0:
  r0 = intr pid()
  r1 = intr target()
  r2 = eq r0, r1
  branch r2, b1, b2
b1:
  r3 = intr sprint_backtrace()
  r4 = site ppfunc
  r5 = intr execname()
  print "%s in %s\n%s"(r4, r5, r3)
  end
b2:
  end
}

probe "end" {
  site end
  long r0, r1, r2, r3, r4, r5, r6, r7
b0:
  r0 = gget @entries
  r1 = gget @returns
  r2 = gget @bases
  r3 = gget @offs
  r4 = gget @unpaired
  r5 = gget @slept
  r6 = gget @woke
  r7 = gget @all
  print "entries %d returns %d bases %d inside %d unpaired %d slept %d woke %d all %d\n"(r0, r1, r2, r3, r4, r5, r6, r7)
  end
}
`

// refusedProbes are places that the kernel does not take, with the words for it.
var refusedProbes = []struct{ name, site, want string }{
	{"black", `kprobe symbol="exc_int3"`, "cannot probe exc_int3: it is on the kernel's blacklist"},
	{"unknown", `kprobe symbol="no_such_function_there"`,
		"cannot probe no_such_function_there: the kernel has no function of that name"},
	{"nomod", `kprobe symbol="nomod:thing"`, "or module nomod is not loaded"},
	{"middle", `kprobe symbol="do_sys_openat2" offset=2`,
		"cannot probe do_sys_openat2+0x2: no instruction begins there"},
	{"later", `kretprobe symbol="do_sys_openat2" offset=32`,
		"cannot probe do_sys_openat2+0x20: the kernel refuses this place"},
}

// kernelFixture builds the program that makes system calls.
func kernelFixture(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "kernel")
	if b, err := exec.Command("gcc", "-O2", "-static", "-pthread", "-o", out,
		"testdata/kernel/kernel.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return out
}

// TestKernelProbes runs the same programs with eBPF and as modules.
func TestKernelProbes(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		facts, err := k.Facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		syms, err := kbtf.New(kbtf.Config{Map: facts.Kallsyms}).Symbols()
		if err != nil {
			t.Fatal(err)
		}
		at := func(name string) uint64 {
			l := syms.Named(name)
			if len(l) != 1 {
				t.Fatalf("%d symbols are called %s", len(l), name)
			}
			return l[0].Addr
		}
		// behind the call of the tracer, with which a function begins that is not called through pointers
		const inside = 5
		program := strings.NewReplacer("%BASE", fmt.Sprint(at("do_sys_openat2")-at("_stext")), "%INSIDE",
			fmt.Sprint(inside)).Replace(kernelProbes)
		files := b.stage(t, k, map[string]string{"kprobes": program})
		files["/lab/kernel"] = kernelFixture(t)
		command := `r() { n=$1; shift; echo "== $n"; kmodrun "$@"; echo "rc $?"; }
for how in "-cache /lab/cache" -bpf; do
r "kprobes$how" $how -v -name kprobes -c '/lab/kernel open 5' kprobes.ir
r "block$how" $how -v -name kprobes -c '/lab/kernel block 100' kprobes.ir
r "calls$how" $how -name kprobes -c '/lab/kernel calls 1' kprobes.ir
done
`
		for _, p := range refusedProbes {
			path := filepath.Join(t.TempDir(), p.name+".ir")
			text := fmt.Sprintf("probe \"fine\" {\n  site kprobe symbol=\"vfs_read\"\nb0:\n  end\n}\nprobe \"p\" "+
				"{\n  site %s\nb0:\n  end\n}\n", p.site)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			files["/lab/refused/"+p.name+".ir"] = path
			command += "r refused-" + p.name + " -bpf /lab/refused/" + p.name + ".ir\n"
		}
		// Events are removed behind the tracer's end.
		command += "for i in $(seq 300); do grep -q . /sys/kernel/tracing/kprobe_events || break; sleep 0.3; done\n"
		command += "echo '== left'; cat /sys/kernel/tracing/kprobe_events; cat /sys/kernel/debug/kprobes/list; lsmod " +
			"| tail -n +2\n"
		res := guest(t, k, Options{Files: files, Command: command})
		for _, how := range []string{"-cache /lab/cache", "-bpf"} {
			got := part(res, "kprobes"+how)
			for _, w := range []string{
				"opens /etc/passwd at do_sys_openat2+0x0/", "opens /nowhere at do_sys_openat2+0x0/",
				fmt.Sprintf("inside do_sys_openat2+0x%x/", inside), "[kernel]\n",
				"entries 10 returns 10 bases 10 inside 10 unpaired 0 slept 0 woke 0 all 0\n", "rc 0\n",
			} {
				if !strings.Contains(got, w) {
					t.Errorf("kprobes%s: no %q in\n%s", how, w, got)
				}
			}
			// What the probes saw is what the program got.
			if l := lines(got, "open "); len(l) != 20 {
				t.Errorf("kprobes%s: %d lines of results, want 20", how, len(l))
			} else if odd(l) {
				t.Errorf("kprobes%s: the probes and the program do not tell the same: %v", how, l)
			}
			got = part(res, "calls"+how)
			want := regexp.MustCompile(`__x64_sys_getppid in kernel\n 0xffffffff[0-9a-f]{8} : __x64_sys_getppid\+0x0/0x[0-9a-f]+ \[kernel\]\n 0xffffffff[0-9a-f]{8} : [a-z0-9_]*sys[a-z0-9_]*\+0x`)
			if !want.MatchString(got) || !strings.Contains(got, "entry_SYSCALL_64_after_hwframe+0x") {
				t.Errorf("calls%s:\n%s", how, got)
			}
			if l := strings.Join(lines(got, "order "), " "); l != "order 1 order 2 order 3 order 4 order 5 order 6" {
				t.Errorf("calls%s: handlers at one place ran in another order than the script's: %s", how, l)
			}
			// Without room for all, those left out are counted, unless the kernel has room by itself.
			got = part(res, "block"+how)
			if strings.Contains(got, "kretprobe.multi") {
				if !strings.Contains(got, "slept 100 woke 100 all 100\n") || strings.Contains(got, "WARNING") {
					t.Errorf("block%s:\n%s", how, got)
				}
			} else if m := roomFor.FindStringSubmatch(got); m == nil {
				t.Errorf("block%s:\n%s", how, got)
			} else if woke, missed := decimal(m[1]), decimal(m[2]); woke < 64 || missed == 0 || woke+missed != 100 {
				t.Errorf("block%s: %d returns were seen and %d missed, of 100, with room for 64 at a time", how, woke,
					missed)
			}
		}
		for _, p := range refusedProbes {
			if got := part(res, "refused-"+p.name); !strings.Contains(got, p.want) || !strings.Contains(got, "rc 1") {
				t.Errorf("%s: no %q in\n%s", p.name, p.want, got)
			}
		}
		if got := strings.TrimSpace(part(res, "left")); got != "" {
			t.Errorf("left behind:\n%s", got)
		}
		if t.Failed() {
			t.Logf("console: %s", res.Console)
		}
	})
}

var roomFor = regexp.MustCompile(`slept 100 woke (\d+) all 100\nWARNING: (\d+) returns missed because too many calls`)

// odd reports whether a line is there an odd number of times: each is said by the program and by a probe.
func odd(l []string) bool {
	n := map[string]int{}
	for _, s := range l {
		n[s]++
	}
	for _, k := range n {
		if k%2 != 0 {
			return true
		}
	}
	return false
}
