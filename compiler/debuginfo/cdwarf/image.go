// Package cdwarf is the debuginfo.Image of C programs: executables and libraries of gcc and
// clang, at any optimisation level, relocated or not.
//
// In: a dw.File. Out: functions, probe sites, and the places of variables and results at
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

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/types"
)

// Image implements debuginfo.Image.
type Image struct {
	f     *dw.File
	d     *dw.Data // nil without DWARF
	noDW  error    // why d is nil
	funcs map[key]*function
	byPtr map[*debuginfo.Func]*function
	inl   map[dwarf.Offset]*debuginfo.InlineSite
}

var (
	_ debuginfo.Image      = (*Image)(nil)
	_ debuginfo.Identified = (*Image)(nil)
)

// Open opens the program or library at path.
func Open(path string) (*Image, error) {
	f, err := dw.OpenELF(path)
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

// New makes an Image of f, which it closes with itself. Damaged debug information is an error;
// none at all is not.
func New(f *dw.File) (*Image, error) {
	im := &Image{
		f: f, funcs: map[key]*function{}, byPtr: map[*debuginfo.Func]*function{},
		inl: map[dwarf.Offset]*debuginfo.InlineSite{},
	}
	im.d, im.noDW = f.Data()
	if im.noDW != nil && !errors.Is(im.noDW, debuginfo.ErrNoTypes) {
		return nil, im.noDW
	}
	return im, nil
}

// FileID identifies the file that was read.
func (im *Image) FileID() debuginfo.FileID { return im.f.FileID() }

// Path is the file's path after links are resolved.
func (im *Image) Path() string { return im.f.Path() }

// BuildID is the hex of the GNU note, "" if there is none.
func (im *Image) BuildID() string { return im.f.BuildID() }

// Lang is C.
func (im *Image) Lang() debuginfo.Lang { return debuginfo.C }

// HasTypes reports whether there is DWARF.
func (im *Image) HasTypes() bool { return im.d != nil }

// NoTypes says why there is no DWARF.
func (im *Image) NoTypes() string {
	if im.d != nil {
		return ""
	}
	s := "it was built without -g or has been stripped"
	if im.f.BuildID() != "" {
		s += ", and no debug file for its build ID is installed"
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
func (im *Image) Close() error { return im.f.Close() }

// Type finds a type by the name that C gives it: "struct foo", "size_t", "struct foo *".
func (im *Image) Type(name string) (*types.Ctype, error) {
	if im.d == nil {
		return nil, im.noTypes()
	}
	return im.d.NamedType(name)
}

// Enum implements debuginfo.Enums.
func (im *Image) Enum(constant string) (*types.Ctype, error) {
	if im.d == nil {
		return nil, im.noTypes()
	}
	return im.d.EnumWith(constant)
}

// Marks implements debuginfo.Marks.
func (im *Image) Marks() ([]debuginfo.Mark, error) { return im.f.Marks() }

// Stubs implements debuginfo.Linkage.
func (im *Image) Stubs() ([]debuginfo.Stub, error) { return im.f.Stubs() }
