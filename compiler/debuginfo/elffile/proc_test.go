package elffile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestOtherMountNamespace opens the program of a process whose file has a name that means nothing here.
func TestOtherMountNamespace(t *testing.T) {
	dir := t.TempDir()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("no sleep to run: ", err)
	}
	cmd := exec.Command("/bin/sh", "-c", "mount -t tmpfs none "+dir+" && cp "+sleep+" "+dir+"/app && exec "+dir+
		"/app 60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
	if err := cmd.Start(); err != nil {
		t.Skip("no right to make a mount namespace: ", err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	exe := fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid)
	for i := 0; ; i++ {
		if link, err := os.Readlink(exe); err == nil && filepath.Base(link) == "app" {
			break
		}
		if i == 100 {
			t.Skip("the process did not get its own mounts")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if _, err := os.Stat(filepath.Join(dir, "app")); err == nil {
		t.Fatal("the mount is visible here")
	}
	for _, path := range []string{exe, fmt.Sprintf("/proc/%d/root%s/app", cmd.Process.Pid, dir)} {
		f, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if f.Path() != path {
			t.Errorf("opened %s as %s", path, f.Path())
		}
		f.Close()
	}
}
