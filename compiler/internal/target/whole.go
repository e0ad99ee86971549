package target

import (
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/types"
)

// Values of Go, C++ and Rust are shown with what they lead to: elements, what interfaces hold, text of errors. What
// that takes is copied at the hit, and the host makes the text (packages shape, snapshot and values).

// errorDepth is how many pointers are followed in what an interface holds, in "$x$".
const errorDepth = 3

// item is literal text, or a value with its type.
type item struct {
	lit  string
	typ  *types.Ctype
	part shape.Part
}

// fullText collects what is shown of values of one program.
type fullText struct {
	rtt    *debuginfo.RunTimeTypes
	path   string
	bias   bool
	one    bool
	limits layout.Limits
	items  []item
	words  []loc.Prog
}

// newFullText begins a text of values of img's program; nil where it is not known how they lie. own says that they are
// of C++ or Rust.
func newFullText(img debuginfo.Image, own, one bool, l layout.Limits) *fullText {
	if own {
		w := &fullText{path: img.Path(), one: one, limits: l}
		if p, ok := img.(debuginfo.Placed); ok && p.Relocated() {
			w.bias = true
			w.word(loc.Static(0, true))
		}
		return w
	}
	rtt := debuginfo.RunTimeTypesOf(img)
	if rtt == nil {
		return nil
	}
	w := &fullText{rtt: rtt, path: img.Path(), one: one, limits: l}
	if rtt.Relocated {
		w.bias = true
		w.word(loc.Static(0, true))
	}
	return w
}

// own reports whether a type of C++ or Rust has another text than what C makes of its members.
func own(t *types.Ctype) bool {
	if t.Lang == types.OtherLang {
		return false
	}
	if e := t.Elem(); t.Kind == types.Pointer && e != nil && t.Lang == types.CPlus && !t.Ref {
		t = e // $x$ shows the structure
	}
	switch t.Kind {
	case types.Struct, types.Bool, types.Enum:
		return true
	case types.Int:
		return t.Own != "" || t.Size == 16
	case types.Float:
		return t.Lang == types.Rust
	case types.Array, types.Union:
		return true
	case types.Pointer:
		return t.Ref || t.Lang == types.Rust
	}
	return false
}

// sure reports whether a value is there at all hits.
func sure(p loc.Place) bool {
	return !slices.ContainsFunc(p.Pieces, func(q loc.Piece) bool {
		_, when := q.Val.Checked()
		return !when.Empty()
	})
}

// plain reports whether the text of a type of Go in img's program is made of numbers and strings alone, which need
// nothing further.
func plain(img debuginfo.Image, t *types.Ctype) bool {
	if t == nil {
		return true
	}
	if shape.OwnText(t.Name) {
		return false
	}
	switch t.Kind {
	case types.Int:
		return len(constantsOf(img, t)) == 0
	case types.GoString, types.Float:
		return true
	case types.Struct:
		for _, f := range t.Fields() {
			if !plain(img, f.Type) {
				return false
			}
		}
		return true
	case types.Array:
		return plain(img, t.Elem())
	}
	return false
}

// plainOrPointer is plain for what "$x$" shows, which is what a pointer to a structure leads to.
func plainOrPointer(img debuginfo.Image, t *types.Ctype) bool {
	if t.Kind == types.Pointer && t.Elem() != nil && t.Elem().Kind == types.Struct {
		return plain(img, t.Elem())
	}
	return plain(img, t)
}

// word gives the index of a number.
func (w *fullText) word(p loc.Prog) int {
	text := p.String()
	if i := slices.IndexFunc(w.words, func(q loc.Prog) bool { return q.String() == text }); i >= 0 {
		return i
	}
	w.words = append(w.words, p)
	return len(w.words) - 1
}

func (w *fullText) lit(s string) { w.items = append(w.items, item{lit: s}) }

// value adds an object; deref: a pointer's target is shown in its place.
func (w *fullText) value(o object, deref bool) { w.add(o, shape.Part{Deref: deref}) }

// add adds an object that is shown as part says.
func (w *fullText) add(o object, part shape.Part) {
	it := item{typ: o.Type, part: part}
	if o.InMemory {
		it.part.Addr = true
		it.part.Words = []shape.Word{{At: w.word(o.Addr), Size: 8}}
	} else {
		// The words of a string or an interface lie behind each other, as the table for the kernel wants them.
		for _, p := range o.Pieces {
			if _, live := p.Val.Checked(); !live.Empty() {
				it.part.Live = w.word(live) + 1
			}
		}
		for _, p := range o.Pieces {
			if p.Lost || p.Val.Empty() || p.Size > 8 {
				continue
			}
			val, _ := p.Val.Checked()
			w.words = append(w.words, val)
			it.part.Words = append(it.part.Words, shape.Word{At: len(w.words) - 1, Off: p.Off, Size: p.Size})
		}
		if len(it.part.Words) == 0 {
			// All of it is gone; its structure is shown all the same.
			it.part.Words = []shape.Word{{At: w.word(loc.Constant(0))}}
		}
	}
	w.items = append(w.items, it)
}

// parts gives what was collected as one part of a text. Of several values that are too many for the bounds, "..."
// stands for the last ones. There is none where one alone is too much.
func (w *fullText) parts() ([]elab.PrettyPart, bool) {
	parts, ok := w.fitting(w.limits.ValueDepth)
	for !ok && w.leaveOut() {
		parts, ok = w.fitting(1)
	}
	return parts, ok
}

// leaveOut puts "..." in place of the last value, false if it is the only one.
func (w *fullText) leaveOut() bool {
	last, words, n := -1, 0, 0
	if w.bias {
		words = 1
	}
	for i, it := range w.items {
		if it.typ == nil {
			continue
		}
		if last >= 0 {
			old := w.items[last].part
			words = max(words, old.Live)
			for _, u := range old.Words {
				words = max(words, u.At+1)
			}
		}
		last, n = i, n+1
	}
	if n < 2 {
		return false
	}
	w.items[last] = item{lit: "..."}
	w.words = w.words[:words]
	return true
}

// fitting is parts for all values, with pointers followed to a depth at most; false if they are too many.
func (w *fullText) fitting(depth int) ([]elab.PrettyPart, bool) {
	if len(w.words) > shape.MaxWords/2 {
		return nil, false
	}
	for ; depth > 0; depth-- {
		p := shape.Plan{Path: w.path, Depth: depth, One: w.one,
			Elems: w.limits.ValueElems, Str: w.limits.MaxString}
		if w.rtt != nil {
			p.Go, p.Swiss = w.rtt.Minor, w.rtt.Swiss
		}
		if w.one && w.rtt != nil {
			p.Depth = min(depth, errorDepth)
		}
		if w.bias {
			p.Bias = 1
		}
		b := shape.New(p)
		for _, it := range w.items {
			if it.typ == nil {
				b.Lit(it.lit)
				continue
			}
			b.Value(it.typ, it.part)
		}
		plan := b.Plan()
		if text := plan.Text(); len(text) <= ir.MaxTable && 8*len(plan.Table()) <= ir.MaxTable {
			return []elab.PrettyPart{{Conv: 'v', Plan: text, Words: w.words}}, true
		}
	}
	return nil, false
}
