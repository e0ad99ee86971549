package kbtf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/types"
)

// What programs that run in other kernels too take of this one has a description, by which it is looked up in another:
//
//	member [MODULE:]OWNER NAME SHAPE     where a structure has a member, through unnamed members too; a.b is member b
//	                                     of member a
//	size [MODULE:]TYPE                   the bytes of a type
//	variable [MODULE:]NAME SHAPE         the address of a variable
//	constant [MODULE:]NAME               the value of an enumerator
//	this WHAT                            something that is not looked up in others
//
// OWNER is "struct x", "union x" or the name of a typedef with spaces as "~".

// Portable reports whether programs about the kernel are for others too.
func (im *Image) Portable() bool { return im.k.cfg.Portable }

func (s *Scope) prefix() string {
	if s == nil || s.name == "" {
		return ""
	}
	return s.name + ":"
}

// owner is the Owner of the fields of a structure.
func (s *Scope) owner(r btf.Record) string {
	if !s.k.cfg.Portable {
		return ""
	}
	name := s.b.Name(r)
	switch {
	case name == "":
		return types.AnonymousOwner
	case r.Kind() == btf.KindUnion:
		return s.prefix() + "union~" + name
	}
	return s.prefix() + "struct~" + name
}

// renamed gives fields of a structure that has no name the typedef's.
func (s *Scope) renamed(typedef string, fs []types.Field) []types.Field {
	if len(fs) == 0 || fs[0].Owner != types.AnonymousOwner || strings.ContainsAny(typedef, " {") {
		return fs
	}
	fs = slices.Clone(fs)
	for i := range fs {
		fs[i].Owner = s.prefix() + typedef
	}
	return fs
}

// Variable describes the address of a variable.
func (s *Scope) Variable(name string, t *types.Ctype) string {
	return fmt.Sprintf("variable %s%s %s", s.prefix(), name, types.Field{Type: t}.Shape())
}

// Resolve finds what a description means in k. Errors say what k has not, in words.
func (k *Kernel) Resolve(what string) (int64, error) {
	kind, rest, _ := strings.Cut(what, " ")
	name, rest, _ := strings.Cut(rest, " ")
	s, err := k.Kernel()
	if mod, in, ok := strings.Cut(name, ":"); ok && err == nil {
		name = in
		s, err = k.Module(mod)
	}
	if err != nil {
		return 0, err
	}
	name = strings.ReplaceAll(name, "~", " ")
	shaped := func(what, is, want string) error {
		if is != want {
			return fmt.Errorf("%s is %s there, and %s where it was compiled", what, is, want)
		}
		return nil
	}
	switch kind {
	case "member":
		member, shape, _ := strings.Cut(rest, " ")
		t, err := s.Type(name)
		if err != nil {
			return 0, fmt.Errorf("it has no %s", name)
		}
		off, f, ok := memberOf(t, member)
		if !ok {
			return 0, fmt.Errorf("%s has no member %s", name, member)
		}
		return off, shaped(fmt.Sprintf("member %s of %s", member, name), f.Shape(), shape)
	case "size":
		t, err := s.Type(name)
		if err != nil || t.Size <= 0 {
			return 0, fmt.Errorf("it has no %s", name)
		}
		return t.Size, nil
	case "variable":
		im, err := k.Image(s.name)
		if err != nil {
			return 0, err
		}
		v, err := im.Global(name)
		if err != nil {
			return 0, err
		}
		if last := v.Place.Addr.Last(); last == 0 && v.Place.InMemory {
			return v.Place.Addr.Steps[0].N, shaped(name, types.Field{Type: v.Type}.Shape(), rest)
		}
		return 0, &debuginfo.NotFoundError{What: "variable", Name: name}
	case "constant":
		n, _, ok := s.Enumerator(name)
		if !ok {
			return 0, fmt.Errorf("it has no constant %s", name)
		}
		return n, nil
	}
	return 0, fmt.Errorf("%q means nothing to this version of gostap", what)
}

// memberOf finds a member by name, of t itself or of members without a name; a.b is member b of member a.
func memberOf(t *types.Ctype, names string) (off int64, f types.Field, ok bool) {
	for name := range strings.SplitSeq(names, ".") {
		if ok {
			t = f.Type
		}
		if t.Kind != types.Struct && t.Kind != types.Union {
			return 0, f, false
		}
		path := t.Path(name)
		if ok = len(path) > 0; !ok {
			return 0, f, false
		}
		for _, f = range path {
			off += f.Off
		}
	}
	return off, f, true
}
