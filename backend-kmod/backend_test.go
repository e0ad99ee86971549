package kmod

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gostap/gostap/backend-kmod/internal/kbuild"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irtest"
)

const counter = `
global n long
probe "p" {
  site uprobe path="/bin/true" offset=0x1000
b0:
  gadd @n, 1
  end
}
`

func program(t *testing.T) *ir.Program {
	t.Helper()
	p := irtest.Parse(t, counter)
	return p
}

// TestListing: -p3 works without headers, root or module support.
func TestListing(t *testing.T) {
	art, ds := NewFor(Options{}).Build(context.Background(), program(t), backend.BuildOptions{Name: "listed"})
	if ds.HasErrors() {
		t.Fatal(ds[0].Message)
	}
	if c := art.Listing(); !strings.Contains(c, "atomic64_add(1LL, &g_n);") {
		t.Errorf("listing:\n%s", c)
	}
}

func TestName(t *testing.T) {
	for name, ok := range map[string]bool{"a_1": true, "a-b": false, "../x": false, strings.Repeat("x", 41): false} {
		if _, ds := NewFor(Options{}).Build(context.Background(), program(t),
			backend.BuildOptions{Name: name}); ds.HasErrors() == ok {
			t.Errorf("%q: %v", name, ds)
		}
	}
}

// TestLoadRefused: what stands in the way is said, with the other back end as the remedy.
func TestLoadRefused(t *testing.T) {
	load := func(o Options) *diag.Diagnostic {
		t.Helper()
		art, ds := NewFor(o).Build(context.Background(), program(t), backend.BuildOptions{Name: "refused"})
		if ds.HasErrors() {
			t.Fatal(ds[0].Message)
		}
		s, err := art.Load(context.Background(), backend.LoadOptions{})
		if err == nil {
			s.Close()
			t.Fatal("it was loaded")
		}
		return diagtest.Find(t, err, CodeNoModules)
	}
	d := load(Options{Release: "9.9.9-other", Cache: t.TempDir()})
	if kbuild.NoModules() != "" {
		if !strings.Contains(d.Hint, "--runtime=bpf") {
			t.Errorf("%s: %s; %s", d.Code, d.Message, d.Hint)
		}
		return
	}
	if !strings.Contains(d.Message, "9.9.9-other") {
		t.Errorf("%s", d.Message)
	}
}

// TestNoHeaders: building for a kernel whose headers are missing names the package.
func TestNoHeaders(t *testing.T) {
	art, _ := NewFor(Options{Release: "9.9.9-other", Cache: t.TempDir()}).Build(context.Background(), program(t),
		backend.BuildOptions{Name: "headless"})
	_, err := art.Files()
	d, ok := errors.AsType[*diag.Diagnostic](err)
	if !ok || !strings.Contains(d.Hint, "linux-headers-9.9.9-other") {
		t.Errorf("%v", err)
	}
}
