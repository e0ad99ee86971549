package features

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// haveLSM: programs can be loaded for hooks of security modules, and the kernel asks them.
func haveLSM() error {
	active, err := securityModules()
	if err != nil {
		return err
	}
	if !slices.Contains(active, "bpf") {
		return fmt.Errorf("bpf is not among this kernel's active security modules (%s), so that it asks no program; "+
			"boot it with lsm=%s", strings.Join(active, ","), strings.Join(append(active, "bpf"), ","))
	}
	return tracing(ebpf.AttachLSMMac, "bpf_lsm_file_open")
}

// securityModules lists the active ones, from the file lsm of securityfs. Where that is not mounted it is, for the
// moment and nowhere (fsopen(2), Linux 5.2).
func securityModules() ([]string, error) {
	b, err := os.ReadFile("/sys/kernel/security/lsm")
	if errors.Is(err, os.ErrNotExist) {
		b, err = readSecurityFS("lsm")
	}
	if err != nil {
		return nil, fmt.Errorf("which security modules are active is not known: %w", err)
	}
	return strings.FieldsFunc(strings.TrimSpace(string(b)), func(r rune) bool { return r == ',' }), nil
}

// readSecurityFS reads a file of securityfs without a mount point.
func readSecurityFS(name string) ([]byte, error) {
	fs, err := unix.Fsopen("securityfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("securityfs: %w", err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return nil, fmt.Errorf("securityfs: %w", err)
	}
	dir, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("securityfs: %w", err)
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("securityfs: %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return io.ReadAll(f)
}
