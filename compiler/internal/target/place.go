package target

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/travel"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// object is a thing of the traced program while a target expression is followed: a
// place with its type, or a bit field of one.
type object struct {
	loc.Place
	bitOff, bitSize int64 // bitSize 0: not a bit field
}

func said(text, hint string) problem { return problem{text: text, hint: hint} }

// problem is why an expression cannot be followed; hint may say what to do. whole is set where it leads to a value,
// only that this is no single one.
type problem struct {
	text, hint string
	whole      *loc.Place
	cause      error // the error among the arguments of fail
}

// Part is the piece of a value from off on that has type t.
func Part(pl loc.Place, off int64, t *types.Ctype) loc.Place {
	return part(object{Place: pl}, off, t).Place
}

// Word gives the integer in the first size bytes of a value.
func Word(pl loc.Place, size int64) (loc.Prog, error) { return word(object{Place: pl}, size, false) }

func (p *problem) Error() string { return p.text }

func (p *problem) Unwrap() error { return p.cause }

func fail(format string, args ...any) error {
	p := &problem{text: fmt.Sprintf(format, args...)}
	if s := diag.SharedOf(args); s != nil {
		p.cause = s
	}
	return p
}

func (p *problem) advise(format string, args ...any) error {
	p.hint = fmt.Sprintf(format, args...)
	return p
}

// errLost is a part of a value that does not exist at the pc.
var errLost = errors.New("this part of it is optimised out here")

// value makes the object that a computed 64-bit value is. kernel says that what it points to is kernel memory.
func value(t *types.Ctype, p loc.Prog, kernel bool) object {
	return object{Place: loc.Place{Type: t, Kernel: kernel, Pieces: []loc.Piece{{Size: 8, Val: p}}}}
}

// part is the piece of o from off on that has type t.
func part(o object, off int64, t *types.Ctype) object {
	out := object{Place: loc.Place{Type: t, InMemory: o.InMemory, Kernel: o.Kernel, Writable: o.Writable}}
	if o.InMemory {
		out.Addr = o.Addr.Plus(off)
		return out
	}
	end := off + max(t.Size, 0)
	for _, p := range o.Pieces {
		lo, hi := max(p.Off, off), min(p.Off+p.Size, end)
		if lo >= hi {
			continue
		}
		q := loc.Piece{Off: lo - off, Size: hi - lo, Val: p.Val, Lost: p.Lost, Vector: p.Vector, Part: p.Part ||
			hi-lo < p.Size}
		switch {
		case lo == p.Off || p.Lost:
		case p.Vector != 0 && p.Val.Empty():
			q.Lost = true
		default:
			q.Val = p.Val.Then(loc.Step{Op: loc.Bits, N: (lo - p.Off) * 8, Size: int(hi-lo) * 8})
		}
		out.Pieces = append(out.Pieces, q)
	}
	return out
}

// word is the integer in the first size bytes of o.
func word(o object, size int64, signed bool) (loc.Prog, error) {
	switch size {
	case 1, 2, 4, 8:
	default:
		return loc.Prog{}, fail("a value of %d bytes does not fit a number", size)
	}
	if o.InMemory {
		return o.Addr.Load(int(size), signed, o.Kernel), nil
	}
	var sum loc.Prog
	var got int64
	for _, p := range o.Pieces {
		if p.Off >= size {
			continue
		}
		switch {
		case p.Lost:
			return loc.Prog{}, errLost
		case p.Vector != 0 && p.Val.Empty():
			return loc.Prog{}, inVector("it is", p)
		}
		n := min(p.Size, size-p.Off)
		if p.Off == 0 && n == size {
			if size == 8 {
				return p.Val, nil
			}
			return p.Val.Then(loc.Step{Op: loc.Bits, Size: int(size) * 8, Signed: signed}), nil
		}
		v := p.Val.Then(loc.Step{Op: loc.Bits, Size: int(n) * 8})
		if p.Off > 0 {
			v = v.With(loc.Constant(p.Off*8), loc.Step{Op: loc.Shl})
		}
		if sum.Empty() {
			sum = v
		} else {
			sum = sum.With(v, loc.Step{Op: loc.Or})
		}
		got += n
	}
	if got < size {
		return loc.Prog{}, errLost
	}
	if size < 8 && signed {
		sum = sum.Then(loc.Step{Op: loc.Bits, Size: int(size) * 8, Signed: true})
	}
	return sum, nil
}

// scalar is the value of o as a script's long.
func scalar(o object) (loc.Prog, error) {
	t := o.Type
	if o.bitSize > 0 {
		w, err := word(o, t.Size, false)
		if err != nil {
			return w, err
		}
		return w.Then(loc.Step{Op: loc.Bits, N: o.bitOff, Size: int(o.bitSize), Signed: t.Signed}), nil
	}
	return word(o, t.Size, t.Signed && (t.Kind == types.Int || t.Kind == types.Char || t.Kind == types.Enum))
}

// inKernel reports whether what pointer or array o leads to is kernel memory.
func inKernel(o object) bool { return o.Kernel && !(o.Type.Kind == types.Pointer && o.Type.User) }

// deref is what pointer o points to.
func deref(o object) (object, error) {
	elem := o.Type.Elem()
	if elem == nil || elem.Kind == types.Void {
		p := &problem{text: fmt.Sprintf("%s does not say what it points to", o.Type.Name)}
		return o, p.advise(`give it a type: @cast(pointer, "type")->member`)
	}
	p, err := word(o, o.Type.Size, false)
	if err != nil {
		return o, err
	}
	return object{Place: loc.Place{Type: elem, InMemory: true, Addr: p, Kernel: inKernel(o), Writable: true}}, nil
}

// The words of Go's strings, slices and interfaces.
const wordSize = 8

var (
	goInt    = &types.Ctype{Kind: types.Int, Name: "int", Size: 8, Signed: true, Go: true}
	goUint8  = &types.Ctype{Kind: types.Int, Name: "uint8", Size: 1, Go: true}
	goRawPtr = &types.Ctype{Kind: types.Pointer, Name: "unsafe.Pointer", Size: 8, Go: true}
)

func pointerTo(t *types.Ctype) *types.Ctype {
	name := "*" + t.Name
	if !t.Go {
		name = t.Name + " *"
	}
	p := &types.Ctype{Kind: types.Pointer, Name: name, Size: 8, Go: t.Go}
	p.SetElem(t)
	return p
}

// member follows "->name".
func member(o object, name string) (object, error) {
	for depth := 0; o.Type.Kind == types.Pointer; depth++ {
		if depth == 8 {
			return o, fail("too many pointers to pointers")
		}
		var err error
		if o, err = deref(o); err != nil {
			return o, err
		}
	}
	t := o.Type
	words := func(names ...string) (object, error) {
		var list []string
		for i, n := range names {
			ft := goInt
			for _, alias := range strings.Split(n, "|") {
				if alias == name {
					if i == 0 {
						ft = goRawPtr
						if t.Kind == types.GoSlice && t.Elem() != nil {
							ft = pointerTo(t.Elem())
						} else if t.Kind == types.GoString {
							ft = pointerTo(goUint8)
						}
					} else if t.Kind == types.GoInterface {
						ft = goRawPtr
					}
					return part(o, int64(i)*wordSize, ft), nil
				}
				list = append(list, alias)
			}
		}
		return o, noMember(t, name, list)
	}
	switch t.Kind {
	case types.Struct, types.Union:
		path := t.Path(name)
		if path == nil {
			return o, noMember(t, name, fieldNames(t))
		}
		if path[0].Owner != "" && o.InMemory {
			return kernelMember(o, path), nil
		}
		for _, f := range path {
			if o.Type.Kind == types.Pointer { // an embedded *T
				var err error
				if o, err = deref(o); err != nil {
					return o, err
				}
			}
			o = field(o, f)
		}
		return o, nil
	case types.GoString:
		return words("ptr|str", "len")
	case types.GoSlice:
		return words("ptr|array", "len", "cap")
	case types.GoInterface:
		if t.Empty {
			return words("type|_type|tab", "data")
		}
		return words("tab", "data")
	case types.GoMap:
		return header(o, name, "len")
	case types.GoChan:
		return header(o, name, "len", "cap")
	case types.Complex:
		re, im := halves(o)
		switch name {
		case "real":
			return re, nil
		case "imag":
			return im, nil
		}
		return o, noMember(t, name, []string{"real", "imag"})
	}
	return o, fail("%s has no members", t.Name)
}

// halves are the two numbers of a complex one.
func halves(o object) (re, im object) {
	name := ""
	if o.Type.Go {
		name = map[int64]string{8: "float32", 16: "float64"}[o.Type.Size]
	}
	half := &types.Ctype{Kind: types.Float, Name: name, Size: o.Type.Size / 2, Go: o.Type.Go}
	if name == "" {
		half.Name = map[int64]string{8: "float", 16: "double"}[o.Type.Size]
	}
	return part(o, 0, half), part(o, half.Size, half)
}

// header is a number in the words that a map or a channel begins with. Those are where len() and cap() look in code
// that Go's compiler makes, whatever the release; both are 0 for nil.
func header(o object, name string, have ...string) (object, error) {
	i := slices.Index(have, name)
	if i < 0 {
		return o, noMember(o.Type, name, have)
	}
	p, err := word(o, wordSize, false)
	if err != nil {
		return o, err
	}
	return value(goInt, p.Through(int64(i)*wordSize, wordSize, false, o.Kernel), o.Kernel), nil
}

func field(o object, f types.Field) object {
	if f.Owner != "" && o.InMemory {
		return kernelMember(o, []types.Field{f})
	}
	off := f.Off
	out := part(o, off, f.Type)
	out.bitOff, out.bitSize = f.BitOff, f.BitSize
	return out
}

func noMember(t *types.Ctype, name string, have []string) error {
	p := &problem{text: fmt.Sprintf("%s has no member %q", t.Name, name)}
	if near := diag.Nearest(name, have, 3); len(near) > 0 {
		return p.advise("did you mean %s?", strings.Join(near, ", "))
	}
	if len(have) > 0 {
		const show = 24
		more := ""
		if len(have) > show {
			have, more = have[:show], ", ..."
		}
		return p.advise("it has %s%s", strings.Join(have, ", "), more)
	}
	return p
}

func fieldNames(t *types.Ctype) []string {
	var out []string
	for _, f := range t.Fields() {
		if f.Name != "" {
			out = append(out, f.Name)
		}
		if f.Name == "" || f.Embedded {
			et := f.Type
			if et.Kind == types.Pointer && et.Elem() != nil {
				et = et.Elem()
			}
			for _, g := range et.Fields() {
				if g.Name != "" {
					out = append(out, g.Name)
				}
			}
		}
	}
	return out
}

// index follows "[i]". If isConst, the index is n, else prog computes it.
func index(o object, isConst bool, n int64, prog loc.Prog) (object, error) {
	if !isConst {
		n = 0
	}
	t := o.Type
	if t.Kind == types.Pointer && t.Elem() != nil && t.Go {
		if t.Elem().Kind == types.Array || t.Elem().Kind == types.GoSlice {
			var err error
			if o, err = deref(o); err != nil {
				return o, err
			}
			t = o.Type
		} else if isConst && n == 0 {
			return deref(o)
		} else {
			return o, fail("%s points to one value, so only [0] makes sense", t.Name)
		}
	}
	idx := prog
	if isConst {
		idx = loc.Constant(n)
	}
	scaled := func(base loc.Prog, elem *types.Ctype, idx loc.Prog) object {
		addr := base
		if isConst && len(idx.Steps) == 1 && (n == 0 || !travel.Sized(elem)) {
			addr = base.Plus(n * elem.Size)
		} else {
			if elem.Size != 1 {
				idx = idx.With(travel.Stride(elem), loc.Step{Op: loc.Mul})
			}
			addr = base.With(idx, loc.Step{Op: loc.Add})
		}
		return object{Place: loc.Place{Type: elem, InMemory: true, Addr: addr, Kernel: inKernel(o), Writable: true}}
	}
	sized := func(e *types.Ctype) error {
		if e == nil || e.Size <= 0 {
			return fail("the elements of %s have no known size", t.Name)
		}
		return nil
	}
	switch t.Kind {
	case types.Array:
		elem := t.Elem()
		if err := sized(elem); err != nil {
			return o, err
		}
		if isConst && t.Go && (n < 0 || t.Count >= 0 && n >= t.Count) || isConst && n < 0 {
			return o, fail("index %d is out of range of %s", n, t.Name)
		}
		if isConst && (n == 0 || !o.InMemory || !travel.Sized(elem)) {
			return part(o, n*elem.Size, elem), nil
		}
		if !o.InMemory {
			p := &problem{text: "the array is in registers here"}
			return o, p.advise("use a constant index")
		}
		if t.Go && t.Count >= 0 {
			idx = idx.With(loc.Constant(t.Count), loc.Step{Op: loc.Below})
		}
		return scaled(o.Addr, elem, idx), nil
	case types.GoSlice, types.GoString:
		elem := t.Elem()
		if t.Kind == types.GoString {
			elem = goUint8
		}
		if err := sized(elem); err != nil {
			return o, err
		}
		if isConst && n < 0 {
			return o, fail("index %d is out of range of %s", n, t.Name)
		}
		base, err := word(part(o, 0, goRawPtr), wordSize, false)
		if err != nil {
			return o, err
		}
		length, err := word(part(o, wordSize, goInt), wordSize, false)
		if err != nil {
			return o, err
		}
		return scaled(base, elem, idx.With(length, loc.Step{Op: loc.Below})), nil
	case types.Pointer:
		elem := t.Elem()
		if elem == nil || elem.Kind == types.Void {
			_, err := deref(o)
			return o, err
		}
		if err := sized(elem); err != nil {
			return o, err
		}
		base, err := word(o, t.Size, false)
		if err != nil {
			return o, err
		}
		return scaled(base, elem, idx), nil
	}
	return o, fail("%s cannot be indexed", t.Name)
}

// kernelMember goes along a path of fields in a structure of the kernel in memory.
func kernelMember(o object, path []types.Field) object {
	last := path[len(path)-1]
	out := part(o, 0, last.Type)
	out.Addr, out.bitOff, out.bitSize = travel.Member(o.Addr, path), last.BitOff, last.BitSize
	return out
}
