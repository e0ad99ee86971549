package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
)

// cliRun runs the command and gives its status and both streams.
func cliRun(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = Run(args, Streams{In: strings.NewReader(""), Out: &o, Err: &e}, nil)
	return status, o.String(), e.String()
}

// TestOtherKernel lists and translates for a made-up kernel that is given by files or by a directory.
func TestOtherKernel(t *testing.T) {
	dir := t.TempDir()
	btf, symbols, err := kbtftest.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"--kernel-btf", btf, "--kernel-map", symbols}
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(btf, filepath.Join(folder, "vmlinux")); err != nil {
		t.Fatal(err)
	}
	want := `kernel.function("do_sys_open") $dfd:int $filename:char * $flags:int $mode:umode_t
kernel.function("tick")
kernel.function("vfs_read") $file:struct file * $buf:char * $count:size_t $pos:loff_t *
`
	point := `kernel.{function("do_sys_open"),function("vfs_r*"),function("tick")}`
	for _, how := range [][]string{files, {"-r", dir}, {"--kernel-btf", folder, "--kernel-map", symbols}} {
		if status, out, errs := cliRun(append(how, "-L", point)...); status != 0 || out != want {
			t.Errorf("%v: status %d\n%s%s", how, status, out, errs)
		}
	}
	_, out, errs := cliRun(append(files, "-p3", "-e",
		`probe kernel.function("vfs_read").return { println($return, $count) }`)...)
	if !strings.Contains(out, `site kretprobe symbol="vfs_read"`) && errs != "" {
		t.Errorf("-p3: %s%s", out, errs)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(files, "-e", `probe kernel.function("tick") {}`), "only this one can be traced"},
		{[]string{"--kernel-btf", btf, "-p2", "-e", `probe kernel.function("tick") {}`}, "--kernel-map"},
		{[]string{"--kernel-map", symbols, "-p2", "-e", `probe kernel.function("vfs_read") { println($count) }`},
			"--kernel-btf"},
		{[]string{"--kernel-map", dir + "/none", "-l", "begin"}, "no such file"},
		{[]string{"--kernel-btf", t.TempDir(), "-l", "begin"}, "is to be like /sys/kernel/btf"},
		{[]string{"--kernel-btf", folder, "--kernel-map", symbols, "-l", `module("nfsd").function("x")`}, "it is not loaded"},
		{[]string{"--kernel-map", btf, "-l", `kernel.function("tick")`}, "not a symbol table"},
		{[]string{"--kernel-btf", symbols, "--kernel-map", symbols, "-p2", "-e",
			`probe kernel.function("vfs_read") { println($count) }`}, "damaged BTF"},
		{[]string{"-r", "9.9.9-none", "-p2", "-e", `probe kernel.function("tick") {}`}, "kernel 9.9.9-none"},
	} {
		if status, out, errs := cliRun(c.args...); status == 0 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d\n%s%s", c.args, status, out, errs)
		}
	}
}
