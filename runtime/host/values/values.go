// Package values writes values of traced programs as text: what a snapshot has of the program's memory, by the types of
// its plan and those that the program's interfaces point to.
//
// In: the records' snapshots (wire.Snapshot) with their plans (shape.Plan). Out: text. What is in a snapshot is never
// trusted: what does not fit together, or is not there, is shown as "?", and what was left out as "...".
package values

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/types"
)

// Writer makes texts. It is for one goroutine.
type Writer struct {
	// Open gives the image of a program.
	Open  func(path string) debuginfo.Image
	plans map[string]*plan
}

// plan is a shape.Plan, ready for use.
type plan struct {
	*shape.Plan
	types []*types.Ctype
	img   debuginfo.Image
	rtt   *debuginfo.RunTimeTypes
	// shapes are the types as the plan has them.
	shapes map[*types.Ctype]*shape.Type
	// constants are those of the types of which there was a value.
	constants map[*types.Ctype][]types.Enumerator
}

// mostText bounds a text, in bytes.
const mostText = 1 << 15

// Text writes the values of a plan.
func (w *Writer) Text(planText, snap []byte) (text string) {
	p := w.plans[string(planText)]
	if p == nil {
		sp, err := shape.Parse(string(planText))
		if err != nil {
			return "?"
		}
		p = &plan{Plan: sp, types: sp.Ctypes(), shapes: map[*types.Ctype]*shape.Type{}}
		for i, t := range p.types {
			p.shapes[t] = &sp.Types[i]
		}
		if p.img = w.Open(sp.Path); p.img != nil {
			p.rtt = debuginfo.RunTimeTypesOf(p.img)
		}
		if w.plans == nil {
			w.plans = map[string]*plan{}
		}
		w.plans[string(planText)] = p
	}
	t := texter{p: p, mem: parse(snap)}
	var err error
	func() {
		defer foreign.Guard(&err)() // the program's file
		t.all()
	}()
	if err != nil {
		t.b.WriteString("?")
	}
	return t.b.String()
}

var le = binary.LittleEndian

// piece is memory of the program: none where it could not be read.
type piece struct {
	addr uint64
	b    []byte
}

// parse takes a snapshot apart. The first piece are the words of the values.
func parse(snap []byte) (out []piece) {
	for len(snap) >= 16 {
		p := piece{addr: le.Uint64(snap)}
		n := le.Uint64(snap[8:])
		snap = snap[16:]
		if n > uint64(len(snap)) {
			break
		}
		p.b = snap[:n:n]
		out = append(out, p)
		snap = snap[min(uint64(len(snap)), (n+7)&^7):]
	}
	return out
}

// texter writes one text.
type texter struct {
	p    *plan
	mem  []piece
	b    strings.Builder
	bias uint64
	// open are the objects that are being written, to tell cycles.
	open []object
}

type object struct {
	addr uint64
	t    *types.Ctype
}

// value is an object and as much of its bytes as is known.
type value struct {
	t *types.Ctype
	b []byte
	// lost, where it is not nil, marks bytes that are not known.
	lost []bool
	// cut: the bytes of the type that are not in b were left out.
	cut bool
}

// get gives n bytes at off, false where not all of them are known.
func (v value) get(off, n int64) ([]byte, bool) {
	if off < 0 || n < 0 || off+n > int64(len(v.b)) {
		return nil, false
	}
	if v.lost != nil {
		for _, l := range v.lost[off : off+n] {
			if l {
				return nil, false
			}
		}
	}
	return v.b[off : off+n], true
}

func (v value) word(off int64) (uint64, bool) {
	b, ok := v.get(off, 8)
	if !ok {
		return 0, false
	}
	return le.Uint64(b), true
}

// part is a member or element.
func (v value) part(off int64, t *types.Ctype) value {
	out := value{t: t, cut: v.cut}
	if t == nil || off < 0 || off > int64(len(v.b)) {
		return out
	}
	end := min(off+max(t.Size, 0), int64(len(v.b)))
	out.b = v.b[off:end]
	if v.lost != nil {
		out.lost = v.lost[off:end]
	}
	return out
}

// at gives what is known of n bytes of memory: the longest piece that has their beginning. read is false where nobody
// tried, and gone says that they could not be read.
func (t *texter) at(addr uint64, n int64) (b []byte, read, gone bool) {
	for i := 1; i < len(t.mem); i++ {
		p := &t.mem[i]
		if p.addr == addr && len(p.b) == 0 {
			gone = true
		}
		if off := addr - p.addr; off < uint64(len(p.b)) {
			if c := p.b[off:min(off+uint64(n), uint64(len(p.b)))]; len(c) > len(b) {
				b, read = c, true
			}
		}
	}
	return b, read, gone && !read
}

func (t *texter) all() {
	var words []byte
	if len(t.mem) > 0 && t.mem[0].addr == 0 {
		words = t.mem[0].b
	}
	word := func(i int) (uint64, bool) {
		if i < 0 || 8*i+8 > len(words) {
			return 0, false
		}
		return le.Uint64(words[8*i:]), true
	}
	if t.p.Bias > 0 {
		t.bias, _ = word(t.p.Bias - 1)
	}
	for _, pt := range t.p.Parts {
		if pt.Type == 0 {
			t.b.WriteString(pt.Lit)
			continue
		}
		v := value{t: t.p.types[pt.Type-1]}
		if pt.Addr {
			addr, ok := word(pt.Words[0].At)
			if v.t.Size > 0 {
				var read bool
				v.cut = true
				if v.b, read, _ = t.at(addr, v.t.Size); !ok || !read {
					t.b.WriteString("?")
					continue
				}
			}
		} else if size := v.t.Size; size > 0 && size <= 1<<16 {
			v.b, v.lost = make([]byte, size), make([]bool, size)
			for i := range v.lost {
				v.lost[i] = true
			}
			live, known := word(pt.Live - 1)
			for _, w := range pt.Words {
				n, ok := word(w.At)
				ok = ok && (pt.Live == 0 || known && live != 0)
				for k := int64(0); k < w.Size && w.Off+k < size && ok; k++ {
					v.b[w.Off+k], v.lost[w.Off+k] = byte(n>>(8*k)), false
				}
			}
		}
		if pt.TypeOnly {
			t.typeOnly(v)
			continue
		}
		t.value(v, level{deref: pt.Deref})
	}
}

// level is where in the text a value stands.
type level struct {
	// structs is how many structures are around it, hops how many pointers lead to it.
	structs, hops int
	// deref: it is a pointer whose target is shown in any case. typed: its type is written already.
	deref, typed bool
	// base: it is the part of an object of C++ that a class it is derived from has.
	base bool
}

func (l level) in() level    { return level{structs: l.structs + 1, hops: l.hops} }
func (l level) below() level { return level{structs: l.structs, hops: l.hops + 1} }

func (t *texter) lit(s string)                 { t.b.WriteString(s) }
func (t *texter) printf(f string, args ...any) { fmt.Fprintf(&t.b, f, args...) }
func (t *texter) lost()                        { t.b.WriteString("?") }
func (t *texter) full() bool                   { return t.b.Len() > mostText }
func (t *texter) shallow(l level) bool         { return t.p.One && l.structs > 0 }

// code names the function whose code is at an address, "" if that is not known.
func (t *texter) code(pc uint64) (name string) {
	if t.p.img == nil || pc == 0 {
		return ""
	}
	fs := t.p.img.Lookup(pc - t.bias)
	if len(fs) == 0 {
		return ""
	}
	return fs[len(fs)-1].Func
}
