package values

import (
	"math"
	"strconv"
	"time"

	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/types"
)

// value writes one value.
func (t *texter) value(v value, l level) {
	switch {
	case v.t == nil:
		t.lost()
		return
	case t.full():
		t.lit("...")
		return
	case v.t.Lang != types.OtherLang:
		formed{t}.foreign(v, l)
		return
	case t.named(v, l):
		return
	case v.cut && int64(len(v.b)) < v.t.Size && v.t.Kind != types.Struct && v.t.Kind != types.Array:
		t.lit("...")
		return
	}
	switch v.t.Kind {
	case types.Int, types.Enum, types.Char:
		t.number(v)
	case types.Bool:
		t.boolean(v)
	case types.Float, types.Complex:
		t.fraction(v)
	case types.GoString:
		t.str(v)
	case types.Pointer:
		t.pointer(v, l)
	case types.GoFunc:
		t.function(v)
	case types.GoSlice:
		t.slice(v, l)
	case types.Array:
		t.array(v, l)
	case types.Struct:
		t.structure(v, l)
	case types.GoInterface:
		t.iface(v, l)
	case types.GoMap:
		t.mapping(v, l)
	case types.GoChan:
		t.channel(v, l)
	default:
		t.lost()
	}
}

// integer reads a number of up to 8 bytes.
func integer(v value) (n int64, ok bool) {
	b, ok := v.get(0, v.t.Size)
	if !ok || len(b) == 0 || len(b) > 8 {
		return 0, false
	}
	var full [8]byte
	copy(full[:], b)
	u := le.Uint64(full[:])
	if shift := uint(64 - 8*len(b)); v.t.Signed {
		return int64(u<<shift) >> shift, true
	}
	return int64(u), true
}

func (t *texter) boolean(v value) {
	switch n, ok := integer(v); {
	case !ok:
		t.lost()
	case n == 0:
		t.lit("false")
	case n == 1:
		t.lit("true")
	default:
		t.printf("%d", n)
	}
}

func (t *texter) fraction(v value) {
	b, ok := v.get(0, v.t.Size)
	if !ok {
		t.lost()
		return
	}
	one := func(b []byte) string {
		if len(b) == 4 {
			return strconv.FormatFloat(float64(math.Float32frombits(le.Uint32(b))), 'g', -1, 32)
		}
		return strconv.FormatFloat(math.Float64frombits(le.Uint64(b)), 'g', -1, 64)
	}
	switch {
	case v.t.Kind == types.Float && (len(b) == 4 || len(b) == 8):
		t.lit(one(b))
	case v.t.Kind == types.Complex && (len(b) == 8 || len(b) == 16):
		im := one(b[len(b)/2:])
		if im[0] != '-' && im[0] != '+' {
			im = "+" + im
		}
		t.lit("(" + one(b[:len(b)/2]) + im + "i)")
	default:
		t.lost()
	}
}

// str writes a string in quotes.
func (t *texter) str(v value) {
	s, cut, ok := t.text(v)
	if !ok {
		t.missing(v)
		return
	}
	t.quote(s, cut)
}

// quote writes a text in quotes; cut says that there is more of it.
func (t *texter) quote(s string, cut bool) {
	t.lit(textfmt.Quote(s, 8*len(s)+8, true)) // there is room for each byte as an escape
	if cut {
		t.lit("...")
	}
}

// leads reads a value that is one pointer. ok is false where that is nil or not known, which is written then.
func (t *texter) leads(v value) (p uint64, ok bool) {
	p, ok = v.word(0)
	switch {
	case !ok:
		t.lost()
	case p == 0:
		t.lit("nil")
	}
	return p, ok && p != 0
}

// inside has something written that lies at an address, which open tells meanwhile.
func (t *texter) inside(addr uint64, typ *types.Ctype, write func()) {
	t.open = append(t.open, object{addr, typ})
	write()
	t.open = t.open[:len(t.open)-1]
}

// list writes n elements in brackets, as many of them as are shown. write gives the i-th one; false, with nothing
// written, where it is not known.
func (t *texter) list(n uint64, write func(i uint64) bool) { t.listed(n, "[", " ", "]", write) }

// listed is list with other signs.
func (t *texter) listed(n uint64, before, between, behind string, write func(i uint64) bool) {
	t.lit(before)
	for i := uint64(0); i < n; i++ {
		if i > 0 {
			t.lit(between)
		}
		if i == uint64(t.p.Elems) || t.full() || !write(i) {
			t.printf("...%d more", n-i)
			break
		}
	}
	t.lit(behind)
}

// text reads a string; cut says that there is more of it.
func (t *texter) text(v value) (s string, cut, ok bool) {
	ptr, ok1 := v.word(0)
	n, ok2 := v.word(8)
	if !ok1 || !ok2 || int64(n) < 0 {
		return "", false, false
	}
	if n == 0 {
		return "", false, true
	}
	b, read, _ := t.at(ptr, int64(min(n, uint64(t.p.Str))))
	if !read {
		return "", false, false
	}
	return string(b), uint64(len(b)) < n, true
}

// pointer writes what a pointer leads to, as far as it was followed.
func (t *texter) pointer(v value, l level) {
	p, ok := t.leads(v)
	e := v.t.Elem()
	switch {
	case !ok:
		return
	case e == nil || e.Size < 0:
		t.address(p, v.t)
		return
	case t.cycle(p, e):
		t.printf("&{...0x%x}", p)
		return
	}
	var target value
	if e.Size > 0 {
		b, read, gone := t.at(p, e.Size)
		switch {
		case gone:
			t.lit("?")
			return
		case !read || t.shallow(l) && !l.deref && e.Kind == types.Struct:
			t.address(p, v.t)
			return
		}
		target.b, target.cut = b, true
	}
	target.t = e
	t.lit("&")
	before, behind := "", ""
	if special := t.special(e); l.typed && (special || e.Kind == types.Struct) {
		if before = short(e.Name); special {
			before, behind = before+"(", ")"
		}
	}
	t.lit(before)
	t.inside(p, e, func() { t.value(target, l.below()) })
	t.lit(behind)
}

// address writes a pointer that was not followed.
func (t *texter) address(p uint64, of *types.Ctype) {
	if of.Name == "" || of.Name[0] != '*' {
		t.printf("0x%x", p)
		return
	}
	t.printf("(%s)(0x%x)", short(of.Name), p)
}

// missing stands for what v's first word leads to: "?" where that could not be read or is not known, "..." where there
// was no room for it.
func (t *texter) missing(v value) {
	p, ok := v.word(0)
	if ok {
		if _, read, gone := t.at(p, 1); !read && !gone {
			t.lit("...")
			return
		}
	}
	t.lost()
}

func (t *texter) cycle(p uint64, e *types.Ctype) bool {
	for _, o := range t.open {
		if o.addr == p && o.t == e {
			return true
		}
	}
	return false
}

// function writes the name of what a function value calls.
func (t *texter) function(v value) {
	p, ok := t.leads(v)
	if !ok {
		return
	}
	b, read, _ := t.at(p, 8)
	if !read || len(b) < 8 {
		t.printf("0x%x", p)
		return
	}
	if name := t.code(le.Uint64(b)); name != "" {
		t.lit(name)
		return
	}
	t.printf("0x%x", le.Uint64(b))
}

// slice writes the elements, or for bytes a text.
func (t *texter) slice(v value, l level) {
	ptr, ok1 := v.word(0)
	n, ok2 := v.word(8)
	e := v.t.Elem()
	switch {
	case !ok1 || !ok2 || int64(n) < 0:
		t.lost()
		return
	case ptr == 0 && n == 0:
		t.lit("nil")
		return
	case e == nil: // beyond what was followed
		t.printf("[...%d]", n)
		return
	}
	var b []byte
	if n > 0 && e.Size > 0 {
		var read bool
		if b, read, _ = t.at(ptr, int64(min(n, 1<<20))*e.Size); !read {
			t.printf("[...%d]", n)
			return
		}
	}
	if n > 0 && t.cycle(ptr, v.t) { // a slice that is an element of itself
		t.printf("[...%d]", n)
		return
	}
	if v.t.IsBytes() && len(t.constants(e)) == 0 {
		b = b[:min(len(b), t.p.Str)]
		t.quote(string(b), uint64(len(b)) < n)
		return
	}
	t.inside(ptr, v.t, func() { t.elems(value{b: b}, e, n, l) })
}

func (t *texter) array(v value, l level) {
	if e := v.t.Elem(); e != nil && v.t.Count >= 0 {
		t.elems(v, e, uint64(v.t.Count), l)
		return
	}
	t.lost()
}

// elems writes n elements that lie in v, those of them that are known in full.
func (t *texter) elems(v value, e *types.Ctype, n uint64, l level) {
	t.list(n, func(i uint64) bool {
		if e.Size > 0 && int64(i+1)*e.Size > int64(len(v.b)) {
			return false
		}
		t.value(v.part(int64(i)*e.Size, e), l.in())
		return true
	})
}

func (t *texter) structure(v value, l level) {
	fs := v.t.Fields()
	some := v.t.Size > 0
	if (some || len(fs) > 0) && t.shallow(l) || some && (len(fs) == 0 || v.cut && len(v.b) == 0) {
		t.lit("{...}")
		return
	}
	t.lit("{")
	for i, f := range fs {
		if i > 0 {
			t.lit(", ")
		}
		if t.full() {
			t.lit("...")
			break
		}
		t.lit(f.Name + ":")
		t.value(v.part(f.Off, f.Type), l.in())
	}
	t.lit("}")
}

// field finds a member of a structure by its name.
func field(v value, name string) (value, bool) {
	if v.t == nil || v.t.Kind != types.Struct {
		return value{}, false
	}
	for _, f := range v.t.Fields() {
		if f.Name == name {
			return v.part(f.Off, f.Type), true
		}
	}
	return value{}, false
}

// moment is the time that a time.Time means (time/time.go: wall and ext).
func moment(v value) (time.Time, bool) {
	wall, ok1 := v.word(0)
	ext, ok2 := v.word(8)
	if !ok1 || !ok2 {
		return time.Time{}, false
	}
	const monotonic = 1 << 63
	nsec := int64(wall & (1<<30 - 1))
	sec := int64(ext) // since the year 1
	if wall&monotonic != 0 {
		const wallToInternal = (1884*365 + 1884/4 - 1884/100 + 1884/400) * 86400
		sec = int64(wall<<1>>31) + wallToInternal
	}
	const unixToInternal = (1969*365 + 1969/4 - 1969/100 + 1969/400) * 86400
	return time.Unix(sec-unixToInternal, nsec).UTC(), nsec < 1e9
}
