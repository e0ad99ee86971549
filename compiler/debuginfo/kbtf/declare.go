package kbtf

import (
	"fmt"
	"strings"
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
	r, ok := s.b.at(id)
	if s.left--; !ok || depth > maxDepth || s.left < 0 || len(inner) > maxLength {
		return join("?")
	}
	next := func(inner string) string { return s.declare(r.ref(), inner, depth+1) }
	name := s.b.name(r)
	switch r.kind() {
	case kindPtr:
		to, _ := s.b.at(s.untagged(r.ref()))
		if to.b != nil && (to.kind() == kindArray || to.kind() == kindFuncProto) {
			return next("(*" + inner + ")")
		}
		return next("*" + inner)
	case kindTypeTag:
		return next(inner)
	case kindConst, kindVolatile, kindRestrict:
		qual := map[int]string{kindConst: "const", kindVolatile: "volatile", kindRestrict: "restrict"}[r.kind()]
		if to, ok := s.b.at(s.untagged(r.ref())); ok && to.kind() == kindPtr {
			if inner != "" {
				qual += " " + inner
			}
			return next(qual)
		}
		to := next(inner)
		if rest, ok := strings.CutPrefix(to, "const "); ok && r.kind() == kindVolatile {
			return "const volatile " + rest
		}
		return qual + " " + to
	case kindArray:
		return s.declare(r.word(0), fmt.Sprintf("%s[%d]", inner, r.word(2)), depth+1)
	case kindFuncProto:
		return next(inner + "(" + s.parameters(r, depth+1) + ")")
	case kindStruct, kindUnion, kindEnum, kindEnum64, kindFwd:
		if name == "" {
			name = "{...}"
		}
		prefix := "struct "
		switch {
		case r.kind() == kindUnion, r.kind() == kindFwd && r.flag():
			prefix = "union "
		case r.kind() == kindEnum, r.kind() == kindEnum64:
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
		r, ok := s.b.at(id)
		if !ok || r.kind() != kindTypeTag {
			break
		}
		id = r.ref()
	}
	return id
}

func (s *namer) parameters(r record, depth int) string {
	out := ""
	for i := range r.vlen() {
		if len(out) > maxLength || s.left < 0 {
			return out + ", ..."
		}
		if i > 0 {
			out += ", "
		}
		if t := r.word(2*i + 1); t == 0 {
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
