// Package lateregexp has regular expressions that are compiled when they are first used, so that the command does not
// begin with those that it will not need: a large one takes a quarter of a millisecond.
//
// In: an expression. Out: what gives it compiled.
package lateregexp

import (
	"regexp"
	"sync"
)

// New gives a function that compiles an expression once. It panics then if the expression is wrong.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
