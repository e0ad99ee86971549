package ast

// Folder computes expressions of numbers that are known before the program runs: literals, what Known tells, and what
// follows from them by comparisons and logic. It is the one place where the syntax tree is computed; what the rest of
// the arithmetic gives is found later, in the IR.
type Folder struct {
	// Known is asked first about everything that is no literal: @defined, what was computed before. decided marks
	// values that hang on what is there in the traced program, not on the script alone.
	Known func(e Expr) (v int64, decided, ok bool)
	// Skip reports whether the part of whole that cond rules out need not be known. decided is that of cond's value.
	Skip func(cond Expr, whole Node, decided bool) bool
	// Note, if not nil, is told of each value that is no plain literal.
	Note func(e Expr, v int64)
}

// Value gives the value of e; decided if it hangs on something that is.
func (f *Folder) Value(e Expr) (v int64, decided, ok bool) {
	if e, ok := e.(*Literal); ok {
		return e.Num, false, !e.IsString && !e.IsFloat
	}
	if v, decided, ok = f.Known(e); ok {
		return v, decided, true
	}
	switch e := e.(type) {
	case *Paren:
		v, decided, ok = f.Value(e.X)
	case *Unary:
		switch e.Op {
		case "!", "-", "+", "~":
			v, decided, ok = f.Value(e.X)
			v = negate(e.Op, v)
		}
	case *Ternary:
		v, decided, ok = f.ternary(e)
	case *Binary:
		v, decided, ok = f.binary(e)
	}
	if ok && f.Note != nil {
		f.Note(e, v)
	}
	return v, decided, ok
}

func (f *Folder) ternary(e *Ternary) (int64, bool, bool) {
	c, decided, ok := f.Value(e.Cond)
	taken, left := e.Then, e.Else
	if c == 0 {
		taken, left = left, taken
	}
	if !ok {
		return 0, false, false
	}
	v, d, ok := f.Value(taken)
	if ok && !f.Skip(e.Cond, e, decided) {
		_, _, ok = f.Value(left)
	}
	return v, decided || d, ok
}

func (f *Folder) binary(e *Binary) (int64, bool, bool) {
	switch e.Op {
	case "&&", "||", "==", "!=", "<", "<=", ">", ">=", "&", "|":
	default:
		return 0, false, false
	}
	x, dx, okx := f.Value(e.X)
	switch {
	case !okx:
		return 0, false, false
	case (e.Op == "&&" && x == 0 || e.Op == "||" && x != 0) && f.Skip(e.X, e, dx):
		return truth(x != 0), dx, true
	}
	y, dy, oky := f.Value(e.Y)
	return operate(e.Op, x, y), dx || dy, oky
}

func negate(op string, x int64) int64 {
	switch op {
	case "!":
		return truth(x == 0)
	case "-":
		return -x
	case "~":
		return ^x
	}
	return x
}

// operate gives x op y for the operators that binary lets through.
func operate(op string, x, y int64) int64 {
	switch op {
	case "&&":
		return truth(x != 0 && y != 0)
	case "||":
		return truth(x != 0 || y != 0)
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	case "<":
		return truth(x < y)
	case "<=":
		return truth(x <= y)
	case ">":
		return truth(x > y)
	case ">=":
		return truth(x >= y)
	case "&":
		return x & y
	}
	return x | y
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
