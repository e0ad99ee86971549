// Package ast holds the syntax tree of stap scripts. It is made by package
// grammar and never changed afterwards: what later passes learn about a node
// stands in their own side tables, keyed by the node's pointer.
package ast

import "github.com/gostap/gostap/compiler/source"

// Node is any piece of a tree.
type Node interface {
	// Range gives the node's place in the script.
	Range() source.Span
}

// Place is embedded in every node.
type Place struct{ Span source.Span }

// Range implements Node.
func (p Place) Range() source.Span { return p.Span }

// Ident is a name with its place.
type Ident struct {
	Place
	Name string
}

// File is one script or library file (or one declaration of it).
type File struct {
	Source *source.File
	Decls  []Decl
}

// Decl is a top-level declaration.
type Decl interface {
	Node
	decl()
}

// Probe is "probe points { body }".
type Probe struct {
	Place
	Points []*Point
	Body   *Block
}

// Alias is "probe name [= name2] = points { prologue } [, { epilogue }]", or with
// += where the only block is the epilogue.
type Alias struct {
	Place
	Names    []*Point // each made of plain components
	Points   []*Point
	Prologue *Block // nil if absent
	Epilogue *Block // nil if absent
}

// Globals is "global a, b[10] = ...". Each variable is a declaration of its own.
type Globals struct {
	Place
	Private bool
	Vars    []*Global
}

// Global is one global variable.
type Global struct {
	Place
	Name *Ident
	Wrap bool     // "%": inserting into a full map evicts the oldest entry
	Size *Literal // "[n]", nil if absent
	Init *Literal // nil if absent
	// Attributes say what it is besides: metric "requests_total" labels "path, status".
	Attributes []*Attribute
}

// Attributes are the names of attributes.
var Attributes = []string{"metric", "labels", "unit", "help", "max"}

// Attribute is a word about a global variable with its value.
type Attribute struct {
	Place
	Name  *Ident
	Value *Literal
}

// Function is a function declaration. Exactly one of Body and Code is set.
type Function struct {
	Place
	Private  bool
	Name     *Ident
	Type     TypeName
	Params   []*Param
	Priority *Literal // nil if absent
	Body     *Block
	Code     *Embedded
}

// Param is a parameter of a function.
type Param struct {
	Place
	Name *Ident
	Type TypeName
}

// TypeName is a written type, or none.
type TypeName uint8

// The written types.
const (
	NoType TypeName = iota
	LongType
	StringType
)

// Embedded is "%{ ... %}", at top level, as a function's body or as an expression.
type Embedded struct {
	Place
	Code string // the text between the braces
}

func (*Probe) decl()    {}
func (*Alias) decl()    {}
func (*Globals) decl()  {}
func (*Function) decl() {}
func (*Embedded) decl() {}

// Point is one probe point of a comma list.
type Point struct {
	Place
	Comps      []*Comp
	Optional   bool // "?"
	Sufficient bool // "!"
	Cond       Expr // "if (...)", nil if absent
}

// Comp is one component of a point: a name with an optional argument, or a brace group.
type Comp struct {
	Place
	Name  string   // may hold * and **
	Arg   *Literal // nil if absent
	Group []*Point // for {a,b}: Name is empty
}

// Literal is a constant: a number or a string.
type Literal struct {
	Place
	IsString bool
	IsFloat  bool // a number with a fraction: Num has its bits (IEEE 754 binary64)
	Num      int64
	Str      string // with escapes resolved
	Text     string // as written, for numbers; "" means print Num in decimal
}

// Stmt is a statement.
type Stmt interface {
	Node
	stmt()
}

// The statements.
type (
	// Block is "{ ... }".
	Block struct {
		Place
		Stmts []Stmt
	}
	// Empty is ";".
	Empty struct{ Place }
	// ExprStmt is an expression evaluated for what it does.
	ExprStmt struct {
		Place
		X Expr
	}
	// If is "if (c) a [else b]".
	If struct {
		Place
		Cond Expr
		Then Stmt
		Else Stmt // nil if absent
	}
	// While is "while (c) s".
	While struct {
		Place
		Cond Expr
		Body Stmt
	}
	// For is "for (init; cond; post) s"; each part may be nil.
	For struct {
		Place
		Init, Cond, Post Expr
		Body             Stmt
	}
	// Foreach is the loop over an array or over histogram buckets.
	Foreach struct {
		Place
		Value   *Ident // "v = ...", nil if absent
		Keys    []*Ident
		Array   *Ident // nil when Hist is set
		Hist    *AtOp  // "in @hist_log(x)"
		Slice   []Expr // nil entry for *; nil if no slice
		Sort    int    // +1 ascending, -1 descending, 0 none
		SortKey int    // index into Keys, or SortByValue
		SortAgg string // "@sum" and the like, "" if none
		Limit   Expr   // nil if absent
		Body    Stmt
		// Over is what is gone through in the program ("in $list"), nil if it is an array or a histogram. Loop is the
		// same made of RangeNext, RangeKey and RangeElem; nobody but a printer looks at the rest then.
		Over *Target
		Loop Stmt
	}
	// Return is "return [e]".
	Return struct {
		Place
		X Expr // nil if absent
	}
	// Delete is "delete lvalue".
	Delete struct {
		Place
		X Expr
	}
	// Next is "next".
	Next struct{ Place }
	// Break is "break".
	Break struct{ Place }
	// Continue is "continue".
	Continue struct{ Place }
	// Try is "try { } catch [(msg)] { }".
	Try struct {
		Place
		Body  *Block
		Msg   *Ident // nil if absent
		Catch *Block
	}
)

// The operators that the loop over a variable of the program is made of. No script can write them. The first argument
// is the variable, the second a position in it, from 1.
const (
	RangeNext = "@range_next" // the position that follows, 0 behind the last one; that of 0 is the first
	RangeKey  = "@range_key"  // the key or index at the position
	RangeElem = "@range_elem" // the element there
)

// HasKey is "key in $m" where $m is a variable of the program: its arguments are the key, the variable, and of
// "[key, second] in $m" the second one.
const HasKey = "@has_key"

// SortByValue is Foreach.SortKey when the sort mark stands at the value or the array.
const SortByValue = -1

func (*Block) stmt()    {}
func (*Empty) stmt()    {}
func (*ExprStmt) stmt() {}
func (*If) stmt()       {}
func (*While) stmt()    {}
func (*For) stmt()      {}
func (*Foreach) stmt()  {}
func (*Return) stmt()   {}
func (*Delete) stmt()   {}
func (*Next) stmt()     {}
func (*Break) stmt()    {}
func (*Continue) stmt() {}
func (*Try) stmt()      {}

// Expr is an expression.
type Expr interface {
	Node
	expr()
}

// The expressions.
type (
	// Name is an identifier used as a value: local, global or parameter.
	Name struct {
		Place
		Name string
	}
	// Paren is "(e)". It is kept so that printing is faithful.
	Paren struct {
		Place
		X Expr
	}
	// Unary is a prefix operator: "-", "+", "!", "~", "&", and with Op "++" or "--" a step.
	Unary struct {
		Place
		Op string
		X  Expr
	}
	// Postfix is "x++" or "x--".
	Postfix struct {
		Place
		Op string
		X  Expr
	}
	// Binary is any infix operator but assignment: arithmetic, comparison, "&&",
	// "||", "." (concatenation), "=~", "!~".
	Binary struct {
		Place
		Op   string
		X, Y Expr
	}
	// Assign is "=", "<<<" and the compound assignments, with Op as written.
	Assign struct {
		Place
		Op   string
		X, Y Expr
	}
	// Ternary is "c ? a : b".
	Ternary struct {
		Place
		Cond, Then, Else Expr
	}
	// In is "key in array", "[k, *, k] in array" or "n in @hist_log(x)".
	In struct {
		Place
		Keys  []Expr // nil entry for *
		Array *Ident // nil when Hist is set
		Hist  *AtOp
	}
	// Index is "array[k, ...]" on a script array.
	Index struct {
		Place
		Array *Ident
		Keys  []Expr // nil entry for *
	}
	// HistIndex is "@hist_log(x)[i]".
	HistIndex struct {
		Place
		Hist *AtOp
		I    Expr
	}
	// Call is "f(args)". The print family is Call too, by name.
	Call struct {
		Place
		Fun  *Ident
		Args []Expr // an argument may be an AtOp histogram
		// Took marks println() of span(): the first value is a name, the third how long it took in ns.
		Took bool
	}
	// AtOp is an operator word with arguments: @count(x), @defined(e), @entry(e),
	// @cast(p, "t", "m"), @var("n", "m"), @hist_log(x), ...
	AtOp struct {
		Place
		Name string // with the @
		Args []Expr
	}
	// Target is "$name" with everything behind it. Base is set instead of Name
	// when the start is an expression: @cast, @var, @entry or an autocast.
	Target struct {
		Place
		Name   string // with its dollars: "$x", "$$parms", "$return"; "" if Base is set
		Base   Expr
		Path   []TargetStep
		Pretty int // trailing dollars: 0, 1 for "$x$", 2 for "$x$$"
	}
	// EmbeddedExpr is "%{ C expression %}".
	EmbeddedExpr struct {
		Place
		Code string
	}
)

// TargetStep is "->member", "[index]", "[index, second]", "[low:high]" or ".(type)".
type TargetStep struct {
	Place
	Member string // set for "->member"
	Index  Expr   // set for "[index]"; of a range its begin, nil if absent
	Range  bool   // "[low:high]"
	High   Expr   // the end of a range, nil if absent
	Second Expr   // set for "[index, second]"
	Type   string // set for ".(type)"
}

// Indexes reports whether s is "[index]".
func (s *TargetStep) Indexes() bool { return s.Index != nil && !s.Range }

func (*Literal) expr()      {}
func (*Name) expr()         {}
func (*Paren) expr()        {}
func (*Unary) expr()        {}
func (*Postfix) expr()      {}
func (*Binary) expr()       {}
func (*Assign) expr()       {}
func (*Ternary) expr()      {}
func (*In) expr()           {}
func (*Index) expr()        {}
func (*HistIndex) expr()    {}
func (*Call) expr()         {}
func (*AtOp) expr()         {}
func (*Target) expr()       {}
func (*EmbeddedExpr) expr() {}
