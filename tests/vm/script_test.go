package vm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scripts run as modules on programs of tests/fixtures; %PROG is the program's path, the same in the guest.
var scripts = []struct {
	name, fixture, script string
	want                  []string
}{
	{"args", "stap", `probe process("%PROG").function("main.traceme") { printf("%d and %d\n", $a, $b) }`,
		[]string{"1 and 2\n", "ret 3", "rc 0"}},
	{"result", "stap", `probe process("%PROG").function("main.traceme").return { printf("%d \n", $return) }`,
		[]string{"\n3 \n", "rc 0"}},
	// Programs here have no libraries: the file that both name is the traced one, and one of them is not what runs.
	{"library", "stap", `global e
		probe process("%PROG").library("%PROG").function("main.traceme") { printf("here %d\n", $a) }
		probe process("%RUN").library("%PROG").function("main.traceme") { e++ }
		probe process.library("%PROG").function("main.traceme").return { printf("%d of the target\n", @entry($a)) }
		probe end { printf("elsewhere %d\n", e) }`, []string{"here 1\n", "1 of the target\n", "elsewhere 0\n", "rc 0"}},
	{"callees", "stap", `global n
		probe process("%PROG").function("main.main").callee("main.traceme") { printf("main calls with %d\n", $a) }
		probe process("%PROG").function("main.main").callee("main.traceme").return { printf("of %d\n", @entry($a)) }
		probe process("%PROG").function("fmt.*").callee("main.traceme")? { n["wrong"]++ }
		probe process("%PROG").function("main.main").callees(3) { n[ppfunc()]++ }
		probe end { printf("wrong %d traceme %d fmt %d\n", n["wrong"], n["main.traceme"], n["fmt.Fprintln"] + n["fmt.Fprintf"] > 0) }`,
		[]string{"main calls with 1\n", "of 1\n", "wrong 0 traceme 1 fmt 1\n", "rc 0"}},
	{"guru", "stap", `probe process("%PROG").function("main.traceme") { $a = 40 }`, []string{"ret 42", "rc 0"}},
	{"growth", "grow", `global calls, rets
		probe process("%PROG").function("main.work") { calls++ }
		probe process("%PROG").function("main.work").return { rets++ }
		probe end { printf("equal %d some %d\n", calls == rets, calls > 100) }`, []string{"equal 1 some 1\n", "rc 0"}},
	{"arrays", "grow", `global cnt, depth
		probe process("%PROG").function("main.work") { cnt[goid() > 0, execname()]++; depth <<< $depth }
		probe process("%PROG").end { println("over") }
		probe end { foreach ([k, name] in cnt) printf("%d %s %d\n", k, name, cnt[k, name] > 100); printf("%d\n", @min(depth)) }`,
		[]string{"1 grow 1\n", "over\n", "rc 0"}},
	{"errors", "stap", `probe process("%PROG").function("main.traceme") { try { printf("%d\n", $a / ($b - 2)) } catch (m) { println("caught ", m) } error("gone") }`,
		[]string{"caught division by 0\n", "ERROR: gone", "rc 1"}},
	{"syscalls", "calls", `global n
		probe syscall.{socketpair,open,access,lseek,mprotect,kill} { if (pid() == target()) printf("%s(%s)\n", name, argstr) }
		probe syscall.{getpeername,open,lseek,wait4}.return { if (pid() == target()) printf("%s = %s\n", name, name == "wait4" ? "kid" : retstr) }
		probe syscall.write.return { if (pid() == target()) printf("%s, %d\n", user_string_n(@entry($buf), $count), $return) }
		probe syscall.* { if (pid() == target()) n[name]++ }
		probe end { printf("getpgid %d, writev %d, utime %d, openat %d\n", n["getpgid"], n["writev"], n["utime"], n["openat"]) }`,
		[]string{"socketpair(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0, 0x", "open(\"/no/such/file\", O_RDONLY|O_CLOEXEC)\n",
			"access(\"/no/such/file\", R_OK|W_OK)\n", "lseek(5, -1, SEEK_END)\n", "getpeername = 0\n",
			"open = -2 (ENOENT)\n", "lseek = 0\n", "wait4 = kid\n", "hello, 5\n",
			"getpgid 5, writev 0, utime 0, openat 1\n", "rc 0"}},
	{"own", "calls", `global own, other
		probe syscall.*, kernel.trace("raw_syscalls:sys_enter") { if (pid() == stp_pid()) own++; else other++ }
		probe syscall.write { println(pid() == stp_pid()) }
		probe end { printf("own %d other %d\n", own, other > 0) }`, []string{"0\n", "own 0 other 1\n", "rc 0"}},
	{"values", "values", `probe process("%PROG").function("main.get").return { printf("%s\n", $return[1]$); if ($return[0]) println($return[0]$$) }
		probe process("%PROG").function("main.take") { printf("%s %s %s\n", $a$, $b$, $s$$) }`,
		[]string{"&main.notFound{Key:\"zz\", Code:404}\n", "*fs.PathError(\"stat /q: file does not exist\")\n",
			"Tags:[\"a\" \"b\\n\"], M:map[\"x\":1 \"y\":2], Err:*errors.errorString(\"inner\"), F:1.5, B:true, " +
				"C:(1-2i), Fn:main.double, Ch:chan(2/4)[5 6]",
			"Ctx:context.Background.WithValue(main.color(1), \"v\"), N:&{V:1, Next:&{V:2, Next:&{...0x",
			"map[string][]int(map[\"a\":[1 2]]) nil [{ID:3, ", "rc 0"}},
	{"maps", "gomaps", `global same, wrong
		probe process("%PROG").function("main.text") { if ($m[$k] == $v && ($k in $m) == $ok) same++; else wrong++ }
		probe process("%PROG").function("main.set") { if (($k in $m) == $ok) same++; else wrong++ }
		probe process("%PROG").function("main.long") { if ($m[$k]->A == $v->A && ($k in $m) == $ok) same++; else wrong++ }
		probe process("%PROG").function("main.word") { if ($m[$k] == $v && ($k in $m) == $ok) same++; else wrong++ }
		probe process("%PROG").function("main.short") { if ($m[$k] == $v && ($k in $m) == $ok) same++; else wrong++ }
		probe process("%PROG").function("main.octet") { if ($m[$k][150] == $v && ($k in $m) == $ok) same++; else wrong++ }
		probe process("%PROG").function("main.truth") { if ($m[$k] == $v && ($k in $m) == $ok) same++; else wrong++ }
		probe process("%PROG").function("main.all") { foreach (v = i in $w limit 9) sum += v == $w[i] ? 1 : 100 }
		probe end { printf("same %d wrong %d sum %d\n", same, wrong, sum) } global sum`,
		[]string{"same 7140 wrong 0 sum 101\n", "rc 0"}},
	{"contexts", "gocontexts", `global same, wrong, errors
		probe process("%PROG").function("main.number") {
			if ($ctx["main.ctxKey", $k]->data == $v->data && $ctx["main.ctxKey", $k]->type == $v->type) same++; else wrong++
		}
		probe process("%PROG").function("main.text") {
			if ($ctx["main.nameKey", $s]->data == $v->data && $ctx["main.nameKey", $s]->type == $v->type) same++; else wrong++
		}
		probe process("%PROG").function("main.one") {
			if ($ctx["main.reqKey"]->data == $v->data && $ctx["main.reqKey"]->type == $v->type) same++; else wrong++
			if ($ctx["main.second"]->data == $w->data && $ctx["main.second"]->type == $w->type) same++; else wrong++
		}
		probe process("%PROG").function("main.odd") { try { same += "main.reqKey" in $ctx } catch (e) { errors++ } }
		probe end { printf("same %d wrong %d errors %d\n", same, wrong, errors) }`,
		[]string{"same 1605 wrong 0 errors 7\n", "rc 0"}},
	{"cplus", "cplusvalues", `probe process("%PROG").function("said_by_itself<every>") { println($v$$) }`,
		[]string{"{.s=\"every\", .v={\"a\", \"b\"}, .m={[1]=\"one\", [2]=\"two\", [3]=\"three\"}, .u={4}, .l={5, 6}, " +
			".d={7, 8}, .x=\"var\", .p={.x=9, .y=10}, .o=nullopt}\n", "rc 0"}},
	{"delays", "delays", `global n, parks, runs
		probe go.sched.latency { n[start_func, created, wait_reason] <<< latency_ns }
		probe go.goroutine.park { parks[start_func, wait_reason]++ }
		probe go.goroutine.run { runs[start_func]++ }
		probe end { printf("received %d of %d, created %d, read %d, coroutines %d %d\n",
			@count(n["main.receiver", 0, "chan receive"]), parks["main.receiver", "chan receive"],
			@count(n["main.once", 1, ""]), @count(n["main.reader", 0, "IO wait"]), parks["runtime.corostart", "coroutine"],
			runs["runtime.corostart"] >= 41) }`,
		[]string{"received 51 of 51, created 30, read 21, coroutines 40 1\n", "rc 0"}},
	{"allocs", "allocs", `global on, n, all
		probe process("%PROG").function("main.begin") { on = 1 }
		probe process("%PROG").function("main.end") { on = 0 }
		probe go.alloc { if (on) { all++ n[type_name] <<< size } }
		probe end { printf("all %d\n", all) foreach (t in n) printf("%s %d %d\n", t, @count(n[t]), @sum(n[t])) }`,
		[]string{"main.node 549 27600\n", "main.pair[string,*main.node] 70 1680\n", "? 10 160\n", "rc 0"}},
	{"runtime", "events", `global n, types, d
		probe go.gc.pause { if (gc) d <<< duration_ns }
		probe go.panic { types[value_type]++ }
		probe go.recover { n["recovers"]++ }
		probe go.timer.fire { if (func == "time.goFunc") n["fires"]++ }
		probe go.finalizer.run { n["finalizers"]++ }
		probe end { foreach (k+ in n) printf("%s %d\n", k, n[k]) printf("pauses %d of %d ns\n", @count(d), @sum(d)) }`,
		[]string{"finalizers 30\nfires 40\nrecovers 41\n", "rc 0"}},
	{"perf", "grow", `global f, t, c
		probe perf.sw.page_faults.sample(1).process { f++ }
		probe kernel.trace("exceptions:page_fault_user") { if (pid() == target()) t++ }
		probe perf.type(1).config(0).hz(200) { c++ }
		probe end { printf("faults %d ticks %d\n", t > 100 && f * 10 >= t * 9 && f < t * 2, c > 5) }`,
		[]string{"faults 1 ticks 1\n", "rc 0"}},
	{"events", "calls", `global e, r, c
		probe process.syscall { e[$syscall]++; if ($syscall == 52) printf("getpeername %d\n", $arg1) }
		probe process("%PROG").syscall.return { r[$syscall, $return]++ }
		probe syscall_any { if (pid() == target()) c[name]++ }
		probe kernel.trace("sched:sched_process_exit") { if (pid() == target()) println($$name, " ", $p == task_current()) }
		probe end { printf("%d %d %d %d, %d %d\n", e[121], e[20], e[132], r[52, 0], c["getpgid"], c["writev"]) }`,
		[]string{"getpeername 3\n", "sched_process_exit 1\n", "5 0 0 1, 5 0\n", "rc 0"}},
}

// TestScripts takes scripts from their text to the output of a module.
func TestScripts(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		cache := filepath.Join(dir, "cache")
		run := filepath.Join(b.dir, "kmodrun")
		files := map[string]string{run: run, cache: cache, dir + "/progs": dir + "/progs"}
		command := ""
		for _, s := range scripts {
			prog := filepath.Join(dir, "progs", s.fixture)
			if !exists(prog) {
				cmd := exec.Command("go", "build", "-o", prog, "../fixtures/"+s.fixture)
				if c := "../fixtures/" + s.fixture + "/" + s.fixture + ".c"; exists(c) {
					cmd = exec.Command("gcc", "-O1", "-static", "-o", prog, c)
				} else if exists(c + "pp") {
					cmd = exec.Command("g++", "-std=c++17", "-g", "-O1", "-static", "-o", prog, c+"pp")
				}
				cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("build %s: %v\n%s", s.fixture, err, out)
				}
			}
			text := strings.NewReplacer("%PROG", prog, "%RUN", run).Replace(s.script)
			out, err := exec.CommandContext(context.Background(), run, "-v", "-r", kdir, "-cache", cache, "-name",
				s.name, "-c", prog, "-build", "-e", text).CombinedOutput()
			if err != nil {
				t.Fatalf("build %s: %v\n%s", s.name, err, out)
			}
			if gccWarning.Match(out) {
				t.Errorf("%s: gcc warns:\n%s", s.name, out)
			}
			command += "echo '== " + s.name + "'; " + run + " -cache " + cache + " -name " + s.name + " -c " + prog +
				" -e '" + text + "'; echo rc $?\n"
		}
		res := guest(t, k, Options{Files: files, Command: command})
		for _, s := range scripts {
			part := part(res, s.name)
			for _, w := range s.want {
				if !strings.Contains("\n"+part, w) {
					t.Errorf("%s: no %q in\n%s", s.name, w, part)
				}
			}
		}
		if t.Failed() {
			t.Logf("console: %s", res.Console)
		}
	})
}
