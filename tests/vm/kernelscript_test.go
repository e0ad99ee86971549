package vm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
)

// kernelScript is a whole script that is run with eBPF and as a module: the output has to be the same.
type kernelScript struct {
	name   string
	args   string // of the program of testdata/kernel, which is traced
	script string
	want   []string
	// run, if given, is what the shell does instead of tracing that program. RUN stands for the runner with
	// the script, FORKS for the program of tests/fixtures/forks, which "process" is about then, STACKS, CROWD and ENDS
	// those of tests/fixtures/stacks, crowd and ends; with % in front in scripts. Lines come in any order.
	run string
	// noBPF is what eBPF says on Linux 6.1 if it cannot run the script there.
	noBPF string
}

// kernelScripts are about functions of the kernel. %ADDR is the address of do_sys_openat2.
var kernelScripts = []struct {
	name, args, script string
	want               []string
}{
	{"opens", "open 4", `
		global calls, rets, at
		probe kernel.function("do_sys_openat2") { if (pid() == target()) { calls++; at[tid()] = user_string($filename) } }
		probe kernel.function("do_sys_openat2").return { if (pid() == target()) { rets++; printf("ret %d %s\n", $return, at[tid()]) } }
		probe kernel.function("do_sys_openat2").return { if (pid() == target()) printf("%s: %d dfd %d flags %d\n", user_string(@entry($filename)), $return, $dfd, @entry($how->flags)) }
		probe end { printf("calls %d rets %d\n", calls, rets) }`,
		[]string{"ret 3 /etc/passwd\n/etc/passwd: 3 dfd -100 flags 32768\nret -2 /nowhere\n/nowhere: -2 dfd -100 " +
			"flags 32768\nret 4 /etc/passwd\n", "calls 8 rets 8\n"}},
	{"clone", "block 2", `
		probe kernel.function("kernel_clone") { if (pid() == target()) printf("%s clone_flags=%x stack_size=%d\n", execname(), $args->flags, $args->stack_size) }`,
		[]string{"kernel clone_flags=3d0f00 stack_size=", "kernel clone_flags=3d0f00 stack_size="}},
	{"places", "open 2", `
		global n
		probe kernel.function("do_sys_openat2") { if (pid() == target()) n["entry"]++ }
		probe kprobe.function("do_sys_openat2").offset(5) { if (pid() == target()) { n["offset"]++; printf("%s %x\n", symdata(addr()), addr() == %ADDR + 5) } }
		probe kernel.statement(%ADDR).absolute { if (pid() == target()) { n["absolute"]++; printf("%s %x\n", symdata(addr()), addr() == %ADDR) } }
		probe kernel.function(%ADDR) { if (pid() == target()) n["address"]++ }
		probe kernel.function("do_sys_openat2") { if (pid() == target()) { printf("%s %s %d\n", ppfunc(), probefunc(), is_return()); print_backtrace() } }
		probe kernel.function("do_sys_openat2").return { if (pid() == target()) printf("back in %s, was %s %d\n", probefunc(), ppfunc(), is_return()) }
		probe end { foreach (k+ in n) printf("%s %d\n", k, n[k]) }`,
		[]string{"do_sys_openat2+0x5/", "do_sys_openat2+0x0/", "absolute 4\naddress 4\nentry 4\noffset 4\n",
			" [kernel] 1\n", "do_sys_openat2 do_sys_openat2 0\n 0xffffffff", " : do_sys_openat2+0x0/0x",
			"back in __x64_sys_openat, was do_sys_openat2 1\n", "entry_SYSCALL_64_after_hwframe+0x"}},
	{"ptys", "ptys hello-one typed-two", `
		probe kernel.function("pty_write") { if (kernel_string($tty->name) == "pts0") printf("%s %s\n", kernel_string($tty->name), kernel_string_n($buf, $c)) }`,
		[]string{"pts0 hello-one\n"}},
	{"interrupts", "calls 20000", `
		global n, last, seen
		probe kernel.function("update_process_times") { n[1]++; last = n[1]; seen[cpu()] <<< last }
		probe kernel.function("__x64_sys_getppid") { n[2]++; last = n[2]; seen[cpu()] <<< last }
		probe kernel.function("__x64_sys_getppid") {
			if (n[3]++ == 100) printf("%s %d %d %d %d %d %s\n", execname(), uid(), gid(), euid(), tid() == pid(), ppid() > 0, pp()) }
		probe end { printf("calls %d ticks %d cpus %d\n", n[2] > 19900, n[1] > 5, @count(seen[0]) > 0) }`,
		[]string{"calls 1 ticks 1 cpus 1\n", "kernel 0 0 0 1 1 kernel.function(\"__x64_sys_getppid"}},
	// The kernel holds the lock of its random numbers there.
	{"randoms", "random 20", `
		global n, hits
		probe kernel.function("crng_fast_key_erasure") { if (pid() == target()) { hits++; n[randint(3)]++ } }
		probe end { printf("hits %d random %d %d %d\n", hits >= 20, n[0] > 0, n[1] > 0, n[2] > 0) }`,
		[]string{"hits 1 random 1 1 1\n"}},
	{"wildcard", "open 3", `
		global n
		probe kernel.function("vfs_*") { if (pid() == target()) n[ppfunc()]++ }
		probe end { printf("%d %d\n", n["vfs_open"] >= 3, n["vfs_write"] > 0) }`,
		[]string{"1 1\n"}},
	// Entries and returns of many functions, some of them twice, and places behind their beginning.
	{"many", "open 5", `
		global n, back, more, behind, at
		probe kernel.function("do_sys_open*"), kernel.function("vfs_re*"), kernel.function("vfs_open"), kernel.function("may_open"), kernel.function("path_openat"), kernel.function("getname*") { if (pid() == target()) { n[ppfunc()]++; at[ppfunc()] = symname(addr()) } }
		probe kernel.function("do_sys_openat2").return, kernel.function("may_open").return, kernel.function("vfs_open").return { if (pid() == target()) back[ppfunc()] += $return >= 0 ? 1 : 1000 }
		probe kernel.function("may_open") { if (pid() == target()) more++ }
		probe kprobe.function("do_sys_openat2").offset(5) { if (pid() == target()) behind++ }
		probe end {
			printf("%d %d %d, back %d %d, more %d, behind %d\n", n["do_sys_openat2"], n["may_open"], n["path_openat"], back["do_sys_openat2"], back["may_open"], more, behind)
			printf("at %s %s %s\n", at["do_sys_openat2"], at["may_open"], at["vfs_open"])
		}`,
		[]string{"10 6 11, back 5005 6, more 6, behind 10\n", "at do_sys_openat2 may_open vfs_open\n"}},
	{"library", "open 1", `
		global first
		probe kernel.function("do_sys_openat2") { if (pid() == target()) first++ }
		probe kernel.function("do_sys_openat2") {
			if (pid() != target() || first != 1) next
			t = task_current()
			println("task ", task_pid(t) == pid(), task_tid(t) == tid(), task_execname(t) == execname(), task_pid(task_parent(t)) == ppid(), task_cpu(t) == cpu(), " ", task_uid(t), task_state(t), task_nice(t), " ", task_prio(t))
			println("found ", pid2task(pid()) == t, pid2execname(1) != "", pid2task(999999), task_start_time(tid()) > 0, task_rlimit_nofile(t) > 100)
			println("target ", target_set_pid(pid()), target_set_pid(1))
			println("names ", ns_ppid() == ppid(), ns_sid() == sid(), task_ns_pid(t) == pid(), ns_uid(), " ", HZ(), " ", user_mode(), probe_type())
			println("file ", fullpath_struct_file(0, current_exe_file()) == cmdline_arg(0), " ", fullpath_struct_path(task_cwd_path(t)))
			println("entry ", d_name(@cast(current_exe_file(), "file", "kernel")->f_path->dentry), " ", inode_name(@cast(current_exe_file(), "file", "kernel")->f_inode))
			println("args ", cmdline_args(1, -1, "+"), " ", cmdline_arg(9), env_var("LAB_NOTHING"))
			println("memory ", proc_mem_size() > proc_mem_rss(), proc_mem_txt() > 0, proc_mem_data() > 0, proc_mem_size(pid()) == proc_mem_size())
			println("stack ", symname(stack(0)), " ", stack(1) == caller_addr(), modname(stack(0)), is_sig_blocked(t, 15))
		}`,
		[]string{"task 11111 000 20\n", "found 11011\n", "target 10\n", "names 1110 250 0kprobe\n", "file 1 /",
			"entry kernel kernel\n", "args open+1 \n", "memory 1111\n", "stack do_sys_openat2 1kernel0\n"}},
	{"peek", "open 2", `
		global n, late, ticks
		function read:string (address) { try { return kernel_string(address) } catch (msg) { return msg } }
		function word:string (address) { try { return sprint(@cast(address, "task_struct", "kernel")->pid) } catch (msg) { return substr(msg, 0, 14) } }
		probe begin {
			me = task_current()
			printf("begin %d %d %d\n", task_tid(me) == tid(), task_execname(me) == execname(), task_current() == me)
			ticks = jiffies()
			printf("begin %s|%s|%d\n", read(1), word(8), @cast(pid2task(1), "task_struct", "kernel")->pid)
			printf("begin %d %x\n", kernel_long(%ADDR + 32), kernel_char(%ADDR + 40))
			try { println(user_string(16)) } catch (msg) { printf("begin %s\n", msg) }
		}
		probe kernel.function("do_sys_openat2") {
			if (pid() != target() || n++) next
			printf("ticks %d\n", jiffies() >= ticks && jiffies() < ticks + 100000)
			printf("hit %s|%s|%d\n", read(1), word(8), @cast(pid2task(1), "task_struct", "kernel")->pid)
			printf("hit %d %x\n", kernel_long(%ADDR + 32), kernel_char(%ADDR + 40))
		}
		probe kernel.function("do_sys_openat2") {
			if (pid() != target() || late++) next
			task = task_current()
			for (i = 0; i < 2; i++) task = @cast(task, "task_struct", "kernel")->group_leader
			if (task_execname(task) =~ "k(.*)") printf("late %s %d\n", matched(1), @cast(task, "task_struct", "kernel")->tgid == pid())
		}
		probe end {
			first = pid2task(1)
			head = &@cast(first, "task_struct", "kernel")->tasks
			for (p = @cast(first, "task_struct", "kernel")->tasks->next; p != head && i++ < 500; p = @cast(p, "list_head", "kernel")->next)
				if (@cast(p - (head - first), "task_struct", "kernel")->tgid == pid()) found++
			printf("end %d %d\n", i > 10 && i < 500, found)
		}`,
		[]string{"begin 1 1 1\nbegin read fault at 0x0000000000000001|read fault at |1\n",
			"begin read fault at 0x0000000000000010\n", "hit read fault at 0x0000000000000001|read fault at |1\n",
			"late ernel 1\n", "end 1 1\n", "ticks 1\n"}},
	{"blacklist", "calls 1", `probe kernel.function("exc_int3") { println("hit") }`,
		[]string{"cannot probe exc_int3", "blacklist", "rc 1"}},
}

// TestKernelScripts goes from the text of scripts to their output.
func TestKernelScripts(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		facts, err := k.Facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		syms, err := kbtf.New(kbtf.Config{Map: facts.Kallsyms}).Symbols()
		if err != nil {
			t.Fatal(err)
		}
		openat2 := syms.Named("do_sys_openat2")
		if len(openat2) != 1 {
			t.Fatalf("do_sys_openat2: %v", openat2)
		}
		dir := t.TempDir()
		run, cache, prog := filepath.Join(b.dir, "kmodrun"), filepath.Join(dir, "cache"), kernelFixture(t)
		files := map[string]string{run: run, cache: cache, prog: prog}
		names := map[string]string{}
		for _, name := range []string{"forks", "stacks", "crowd", "ends"} {
			names[name] = filepath.Join(dir, name)
			if out, err := exec.Command("gcc", "-g", "-O1", "-static", "-pthread", "-o", names[name], "../fixtures/"+
				name+"/"+name+".c").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			files[names[name]] = names[name]
		}
		forks, crowd := names["forks"], names["crowd"]
		programs := strings.NewReplacer("FORKS", forks, "STACKS", names["stacks"], "CROWD", crowd, "ENDS",
			names["ends"])
		command := ""
		var all []kernelScript
		for _, s := range kernelScripts {
			all = append(all, kernelScript{name: s.name, args: s.args, script: s.script, want: s.want})
		}
		all = slices.Concat(all, familyScripts, preemptScripts, eventScripts)
		for _, s := range all {
			text := strings.NewReplacer("%ADDR", fmt.Sprintf("0x%x", openat2[0].Addr), "%FORKS", forks, "%STACKS",
				names["stacks"], "%ENDS", names["ends"]).Replace(s.script)
			args := []string{"-cache", cache, "-name", strings.ReplaceAll(s.name, "-", "_"), "-c", prog + " " + s.args}
			if s.run != "" {
				args[len(args)-1] = forks
			}
			if strings.HasPrefix(s.name, "crowd") {
				args[len(args)-1] = crowd
			}
			build := exec.Command(run, append(args, "-kernel-btf", facts.BTF, "-kernel-map", facts.Kallsyms, "-r", kdir,
				"-build", "-e", text)...)
			if s.name == "alone" {
				build = besides(t, forks, build)
			}
			out, err := build.CombinedOutput()
			if err != nil {
				t.Errorf("build %s: %v\n%s", s.name, err, out)
				continue
			}
			if gccWarning.Match(out) {
				t.Errorf("%s: gcc warns:\n%s", s.name, out)
			}
			for _, how := range []string{"", " -bpf"} {
				if s.run != "" {
					command += fmt.Sprintf("echo '== %[1]s%[2]s'\ncat >/tmp/%[1]s%[3]d <<'EOF'\nexec %[4]s%[2]s -T "+
						"20s -cache %[5]s -name %[1]s -e '%[6]s' \"$@\"\nEOF\n{\n%[7]s\n} 2>&1; echo rc $?\n", s.name,
						how, len(how), run, cache, text,
						strings.ReplaceAll(programs.Replace(s.run), "RUN",
							fmt.Sprintf("sh /tmp/%s%d", s.name, len(how))))
					continue
				}
				command += fmt.Sprintf("echo '== %s%s'; %s%s -cache %s -name %s -c '%s %s' -e '%s' 2>&1; echo rc $?\n",
					s.name, how, run, how, cache, strings.ReplaceAll(s.name, "-", "_"), prog, s.args, text)
			}
		}
		res := guest(t, k, Options{Files: files, Command: command, Timeout: 5 * time.Minute})
		for _, s := range all {
			var said [2]string
			for i, how := range []string{"", " -bpf"} {
				if how != "" && s.noBPF != "" && strings.HasPrefix(k.Release, "6.1.") {
					if got := part(res, s.name+how); !strings.Contains(got, s.noBPF) {
						t.Errorf("%s%s: no %q in\n%s", s.name, how, s.noBPF, got)
					}
					said[1] = said[0]
					continue
				}
				part := ordered(part(res, s.name+how))
				if s.run != "" {
					lines := strings.Split(strings.TrimSpace(part), "\n")
					slices.Sort(lines)
					part = strings.Join(lines, " ")
				}
				want := s.want
				if s.run == "" && !strings.Contains(strings.Join(want, ""), "rc ") {
					want = append(want[:len(want):len(want)], "\nrc 0\n")
				}
				for _, w := range want {
					if !strings.Contains("\n"+part, w) {
						t.Errorf("%s%s: no %q in\n%s", s.name, how, w, part)
					}
				}
				said[i] = part
			}
			// What is skipped in the first two depends on the moment; in the third eBPF says that it leaves out
			// children.
			if !slices.Contains([]string{"interrupts", "wildcard", "levels", "mib", "tcpudp"}, s.name) &&
				said[0] != said[1] {
				t.Errorf("%s: a module says\n%s\neBPF says\n%s", s.name, said[0], said[1])
			}
		}
		if t.Failed() {
			t.Logf("console: %s", res.Console)
		}
	})
}

// ordered leaves out what the traced program says by itself, which comes at any place.
func ordered(text string) string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if !strings.HasPrefix(l, "open ") && !strings.HasPrefix(l, "slept ") && !strings.HasPrefix(l, "per call ") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// besides runs a command in a pid namespace where the process with number 2 runs prog, which waits.
func besides(t *testing.T, prog string, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	gate, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close(); hold.Close() })
	in := exec.Command("unshare", append([]string{"-r", "-p", "-f", "--mount-proc", "sh", "-c",
		prog + ` wait <&3 >/dev/null & "$@"`, "sh"}, cmd.Args...)...)
	in.ExtraFiles = []*os.File{gate}
	return in
}
