package structs

import (
	"errors"
	"fmt"
	"hash/maphash"
	"path"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/types"
)

// source is where types come from.
type source struct {
	debuginfo.Structures
	find  func(name string) (*types.Ctype, error)
	what  string
	close func() error
}

// opened opens what is asked for.
func opened(o *options) (*source, error) {
	nothing := func() error { return nil }
	kernel := func(cfg kbtf.Config, what string) (*source, error) {
		k := kbtf.New(cfg)
		scope, err := k.Kernel()
		if err == nil && o.module != "" {
			scope, err = k.Module(o.module)
		}
		if err != nil {
			return nil, err
		}
		return &source{scope, scope.Type, what, nothing}, nil
	}
	switch {
	case o.module != "":
		return kernel(kbtf.Config{Sys: "/sys"}, "module "+o.module)
	case o.file == "":
		return kernel(kbtf.Config{Sys: "/sys"}, "the kernel")
	}
	im, err := open.Open(o.file)
	if err != nil || !im.HasTypes() {
		if btf.Has(o.file) {
			if err == nil {
				im.Close()
			}
			return kernel(kbtf.Config{Sys: "/sys", BTF: o.file}, o.file)
		}
		if err == nil {
			err = fmt.Errorf("%s: %s", o.file, im.NoTypes())
			im.Close()
		}
		return nil, err
	}
	all, ok := im.(debuginfo.Structures)
	if !ok {
		im.Close()
		return nil, fmt.Errorf("%s: its types cannot be listed", o.file)
	}
	return &source{all, im.Type, o.file, im.Close}, nil
}

// named gives the structures that are meant by name.
func (src *source) named(name string) ([]debuginfo.Structure, error) {
	var found []debuginfo.Structure
	word := strings.TrimSuffix(name, bare(name))
	err := src.Structures.Structures(func(s debuginfo.Structure) bool {
		full := named(s.Type)
		if (bare(full) == bare(name) || bare(s.Type.Name) == bare(name)) && strings.HasPrefix(full, word) {
			found = append(found, s)
			return false
		}
		return true
	})
	if err != nil || len(found) > 0 {
		return found, err
	}
	if strings.ContainsAny(name, "*?") && !strings.HasPrefix(name, "*") {
		return src.matching(name)
	}
	t, err := src.find(name) // a typedef of one without a name of its own
	if err == nil && t.Kind != types.Struct && t.Kind != types.Union {
		size := ""
		if t.Size >= 0 {
			size = " of " + count(t.Size, "byte")
		}
		return nil, slip.New(fmt.Sprintf("%s is no structure, but %s%s", name, kinds[t.Kind], size), "")
	}
	if err != nil {
		var none *debuginfo.NotFoundError
		if !errors.As(err, &none) {
			return nil, err
		}
		return nil, src.missing(name, none.Near)
	}
	return []debuginfo.Structure{{Type: t, Declared: func() (string, int) { return "", 0 }}}, nil
}

// missing is the error for a name that is not there.
func (src *source) missing(name string, near []string) error {
	if len(near) == 0 {
		var all []string
		src.Structures.Structures(func(s debuginfo.Structure) bool {
			if n := bare(named(s.Type)); len(n)-len(name) <= 3 && len(name)-len(n) <= 3 {
				all = append(all, n)
			}
			return true
		})
		near = diag.Nearest(name, all, 3)
	}
	return slip.New(fmt.Sprintf("%s has no type %s", src.what, name), slip.Offer(near))
}

// matching gives the structures whose names fit a pattern, each once.
func (src *source) matching(pattern string) ([]debuginfo.Structure, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, slip.New(fmt.Sprintf("%s is no pattern", pattern), "")
	}
	var out []debuginfo.Structure
	err := src.each(func(s debuginfo.Structure) {
		if ok, _ := path.Match(strings.ReplaceAll(bare(pattern), "/", "\x00"),
			strings.ReplaceAll(bare(named(s.Type)), "/", "\x00")); ok {
			out = append(out, s)
		}
	})
	if err == nil && len(out) == 0 {
		err = slip.New(fmt.Sprintf("%s has no structure whose name fits %s", src.what, pattern), "")
	}
	return out, err
}

// each calls f with each structure once: several units of C describe the same one, and some have the name of another.
func (src *source) each(f func(debuginfo.Structure)) error {
	seen := map[uint64]bool{}
	seed := maphash.MakeSeed()
	return src.Structures.Structures(func(s debuginfo.Structure) bool {
		var h maphash.Hash
		h.SetSeed(seed)
		fmt.Fprint(&h, named(s.Type), s.Type.Size)
		for _, m := range s.Type.Fields() {
			h.WriteString(m.Name)
			fmt.Fprint(&h, m.Off, m.BitOff)
			if m.Type != nil {
				h.WriteString(m.Type.Name)
			}
		}
		if k := h.Sum64(); !seen[k] {
			seen[k] = true
			f(s)
		}
		return true
	})
}

// kinds are words for types that are no structures.
var kinds = map[types.Kind]string{types.Int: "an integer", types.Bool: "a truth value", types.Char: "a character",
	types.Float: "a number with a fraction", types.Complex: "a complex number", types.Enum: "an enumeration",
	types.Pointer: "a pointer", types.Array: "an array", types.Func: "a function", types.GoString: "a string",
	types.GoSlice: "a slice", types.GoInterface: "an interface", types.GoMap: "a map", types.GoChan: "a channel",
	types.GoFunc: "a function value", types.Void: "something without members"}
