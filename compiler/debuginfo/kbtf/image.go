package kbtf

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
)

// Image is the debuginfo.Image of the kernel or of one module. Functions come from the symbols, prototypes and types
// from BTF. What BTF does not tell (lines, inlined copies, locals, most globals) is refused with the reason.
type Image struct {
	k      *Kernel
	module string
	scope  *Scope
	err    error // why there are no types
	funcs  map[symKey]*function
	byPtr  map[*debuginfo.Func]*function
}

var _ debuginfo.Image = (*Image)(nil)

type symKey struct {
	addr uint64
	name string
	at   int // among those of one name, where addresses are hidden
}

// function is a code symbol of the image.
type function struct {
	debuginfo.Func
	sym    Symbol
	proto  *Proto
	protoE error
	asked  bool
	// dw is the function in vmlinux, whose address low is f's Entry there; nil before it is asked for.
	dw  *debuginfo.Func
	low uint64
}

// Image gives the image of the kernel (module "") or of a module. The error is a *debuginfo.NotFoundError for modules
// that are not loaded.
func (k *Kernel) Image(module string) (*Image, error) {
	module = ModuleName(module)
	if im := k.images[module]; im != nil {
		return im, nil
	}
	im := &Image{k: k, module: module, funcs: map[symKey]*function{}, byPtr: map[*debuginfo.Func]*function{}}
	if module == "" {
		im.scope, im.err = k.Kernel()
	} else {
		im.scope, im.err = k.Module(module)
		if im.err != nil && !k.hasModule(module) {
			return nil, im.missing()
		}
	}
	if k.images == nil {
		k.images = map[string]*Image{}
	}
	k.images[module] = im
	return im, nil
}

// missing is the error for a module that is not there.
func (im *Image) missing() error {
	nf := &debuginfo.NotFoundError{What: "module", Name: im.module, Detail: "it is not loaded"}
	if syms, err := im.k.Symbols(); err == nil {
		nf.Near = diag.Nearest(im.module, syms.modules(), 3)
	}
	return nf
}

// hasModule reports whether a symbol belongs to the module.
func (k *Kernel) hasModule(name string) bool {
	syms, err := k.Symbols()
	return err == nil && slices.Contains(syms.modules(), name)
}

// Module is the module's name, "" for the kernel itself.
func (im *Image) Module() string { return im.module }

// Path is "kernel", or the module's name.
func (im *Image) Path() string {
	if im.module == "" {
		return "kernel"
	}
	return im.module
}

// What names the image in messages.
func (im *Image) What() string {
	if im.module == "" {
		return "the kernel"
	}
	return "module " + im.module
}

// BuildID is "": kallsyms has none.
func (im *Image) BuildID() string { return "" }

// Machine is that of the kernel.
func (im *Image) Machine() *machine.Machine { return im.k.cfg.Machine }

// Lang is C.
func (im *Image) Lang() debuginfo.Lang { return debuginfo.C }

// HasTypes reports whether there is BTF.
func (im *Image) HasTypes() bool { return im.scope != nil }

// NoTypes says why there is no BTF.
func (im *Image) NoTypes() string {
	if im.err == nil {
		return ""
	}
	return im.err.Error()
}

// Err is why there is no BTF, nil if there is.
func (im *Image) Err() error { return im.err }

// Kernel is the kernel that the image is of.
func (im *Image) Kernel() *Kernel { return im.k }

// Scope is what the image can name, nil without BTF.
func (im *Image) Scope() *Scope { return im.scope }

// cloneOf takes the compiler's suffixes off a symbol: "f" for "f.isra.0".
func cloneOf(symbol string) (name, suffix string) {
	i := strings.IndexByte(symbol, '.')
	if i <= 0 {
		return symbol, ""
	}
	for part := range strings.SplitSeq(symbol[i+1:], ".") {
		switch part {
		case "cold", "isra", "constprop", "part", "lto_priv", "localalias", "llvm":
		default:
			if strings.Trim(part, "0123456789") != "" {
				return symbol, ""
			}
		}
	}
	return symbol[:i], symbol[i:]
}

// fragment reports whether a suffix is that of a piece of a function, which is not called as the function is.
func fragment(suffix string) bool {
	return strings.Contains(suffix, ".cold") || strings.Contains(suffix, ".part")
}

// changed reports whether a copy with this suffix may have other parameters than the source says.
func changed(suffix string) bool {
	return fragment(suffix) || strings.Contains(suffix, ".isra") || strings.Contains(suffix, ".constprop")
}

// padding reports whether a symbol names the bytes in front of a function (CONFIG_CALL_PADDING, CONFIG_CFI_CLANG).
func padding(name string) bool {
	return strings.HasPrefix(name, "__pfx_") || strings.HasPrefix(name, "__cfi_")
}

// trampoline reports whether a symbol names the jump of a static call (__SCT__tp_func_...): no function, and
// nothing that can be probed.
func trampoline(name string) bool { return strings.HasPrefix(name, "__SCT__") }

// marker reports whether a symbol names the beginning or end of a part of the code.
func marker(name string) bool {
	switch name {
	case "_text", "_stext", "_etext", "_sinittext", "_einittext":
		return true
	}
	return strings.HasPrefix(name, "__") &&
		(strings.HasSuffix(name, "text_start") || strings.HasSuffix(name, "text_end"))
}

// Funcs lists the functions whose name matches pattern: without the compiler's suffix (f.isra.0 is f), or with it.
// Pieces of functions (f.part.0, f.cold) match by their full name only. Wildcards give what can be probed
// at all: not the code that is only there while the kernel starts. One address is listed once.
func (im *Image) Funcs(pattern string) ([]*debuginfo.Func, error) {
	syms, err := im.symbols()
	if err != nil {
		return nil, im.noSymbols(err)
	}
	var found []*function
	seen := map[uint64]bool{}
	add := func(s Symbol, at int) {
		if s.Addr != 0 && seen[s.Addr] {
			return
		}
		seen[s.Addr] = true
		found = append(found, im.function(syms, s, at))
	}
	if !strings.ContainsAny(pattern, `*?[\`) {
		at := 0
		for _, s := range syms.Named(pattern) {
			if im.mine(s) && s.Code() {
				add(s, at)
				at++
			}
		}
		if at == 0 && !strings.Contains(pattern, ".") {
			for _, s := range syms.prefixed(pattern + ".") {
				if base, suffix := cloneOf(s.Name); base == pattern && im.mine(s) && s.Code() && !fragment(suffix) {
					add(s, 0)
				}
			}
		}
	} else {
		lo, hi := im.textRange(syms)
		prefix := pattern[:strings.IndexAny(pattern, `*?[\`)]
		names := map[string]int{}
		syms.Each(func(s Symbol) bool {
			if !strings.HasPrefix(s.Name, prefix) || !s.Code() || !im.mine(s) || padding(s.Name) ||
				trampoline(s.Name) || marker(s.Name) || s.Addr != 0 && (s.Addr < lo || s.Addr >= hi) {
				return true
			}
			base, suffix := cloneOf(s.Name)
			ok := false
			if !fragment(suffix) {
				ok, _ = path.Match(pattern, base)
			}
			if !ok {
				if ok, _ = path.Match(pattern, s.Name); ok && fragment(suffix) {
					ok = strings.Contains(pattern, ".")
				}
			}
			if ok {
				add(s, names[s.Name])
				names[s.Name]++
			}
			return true
		})
	}
	if len(found) == 0 {
		nf := &debuginfo.NotFoundError{What: "function", Name: pattern, Near: im.NearNames(pattern)}
		if im.module == "" && !strings.ContainsAny(pattern, `*?[\`) {
			all, err := im.k.Symbols()
			if err != nil {
				return nil, nf
			}
			for _, s := range all.Named(pattern) {
				if s.Module != "" && s.Code() && !generated(s.Module) {
					nf.Detail = fmt.Sprintf(`it is one of module %s: module("%s").function("%s")`, s.Module, s.Module,
						pattern)
				}
			}
		}
		return nil, nf
	}
	slices.SortStableFunc(found, func(a, b *function) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Entry, b.Entry))
	})
	out := make([]*debuginfo.Func, len(found))
	for i, f := range found {
		out[i] = &f.Func
	}
	return out, nil
}

func (im *Image) mine(s Symbol) bool { return s.Module == im.module }

// symbols are those that im has: for the kernel itself without those of modules.
func (im *Image) symbols() (*Symbols, error) {
	if im.module == "" {
		return im.k.OwnSymbols()
	}
	return im.k.Symbols()
}

func (im *Image) noSymbols(err error) error {
	return fmt.Errorf("the kernel's symbols cannot be read: %w", err)
}

// textRange is where the kernel's code lies, as long as it runs; everything for modules and hidden addresses.
func (im *Image) textRange(syms *Symbols) (lo, hi uint64) {
	if im.module != "" || syms.Hidden() {
		return 0, ^uint64(0)
	}
	if syms.hi == 0 {
		if syms.lo, syms.hi = syms.Addr("_stext"), syms.Addr("_etext"); syms.lo == 0 || syms.hi <= syms.lo {
			syms.lo, syms.hi = 0, ^uint64(0)
		}
	}
	return syms.lo, syms.hi
}

// function makes the function of a symbol, or gives the one made before.
func (im *Image) function(syms *Symbols, s Symbol, at int) *function {
	if s.Addr != 0 {
		at = 0
	}
	key := symKey{s.Addr, s.Name, at}
	if f := im.funcs[key]; f != nil {
		return f
	}
	base, suffix := cloneOf(s.Name)
	f := &function{sym: s, Func: debuginfo.Func{Name: base, Entry: s.Addr, End: s.Addr, ABI: debuginfo.SysV,
		External: s.Global()}}
	if suffix != "" {
		f.Symbol = s.Name
	}
	im.funcs[key] = f
	im.byPtr[&f.Func] = f
	return f
}

// end sets where f ends: at the next symbol.
func (im *Image) end(syms *Symbols, f *function) {
	if f.End == f.Entry && f.Entry != 0 {
		if _, end := syms.At(f.Entry); end != 0 {
			f.End = end
		}
	}
}

// FuncAt finds the function that covers pc, nil if there is none or addresses are hidden.
func (im *Image) FuncAt(pc uint64) *debuginfo.Func {
	syms, err := im.symbols()
	if err != nil {
		return nil
	}
	at, _ := syms.At(pc)
	lo, hi := im.textRange(syms)
	if pc < lo || pc >= hi {
		return nil
	}
	for _, s := range at {
		if im.mine(s) && s.Code() && !padding(s.Name) && !marker(s.Name) {
			f := im.function(syms, s, 0)
			im.end(syms, f)
			return &f.Func
		}
	}
	return nil
}

// NearNames gives names of functions close to name.
func (im *Image) NearNames(name string) []string {
	if strings.ContainsAny(name, `*?[\`) {
		return nil
	}
	syms, err := im.symbols()
	if err != nil {
		return nil
	}
	var all []string
	syms.Each(func(s Symbol) bool {
		if im.mine(s) && s.Code() && diff(len(s.Name), len(name)) <= 3 && !padding(s.Name) {
			all = append(all, s.Name)
		}
		return true
	})
	slices.Sort(all)
	return diag.Nearest(name, slices.Compact(all), 3)
}

// EntrySite is the function's first instruction, where all arguments are where the caller put them. The kernel moves
// a probe there behind an endbr64, and to the call of ftrace, where it costs no trap.
func (im *Image) EntrySite(f *debuginfo.Func) (debuginfo.Site, error) {
	if im.byPtr[f] == nil {
		return debuginfo.Site{}, errors.New("no function of the kernel")
	}
	s := debuginfo.Site{PC: f.Entry, Kind: debuginfo.AtEntry, Func: f}
	s.CFA, s.Return = debuginfo.Called(im.Machine(), true)
	return s, nil
}

// ReturnSite is behind the return of f, as the kernel's return probe reports it: the stack pointer is what it was
// before the call, and the program counter is the probe's own.
func (im *Image) ReturnSite(f *debuginfo.Func) debuginfo.Site {
	cfa, _ := debuginfo.Returned(im.Machine())
	return debuginfo.Site{PC: f.Entry, Kind: debuginfo.AfterRet, Func: f, CFA: cfa}
}

// ReturnSites is empty: the kernel's return probe is used.
func (im *Image) ReturnSites(*debuginfo.Func) ([]debuginfo.Site, error) { return nil, nil }

// SiteAt is a site within a function. Whether an instruction begins there the kernel finds out when the
// probe is registered.
func (im *Image) SiteAt(pc uint64) (debuginfo.Site, error) {
	if syms, err := im.symbols(); err != nil {
		return debuginfo.Site{}, im.noSymbols(err)
	} else if syms.Hidden() {
		return debuginfo.Site{}, errHidden
	}
	f := im.FuncAt(pc)
	if f == nil {
		return debuginfo.Site{}, fmt.Errorf("no function of %s covers address %#x", im.What(), pc)
	}
	if pc == f.Entry {
		return im.EntrySite(f)
	}
	return debuginfo.Site{PC: pc, Kind: debuginfo.AtLine, Func: f}, nil
}

// errHidden is the reason why there are no addresses.
var errHidden = errors.New("the kernel does not tell the addresses of its symbols to this user")

// OffsetSite is the site off bytes into f.
func (im *Image) OffsetSite(f *debuginfo.Func, off uint64) (debuginfo.Site, error) {
	if off == 0 {
		return im.EntrySite(f)
	}
	fn := im.byPtr[f]
	if fn == nil {
		return debuginfo.Site{}, errors.New("no function of the kernel")
	}
	if syms, err := im.symbols(); err == nil && f.Entry != 0 {
		if im.end(syms, fn); off >= f.End-f.Entry {
			return debuginfo.Site{}, fmt.Errorf("%s has %d bytes", f.Name, f.End-f.Entry)
		}
	}
	return debuginfo.Site{PC: f.Entry + off, Kind: debuginfo.AtLine, Func: f}, nil
}

// Place names s as the kernel registers probes: by a symbol that it finds exactly once ("vfs_read", "mod:func", or
// "_stext" where the function's name is not its alone) and the bytes from there on.
func (im *Image) Place(s debuginfo.Site) (symbol string, offset uint64, err error) {
	f := im.byPtr[s.Func]
	if f == nil {
		return "", 0, errors.New("no function of the kernel")
	}
	syms, err := im.symbols()
	if err != nil {
		return "", 0, im.noSymbols(err)
	}
	same := 0
	for _, x := range syms.Named(f.sym.Name) {
		if im.mine(x) {
			same++
		}
	}
	prefix := ""
	if im.module != "" {
		prefix = im.module + ":"
	}
	off := s.PC - f.Entry
	if same <= 1 {
		return prefix + f.sym.Name, off, nil
	}
	if syms.Hidden() {
		return "", 0, fmt.Errorf("%d functions are called %s, which only their addresses tell apart, and %w", same,
			f.sym.Name, errHidden)
	}
	anchor := syms.anchor(im.module, s.PC)
	if anchor.Name == "" {
		return "", 0, fmt.Errorf("%d functions are called %s, and no other symbol of %s tells where this one is", same,
			f.sym.Name, im.What())
	}
	return prefix + anchor.Name, s.PC - anchor.Addr, nil
}

// FileOffset gives the address itself: there is no file.
func (im *Image) FileOffset(pc uint64) (uint64, error) { return pc, nil }

// LoadBase is 0: addresses are those at run time.
func (im *Image) LoadBase() uint64 { return 0 }

// Goroutine is nil.
func (im *Image) Goroutine(debuginfo.Site) *debuginfo.Goroutine { return nil }

// Lookup names the code at addr.
func (im *Image) Lookup(addr uint64) []debuginfo.Frame {
	f := im.FuncAt(addr)
	if f == nil {
		return nil
	}
	return []debuginfo.Frame{{Func: f.Name, Off: addr - f.Entry}}
}

// Close does nothing: the kernel's types stay as long as the process.
func (im *Image) Close() error { return nil }

// Type finds a type of the module or the kernel; see Scope.Type.
func (im *Image) Type(name string) (*types.Ctype, error) {
	if im.scope == nil {
		return nil, im.err
	}
	return im.scope.Type(name)
}

// Enum implements debuginfo.Enums.
func (im *Image) Enum(constant string) (*types.Ctype, error) {
	if im.scope == nil {
		return nil, im.err
	}
	_, t, ok := im.scope.Enumerator(constant)
	if !ok {
		return nil, &debuginfo.NotFoundError{What: "enumerator", Name: constant}
	}
	return t, nil
}
