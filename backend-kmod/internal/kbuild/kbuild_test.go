package kbuild

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
		{"no modules", func(d string) { whole(d); write(t, d+"/include/config/auto.conf", "CONFIG_SMP=y\n") },
			"without support for loadable modules", "--runtime=bpf"},
		{"no gcc of that version", func(d string) {
			whole(d)
			write(t, d+"/.kernelvariables", "CC = $(if $(X),$(Y)) $(CROSS_COMPILE)gcc-99\n")
		}, "gcc-99", "install the package gcc-99"},
		{"no symbols", func(d string) { whole(d); os.Remove(d + "/Module.symvers") }, "exported symbols",
			"install them again"},
		{"make fails", func(d string) {
			whole(d)
			write(t, d+"/Makefile", "modules:\n\t@echo main.c:1: error: nothing works; exit 1\n")
		}, "nothing works", "-v shows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.setup(dir)
			_, err := Module(context.Background(), Source{}, Config{Release: "9.9.9-x", Dir: dir, Cache: t.TempDir()})
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

// TestCache makes a module once and takes it from the cache then, unless text or kernel differ.
func TestCache(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir+"/include/config/auto.conf", "\nCONFIG_MODULES=y\n")
	write(t, dir+"/Module.symvers", "0x1\tuprobe_unregister_nosync\tvmlinux\tEXPORT_SYMBOL_GPL\t\n")
	// A stand-in for kbuild that counts its runs and shows the options.
	write(t, dir+"/Makefile", "modules:\n\t@echo x >>"+dir+
		"/runs; cat $(M)/Makefile >$(M)/`cd $(M); ls *.c | sed s/c$$//`ko\n")
	get := func(s Source, release string) string {
		t.Helper()
		ko, err := Module(context.Background(), s, Config{Release: release, Dir: dir, Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		return string(ko)
	}
	first := get(Source{"int x;"}, "1")
	if !strings.Contains(first, "-DGS_UPROBE_HANDLE") || strings.Contains(first, "GS_HRTIMER_SETUP") {
		t.Errorf("options: %s", first)
	}
	if again := get(Source{"int x;"}, "1"); again != first {
		t.Error("the cache gave something else")
	}
	get(Source{"int y;"}, "1")
	get(Source{"int x;"}, "2")
	if b, _ := os.ReadFile(dir + "/runs"); string(b) != "x\nx\nx\n" {
		t.Errorf("make ran %d times, not 3", strings.Count(string(b), "x"))
	}
}

// TestDamagedCache: a module in the cache that is not what was written is built again, and the cache is whole then.
func TestDamagedCache(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir+"/include/config/auto.conf", "\nCONFIG_MODULES=y\n")
	write(t, dir+"/Module.symvers", "")
	write(t, dir+"/Makefile", "modules:\n\t@echo x >>"+dir+"/runs; seq 1000 >$(M)/`cd $(M); ls *.c | sed s/c$$//`ko\n")
	get := func() string {
		t.Helper()
		ko, err := Module(context.Background(), Source{"int x;"}, Config{Release: "1", Dir: dir, Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		return string(ko)
	}
	first := get()
	kept, _ := filepath.Glob(cache + "/1/*.ko")
	if len(kept) != 1 {
		t.Fatalf("kept: %v", kept)
	}
	data, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(data)
	flipped[len(flipped)/2] ^= 1
	damaged := [][]byte{nil, data[:1], data[:len(data)-1], data[:len(first)], data[:len(data)/2], flipped,
		append(bytes.Clone(data), 0), bytes.Repeat([]byte{0}, len(data))}
	for i, d := range damaged {
		if err := os.WriteFile(kept[0], d, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if get() != first {
				t.Errorf("damage %d: another module came", i)
			}
		}
		if b, _ := os.ReadFile(dir + "/runs"); len(b) != 2*(i+2) {
			t.Errorf("damage %d: make ran %d times, not %d", i, len(b)/2, i+2)
		}
	}
}

// TestOthersCache spoils what was kept, as somebody else could who may write to it: none of it is used.
func TestOthersCache(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/include/config/auto.conf", "\nCONFIG_MODULES=y\n")
	write(t, dir+"/Module.symvers", "")
	write(t, dir+"/Makefile", "modules:\n\t@echo made >$(M)/`cd $(M); ls *.c | sed s/c$$//`ko\n")
	for name, spoil := range map[string]func(cache, kept string) error{
		"file":   func(_, kept string) error { return os.Chmod(kept, 0o666) },
		"folder": func(_, kept string) error { return os.Chmod(filepath.Dir(kept), 0o777) },
		"above":  func(cache, _ string) error { return os.Chmod(cache, 0o770) },
		"owner":  func(_, kept string) error { return os.Chown(kept, 65534, -1) },
	} {
		if name == "owner" && os.Geteuid() != 0 {
			continue
		}
		cache := t.TempDir()
		c := Config{Release: "1", Dir: dir, Cache: cache}
		get := func(want string) {
			t.Helper()
			if ko, err := Module(context.Background(), Source{"x"}, c); err != nil || string(ko) != want {
				t.Errorf("%s: %q %v, want %q", name, ko, err, want)
			}
		}
		get("made\n")
		kept, _ := filepath.Glob(cache + "/1/*.ko")
		if len(kept) != 1 {
			t.Fatalf("kept: %v", kept)
		}
		write(t, kept[0], "kept\n"+string(checksum([]byte("kept\n"))))
		get("kept\n")
		if err := spoil(cache, kept[0]); err != nil {
			t.Fatal(err)
		}
		get("made\n")
		// The commands of a recipe are run.
		path := filepath.Join(t.TempDir(), "recipes/key")
		(&recipe{Steps: []string{"true"}}).save(path)
		if readRecipe(path) == nil {
			t.Fatal("a recipe of our own is not read")
		}
		if err := spoil(filepath.Dir(filepath.Dir(path)), path); err != nil {
			t.Fatal(err)
		}
		if readRecipe(path) != nil {
			t.Errorf("%s: the recipe is read", name)
		}
	}
	t.Setenv("TMPDIR", t.TempDir())
	if err := os.Chmod(os.TempDir(), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Module(context.Background(), Source{"y"},
		Config{Release: "1", Dir: dir, Cache: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("built where everybody may write: %v", err)
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

// TestRename gives a module its name in the places where the kernel and modinfo look for it.
func TestRename(t *testing.T) {
	if MaxName < 40 {
		t.Errorf("names are cut to %d bytes", MaxName)
	}
	dir := t.TempDir()
	write(t, dir+"/m.c", `__attribute__((section(".modinfo"))) char info[] = "name=`+generic+`\0vermagic=6.1";
__attribute__((section(".gnu.linkonce.this_module"))) struct { long a; char name[56]; long b; } mod = { 1, "`+generic+
		`", 2 };
`)
	if out, err := exec.Command("gcc", "-c", "-o", dir+"/m.o", dir+"/m.c").CombinedOutput(); err != nil {
		t.Skipf("gcc: %v\n%s", err, out)
	}
	ko, err := os.ReadFile(dir + "/m.o")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "gostap_4711", generic} {
		got, err := Rename(ko, name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		info, _ := f.Section(".modinfo").Data()
		if want := "name=" + name + "\x00"; !bytes.HasPrefix(info, []byte(want)) ||
			!bytes.HasSuffix(info, []byte("\x00vermagic=6.1\x00")) {
			t.Errorf("%q in .modinfo", info)
		}
		mod, _ := f.Section(".gnu.linkonce.this_module").Data()
		if n := strings.TrimRight(string(mod[8:64]), "\x00"); n != name || mod[0] != 1 || mod[64] != 2 {
			t.Errorf("%q in struct module", mod)
		}
	}
	for _, bad := range []string{"", generic + "x"} {
		if _, err := Rename(ko, bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	for _, bad := range [][]byte{nil, ko[:100], []byte("not ELF")} {
		if _, err := Rename(bad, "a"); err == nil {
			t.Errorf("%d bytes were accepted", len(bad))
		}
	}
}

// TestRecipe: what kbuild ran once is run again without it, and what does not work any more is forgotten.
func TestRecipe(t *testing.T) {
	kdir, cache := t.TempDir(), t.TempDir()
	write(t, kdir+"/include/config/auto.conf", "\nCONFIG_MODULES=y\n")
	write(t, kdir+"/Module.symvers", "")
	// A stand-in for kbuild that leaves the commands which it runs.
	const step = "\t@c='%s'; echo \"savedcmd_$(M)/%s := $$c\" >$(M)/.%s.cmd; cd " + "$(KDIR) && sh -c \"$$c\"\n"
	mk := "KDIR := " + kdir + "\nmodules:\n\t@echo x >>" + kdir + "/runs\n"
	g := generic
	for _, s := range [][2]string{
		{"cat ./tool $(M)/" + g + ".c >$(M)/" + g + ".o", g + ".o"}, {"true", g + ".mod"}, {"true", "modules.order"},
		{"true", "Module.symvers"},
		{"true", g + ".mod.o"}, {"cp $(M)/" + g + ".o $(M)/" + g + ".ko", g + ".ko"}} {
		mk += fmt.Sprintf(step, s[0], s[1], s[1])
	}
	write(t, kdir+"/Makefile", mk)
	write(t, kdir+"/tool", "one ")
	get := func(c, want, runs string) {
		t.Helper()
		ko, err := Module(context.Background(), Source{c}, Config{Release: "1", Dir: kdir, Cache: cache})
		if err != nil || string(ko) != want {
			t.Errorf("%q, %v; want %q", ko, err, want)
		}
		if b, _ := os.ReadFile(kdir + "/runs"); string(b) != runs {
			t.Errorf("make ran %q, not %q", b, runs)
		}
	}
	get("a", "one a", "x\n")
	get("b", "one b", "x\n") // by the recipe
	os.Remove(kdir + "/tool")
	if _, err := Module(context.Background(), Source{"c"}, Config{Release: "1", Dir: kdir, Cache: cache}); err == nil {
		t.Error("built without the tool")
	}
	os.Remove(kdir + "/runs")
	write(t, kdir+"/tool", "two ")
	write(t, kdir+"/Module.symvers", "0x1\thrtimer_setup\tvmlinux\tEXPORT_SYMBOL\t\n")
	get("d", "two d", "x\n") // the kernel's files are others
	write(t, kdir+"/Module.symvers", "x")
	mk = strings.ReplaceAll(mk, "'true'", "'true $$(shell ls)'")
	write(t, kdir+"/Makefile", mk)
	get("e", "two e", "x\nx\n") // what make would expand cannot be learnt
	get("f", "two f", "x\nx\nx\n")
}

// TestSweep: folders of builds go away when their process has, and nothing else does.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"gostap-kmod-12-345", "gostap-kmod-13-6", "gostap-kmod-345", "gostap-kmod-x-1",
		"gostap-kmod--1-2", "gostap-99", "other"} {
		write(t, dir+"/"+name+"/module.c", "")
	}
	write(t, dir+"/gostap-kmod-12-file", "")
	if err := os.Symlink("other", dir+"/gostap-kmod-12-link"); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		write(t, dir+"/gostap-kmod-12-foreign/x", "")
		if err := os.Chown(dir+"/gostap-kmod-12-foreign", 65534, -1); err != nil {
			t.Fatal(err)
		}
	}
	got := sweep(dir, func(pid int) bool { return pid == 13 })
	if len(got) != 1 || got[0] != dir+"/gostap-kmod-12-345" {
		t.Errorf("removed %v", got)
	}
	list, _ := os.ReadDir(dir)
	if want := 8; len(list) != want && len(list) != want+1 {
		t.Errorf("%d are left", len(list))
	}
}
