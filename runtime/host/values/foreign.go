package values

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/scoped"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/stdtype"
	"github.com/gostap/gostap/compiler/types"
)

// formed writes values of C++ and Rust.
type formed struct{ *texter }

// foreign writes a value of C++ or Rust.
func (t formed) foreign(v value, l level) {
	s := t.p.shapes[v.t]
	switch {
	case s != nil && s.Form != nil:
		t.lit(s.Form.Pre)
		t.byForm(v, s, l)
		return
	case v.cut && int64(len(v.b)) < v.t.Size && v.t.Kind != types.Struct && v.t.Kind != types.Array:
		t.lit("...")
		return
	}
	switch v.t.Kind {
	case types.Int, types.Char, types.Enum:
		t.number(v)
	case types.Bool:
		t.boolean(v)
	case types.Float:
		t.float(v)
	case types.Complex:
		t.fraction(v)
	case types.Pointer:
		t.plainPointer(v, l)
	case types.Array:
		t.foreignArray(v, l)
	case types.Struct, types.Union:
		t.members(v, l)
	default:
		t.lost()
	}
}

// gone stands for a value that is not known: left out, or lost.
func (t formed) gone(v value) {
	if v.cut && int64(len(v.b)) < v.t.Size {
		t.lit("...")
		return
	}
	t.lost()
}

// number writes a number, a character or a constant of an enumeration.
func (t formed) number(v value) {
	if v.t.Size == 16 {
		t.wide(v)
		return
	}
	n, ok := integer(v)
	if !ok {
		t.lost()
		return
	}
	switch {
	case v.t.Kind == types.Char:
		t.lit("'" + string(textfmt.Escape(nil, byte(n), '\'')) + "'")
		return
	case isChar(v.t) && n >= 0 && n <= unicode.MaxRune:
		t.lit(rustQuote(string(rune(n)), '\''))
		return
	case v.t.Kind == types.Enum:
		for _, e := range v.t.Enums() {
			if e.Val == n {
				if v.t.Own != "" {
					t.lit(v.t.Own + "::")
				}
				t.lit(e.Name)
				return
			}
		}
	}
	if v.t.Signed {
		t.lit(strconv.FormatInt(n, 10))
	} else {
		t.lit(strconv.FormatUint(uint64(n), 10))
	}
}

// wide writes a number of 16 bytes.
func (t formed) wide(v value) {
	b, ok := v.get(0, 16)
	if !ok {
		t.lost()
		return
	}
	b = slices.Clone(b)
	slices.Reverse(b)
	n := new(big.Int).SetBytes(b)
	if v.t.Signed && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	t.lit(n.String())
}

// float writes a number with a fraction, of Rust as {:?} does.
func (t formed) float(v value) {
	at := t.b.Len()
	t.fraction(v)
	if v.t.Lang == types.Rust {
		text := t.b.String()
		head, num := text[:at], text[at:]
		t.b.Reset()
		t.lit(head + rustFloat(num, v.t.Size == 4))
	}
}

// plainPointer writes a pointer: a reference as what it leads to, as is one that was asked for itself.
func (t formed) plainPointer(v value, l level) {
	p, ok := v.word(0)
	e := v.t.Elem()
	switch {
	case !ok:
		t.lost()
	case p == 0 || e == nil:
		t.printf("0x%x", p)
	case v.t.Ref || l.deref:
		t.instead(v, p, e, l)
	case e.Kind == types.Char:
		t.chars(p)
	default:
		t.printf("0x%x", p)
	}
}

// instead writes what lies at p in place of a pointer to it.
func (t formed) instead(v value, p uint64, e *types.Ctype, l level) {
	if t.cycle(p, e) {
		t.printf("{...0x%x}", p)
		return
	}
	target := value{t: e}
	if e.Size > 0 {
		b, read, gone := t.at(p, e.Size)
		switch {
		case gone:
			t.lost()
			return
		case !read:
			t.printf("0x%x", p)
			return
		}
		target.b, target.cut = b, true
	}
	t.inside(p, e, func() { t.value(target, l.below()) })
}

// chars writes a string of C.
func (t formed) chars(p uint64) {
	var s []byte
	for len(s) < t.p.Str {
		b, read, gone := t.at(p+uint64(len(s)), int64(t.p.Str-len(s)))
		if !read {
			if len(s) == 0 && gone {
				t.printf("0x%x", p)
				return
			}
			break
		}
		if end := bytes.IndexByte(b, 0); end >= 0 {
			t.quote(string(append(s, b[:end]...)), false)
			return
		}
		s = append(s, b...)
	}
	if len(s) == 0 {
		t.printf("0x%x", p)
		return
	}
	t.quote(string(s), true)
}

// foreignArray writes an array: one of characters of C++ as text.
func (t formed) foreignArray(v value, l level) {
	e := v.t.Elem()
	if e == nil || v.t.Count < 0 {
		t.lost()
		return
	}
	if e.Kind == types.Char && e.Size == 1 && v.t.Lang == types.CPlus {
		if b, ok := v.get(0, int64(len(v.b))); ok {
			end := bytes.IndexByte(b, 0)
			if end >= 0 {
				b = b[:end]
			}
			cut := end < 0 && v.cut && int64(len(v.b)) < v.t.Size
			t.quote(string(b[:min(len(b), t.p.Str)]), cut || len(b) > t.p.Str)
			return
		}
	}
	t.sequence(v, e, uint64(v.t.Count), l)
}

// sequence writes n elements that lie in v.
func (t formed) sequence(v value, e *types.Ctype, n uint64, l level) {
	open, end := t.brackets(v.t)
	t.listed(n, open, ", ", end, func(i uint64) bool {
		if e.Size > 0 && (i >= 1<<20 || int64(i+1)*e.Size > int64(len(v.b))) {
			return false
		}
		t.value(v.part(int64(i)*max(e.Size, 0), e), l.in())
		return true
	})
}

// brackets are those around elements.
func (t formed) brackets(typ *types.Ctype) (open, end string) {
	if typ.Lang == types.Rust {
		return "[", "]"
	}
	return "{", "}"
}

// members writes a structure: of C++ as an initializer, of Rust as {:?} does.
func (t formed) members(v value, l level) {
	if v.t.Lang == types.Rust {
		t.rustStruct(v, v.t.Own, l, "")
		return
	}
	s := t.p.shapes[v.t]
	if t.shallow(l) || s != nil && s.Cut || v.t.Size < 0 {
		t.lit("{...}")
		return
	}
	if s != nil && s.Vptr > 0 && !l.base {
		t.class(v, s)
	}
	t.lit("{")
	for i, f := range v.t.Fields() {
		if i > 0 {
			t.lit(", ")
		}
		if t.full() {
			t.lit("...")
			break
		}
		below := l.in()
		switch {
		case f.Base:
			t.lit("<" + f.Name + ">=")
			below, below.base = l, true // its members are the object's own
		case f.Name != "":
			t.lit("." + f.Name + "=")
		default:
			below = l
		}
		t.field(v, f, below)
	}
	t.lit("}")
}

// class writes the class of an object in front of it where that is not the one of its type: that of the table of
// virtual functions which the object leads to.
func (t formed) class(v value, s *shape.Type) {
	p, ok := v.word(s.Vptr - 1)
	img, known := t.p.img.(debuginfo.Placed)
	if !ok || !known {
		return
	}
	symbol, off := img.DataAt(p - t.bias)
	if !strings.HasPrefix(symbol, "_ZTV") || off < 16 || off%8 != 0 {
		return
	}
	name, ok := strings.CutPrefix(scoped.Name(symbol), "vtable for ")
	// Symbols write numbers among the parameters of templates in another way than debug information.
	bare, _, _ := strings.Cut(name, "<")
	if own, _, _ := strings.Cut(s.Own, "<"); ok && bare != own {
		t.lit("(" + name + ") ")
	}
}

// field writes a member, which may be some bits.
func (t formed) field(v value, f types.Field, l level) {
	if f.BitSize == 0 {
		t.value(v.part(f.Off, f.Type), l)
		return
	}
	n, ok := integer(v.part(f.Off, f.Type))
	if !ok || f.BitOff+f.BitSize > 64 {
		t.gone(v.part(f.Off, f.Type))
		return
	}
	n >>= f.BitOff
	shift := uint(64 - f.BitSize)
	if f.Type.Signed {
		n = n << shift >> shift
	} else {
		n = int64(uint64(n) << shift >> shift)
	}
	var b [8]byte
	le.PutUint64(b[:], uint64(n))
	t.value(value{t: f.Type, b: b[:min(max(f.Type.Size, 0), 8)]}, l)
}

// byForm writes a value that is more than its members.
func (t formed) byForm(v value, s *shape.Type, l level) {
	at := s.Form.At
	switch s.Form.Kind {
	case stdtype.Text, stdtype.Seq:
		t.spanned(v, s, l)
	case stdtype.Wrap:
		t.value(v.part(at[0], v.t.Elem()), l)
		t.lit(s.Form.Post)
	case stdtype.Owner:
		p, ok := v.word(at[0])
		e := v.t.Elem()
		switch {
		case !ok:
			t.gone(v)
		case p == 0:
			t.lit("nullptr")
		case e == nil:
			t.printf("0x%x", p)
		default:
			t.instead(v, p, e, l)
		}
	case stdtype.Enum:
		t.oneOf(v, s, l)
	case stdtype.Members:
		if v.t.Lang == types.Rust {
			t.rustStruct(v, v.t.Own, l, s.Form.Post)
			return
		}
		fs := v.t.Fields()
		t.lit("{")
		for i, f := range fs {
			if i > 0 {
				t.lit(", ")
			}
			if f.Name != "" {
				t.lit("." + f.Name + "=")
			}
			t.value(v.part(f.Off, f.Type), l.in())
		}
		t.lit("}")
	case stdtype.Shared:
		t.shared(v, at, l)
	case stdtype.Bits:
		t.bits(v, at)
	case stdtype.Duration:
		t.duration(v, at)
	case stdtype.List, stdtype.Tree, stdtype.Table, stdtype.Chunks, stdtype.Ring, stdtype.Nodes:
		t.row(v, s, l)
	}
}

// spanned writes text, or elements that lie behind each other.
func (t formed) spanned(v value, s *shape.Type, l level) {
	at, text := s.Form.At, s.Form.Kind == stdtype.Text
	open, end := t.brackets(v.t)
	e := v.t.Elem()
	p, ok1 := v.word(at[0])
	n, ok2 := v.word(at[1])
	if !ok1 || !ok2 {
		t.gone(v)
		return
	}
	size := int64(1)
	if !text {
		if e == nil {
			t.lit(open + "..." + end) // beyond what was followed
			return
		}
		size = e.Size
	}
	switch at[2] {
	case 1:
		if n -= p; size <= 0 || n%uint64(size) != 0 {
			t.lost()
			return
		}
		n /= uint64(size)
	case 2:
		head, read, _ := t.at(p-24, 24)
		if !read || len(head) < 8 {
			t.missingAt(p - 24)
			return
		}
		n = le.Uint64(head)
	}
	if n > 1<<40 {
		t.lost()
		return
	}
	var b []byte
	if n > 0 && size > 0 {
		var read, gone bool
		if b, read, gone = t.at(p, int64(min(n, 1<<20))*size); !read {
			switch {
			case gone:
				t.lost()
			case text:
				t.lit("...")
			default:
				t.printf("%s...%d%s", open, n, end)
			}
			return
		}
	}
	if text {
		b = b[:min(len(b), t.p.Str)]
		t.stringOf(v.t.Lang, string(b), uint64(len(b)) < n)
		return
	}
	if n > 0 && t.cycle(p, v.t) {
		t.printf("%s...%d%s", open, n, end)
		return
	}
	t.inside(p, v.t, func() { t.sequence(value{t: v.t, b: b}, e, n, l) })
}

// missingAt is missing for what lies at p.
func (t formed) missingAt(p uint64) {
	if _, read, gone := t.at(p, 1); !read && !gone {
		t.lit("...")
		return
	}
	t.lost()
}

func (t formed) stringOf(lang types.Lang, s string, cut bool) {
	if lang != types.Rust {
		t.quote(s, cut)
		return
	}
	t.lit(rustQuote(s, '"'))
	if cut {
		t.lit("...")
	}
}

// oneOf writes what one of several variants is there.
func (t formed) oneOf(v value, s *shape.Type, l level) {
	f := s.Form
	var found *shape.Variant
	tag, large := uint64(0), false
	if n := f.At[1]; n > 0 {
		b, ok := v.get(f.At[0], n)
		if !ok {
			t.gone(v)
			return
		}
		var full [8]byte
		copy(full[:], b)
		tag = le.Uint64(full[:])
		if n == 16 && le.Uint64(b[8:]) != 0 {
			large = true
		}
	}
	for i := range f.Variants {
		one := &f.Variants[i]
		if !one.Default && one.Val == tag && !large {
			found = one
			break
		}
		if one.Default || f.At[1] == 0 {
			found = one
		}
	}
	switch {
	case found == nil:
		t.lost()
	case found.Type == 0:
		t.lit(found.Name)
	case v.t.Lang == types.Rust:
		t.rustStruct(v.part(found.Off, t.p.types[found.Type-1]), found.Name, l, "")
	default:
		if found.Name != "" {
			t.lit(found.Name)
		}
		t.value(v.part(found.Off, t.p.types[found.Type-1]), l)
	}
}
