package gostap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/manifest"
)

// TestLocate: a traced file is found by what is in it, and another one is refused with what it is.
func TestLocate(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	was, moved := write("was", "a program"), filepath.Join(dir, "moved")
	traced, err := manifest.Look(was, 2)
	if err != nil {
		t.Fatal(err)
	}
	load := func(o Options) *Program {
		p := irtest.Parse(t, `probe "p" {
  site uprobe path="`+was+`" offset=0x2
b0:
  end
}`)
		return &Program{o: o, ir: p, traced: []manifest.Traced{traced}}
	}
	if p := load(Options{}); len(p.locate()) > 0 || p.ir.Probes[0].Sites[0].Program.Path != was {
		t.Error("where it was it is not found")
	}
	if err := os.Rename(was, moved); err != nil {
		t.Fatal(err)
	}
	d := diagtest.Find(t, load(Options{}).locate(), CodePlan)
	if !strings.Contains(d.Message, was+" is traced, but there is no such file") {
		t.Error(d.Message)
	}
	p := load(Options{Files: []string{"/etc/passwd", moved}})
	if len(p.locate()) > 0 || p.ir.Probes[0].Sites[0].Program.Path != moved || p.unchanged() != nil {
		t.Error("where --file says it is not found")
	}
	write("was", "another")
	d = diagtest.Find(t, load(Options{}).locate(), CodePlan)
	if !strings.Contains(d.Message, "it has the checksum ") || !strings.Contains(d.Message, ", not the checksum ") {
		t.Error(d.Message)
	}
	// The same by its build id, with other code where a probe would lie.
	traced.ID, traced.Code = "", ""
	other, err := manifest.Look(was, 2)
	if err != nil {
		t.Fatal(err)
	}
	traced.ID, traced.Code = other.ID, "00"
	d = diagtest.Find(t, load(Options{}).locate(), CodePlan)
	if !strings.Contains(d.Message, "its code was changed") {
		t.Error(d.Message)
	}
}
