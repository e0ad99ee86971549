package kbtf

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/types"
)

// Proto is a function's prototype.
type Proto struct {
	Params []Param
	// Result is of kind Void and named "void" for functions that return nothing.
	Result *types.Ctype
	// Variadic functions take more than Params.
	Variadic bool
	// ID is the number of the BTF type that this was read from: BTF_KIND_FUNC or BTF_KIND_FUNC_PROTO.
	ID uint32
}

// Param is one parameter; the name is "" where BTF has none.
type Param struct {
	Name string
	Type *types.Ctype
}

// Type finds a type by the name that C gives it: "struct task_struct", "union x", "enum x", "pid_t", and
// pointers to those ("struct file *"). A name without a keyword is, in this order, a typedef or basic type, a struct, a
// union, an enum. The error is a *debuginfo.NotFoundError if there is none.
func (s *Scope) Type(name string) (*types.Ctype, error) {
	name = strings.Join(strings.Fields(name), " ")
	if to, ok := strings.CutSuffix(name, "*"); ok {
		el, err := s.Type(strings.TrimSpace(to))
		if err != nil {
			return nil, err
		}
		p := &types.Ctype{Kind: types.Pointer, Name: el.Name + " *", Size: 8}
		if strings.HasSuffix(el.Name, "*") {
			p.Name = el.Name + "*"
		}
		p.SetElem(el)
		return p, nil
	}
	keyword, bare, ok := strings.Cut(name, " ")
	kinds := []int{btf.KindTypedef, btf.KindInt, btf.KindFloat, btf.KindStruct, btf.KindUnion, btf.KindEnum,
		btf.KindEnum64}
	switch {
	case !ok:
		bare = name
	case keyword == "struct":
		kinds = []int{btf.KindStruct}
	case keyword == "union":
		kinds = []int{btf.KindUnion}
	case keyword == "enum":
		kinds = []int{btf.KindEnum, btf.KindEnum64}
	case keyword == "const" || keyword == "volatile":
		return s.Type(bare)
	default:
		bare = name // "unsigned int"
	}
	if c, ok := canonical[bare]; ok && len(kinds) > 2 {
		bare = c
	}
	found := s.find(btf.GroupNamed, bare)
	for _, k := range kinds {
		for _, r := range found {
			if r.Kind() == k && complete(r) {
				return s.ctype(r.ID()), nil
			}
		}
	}
	return nil, &debuginfo.NotFoundError{What: "type", Name: name, Near: s.nearTypes(bare, kinds)}
}

// canonical has the names under which compilers record the basic types that C lets one write otherwise.
var canonical = map[string]string{
	"unsigned": "unsigned int", "long": "long int", "unsigned long": "long unsigned int", "short": "short int",
	"unsigned short": "short unsigned int",
	"long long":      "long long int", "unsigned long long": "long long unsigned int", "signed int": "int",
	"signed":            "int",
	"unsigned long int": "long unsigned int", "unsigned short int": "short unsigned int",
	"unsigned long long int": "long long unsigned int",
	"bool":                   "_Bool",
}

// complete is false for enums that are only announced.
func complete(r btf.Record) bool {
	k := r.Kind()
	return k != btf.KindFwd && (k != btf.KindEnum && k != btf.KindEnum64 || r.Len() > 0)
}

func (s *Scope) nearTypes(name string, kinds []int) []string {
	var all []string
	for x := s; x != nil; x = x.above {
		x.b.Each(func(r btf.Record) bool {
			if slices.Contains(kinds, r.Kind()) && r.Named() {
				if n := x.b.Name(r); diff(len(n), len(name)) <= 3 {
					all = append(all, n)
				}
			}
			return true
		})
	}
	slices.Sort(all)
	return diag.Nearest(name, slices.Compact(all), 3)
}

func diff(a, b int) int { return max(a-b, b-a) }

// FuncProto gives the prototype of the function that is called name: of the module if s is one and has it, else of the
// kernel. The error is a *debuginfo.NotFoundError if BTF has no such function (assembly, functions that were
// made by the optimiser, or several that differ).
func (s *Scope) FuncProto(name string) (*Proto, error) {
	if all := s.find(btf.GroupFunc, name); len(all) > 0 {
		r := all[0]
		p, err := s.proto(r.Ref())
		if err != nil {
			return nil, fmt.Errorf("function %s: %w", name, err)
		}
		p.ID = r.ID()
		return p, nil
	}
	return nil, &debuginfo.NotFoundError{What: "function", Name: name, Detail: "BTF does not describe it"}
}

// TypedefProto gives the prototype that a typedef stands for: of a function, or of a pointer to one. The prototype of
// tracepoint NAME is that of btf_trace_NAME, behind a first parameter for the tracer's own data.
func (s *Scope) TypedefProto(name string) (*Proto, error) {
	for _, r := range s.find(btf.GroupNamed, name) {
		if r.Kind() != btf.KindTypedef {
			continue
		}
		id := r.Ref()
		if f, ok := s.b.Prototype(id); ok {
			id = f.ID()
		}
		p, err := s.proto(id)
		if err != nil {
			return nil, fmt.Errorf("typedef %s: %w", name, err)
		}
		return p, nil
	}
	return nil, &debuginfo.NotFoundError{What: "type", Name: name}
}

// TracepointProto gives the prototype of a tracepoint, with a first parameter for the tracer's own data. The names of
// its parameters are those of the functions that the kernel makes for each; the typedef has the types alone.
func (s *Scope) TracepointProto(name string) (*Proto, error) {
	p, err := s.TypedefProto("btf_trace_" + name)
	if err != nil {
		return nil, err
	}
	for _, prefix := range []string{"__traceiter_", "__probestub_", "__bpf_trace_"} {
		if f, err := s.FuncProto(prefix + name); err == nil && len(f.Params) == len(p.Params) {
			return f, nil
		}
	}
	return p, nil
}

func (s *Scope) proto(id uint32) (*Proto, error) {
	r, ok := s.b.At(id)
	if !ok || r.Kind() != btf.KindFuncProto {
		return nil, fmt.Errorf("BTF type %d is no prototype", id)
	}
	p := &Proto{Result: s.ctype(r.Ref()), ID: id}
	for i := range r.Len() {
		t := r.Word(2*i + 1)
		if t == 0 {
			p.Variadic = true
			break
		}
		p.Params = append(p.Params, Param{s.b.String(r.Word(2 * i)), s.ctype(t)})
	}
	return p, nil
}

// VarType gives the type of a variable that BTF describes. Kernels describe their per-CPU variables, and from
// 6.15 on all globals; the error is a *debuginfo.NotFoundError for others.
func (s *Scope) VarType(name string) (*types.Ctype, error) {
	for _, r := range s.find(btf.GroupVar, name) {
		return s.ctype(r.Ref()), nil
	}
	return nil, &debuginfo.NotFoundError{What: "variable", Name: name, Detail: "BTF does not describe it"}
}

// Enumerator finds a named constant, and its type, by going through all enums; the module's come first.
func (s *Scope) Enumerator(name string) (val int64, of *types.Ctype, ok bool) {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return 0, nil, false
	}
	for x := s; x != nil; x = x.above {
		x.b.Each(func(r btf.Record) bool {
			step := 2
			switch r.Kind() {
			case btf.KindEnum64:
				step = 3
			case btf.KindEnum:
			default:
				return true
			}
			for i := range r.Len() {
				if x.b.Is(r.Word(step*i), name) {
					val, of, ok = s.enumerators(r)[i].Val, s.ctype(r.ID()), true
					return false
				}
			}
			return true
		})
		if ok {
			return val, of, true
		}
	}
	return 0, nil, false
}

// FuncNames lists the functions of s itself that match the glob pattern (* and ?), sorted.
func (s *Scope) FuncNames(pattern string) []string { return s.names(pattern, btf.KindFunc) }

// TypedefNames lists the typedefs of s itself that match the glob pattern, sorted: "btf_trace_*" is every tracepoint.
func (s *Scope) TypedefNames(pattern string) []string { return s.names(pattern, btf.KindTypedef) }

func (s *Scope) names(pattern string, kind int) []string {
	prefix := pattern
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		prefix = pattern[:i]
	}
	var out []string
	s.b.Each(func(r btf.Record) bool {
		if r.Kind() == kind {
			if n := s.b.Name(r); strings.HasPrefix(n, prefix) {
				if ok, _ := path.Match(pattern, n); ok {
					out = append(out, n)
				}
			}
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}
