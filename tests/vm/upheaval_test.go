package vm

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// upheavalSeed can be given another value with GOSTAP_SEED.
const upheavalSeed = 1

// together has so many functions of the kernel that a module attaches them together.
const together = `
global n long
global ret stats

probe "functions" {
  site kprobe symbol="vfs_read"
  site kprobe symbol="vfs_write"
  site kprobe symbol="vfs_open"
  site kprobe symbol="do_sys_openat2"
  site kprobe symbol="may_open"
  site kprobe symbol="__fput"
  site kprobe symbol="vfs_statx"
  site kprobe symbol="path_openat"
  site kprobe symbol="do_mmap"
  site kprobe symbol="do_exit"
  site kprobe symbol="wake_up_new_task"
b0:
  gadd @n, 1
  end
}

probe "returns" {
  site kretprobe symbol="vfs_read"
  site kretprobe symbol="vfs_write"
  site kretprobe symbol="path_openat"
  long r0
b0:
  r0 = reg 0
  sadd @ret, r0
  end
}
`

// TestUpheaval: unmounts, truncations, replacements, kills and reloads at random moments, with modules and eBPF.
// The machine stays up, its kernel has nothing to complain of, and nothing is left. GOSTAP_ORACLE=full makes 1000
// rounds of it on two kernels.
func TestUpheaval(t *testing.T) {
	rounds, kernels := 10, Releases()
	if os.Getenv("GOSTAP_ORACLE") == "full" {
		rounds = 1000
		if os.Getenv("GOSTAP_VM_KERNELS") == "" {
			kernels = []string{"6.1.0-56-cloud-amd64", "7.3.4+deb13-cloud-amd64"}
		}
	}
	if s := os.Getenv("GOSTAP_VM_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		rounds = n
	}
	seed := uint64(upheavalSeed)
	if s := os.Getenv("GOSTAP_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	on(t, kernels, func(t *testing.T, k *Kernel, b *bench) {
		t.Logf("seed %d (GOSTAP_SEED), %d rounds (GOSTAP_VM_ROUNDS)", seed, rounds)
		moved := func(ir string) string { return strings.ReplaceAll(ir, "/lab/prog", "/mnt/t/prog") }
		files := b.stage(t, k, map[string]string{"all": moved(busy), "kside": kernelSide, "mounted": mounted,
			"together": together})
		dir := t.TempDir()
		for out, pkg := range map[string]string{"gostap": "../../cmd/gostap", "upheaval": "./upheaval"} {
			path := filepath.Join(dir, out)
			if err := goBuild(path, pkg); err != nil {
				t.Fatal(err)
			}
			files["/lab/"+out] = path
		}
		res := guest(t, k, Options{Files: files, Timeout: 2*time.Minute + time.Duration(rounds)*5*time.Second,
			Command: fmt.Sprintf("upheaval -seed %d -rounds %d; echo rc $?", seed, rounds)})
		t.Log(strings.TrimSpace(res.Output))
		if !strings.Contains(res.Output, fmt.Sprintf("rounds %d:", rounds)) || !strings.Contains(res.Output, "rc 0") {
			t.Errorf("it did not come to its end\nconsole: %s", res.Console)
		}
	})
}
