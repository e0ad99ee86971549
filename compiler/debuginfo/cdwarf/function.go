package cdwarf

import (
	"cmp"
	"debug/dwarf"
	"path"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/clone"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/scoped"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
)

// function is what is known of a debuginfo.Func.
type function struct {
	debuginfo.Func
	u    *dw.Unit      // nil without DWARF
	head *godwarf.Tree // its entry alone; likewise
	tree *godwarf.Tree // its entry with all below; set by load
	plan *entryPlan
	flow *flow      // see flowOf
	base *frameBase // see baseOf
}

type key struct {
	entry uint64
	name  string
}

// startup are the functions that the C runtime adds to every program. They match no glob.
var startup = map[string]bool{
	"_init": true, "_fini": true, "_start": true, "frame_dummy": true, "register_tm_clones": true,
	"deregister_tm_clones": true, "__do_global_dtors_aux": true, "_dl_relocate_static_pie": true,
	"__libc_csu_init": true, "__libc_csu_fini": true,
}

// glue reports whether a function of this name (or what a pattern begins with) is one of those by which Go and C call
// each other.
func glue(name string) bool {
	return strings.HasPrefix(name, "_cgo") || strings.HasPrefix(name, "x_cgo") || strings.HasPrefix(name, "crosscall")
}

// ofGo reports whether u is C code of Go's own runtime.
func ofGo(u *dw.Unit) bool { return strings.HasSuffix(u.CompDir(), "/runtime/cgo") }

// matcher is a glob of function names.
type matcher struct {
	pattern string
	glob    bool
	scoped  *scoped.Pattern // of C++ and Rust, nil if the pattern has no scopes and is of no operator
	plain   bool            // without scopes: names that have none match, too
	told    bool            // only functions of which DWARF tells
}

func newMatcher(pattern string) matcher {
	return matcher{pattern: pattern, glob: strings.ContainsAny(pattern, "*?["), scoped: scoped.Parse(pattern),
		plain: !strings.Contains(pattern, "::")}
}

// symbol reports whether a symbol's function is meant.
func (m matcher) symbol(name string) bool {
	return m.scoped != nil && m.scoped.Match(name) || m.plain && m.match(name)
}

// entry reports whether the function that t describes is meant, by the name in the source, with its scopes, or by
// its symbol.
func (m matcher) entry(t *godwarf.Tree) bool {
	l := linkageName(t)
	return m.scoped != nil && l != "" && m.scoped.Match(l) || m.plain && (m.match(dw.Name(t)) || l != "" && m.match(l))
}

// function is entry for a function, which may have no entry.
func (m matcher) function(f *function) bool {
	base, _, _ := clone.Of(f.Symbol)
	return m.match(f.Name) || f.head != nil && m.entry(f.head) || m.symbol(base)
}

// last is a matcher for the names without scopes that DWARF gives: it takes in all that m means, and more.
func (m matcher) last() matcher {
	if m.plain {
		return m
	}
	return matcher{pattern: m.scoped.Last(), glob: true, plain: true}
}

func (m matcher) match(name string) bool {
	if !m.glob {
		return name == m.pattern
	}
	if m.pattern == "*" || name == m.pattern {
		return true
	}
	ok, _ := path.Match(m.pattern, name) // names have no slashes
	return ok
}

// Funcs lists functions by glob or exact name. The names are those of the source; functions
// without DWARF have those of their symbols. A function that the compiler has copied ("f.constprop.0") is
// listed once for each copy that has code, its rest ("f.part.0") by that name only. Beside another language a glob
// means the functions of which DWARF tells: not the glue between the languages, nor what of the C library is linked in.
func (im *Image) Funcs(pattern string) (out []*debuginfo.Func, err error) {
	defer foreign.Guard(&err)()
	fs, err := im.named().find(newMatcher(pattern))
	if err != nil {
		return nil, err
	}
	if len(fs) == 0 {
		nf := &debuginfo.NotFoundError{What: "function", Name: pattern}
		for _, s := range im.syms.SymbolsNamed(pattern) {
			if s.Indirect() {
				nf.Detail = "it is an indirect function, of which the program picks a variant when it starts; probe " +
					"the variants"
			}
		}
		if nf.Detail == "" {
			nf.Near = im.NearNames(pattern)
		}
		return nil, nf
	}
	for _, f := range fs {
		twins, err := im.twins(f)
		if err != nil {
			return nil, err
		}
		f.Twins = few(twins)
		out = append(out, &f.Func)
	}
	return out, nil
}

func (im namer) find(m matcher) ([]*function, error) {
	unnamed := im.other != nil && m.glob && !glue(m.pattern)
	if m.told = unnamed; unnamed && im.d == nil {
		return nil, nil
	}
	syms, err := im.syms.Symbols()
	if err != nil {
		return nil, err
	}
	found := map[uint64]*function{}
	if m.pattern == "*" {
		found = make(map[uint64]*function, len(syms))
	}
	for _, s := range syms {
		if !s.Func() && (m.glob || !s.Code()) || s.Indirect() {
			continue
		}
		base, suffix, cold := clone.Of(s.Name)
		if cold || !m.symbol(base) && !m.symbol(s.Name) || clone.Rest(suffix) && !clone.Rest(m.pattern) ||
			m.glob && startup[s.Name] || unnamed && glue(s.Name) {
			continue
		}
		if old := found[s.Addr]; old != nil &&
			(old.head == nil || old.Name == dw.Name(old.head) || scoped.Mangled(base)) {
			continue // an alias
		}
		f, err := im.fromSymbol(s, base, m)
		if err != nil {
			return nil, err
		}
		if f == nil || unnamed && ofGo(f.u) {
			continue
		}
		found[s.Addr] = f
	}
	// Symbols do not give the names of C++ functions, and a symbol table may be missing where DWARF is
	// not: then all units are read.
	if im.d != nil && (len(found) == 0 || !im.f.HasSymtab()) {
		refs, _, err := im.findFuncs(m.last())
		if err != nil {
			return nil, err
		}
		for _, r := range refs {
			if !r.HasCode || found[r.Low] != nil || !im.own(r.Low) || unnamed && (glue(r.Name) || ofGo(r.Unit)) {
				continue
			}
			t, err := im.d.Entry(r.Die)
			if err != nil {
				return nil, err
			}
			if m.scoped != nil && !m.entry(t) {
				continue
			}
			f := im.fromEntry(r.Unit, t, r.Low, "")
			if _, suffix, _ := clone.Of(f.Symbol); clone.Rest(suffix) {
				continue
			}
			found[r.Low] = f
		}
	}
	out := make([]*function, 0, len(found))
	for _, f := range found {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *function) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Entry, b.Entry))
	})
	return out, nil
}

// fromSymbol makes a function of a symbol, nil if it is not one that the pattern means.
func (im namer) fromSymbol(s elffile.Symbol, base string, m matcher) (*function, error) {
	if !im.own(s.Addr) {
		return nil, nil
	}
	if im.d != nil {
		u, t, err := im.d.FuncEntry(s.Addr)
		if err != nil {
			return nil, err
		}
		if t != nil {
			if low, ok := dw.EntryPC(t); !ok || low != s.Addr {
				if s.Size == 0 || !s.Global || m.told {
					return nil, nil // a label in a function
				}
				return im.bare(s), nil
			}
			f := im.fromEntry(u, t, s.Addr, s.Name)
			if !m.match(f.Name) && !scoped.Mangled(base) { // an alias: it goes by the name that it was asked for
				f = im.renamed(f, base, s.Name)
			}
			return f, nil
		}
	}
	if m.told {
		return nil, nil
	}
	return im.bare(s), nil
}

// bare is a function that only its symbol tells about.
func (im namer) bare(s elffile.Symbol) *function {
	name := im.plain(s.Name)
	k := key{s.Addr, name}
	if f := im.funcs[k]; f != nil {
		return f
	}
	end := s.Addr + s.Size
	if s.Size == 0 {
		end = im.f.SymbolEnd(s.Addr)
	}
	f := &function{Func: debuginfo.Func{Name: name, Entry: s.Addr, End: end, ABI: debuginfo.SysV, External: s.Global}}
	if name != s.Name {
		f.Symbol = s.Name
	}
	return im.keep(k, f)
}

// fromEntry makes a function of its DWARF entry. symbol is "" if not known.
func (im namer) fromEntry(u *dw.Unit, t *godwarf.Tree, entry uint64, symbol string) *function {
	name := dw.Name(t)
	if symbol == "" {
		symbol = im.symbolFor(entry, name)
	}
	if name == "" {
		name = symbol
	}
	if base, _, _ := clone.Of(symbol); scoped.Mangled(base) {
		name = im.plain(base)
	} else if l := linkageName(t); l != "" {
		name = im.plain(l)
	}
	k := key{entry, name}
	if f := im.funcs[k]; f != nil {
		return f
	}
	f := &function{u: u, head: t, Func: debuginfo.Func{
		Name: name, Entry: entry, End: entry, File: im.d.FileAttr(t, dwarf.AttrDeclFile),
		Line: int(dw.Int(t, dwarf.AttrDeclLine)),
		ABI:  debuginfo.SysV, External: dw.Flag(t, dwarf.AttrExternal), ID: uint64(t.Offset),
	}}
	if symbol != name {
		f.Symbol = symbol
	}
	for _, r := range t.Ranges {
		if r[0] <= entry && entry < r[1] {
			f.End = r[1]
		}
	}
	return im.keep(k, f)
}

// plain gives the name with scopes of a symbol of C++ or Rust, the symbol itself for others.
func (im namer) plain(symbol string) string {
	if !scoped.Mangled(symbol) {
		return symbol
	}
	s, ok := im.names[symbol]
	if !ok {
		s = scoped.Name(symbol)
		if im.names == nil {
			im.names = map[string]string{}
		}
		im.names[symbol] = s
	}
	return s
}

// linkageName is the symbol of a function by its entry, "" if that has none: functions of C, and those that are as
// the source names them.
func linkageName(t *godwarf.Tree) string {
	s, _ := t.Val(dwarf.AttrLinkageName).(string)
	if !scoped.Mangled(s) {
		return ""
	}
	return s
}

// scopedName is the name of a function or of a copy of it, with its scopes where its language has them.
func (im namer) scopedName(t *godwarf.Tree) string {
	if l := linkageName(t); l != "" {
		return im.plain(l)
	}
	return dw.Name(t)
}

// symbolFor is the symbol at an address, the one like name if there are several.
func (im namer) symbolFor(addr uint64, name string) string {
	best := ""
	for _, s := range im.syms.SymbolsAt(addr) {
		if !s.Func() {
			continue
		}
		base, _, cold := clone.Of(s.Name)
		if s.Name == name {
			return s.Name
		}
		if best == "" || base == name && !cold {
			best = s.Name
		}
	}
	return best
}

// renamed is f under the name of an alias.
func (im namer) renamed(f *function, name, symbol string) *function {
	k := key{f.Entry, name}
	if g := im.funcs[k]; g != nil {
		return g
	}
	g := &function{Func: f.Func, u: f.u, head: f.head, tree: f.tree}
	g.Name, g.Symbol = name, ""
	if symbol != name {
		g.Symbol = symbol
	}
	return im.keep(k, g)
}

func (im namer) keep(k key, f *function) *function {
	im.funcs[k] = f
	im.byPtr[&f.Func] = f
	return f
}

// load reads what is below the entry of f.
func (im *Image) load(f *function) (err error) {
	if f != nil && f.head != nil && f.tree == nil {
		f.tree, err = f.u.Tree(f.head.Offset)
	}
	return err
}

// of finds what is known of f, which may also be a copy of one of ours. Nil without an error if there is no such
// function.
func (im *Image) of(f *debuginfo.Func) (*function, error) {
	if f == nil {
		return nil, nil
	}
	g := im.byPtr[f]
	if g == nil {
		g = im.funcs[key{f.Entry, f.Name}]
	}
	if g == nil {
		return im.at(f.Entry)
	}
	return g, im.load(g)
}

// at is the function whose code covers pc, nil without an error if there is none.
func (im *Image) at(pc uint64) (*function, error) {
	f, err := im.named().covering(pc)
	if err == nil {
		err = im.load(f)
	}
	return f, err
}

// covering is at for those who need no more than the entry.
func (im namer) covering(pc uint64) (*function, error) {
	if im.other != nil && !im.own(pc) {
		return nil, nil
	}
	if im.d != nil {
		u, t, err := im.d.FuncEntry(pc)
		if err != nil {
			return nil, err
		}
		if t != nil {
			if low, ok := dw.EntryPC(t); ok {
				return im.fromEntry(u, t, low, ""), nil
			}
		}
	}
	if s, ok := im.f.SymbolAt(pc); ok && im.own(s.Addr) {
		return im.bare(s), nil
	}
	return nil, nil
}

// FuncAt finds the function whose code covers pc, nil if there is none.
func (im *Image) FuncAt(pc uint64) (f *debuginfo.Func) {
	var err error
	defer foreign.Guard(&err)()
	if !im.f.InText(pc) {
		return nil
	}
	if g, err := im.named().covering(pc); err == nil && g != nil {
		return &g.Func
	}
	return nil
}

// NearNames gives names of functions close to name.
func (im *Image) NearNames(name string) (near []string) {
	var err error
	defer foreign.Guard(&err)()
	syms, err := im.syms.Symbols()
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range syms {
		if s.Func() && im.own(s.Addr) {
			base, _, _ := clone.Of(s.Name)
			if scoped.Mangled(base) {
				if !strings.Contains(name, "::") {
					continue
				}
				base = im.named().plain(base)
			}
			names = append(names, base)
		}
	}
	return diag.Nearest(name, names, 5)
}
