package profile

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/layout"
)

// TestApart: no handler waits for another one, so none is lost to a lock, however many processors there are.
func TestApart(t *testing.T) {
	app := builtFor(t, labelledSource, "")
	for _, o := range []options{{what: "wall"}, {what: "wall", each: true}, {what: "chan"}, {what: "lock,gc"},
		{what: "syscall"}, {what: "cpu"}, {what: "create"}, {what: "alloc"}, {what: "wall", threads: true}} {
		o.command, o.hz = app, 997
		opt := gostap.Options{Command: app, Bare: true}
		opt.Limits, opt.Tool.Apart, opt.Tool.Dump = layout.Default(), true, []string{"opt"}
		script, _, err := plan(context.Background(), &o, opt, &namer{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := gostap.Compile(context.Background(), script, opt)
		if err != nil {
			t.Fatal(err)
		}
		if text := p.Dump("opt"); !strings.Contains(text, "probe \"") ||
			slices.ContainsFunc(strings.Split(text, "\n"), func(l string) bool {
				return strings.HasPrefix(strings.TrimSpace(l), "lock ") || strings.HasPrefix(l, "locks ")
			}) {
			t.Errorf("%+v\n%s", o, text)
		}
		p.Close()
	}
}

// TestWords: what a word of a goroutine's holds has room in it.
func TestWords(t *testing.T) {
	if backend.MaxStacks > stackMask || kindIdle > kindMask || mostReasons > kindRunning ||
		(mostSets+racing+setFirst)<<timeShift>>timeShift != mostSets+racing+setFirst {
		t.Error("there is not room for everything in a word")
	}
}
