package sel

import (
	"errors"
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/regalloc"
)

// TestChained: what counts is the deepest way down, not what stands side by side.
func TestChained(t *testing.T) {
	fn := func(name string, stack int, calls ...string) *mach.Func {
		f := mach.New(name)
		f.Stack = stack
		b := &mach.Block{}
		for _, c := range calls {
			b.Ins = append(b.Ins, mach.Ins{Op: mach.FuncPtr, Sym: c})
		}
		f.Blocks = []*mach.Block{b}
		return f
	}
	for _, c := range []struct {
		name  string
		funcs []*mach.Func
		ok    bool
	}{
		{"side by side", []*mach.Func{fn("a", 128, "b", "c", "d"), fn("b", 300), fn("c", 300), fn("d", 384)}, true},
		{"one below the other", []*mach.Func{fn("a", 128, "b"), fn("b", 256, "c"), fn("c", 100)}, true},
		{"too deep", []*mach.Func{fn("a", 128, "c", "b"), fn("b", 256, "c"), fn("c", 130)}, false},
		{"small ones count 32", []*mach.Func{fn("a", 480, "b"), fn("b", 0, "c"), fn("c", 0)}, false},
		{"a circle", []*mach.Func{fn("a", 128, "b"), fn("b", 128, "a")}, true},
		{"one alone", []*mach.Func{fn("a", 512)}, true},
	} {
		if err := chained(c.funcs); (err == nil) != c.ok || err != nil && !errors.Is(err, regalloc.ErrStack) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
