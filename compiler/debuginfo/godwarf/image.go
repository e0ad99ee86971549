// Package godwarf reads the debug information of Go programs: it is the
// debuginfo.Image for them.
//
// In: an ELF file with a .gopclntab. Out: functions, probe sites, lines, inlined copies and
// backtrace frames from that table alone, which stripping leaves in place; variables, types and
// the fields of runtime.g from DWARF, of the one unit that the question is about, when first
// asked for.
//
// Three sources say where a value is, in this order: at a function's entry and at its returns the calling
// convention (goabi), checked against the argument shapes that the runtime keeps for
// its own traces; anywhere else the location lists of DWARF. What they do not give is refused with the reason.
package godwarf

import (
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/gobare"
	"github.com/gostap/gostap/compiler/debuginfo/goconsts"
	"github.com/gostap/gostap/compiler/debuginfo/gosource"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// Image is the debug information of one Go program. It implements debuginfo.Image.
type Image struct {
	f    *elffile.File
	m    *machine.Machine
	tab  *pclntab.Table
	bare *gobare.Teller // without DWARF
	// runTime is what RunTimeTypes gave.
	runTime *debuginfo.RunTimeTypes

	funcs   []*debuginfo.Func // by index in tab
	version string
	haveVer bool
	abi0    map[uint64]bool // entries of symbols named *.abi0
	regabi  int8            // arguments in registers: 1 yes, -1 no, 0 not yet known
	strange []int8          // by index in tab: 1 for functions that are not Go's, -1 for Go's, 0 not yet known

	data    *dw.Data
	types   *dwtype.Types // of data, and as long unset
	dataErr error
	dataOK  bool
	sigs    map[uint64]*signature // by entry
	rows    map[*dw.Unit][]dw.Row // by address
	g       *debuginfo.Goroutine  // offsets only
	ofM     *debuginfo.Goroutine  // those in runtime.m only
	copies  map[*debuginfo.InlineSite]copyID
	frames  map[int64][2]loc.Prog      // CFA and return address by the stack's depth: sites share them
	hostOf  int                        // the function of firsts - 1
	firsts  []string                   // the first file of each inlined call's own code in function hostOf
	spread  map[string]*debuginfo.Func // functions that there are inlined copies of only, by name

	jumps    jumps
	copiesOf *godwarf.Tree
	copiesAt map[uint64][]*godwarf.Tree

	effects *effects                  // of the function that a variable was looked for in last
	sources map[string]*gosource.File // by path, nil for those that are not at hand
	lists   bool                      // only location lists tell where variables are: what tests compare with

	stands []*stand // by index in tab: what wrappers stand for, onlyItself for other functions; nil not yet known

	constants *goconsts.Constants // unset as long as nobody has asked

	lookups int              // names looked for by namedFunc
	byName  map[string]int32 // functions by name, once there were many of those
	// byNameAt is what namedFunc said of names of inlined calls, by pclntab.Inlined.NameAt.
	byNameAt map[uint32]int32
	// ranges are the functions with loops over functions, once that was asked for.
	ranges map[string]bool
	// literals are the function literals by the function that they stand in, once that was asked for.
	literals map[string][]int
}

var _ debuginfo.Image = (*Image)(nil)

// Trim drops what is there for searches through the whole program only.
func (im *Image) Trim() {
	im.lookups, im.byName, im.byNameAt, im.literals, im.ranges = 0, nil, nil, nil, nil
	im.hostOf, im.firsts = 0, nil
	im.f.Trim()
}

// Is reports whether f is a Go program, by its section headers.
func Is(f *elffile.File) bool { return pclntab.Has(f.ELF()) }

// Open opens the Go program at path.
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

// New makes an Image of f, which it closes with itself.
func New(f *elffile.File) (im *Image, err error) {
	defer foreign.Guard(&err)()
	tab, err := pclntab.Open(f)
	if errors.Is(err, pclntab.ErrNone) {
		return nil, fmt.Errorf("%s: not a Go program: %w", f.Path(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path(), err)
	}
	return &Image{
		f: f, m: f.Machine(), tab: tab, funcs: make([]*debuginfo.Func, tab.Len()), sigs: map[uint64]*signature{},
		rows: map[*dw.Unit][]dw.Row{}, copies: map[*debuginfo.InlineSite]copyID{},
	}, nil
}

// Close unmaps the file. Types and places that came from the image must not be used afterwards.
func (im *Image) Close() error { return im.f.Close() }

// FileID tells which file was read, so that a replaced one is noticed before probes are put into it.
func (im *Image) FileID() debuginfo.FileID { return im.f.FileID() }

// Changed is elffile.File.Changed.
func (im *Image) Changed() error { return im.f.Changed() }

// Path is the file's path after links are resolved.
func (im *Image) Path() string { return im.f.Path() }

// BuildID is the GNU build ID in hex, else Go's, else "".
func (im *Image) BuildID() string { return im.f.BuildID() }

// Machine is that of the file.
func (im *Image) Machine() *machine.Machine { return im.m }

// Lang is Go.
func (im *Image) Lang() debuginfo.Lang { return debuginfo.Go }

// File is the underlying ELF file.
func (im *Image) File() *elffile.File { return im.f }

// LoadBase is the lowest loaded address, rounded down to a page.
func (im *Image) LoadBase() uint64 { return im.f.LoadBase() }

// FileOffset turns an address into an offset in the file.
func (im *Image) FileOffset(pc uint64) (uint64, error) { return im.f.FileOffset(pc) }

// HasTypes reports whether there is DWARF. It does not inflate it.
func (im *Image) HasTypes() bool {
	if im.f.HasSection(".debug_info") {
		return true
	}
	_, err := im.DWARF()
	return err == nil
}

// NoTypes says why there is no DWARF, "" if there is.
func (im *Image) NoTypes() string {
	if im.HasTypes() {
		return ""
	}
	if _, err := im.DWARF(); !errors.Is(err, debuginfo.ErrNoTypes) {
		return err.Error()
	}
	if im.f.HasSymtab() {
		return "built with -ldflags=-w, or strip -g was run on it: it has no DWARF debug information"
	}
	return "stripped (-ldflags=-s, or strip): it has no DWARF debug information"
}

// DWARF gives the debug information, and inflates what is compressed. The error wraps debuginfo.ErrNoTypes when
// there is none.
func (im *Image) DWARF() (*dw.Data, error) {
	if !im.dataOK {
		im.dataOK = true
		im.data, im.dataErr = dw.Open(im.f)
		im.types = dwtype.Of(im.data)
	}
	return im.data, im.dataErr
}

// NoVariablesError says that a binary has no descriptions of variables, and what can be used instead.
type NoVariablesError struct {
	Path   string
	Reason string
}

func (e *NoVariablesError) Error() string {
	return fmt.Sprintf("%s has no variables: %s; use int_arg(1), int_arg(2), ... for arguments in registers, or "+
		"build without -s and -w", e.Path, e.Reason)
}

func (e *NoVariablesError) Unwrap() error { return debuginfo.ErrNoTypes }

// variables is dwarf with an error for users.
func (im *Image) variables() (*dw.Data, error) {
	d, err := im.DWARF()
	if errors.Is(err, debuginfo.ErrNoTypes) {
		return nil, &NoVariablesError{im.Path(), im.NoTypes()}
	}
	return d, err
}

// code gives the instructions of function i, without padding.
func (im *Image) code(i int) ([]byte, error) {
	entry, end := im.tab.Entry(i), im.tab.CodeEnd(i)
	if end <= entry {
		return nil, fmt.Errorf("%s has no code", im.tab.Name(i))
	}
	b, err := im.f.Bytes(entry, int(end-entry))
	if err == nil && uint64(len(b)) < end-entry {
		err = fmt.Errorf("the code of %s is cut short", im.tab.Name(i))
	}
	return b, err
}

// insn classifies the instruction at pc.
func (im *Image) insn(pc uint64) debuginfo.Insn {
	b, err := im.f.Bytes(pc, 15)
	if err != nil {
		return debuginfo.InsnUnknown
	}
	in, err := insn.Decode(im.m.Code, b)
	if err != nil {
		return debuginfo.InsnUnknown
	}
	return in.Class()
}

// isMore recognises runtime.morestack and its variants, which stack checks call.
func (im *Image) isMore(pc uint64) bool {
	i := im.tab.Find(pc)
	if i < 0 || im.tab.Entry(i) != pc {
		return false
	}
	switch string(im.tab.NameBytes(i)) {
	case "runtime.morestack", "runtime.morestack_noctxt", "runtime.morestackc":
		return true
	}
	return false
}

// Marks implements debuginfo.Marks.
func (im *Image) Marks() ([]debuginfo.Mark, error) { return im.f.Marks() }

// Stubs implements debuginfo.Linkage.
func (im *Image) Stubs() ([]debuginfo.Stub, error) { return im.f.Stubs() }
