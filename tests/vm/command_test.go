package vm

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// commands are scripts that are built on the host by the command itself and run in the guest by "gostap run".
// %PROG is the traced program.
var commands = map[string]string{
	"embed": `
%{
#include <linux/utsname.h>
#if !defined(STAPCONF_DPATH_PATH) || !defined(STAPCONF_LINUX_UIDGID_H) || defined(STAPCONF_TASK_UID)
#error "this is a kernel of the past"
#endif
static int twice(int n) { return 2 * n; }
%}
global n = 3, last = "", seen
function sum (a, b) %{ /* pure */
	STAP_RETURN(STAP_ARG_a + twice(STAP_ARG_b));
%}
function release () %{ strlcpy(STAP_RETVALUE, utsname()->release, MAXSTRINGLEN); %}
function note (s) %{ /* pragma:read:n */ /* pragma:write:n */ /* pragma:write:last */ /* unmodified-fnargs */
	STAP_GLOBAL_SET_last(STAP_ARG_s);
	STAP_GLOBAL_SET_n(STAP_GLOBAL_GET_n() + 1);
	STAP_PRINTF("noted %s %lld\n", STAP_ARG_s, STAP_GLOBAL_GET_n());
%}
function tgid () %{ THIS->__retvalue = kread(&current->tgid); %}
function old (rc, pos) %{ snprintf(THIS->__retvalue, MAXSTRINGLEN, "%lld %s", THIS->rc, THIS->pos); %}
function bad:long () %{ STAP_RETURN(kderef(8, 16)); %}
function fail (k:long) %{ if (STAP_ARG_k) STAP_ERROR("failed with %lld", STAP_ARG_k); _stp_printf("not failed\n"); %}
function fact:long (k:long) { return k > 1 ? sum(0, 0) + k * fact(k - 1) : 1 }
probe begin {
	printf("%d %d %d %s\n", sum(1, 2), fact(5), %{ 40 + 2 %}, %{ /* string */ "text" %})
	if (release() == @1) println("release") if (tgid() == pid()) println("tgid") println(@const("PATH_MAX"))
	println(old(1, "old"))
	note("one") fail(0)
	try { fail(7) } catch (m) { println("caught ", m) }
	try { println(bad()) } catch (m) { println("caught ", m) }
}
probe process("%PROG").function("main.traceme") { seen[sum($a, $b)] = execname() note("two") }
probe end { foreach (k in seen) printf("%d %s\n", k, seen[k]) println(n, " ", last) }
`,
	"files": `
global n = 5, last = "none"
probe procfs("count").read { $value = sprintf("%d\n", n++) }
probe procfs.write { last = $value n = strtol($value, 10) println("wrote ", strlen($value), " ", execname()) if (last == "stop\n") exit() }
probe procfs("sub/long").umask(0).read.maxsize(2000) { for (i = 0; i < 40; i++) $value .= "0123456789012345678901234567890123456789" }
probe procfs.read { $value = last; $value .= "(" . pp() . ")\n" }
probe procfs("sub/bad").read { try { error("broken") } catch { } x = n / (n - n) $value = sprint(x) }
probe end { println("end ", n) }
`,
	"metrics": `
global calls, byname
probe begin { calls["a\"b\\c", 7] = 3 calls["d\n", -1] = 4 byname["/x"] = 5 byname["y"] = 1 }
function twice:long (v:long) { return 2 * v }
function named:string (s:string) { return "<" . s . ">" }
probe prometheus {
	@prometheus_dump_array2(calls, "calls_total", "name", "number")
	@prometheus_dump_array1_map(byname, "twice", "path", twice, named)
	@prometheus_dump_array1_map_unquoted(byname, "quoted", "path", sprint, text_str)
}
probe procfs("stop").write { exit() }
`,
	"json": `
global n
probe begin {
	json_set_prefix("my \"own\"") json_add_numeric_metric("reads", "calls", "count") json_add_string_metric("last", "") json_add_array("disks", "each\tdisk")
	json_add_array_numeric_metric("disks", "hits", "", "") json_add_array_string_metric("disks", "label", "x")
	printf("taken %d %d %d\n", json_add_array("reads", ""), json_add_array_numeric_metric("none", "a", "", ""), json_add_string_metric("more", ""))
}
probe json_data {
	n++ @json_output_data_start @json_output_numeric_value("reads", n)
	@json_output_array_numeric_value("disks", "a", "hits", 5) @json_output_array_string_value("disks", "a", "label", "l\\1") @json_output_array_numeric_value("disks", "b", "hits", -7)
	@json_output_string_value("last", "x\n\"y\"") @json_output_data_end
}
probe procfs("stop").write { exit() }
`,
	// A handler that does not come to its end has no say.
	"packets": `
global n
probe netfilter.ipv4.local_out {
	if (protocol != 1 || length < 100) next
	n[length]++
	if (length == 128) $verdict = nf_drop
	if (length == 138) { $verdict = nf_stolen next }
	if (length == 148) { $verdict = nf_drop error("over") }
}
probe netfilter.ipv4.local_in { if (protocol == 1 && length > 99) n[-length]++ }
probe end, error { foreach (l+ in n) printf("%d: %d\n", l, n[l]) }
`,
	"fired": `
global n
probe process("%PROG").function("main.traceme") { n++ }
probe process("%PROG").function("main.traceme").return { println("back ", $return) }
probe process("%PROG").function("runtime.sigpanic"), process("%PROG").function("runtime.badsignal") { n++ }
probe process("%PROG").statement("main.traceme@*:6") { if (target() == 0) println("not here") }
probe kernel.function("do_exit"), kernel.function("emergency_restart") { n++ }
probe kernel.trace("sched_process_fork") { n++ } probe kernel.trace("sched_process_hang") { println(n) }
probe syscall.reboot { n++ } probe begin, end { println("n is ", n > 1) } probe timer.s(100) { n++ }
`,
	"other": `probe procfs("sub/x").read { $value = "another module\n" } probe begin { println("other") } probe timer.s(30) { exit() }`,
	"plain": `probe process("%PROG").function("main.traceme") { printf("%d and %d\n", $a, $b) } probe end { error("over") }`,
	"mine":  `probe process.function("main.traceme") { println("mine ", pid() == target()) }`,
}

// TestCommands builds modules with the whole command, takes them to a machine without scripts, headers and compiler,
// and runs them there; then it makes everything go wrong that can.
func TestCommands(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		gostap, prog := filepath.Join(dir, "gostap"), filepath.Join(dir, "prog")
		for out, pkg := range map[string]string{gostap: "../../cmd/gostap", prog: "../fixtures/stap"} {
			if err := goBuild(out, pkg); err != nil {
				t.Fatal(err)
			}
		}
		files := map[string]string{"/lab/gostap": gostap, prog: prog}
		for name, text := range commands {
			script := filepath.Join(dir, name+".stp")
			if err := os.WriteFile(script, []byte(strings.ReplaceAll(text, "%PROG", prog)), 0o644); err != nil {
				t.Fatal(err)
			}
			args := []string{"-g", "--vp", "00020", "-p4", "-m", name, "-r", kdir, "--runtime=kernel"}
			if name == "packets" || name == "fired" {
				facts, err := k.Facts(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				args = append(args, "--kernel-btf", facts.BTF, "--kernel-map", facts.Kallsyms)
			}
			if name == "mine" {
				args = append(args, "-c", prog)
			}
			args = append(args, script)
			if name == "embed" {
				args = append(args, k.Release)
			}
			cmd := exec.Command(gostap, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
			out, err := cmd.CombinedOutput()
			if err != nil || bytes.Contains(out, []byte("cannot be run without its script")) {
				t.Fatalf("build %s: %v\n%s", name, err, out)
			}
			if gccWarning.Match(out) || bytes.Contains(out, []byte("stp:")) {
				t.Errorf("%s: gcc warns:\n%s", name, out)
			}
			files["/lab/"+name+".ko"] = filepath.Join(dir, name+".ko")
		}
		// Modules that are not what they should be.
		ko, err := os.ReadFile(filepath.Join(dir, "plain.ko"))
		if err != nil {
			t.Fatal(err)
		}
		change := func(name, from, to string) {
			out := bytes.Replace(ko, []byte(from), []byte(to), -1)
			if bytes.Equal(out, ko) {
				t.Fatalf("plain.ko has no %q", from)
			}
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, out, 0o644); err != nil {
				t.Fatal(err)
			}
			files["/lab/"+name] = path
		}
		change("elsewhere.ko", "vermagic="+k.Release, "vermagic=5"+k.Release[1:])
		change("block.ko", "plain\x00", "block\x00")
		change("magic.ko", " mod_unload ", " mod_unlaod ")
		res := guest(t, k, Options{Files: files, Timeout: 4 * time.Minute, Command: strings.ReplaceAll(`
r() { n=$1; shift; echo "== $n"; "$@"; echo "rc $?"; }
upto() { for i in $(seq 300); do [ -e $1 ] && break; sleep 0.2; done; }
r embed ./gostap -v run embed.ko -c PROG
r plain ./gostap run -o /tmp/plain plain.ko -c PROG
cat /tmp/plain
r mine ./gostap run mine.ko -c PROG
r notmine ./gostap run mine.ko -c 'sleep 1'
r shell ./gostap run mine.ko -c 'PROG; true'
r terminal ./gostap run fired.ko -c PROG
r fired sh -c './gostap -v run fired.ko -c PROG 2>/tmp/err; s=$?; cat /tmp/err; exit $s'
r unasked sh -c './gostap run fired.ko -c PROG 2>/tmp/err; s=$?; cat /tmp/err; exit $s'
r timeout ./gostap -T 1 run plain.ko
r elsewhere ./gostap run elsewhere.ko
r magic ./gostap run magic.ko
r builtin ./gostap run block.ko
r nobody sh -c 'echo nobody:x:1000:1000::/:/bin/sh >>/etc/passwd; su nobody -c "/lab/gostap run /lab/plain.ko"'
echo "== files"
./gostap -o /tmp/files run files.ko & p=$!
./gostap run other.ko & q=$!
upto /proc/gostap/files/sub/bad; upto /proc/gostap/other/sub/x
ls -1 /proc/gostap
ls -l /proc/gostap/files/count /proc/gostap/files/command /proc/gostap/files/sub/long | cut -c1-10
cat /proc/gostap/files/count /proc/gostap/files/count
exec 3</proc/gostap/files/count 4</proc/gostap/files/count
head -c 1 <&3; echo; head -c 1 <&4; cat <&3; cat <&4
exec 3<&- 4<&-
cat /proc/gostap/files/command
echo 41 >/proc/gostap/files/command; cat /proc/gostap/files/count /proc/gostap/files/command
wc -c </proc/gostap/files/sub/long
cat /proc/gostap/other/sub/x
r twice ./gostap run files.ko
echo "== wrong"
cat /proc/gostap/files/sub/bad; echo "bad $?"
wait $p; echo "files $?"
cat /tmp/files
cat /proc/gostap/files/count; echo "after $?"
kill $q; wait $q
ls /proc/gostap | wc -l
echo "== metrics"
./gostap run metrics.ko & p=$!
upto /proc/gostap/metrics/stop
sort /proc/gostap/metrics/prometheus
echo x >/proc/gostap/metrics/stop; wait $p; echo "rc $?"
echo "== json"
./gostap run json.ko & p=$!
upto /proc/gostap/json/stop
{ cat /proc/gostap/json/metadata.json /proc/gostap/json/data.json; head -2 /proc/gostap/json/data.json; } >/tmp/json 2>&1; cat /tmp/json
echo x >/proc/gostap/json/stop; wait $p; echo "rc $?"
echo "== packets"
./gostap run packets.ko >/tmp/packets 2>&1 & p=$!
for i in $(seq 300); do lsmod | grep -q ^packets && break; sleep 0.2; done; sleep 1
for s in 90 100 110 120; do ping -c 1 -W 1 -s $s 127.0.0.1 >/dev/null 2>&1; echo "$s $?"; done
wait $p; cat /tmp/packets
echo "== replaced"; cp /bin/busybox PROG; ./gostap run plain.ko; echo "rc $?"
mount -t securityfs s /sys/kernel/security
[ -e /sys/kernel/security/lockdown ] && echo integrity >/sys/kernel/security/lockdown && r lockdown ./gostap run other.ko
echo 1 >/sys/module/module/parameters/sig_enforce
r unsigned ./gostap run other.ko
echo 1 >/proc/sys/kernel/modules_disabled
r disabled ./gostap run other.ko
echo "== modules"; lsmod | tail -n +2
`, "PROG", prog)})
		// In the order of the script.
		never := strings.ReplaceAll(`never fired: process("PROG").function("runtime.sigpanic")
never fired: process("PROG").function("runtime.badsignal")
never fired: kernel.function("emergency_restart")
never fired: kernel.trace("sched_process_hang")
never fired: syscall.reboot
`, "PROG", prog)
		for _, c := range []struct {
			name string
			want []string
		}{
			{"embed", []string{"tainted until the next boot", "5 120 42 text\nrelease\ntgid\n4096\n1 old\nnoted one " +
				"4\nnot failed\ncaught failed with 7\ncaught read fault at 0x0000000000000010\n", "noted two 5\n",
				"5 prog\n5 two\n", "rc 0"}},
			{"plain", []string{"ERROR: over near identifier 'error' at ", "plain.stp:1:", "rc 1\n1 and 2\n"}},
			{"mine", []string{"mine 1\n", "rc 0"}},
			{"notmine", []string{"was built to trace " + prog + ", not /bin/sleep", "rc 1"}},
			{"shell", []string{"mine 0\n", "rc 0"}},
			{"fired", []string{never, "rc 0"}},
			// the guest's console
			{"terminal", []string{"tracing 4 places in prog has begun\n", "n is 1\n" + never + "rc 0"}},
			{"unasked", []string{"n is 1\nrc 0"}},
			{"timeout", []string{"ERROR: over", "rc 1"}},
			{"elsewhere", []string{"the module is for kernel 5" + k.Release[1:] + ", but " + k.Release + " is running",
				"rc 1"}},
			{"magic", []string{"module plain does not belong to this kernel", "dmesg says more", "rc 1"}},
			{"builtin", []string{"block is the name of a part of the kernel", "a name of its own with -m", "rc 1"}},
			{"nobody", []string{"not permitted", "run as root", "rc 1"}},
			{"files", []string{"files\nother\n-rw-------\n-r--------\n-r--r--r--\n5\n6\n7\n8\n\nnone(procfs.read)" +
				"\n41\n41\n(procfs.read)\n1600\nanother module\n"}},
			{"twice", []string{"a module named files is loaded already", "-m", "rc 1"}},
			{"wrong", []string{"ERROR: division by 0 near operator '/'", "bad 1\n", "files 1\nwrote 3 sh\n",
				"after 1\n0\n"}},
			{"metrics", []string{`calls_total{name="a\"b\\c",number="7"} 3` + "\n" +
				`calls_total{name="d\n",number="-1"} 4` + "\n" + `quoted{path=/x} 5` + "\n" + `quoted{path=y} 1` +
				"\n" +
				`twice{path="</x>"} 10` + "\n" + `twice{path="<y>"} 2` + "\n", "rc 0"}},
			{"json", []string{"taken 1 1 0\n", `{"prefix": "my \"own\"",
"metrics": [{"name": "reads", "pointer": "/reads", "type": "integer", "description": "calls", "units": "count"},
  {"name": "last", "pointer": "/last", "type": "string"},
  {"name": "disks", "pointer": "/disks", "type": "array", "description": "each\u0009disk", "index": "/__id", "metrics": [{"name": "hits", "pointer": "/hits", "type": "integer"},
    {"name": "label", "pointer": "/label", "type": "string", "description": "x"}]},
  {"name": "more", "pointer": "/more", "type": "string"}]}
{
"reads": 1,
"disks": [
  {"__id": "a", "hits": 5, "label": "l\\1"},
  {"__id": "b", "hits": -7}],
"last": "x\u000a\"y\""
}
{
"reads": 2,
`, "rc 0"}},
			{"packets", []string{"90 0\n100 1\n110 0\n120 0\n", "ERROR: over",
				"-138: 2\n-118: 2\n118: 2\n128: 1\n138: 2\n148: 1\n"}},
			{"replaced", []string{prog + " is not the file that plain.ko was built for", "rc 1"}},
			{"unsigned", []string{"the kernel takes signed modules only", "--runtime=bpf", "rc 1"}},
			{"disabled", []string{"loading of modules was switched off", "--runtime=bpf", "rc 1"}},
		} {
			for _, w := range c.want {
				if !strings.Contains(part(res, c.name), w) {
					t.Errorf("%s: no %q in\n%s", c.name, w, part(res, c.name))
				}
			}
		}
		if strings.Contains(res.Output, "== lockdown\n") &&
			!strings.Contains(part(res, "lockdown"), "the kernel is locked down") {
			t.Errorf("lockdown:\n%s", part(res, "lockdown"))
		}
		if m := strings.TrimSpace(part(res, "modules")); m != "" {
			t.Errorf("modules are left: %s", m)
		}
		if t.Failed() {
			t.Logf("output: %s\nconsole: %s", res.Output, res.Console)
		}
	})
}
