package kbuild

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestMissing checks that what is missing is named with its remedy.
func TestMissing(t *testing.T) {
	whole := func(dir string) {
		write(t, dir+"/Makefile", "")
		write(t, dir+"/include/config/auto.conf", "\nCONFIG_MODULES=y\n")
		write(t, dir+"/Module.symvers", "0x1\tprintk\tvmlinux\tEXPORT_SYMBOL\t\n")
	}
	for _, c := range []struct {
		name      string
		setup     func(dir string)
		msg, hint string
	}{
		{"no headers", func(string) {}, "headers of kernel 9.9.9-x are not installed", "linux-headers-9.9.9-x"},
		{"no modules", func(d string) { whole(d); write(t, d+"/include/config/auto.conf", "CONFIG_SMP=y\n") }, "without support for loadable modules", "--runtime=bpf"},
		{"no gcc of that version", func(d string) {
			whole(d)
			write(t, d+"/.kernelvariables", "CC = $(if $(X),$(Y)) $(CROSS_COMPILE)gcc-99\n")
		}, "gcc-99", "install the package gcc-99"},
		{"no symbols", func(d string) { whole(d); os.Remove(d + "/Module.symvers") }, "exported symbols", "install them again"},
		{"make fails", func(d string) {
			whole(d)
			write(t, d+"/Makefile", "modules:\n\t@echo main.c:1: error: nothing works; exit 1\n")
		}, "nothing works", "-v shows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.setup(dir)
			_, err := Module(context.Background(), Source{Name: "m", C: ""}, Config{Release: "9.9.9-x", Dir: dir, Cache: t.TempDir()})
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(e.Msg, c.msg) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("%s\nhint: %s\nwant %q and %q", e.Msg, e.Hint, c.msg, c.hint)
			}
		})
	}
}

// TestCache makes a module once and takes it from the cache then, unless text, name or kernel differ.
func TestCache(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir+"/include/config/auto.conf", "\nCONFIG_MODULES=y\n")
	write(t, dir+"/Module.symvers", "0x1\tuprobe_unregister_nosync\tvmlinux\tEXPORT_SYMBOL_GPL\t\n")
	// A stand-in for kbuild that counts its runs and shows the options.
	write(t, dir+"/Makefile", "modules:\n\t@echo x >>"+dir+"/runs; cat $(M)/Makefile >$(M)/`cd $(M); ls *.c | sed s/c$$//`ko\n")
	get := func(s Source, release string) string {
		t.Helper()
		ko, err := Module(context.Background(), s, Config{Release: release, Dir: dir, Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		return string(ko)
	}
	first := get(Source{"a", "int x;"}, "1")
	if !strings.Contains(first, "-DGS_UPROBE_HANDLE") || strings.Contains(first, "GS_HRTIMER_SETUP") {
		t.Errorf("options: %s", first)
	}
	if again := get(Source{"a", "int x;"}, "1"); again != first {
		t.Error("the cache gave something else")
	}
	get(Source{"a", "int y;"}, "1")
	get(Source{"b", "int x;"}, "1")
	get(Source{"a", "int x;"}, "2")
	if b, _ := os.ReadFile(dir + "/runs"); string(b) != "x\nx\nx\nx\n" {
		t.Errorf("make ran %d times, not 4", strings.Count(string(b), "x"))
	}
}

func TestReleaseOf(t *testing.T) {
	dir := t.TempDir()
	if r := ReleaseOf(dir); r != "" {
		t.Errorf("%q", r)
	}
	write(t, dir+"/include/config/kernel.release", "6.1.192\n")
	if r := ReleaseOf(dir); r != "6.1.192" {
		t.Errorf("%q", r)
	}
	write(t, dir+"/include/generated/utsrelease.h", "#define UTS_RELEASE \"6.1.0-56-amd64\"\n")
	if r := ReleaseOf(dir); r != "6.1.0-56-amd64" {
		t.Errorf("%q", r)
	}
}
