package gostap

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
)

// TestKernelOfRelease finds the files of a release where distributions put them.
func TestKernelOfRelease(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"boot", "lib/modules/1.2/build"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(root, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("boot/System.map-1.2", []byte(
		"ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package\n"))
	write("lib/modules/1.2/System.map", []byte(kbtftest.Symbols))
	write("lib/modules/1.2/build/vmlinux", kbtftest.Kernel().Bytes())
	c, err := (Kernel{Release: "1.2"}).files(root, "5.5")
	if err != nil || c.BTF != filepath.Join(root, "lib/modules/1.2/build/vmlinux") ||
		c.Map != filepath.Join(root, "lib/modules/1.2/System.map") || !c.Foreign() {
		t.Errorf("%+v %v", c, err)
	}
	if c, err := (Kernel{Release: "5.5"}).files(root, "5.5"); err != nil || c.Foreign() {
		t.Errorf("the running kernel: %+v %v", c, err)
	}
}
