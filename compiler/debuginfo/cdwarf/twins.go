package cdwarf

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/clone"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
)

// twins are the functions that have the code of fn too, besides fn itself: compilers and linkers keep one of several
// functions that do the same (identical code folding), under the names of all. DWARF describes one of them, so the
// types of the variables are those of that one only. A name that the source gives the same function, an alias, is no
// twin.
func (im *Image) twins(fn *function) ([]string, error) {
	if fn == nil || fn.head == nil || im.d == nil || fn.u.Lang() == dw.LangAsm {
		return nil, nil
	}
	own := dw.Name(fn.head)
	if l := linkageName(fn.head); l != "" {
		own = l
	}
	label, _ := fn.head.Val(dwarf.AttrLinkageName).(string) // also of C, by asm("name")
	rust := fn.u.Lang() == dw.LangRust                      // which has no aliases
	var out []string
	for _, s := range im.syms.SymbolsAt(fn.Entry) {
		base, _, cold := clone.Of(s.Name)
		if !s.Func() || cold || base == own || base == label {
			continue
		}
		name := im.named().plain(base)
		if !rust {
			if name == im.named().plain(own) { // a constructor has two symbols, and copies have those of the original
				continue
			}
			if is, err := im.folded(fn, base); err != nil {
				return nil, err
			} else if !is {
				continue
			}
		}
		if name == fn.Name {
			if name = im.named().plain(own); name == fn.Name {
				name = "another " + name
			}
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// folded reports whether symbol, one of those where fn begins, is that of a function of its own in the source: one that
// is defined there, and whose code is nowhere else.
func (im *Image) folded(fn *function, symbol string) (bool, error) {
	if im.folds != nil {
		return im.folds[symbol], nil
	}
	units, err := im.units()
	if err != nil {
		return false, err
	}
	units = slices.DeleteFunc(slices.Clone(units), func(u *dw.Unit) bool { return u.Lang() == dw.LangAsm })
	// All symbols that share an address are asked about at once.
	shared := map[string][]uint64{}
	syms, err := im.f.Symbols()
	if err != nil {
		return false, err
	}
	for i, s := range syms {
		if s.Func() && (i > 0 && syms[i-1].Addr == s.Addr || i+1 < len(syms) && syms[i+1].Addr == s.Addr) {
			base, _, _ := clone.Of(s.Name)
			shared[base] = append(shared[base], s.Addr)
		}
	}
	match := func(name []byte) bool { return shared[string(name)] != nil }
	defined, err := im.d.DefinedIn(units, match)
	if err != nil {
		return false, err
	}
	refs, _, err := im.d.FindFuncsIn(units, match)
	if err != nil {
		return false, err
	}
	elsewhere := map[string]bool{}
	for _, r := range refs {
		if !r.HasCode || !im.own(r.Low) {
			continue
		}
		name := r.Name
		if t, err := im.d.Entry(r.Die); err != nil {
			return false, err
		} else if l := linkageName(t); l != "" {
			name = l
		}
		if !slices.Contains(shared[name], r.Low) {
			elsewhere[name] = true
		}
	}
	im.folds = map[string]bool{}
	for name := range shared {
		im.folds[name] = defined[name] && !elsewhere[name]
	}
	return im.folds[symbol], nil
}

// foldedError says that code is that of several functions.
type foldedError struct{ msg string }

func (e *foldedError) Error() string        { return e.msg }
func (e *foldedError) Is(target error) bool { return target == debuginfo.ErrUndescribed }

// single is an error if the code of fn is that of other functions too.
func (im *Image) single(fn *function) error {
	twins, err := im.twins(fn)
	if err != nil || len(twins) == 0 {
		return err
	}
	return &foldedError{fmt.Sprintf("%s is one function with %s in the program (identical code folding), and debug "+
		"information tells of one of them only: whose variables these are is not known", fn.Name, few(twins))}
}

// few lists names, not all of many.
func few(names []string) string {
	const most = 3
	if n := len(names) - most; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}
