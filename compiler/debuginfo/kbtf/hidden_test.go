package kbtf

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
)

// fake gives the image of a made-up kernel with the given symbols.
func fake(t *testing.T, symbols, module string) *Image {
	t.Helper()
	dir := t.TempDir()
	btf, table, err := kbtftest.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(table, []byte(symbols), 0o644); err != nil {
		t.Fatal(err)
	}
	im, err := New(Config{BTF: btf, Map: table}).Image(module)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestHiddenAddresses: without root names resolve, and what takes an address is refused.
func TestHiddenAddresses(t *testing.T) {
	im := fake(t, regexp.MustCompile(`(?m)^[0-9a-f]{16}`).ReplaceAllString(kbtftest.Symbols, "0000000000000000"), "")
	fs, err := im.Funcs("vfs_read")
	if err != nil || len(fs) != 1 {
		t.Fatal(fs, err)
	}
	s, err := im.EntrySite(fs[0])
	if err != nil {
		t.Fatal(err)
	}
	if sym, off, err := im.Place(s); err != nil || sym != "vfs_read" || off != 0 {
		t.Errorf("%s+%d %v", sym, off, err)
	}
	if s, err = im.OffsetSite(fs[0], 12); err != nil {
		t.Fatal(err)
	}
	if sym, off, err := im.Place(s); err != nil || sym != "vfs_read" || off != 12 {
		t.Errorf("%s+%d %v", sym, off, err)
	}
	if v, err := im.Var(s, "count"); err == nil {
		t.Errorf("count in the middle: %+v", v)
	}
	fs, err = im.Funcs("static_one")
	if err != nil || len(fs) != 2 {
		t.Fatalf("%d functions %v", len(fs), err)
	}
	for _, f := range fs {
		s, _ := im.EntrySite(f)
		if sym, _, err := im.Place(s); !errors.Is(err, errHidden) {
			t.Errorf("one of two is at %s, %v", sym, err)
		}
	}
	if _, err := im.SiteAt(0xffffffff81000110); !errors.Is(err, errHidden) {
		t.Error(err)
	}
	// The jump of a static call is no function.
	if all, err := im.Funcs("*vfs_*"); err != nil || len(all) != 2 {
		t.Errorf("*vfs_*: %v %v", all, err)
	}
	if all, err := im.Funcs("vfs_*"); err != nil || len(all) != 2 {
		t.Errorf("vfs_*: %d %v", len(all), err)
	}
}

// TestModuleImage: symbols of a module without BTF.
func TestModuleImage(t *testing.T) {
	im := fake(t, kbtftest.Symbols, "ext4")
	fs, err := im.Funcs("*")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range fs {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "ext4_file_write_iter ext4_read helper helper" {
		t.Error(got)
	}
	s, _ := im.EntrySite(fs[1])
	if sym, off, err := im.Place(s); err != nil || sym != "ext4:ext4_read" || off != 0 {
		t.Errorf("%s+%d %v", sym, off, err)
	}
	if _, err := im.Vars(s); err == nil || im.HasTypes() {
		t.Error("there are variables without BTF")
	}
	if f := im.FuncAt(0xffffffff81000110); f != nil {
		t.Errorf("the kernel's %s is the module's", f.Name)
	}
	if _, err := im.k.Image("nf-nat"); err != nil {
		t.Errorf("nf-nat, which the kernel writes with _: %v", err)
	}
	var nf *debuginfo.NotFoundError
	if _, err := im.k.Image("ext5"); !errors.As(err, &nf) || len(nf.Near) == 0 {
		t.Errorf("ext5: %v", err)
	}
}

// TestBlacklistFile: the kernel's own list decides where it can be read.
func TestBlacklistFile(t *testing.T) {
	sys := t.TempDir()
	if err := os.MkdirAll(filepath.Join(sys, "kernel/debug/kprobes"), 0o755); err != nil {
		t.Fatal(err)
	}
	list := "0xffffffff81000700-0xffffffff81000800\ttick\nnonsense\n0x1-\tx\n"
	if err := os.WriteFile(filepath.Join(sys, "kernel/debug/kprobes/blacklist"), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	im, err := New(Config{Sys: sys, Proc: fakeProc(t, bootID, kbtftest.Symbols)}).Image("")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"tick": true, "vfs_read": false, "noinstr_one": false} {
		fs, err := im.Funcs(name)
		if err != nil {
			t.Fatal(err)
		}
		if why := im.Blacklisted(fs[0]); (why != "") != want {
			t.Errorf("%s: %q", name, why)
		}
	}
}
