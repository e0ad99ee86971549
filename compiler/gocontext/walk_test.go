package gocontext_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/gocontext"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/loc"
)

// base is where the memory begins, bias how far behind their file addresses types lie.
const (
	base = 0x10000
	bias = 0x500000
)

// The file addresses of types of contexts, and the run-time addresses of those of keys.
const (
	rootType = 0x400000 + 0x100*iota
	valueType
	linkType // its parent is 8 behind
	ptrType  // at 16 is a pointer, the parent lies 24 behind that
	ownType
	wrongType // no context's
	oneKey
	wordKey
	numberKey
	textKey
)

var contexts = &loc.Contexts{KeyAt: 16, ValAt: 32, Types: []loc.Context{
	{Addr: rootType, Name: "context.backgroundCtx", Does: loc.Root, Then: -1},
	{Addr: valueType, Name: "*context.valueCtx", Does: loc.Holds, Then: -1},
	{Addr: linkType, Name: "*main.wrap", Does: loc.Derived, Off: 8, Then: -1},
	{Addr: ptrType, Name: "*main.deep", Does: loc.Derived, Off: 16, Then: 24},
	{Addr: ownType, Name: "*main.own", Does: loc.OwnValue, Then: -1},
}}

// memory is that of a program. What it does not have is a fault.
type memory struct {
	interp.HostContext
	b []byte
}

func (m *memory) Read(buf []byte, addr uint64, _ bool) error {
	if addr < base || addr+uint64(len(buf)) > base+uint64(len(m.b)) {
		return errors.New("fault")
	}
	copy(buf, m.b[addr-base:])
	return nil
}

// put lays words, and gives where.
func (m *memory) put(words ...uint64) uint64 {
	at := base + uint64(len(m.b))
	for _, w := range words {
		m.b = binary.LittleEndian.AppendUint64(m.b, w)
	}
	return at
}

func (m *memory) text(s string) uint64 {
	at := m.put()
	m.b = append(m.b, s...)
	m.b = append(m.b, make([]byte, 16-len(s)%8)...)
	return m.put(at, uint64(len(s)))
}

// face is an interface that holds a context.
type face struct{ tab, data uint64 }

func (m *memory) face(typ, data uint64) face { return face{m.put(0, typ+bias), data} }

// value derives one with a value for a key, whose address it gives.
func (m *memory) value(parent face, typ, key uint64) (face, uint64) {
	at := m.put(parent.tab, parent.data, typ, key, 1, 2)
	return m.face(valueType, at), at + 32
}

func (m *memory) link(parent face) face { return m.face(linkType, m.put(7, parent.tab, parent.data)) }

func (m *memory) pointer(parent face) face {
	return m.face(ptrType, m.put(0, 0, m.put(0, 0, 0, parent.tab, parent.data)))
}

type said struct{ strings.Builder }

func (s *said) Print(b []byte)         { s.Write(b) }
func (s *said) Warn(string)            {}
func (s *said) Log(string)             {}
func (s *said) Error(f *textfmt.Fault) { s.WriteString(f.Error()) }
func (s *said) Exit()                  {}

// ask runs the function for keys of a form.
func ask(t *testing.T, m *memory, f face, form loc.KeyForm, size int64, typ uint64, key ir.Val) string {
	t.Helper()
	p := &ir.Program{Limits: layout.Default()}
	most := p.Limits.MaxString - 1
	c := &loc.Chain{Contexts: contexts, Form: form, Size: size}
	p.Funcs = []*ir.Func{gocontext.Does(contexts, "does", most), gocontext.Same("same", most),
		gocontext.Func(c, "value", "does", "same", most)}
	b := ir.NewBuilder("")
	r, first := b.Long(""), b.Long("")
	b.Mov(first, ir.I(0))
	if f.tab != 0 {
		b.Mov(first, b.Load(ir.I(int64(f.tab+8)), 8, false, false))
	}
	b.Call("value", r, ir.R(first), ir.I(int64(f.data)), ir.I(int64(typ)), ir.I(bias), key)
	format, _ := ir.ParseFormat("%d")
	b.Print(p.AddFormat(format), ir.R(r))
	b.End()
	p.Probes = []*ir.Probe{{Name: "p", Cond: -1, Handler: b.Finish()}}
	if err := ir.Verify(p); err != nil {
		t.Fatal(err)
	}
	out := &said{}
	vm, err := interp.New(p, interp.NewMemStore(p), out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vm.Run(0, m); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestWalk: in random chains of all kinds the innermost value of a key is found, and nothing of other keys.
func TestWalk(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	texts := []string{"", "a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghX", "Xbcdefghi",
		strings.Repeat("k", 100), strings.Repeat("k", 99) + "l"}
	sizes := map[uint64]int64{numberKey: 1, numberKey + 1: 2, numberKey + 2: 4, numberKey + 3: 8}
	for range 60 {
		m := &memory{}
		f := m.face(rootType, 0)
		want := map[string]uint64{}
		for range r.Intn(61) {
			switch r.Intn(6) {
			case 0:
				f = m.link(f)
			case 1:
				f = m.pointer(f)
			case 2:
				f, want["one"] = m.value(f, oneKey, m.put(99))
			case 3:
				n := uint64(r.Intn(3))
				f, want[fmt.Sprint("word", n)] = m.value(f, wordKey, n)
			case 4:
				i, n := uint64(r.Intn(4)), uint64(r.Intn(3))
				// What lies behind a small number is none of it.
				lies := n | 0xabcdabcdabcdabcd<<(8*min(sizes[numberKey+i], 7))
				if i == 3 {
					lies = n
				}
				f, want[fmt.Sprint("number", i, n)] = m.value(f, numberKey+i, m.put(lies))
			case 5:
				s := texts[r.Intn(len(texts))]
				f, want["text"+s] = m.value(f, textKey, m.text(s))
			}
		}
		check := func(name string, form loc.KeyForm, size int64, typ uint64, key ir.Val) {
			t.Helper()
			if got := ask(t, m, f, form, size, typ, key); got != fmt.Sprint(want[name]) {
				t.Errorf("%s: %s, not %d", name, got, want[name])
			}
		}
		check("one", loc.OneKey, 0, oneKey, ir.I(0))
		for n := range int64(3) {
			check(fmt.Sprint("word", n), loc.WordKey, 0, wordKey, ir.I(n))
			for i := range uint64(4) {
				check(fmt.Sprint("number", i, n), loc.NumberKey, sizes[numberKey+i], numberKey+i, ir.I(n))
			}
		}
		for _, s := range texts {
			check("text"+s, loc.TextKey, 0, textKey, ir.S(s))
		}
		check("none", loc.OneKey, 0, wrongType, ir.I(0))
	}
}

// TestWalkRefused: what cannot be known is an error, and a value that lies before it is found all the same.
func TestWalkRefused(t *testing.T) {
	m := &memory{}
	root := m.face(rootType, 0)
	own, wrong := m.face(ownType, m.put(root.tab, root.data)), m.face(wrongType, 0)
	above, at := m.value(own, oneKey, 0)
	long := root
	for range 99 {
		long = m.link(long)
	}
	cycle := m.face(linkType, m.put(7, 0, 0))
	binary.LittleEndian.PutUint64(m.b[cycle.data-base+8:], cycle.tab)
	binary.LittleEndian.PutUint64(m.b[cycle.data-base+16:], cycle.data)
	for _, c := range []struct {
		name string
		f    face
		form loc.KeyForm
		want string
	}{
		{"nil", face{}, loc.OneKey, "the context is nil"},
		{"nil within", m.link(face{}), loc.OneKey, "a context in the chain is nil"},
		{"own", m.link(own), loc.OneKey, "the values of a *main.own are what its own Value method says"},
		{"above own", m.link(above), loc.OneKey, fmt.Sprint(at)},
		{"another key above own", above, loc.WordKey, "the values of a *main.own are what its own Value method says"},
		{"no context", m.pointer(wrong), loc.OneKey, "leads to what is no context of the program"},
		{"100 links", long, loc.OneKey, "0"},
		{"101 links", m.link(long), loc.OneKey, "the chain of contexts has more than 100 links"},
		{"cycle", cycle, loc.OneKey, "the chain of contexts has more than 100 links"},
		{"bad data", m.face(valueType, 3), loc.OneKey, "read fault at 0x0000000000000013"},
		{"bad table", m.link(face{5, 5}), loc.OneKey, "read fault at 0x000000000000000d"},
	} {
		typ := uint64(oneKey)
		if c.form == loc.WordKey {
			typ = wordKey
		}
		got := ask(t, m, c.f, c.form, 0, typ, ir.I(0))
		if !strings.Contains(got, c.want) || c.want == "0" && got != "0" {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
	bad, _ := m.value(root, textKey, 3)
	if got := ask(t, m, bad, loc.TextKey, 0, textKey, ir.S("a")); !strings.Contains(got, "read fault") {
		t.Errorf("a text that cannot be read: %s", got)
	}
	whole := ir.S(strings.Repeat("a", layout.Default().MaxString-1))
	if got := ask(t, m, root, loc.TextKey, 0, textKey, whole); !strings.Contains(got, "MAXSTRINGLEN") {
		t.Errorf("a text that is cut: %s", got)
	}
}
