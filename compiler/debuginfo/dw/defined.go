package dw

import (
	"debug/dwarf"
	"strings"

	"github.com/gostap/gostap/compiler/foreign"
)

// declaredInline is the first of the values of DW_AT_inline that functions have which the source declares so. LLVM has
// one value for all.
const declaredInline = 2

// DefinedIn looks through units for functions that are defined in the source, whether they have code or not, and whose
// linkage name, or name if there is none, matches. Inline functions of C do not count: headers define them beside the
// function of that name. match sees bytes of the section.
func (d *Data) DefinedIn(units []*Unit, match func(name []byte) bool) (names map[string]bool, err error) {
	defer foreign.Guard(&err)()
	names = map[string]bool{}
	declared := map[dwarf.Offset]string{}
	var completed []dwarf.Offset // declarations that have a definition elsewhere
	for _, u := range units {
		if u.typeUnit {
			continue
		}
		s, err := u.scan()
		if err != nil {
			return nil, err
		}
		gnu := strings.HasPrefix(u.Producer(), "GNU")
		for s.next() {
			if s.a.tag != dwarf.TagSubprogram {
				continue
			}
			name := s.str(slotLinkage)
			if len(name) == 0 {
				name = s.str(slotName)
			}
			of, other := s.ref(slotSpec)
			inline := s.has(slotInline) && (!gnu || s.val[slotInline].n >= declaredInline) && !IsCpp(u.Lang())
			switch {
			case inline:
			case len(declared)+len(completed) > maxRefs:
				return nil, u.d.Corrupt("more than %d functions", maxRefs)
			case len(name) > 0 && !match(name):
			case len(name) > 0 && s.flag(slotDecl):
				declared[s.off] = string(name)
			case len(name) > 0:
				names[string(name)] = true
			case other:
				completed = append(completed, of)
			}
		}
		if err := s.failed(); err != nil {
			return nil, err
		}
	}
	for _, off := range completed {
		if name := declared[off]; name != "" {
			names[name] = true
		}
	}
	return names, nil
}
