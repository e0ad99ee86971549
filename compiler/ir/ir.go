// Package ir is the program that every executor runs: three-address code in basic
// blocks over virtual registers (not SSA). Everything that has a meaning is explicit
// in it: string cuts, checks for division by zero, full maps, locks, the action
// budget, error exits. A back end only translates.
//
// In: built by compiler/internal/lower, or read back from its text form. Out: run by
// ir/interp, translated by backend-bpf and backend-kmod.
package ir

import (
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/regex"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
	"slices"
)

// Program is a whole script.
type Program struct {
	// Machine is the one that the program is for, nil for machine.Default.
	Machine *machine.Machine
	Globals []*Global
	Funcs   []*Func
	Probes  []*Probe
	Formats []*Format
	// formatAt finds a format by its text.
	formatAt map[string]int
	// Regexes are the patterns that OpMatch names.
	Regexes []*regex.Regex
	// Codes are the pieces of C that OpEmbed names; Prelude is C that goes in front of them.
	Codes   []*CCode
	Prelude []Prelude
	Limits  layout.Limits
	// Locks is the number of lock classes that OpLock names.
	Locks int
	// Files resolves positions for run-time errors; nil in programs read from text.
	Files *source.FileSet
}

// On is the machine that p is for; p may be nil.
func (p *Program) On() *machine.Machine {
	if p == nil || p.Machine == nil {
		return machine.Default
	}
	return p.Machine
}

// Global is a global variable: a scalar, an array, an aggregate or an array of aggregates.
type Global struct {
	Name string
	Pos  source.Pos
	// Type is that of the value: Long, String or Stats.
	Type types.Type
	// Cap is the most bytes (without NUL) a string value can have.
	Cap int
	// Keys is empty for scalars.
	Keys []Key
	// Size is the number of entries of an array.
	Size int
	// Wrap: inserting into a full map evicts the oldest entry instead of failing.
	Wrap bool
	// InitInt, InitStr is a scalar's first value.
	InitInt int64
	InitStr string
	// Stat says what an aggregate must keep beyond count, sum, min and max.
	Stat StatNeeds
	// Internal marks variables that the compiler made for entry values. Each element belongs to one
	// call of a traced function, so no two handlers use it at the same time: they need no lock.
	Internal bool
	// Float: its numbers are the bits of such with a fraction.
	Float bool
	// Shown: whoever runs the program reads it from outside, so all of it is kept.
	Shown bool
	// Metric says that it is one: the text of package metric.
	Metric string
	// Unread: it is printed at the end because the script never reads it; see the name Unread.
	Unread bool
	// Sharing is how handlers that run at the same time use it; set by the lock pass.
	Sharing Sharing
	// Class is the lock class, -1 for none.
	Class int
}

// Key is one column of an array's key.
type Key struct {
	Type types.Type
	Cap  int // most bytes of a string key
}

// IsArray reports whether g has keys.
func (g *Global) IsArray() bool { return len(g.Keys) > 0 }

// StatNeeds says what an aggregate keeps.
type StatNeeds struct {
	Variance bool // also the 128-bit sum of squares
	Hists    []Hist
	Scale    int64 // the values are 1/Scale each; 0 means 1
}

// Hist is a histogram kept with an aggregate.
type Hist struct {
	Linear           bool
	Low, High, Width int64 // of a linear one
	Scale            int64 // that of the aggregate
}

// Buckets is how many counters h has.
func (h Hist) Buckets() int {
	if h.Linear {
		return layout.HistLinearBuckets(h.Low, h.High, h.Width)
	}
	return layout.HistLogBuckets
}

// Sharing says what the lock pass found out about a global.
type Sharing uint8

// The ways of sharing.
const (
	Shared   Sharing = iota // read and written by handlers that can interleave
	Constant                // no handler that can interleave writes it
	Quiet                   // all of those only add to it, without looking at the result
	Private                 // each element belongs to one thread or call, whose handlers run one at a time
)

// Probe is a handler with the sites that run it.
type Probe struct {
	Name    string // as written
	Pos     source.Pos
	Handler *Func
	Sites   []*probe.Site
	// Cond is the index of a Long global that must be non-zero for the probe to run, -1 for none.
	Cond int
}

// Func is a function, or a handler when it has no name. Blocks[0] is where it begins.
type Func struct {
	Name      string
	Pos       source.Pos
	Params    []Reg
	Result    types.Type // Unknown: none
	ResultCap int
	Regs      []RegInfo
	Blocks    []*Block
	// Recursive: it can reach itself through calls.
	Recursive bool
}

// Clone is a copy of f whose registers, blocks and instructions can be changed. The arguments of an instruction and of
// a block's end are those of f: who changes one makes a new list.
func (f *Func) Clone() *Func {
	c := *f
	c.Regs = slices.Clone(f.Regs)
	c.Blocks = make([]*Block, len(f.Blocks))
	for i, b := range f.Blocks {
		c.Blocks[i] = &Block{Instrs: slices.Clone(b.Instrs), Term: b.Term}
	}
	return &c
}

// Reg is a virtual register: an index into Func.Regs.
type Reg int32

// NoReg is the absence of a register.
const NoReg Reg = -1

// RegInfo describes a virtual register.
type RegInfo struct {
	Name string     // of the script variable, "" for temporaries
	Type types.Type // Long or String
	// Cap is the most bytes (without NUL) of a String register; what is written is cut to it.
	Cap int
}

// Block is a basic block. Instructions with an OnErr may leave it in the middle.
type Block struct {
	Instrs []Instr
	Term   Term
}

// BlockID is an index into Func.Blocks.
type BlockID int32

// NoBlock as an error target means: leave the function. In a handler the error is then
// reported and the handler ends; in a function it goes on at the caller's OnErr.
const NoBlock BlockID = -1

// ValKind says what a Val is.
type ValKind uint8

// The kinds of operands.
const (
	ValNone ValKind = iota
	ValReg
	ValInt
	ValStr
	ValStar // "*" in a slice
)

// Val is an operand.
type Val struct {
	Kind ValKind
	Reg  Reg
	Int  int64
	Str  string
}

// R, I, S and Star make operands.
func R(r Reg) Val         { return Val{Kind: ValReg, Reg: r} }
func I(n int64) Val       { return Val{Kind: ValInt, Int: n} }
func S(s string) Val      { return Val{Kind: ValStr, Str: s} }
func Star() Val           { return Val{Kind: ValStar} }
func (v Val) IsReg() bool { return v.Kind == ValReg }

// Instr is one instruction. No two instructions share the array of their Args: passes change
// operands in place.
type Instr struct {
	Op   Op
	Dst  Reg // NoReg if none
	Args []Val
	// Glob is the global of OpG*, OpM*, OpS* and OpIter*, -1 otherwise.
	Glob int
	// N: see each Op.
	N int64
	// Name: of the function, intrinsic or attribute; the order of OpIterOpen.
	Name   string
	Signed bool // OpLoad
	Kernel bool // OpLoad, OpStore
	// Iter is which iterator an OpIter* belongs to.
	Iter int
	// OnErr is where to go when the instruction fails.
	OnErr BlockID
	Pos   source.Pos
	// Via is the user's call through which an instruction of the library was inlined, as far as inlining has gone.
	Via source.Pos
}

// TermKind says how a block ends.
type TermKind uint8

// The ends of blocks.
const (
	TermJump   TermKind = iota // to Then
	TermBranch                 // Cond != 0: Then, else Else
	TermReturn                 // from a function, with Cond as the result if it has one
	TermEnd                    // the handler is done
	TermFail                   // raise Code with Args; goes on at OnErr
	TermSkip                   // the hit does not count: end the handler, count it under Cause
)

// Term ends a block.
type Term struct {
	Kind       TermKind
	Cond       Val
	Then, Else BlockID
	Code       Code
	Args       []Val
	OnErr      BlockID
	Cause      Cause
	Pos        source.Pos
}
