package gotype

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gostap/gostap/compiler/types"
)

// Method is one of a type's own or promoted methods.
type Method struct {
	Name string
	// Func is the file address of its function type, which is without the receiver; 0 where the linker has left the
	// method out, since nobody can call it through an interface.
	Func uint64
	// Code is where the method is called with its receiver, from the beginning of the program's code; only with Func.
	Code uint64
}

const (
	uncommonSize = 16
	methodSize   = 16
	imethodSize  = 8
	mostMethods  = 1 << 12
	mostParams   = 1 << 10
	// left is what the linker writes in place of a method that it has left out. Up to Go 1.15 it was 0.
	left = ^uint32(0)
)

// uncommon gives the address of abi.UncommonType: it stands behind what belongs to the kind. ok is false for types
// without one.
func (t *Types) uncommon(addr uint64, kind, flags byte) (at uint64, ok bool) {
	if flags&flagUncommon == 0 {
		return 0, false
	}
	at = addr + headSize
	switch kind {
	case kPointer, kSlice, kFunc:
		at += 8
	case kChan:
		at += 16
	case kArray:
		at += 24
	case kInterface, kStruct:
		at += 32
	case kMap:
		if at += 40; t.minor >= 24 && !t.OldMaps {
			at += 24
		}
	}
	return at, true
}

// Methods lists the methods of the type at a file address, as the linker has left them.
func (t *Types) Methods(addr uint64) (out []Method, err error) {
	b, err := t.f.Bytes(addr, headSize)
	if err != nil || len(b) < headSize {
		return nil, ErrNone
	}
	at, ok := t.uncommon(addr, b[offKind]&kindMask, b[offFlags])
	if !ok {
		return nil, nil
	}
	u, err := t.f.Bytes(at, uncommonSize)
	if err != nil || len(u) < uncommonSize {
		return nil, ErrNone
	}
	n := int(binary.LittleEndian.Uint16(u[4:]))
	if n > mostMethods {
		return nil, ErrNone
	}
	ms, err := t.f.Bytes(at+uint64(binary.LittleEndian.Uint32(u[8:])), n*methodSize)
	if err != nil || len(ms) < n*methodSize {
		return nil, ErrNone
	}
	for ; len(ms) > 0; ms = ms[methodSize:] {
		word := func(i int) uint32 { return binary.LittleEndian.Uint32(ms[4*i:]) }
		m := Method{}
		if m.Name, err = t.name(word(0), false); err != nil {
			return nil, err
		}
		if word(1) != left && word(1) != 0 && word(3) != left {
			m.Func, m.Code = t.lo+uint64(word(1)), uint64(word(3))
		}
		out = append(out, m)
	}
	return out, nil
}

// MethodNames lists the names of the methods of the type at a file address: those of an interface are what it asks for.
func (t *Types) MethodNames(addr uint64) (out []string, err error) {
	b, err := t.f.Bytes(addr, fullSize)
	if err != nil || len(b) < headSize {
		return nil, ErrNone
	}
	if b[offKind]&kindMask != kInterface {
		ms, err := t.Methods(addr)
		for _, m := range ms {
			out = append(out, m.Name)
		}
		return out, err
	}
	if len(b) < fullSize {
		return nil, ErrNone
	}
	n := binary.LittleEndian.Uint64(b[offLen:])
	if n > mostMethods {
		return nil, ErrNone
	}
	ms, err := t.f.Bytes(t.pointer(addr+offValue), int(n)*imethodSize)
	if err != nil || len(ms) < int(n)*imethodSize {
		return nil, ErrNone
	}
	for ; len(ms) > 0; ms = ms[imethodSize:] {
		name, err := t.name(binary.LittleEndian.Uint32(ms), false)
		if err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

// With lists the file addresses of the types, interfaces apart, that have methods of all these names, in order.
func (t *Types) With(methods ...string) (out []uint64) {
	t.candidates(func(addr uint64, h []byte) {
		if h[offKind]&kindMask == kInterface {
			return
		}
		at, ok := t.uncommon(addr, h[offKind]&kindMask, h[offFlags])
		if !ok {
			return
		}
		u, err := t.f.Bytes(at, uncommonSize)
		if err != nil || len(u) < uncommonSize || int(binary.LittleEndian.Uint16(u[4:])) < len(methods) {
			return
		}
		names, err := t.MethodNames(addr)
		for _, m := range methods {
			if err != nil || !slices.Contains(names, m) {
				return
			}
		}
		out = append(out, addr)
	})
	return out
}

// Signature gives the types of the arguments and results of the function type at a file address. The last argument of
// a variadic one is the slice.
func (t *Types) Signature(addr uint64) (in, out []*types.Ctype, err error) {
	b, err := t.f.Bytes(addr, headSize+8)
	if err != nil || len(b) < headSize+8 || b[offKind]&kindMask != kFunc || addr < t.lo || addr >= t.hi {
		return nil, nil, ErrNone
	}
	nin := int(binary.LittleEndian.Uint16(b[headSize:]))
	nout := int(binary.LittleEndian.Uint16(b[headSize+2:]) & (1<<15 - 1))
	if nin+nout > mostParams {
		return nil, nil, ErrNone
	}
	at := addr + headSize + 8
	if b[offFlags]&flagUncommon != 0 {
		at += uncommonSize
	}
	for i := range nin + nout {
		p, err := t.At(t.pointer(at + uint64(i)*8))
		if err != nil {
			return nil, nil, err
		}
		if i < nin {
			in = append(in, p.Ctype)
		} else {
			out = append(out, p.Ctype)
		}
	}
	return in, out, nil
}

// Named gives the file addresses of the types of a name, with the path of its package: "main.T", "*io/fs.PathError",
// "[]string". There may be several: types that functions declare have no name of their own.
func (t *Types) Named(name string) []uint64 {
	if t.names == nil {
		t.names = map[string][]uint64{}
		t.each(func(addr uint64, full string) { t.names[full] = append(t.names[full], addr) })
	}
	return t.names[name]
}

// Names calls f with the names of all types.
func (t *Types) Names(f func(name string)) {
	t.Named("")
	for n := range t.names {
		f(n)
	}
}

// candidates finds what may be types. Releases differ in what lists of them they have, but a type is not like anything
// else. head is what it begins with.
func (t *Types) candidates(f func(addr uint64, head []byte)) {
	b, err := t.f.Bytes(t.lo, int(min(t.hi-t.lo, 1<<30)))
	if err != nil {
		return
	}
	for at := 0; at+headSize <= len(b); at += 8 {
		if h := b[at : at+headSize]; likely(h, uint32(min(t.hi-t.lo, 1<<32-1))) {
			f(t.lo+uint64(at), h)
		}
	}
}

// each finds all types.
func (t *Types) each(f func(addr uint64, full string)) {
	t.candidates(func(addr uint64, h []byte) {
		name, err := t.name(binary.LittleEndian.Uint32(h[offStr:]), h[offFlags]&flagExtraStar != 0)
		if err != nil || !printable(name) {
			return
		}
		kind := h[offKind] & kindMask
		if kind == kPointer && h[offFlags]&flagNamed == 0 && name[0] != '*' {
			return
		}
		if pkg, err := t.pkg(addr, kind, h[offFlags]); err == nil {
			f(addr, Full(name, pkg))
		}
	})
}

const flagNamed = 1 << 2

// likely reports whether h may be the beginning of a type: abi.Type.
func likely(h []byte, names uint32) bool {
	align, fieldAlign, kind := h[21], h[22], h[offKind]&kindMask
	size, ptrs := binary.LittleEndian.Uint64(h[offSize:]), binary.LittleEndian.Uint64(h[offPtrs:])
	str := binary.LittleEndian.Uint32(h[offStr:])
	return kind > 0 && int(kind) < len(kinds) && align > 0 && align <= 16 && align&(align-1) == 0 &&
		fieldAlign > 0 && fieldAlign <= 16 && fieldAlign&(fieldAlign-1) == 0 && size <= 1<<40 && ptrs <= size &&
		str > 0 && str < names && binary.LittleEndian.Uint32(h[16:]) != 0
}

func printable(s string) bool {
	if s == "" || !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, unicode.IsControl) < 0
}

// Full is a type's name with the path of its package, which is only known of types with a name and pointers to such:
// "*fs.PathError" of package "io/fs" is "*io/fs.PathError".
func Full(name, pkg string) string {
	base := strings.TrimLeft(name, "*")
	args := strings.IndexByte(base, '[')
	if args < 0 {
		args = len(base)
	}
	dot := strings.IndexByte(base[:args], '.')
	if pkg == "" || dot <= 0 || strings.ContainsAny(base[:dot], " (){}") {
		return name
	}
	return name[:len(name)-len(base)] + pkg + base[dot:]
}
