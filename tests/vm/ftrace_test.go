package vm

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// emitted are scripts that the kernel's own tracer runs, and gostap beside it, while there is some load: what the two
// say has to be the same.
var emitted = []struct {
	name, script, load string
	// want are patterns of what the tracer has to be told and to say.
	want []string
	// since is the kernel from which on the tracer can do it, "" for all; before it, refused is said.
	since, refused string
}{
	{name: "values", load: "cat /etc/passwd /nonexistent /etc/group; mkdir -m 751 /tmp/made /tmp/made; /lab/prog", script: `
		probe kernel.function("do_sys_openat2") {
			if (execname() != "cat") next
			printf("%d \"%s\"\n", $dfd, user_string($filename))
		}
		probe kernel.function("do_sys_openat2").return { if (execname() == "cat") println($return) }
		probe kernel.function("vfs_open") {
			if (execname() == "cat" && isinstr(kernel_string($path->dentry->d_name->name), "passw") && !($file->f_flags & 1))
				printf("\"%s\" %d\n", kernel_string($path->dentry->d_name->name), $file->f_flags)
		}
		probe syscall.mkdir { if (execname() == "mkdir") println(mode) }
		probe syscall.mkdir.return { if (execname() == "mkdir") println(retval) }
		probe process("/lab/prog").function("main.traceme") { if ($a > 0 || $a == 0) println($a, " ", $b) }`,
		want: []string{`p:gostap_script/do_sys_openat2 do_sys_openat2 dfd=%di:s32 filename=\+u0\(%si\):ustring\n`,
			`r:gostap_script/do_sys_openat2_return do_sys_openat2 return=\$retval:s(32|64)\n`,
			`events/gostap_script/do_sys_openat2/filter comm == "cat"\n`, `dynamic_events -:gostap_script/do_sys_openat2\n`,
			`p:gostap_script/main_traceme /lab/prog:0x[0-9a-f]+ a=%ax:s64 b=%bx:s64\n`,
			`events/syscalls/sys_enter_mkdir/enable 1\n`, ` do_sys_openat2 +[1-9]\d* +0\n`}},
	{name: "counts", load: "for n in 100 30 100; do dd if=/dev/zero of=/tmp/x bs=$n count=4; done", script: `
		global by, all, n
		probe kernel.function("vfs_write") {
			if (execname() != "dd" || $count != 30 && $count != 100) next
			by[$count, execname()] <<< $count n[ppfunc()]++ all <<< $count
		}
		probe end {
			foreach ([c+, who] in by) printf("%d %d %d\n", c, @count(by[c, who]), @sum(by[c, who]))
			println(@count(all)) print(@hist_log(all)) foreach (f in n) println(n[f])
		}`,
		want: []string{`hist:keys=count,common_pid.execname:vals=hitcount,count`, `hist:keys=count.log2:vals=hitcount`,
			`count: +30, common_pid: dd .*hitcount: +4 +count: +120\n`,
			`count: +100, common_pid: dd .*hitcount: +4 +count: +400\n`, `count: ~ 2\^5 .*hitcount: +4\n`,
			`(?s)-- said\n30 4 120\n100 8 800\n12\nvalue.*\n12\n-- script`}},
	{name: "stacks", load: "/bin/false", script: `
		probe kernel.function("begin_new_exec") { if (execname() == "sh") print_backtrace() }
		probe kernel.trace("sched:sched_process_exec") { if (execname() == "false") log(ppfunc()) }`,
		want: []string{`events/gostap_script/begin_new_exec/trigger stacktrace if comm == "sh"\n`, `=> begin_new_exec\n`,
			`events/sched/sched_process_exec/enable 1\n`, `sched_process_exec: filename=\S*false `}},
	{name: "raw", load: "/bin/false", since: "6.5", script: `
		probe kernel.trace("sched:sched_process_exit") { if (execname() == "false") println($p->exit_code) }`,
		want: []string{`t:gostap_script/sched_process_exit sched_process_exit p_exit_code=\+\d+\(\$arg1\):s32\n`,
			`-- said\n256\n`},
		refused: "ftrace has no probes at tracepoints in this kernel, which its arguments take"},
}

// TestFtrace: the kernel takes what --emit=ftrace writes, its trace says what gostap says of the same load, and nothing
// is left behind.
func TestFtrace(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		gostap := filepath.Join(t.TempDir(), "gostap")
		if err := goBuild(gostap, "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		command := emitShell
		for _, s := range emitted {
			command += "cat >s.stp <<'EOF'\n" + s.script + "\nEOF\necho '" + s.load + "' >load.sh\ntry " + s.name + "\n"
		}
		files := map[string]string{"/lab/gostap": gostap, "/lab/prog": b.prog}
		res := guest(t, k, Options{Files: files, Command: command})
		for _, s := range emitted {
			_, text, _ := strings.Cut("\n"+res.Output, "\n== "+s.name+"\n") // filters have "== " too
			text, _, _ = strings.Cut(text, "\n== ")
			if s.since != "" && older(k.Release, s.since) {
				if !strings.Contains(text, s.refused) {
					t.Errorf("%s: not refused:\n%s", s.name, text)
				}
				continue
			}
			if strings.Contains(text, "start refuses") || !strings.HasSuffix(strings.TrimSpace(text), "left 0 0") {
				t.Errorf("%s: refused, or left behind:\n%s", s.name, text)
				continue
			}
			_, shown, _ := strings.Cut(text, "-- shown\n")
			said, _, _ := strings.Cut(text[strings.Index(text, "-- said\n")+8:], "-- script\n")
			if traced := traceValues(shown); s.name == "values" && (traced != said || traced == "") ||
				s.name == "raw" && traced != said {
				t.Errorf("%s: the tracer says\n%sand gostap\n%s", s.name, traced, said)
			}
			for _, w := range s.want {
				if !regexp.MustCompile(w).MatchString(text) {
					t.Errorf("%s: no %q in\n%s", s.name, w, text)
				}
			}
		}
	})
}

var (
	traceLine = regexp.MustCompile(`^ .*\] .* \d+\.\d+: (.*)$`)
	ofProbe   = regexp.MustCompile(`^\w+: \([^)]*\) (.*)$`)
	ofEnter   = regexp.MustCompile(`^sys_mkdir\(.*mode: (?:0x)?([0-9a-f]+)\)$`)
	ofExit    = regexp.MustCompile(`^sys_mkdir -> 0x([0-9a-f]+)$`)
	argName   = regexp.MustCompile(`\w+=`)
)

// traceValues are the values in the lines of a trace file.
func traceValues(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		m := traceLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil || strings.Contains(line, "ls-") {
			continue
		}
		said := ""
		if p := ofProbe.FindStringSubmatch(m[1]); p != nil {
			said = argName.ReplaceAllString(p[1], "")
		} else if p := ofEnter.FindStringSubmatch(m[1]); p != nil {
			n, _ := strconv.ParseUint(p[1], 16, 64)
			said = strconv.FormatUint(n, 10)
		} else if p := ofExit.FindStringSubmatch(m[1]); p != nil {
			n, _ := strconv.ParseUint(p[1], 16, 64)
			said = strconv.FormatInt(int64(n), 10)
		}
		out.WriteString(said + "\n")
	}
	return out.String()
}

// older reports whether a kernel's release comes before a version such as "6.5".
func older(release, version string) bool {
	var a, b [2]int
	for i, s := range strings.SplitN(release, ".", 3)[:2] {
		a[i], _ = strconv.Atoi(s)
	}
	for i, s := range strings.SplitN(version, ".", 3)[:2] {
		b[i], _ = strconv.Atoi(s)
	}
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}

// emitShell has try NAME, which runs s.stp both ways while load.sh runs once. The trace is stopped before anything else
// runs, since programs of the same name would be in it.
const emitShell = `
T=/sys/kernel/tracing
[ -e $T/trace ] || mount -t tracefs none $T
try() {
	echo "== $1"
	./gostap -w --emit=ftrace s.stp >t.sh || return
	sh t.sh start || { echo "start refuses"; return; }
	./gostap -w s.stp -c "sh load.sh >/dev/null 2>&1" >said 2>err
	echo 0 >$T/instances/gostap_script/tracing_on
	sh t.sh show >shown
	sh t.sh stop
	echo "-- said"
	cat said
	echo "-- script"
	cat t.sh err
	echo "-- shown"
	cat shown
	echo "left $(ls $T/instances | wc -l) $(grep -c gostap_script $T/dynamic_events)"
}
`
