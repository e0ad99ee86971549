// Package elab holds the elaborated program: the declarations that a script reaches,
// its probes with their sites, and in side tables what each pass learned about the
// nodes of the (unchanged) syntax trees.
//
// Filled in this order: internal/load and internal/expand make Globals, Funcs and
// Probes and resolve targets; internal/sema binds names and infers types;
// internal/lower reads all of it and makes the ir.Program.
package elab

import (
	"iter"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// Program is the whole script with what it reaches of the library.
type Program struct {
	Files   *source.FileSet
	Globals []*Global
	Funcs   []*Func
	Probes  []*Probe
	Limits  layout.Limits
	// Prelude is the C at the top level of the script and of the library files that it reaches.
	Prelude []*ast.Embedded
}

// Global is a global variable.
type Global struct {
	Decl *ast.Global
	// Name is unique in the program (private names carry their file).
	Name string
	Type types.Type
	// Arity is the number of keys, 0 for scalars, -1 while unknown.
	Arity int
	Keys  []types.Type
	// Stack, StackKeys: the value, or a key, is the number of a stack, its type a Long.
	Stack bool
	Float bool // the value is a number with a fraction, its type a Long
	// Scale is that of @scaled of what is added to an aggregate, 0 for others.
	Scale     int64
	StackKeys []bool

	Stat ir.StatNeeds
	// Init is a scalar's first value: that of the declaration, or what -G gave; nil if none.
	Init *ast.Literal
	// User marks globals of the user's script (they are printed at the end when never read).
	User          bool
	Read, Written bool
	// Metric is the text of package metric where the script says that it is one, else "".
	Metric string
}

// Local is a local variable or a parameter.
type Local struct {
	Name          string
	Type          types.Type
	Span          source.Span // first mention
	Param         bool
	Typed         bool // the type of a parameter is declared
	Read, Written bool
}

// Func is one function (one overload of it).
type Func struct {
	Decl *ast.Function
	// Name is unique in the program.
	Name string
	// Intrinsic is set when the body is %{ intrinsic %}.
	Intrinsic *intrinsic.Func
	// C is set when the body is C.
	C        *Embedded
	Params   []*Local
	Result   types.Type // Unknown after inference: returns nothing
	Priority int
	// Next is the overload to try when this one says "next", nil if none.
	Next *Func
	User bool // of the user's script
	// Builtin marks functions of the embedded library.
	Builtin bool
	Info    Info
}

// Void reports whether f can have no result: it is built in or C, and gives none.
func (f *Func) Void() bool {
	return f.Decl.Body == nil && f.Result == types.Unknown && (f.C == nil || f.C.Gives == types.Unknown)
}

// Probe is a handler: one probe body with the sites that share the resolution of its
// target variables.
type Probe struct {
	Decl *ast.Probe
	Req  probe.Request
	// Sites all fire this handler; for .return probes of Go, every RET and tail jump.
	Sites []*probe.Site
	// Bodies run one after the other in one scope: alias prologues, the probe's body, epilogues.
	Bodies []*ast.Block
	// Cond is the "if (...)" of the point, nil if none.
	Cond ast.Expr
	// Entry are the sites of the functions' entries, for .return probes that need entry values.
	Entry []*probe.Site
	// Marks are the sites of the functions' entries where calls that end without one of Sites are to be told.
	Marks []*probe.Site
	// User: the probe stands in the user's script.
	User bool
	// Leaves: it leaves out the function at whose entry it fires, so that those behind it do not find that any more.
	Leaves bool
	Info   Info
}

// Becomes is what a value is made.
type Becomes uint8

// What values become: a whole number a float; a float 1 if it is not 0, else 0; a stack its text.
const (
	BecomesFloat Becomes = iota + 1
	BecomesTruth
	BecomesText
)

// Info is what is known about the nodes of one function or probe.
type Info struct {
	Locals []*Local
	// Offered are the variables of aliases that a probe could use and does not.
	Offered []string
	// Types gives the type of each expression that has one.
	Types map[ast.Expr]types.Type
	// Stacks are the expressions that are stacks: the numbers of some that are kept, of type Long.
	Stacks map[ast.Expr]bool
	// Floats are the expressions that are numbers with a fraction: their bits, of type Long. Becomes are those whose
	// value is made another one for what it stands in.
	Floats  map[ast.Expr]bool
	Becomes map[ast.Expr]Becomes
	// Locs and Globs bind variable names. Keys are *ast.Name or *ast.Ident nodes.
	Locs  map[ast.Node]*Local
	Globs map[ast.Node]*Global
	// Calls binds calls to the first overload to try; print functions are not in it.
	Calls map[*ast.Call]*Func
	// Const holds expressions decided at compile time: @defined, and what folds from it.
	Const map[ast.Expr]int64
	// Decided holds the conditions in Const whose arm that is never taken is left alone: it has no bindings and no
	// types.
	Decided map[ast.Expr]bool
	// C is the embedded C: *ast.EmbeddedExpr, and *ast.AtOp of @const.
	C map[ast.Expr]*Embedded
	// Targets resolves target expressions ($x..., @cast..., @var..., @entry...), keyed by the outermost
	// node: *ast.Target, *ast.AtOp, or *ast.Unary for &$x.
	Targets map[ast.Expr]*Target
	// Nils are the names "nil" that are compared with a target expression. They stand for Go's nil where the script has
	// no variable of that name.
	Nils map[*ast.Name]Nil
}

// Nil is what a name "nil" is compared with.
type Nil struct {
	// X is the target expression, as the script writes it.
	X string
	// Words says that it is no single number, so that comparing it with a variable means nothing.
	Words bool
	// Why says why it is never nil, "" if it can be.
	Why string
}

// Init makes the maps.
func (in *Info) Init() {
	in.Types = map[ast.Expr]types.Type{}
	in.Locs = map[ast.Node]*Local{}
	in.Globs = map[ast.Node]*Global{}
	in.Calls = map[*ast.Call]*Func{}
	in.Const = map[ast.Expr]int64{}
	in.Targets = map[ast.Expr]*Target{}
	in.C = map[ast.Expr]*Embedded{}
}

// Embedded is C of the script: the body of a function, or an expression.
type Embedded struct {
	Text string
	// Pos is the first byte of Text.
	Pos     source.Pos
	Pure    bool
	Globals []EmbeddedGlobal
	// Args are the parameters of the function around an expression that the expression names.
	Args []*Local
	// Guru: of a library's function that only scripts in guru mode may call.
	Guru bool
	// Gives is the type of the result as the code itself tells it, Unknown if it gives none. What the calls want goes
	// before it.
	Gives types.Type
	// Old: the code says THIS->name, as scripts did before stap 1.8.
	Old bool
}

// AllC goes through the C of functions and of expressions.
func (p *Program) AllC() iter.Seq[*Embedded] {
	return func(yield func(*Embedded) bool) {
		inside := func(in *Info) bool {
			for _, c := range in.C {
				if !yield(c) {
					return false
				}
			}
			return true
		}
		for _, f := range p.Funcs {
			if f.C != nil && !yield(f.C) || !inside(&f.Info) {
				return
			}
		}
		for _, pr := range p.Probes {
			if !inside(&pr.Info) {
				return
			}
		}
	}
}

// EmbeddedGlobal is a global that C uses, by the name it has there.
type EmbeddedGlobal struct {
	Name        string
	Global      *Global
	Read, Write bool
	// At is the comment that says so.
	At source.Span
}

// Target is a resolved target expression.
type Target struct {
	// Err is why it did not resolve; @defined gives 0 then, anything else reports it.
	Err *diag.Diagnostic
	// Type is Long, String or Real. Narrow: Value gives the bits of a float of 32 bits.
	Type   types.Type
	Narrow bool
	// Value is a Long's program. For a Go string it gives the pointer and Len the length. For a C
	// char array shown as text, Len is empty and CString is set.
	Value, Len loc.Prog
	CString    bool
	// Args are the expressions that loc.Arg steps of Value and Len refer to.
	Args []ast.Expr
	// Texts are the indexes of those of Args that are strings; the others are numbers.
	Texts []int
	// Ctype is the target's type, for further -> and for storing.
	Ctype *types.Ctype
	// Place is where it is, for storing and for &.
	Place loc.Place
	// BitOff and BitSize place a bit field in the integer at Place; BitSize 0: it is none.
	BitOff, BitSize int64
	// Pretty is set for $x$, $$vars and the like: text with values in between.
	Pretty []PrettyPart
	// AtEntry says that the programs are to be run at the function's entry (Probe.Entry) and the value
	// kept until the return: @entry, and parameters used in a .return probe.
	AtEntry bool
	// Leaves: it is a result of the probed function, which is left at once.
	Leaves bool
	// Value of a procfs probe: what is exchanged with the process at the file. Reply: it can be set, else it can be
	// read.
	Procfs, Reply bool
	// Names turns the number that Value gives into the name of an enumerator (@enumname); Type is String then. A
	// number without a name is written as it is.
	Names []types.Enumerator
	// Inner is the expression of @entry(e) when it is more than a target.
	Inner ast.Expr
}

// PrettyPart is literal text, or a value with the conversion that shows it.
type PrettyPart struct {
	Lit string
	// 'd', 'u', 'x', 'p', 'r', 'h'; 'v' for values shown whole; 's' for a quoted string, 'C' for a byte as in a
	// constant of C; 0 for literal text
	Conv       byte
	Value, Len loc.Prog
	CString    bool
	// Kernel: the text is in kernel memory.
	Kernel bool
	// AtEntry: the value is taken at the function's entry and kept until the return.
	AtEntry bool
	// With Conv 'v' it is values shown whole: Plan is their shape.Plan.Text, Words give the numbers that it speaks of.
	Plan  string
	Words []loc.Prog
}
