package vm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// asked are scripts at hooks of the security modules, each with a command to trace; DIR is the folder of the test.
var asked = []struct {
	name, script, command string
	want                  []string
}{
	{"opens", `global n probe lsm.file_open { if (execname() != "cat") next n[kernel_string($file->f_path->dentry->d_name->name), $file->f_flags & 3, pid() == target() || ppid() == target()]++ }
		probe end { foreach ([name+, how, own] in n) printf("%s %d %d: %d\n", name, how, own, n[name, how, own]) }`,
		"cat DIR/open DIR/secret DIR/open >/dev/null", []string{"\nopen 0 1: 2\n", "\nsecret 0 1: 1\n", "rc 0"}},
	{"denied", `probe lsm.file_open { if (execname() == "cat" && kernel_string($file->f_path->dentry->d_name->name) == "secret") lsm_deny(13) }`,
		"cat DIR/open DIR/secret", []string{"\nfirst\n", "secret': Permission denied\n", "rc "}},
	{"withdrawn", `probe lsm.file_open { if (execname() == "cat") { lsm_deny(13) error("over") } }`,
		"cat DIR/secret", []string{"\nsecond\n", "ERROR: over"}},
	{"number", `probe lsm.file_open { if (execname() == "cat") try { lsm_deny(4096) } catch (m) { println(m) } }`,
		"cat DIR/secret", []string{"\nsecond\n", "\nlsm_deny: 4096 is no number of an error, which are 1 to 4095\n"}},
	{"order", `global g probe lsm.bprm_check_security { g = 1 } probe lsm.bprm_check_security { println("exec ", kernel_string($bprm->filename), " ", g) }`,
		"env true", []string{"exec /bin/env 1\n", "rc 0"}},
	{"many", `global n probe lsm.inode_* { n[ppfunc()]++ } probe end { printf("%d %d\n", n["inode_permission"] > 0, n["inode_create"] > 0) }`,
		"touch /tmp/new", []string{"\n1 1\n", "rc 0"}},
	{"nothing", `probe lsm.inode_free_security { lsm_deny(1) }`, "true",
		[]string{"lsm_deny() answers a hook of the security modules that decides something", "rc 1"}},
	{"module", `probe lsm.file_open { }`, "", []string{"the kernel has hooks of security modules for eBPF programs, not for modules", "rc 1"}},
}

// TestLSM: hooks of the security modules see what programs do, and can deny it; kernels that do not ask eBPF programs
// say so.
func TestLSM(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, _ *bench) {
		dir := t.TempDir()
		if err := goBuild(filepath.Join(dir, "gostap"), "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"open": "first\n", "secret": "second\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		run := func(name, script, command string) string {
			args := " -c '" + strings.ReplaceAll(command, "DIR", dir) + "'"
			if command == "" {
				args = " --runtime=kernel"
			}
			return "echo '== " + name + "'; " + dir + "/gostap -g -e '" + script + "'" + args + " 2>&1; echo rc $?\n"
		}
		all := ""
		for _, s := range asked {
			all += run(s.name, s.script, s.command)
		}
		files := map[string]string{dir: dir}
		res := guest(t, k, Options{Files: files, Command: all, Append: "lsm=landlock,bpf"})
		for _, s := range asked {
			part := part(res, s.name)
			for _, w := range s.want {
				if !strings.Contains("\n"+part, w) {
					t.Errorf("%s: no %q in\n%s", s.name, w, part)
				}
			}
		}
		res = guest(t, k, Options{Files: files, Command: run("off", asked[0].script, "true"), Append: "lsm=landlock"})
		if want := "bpf is not among this kernel's active security modules ("; !strings.Contains(res.Output, want) ||
			!strings.Contains(res.Output, "boot it with lsm=") {
			t.Errorf("no %q in\n%s", want, res.Output)
		}
	})
}
