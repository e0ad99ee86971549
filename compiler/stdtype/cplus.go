package stdtype

import (
	"strings"

	"github.com/gostap/gostap/compiler/types"
)

// ofCPlus gives the form of a type of namespace std: those of libstdc++.
func ofCPlus(t *types.Ctype) *Form {
	if t.Kind != types.Struct {
		return nil
	}
	if t.More().Scope == "std::chrono" && base(t) == "duration" {
		return duration(t)
	}
	if !inStd(t.More().Scope) {
		return nil
	}
	switch base(t) {
	case "runtime_error", "logic_error": // what() of it, which shares its text with its copies
		p, ok := path(t, "_M_msg", "_M_p")
		if e := p.Type; ok && isPointer(p) && e.Elem() != nil && e.Elem().Kind == types.Char {
			return &Form{Kind: Text, At: []int64{p.Off, p.Off, 2}, Elem: e.Elem()}
		}
	case "basic_string":
		return basicString(t)
	case "basic_string_view":
		return span(t, Text, "_M_str", "_M_len", 0)
	case "vector":
		return vector(t)
	case "array":
		if f, ok := member(t, "_M_elems"); ok && f.Type.Kind == types.Array {
			return wrap(f)
		}
	case "optional":
		return optional(t)
	case "variant":
		return variant(t)
	case "tuple":
		return tuple(t)
	case "unique_ptr":
		return unique(t)
	case "shared_ptr", "weak_ptr":
		return shared(t)
	case "list", "forward_list":
		return list(t)
	case "map", "set", "multimap", "multiset":
		return tree(t)
	case "unordered_map", "unordered_set", "unordered_multimap", "unordered_multiset":
		return hashed(t)
	case "deque":
		return deque(t)
	case "atomic":
		for _, name := range []string{"_M_i", "_M_b", "_M_p", "_M_fp"} {
			if f, ok := deep(t, name); ok {
				if name == "_M_b" { // atomic<bool> has an atomic of its own in it
					f, ok = path(t, "_M_base", "_M_i")
				}
				if ok {
					return wrap(f)
				}
			}
		}
	case "pair":
		first, ok1 := member(t, "first")
		second, ok2 := member(t, "second")
		if ok1 && ok2 {
			first.Name, second.Name = "", ""
			return &Form{Kind: Members, Fields: []types.Field{first, second}}
		}
	}
	return nil
}

// units are the periods of std::chrono that have a name of their own.
var units = map[string]string{"ratio<1, 1000000000>": "ns", "ratio<1, 1000000>": "us", "ratio<1, 1000>": "ms",
	"ratio<1, 1>": "s", "ratio<60, 1>": "min", "ratio<3600, 1>": "h", "ratio<86400, 1>": "d"}

// duration is a number of periods of time.
func duration(t *types.Ctype) *Form {
	f, ok := member(t, "__r")
	period := param(t, "_Period")
	if !ok || period == nil {
		return nil
	}
	name := strings.NewReplacer("L", "", "l", "", "u", "").Replace(between(period.Own))
	unit := units["ratio<"+name]
	if unit == "" {
		return nil
	}
	form := wrap(f)
	form.Post = unit
	return form
}

// inStd reports whether a scope is namespace std, or one in it that its names are the library's versions of.
func inStd(scope string) bool {
	in, ok := strings.CutPrefix(scope, "std::")
	return scope == "std" || ok && strings.HasPrefix(in, "__") && !strings.Contains(in, "::")
}

// span is a form of an address and a length or end, both members.
func span(t *types.Ctype, k Kind, first, second string, how int64) *Form {
	p, ok1 := deep(t, first)
	n, ok2 := deep(t, second)
	if !ok1 || !ok2 || !isPointer(p) || !isWord(n) || p.Type.Elem() == nil {
		return nil
	}
	e := p.Type.Elem()
	if k == Text && (e.Kind != types.Char || e.Size != 1) {
		k = Seq // of wide characters
	}
	return &Form{Kind: k, At: []int64{p.Off, n.Off, how}, Elem: e}
}

// basicString is a string of either ABI: that of C++11, which knows its length, or the older one, whose text follows
// a head with its length, capacity and users.
func basicString(t *types.Ctype) *Form {
	if f := span(t, Text, "_M_p", "_M_string_length", 0); f != nil {
		return f
	}
	if f := undescribed(t); f != nil {
		return f
	}
	p, ok := path(t, "_M_dataplus", "_M_p")
	if !ok || t.Size != 8 || !isPointer(p) || p.Type.Elem() == nil || p.Type.Elem().Kind != types.Char {
		return nil
	}
	return &Form{Kind: Text, At: []int64{p.Off, p.Off, 2}, Elem: p.Type.Elem()}
}

// undescribed is a string of the ABI of C++11 whose first member clang does not describe, since it is in the library:
// the address, with the allocator as an empty base.
func undescribed(t *types.Ctype) *Form {
	p, ok1 := member(t, "_M_dataplus")
	n, ok2 := member(t, "_M_string_length")
	c, alloc := param(t, "_CharT"), param(t, "_Alloc")
	if !ok1 || !ok2 || p.Type.Size > 0 || p.Off != 0 || n.Off != 8 || !isWord(n) || c == nil ||
		c.Kind != types.Char || c.Size != 1 || alloc == nil || base(alloc) != "allocator" ||
		!inStd(alloc.More().Scope) {
		return nil
	}
	return &Form{Kind: Text, At: []int64{0, n.Off, 0}, Elem: c}
}

func vector(t *types.Ctype) *Form {
	if e := param(t, "_Tp"); e != nil && e.Kind == types.Bool {
		start, ok1 := deep(t, "_M_start")
		finish, ok2 := deep(t, "_M_finish")
		if !ok1 || !ok2 {
			return nil
		}
		p, ok1 := member(start.Type, "_M_p")
		end, ok2 := member(finish.Type, "_M_p")
		n, ok3 := member(finish.Type, "_M_offset")
		if !ok1 || !ok2 || !ok3 || !isPointer(p) || !isPointer(end) || n.Type.Size != 4 {
			return nil
		}
		return &Form{Kind: Bits, At: []int64{start.Off + p.Off, finish.Off + end.Off, finish.Off + n.Off}}
	}
	if f := span(t, Seq, "_M_start", "_M_finish", 1); f != nil {
		f.Kind = Seq // of characters too
		return f
	}
	return nil
}

// optional is a value with a mark that it is there.
func optional(t *types.Ctype) *Form {
	engaged, ok1 := deep(t, "_M_engaged")
	val, ok2 := deep(t, "_M_value")
	if !ok1 || !ok2 || engaged.Type.Size != 1 {
		return nil
	}
	val.Name = ""
	return &Form{Kind: Enum, At: []int64{engaged.Off, 1}, Variants: []types.Variant{
		{Field: types.Field{Name: "nullopt"}}, {Field: val, Val: 1}}}
}
