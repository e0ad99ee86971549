package intrinsic

import (
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/caps"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// TestUnsaid: a row that says nothing is one of a function with which nothing may be done.
func TestUnsaid(t *testing.T) {
	var f Func
	if !f.Guru() || !f.MayEnd() || f.Silent() || f.Removable() || f.Repeats() || f.Later || f.Unprivileged ||
		f.Thread || f.Fails == Never || f.Fails == Faults {
		t.Errorf("%+v", f)
	}
}

// TestRows: rows say what they must, and nothing that contradicts itself.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for i := range rows {
		f := &rows[i]
		bad := func(what string) { t.Errorf("%s: %s", f.Name, what) }
		if seen[f.Name] {
			bad("two rows")
		}
		seen[f.Name] = true
		if Lookup(f.Name) != f {
			bad("not found")
		}
		if f.Does == Unsaid {
			bad("it is not said what it does")
		}
		if f.Result == types.Unknown && f.Silent() {
			bad("no result, and nothing is done")
		}
		if f.Result == types.Unknown && f.Later {
			bad("Later is about a result")
		}
		if f.Does == Pure && f.Where != Lowered && !f.Later {
			bad("it depends on its arguments alone, but not later")
		}
		if f.Guru() && f.Unprivileged {
			bad("it changes something, and everybody may use it")
		}
		if f.Fails == Faults && f.Where == Anywhere && f.Reads == "" {
			bad("an address may be bad, but nothing is read")
		}
		if f.Reads != "" && (f.Reads != caps.ReadUser && f.Reads != caps.ReadKernel || f.Later) {
			bad("whose memory is read, and when?")
		}
		if f.Sent() != (f.Text.Lazy != wire.NotLazy && !f.OfProcess) || f.Sent() && f.Result != types.String {
			bad("the host makes a text of nothing")
		}
		if of := Lookup(f.Of); f.Of != "" && (of == nil || !of.OfProcess || of.Where != HostOnly ||
			of.Text != f.Text || len(of.Params) != len(f.Params)+1) {
			bad("its form for the host is another function")
		}
		if f.OfProcess && !slices.ContainsFunc(rows[:], func(g Func) bool { return g.Of == f.Name }) {
			bad("a form of no function")
		}
		if n := len(f.Params); f.Len > n || f.Else > n || f.Const > n || -f.Cap > n || f.Table && f.Const == 0 ||
			f.Len > 0 && f.Params[f.Len-1] != types.Long || f.Else > 0 && f.Params[f.Else-1] != f.Result {
			bad("there is no such argument")
		}
	}
	names := All()
	byName := func(a, b *Func) int { return strings.Compare(a.Name, b.Name) }
	if len(names) != len(rows) || !slices.IsSortedFunc(names, byName) {
		t.Error("All does not list them by name")
	}
}

// TestUnprivileged: nothing that tells about the kernel is for everybody.
func TestUnprivileged(t *testing.T) {
	for i := range rows {
		if f := &rows[i]; f.Unprivileged && (f.Reads == caps.ReadKernel || f.Text.Lazy.OfKernel()) {
			t.Errorf("%s tells about the kernel", f.Name)
		}
	}
	for _, name := range strings.Fields("kernel_string backtrace symname task_current register ftrace env_var") {
		if Lookup(name).Unprivileged {
			t.Errorf("%s tells about the kernel, or the tracer", name)
		}
	}
}
