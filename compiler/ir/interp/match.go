package interp

import (
	"fmt"

	"github.com/gostap/gostap/compiler/regex"
)

// lastMatch is what the last matching in this run of a handler has found. Where its groups lie is
// found out when somebody asks.
type lastMatch struct {
	re    *regex.Regex // nil if there was no match
	text  string
	spans []int
}

// ngroups counts the groups of the last match, the whole match among them; 0 if there was none.
func ngroups(m *Machine, _ []Val, _ int) (Val, error) {
	if m.last.re == nil {
		return long(0)
	}
	return long(int64(m.last.re.Groups) + 1)
}

// matched gives the text of a group; "" if it has no part in the match.
func matched(m *Machine, a []Val, _ int) (Val, error) {
	l := &m.last
	if l.re == nil {
		return Val{}, badArg("matched(): the last regular expression did not match")
	}
	n := a[0].Int
	if n < 0 || n > int64(l.re.Groups) {
		return Val{}, badArg(fmt.Sprintf("matched(%d): the pattern has the groups 0 to %d", n, l.re.Groups))
	}
	if l.spans == nil {
		l.spans = l.re.Find(l.text)
	}
	from, to := l.spans[2*n], l.spans[2*n+1]
	if from < 0 || to < from {
		return text("")
	}
	return text(l.text[from:to])
}
