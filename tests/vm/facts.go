package vm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Facts are what a running kernel tells of itself, for work on this machine that is about it: files that are fetched
// from a guest once. Guests are booted without address randomisation, so that addresses hold from boot to boot.
type Facts struct {
	// BTF is a copy of /sys/kernel/btf/vmlinux; where modules were asked for, of the whole folder.
	BTF      string
	Kallsyms string // /proc/kallsyms
	// Blacklist lists what must not be probed (/sys/kernel/debug/kprobes/blacklist).
	Blacklist string
}

// Facts boots the kernel if they are not in the cache, and loads these modules of its own first.
func (k *Kernel) Facts(ctx context.Context, modules ...string) (*Facts, error) {
	dir, o := filepath.Join(k.dir, "facts"), Options{Files: map[string]string{}}
	btf, copies := "vmlinux.btf", "cat /sys/kernel/btf/vmlinux >/out/vmlinux.btf"
	if len(modules) > 0 {
		dir += "-" + strings.Join(modules, "-")
		btf, copies = "btf", "mkdir /out/btf; for f in /sys/kernel/btf/*; do cat $f >/out/btf/${f##*/}; done"
		paths, err := k.Modules(modules...)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			at := "/lab/" + filepath.Base(p)
			o.Files[at] = p
			o.Command += "insmod " + at + "; "
		}
	}
	f := &Facts{BTF: filepath.Join(dir, btf), Kallsyms: filepath.Join(dir, "kallsyms"),
		Blacklist: filepath.Join(dir, "blacklist")}
	unlock, err := lock(dir) // not that of the packages: the guest may need some of them
	if err != nil {
		return nil, err
	}
	defer unlock()
	if exists(filepath.Join(dir, "ready")) {
		return f, nil
	}
	o.Command += copies + "; cat /proc/kallsyms >/out/kallsyms; cat /sys/kernel/debug/kprobes/blacklist >/out/blacklist"
	res, err := k.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{btf, "kallsyms", "blacklist"} {
		if name == "btf" {
			name = "btf/vmlinux"
		}
		if len(res.Out[name]) == 0 {
			return nil, fmt.Errorf("the guest gave no %s: %s", name, res.Output)
		}
	}
	for name, b := range res.Out {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return nil, err
		}
	}
	return f, os.WriteFile(filepath.Join(dir, "ready"), nil, 0o644)
}

// Debug gives the kernel's file with debug information, which its package of 280 MB is fetched for.
func (k *Kernel) Debug() (string, error) {
	unlock, err := lock(k.a.dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	path := filepath.Join(k.dir, "vmlinux")
	if exists(path) {
		return path, nil
	}
	deb, err := k.a.get(suites(k.Release), "linux-image-"+k.Release+"-dbg")
	if err != nil {
		return "", err
	}
	sh := `dpkg-deb --fsys-tarfile "$1" | tar -xO --wildcards '*/boot/vmlinux-*' >"$2.new" && mv "$2.new" "$2"`
	_, err = run("", "sh", "-c", sh, "sh", deb, path)
	return path, err
}
