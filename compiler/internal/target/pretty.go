package target

import (
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// The bounds of what "$x$" and "$$vars" show. A handler with more values than that is
// better off naming them.
const (
	maxElems  = 8  // of an array
	maxFields = 24 // of a structure
	maxValues = 48 // in all
	maxDepth  = 4  // of nested structures in "$x$$"
)

// writer makes the parts of pretty text.
type writer struct {
	// plain is how $$vars shows values: numbers in hexadecimal, no look into structures.
	plain  bool
	nested bool
	parts  []elab.PrettyPart
	values int
	// full collects values of Go that are shown with what they lead to; nil while there are none.
	full   *fullText
	limits layout.Limits
	// readable is Env.readable of the variables' program.
	readable func(loc.Place) loc.Place
}

func (w *writer) lit(s string) {
	if w.full != nil {
		w.full.lit(s)
		return
	}
	if n := len(w.parts); n > 0 && w.parts[n-1].Conv == 0 {
		w.parts[n-1].Lit += s
		return
	}
	w.parts = append(w.parts, elab.PrettyPart{Lit: s})
}

func (w *writer) add(p elab.PrettyPart) {
	if w.values >= maxValues {
		w.lit("...")
		return
	}
	w.values++
	w.parts = append(w.parts, p)
}

// lost is what stands for a value that cannot be had, as in stap.
func (w *writer) lost() { w.lit("?") }

func (w *writer) number(conv byte, p loc.Prog, err error) {
	if err != nil {
		w.lost()
		return
	}
	w.add(elab.PrettyPart{Conv: conv, Value: p})
}

// word writes the integer in 8 bytes of o from off on.
func (w *writer) word(conv byte, o object, off int64) {
	p, err := word(part(o, off, goRawPtr), wordSize, false)
	w.number(conv, p, err)
}

func (w *writer) value(o object, depth int) {
	t := o.Type
	if t == nil {
		w.lost()
		return
	}
	if w.full != nil {
		w.full.value(o, t.Kind == types.Pointer)
		return
	}
	switch t.Kind {
	case types.Int, types.Bool, types.Enum:
		p, err := scalar(o)
		w.number(w.conv(t), p, err)
	case types.Char:
		p, err := scalar(o)
		if w.plain || err != nil {
			w.number('p', p, err)
			return
		}
		w.lit("'")
		w.number('C', p, nil)
		w.lit("'")
	case types.Pointer:
		p, err := scalar(o)
		if e := t.Elem(); err == nil && !w.plain && !t.Go && e != nil && e.Kind == types.Char {
			w.quoted(elab.PrettyPart{Conv: 's', Value: p, CString: true, Kernel: inKernel(o)})
			return
		}
		w.number('p', p, err)
	case types.GoMap, types.GoChan, types.GoFunc, types.Func:
		p, err := scalar(o)
		w.number('p', p, err)
	case types.GoString:
		s, err := read(o)
		if err != nil {
			w.lost()
			return
		}
		w.quoted(elab.PrettyPart{Conv: 's', Value: s.Value, Len: s.Len})
	case types.GoSlice: // as println shows it: [length/capacity]address
		w.lit("[")
		w.word('d', o, wordSize)
		w.lit("/")
		w.word('d', o, 2*wordSize)
		w.lit("]")
		w.word('p', o, 0)
	case types.GoInterface: // likewise: (type,data)
		w.lit("(")
		w.word('p', o, 0)
		w.lit(",")
		w.word('p', o, wordSize)
		w.lit(")")
	case types.Struct, types.Union:
		w.fields(o, depth)
	case types.Array:
		w.elems(o, depth)
	case types.Float:
		w.fraction(o)
	case types.Complex:
		re, im := halves(o)
		if _, err := word(re, re.Type.Size, false); err != nil {
			w.lost()
			return
		}
		w.lit("(")
		w.fraction(re)
		w.lit(",")
		w.fraction(im)
		w.lit(")")
	default:
		w.lost()
	}
}

// fraction writes a number with a fraction: float and double of C, float32 and float64 of Go.
func (w *writer) fraction(o object) {
	conv, ok := map[int64]byte{8: 'r', 4: 'h'}[o.Type.Size]
	if !ok {
		w.lost()
		return
	}
	p, err := word(o, o.Type.Size, false)
	w.number(conv, p, err)
}

func (w *writer) conv(t *types.Ctype) byte {
	switch {
	case w.plain:
		return 'p'
	case t.Kind == types.Int && !t.Signed:
		return 'u'
	}
	return 'd'
}

// quoted writes a string in double quotes, with escapes.
func (w *writer) quoted(p elab.PrettyPart) {
	w.add(p)
}

func (w *writer) fields(o object, depth int) {
	if w.plain || depth > 0 && !w.nested || depth >= maxDepth {
		w.lit("{...}")
		return
	}
	w.lit("{")
	for i, f := range o.Type.Fields() {
		if i > 0 {
			w.lit(", ")
		}
		if i == maxFields || w.values >= maxValues {
			w.lit("...")
			break
		}
		name := f.Name
		if o.Type.Go {
			w.lit(name + ":")
		} else if name != "" {
			w.lit("." + name + "=")
		}
		below := depth + 1
		if name == "" && !o.Type.Go {
			below = depth // the members of an anonymous member are the structure's own
		}
		w.value(field(o, f), below)
	}
	w.lit("}")
}

func (w *writer) elems(o object, depth int) {
	t := o.Type
	e := t.Elem()
	switch {
	case e == nil || t.Count < 0 || e.Size < 0 || e.Size == 0 && !t.Go:
		if o.InMemory && !t.Go {
			w.number('p', o.Addr, nil)
			return
		}
		w.lost()
		return
	case !t.Go && e.Kind == types.Char && o.InMemory && !w.plain:
		w.quoted(elab.PrettyPart{Conv: 's', Value: o.Addr, Len: loc.Constant(t.Count), CString: true, Kernel: o.Kernel})
		return
	case w.plain || depth > 0 && !w.nested || depth >= maxDepth:
		w.lit("[...]")
		return
	}
	w.lit("[")
	for i := range t.Count {
		if i > 0 {
			if t.Go {
				w.lit(" ")
			} else {
				w.lit(", ")
			}
		}
		if i == maxElems || w.values >= maxValues {
			w.lit("...")
			break
		}
		el, err := index(o, true, i, loc.Prog{})
		if err != nil {
			w.lost()
			break
		}
		w.value(el, depth+1)
	}
	w.lit("]")
}

// vars makes the text of "$$vars", "$$parms", "$$locals" and "$$return", with trailing
// dollars as of "$x$".
func (b *build) vars(t *ast.Target) (*elab.Target, error) {
	s := b.at()
	if s != nil && s.Names != nil {
		return b.eventVars(s, t)
	}
	if s == nil || s.Image == nil {
		return nil, fail("%s", b.outside)
	}
	if !debuginfo.Tells(s.Image) {
		return nil, noTypes(s)
	}
	w := writer{plain: t.Pretty == 0, nested: t.Pretty > 1, limits: b.env.Limits,
		readable: func(pl loc.Place) loc.Place { return b.env.readable(s.Image, pl) }}
	name := t.Name
	if name == "$$return" {
		if err := b.returned(&w, s); err != nil {
			return nil, err
		}
		if err := w.seal(); err != nil {
			return nil, err
		}
		return &elab.Target{Type: types.String, Pretty: w.parts}, nil
	}
	list, err := s.Image.Vars(s.At)
	if err != nil {
		return nil, err
	}
	ret := s.IsReturn() && !b.inEntry
	if ret && name != "$$locals" {
		es, err := b.entrySite()
		if err != nil {
			return nil, err
		}
		entry, err := es.Image.Vars(es.At)
		if err != nil {
			return nil, err
		}
		w.open(es.Image, entry)
		w.list(entry, debuginfo.Param)
		if err := w.seal(); err != nil {
			return nil, err
		}
		for i := range w.parts {
			w.parts[i].AtEntry = w.parts[i].Conv != 0
		}
	} else if name != "$$locals" {
		w.open(s.Image, list)
		w.list(list, debuginfo.Param)
	}
	if name != "$$parms" && !(ret && s.Kind.Trampoline()) {
		w.open(s.Image, list)
		w.list(list, debuginfo.Captured)
		w.list(list, debuginfo.Local)
		if !s.IsReturn() {
			w.results(list)
		}
	}
	if err := w.seal(); err != nil {
		return nil, err
	}
	return &elab.Target{Type: types.String, Pretty: w.parts}, nil
}

// seal ends the values that are shown with what they lead to, and makes a part of the text of them.
func (w *writer) seal() error {
	if w.full == nil {
		return nil
	}
	parts, ok := w.full.parts()
	w.full = nil
	if !ok {
		return fail("its values are too many to show all of them: name those that are wanted")
	}
	w.parts = append(w.parts, parts...)
	return nil
}

// open begins values that are shown with what they lead to, if some of vs are of such types.
func (w *writer) open(img debuginfo.Image, vs []*debuginfo.Var) {
	if w.plain || w.full != nil {
		return
	}
	for _, v := range vs {
		t := v.Place.Type
		if t == nil {
			t = v.Type
		}
		if v.Err == nil && t != nil && (t.Go && !(plain(img, t) && sure(v.Place)) || own(t)) {
			w.full = newFullText(img, !t.Go, !w.nested, w.limits)
			return
		}
	}
}

func (w *writer) list(vs []*debuginfo.Var, kind debuginfo.VarKind) {
	for _, v := range vs {
		if v.Kind == kind && v.Name != "" && v.Name != "_" && !strings.HasPrefix(v.Name, ".") {
			w.variable(v.Name, v)
		}
	}
}

// results adds named results that have a value before the return.
func (w *writer) results(vs []*debuginfo.Var) {
	for _, v := range vs {
		if v.Kind == debuginfo.Result && named(v.Name) && v.Err == nil {
			w.variable(v.Name, v)
		}
	}
}

func (w *writer) variable(name string, v *debuginfo.Var) {
	if len(w.parts) > 0 || w.full != nil && len(w.full.items) > 0 {
		w.lit(" ")
	}
	w.lit(name + "=")
	if v.Err != nil {
		w.lost()
		return
	}
	o := object{Place: v.Place}
	if w.readable != nil {
		o.Place = w.readable(v.Place)
	}
	if o.Type == nil {
		o.Type = v.Type
	}
	w.value(o, 0)
}

func (b *build) returned(w *writer, s *probe.Site) error {
	if !s.IsReturn() {
		return &errResult{said("available in .return probes only", "append .return to the probe point")}
	}
	if s.At.Kind == debuginfo.AtTail {
		return errTail
	}
	rs, err := s.Image.Results(s.At)
	if err != nil {
		return err
	}
	w.open(s.Image, rs)
	for _, r := range rs {
		name := "return"
		if len(rs) > 1 {
			name = r.Name
		}
		w.variable(name, r)
	}
	return nil
}
