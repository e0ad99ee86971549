package gocontexts_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/gocontexts"
	"github.com/gostap/gostap/compiler/debuginfo/godwarf"
	"github.com/gostap/gostap/compiler/loc"
)

// TestContexts: what the contexts of a program do is known of those of package context and of those that embed one, and
// not of those that have a Value method of their own. It is the same in all builds, without debug information too.
func TestContexts(t *testing.T) {
	derived := func(off, then int64) loc.Context { return loc.Context{Does: loc.Derived, Off: off, Then: then} }
	root, own := loc.Context{Does: loc.Root, Then: -1}, loc.Context{Does: loc.OwnValue, Then: -1}
	want := map[string]loc.Context{
		"context.backgroundCtx":    root,
		"context.todoCtx":          root,
		"*context.valueCtx":        {Does: loc.Holds, Then: -1},
		"*context.cancelCtx":       derived(0, -1),
		"*context.timerCtx":        derived(0, -1),
		"*context.afterFuncCtx":    derived(0, -1),
		"context.stopCtx":          derived(0, -1),
		"context.withoutCancelCtx": derived(0, -1),
		"*signal.signalCtx":        derived(0, -1),
		"main.wrap":                derived(8, -1),
		"*main.wrap":               derived(8, -1),
		"*main.deep":               derived(24, -1),
		"main.behind":              derived(24, -1), // the data word is the pointer that it is
		"*main.behind":             derived(0, 24),
		"main.two":                 derived(16, -1),
		"main.after":               derived(0, -1),
		"main.own":                 own,
		"*main.own":                own,
		"main.field":               own,
		"main.inner":               own,
		"*main.changed":            own,
		"main.generic[int]":        derived(8, -1),
	}
	for _, flags := range []string{"-gcflags=", "-gcflags=all=-N -l", "-buildmode=pie", "-ldflags=-s -w"} {
		t.Run(flags, func(t *testing.T) {
			prog := filepath.Join(t.TempDir(), "prog")
			cmd := exec.Command("go", "build", flags, "-o", prog, "../../../tests/fixtures/gocontexts")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			im, err := godwarf.Open(prog)
			if err != nil {
				t.Fatal(err)
			}
			defer im.Close()
			c, err := gocontexts.Of(im)
			if err != nil {
				t.Fatal(err)
			}
			if c.ParentAt != 0 || c.KeyAt != 16 || c.ValAt != 32 {
				t.Errorf("context.valueCtx: %d %d %d", c.ParentAt, c.KeyAt, c.ValAt)
			}
			seen := map[string]bool{}
			last := uint64(0)
			for _, got := range c.Types {
				if got.Addr <= last {
					t.Errorf("%s at %#x stands behind %#x", got.Name, got.Addr, last)
				}
				last = got.Addr
				w, ok := want[got.Name]
				if !ok {
					continue
				}
				seen[got.Name] = true
				if w.Addr, w.Name = got.Addr, got.Name; got != w {
					t.Errorf("%+v, not %+v", got, w)
				}
			}
			for name := range want {
				if !seen[name] {
					t.Errorf("there is no %s", name)
				}
			}
		})
	}
}
