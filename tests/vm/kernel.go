// Package vm boots Debian kernels under qemu's software emulation and runs a command as
// root in them: for tests of what the kernel of this machine cannot do.
//
// In: a kernel release, files, a command. Out: what the command wrote and how it ended.
// Kernels and headers come from Debian packages, which are unpacked into a cache
// (GOSTAP_VM_CACHE, else gostap/vm in the user's cache directory); nothing is
// installed. It needs apt-get, dpkg-deb, qemu-system-x86_64 and a static busybox.
package vm

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// Kernel is an unpacked kernel.
type Kernel struct {
	Release string
	// Image is what qemu boots.
	Image string
	dir   string
	a     *archive
}

// CacheDir is where packages and kernels are kept.
func CacheDir() (string, error) {
	if d := os.Getenv("GOSTAP_VM_CACHE"); d != "" {
		return d, nil
	}
	d, err := os.UserCacheDir()
	return filepath.Join(d, "gostap", "vm"), err
}

// lock keeps two processes from unpacking at the same time.
func lock(dir string) (func(), error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// Missing names the programs that are needed and not installed.
func Missing() []string {
	var out []string
	for prog, pkg := range map[string]string{"apt-get": "apt", "dpkg-deb": "dpkg",
		"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static"} {
		if _, err := exec.LookPath(prog); err != nil {
			out = append(out, pkg)
		}
	}
	return out
}

// Releases are the kernels to test on; GOSTAP_VM_KERNELS names others.
func Releases() []string {
	if s := strings.Fields(os.Getenv("GOSTAP_VM_KERNELS")); len(s) > 0 {
		return s
	}
	return []string{"6.1.0-56-cloud-amd64"}
}

// Get fetches the kernel of a release, such as 6.1.0-56-cloud-amd64.
func Get(release string) (*Kernel, error) {
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	unlock, err := lock(cache)
	if err != nil {
		return nil, err
	}
	defer unlock()
	k := &Kernel{Release: release, dir: filepath.Join(cache, release), a: &archive{cache}}
	k.Image = filepath.Join(k.dir, "vmlinuz")
	if exists(k.Image) {
		return k, nil
	}
	deb, err := k.a.get(suites(release), "linux-image-"+release+"-unsigned", "linux-binary-unsigned-"+release)
	if err != nil {
		return nil, err
	}
	tmp := filepath.Join(k.dir, "image")
	defer os.RemoveAll(tmp)
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return nil, err
	}
	// Only the image is wanted, not 100 MB of modules.
	sh := `dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards './boot/vmlinuz*' './usr/lib/modules/*/vmlinuz*' 2>/dev/null; true`
	if _, err := run("", "sh", "-c", sh, "sh", deb, tmp); err != nil {
		return nil, err
	}
	image := ""
	filepath.WalkDir(tmp, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			image = path
		}
		return nil
	})
	if image == "" {
		return nil, fmt.Errorf("package %s holds no kernel image", filepath.Base(deb))
	}
	return k, os.Rename(image, k.Image)
}

// BuildDir fetches the headers and gives the build directory for modules.
func (k *Kernel) BuildDir() (string, error) {
	unlock, err := lock(k.a.dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	root := filepath.Join(k.dir, "headers")
	dir := filepath.Join(root, "usr", "src", "linux-headers-"+k.Release)
	if exists(filepath.Join(root, "ready")) {
		return dir, nil
	}
	os.RemoveAll(root)
	if err := k.unpackHeaders(root); err != nil {
		return "", err
	}
	for _, step := range []func(root, dir string) error{relocate, k.newerTools, knownCompiler} {
		if err := step(root, dir); err != nil {
			return "", err
		}
	}
	return dir, os.WriteFile(filepath.Join(root, "ready"), nil, 0o644)
}

var dependsOn = regexp.MustCompile(`\blinux-(?:headers|kbuild)-[^\s,|(]+`)

func (k *Kernel) unpackHeaders(root string) error {
	todo, seen := []string{"linux-headers-" + k.Release}, map[string]bool{}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		deb, err := k.a.get(suites(k.Release), name)
		if err != nil {
			return err
		}
		if _, err := run("", "dpkg-deb", "-x", deb, root); err != nil {
			return err
		}
		deps, err := run("", "dpkg-deb", "-f", deb, "Depends")
		if err != nil {
			return err
		}
		todo = append(todo, dependsOn.FindAllString(deps, -1)...)
	}
	return nil
}

// relocate rewrites the absolute paths in the headers' makefiles and links.
func relocate(root, dir string) error {
	common, _ := filepath.Glob(filepath.Join(root, "usr", "src", "*-common*", "Makefile"))
	for _, f := range append(common, filepath.Join(dir, "Makefile"), filepath.Join(dir, ".config")) {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for _, p := range []string{"/usr/src/linux-headers", "/usr/lib/linux-kbuild"} {
			b = bytes.ReplaceAll(b, []byte(p), []byte(root+p))
		}
		if err := os.WriteFile(f, b, 0o644); err != nil {
			return err
		}
	}
	return filepath.WalkDir(filepath.Join(root, "usr", "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink == 0 {
			return err
		}
		to, err := os.Readlink(path)
		if err != nil || !strings.HasPrefix(to, "/usr/") {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.Symlink(root+to, path)
	})
}

// newerTools lets build tools that want a newer C library than the host's run with one of their own.
func (k *Kernel) newerTools(root, _ string) error {
	lib := filepath.Join(root, "libc")
	return filepath.WalkDir(filepath.Join(root, "usr", "lib"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.Contains(path, "/linux-kbuild-") {
			return err
		}
		out, _ := exec.Command("ldd", path).CombinedOutput()
		if !bytes.Contains(out, []byte("version `GLIBC_")) {
			return nil
		}
		if !exists(lib) {
			in := suites(k.Release)
			for _, alt := range [][]string{{"libc6"}, {"libelf1t64", "libelf1"}} {
				deb, err := k.a.getAs(in, k.Release, alt...)
				if err != nil {
					return err
				}
				if _, err := run("", "dpkg-deb", "-x", deb, lib); err != nil {
					return err
				}
			}
		}
		libs := ""
		for _, sub := range []string{"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"} {
			libs += lib + sub + ":"
		}
		ld, _ := filepath.Glob(lib + "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
		if len(ld) == 0 {
			ld, _ = filepath.Glob(lib + "/lib*/x86_64-linux-gnu/ld-linux-x86-64.so.2")
		}
		if len(ld) == 0 {
			return fmt.Errorf("no C library for the build tools of %s", k.Release)
		}
		if err := os.Rename(path, path+".elf"); err != nil {
			return err
		}
		return os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nexec %s --library-path %s \"$0.elf\" \"$@\"\n", ld[0],
			libs), 0o755)
	})
}

// getAs is get with the suite's name in the file name, for packages that every suite has.
func (a *archive) getAs(in []string, as string, names ...string) (string, error) {
	sub := &archive{filepath.Join(a.dir, "for", as)}
	if err := os.MkdirAll(sub.dir, 0o755); err != nil {
		return "", err
	}
	if !exists(sub.dir + "/apt") {
		if err := os.Symlink(filepath.Join(a.dir, "apt"), sub.dir+"/apt"); err != nil {
			return "", err
		}
	}
	return sub.get(in, names...)
}

var wantedGCC = regexp.MustCompile(`\$\(CROSS_COMPILE\)gcc-\d+`)

// knownCompiler names the host's gcc where the one that the kernel was built with is missing.
func knownCompiler(_, dir string) error {
	f := filepath.Join(dir, ".kernelvariables")
	b, err := os.ReadFile(f)
	if err != nil {
		return nil
	}
	cc := wantedGCC.FindString(string(b))
	if cc == "" {
		return nil
	}
	if _, err := exec.LookPath(strings.TrimPrefix(cc, "$(CROSS_COMPILE)")); err == nil {
		return nil
	}
	if err := os.WriteFile(f, bytes.ReplaceAll(b, []byte(cc), []byte("gcc")), 0o644); err != nil {
		return err
	}
	// gcc before 14 lacks -fmin-function-alignment; kbuild then uses -falign-functions.
	try := exec.Command("gcc", "-fmin-function-alignment=16", "-x", "c", "-fsyntax-only", "/dev/null")
	if try.Run() == nil {
		return nil
	}
	auto := filepath.Join(dir, "include", "config", "auto.conf")
	if b, err = os.ReadFile(auto); err != nil {
		return err
	}
	b = bytes.ReplaceAll(b, []byte("CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=y\n"), nil)
	return os.WriteFile(auto, b, 0o644)
}
