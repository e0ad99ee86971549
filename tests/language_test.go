package tests

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/tests/patience"
)

// TestLanguage runs every script of language/ twice: as a begin probe, which the
// interpreter runs on the host, and at a function of a traced program, which the eBPF
// back end runs in the kernel. Both must print what stands behind "### output".
func TestLanguage(t *testing.T) {
	files, err := filepath.Glob("language/*.stp")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	gostap := bin(t, "gostap")
	traced := bin(t, "stap")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, want, ok := strings.Cut(string(data), "### output\n")
		if !ok || !strings.Contains(script, "probe test {") {
			t.Fatalf("%s: no output or no test probe", file)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".stp")
		t.Run(name+"/host", func(t *testing.T) {
			t.Parallel()
			s := strings.Replace(script, "probe test {", "probe begin {", 1) + "\nprobe begin(9999) { exit() }\n"
			check(t, want, gostap, "-w", "--no-global-var-display", "--runtime=host", "-e", s)
		})
		t.Run(name+"/bpf", func(t *testing.T) {
			t.Parallel()
			needRoot(t)
			s := strings.Replace(script, "probe test {", `probe process.function("main.traceme") {`, 1)
			check(t, want, gostap, "-w", "--no-global-var-display", "--runtime=bpf", "-e", s, "-c",
				traced+" >/dev/null")
		})
		t.Run(name+"/bpf-unoptimized", func(t *testing.T) {
			t.Parallel()
			needRoot(t)
			s := strings.Replace(script, "probe test {", `probe process.function("main.traceme") {`, 1)
			check(t, want, gostap, "-u", "-w", "--no-global-var-display", "--runtime=bpf", "-e", s, "-c",
				traced+" >/dev/null")
		})
	}
}

func check(t *testing.T, want string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	stop := patience.AfterFunc(soon, func() { cmd.Process.Kill() })
	defer stop()
	err := cmd.Run()
	if got := stdout.String(); err != nil || got != want {
		t.Errorf("%v\n--- got\n%s--- want\n%s--- errors\n%s", err, got, want, stderr.String())
	}
}
