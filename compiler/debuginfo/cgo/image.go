// Package cgo is the debuginfo.Image of Go programs and Go libraries that may have C code in them, put there by cgo:
// into a program by either linker, or as the Go part of a C program (-buildmode=c-archive, c-shared).
//
// In: a godwarf.Image. Out: the same for Go code, and for C code an image of its own (Other) that lies in the same
// file. Each function is in one of the two, so everything that hangs on the image of a site (calling convention, names
// and types of variables, how returns are probed, which entry belongs to which return) is right by that. What has no
// site goes to both: addresses to the one that has their code, types and global variables first to the language that
// asks.
package cgo

import (
	"errors"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cdwarf"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/godwarf"
	"github.com/gostap/gostap/compiler/types"
)

// Image is a Go program, perhaps with C in it. Its functions are those of Go.
type Image struct {
	*godwarf.Image
	looked bool
	c      *Part // nil as long as nobody has asked, and where there is no C
}

var (
	_ debuginfo.Mixed      = (*Image)(nil)
	_ debuginfo.Brief      = (*Image)(nil)
	_ debuginfo.Enums      = (*Image)(nil)
	_ debuginfo.Constants  = (*Image)(nil)
	_ debuginfo.RegUser    = (*Image)(nil)
	_ debuginfo.Identified = (*Image)(nil)
	_ debuginfo.Image      = (*Part)(nil)
	_ debuginfo.Enums      = (*Part)(nil)
	_ debuginfo.RegUser    = (*Part)(nil)
	_ debuginfo.Identified = (*Part)(nil)
)

// New makes an Image of f, which it closes with itself.
func New(f *elffile.File) (*Image, error) {
	im, err := godwarf.New(f)
	if err != nil {
		return nil, err
	}
	return &Image{Image: im}, nil
}

// Other is the C code, nil if there is none.
func (im *Image) Other() debuginfo.Image {
	if c := im.part(); c != nil {
		return c
	}
	return nil
}

func (im *Image) part() *Part {
	if !im.looked {
		im.looked = true
		if im.Mixed() {
			d, err := im.DWARF()
			im.c = &Part{Image: cdwarf.NewBeside(im.File(), d, err, im.GoCode), in: im}
		}
	}
	return im.c
}

// Lookup names the code at addr.
func (im *Image) Lookup(addr uint64) []debuginfo.Frame {
	if c := im.part(); c != nil && !im.GoCode(addr) {
		if fs := c.Image.Lookup(addr); fs != nil {
			return fs
		}
	}
	return im.Image.Lookup(addr)
}

// Global finds a variable of a Go package, else one of the C code.
func (im *Image) Global(name string) (*debuginfo.Var, error) {
	v, err := im.Image.Global(name)
	if c := im.part(); c != nil && missing(err) {
		if v, err := c.Image.Global(name); err == nil || !missing(err) {
			return v, err
		}
	}
	return v, err
}

// Enum finds an enumeration of the C code: Go's constants have no type in DWARF.
func (im *Image) Enum(constant string) (*types.Ctype, error) {
	val, err := godwarf.Constant(im.Image, constant)
	if err == nil {
		t := &types.Ctype{Kind: types.Enum, Name: constant, Size: 8, Go: true}
		t.SetEnums([]types.Enumerator{{Name: constant, Val: val}})
		return t, nil
	}
	if c := im.part(); c != nil {
		if t, err := c.Enum(constant); err == nil {
			return t, nil
		}
	}
	return nil, err
}

// Constants implements debuginfo.Constants.
func (im *Image) Constants(t *types.Ctype) ([]types.Enumerator, error) {
	return godwarf.ConstantsOf(im.Image, t)
}

// EachCopy implements debuginfo.Brief.
func (im *Image) EachCopy(pattern string, f func(*debuginfo.InlineSite)) error {
	return godwarf.EachCopy(im.Image, pattern, f)
}

// Enters implements debuginfo.Brief.
func (im *Image) Enters(f *debuginfo.Func) (debuginfo.Site, error) {
	return godwarf.Enters(im.Image, f)
}

// Part is the C code of a Go program.
type Part struct {
	*cdwarf.Image
	in *Image
}

// HasTypes reports whether there is debug information of the C code.
func (p *Part) HasTypes() bool { return p.Described() }

// NoTypes says why there is none.
func (p *Part) NoTypes() string {
	if why := p.Image.NoTypes(); why != "" || p.Described() {
		return why
	}
	return "its C code has no debug information: it was built without -g, or linked in by Go's own linker, which " +
		"leaves that out (-ldflags=-linkmode=external keeps it)"
}

// Goroutine tells which goroutine has called the C code. The thread's runtime.g is that of its own stack there, on
// which C runs; its M knows the goroutine, as long as it waits for a call of C.
func (p *Part) Goroutine(s debuginfo.Site) *debuginfo.Goroutine { return p.in.InC() }

// Whole is the image of the whole file, which knows the callers of both languages' code.
func (p *Part) Whole() debuginfo.Image { return p.in }

// Lookup names the code at addr, be it C or Go.
func (p *Part) Lookup(addr uint64) []debuginfo.Frame { return p.in.Lookup(addr) }

// Type finds a type of C, or one of Go by the name with its package.
func (p *Part) Type(name string) (*types.Ctype, error) {
	t, err := p.Image.Type(name)
	if missing(err) && strings.Contains(name, ".") {
		if t, err := p.in.Image.Type(name); err == nil || !missing(err) {
			return t, err
		}
	}
	return t, err
}

// Global finds a variable of the C code, or one of Go by the name with its package.
func (p *Part) Global(name string) (*debuginfo.Var, error) {
	v, err := p.Image.Global(name)
	if missing(err) && strings.Contains(name, ".") {
		if v, err := p.in.Image.Global(name); err == nil || !missing(err) {
			return v, err
		}
	}
	return v, err
}

func missing(err error) bool {
	var nf *debuginfo.NotFoundError
	return errors.As(err, &nf)
}
