package vm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Facts are what a running kernel tells of itself, for work on this machine that is about it: files that are fetched
// from a guest once. Guests are booted without address randomisation, so that addresses hold from boot to boot.
type Facts struct {
	BTF      string // /sys/kernel/btf/vmlinux
	Kallsyms string // /proc/kallsyms
	// Blacklist lists what must not be probed (/sys/kernel/debug/kprobes/blacklist).
	Blacklist string
}

// Facts boots the kernel if they are not in the cache.
func (k *Kernel) Facts(ctx context.Context) (*Facts, error) {
	dir := filepath.Join(k.dir, "facts")
	f := &Facts{BTF: filepath.Join(dir, "vmlinux.btf"), Kallsyms: filepath.Join(dir, "kallsyms"),
		Blacklist: filepath.Join(dir, "blacklist")}
	unlock, err := lock(k.a.dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if exists(filepath.Join(dir, "ready")) {
		return f, nil
	}
	res, err := k.Run(ctx, Options{Command: "cat /sys/kernel/btf/vmlinux >/out/vmlinux.btf; cat /proc/kallsyms " +
		">/out/kallsyms; cat /sys/kernel/debug/kprobes/blacklist >/out/blacklist"})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, name := range []string{"vmlinux.btf", "kallsyms", "blacklist"} {
		if len(res.Out[name]) == 0 {
			return nil, fmt.Errorf("the guest gave no %s: %s", name, res.Output)
		}
		if err := os.WriteFile(filepath.Join(dir, name), res.Out[name], 0o644); err != nil {
			return nil, err
		}
	}
	return f, os.WriteFile(filepath.Join(dir, "ready"), nil, 0o644)
}
