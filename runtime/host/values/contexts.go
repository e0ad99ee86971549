package values

import (
	"time"

	"github.com/gostap/gostap/compiler/debuginfo/gocontexts"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// mostLinks bounds how many contexts are written, one derived from the other.
const mostLinks = 100

// roots are the contexts of package context that others are derived from.
var roots = map[string]string{
	"context.backgroundCtx": "context.Background",
	"context.todoCtx":       "context.TODO",
	"context.emptyCtx":      "context.Background",
}

// linked writes contexts.
type linked struct{ *texter }

// chain writes a context of package context as those that it is derived from and what was done to get it, in the order
// in which the program did it: "context.Background.WithValue(main.key{}, "abc").WithCancel". A context that has ended
// has its error in brackets behind it. false, with nothing written, for values of all other types.
func (t *texter) chain(v value, l level) bool {
	if _, ok := ownContext(v); !ok {
		return false
	}
	linked{t}.link(v, l, mostLinks)
	return true
}

// ownContext gives the structure that a context of package context is; ok is false for other values, and pointers that
// are nil. It is empty where its memory is not known.
func ownContext(v value) (kind string, ok bool) {
	if v.t == nil {
		return "", false
	}
	switch kind = fullName(v.t); kind {
	case "context.backgroundCtx", "context.todoCtx", "context.stopCtx", "context.withoutCancelCtx":
		return kind, v.t.Kind == types.Struct
	case "*context.valueCtx", "*context.cancelCtx", "*context.timerCtx", "*context.afterFuncCtx":
		p, known := v.word(0)
		return kind[1:], known && p != 0 && v.t.Kind == types.Pointer
	}
	return "", false
}

// link writes the context v, with those that it is derived from, at most so many.
func (t linked) link(v value, l level, most int) {
	kind, ok := ownContext(v)
	switch {
	case !ok:
		t.foreignContext(v, l, most)
		return
	case roots[kind] != "":
		t.lit(roots[kind])
		return
	}
	s := v
	if v.t.Kind == types.Pointer {
		p, _ := v.word(0)
		if t.cycle(p, v.t.Elem()) {
			t.printf("{...0x%x}", p)
			return
		}
		if s, ok = t.target(v); !ok {
			t.notRead(p)
			return
		}
		t.inside(p, v.t.Elem(), func() { t.derived(kind, s, l, most) })
		return
	}
	t.derived(kind, s, l, most)
}

// notRead stands for what an address leads to.
func (t linked) notRead(p uint64) {
	if _, _, gone := t.at(p, 1); gone {
		t.lost()
		return
	}
	t.lit("{...}")
}

// derived writes a context whose structure is s.
func (t linked) derived(kind string, s value, l level, most int) {
	cancel, name := s, "Context"
	switch kind {
	case "context.timerCtx", "context.afterFuncCtx":
		cancel, _ = field(s, "cancelCtx")
	case "context.withoutCancelCtx":
		name = "c"
	}
	t.parent(cancel, name, l, most)
	switch kind {
	case "context.valueCtx":
		t.lit(".WithValue(")
		t.carried(s, "key", level{structs: l.structs, hops: l.hops + 1})
		t.lit(", ")
		t.carried(s, "val", level{structs: l.structs + 1, hops: l.hops + 1})
		t.lit(")")
	case "context.cancelCtx", "context.afterFuncCtx":
		t.lit(".WithCancel")
		t.ended(cancel, l)
	case "context.timerCtx":
		t.lit(".WithDeadline(")
		at, _ := field(s, "deadline")
		if when, ok := moment(at); ok {
			t.lit(when.Format(time.RFC3339Nano))
		} else {
			t.lost()
		}
		t.lit(")")
		t.ended(cancel, l)
	case "context.withoutCancelCtx":
		t.lit(".WithoutCancel")
	}
}

// parent writes the context in a member of s.
func (t linked) parent(s value, name string, l level, most int) {
	f, ok := field(s, name)
	if !ok || f.t == nil || f.t.Kind != types.GoInterface {
		t.lost()
		return
	}
	in, isNil, ok := t.dynamic(f)
	switch {
	case ok && isNil:
		t.lit("nil")
	case most == 0 || t.full():
		t.lit("{...}")
	case !ok:
		tab, known := f.word(0)
		if _, read, gone := t.at(tab, 16); !known || read || gone {
			t.lost()
			return
		}
		t.lit("{...}")
	default:
		t.link(in, l, most-1)
	}
}

// foreignContext writes a context of another package that one is derived from: its type, behind the context that it
// passes everything on to, where the program's code tells that it does.
func (t linked) foreignContext(v value, l level, most int) {
	if c := t.passes(v.t); c != nil {
		if f, ok := t.passed(v, c); ok {
			if in, isNil, ok := t.dynamic(f); ok && !isNil && most > 0 && !t.full() {
				t.link(in, l, most-1)
				t.lit(".(" + v.t.Name + ")")
				return
			}
		}
	}
	t.lit(v.t.Name)
}

// passes says how a type of another package passes everything on, nil if it does not.
func (t linked) passes(c *types.Ctype) *loc.Context {
	if t.p.img == nil || t.p.rtt == nil {
		return nil
	}
	all, err := gocontexts.Of(t.p.img)
	if err != nil {
		return nil
	}
	for i := range all.Types {
		if x := &all.Types[i]; x.Addr == t.p.rtt.First+c.RunTime && x.Does == loc.Derived {
			return x
		}
	}
	return nil
}

// passed is the interface that a context of another package has the one in that it passes everything on to.
func (t linked) passed(v value, c *loc.Context) (value, bool) {
	const size = 16
	face := &types.Ctype{Kind: types.GoInterface, Size: size, Go: true}
	if v.t.Kind != types.Pointer && v.t.Size == 8 && c.Then < 0 {
		return value{}, false // the data word itself leads there
	}
	if v.t.Kind == types.Pointer {
		s, ok := t.target(v)
		if !ok {
			return value{}, false
		}
		v = s
	}
	if c.Then < 0 {
		f := v.part(c.Off, face)
		return f, len(f.b) == size
	}
	p, ok := v.word(c.Off)
	if !ok {
		return value{}, false
	}
	b, _, _ := t.at(p+uint64(c.Then), size)
	return value{t: face, b: b}, len(b) == size
}

// carried writes the key or value of a context.
func (t linked) carried(s value, name string, l level) {
	f, ok := field(s, name)
	if !ok || f.t == nil || f.t.Kind != types.GoInterface {
		t.lost()
		return
	}
	t.iface(f, l)
}

// ended writes the error of a context that has ended, and its cause if that is another one.
func (t linked) ended(s value, l level) {
	err, ok := field(s, "err")
	if ok && err.t != nil && err.t.Kind == types.Struct { // an atomic.Value since Go 1.25
		err, ok = field(err, "v")
	}
	word, known := err.word(0)
	if !ok || !known || err.t.Kind != types.GoInterface {
		t.lit("[?]")
		return
	}
	if word == 0 {
		return
	}
	t.lit("[")
	t.reason(err, l)
	cause, ok := field(s, "cause")
	a, ok1 := err.word(8)
	b, ok2 := cause.word(8)
	if w, ok3 := cause.word(0); ok && ok1 && ok2 && ok3 && w != 0 && a != b {
		t.lit(", cause ")
		t.iface(cause, level{structs: l.structs, hops: l.hops + 1})
	}
	t.lit("]")
}

// reason writes an error by its text.
func (t linked) reason(v value, l level) {
	if in, isNil, ok := t.dynamic(v); ok && !isNil {
		if s, ok := t.errorText(in, 0); ok && !s.cut {
			t.lit(s.text)
			return
		}
	}
	t.iface(v, level{structs: l.structs, hops: l.hops + 1})
}
