package kbtf

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
)

// declare writes the declaration of inner with type id, as C does: "char (*inner)[3]".
func (s *Scope) declare(id uint32, inner string, depth int) string {
	n := namer{s, maxName}
	return n.declare(id, inner, depth)
}

// maxName bounds the types that one name is made of, since prototypes may refer to each other.
const (
	maxName   = 1000
	maxLength = 1 << 12 // bytes
)

// namer writes one name.
type namer struct {
	*Scope
	left int
}

func (s *namer) declare(id uint32, inner string, depth int) string {
	join := func(base string) string {
		switch {
		case inner == "":
			return base
		case base == "":
			return inner
		case inner[0] == '[':
			return base + inner
		}
		return base + " " + inner
	}
	if id == 0 {
		return join("void")
	}
	r, ok := s.b.At(id)
	if s.left--; !ok || depth > maxDepth || s.left < 0 || len(inner) > maxLength {
		return join("?")
	}
	next := func(inner string) string { return s.declare(r.Ref(), inner, depth+1) }
	name := s.b.Name(r)
	switch r.Kind() {
	case btf.KindPtr:
		to, _ := s.b.At(s.untagged(r.Ref()))
		if to.Kind() == btf.KindArray || to.Kind() == btf.KindFuncProto {
			return next("(*" + inner + ")")
		}
		return next("*" + inner)
	case btf.KindTypeTag:
		return next(inner)
	case btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		qual := map[int]string{btf.KindConst: "const", btf.KindVolatile: "volatile",
			btf.KindRestrict: "restrict"}[r.Kind()]
		if to, ok := s.b.At(s.untagged(r.Ref())); ok && to.Kind() == btf.KindPtr {
			if inner != "" {
				qual += " " + inner
			}
			return next(qual)
		}
		to := next(inner)
		if rest, ok := strings.CutPrefix(to, "const "); ok && r.Kind() == btf.KindVolatile {
			return "const volatile " + rest
		}
		return qual + " " + to
	case btf.KindArray:
		return s.declare(r.Word(0), fmt.Sprintf("%s[%d]", inner, r.Word(2)), depth+1)
	case btf.KindFuncProto:
		return next(inner + "(" + s.parameters(r, depth+1) + ")")
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
		if name == "" {
			name = "{...}"
		}
		prefix := "struct "
		switch {
		case r.Kind() == btf.KindUnion, r.Kind() == btf.KindFwd && r.Flag():
			prefix = "union "
		case r.Kind() == btf.KindEnum, r.Kind() == btf.KindEnum64:
			prefix = "enum "
		}
		return join(prefix + name)
	}
	if name == "" {
		name = "?"
	}
	return join(name)
}

// untagged passes over type tags.
func (s *Scope) untagged(id uint32) uint32 {
	for range maxDepth {
		r, ok := s.b.At(id)
		if !ok || r.Kind() != btf.KindTypeTag {
			break
		}
		id = r.Ref()
	}
	return id
}

func (s *namer) parameters(r btf.Record, depth int) string {
	out := ""
	for i := range r.Len() {
		if len(out) > maxLength || s.left < 0 {
			return out + ", ..."
		}
		if i > 0 {
			out += ", "
		}
		if t := r.Word(2*i + 1); t == 0 {
			out += "..."
		} else {
			out += s.declare(t, "", depth)
		}
	}
	if out == "" {
		return "void"
	}
	return out
}
