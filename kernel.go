package gostap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
)

// uname names the running kernel and its machine, "" if it does not tell.
func uname() (release, machine string) {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "", ""
	}
	return unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:])
}

// kernelVersion tells the running kernel from all others: its release and its build.
func kernelVersion() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:]) + " " + unix.ByteSliceToString(u.Version[:])
}

// kernelConfig looks up options of the running kernel's configuration, which is read when first
// asked for: /proc/config.gz, or the file that distributions put beside the kernel.
func kernelConfig() func(name string) (string, bool) {
	text := sync.OnceValue(func() []byte {
		if f, err := os.Open("/proc/config.gz"); err == nil {
			defer f.Close()
			if z, err := gzip.NewReader(f); err == nil {
				if b, err := io.ReadAll(io.LimitReader(z, 16<<20)); err == nil {
					return b
				}
			}
		}
		release, _ := uname()
		for _, path := range []string{"/boot/config-" + release, "/lib/modules/" + release + "/config",
			"/lib/modules/" + release + "/build/.config"} {
			if b, err := os.ReadFile(path); err == nil {
				return b
			}
		}
		return nil
	})
	return func(name string) (string, bool) {
		for rest := text(); len(rest) > 0; {
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte("\n"))
			if val, ok := strings.CutPrefix(string(line), name+"="); ok {
				return strings.Trim(val, "\""), true
			}
		}
		return "", false
	}
}

// files says which kernel's types and symbols probes in the kernel are resolved with: the files that are named, those
// that are found for the release, or the running one's. root stands in front of the usual places, "" but in tests.
func (k Kernel) files(root, running string) (kbtf.Config, error) {
	c := kbtf.Config{BTF: k.BTF, Map: k.Symbols}
	for _, f := range []struct{ name, path string }{{"--kernel-btf", c.BTF}, {"--kernel-map", c.Map}} {
		if f.path == "" {
			continue
		}
		if st, err := os.Stat(f.path); err != nil {
			return c, fmt.Errorf("%s: %w", f.name, plain(err))
		} else if st.IsDir() && f.path == c.BTF {
			c.BTF, c.ModuleBTF = filepath.Join(c.BTF, "vmlinux"), c.BTF
			if _, err := os.Stat(c.BTF); err != nil {
				return c, fmt.Errorf("%s: a folder is to be like /sys/kernel/btf: %w", f.name, plain(err))
			}
		} else if st.IsDir() {
			return c, fmt.Errorf("%s: %s is a directory", f.name, f.path)
		}
	}
	if k.Release == "" || k.Release == running {
		return c, nil
	}
	var images, maps []string
	if r := k.Release; strings.Contains(r, "/") {
		images = []string{r + "/btf", r + "/vmlinux.btf", r + "/vmlinux"}
		maps = []string{r + "/kallsyms", r + "/System.map", r + "/vmlinux"}
	} else {
		images = []string{"/lib/modules/" + r + "/build/vmlinux", "/usr/lib/debug/boot/vmlinux-" + r,
			"/usr/lib/debug/lib/modules/" + r + "/vmlinux", "/boot/vmlinux-" + r}
		maps = append([]string{"/boot/System.map-" + r, "/lib/modules/" + r + "/System.map",
			"/usr/lib/debug/boot/System.map-" + r}, images...)
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
	c.Other = "kernel " + k.Release
	return c, nil
}

// plain says what went wrong with a file without Go's name of the call.
func plain(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
