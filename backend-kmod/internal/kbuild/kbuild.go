// Package kbuild turns the C of a module into a .ko with the kernel's own build system.
//
// In: C text, the kernel to build for. Out: the module's bytes, kept in a cache by
// content. What is missing (headers, compiler, make, module support) is an error that
// names what to install.
package kbuild

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/cachefile"
	"github.com/gostap/gostap/compiler/trusted"
	headers "github.com/gostap/gostap/runtime/kmod"
)

// Config says for which kernel to build.
type Config struct {
	// Release as uname -r gives it; "" for the running kernel.
	Release string
	// Dir is the build directory; "" for /lib/modules/RELEASE/build.
	Dir string
	// Cache is where modules are kept; "" for gostap/kmod in the user's cache directory.
	Cache string
	// Make are further arguments NAME=VALUE of make.
	Make []string
	Logf func(format string, args ...any)
}

// Error is a failure that has a remedy.
type Error struct {
	Msg, Hint string
	// Output of make, if that was it.
	Output string
}

func (e *Error) Error() string { return e.Msg }

// Running gives the release of the running kernel.
func Running() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// NoModules says why the running kernel cannot load modules at all, "" if it can.
func NoModules() string {
	if _, err := os.Stat("/proc/modules"); errors.Is(err, fs.ErrNotExist) {
		return "the running kernel has no support for loadable modules"
	}
	if b, err := os.ReadFile("/proc/sys/kernel/modules_disabled"); err == nil && strings.TrimSpace(string(b)) == "1" {
		return "loading of modules was switched off on this machine until the next boot (kernel.modules_disabled)"
	}
	return ""
}

func (c *Config) release() string {
	if c.Release != "" {
		return c.Release
	}
	return Running()
}

func (c *Config) dir() string {
	if c.Dir != "" {
		return c.Dir
	}
	return filepath.Join("/lib/modules", c.release(), "build")
}

// cache is the folder of what is kept; an error if there is none, or if somebody else may write to it.
func (c *Config) cache() (string, error) {
	dir := c.Cache
	if dir == "" {
		d, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(d, "gostap", "kmod")
	}
	return dir, trusted.Dir(dir)
}

// maxKept bounds a file that is kept. A module has some 100 KB.
const maxKept = 256 << 20

// Source is a module to be built.
type Source struct{ C string }

// Files gives the files of a build directory: the C text, the headers that it uses, a Makefile.
func (s Source) Files() (map[string][]byte, error) {
	out := map[string][]byte{generic + ".c": []byte(s.C)}
	list, err := headers.Headers.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if e.Name() == "gs_user.h" {
			continue
		}
		if out[e.Name()], err = headers.Headers.ReadFile(e.Name()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// key names s as built for a kernel: text, headers and release.
func (s Source) key(files map[string][]byte, release string) string {
	h := sha256.New()
	fmt.Fprintf(h, "3 %s\n", release)
	list, _ := headers.Headers.ReadDir(".") // sorted
	for _, e := range list {
		h.Write(files[e.Name()])
	}
	h.Write([]byte(s.C))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Module gives the .ko of s, from the cache or newly made; it goes through Rename before it is of use.
func Module(ctx context.Context, s Source, c Config) ([]byte, error) {
	if c.Logf == nil {
		c.Logf = func(string, ...any) {}
	}
	files, err := s.Files()
	if err != nil {
		return nil, err
	}
	cache, err := c.cache()
	if err != nil {
		c.Logf("modules are not kept: %v", err)
		return build(ctx, s, files, &c)
	}
	dir := filepath.Join(cache, c.release())
	kept := filepath.Join(dir, s.key(files, strings.Join(append([]string{c.release()}, c.Make...), "\n"))+".ko")
	if data, err := trusted.ReadFile(kept, maxKept); err == nil {
		if ko := whole(data); ko != nil {
			c.Logf("module from the cache: %s", kept)
			now := time.Now()
			os.Chtimes(kept, now, now) // keeps it from being cleaned up
			return ko, nil
		}
		c.Logf("the module in the cache is damaged, it is built again: %s", kept)
	}
	ko, err := build(ctx, s, files, &c)
	if err != nil {
		return nil, err
	}
	// A cache that cannot be written costs time only.
	if os.MkdirAll(dir, 0o755) == nil && cachefile.Write(kept, ko, checksum(ko)) == nil {
		prune(dir, 256)
	}
	return ko, nil
}

// checksum follows a module in the cache.
func checksum(ko []byte) []byte {
	sum := sha256.Sum256(ko)
	return sum[:]
}

// whole gives the module of a file in the cache, nil if it is not what was written.
func whole(data []byte) []byte {
	n := len(data) - sha256.Size
	if n <= 0 || !bytes.Equal(checksum(data[:n]), data[n:]) {
		return nil
	}
	return data[:n:n]
}

// prune keeps the most recent modules of a folder.
func prune(dir string, keep int) {
	list, err := os.ReadDir(dir)
	if err != nil || len(list) <= keep {
		return
	}
	oldest, at := "", time.Now()
	for _, e := range list {
		if e.IsDir() {
			continue
		}
		if i, err := e.Info(); err == nil && i.ModTime().Before(at) {
			oldest, at = e.Name(), i.ModTime()
		}
	}
	if oldest != "" {
		os.Remove(filepath.Join(dir, oldest))
	}
}

// Check says whether modules can be built: headers, make and gcc are there.
func Check(c Config) error {
	dir := c.dir()
	if _, err := os.Stat(filepath.Join(dir, "Makefile")); err != nil {
		hint := fmt.Sprintf("install the package linux-headers-%s, or use --runtime=bpf, which needs none", c.release())
		if c.Dir == "" && c.release() == Running() && NoModules() != "" {
			return &Error{Msg: NoModules(), Hint: "use --runtime=bpf"}
		}
		return &Error{Msg: fmt.Sprintf("the headers of kernel %s are not installed (no Makefile in %s)", c.release(),
			dir), Hint: hint}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "include", "config", "auto.conf")); err == nil &&
		!bytes.Contains(b, []byte("\nCONFIG_MODULES=y")) {
		return &Error{Msg: fmt.Sprintf("kernel %s was built without support for loadable modules", c.release()),
			Hint: "use --runtime=bpf"}
	}
	if _, err := exec.LookPath("make"); err != nil {
		return &Error{Msg: "make is not installed", Hint: "install the package make, or use --runtime=bpf"}
	}
	if cc := compiler(dir); cc != "" {
		if _, err := exec.LookPath(cc); err != nil {
			return &Error{Msg: fmt.Sprintf("the compiler that kernel %s was built with is not installed: %s",
				c.release(), cc), Hint: "install the package " + filepath.Base(cc) + ", or use --runtime=bpf"}
		}
	} else if _, err := exec.LookPath("gcc"); err != nil {
		return &Error{Msg: "gcc is not installed", Hint: "install the package gcc, or use --runtime=bpf"}
	}
	return nil
}

// compiler is the name that Debian's headers give the compiler, "" if they do not.
func compiler(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, ".kernelvariables"))
	if err != nil {
		return ""
	}
	// CC = $(if $(DEBIAN_KERNEL_USE_CCACHE),ccache) $(CROSS_COMPILE)gcc-12
	for _, line := range strings.Split(string(b), "\n") {
		k, v, ok := strings.Cut(line, "=")
		if ok && strings.TrimRight(k, " :?") == "CC" {
			if f := strings.Fields(v); len(f) > 0 {
				cc := strings.ReplaceAll(f[len(f)-1], "$(CROSS_COMPILE)", "")
				if !strings.ContainsAny(cc, "$()") {
					return cc
				}
			}
		}
	}
	return ""
}

// build runs make in a folder of its own.
func build(ctx context.Context, s Source, files map[string][]byte, c *Config) ([]byte, error) {
	if err := Check(*c); err != nil {
		return nil, err
	}
	// make runs what lies in it as the effective user.
	if err := trusted.Check(os.TempDir()); err != nil {
		return nil, &Error{Msg: fmt.Sprintf("modules cannot be built below TMPDIR: %v", err),
			Hint: "set TMPDIR to a folder of your own, or to /tmp"}
	}
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", tempPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	vars, err := Variants(c.dir())
	if err != nil {
		return nil, err
	}
	mk := fmt.Sprintf("obj-m := %s.o\nccflags-y := -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare "+
		"-Wno-type-limits -Wno-missing-field-initializers -Wno-override-init -Wno-shift-negative-value "+
		"-Wno-cast-function-type -Wno-tautological-compare %s\n", generic, strings.Join(vars, " "))
	files["Makefile"] = []byte(mk)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	done := func(out []byte, took time.Duration) ([]byte, error) {
		if w := strings.TrimSpace(string(out)); w != "" {
			c.Logf("%s", w)
		}
		c.Logf("module built in %.2f s (%.2f s of CPU)", time.Since(start).Seconds(), took.Seconds())
		return os.ReadFile(filepath.Join(dir, generic+".ko"))
	}
	known := ""
	if cache, err := c.cache(); err == nil {
		if key := recipeKey(c, mk); key != "" {
			known = filepath.Join(cache, c.release(), "recipes", key)
		}
	}
	if r := readRecipe(known); r != nil {
		out, took, err := r.follow(ctx, dir, s.C, r.headers(ctx, c, known, dir))
		if err == nil {
			return done(out, took)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.Logf("the commands of an earlier build do not work any more (%v), make finds new ones:\n%s", err, out)
	}
	// Where a vmlinux lies in the build directory, kbuild would make type information with pahole and delete the
	// module when that is not there. Debug information is of no use in a module that lives for one session.
	args := append([]string{"-s", "-C", c.dir(), "M=" + dir, "CONFIG_DEBUG_INFO_BTF_MODULES=", "CONFIG_DEBUG_INFO=",
		"modules"}, c.Make...)
	cmd := exec.CommandContext(ctx, "make", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &Error{Msg: fmt.Sprintf("the module could not be built for kernel %s: %s", c.release(),
			firstError(out)), Hint: "this is a bug of gostap, or gcc and headers do not belong together; -v shows " +
			"the compiler's words", Output: string(out)}
	}
	if known != "" {
		if r := learn(dir, c.dir()); r != nil {
			r.save(known)
		}
	}
	return done(out, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}

func firstError(out []byte) string {
	first := ""
	for _, l := range strings.Split(string(out), "\n") {
		if strings.Contains(l, "rror") {
			return l
		}
		if first == "" {
			first = l
		}
	}
	return first
}

// variants are the differences between kernels that an exported symbol tells of, and what to define when it is there.
var variants = map[string]string{
	"uprobe_unregister_nosync": "-DGS_UPROBE_HANDLE", // 6.12: registering gives a handle
	"hrtimer_setup":            "-DGS_HRTIMER_SETUP", // 6.13, where hrtimer_init was on its way out
	"ftrace_set_filter_ips":    "-DGS_FTRACE_IPS",    // 5.18
}

// Variants reads Module.symvers for the differences between kernels and gives options for the compiler.
func Variants(dir string) ([]string, error) {
	f, err := os.Open(filepath.Join(dir, "Module.symvers"))
	if err != nil {
		return nil, &Error{Msg: fmt.Sprintf("the kernel's list of exported symbols cannot be read: %v", err),
			Hint: "the headers are incomplete: install them again"}
	}
	defer f.Close()
	var out []string
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		// CRC, symbol, module, kind of export, namespace, with tabs between
		_, rest, _ := strings.Cut(sc.Text(), "\t")
		name, _, _ := strings.Cut(rest, "\t")
		if d := variants[name]; d != "" {
			out = append(out, d)
		}
	}
	return out, sc.Err()
}

// ReleaseOf gives the release of the kernel that a build directory belongs to, "" if it does not say.
func ReleaseOf(dir string) string {
	// Distributions give a release of their own to UTS_RELEASE only.
	if b, err := os.ReadFile(filepath.Join(dir, "include", "generated", "utsrelease.h")); err == nil {
		if _, v, ok := strings.Cut(string(b), "UTS_RELEASE \""); ok {
			v, _, _ = strings.Cut(v, "\"")
			return v
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "include", "config", "kernel.release"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
