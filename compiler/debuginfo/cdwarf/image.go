// Package cdwarf is the debuginfo.Image of C programs: executables and libraries of gcc and
// clang, at any optimisation level, relocated or not.
//
// In: an elffile.File. Out: functions, probe sites, and the places of variables and results at
// them. A file without DWARF still gives the functions of its symbol tables, without variables and
// lines.
//
// Where a function is probed, and what its parameters are there, is explained at
// EntrySite. Results come from the calling convention (System V psABI for amd64, 3.2.3), since
// DWARF says nothing about them.
package cdwarf

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
)

// Image implements debuginfo.Image.
type Image struct {
	f     *elffile.File
	m     *machine.Machine
	first elffile.Frame // at the first instruction of every function
	d     *dw.Data      // nil without DWARF
	types *dwtype.Types
	noDW  error // why d is nil
	funcs map[key]*function
	byPtr map[*debuginfo.Func]*function
	inl   map[dwarf.Offset]*debuginfo.InlineSite
	// other says which code is not this image's; nil where all of it is. See NewBeside.
	other func(pc uint64) bool
	inC   []*dw.Unit          // see units; nil as long as nobody has asked
	syms  elffile.SymbolTable // of the code of this image
	names map[string]string   // by symbol, see plain
	folds map[string]bool     // by symbol, see folded
	// callers are the calls in the code of a unit by where they lead; see callersIn.
	callers map[*dw.Unit]map[uint64][]uint64
}

var (
	_ debuginfo.Image      = (*Image)(nil)
	_ debuginfo.Identified = (*Image)(nil)
)

// Trim gives back the memory that holds what was read of the file.
func (im *Image) Trim() { im.f.Trim() }

// Open opens the program or library at path.
func Open(path string) (*Image, error) {
	f, err := elffile.Open(path)
	if err != nil {
		return nil, err
	}
	im, err := New(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return im, nil
}

// OpenKernel opens the kernel's vmlinux. Static addresses are relative to where the kernel was loaded, as in a PIE.
func OpenKernel(path string) (*Image, error) {
	im, err := Open(path)
	if err == nil {
		im.f.Relocate()
	}
	return im, err
}

// Symbol gives the address of the symbol with this name.
func (im *Image) Symbol(name string) (addr uint64, ok bool) {
	for _, s := range im.f.SymbolsNamed(name) {
		return s.Addr, true
	}
	return 0, false
}

// DataAt implements debuginfo.Placed.
func (im *Image) DataAt(addr uint64) (symbol string, off uint64) {
	s, ok := im.f.ObjectAt(addr)
	if !ok {
		return "", 0
	}
	return s.Name, addr - s.Addr
}

// Relocated implements debuginfo.Placed.
func (im *Image) Relocated() bool { return im.f.Relocated() }

// New makes an Image of f, which it closes with itself. Damaged debug information is an error;
// none at all is not.
func New(f *elffile.File) (*Image, error) {
	im := &Image{
		f: f, m: f.Machine(), first: entryFrame(f), funcs: map[key]*function{}, byPtr: map[*debuginfo.Func]*function{},
		inl: map[dwarf.Offset]*debuginfo.InlineSite{}, syms: f,
	}
	im.d, im.noDW = dw.Open(f)
	im.types = dwtype.Of(im.d)
	if im.noDW != nil && !errors.Is(im.noDW, debuginfo.ErrNoTypes) {
		return nil, im.noDW
	}
	return im, nil
}

// entryFrame is the frame at the first instruction of every function, which nobody can append to.
func entryFrame(f *elffile.File) elffile.Frame {
	fr := elffile.EntryFrame(f.Machine())
	for _, p := range []*loc.Prog{&fr.CFA, &fr.Return, &fr.FP} {
		p.Steps = slices.Clip(p.Steps)
	}
	return fr
}

// NewBeside makes an Image of the C code of a program that has code of another language too, which is the code that
// other says. d is the program's DWARF, or noDW why there is none to read: the functions have names all the same. The
// image does not close f.
func NewBeside(f *elffile.File, d *dw.Data, noDW error, other func(pc uint64) bool) *Image {
	im := &Image{
		f: f, m: f.Machine(), first: entryFrame(f), funcs: map[key]*function{}, byPtr: map[*debuginfo.Func]*function{},
		inl: map[dwarf.Offset]*debuginfo.InlineSite{}, other: other, noDW: noDW,
	}
	im.syms = elffile.NewPart(f, im.own)
	if noDW == nil {
		im.d, im.types = d, dwtype.Of(d)
	}
	return im
}

// own reports whether pc is code of this image.
func (im *Image) own(pc uint64) bool {
	return im.f.InText(pc) && (im.other == nil || !im.other(pc))
}

// units are the units of .debug_info that describe code of this image.
func (im *Image) units() ([]*dw.Unit, error) {
	units, err := im.d.AllUnits()
	if err != nil || im.other == nil {
		return units, err
	}
	if im.inC == nil {
		im.inC = slices.DeleteFunc(slices.Clone(units), func(u *dw.Unit) bool { return u.Lang() == dw.LangGo })
	}
	return im.inC, nil
}

// Described reports whether there is debug information of the image's own code.
func (im *Image) Described() bool {
	if im.d == nil {
		return false
	}
	units, err := im.units()
	return err == nil && len(units) > 0
}

// findFuncs looks through the units for functions by name, and for inlined copies of them.
func (im *Image) findFuncs(m matcher) ([]dw.FuncRef, []dw.InlineRef, error) {
	units, err := im.units()
	if err != nil {
		return nil, nil, err
	}
	return im.d.FindFuncsIn(units, func(name []byte) bool { return m.match(string(name)) })
}

// FileID identifies the file that was read.
func (im *Image) FileID() debuginfo.FileID { return im.f.FileID() }

// Changed is elffile.File.Changed.
func (im *Image) Changed() error { return im.f.Changed() }

// Path is the file's path after links are resolved.
func (im *Image) Path() string { return im.f.Path() }

// BuildID is the hex of the GNU note, "" if there is none.
func (im *Image) BuildID() string { return im.f.BuildID() }

// Machine is that of the file.
func (im *Image) Machine() *machine.Machine { return im.m }

// Lang is C.
func (im *Image) Lang() debuginfo.Lang { return debuginfo.C }

// HasTypes reports whether there is DWARF.
func (im *Image) HasTypes() bool { return im.d != nil }

// NoTypes says why there is no DWARF.
func (im *Image) NoTypes() string {
	if im.d != nil {
		return ""
	}
	if im.noDW != nil && !errors.Is(im.noDW, debuginfo.ErrNoTypes) {
		return im.noDW.Error()
	}
	if why := im.f.Unreadable(); why != "" {
		return why
	}
	s := "it was built without -g or has been stripped"
	if why := im.f.NoDebugFile(); why != "" {
		s += ", and " + why
	}
	return s
}

// noTypes is the error for questions that need DWARF.
func (im *Image) noTypes() error {
	return fmt.Errorf("%w: %s", debuginfo.ErrNoTypes, im.NoTypes())
}

// FileOffset turns a virtual address into an offset in the file.
func (im *Image) FileOffset(pc uint64) (uint64, error) { return im.f.FileOffset(pc) }

// LoadBase is the lowest address of the loadable segments, rounded down to a page.
func (im *Image) LoadBase() uint64 { return im.f.LoadBase() }

// Goroutine is nil: there are none in C.
func (im *Image) Goroutine(debuginfo.Site) *debuginfo.Goroutine { return nil }

// Close releases the file. Types that came from it stay, without what they have not loaded yet.
func (im *Image) Close() error {
	if im.other != nil {
		return nil
	}
	return im.f.Close()
}

// Type finds a type by the name that C gives it: "struct foo", "size_t", "struct foo *".
func (im *Image) Type(name string) (*types.Ctype, error) {
	if im.d == nil {
		return nil, im.noTypes()
	}
	if im.other == nil {
		return im.types.NamedType(name)
	}
	units, err := im.units()
	if err != nil {
		return nil, err
	}
	return im.types.NamedTypeIn(units, name)
}

// Enum implements debuginfo.Enums.
func (im *Image) Enum(constant string) (*types.Ctype, error) {
	if im.d == nil {
		return nil, im.noTypes()
	}
	return im.types.EnumWith(constant)
}

// Marks implements debuginfo.Marks.
func (im *Image) Marks() ([]debuginfo.Mark, error) { return im.f.Marks() }

// Stubs implements debuginfo.Linkage.
func (im *Image) Stubs() ([]debuginfo.Stub, error) { return im.f.Stubs() }
