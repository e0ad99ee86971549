package features

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestInfo tries everything. What must hold on any kernel that this project runs on is checked; the rest is shown.
func TestInfo(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for f := range numFeatures {
		start := time.Now()
		err := Probe(f)
		d := time.Since(start)
		t.Logf("%-22s %v %v (%v)", f, err == nil, err, d)
		if names[f].name == "" || names[f].what == "" {
			t.Errorf("feature %d has no name", f)
		}
	}
	for _, f := range []Feature{BPF, Ringbuf, Uprobe, Cookie, Loop, FetchAtomics, LookupPerCPU, GetStack} {
		if err := Probe(f); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	if Has(UprobeMultiPID) && !Has(UprobeMulti) {
		t.Error("uprobe_multi can be limited to a process but is not there")
	}
	seen := map[string]bool{}
	for _, r := range Info() {
		if seen[r.Name] {
			t.Errorf("%s is there twice", r.Name)
		}
		seen[r.Name] = true
		if !r.OK && r.Reason == "" {
			t.Errorf("%s: no, without a reason", r.Name)
		}
	}
}

// TestWithoutRights runs this test's binary as nobody.
func TestWithoutRights(t *testing.T) {
	if os.Getenv("GOSTAP_TEST_NOBODY") != "" {
		err := Probe(BPF)
		if err == nil {
			t.Skip("BPF is open to everybody here")
		}
		if !strings.Contains(err.Error(), "needs root, or CAP_BPF and CAP_PERFMON") {
			t.Errorf("got %v", err)
		}
		for f := range numFeatures {
			Probe(f) // must say something, not crash
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip(err)
	}
	exe, _ := os.Executable()
	dir := t.TempDir()
	os.Chmod(dir, 0o755)
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	// Test directories of root are closed to others.
	pub, err := os.MkdirTemp("/var/tmp", "gostap-features")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(pub)
	os.Chmod(pub, 0o755)
	bin := pub + "/test"
	if err := os.WriteFile(bin, b, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", bin, "-test.run=TestWithoutRights",
		"-test.v")
	cmd.Env = append(os.Environ(), "GOSTAP_TEST_NOBODY=1")
	cmd.Dir = "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestHiddenBPF runs this test's binary behind a filter that answers bpf(2) with an error, as containers do.
func TestHiddenBPF(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if e := os.Getenv("GOSTAP_TEST_ERRNO"); e != "" {
		n, _ := strconv.Atoi(e)
		filterBPF(t, uint32(n))
		err := Probe(BPF)
		if err == nil || !strings.Contains(err.Error(), os.Getenv("GOSTAP_TEST_WANT")) {
			t.Errorf("got %v", err)
		}
		for f := range numFeatures {
			Probe(f)
		}
		return
	}
	exe, _ := os.Executable()
	for errno, want := range map[unix.Errno]string{unix.ENOSYS: "has no BPF", unix.EPERM: "seccomp"} {
		cmd := exec.Command(exe, "-test.run=TestHiddenBPF")
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOSTAP_TEST_ERRNO=%d", errno), "GOSTAP_TEST_WANT="+want)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", errno, err, out)
		}
	}
}

// filterBPF makes the kernel answer bpf(2) with errno in this process.
func filterBPF(t *testing.T, errno uint32) {
	f := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // seccomp_data.nr
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_BPF, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | errno},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	p := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&p)))
	if e != 0 {
		t.Fatal(e)
	}
}
