package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestRun: tests that end, hang, go round in circles, and leave files and processes behind.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	times := filepath.Join(dir, "times")
	t.Setenv("GOSTAP_TEST_TIMES", times)
	for _, c := range []struct {
		script string
		want   int
		most   time.Duration
	}{
		{"exit 3", 3, time.Minute},
		{"touch $TMPDIR/x; sleep 1000 & (sleep 1000 &) ; exit 0", 0, time.Minute},
		{"kill -9 $$", 128 + 9, time.Minute},
		{"touch $TMPDIR/x; sleep 1000", 1, time.Minute},
		{"while :; do :; done", 1, 300 * time.Millisecond},
		{"(trap '' QUIT; while :; do :; done)", 1, 300 * time.Millisecond},
	} {
		if got := run([]string{"/bin/sh", "-c", c.script}, 500*time.Millisecond, c.most); got != c.want {
			t.Errorf("%s: status %d, want %d", c.script, got, c.want)
		}
		if left, _ := filepath.Glob(dir + "/gostap-t*"); len(left) > 0 {
			t.Errorf("%s: %v is left", c.script, left)
		}
		// What is killed is taken apart by the kernel in its own time.
		for end := time.Now().Add(time.Minute); len(kin()) > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%s: processes are left: %s", c.script, family())
				break
			}
		}
	}
	if os.Geteuid() == 0 { // a device of our own, which a test replaces as a linker's careless -o would
		defer func(path string) { null = path }(null)
		null = filepath.Join(dir, "null")
		for script, want := range map[string]int{"echo >" + null: 0, "echo >" + null + ".new; mv " + null + ".new " +
			null: 1, "rm " + null: 1} {
			os.Remove(null)
			if err := unix.Mknod(null, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
				t.Skip("no devices can be made here: ", err)
			}
			if got := run([]string{"/bin/sh", "-c", script}, 500*time.Millisecond, time.Minute); got != want {
				t.Errorf("%s: status %d, want %d", script, got, want)
			}
		}
	}
	if b, _ := os.ReadFile(times); strings.Count(string(b), " cpu ") < 7 ||
		!strings.Contains(string(b), "left 2 processes") {
		t.Errorf("times:\n%s", b)
	}
}
