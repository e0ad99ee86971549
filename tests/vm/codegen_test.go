package vm

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCodeGenerator runs the tests of the eBPF code generator on older kernels: programs in the kernel against the
// interpreter, every intrinsic before that kernel's verifier.
func TestCodeGenerator(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, _ *bench) {
		bin := filepath.Join(t.TempDir(), "sel.test")
		cmd := exec.Command("go", "test", "-c", "-o", bin, "../../backend-bpf/internal/sel")
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		res := guest(t, k, Options{
			Command: "./sel.test -test.run 'Differential|Random|Intrinsics|Match' -seeds 20",
			Files: map[string]string{"/lab/sel.test": bin,
				"/lab/testdata": "../../backend-bpf/internal/sel/testdata"},
			Timeout: 4 * time.Minute,
		})
		if res.Status != 0 || !strings.Contains(res.Output, "PASS") {
			t.Errorf("status %d\n%s", res.Status, res.Output)
		}
	})
}
