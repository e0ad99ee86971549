package vm

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// moduleFolders are those of the package whose modules guests may load, with what is below them.
var moduleFolders = []string{"fs", "net/sunrpc", "net/dns_resolver", "net/core", "drivers/net", "drivers/virtio",
	"drivers/block", "drivers/scsi", "drivers/md", "lib", "arch/*/crypto", "arch/*/kvm", "virt", "crypto"}

// Modules gives the kernel's own modules of these names, such as "sunrpc", and those that they need, in the order in
// which they can be loaded: files on this machine, which are taken out of the kernel's package when they are first
// asked for. Behind a name a question mark says that it may be a part of the kernel.
func (k *Kernel) Modules(names ...string) ([]string, error) {
	unlock, err := lock(k.a.dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	root := filepath.Join(k.dir, "modules-6") // another number for other files
	if !exists(filepath.Join(root, "ready")) {
		deb, err := k.a.get(suites(k.Release), "linux-modules-"+k.Release, "linux-image-"+k.Release+"-unsigned")
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(root, 0o755); err != nil {
			return nil, err
		}
		const sh = `deb=$1 to=$2; shift 2; dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$to" --wildcards "$@" 2>/dev/null
			find "$to" -name '*.xz' -exec xz -d {} +`
		args := []string{"-c", sh, "sh", deb, root}
		for _, folder := range moduleFolders {
			args = append(args, "*/kernel/"+folder+"/*.ko*")
		}
		if _, err := run("", "sh", args...); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(root, "ready"), nil, 0o644); err != nil {
			return nil, err
		}
	}
	files := map[string]string{}
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(filepath.Base(path), ".ko"); ok {
			files[strings.ReplaceAll(name, "-", "_")] = path
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []string
	var add func(name string) error
	add = func(name string) error {
		path := files[name]
		if path == "" || slices.Contains(out, path) {
			return nil // part of the kernel
		}
		needs, err := depends(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, n := range needs {
			if err := add(strings.ReplaceAll(n, "-", "_")); err != nil {
				return err
			}
		}
		out = append(out, path)
		return nil
	}
	for _, n := range names {
		n, builtIn := strings.CutSuffix(n, "?")
		if files[n] == "" && !builtIn {
			return nil, fmt.Errorf("kernel %s has no module %s", k.Release, n)
		}
		if err := add(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// depends names the modules that one needs, as it says itself.
func depends(path string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := f.Section(".modinfo")
	if s == nil {
		return nil, errors.New("there is no section .modinfo")
	}
	text, err := s.Data()
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(text), "\x00") {
		if list, ok := strings.CutPrefix(entry, "depends="); ok {
			return strings.FieldsFunc(list, func(r rune) bool { return r == ',' }), nil
		}
	}
	return nil, nil
}
