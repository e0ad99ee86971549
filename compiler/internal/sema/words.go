package sema

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/types"
)

// describe names an expression in messages.
func describe(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case nil:
		return "nothing"
	case *ast.Literal:
		if e.IsString {
			return "a string"
		}
		return "the number " + ast.LiteralText(e)
	case *ast.Name:
		return e.Name
	case *ast.Index:
		return "the element of " + e.Array.Name
	case *ast.Call:
		return "the result of " + e.Fun.Name + "()"
	case *ast.Target, *ast.AtOp:
		return targetText(e)
	case *ast.In:
		return "the result of in"
	case *ast.Ternary:
		return "the result of ?:"
	case *ast.Unary:
		return "the result of " + e.Op
	case *ast.Postfix:
		return "the result of " + e.Op
	case *ast.Binary:
		return "the result of " + e.Op
	case *ast.Assign:
		return "the result of " + e.Op
	case *ast.HistIndex:
		return "a bucket"
	case *ast.EmbeddedExpr:
		return "embedded code"
	}
	return "this"
}

// isA says what e is: "x is a number", "this is a string" of a literal.
func isA(e ast.Expr, t types.Type) string {
	if _, ok := ast.Unparen(e).(*ast.Literal); ok {
		return "this is " + noun(t)
	}
	return describe(e) + " is " + noun(t)
}

// count writes "1 key", "2 keys".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func literalType(l *ast.Literal) types.Type {
	if l.IsString {
		return types.String
	}
	if l.IsFloat {
		return types.Real
	}
	return types.Long
}

// noun names a type in messages.
func noun(t types.Type) string {
	switch t {
	case types.Long:
		return "a number"
	case types.String:
		return "a string"
	case types.Stats:
		return "an aggregate"
	case types.Stack:
		return "a stack"
	case types.Real:
		return "a float"
	}
	return "unknown"
}
