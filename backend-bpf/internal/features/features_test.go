package features

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
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
	cmd := exec.Command(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", bin, "-test.run=TestWithoutRights", "-test.v")
	cmd.Env = append(os.Environ(), "GOSTAP_TEST_NOBODY=1")
	cmd.Dir = "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
