package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/runtime/cgroup"
)

// trial is a use of an option and what has to be seen of it: in what is printed, or in a file.
type trial struct {
	args []string
	want string // in the output or the messages
	not  string // in neither
	file string // that is there afterwards
}

const hello = `probe begin { println("hello") exit() }`

// trials has a use with an effect, or with a refusal, for every option.
func trials(dir string) map[string]trial {
	e := func(args ...string) []string { return args }
	return map[string]trial{
		"execute": {args: e("-e", hello), want: "hello"},
		"add":     {args: e("-e", hello, "-E", `probe begin(-1) { println("before") }`), want: "before\nhello"},
		"command": {args: e("-c", "true", "-e", `probe end { println("target ", target() > 0) }`),
			want: "target 1"},
		"pid": {args: e("-x", fmt.Sprint(os.Getpid()), "-e",
			`probe begin { println("target ", target()) exit() }`), want: fmt.Sprint("target ", os.Getpid())},
		"include": {args: e("-I", dir+"/lib", "-e", `probe begin { println(from_lib()) exit() }`),
			want: "it is there"},
		"list":      {args: e("-l", "begin"), want: "begin"},
		"list-vars": {args: e("-L", "syscall.read"), want: "count:long"},
		"keep": {args: e("-k", "--tmpdir", dir+"/k", "--runtime=bpf", "-p4", "-m", "kept", "-e", hello),
			file: "kept.txt"},
		"verbose":         {args: e("-v", "-e", hello), want: "pass 1"},
		"output":          {args: e("-o", dir+"/out", "-e", hello), file: "out", not: "hello"},
		"interactive":     {args: e("-i", "-e", "probe begin { nothing() }"), want: "the script stays as it was"},
		"rotate":          {args: e("-S", "1,2", "-o", dir+"/turned", "-e", hello), file: "turned.0"},
		"flight-recorder": {args: e("-F", "-e", hello), want: "-F runs in the background, and there is no -o FILE"},
		"timing":          {args: e("-t", "-e", hello), want: "probe hit report"},
		"guru":            {args: e("-g", "-p2", "-e", `probe begin { println(%{ 1 %}) }`), want: "# probes"},
		"global": {args: e("-G", "n=7", "-e", `global n = 1 probe begin { println("n is ", n) exit() }`),
			want: "n is 7"},
		"define": {args: e("-D", "MAXACTION_INTERRUPTIBLE=3", "-e",
			`probe begin { for (i = 0; i < 9; i++) n++ }`), want: "MAXACTION exceeded"},
		"timeout":     {args: e("-T", "0.1", "-v", "-e", `probe end { println("over") }`), want: "over"},
		"module":      {args: e("-m", "named", "--runtime=bpf", "-p4", "-e", hello), file: "named.bpf.o"},
		"no-warnings": {args: e("-w", "-e", hello, "unused"), want: "hello", not: "warning"},

		"warnings-are-errors": {args: e("-W", "-e", hello, "unused"), want: "warning", not: "hello"},

		"format":  {args: e("--format=json", "-e", hello), want: `{"type":"print","time":"`},
		"monitor": {args: e("--monitor", "-e", hello), want: "--monitor needs a terminal", not: "hello"},
		"serve": {args: e("--serve", dir+"/files.sock", "-e",
			`probe procfs.read { } probe timer.ms(1) { exit() }`), want: "--unix-socket " + dir + "/files.sock"},
		"http": {args: e("--http", "192.0.2.1:80", "-e", hello), want: "--http 192.0.2.1:80: ", not: "hello"},
		"export": {args: e("--export", "otlp://127.0.0.1", "--format=csv", "-e", hello),
			want: "--format does not go with --export", not: "hello"},
		"every":   {args: e("--every", "0.001", "-e", hello), want: "--every is 0.01 seconds at least", not: "hello"},
		"max-cpu": {args: e("--max-cpu", "0", "-e", hello), want: "--max-cpu takes percent of a CPU", not: "hello"},
		"max-hits": {args: e("--max-hits", "many", "-e", hello), want: "--max-hits takes a number of hits a second",
			not: "hello"},
		"merge": {args: e("--merge", "-e", hello),
			want: "--merge makes one answer of what hosts count, and there is no --remote", not: "hello"},
		"elements": {args: e("--elements", "5", "-e", hello),
			want: "--elements is about what hosts tell for one answer", not: "hello"},
		"in-order": {args: e("--in-order", "-e", hello),
			want: "--in-order is about lines of several machines", not: "hello"},
		"cgroup": {args: e("--cgroup", dir, "-e", `probe syscall.read { }`),
			want: dir + " is not the folder of a control group"},
		"pod": {args: e("--pod", "shop-1", "-e", `probe syscall.read { }`), want: `--pod: "shop-1" is no UID of a pod`},
		"exe": {args: e("--exe", dir+"/none", "-e", `probe process.function("main") { }`),
			want: dir + "/none"},
		"unoptimized": {args: e("-u", "-p3", "-e", `probe begin { println(1 + 2) exit() }`), want: "add"},
		"pass":        {args: e("-p1", "-e", hello), want: "probe begin"},
		"buffer":      {args: e("-s", "5000", "-e", hello), want: "-s takes 1 to 1024 megabytes"},
		"runtime":     {args: e("--runtime=host", "-e", `probe syscall.read { }`), want: "--runtime=host does without"},
		"release": {args: e("-r", dir+"/none", "-p2", "-e", `probe kernel.function("vfs_read") { }`), want: dir +
			"/none"},
		"kernel-btf": {args: e("--kernel-btf", dir+"/none", "-p2", "-e", `probe kernel.function("vfs_read") { }`),
			want: dir + "/none"},
		"kernel-map": {args: e("--kernel-map", dir+"/none", "-p2", "-e", `probe kernel.function("vfs_read") { }`),
			want: dir + "/none"},
		"bpf":   {args: e("--bpf", "-p3", "-e", `probe syscall.read { println(pid()) }`), want: "call"},
		"dump":  {args: e("--dump=help"), want: "parse"},
		"color": {args: e("--color", "-e", "probe"), want: "\x1b["},

		"no-global-var-display": {args: e("--no-global-var-display", "-e",
			`global n probe begin { n = 5 println("hello") exit() }`), want: "hello", not: "n=5"},

		"folded": {args: e("--folded", "-e", `global n probe begin { n[1] = 5 exit() }`),
			want: "no array has stacks as keys"},

		"coverage": {args: e("-q", "-e", `probe begin { println(pid() > 0, execname() != "") exit() }`),
			want: "function execname 1\n"},
		"kbuild":      {args: e("-B", "X=1", "-e", hello), want: "-B is about modules, and none is built"},
		"file":        {args: e("--file", dir+"/x", "-e", hello), want: "--file is about a plan that is run"},
		"remote-plan": {args: e("--remote-plan", "-e", hello), want: "--remote-plan translates for the machines of"},
		"digest":      {args: e("--digest", "12", "-e", hello), want: "--digest is about a plan that is run"},
		"modinfo": {args: e("--modinfo", "tag=text", "--runtime=kernel", "-p3", "-e", hello),
			want: "MODULE_INFO(tag, \"text\")"},
		"summary": {args: e("-C", "-e", hello, "--runtime=host"), want: "-C counts system calls"},
		"follow":  {args: e("-f", "-e", hello), want: "-f goes with -C"},
		"emit":    {args: e("--emit=perf", "-e", `probe syscall.read { }`), want: "'syscalls:sys_enter_read'"},

		"skip-badvars": {args: e("--skip-badvars", "-e", `probe begin { println("x is ", $x) exit() }`),
			want: "x is 0"},
		"compatible": {args: e("--compatible=2.9", "-e",
			`probe begin { println(%( systemtap_v < "3.0" %? "old" %: "new" %)) exit() }`), want: "old"},
		"vp": {args: e("--vp", "00001", "-e", hello), want: "hello", not: "pass 1"},

		"dump-functions":     {args: e("--dump-functions"), want: "pid:long ()"},
		"dump-probe-types":   {args: e("--dump-probe-types"), want: "timer.profile"},
		"dump-probe-aliases": {args: e("--dump-probe-aliases"), want: "syscall.open"},

		"info": {args: e("--info"), want: "kernel"}, "version": {args: e("--version"), want: "script language"},
		"help":         {args: e("--help"), want: "usage:"},
		"privilege":    {args: e("--privilege=stapusr", "-e", `probe timer.profile { }`), want: "error:"},
		"unprivileged": {args: e("--unprivileged", "-e", `probe timer.profile { }`), want: "error:"},

		"suppress-handler-errors": {args: e("--suppress-handler-errors", "-e",
			`probe begin { error("quiet") } probe begin(1) { println("hello") exit() }`), want: "hello", not: "quiet"},
		"suppress-time-limits": {args: e("-g", "--suppress-time-limits", "-D", "MAXACTION_INTERRUPTIBLE=3", "-e",
			`probe begin { for (i = 0; i < 99; i++) n++ println("n is ", n) exit() }`), want: "n is 99"},

		"disable-cache": {args: e("--disable-cache", "-I", dir+"/lib", "-e",
			`probe begin { println(from_lib()) exit() }`), want: "it is there"},
		"poison-cache": {args: e("--poison-cache", "-I", dir+"/lib", "-e",
			`probe begin { println(from_lib()) exit() }`), want: "it is there"},
		"remote": {args: e("--remote", "ftp://box", "-e", hello), want: "only ssh, tls and kube are known"},
		"tls": {args: e("--tls", dir, "-e", hello), want: "--tls has certificates for hosts of tls://",
			not: "hello"},
		"remote-prefix": {args: e("--remote-prefix", "-e", hello), want: "there is no --remote"},
		"clean-cache":   {args: e("--clean-cache")},
		"cleanup":       {args: e("--cleanup"), want: "\n"},
		"tmpdir":        {args: e("--tmpdir", dir+"/lib/l.stp", "-e", hello), want: "is not a directory"},
		"rlimit-as":     {args: e("--rlimit-as=1000", "-e", hello), want: "gostap itself needs"},
		"rlimit-cpu":    {args: e("--rlimit-cpu=x", "-e", hello), want: "--rlimit-cpu takes a number"},
		"rlimit-nproc":  {args: e("--rlimit-nproc=x", "-e", hello), want: "--rlimit-nproc takes a number"},
		"rlimit-stack":  {args: e("--rlimit-stack=x", "-e", hello), want: "--rlimit-stack takes a number"},
		"rlimit-fsize":  {args: e("--rlimit-fsize=x", "-e", hello), want: "--rlimit-fsize takes a number"},
	}
}

// TestNoSuchProcess: -x of a process that is not there is an error where something is traced, and where the script
// means that process.
func TestNoSuchProcess(t *testing.T) {
	run := func(args ...string) string {
		var out bytes.Buffer
		args = append([]string{"-x", "3999999999"}, args...)
		status := Run(args, Streams{In: strings.NewReader(""), Out: &out, Err: &out},
			[]string{"PATH=/bin:/usr/bin", "SYSTEMTAP_DIR=" + t.TempDir()})
		return fmt.Sprint(status, " ", out.String())
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-e", hello}, "no process 3999999999"},
		{[]string{"-p2", "-e", hello}, "0 "},
		{[]string{"-p2", "-e", `probe process.syscall { }`}, "there is no file /proc/3999999999/exe"},
		{[]string{"-p2", "-e", `probe process.function("main") { }`}, "there is no file /proc/3999999999/exe"},
	} {
		if got := run(c.args...); !strings.Contains(got, c.want) ||
			strings.HasPrefix(c.want, "0") != strings.HasPrefix(got, "0") {
			t.Errorf("%q: want %q:\n%s", c.args, c.want, got)
		}
	}
}

// TestMergePasses: -p1 to -p3 with --merge ask no machine.
func TestMergePasses(t *testing.T) {
	count, begins := "global n probe syscall.read { n++ } probe end { println(n) }", "probe begin { println(1) }"
	for _, c := range []struct{ pass, script, want string }{
		{"-p1", count, "0 global n\n"}, {"-p2", count, "0 # globals\nn:long\n"}, {"-p3", count, "gadd @n, 1"},
		{"-p2", begins, "0 # probes\n"}, {"-p3", begins, "1 error: no probe is hit on a machine"},
	} {
		var out bytes.Buffer
		status := Run([]string{"--merge", "--remote=ssh://nobody@host.invalid", c.pass, "-e", c.script},
			Streams{In: strings.NewReader(""), Out: &out, Err: &out},
			[]string{"PATH=/bin:/usr/bin", "SYSTEMTAP_DIR=" + t.TempDir()})
		if got := fmt.Sprint(status, " ", out.String()); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: want %q:\n%s", c.pass, c.script, c.want, got)
		}
	}
}

// TestCgroupRefused: what cannot be kept to control groups is refused, and so is what is none.
func TestCgroupRefused(t *testing.T) {
	group := "/sys/fs/cgroup"
	if _, err := os.Stat(group + "/unified"); err == nil {
		group += "/unified" // beside those of version 1
	}
	if g, err := cgroup.Open(group); err != nil || g.Controller != "" {
		t.Skipf("%s is not the top of the unified hierarchy: %v", group, err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-e", `probe netfilter.ip.local_in { }`},
			"<input>:1:1: error: packets are not of a control group's threads [scope]"},
		{[]string{"--runtime=kernel", "-e", `probe syscall.read { }`},
			"error: the probes of a module cannot be kept to control groups [scope]\n" +
				"  hint: leave --runtime=kernel out"},
		{[]string{"-p4", "-e", hello}, "--cgroup is about running"},
		{[]string{"--cgroup", "/nowhere", "-e", hello}, "/nowhere: no such file or directory"},
	} {
		var out bytes.Buffer
		status := Run(append([]string{"-v", "--cgroup", group}, c.args...),
			Streams{In: strings.NewReader(""), Out: &out, Err: &out}, []string{"PATH=/bin:/usr/bin"})
		if status == 0 || !strings.Contains(out.String(), c.want) ||
			strings.Contains(out.String(), "runtime=kernel\n") {
			t.Errorf("%q: status %d, want %q:\n%s", c.args, status, c.want, out.String())
		}
	}
}

// TestHashBias: stap's macro about the size of its tables may be given with any number.
func TestHashBias(t *testing.T) {
	for v, good := range map[string]bool{"2": true, "-9999": true, "x": false, "": false} {
		o := options{limits: layout.Default()}
		if err := o.define("MAPHASHBIAS=" + v); (err == nil) != good || o.limits != layout.Default() {
			t.Errorf("MAPHASHBIAS=%s: %v", v, err)
		}
	}
}

// TestEveryOption goes through all options that there are: each has an effect that is seen or is refused with the
// reason, also when it has no value, a senseless one, is given twice, or stands beside "run".
func TestEveryOption(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir(dir+"/lib", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/lib/l.stp", []byte(`function from_lib() { return "it is there" }`),
		0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, int) {
		var out bytes.Buffer
		status := Run(args, Streams{In: strings.NewReader(""), Out: &out, Err: &out},
			[]string{"PATH=/bin:/usr/bin", "XDG_CACHE_HOME=" + dir + "/cache", "SYSTEMTAP_DIR=" + dir})
		return out.String(), status
	}
	uses := trials(dir)
	var raw values
	fs := flagSet(&options{limits: layout.Default()}, &raw)
	fs.VisitAll(func(f *pflag.Flag) {
		stap := (*stapOption)(nil)
		if v, ok := f.Value.(stapValue); ok {
			stap = v.o
		}
		u, ok := uses[f.Name]
		delete(uses, f.Name)
		switch {
		case stap == nil && !ok:
			t.Errorf("--%s: no trial", f.Name)
		case ok:
			got, _ := run(u.args...)
			if !strings.Contains(got, u.want) || u.not != "" && strings.Contains(got, u.not) {
				t.Errorf("%q: want %q, not %q:\n%s", u.args, u.want, u.not, got)
			}
			if u.file != "" {
				if found, _ := filepath.Glob(dir + "/" + u.file); len(found) == 0 {
					if found, _ = filepath.Glob(dir + "/*/" + u.file); len(found) == 0 {
						t.Errorf("%q leaves no %s:\n%s", u.args, u.file, got)
					}
				}
			}
		}
		name := "--" + f.Name
		// Without its value, or with one that it does not take. A script and a text may be empty.
		switch f.Name {
		case "add", "execute", "list", "list-vars":
		default:
			for _, v := range []string{"", "@"} {
				if v == "@" && (stap == nil || stap.arg == needsArg) && f.Value.Type() != "bool" &&
					f.Value.Type() != "int" && !strings.Contains(" color compatible define global module monitor "+
					"privilege rotate runtime timeout vp ", " "+f.Name+" ") {
					continue // the name of something, or a text
				}
				got, status := run(name+"="+v, "-e", hello)
				if status == 0 || !strings.Contains(got, flagName(f)) && !strings.Contains(got, name) &&
					!strings.Contains(got, "runtime") {
					t.Errorf("%s=%s is taken, or not named (status %d): %s", name, v, status, got)
				}
			}
		}
		// Beside a module: about the module that is not there, or refused by name.
		if f.Name == "execute" || f.Name == "list" || f.Name == "list-vars" || f.Name == "help" ||
			f.Name == "version" || f.Name == "info" || f.Name == "clean-cache" || f.Name == "cleanup" ||
			strings.HasPrefix(f.Name, "dump-") || strings.HasPrefix(f.Name, "rlimit-") {
			return
		}
		value := map[string]string{"pid": fmt.Sprint(os.Getpid()), "output": dir + "/out", "runtime": "kernel",
			"timeout": "3", "buffer": "4", "vp": "00001", "color": "never", "command": "true", "verbose": "+1",
			"rotate": "1", "privilege": "stapdev", "pass": "5", "compatible": "4.0", "define": "MAXACTION=5",
			"global": "n=1"}[f.Name]
		if value == "" && f.NoOptDefVal == "" {
			value = "xyz"
		}
		if value != "" {
			value = "=" + value
		}
		args := []string{name + value, "run", "none.ko"}
		if f.Name == "rotate" || f.Name == "flight-recorder" {
			args = append([]string{"-o", "x"}, args...)
		}
		if f.Name == "flight-recorder" {
			return // starts another process, which says so
		}
		got, status := run(args...)
		if status == 0 || !strings.Contains(got, "none.ko: no such file") && !strings.Contains(got, flagName(f)) {
			t.Errorf("%q: %s", args, got)
		}
	})
	for name := range uses {
		t.Errorf("there is no option --%s", name)
	}
	for _, args := range [][]string{{"-e", hello, "-e", hello}, {"-l", "begin", "-l", "end"},
		{"-l", "begin", "-L", "end"}, {"-c", "true", "-c", "false", "-e", hello}, {"-x", "1", "-x", "2", "-e", hello},
		{"-T", "x", "run", "none.ko"}, {"-s", "0", "run", "none.ko"}, {"-c", "true", "-x", "1", "run", "none.ko"}} {
		if got, status := run(args...); status == 0 || !strings.Contains(got, args[0]) {
			t.Errorf("%q: %s", args, got)
		}
	}
}
