// Package argname gives the arguments of a print statement their names, by which they are fields of a record.
//
// In: the arguments as the script has them. Out: a name for each value that is printed: of what has a name in the
// script that name ("pid" of pid(), "$name" of user_string($name), "n", "$o->ID", "calls" of calls[c], "@count" of
// @count(x)), of other expressions and of names that are there already the position among the arguments; "" for the
// script's own literals, widths and precisions, which are no fields.
package argname

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/target"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// List are the names of one statement.
type List struct {
	names []string
	pos   int    // of the argument at hand, from 1
	name  string // its name
	part  int    // of one that is shown in parts, how many there were
	lit   string // the text before the next part, then its name
	auto  bool
	// Took says that the statement is println() of span(): every other argument is its text, and those that are not are
	// the arguments of span().
	Took bool
	args int // how many there were, text too
}

// Auto says that the statement is none of the script's, but prints a global at the end: its only name is ir.Unread.
func (l *List) Auto() { l.auto = true }

// Next goes on to an argument.
func (l *List) Next(e ast.Expr) {
	l.args++
	l.pos, l.name, l.part, l.lit = l.args, of(e), 0, ""
	if !l.Took {
		return
	}
	l.pos = (l.args + 1) / 2
	switch l.args {
	case 1:
		l.name = ir.SpanName
	case 3:
		l.name = ir.SpanTime
	}
	if lit, ok := e.(*ast.Literal); ok && l.args%2 == 1 && l.pos > 2 && lit != nil {
		l.name = strconv.Itoa(l.pos)
	}
}

// Text is literal text within the argument at hand.
func (l *List) Text(lit string) { l.lit = lit }

// member is what stands before the value of a member.
var member = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*)=$`)

// Part has the next value be a part of the argument at hand, and not all of it: $$vars, $o$.
func (l *List) Part() {
	l.part++
	stem := strings.TrimRight(l.name, "$")
	m := member.FindStringSubmatch(l.lit)
	switch {
	case m == nil:
		l.lit = stem + "." + strconv.Itoa(l.part)
	case strings.HasPrefix(stem, "$$"):
		l.lit = "$" + m[1]
	default:
		l.lit = stem + "." + m[1]
	}
}

// Value names value n of the statement, from 0; those before that have no names are widths and precisions.
func (l *List) Value(n int) {
	for len(l.names) < n {
		l.names = append(l.names, "")
	}
	name := l.name
	if l.part > 0 {
		name = l.lit
	}
	if name != "" && slices.Contains(l.names, name) || name == other {
		name = strconv.Itoa(l.pos)
		if l.part > 0 {
			name += "." + strconv.Itoa(l.part)
		}
	}
	l.names = append(l.names, name)
}

// Names are those given so far.
func (l *List) Names() []string {
	if l.auto {
		return []string{ir.Unread}
	}
	return l.names
}

// other stands for expressions without a name.
const other = "?"

// shows reports whether a function gives its first argument as text: a string changed, what lies at an address, what a
// number stands for.
func shows(name string) bool {
	f := intrinsic.Lookup(name)
	if f == nil {
		return library[name]
	}
	return f.Result == types.String && len(f.Params) > 0 &&
		(f.Reads != "" || f.Sent() || f.Does == intrinsic.Pure && f.Params[0] == types.String)
}

// library are such functions that are written in the language.
var library = map[string]bool{"user_string_quoted": true, "user_string_n_quoted": true, "user_string_warn": true,
	"kernel_string_quoted": true, "ip_ntop": true, "inet_text": true}

// Of is the name of an expression, "" if it has none of its own.
func Of(e ast.Expr) string {
	if name := of(e); name != other {
		return name
	}
	return ""
}

// of is the name of an expression.
func of(e ast.Expr) string {
	name := other
	switch e := e.(type) {
	case *ast.Paren:
		return of(e.X)
	case *ast.Literal:
		return ""
	case *ast.Unary:
		if _, ok := e.X.(*ast.Literal); ok {
			return ""
		}
	case *ast.Name:
		name = e.Name
	case *ast.Call:
		name = e.Fun.Name
		if shows(name) && len(e.Args) > 0 {
			if in := of(e.Args[0]); in != "" && in != other {
				return in
			}
		}
	case *ast.Ternary:
		// One of two values; the other is often what stands for none.
		yes, no := of(e.Then), of(e.Else)
		switch {
		case yes == no, no == "":
			return yes
		case yes == "":
			return no
		}
	case *ast.Index:
		name = e.Array.Name
	case *ast.Target:
		name = target.Text(e)
	case *ast.AtOp:
		name = e.Name
		if e.Name == "@entry" && len(e.Args) == 1 {
			return of(e.Args[0])
		}
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		return other
	}
	return name
}
