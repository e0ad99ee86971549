// Package debuginfo says what the compiler wants to know about one traced binary,
// and leaves the finding to readers: godwarf for Go programs, cdwarf for C.
//
// In: a path. Out: functions, lines, probe sites and, at a pc, the places of
// variables. All addresses are the file's own virtual addresses (as in its program
// headers); FileOffset turns them into what uprobes take.
package debuginfo

import (
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/gotype"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/types"
)

// Lang is the language a binary was written in, as far as calling conventions go.
type Lang uint8

// The languages.
const (
	C Lang = iota
	Go
)

func (l Lang) String() string {
	if l == Go {
		return "Go"
	}
	return "C"
}

// ABI is the calling convention of one function.
type ABI uint8

// The conventions.
const (
	SysV          ABI = iota // C on amd64
	GoABIInternal            // Go's register convention (1.17 and later on amd64)
	GoABI0                   // Go's stack convention: assembly, and everything before 1.17
)

func (a ABI) String() string { return [...]string{"SysV", "ABIInternal", "ABI0"}[a] }

// Image is the debug information of one binary. An Image is safe for use by one
// goroutine at a time.
type Image interface {
	// Path is the file's path after links are resolved.
	Path() string
	// BuildID identifies the contents: hex of the GNU note, else Go's build ID, else "".
	BuildID() string
	Lang() Lang
	// Machine is the one that its code is for.
	Machine() *machine.Machine
	// HasTypes is false when the file has no DWARF: names and pcs work, variables do not.
	HasTypes() bool
	// NoTypes says in words why HasTypes is false ("stripped with -ldflags=-w", ...).
	NoTypes() string

	// Funcs lists the functions whose name matches pattern (a glob of * ? [..], or an exact
	// name), sorted by name then entry. Compiler-made wrappers and trampolines are left out unless
	// named exactly. Inlined copies are not in it; see Inlined.
	Funcs(pattern string) ([]*Func, error)
	// FuncAt finds the function that covers pc, nil if none.
	FuncAt(pc uint64) *Func
	// NearNames gives names close to name, for messages.
	NearNames(name string) []string
	// Inlined lists the inlined copies of functions whose name matches pattern.
	Inlined(pattern string) ([]*InlineSite, error)

	// EntrySite is the pc to probe for "f is called": fires exactly once a call, with all
	// arguments intact (Go: the PUSHQ BP behind the stack check).
	EntrySite(f *Func) (Site, error)
	// ReturnSites are the pcs to probe for "f returns": every RET and every jump out. The error is a
	// *NoReturnError for a function that has neither. In C code of programs that unwind no stacks the kernel's return
	// probe does as well. Empty with a nil error means that it is the only way (the kernel's functions).
	ReturnSites(f *Func) ([]Site, error)
	// LineSites resolves file:line within the functions matching pattern ("*" for all). file is a
	// path suffix at a separator. line 0 with a span means every line (":*").
	LineSites(q LineQuery) ([]Site, error)
	// SiteAt classifies an arbitrary pc, which must begin an instruction.
	SiteAt(pc uint64) (Site, error)

	// Vars lists what has a name at site: parameters, results, locals in scope. Where a variable
	// cannot be read there, Var.Err says why.
	Vars(s Site) ([]*Var, error)
	// Var finds one by name. At a return site, results are available and parameters give
	// *NotLiveError (their value at entry is what @entry is for). "~r0" names unnamed Go results.
	Var(s Site, name string) (*Var, error)
	// Results are the results of the function at a return site, in order. For C one or none.
	Results(s Site) ([]*Var, error)
	// Global finds a global or static variable ("name", "pkg.name", "name@unit").
	Global(name string) (*Var, error)
	// Type finds a named type ("struct foo", "main.Server").
	Type(name string) (*types.Ctype, error)

	// Goroutine describes how to find the current goroutine at s; nil for C, unless that is part of a Go program.
	// Its G is empty where that is not known (assembly in a library).
	Goroutine(s Site) *Goroutine
	// FileOffset turns a virtual address into an offset in the file.
	FileOffset(pc uint64) (uint64, error)
	// Lookup names the code at addr for backtraces: innermost (inlined) frame first. For a return
	// address pass addr-1. nil if unknown.
	Lookup(addr uint64) []Frame
	// LoadBase: the lowest virtual address of the file's loadable segments, rounded down to a
	// page; run-time addresses are file addresses + (mapping base - LoadBase).
	LoadBase() uint64
	Close() error
}

// Func is one out-of-line function.
type Func struct {
	Name string // as the language's users write it: "main.(*T).M", "traceme"
	// Symbol is the linker's name where it differs ("math/big.addVV.abi0").
	Symbol     string
	Entry, End uint64
	File       string // of the declaration, absolute as recorded
	Line       int
	ABI        ABI
	// External says the symbol is visible outside its file (C) or exported by name (Go).
	External bool
	// Wrapper is the compiler's name of the code, where that is not the function's own but a wrapper that the
	// function's body was inlined into; Entry and End are those of the wrapper then. Its arguments are elsewhere
	// than those of the function.
	Wrapper string
	// Twins names other functions that have this code too, since they do the same (identical code folding).
	Twins string
	// ID is for the reader's own use (an index or DIE offset).
	ID uint64
}

// InlineSite is one inlined copy of a function.
type InlineSite struct {
	Func     *Func // of the inlined function; Entry may be 0 when it has no out-of-line copy
	In       *Func // the function that contains the copy
	CallFile string
	CallLine int
	Site     Site
}

// Insn says how the kernel deals with the instruction under a probe.
type Insn = insn.Class

// The classes, cheapest first.
const (
	InsnUnknown = insn.ClassUnknown
	InsnNop5    = insn.ClassNop5
	InsnNop     = insn.ClassNop
	InsnPush    = insn.ClassPush
	InsnJump    = insn.ClassJump
	InsnStepped = insn.ClassStepped
	InsnRet     = insn.ClassRet
	InsnRefused = insn.ClassRefused
)

// SiteKind says what a Site is in its function.
type SiteKind uint8

// The kinds of sites.
const (
	AtEntry  SiteKind = iota
	AtReturn          // at a RET: results are in place
	AtTail            // at a jump to another function: the result does not exist yet
	AtLine            // at a statement
	AtInline          // at the first instruction of an inlined copy
	AfterRet          // C: in the caller's frame, reached by the kernel's return probe
)

// Site is one pc that can be probed.
type Site struct {
	PC   uint64
	Kind SiteKind
	Func *Func
	File string // of the line at PC
	Line int
	Insn Insn
	// Inline is set for AtInline sites and for lines inside an inlined copy.
	Inline *InlineSite
	// CFA computes the canonical frame address (the stack pointer before the call) at PC.
	CFA loc.Prog
	// Return computes the return address at PC.
	Return loc.Prog
	// Guard are values at PC that must all differ from 0 for the hit to be one of what was asked for: pointers that
	// the code there goes through on its way to it.
	Guard []loc.Prog
}

// LineQuery is the argument of LineSites: "func@file:line".
type LineQuery struct {
	Func    string // glob, "*" for any
	File    string // path suffix or glob; "" takes the function's own file
	Line    int
	To      int  // last line of a range, 0 if none
	All     bool // ":*": every line
	Rel     bool // ":+n": Line counts from the function's declaration
	Nearest bool // take the next line that has code
}

// VarKind says what a Var is.
type VarKind uint8

// The kinds of variables.
const (
	Param VarKind = iota
	Result
	Local
	GlobalVar
	Captured // a Go closure's captured variable
)

// Var is a variable, with its place at one pc.
type Var struct {
	Name  string
	Kind  VarKind
	Type  *types.Ctype
	Line  int
	Place loc.Place
	// Object marks a result that is an object of C++ in its caller's memory whose copying or end is code.
	Object bool
	// Err is non-nil when the variable cannot be read at this pc: *NotLiveError usually.
	Err error
}

// Goroutine gives the pieces of runtime.g that tracing needs. All addresses are computed at the site.
type Goroutine struct {
	G loc.Prog // pointer to the current runtime.g
	// Byte offsets in runtime.g, -1 if unknown.
	GoID, StackLo, StackHi, ParentGoID, GoPC, StartPC, M, Status, WaitReason int64
	// SchedPC, SchedSP and SchedBP say where it goes on once the thread is back from another stack.
	SchedPC, SchedSP, SchedBP int64
	// System says that the site is C code, where G is the runtime.g of the stack on which the thread runs C. The
	// goroutine that called it is g.m.curg while g.m.ncgo, how many calls of C are under way, is above 0; else Go did
	// not call it.
	System bool
	// CurG and GSignal (pointers) and NCgo (an int32) are byte offsets in runtime.m, -1 if unknown. Where System is set
	// and G is not empty they are known.
	CurG, GSignal, NCgo int64
}

// RunTimeTypes are the types that a Go program has for itself, which its interfaces point to. They are there without
// DWARF.
type RunTimeTypes struct {
	// Minor is the minor version of the Go release.
	Minor int
	// Swiss: maps are the tables of Go 1.24 and later.
	Swiss bool
	// Relocated: the loader may put the program elsewhere than its addresses say.
	Relocated bool
	// First is the file address of the first type.
	First uint64
	Types *gotype.Types
	// Text is the file address from which methods are counted.
	Text uint64
	// Contexts is what package gocontexts has found; nil as long as nobody asked.
	Contexts *loc.Contexts
}

// RunTimeTyped is what images of Go programs have.
type RunTimeTyped interface {
	// RunTimeTypes is nil where it is not known how those of the program's release lie.
	RunTimeTypes() *RunTimeTypes
}

// RunTimeTypesOf gives the types that the program of img has for itself; nil if it is no Go program, or where it is not
// known how those of its release lie.
func RunTimeTypesOf(img Image) *RunTimeTypes {
	if r, ok := img.(RunTimeTyped); ok {
		return r.RunTimeTypes()
	}
	return nil
}

// Placed is what images have that know which data of the program lies where.
type Placed interface {
	// DataAt gives the linker's name of the data that covers a file address, and how far into it that is; "" if there
	// is none.
	DataAt(addr uint64) (symbol string, off uint64)
	// Relocated: the loader may put the program elsewhere than its addresses say.
	Relocated() bool
}

// Mixed is what images of programs have that may hold code of two languages: the functions, lines and sites of the
// image are those of Go.
type Mixed interface {
	// Other is the C code of the same file, an image of its own that needs no closing; nil if there is none.
	Other() Image
}

// Frame is one line of a backtrace.
type Frame struct {
	Func   string
	File   string
	Line   int
	Off    uint64 // from the function's entry
	Inline bool   // this frame is inlined into the next
}

// NotFoundError says that a name does not exist; Near are the ones that come close.
type NotFoundError struct {
	What string // "function", "variable", "file", "line", "type"
	Name string
	Near []string
	// Detail adds to the message ("inlined everywhere; see .inline").
	Detail string
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("no %s %q", e.What, e.Name)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// NotLiveError says that a variable exists but has no value at the pc.
type NotLiveError struct {
	Name   string
	PC     uint64
	Reason string // "optimised out here", "in a vector register", ...
	// Lines where it can be read in the same function.
	Lines []int
	// Given is a call that gave it its value, nil if none is known.
	Given *Given
	// Untyped: it has a place, but only DWARF, which there is none of, would tell its type.
	Untyped bool
}

// Given is a call in a line of the function Caller: a variable gets result number Result of the Results of Callee.
type Given struct {
	Line            int
	Caller, Callee  string
	Result, Results int
	// Only: it is the only assignment that the variable can have its value from.
	Only bool
}

func (e *NotLiveError) Error() string {
	return fmt.Sprintf("variable %q is not available here: %s", e.Name, e.Reason)
}

// NoReturnError is ReturnSites' answer for a function without a return instruction: it
// ends in a panic, ends the program, or runs for ever.
type NoReturnError struct{ Name string }

func (e *NoReturnError) Error() string {
	return fmt.Sprintf("function %s never returns: it has no return instruction", e.Name)
}

// ErrNotELF, ErrArch, ErrNoTypes and ErrUndescribed are causes that callers tell apart.
var (
	ErrNotELF  = errors.New("not an ELF executable")
	ErrArch    = errors.New("for another machine")
	ErrNoTypes = errors.New("no DWARF debug information")
	// ErrUndescribed: the debug information is there, and has nothing (or nothing that is certain) about this function.
	ErrUndescribed = errors.New("the function is not described")
)

// Enums is what images have that know the enumeration types of C; others have none.
type Enums interface {
	// Enum finds the enumeration type with a constant of that name. The error is a *NotFoundError if there is none.
	Enum(constant string) (*types.Ctype, error)
}

// Constants is what images have whose types of whole numbers have named constants that are no enumerations: Go's.
type Constants interface {
	// Constants are those of a type that its package declares, in the order in which it does.
	Constants(t *types.Ctype) ([]types.Enumerator, error)
}

// Mark is a statically defined mark (USDT): an instruction that the program's author gave a name, with arguments.
type Mark struct {
	Provider, Name string
	PC             uint64
	// Semaphore is the address of a counter of 16 bits that the program tests to see whether the mark is in use, 0 for
	// none.
	Semaphore uint64
	// Text is how the note describes the arguments ("8@%rbx -4@-20(%rbp)"), Args their places at PC. They are named
	// arg1, arg2, ...
	Text string
	Args []*Var
}

// Marks is what images have that know the static marks of a program.
type Marks interface {
	// Marks lists them in the order of the file. A name may stand there many times.
	Marks() ([]Mark, error)
}

// Call is a place in a function from which another function is entered.
type Call struct {
	// PC is the call instruction; Ret is the one behind it, to which the called function returns. Both are file
	// addresses.
	PC, Ret uint64
	// Target is where the called function begins in this file, 0 if that is not known or it is in another file.
	Target uint64
	// Name is the symbol of a function that is called through the procedure linkage table, "" for others.
	Name string
	// Jump says that it is a jump out of the function (a tail call): the called one returns to this one's caller.
	Jump bool
}

// Calls is what images have that know which functions call which. They read the code: calls whose target neither the
// instruction nor debug information tells have Target 0 and no Name.
type Calls interface {
	// Calls lists the calls that the code of f makes, those of functions inlined into it included, by address.
	Calls(f *Func) ([]Call, error)
	// Copies lists the inlined copies in the code of f, by address.
	Copies(f *Func) ([]Copy, error)
	// FramePointer computes, at pc, the frame pointer register (rbp) that the caller of the function there has. It is
	// empty where frames do not depend on it.
	FramePointer(pc uint64) (loc.Prog, error)
	// Address computes the run-time address of the file address pc.
	Address(pc uint64) loc.Prog
}

// Unwinder is what images have that know how the callers of their code are found.
type Unwinder interface {
	// Unwind gives the rules at pc. The error says that it is not known.
	Unwind(pc uint64) (*cfi.Rules, error)
}

// Copy is an inlined copy of a function with what is around it.
type Copy struct {
	*InlineSite
	// Into are the functions that it is inlined into, innermost first, without the one that has the code.
	Into []string
}

// Label is a label of the source that has a place in the code.
type Label struct {
	Name string
	// Site is an AtLine; its Inline is set for a label of an inlined copy, which is then that copy.
	Site Site
}

// Labels is what images have that know the labels of functions.
type Labels interface {
	// Labels lists the labels of functions whose name matches pattern, in the functions themselves and in their inlined
	// copies, by address. The error is a *NotFoundError if there is no such function, ErrNoTypes without debug
	// information.
	Labels(pattern string) ([]Label, error)
}

// Stub is an entry of the procedure linkage table: code of a program that leads to a function of a library.
type Stub struct {
	Name string // of the function, without version
	PC   uint64
}

// Linkage is what images have that know the procedure linkage table of a program.
type Linkage interface {
	// Stubs lists them by table and address, each function once.
	Stubs() ([]Stub, error)
}
