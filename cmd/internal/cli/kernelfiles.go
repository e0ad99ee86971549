package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
)

// kernelFiles says which kernel's types and symbols probes in the kernel are resolved with: those of --kernel-btf and
// --kernel-map, those that are found for the kernel of -r, or the running one's. root stands in front of the usual places, "" but in tests.
func (o *options) kernelFiles(root, running string) (kbtf.Config, error) {
	c := kbtf.Config{BTF: o.kernelBTF, Map: o.kernelMap}
	for _, f := range []struct{ name, path string }{{"--kernel-btf", c.BTF}, {"--kernel-map", c.Map}} {
		if f.path == "" {
			continue
		}
		if st, err := os.Stat(f.path); err != nil {
			return c, fmt.Errorf("%s: %w", f.name, plain(err))
		} else if st.IsDir() {
			return c, fmt.Errorf("%s: %s is a directory", f.name, f.path)
		}
	}
	if o.release == "" || o.release == running {
		return c, nil
	}
	var images, maps []string
	if r := o.release; strings.Contains(r, "/") {
		images = []string{r + "/btf", r + "/vmlinux.btf", r + "/vmlinux"}
		maps = []string{r + "/kallsyms", r + "/System.map", r + "/vmlinux"}
	} else {
		images = []string{"/lib/modules/" + r + "/build/vmlinux", "/usr/lib/debug/boot/vmlinux-" + r, "/usr/lib/debug/lib/modules/" + r + "/vmlinux", "/boot/vmlinux-" + r}
		maps = append([]string{"/boot/System.map-" + r, "/lib/modules/" + r + "/System.map", "/usr/lib/debug/boot/System.map-" + r}, images...)
		for _, list := range [][]string{images, maps} {
			for i := range list {
				list[i] = filepath.Join(root, list[i])
			}
		}
	}
	first := func(paths []string, ok func(string) bool) string {
		for _, p := range paths {
			if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && ok(p) {
				return p
			}
		}
		return ""
	}
	if c.BTF == "" {
		c.BTF = first(images, btf.Has)
	}
	if c.Map == "" {
		c.Map = first(maps, kbtf.HasSymbols)
	}
	c.Other = "kernel " + o.release
	return c, nil
}
