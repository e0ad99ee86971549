// Package diag is the one place where messages to the user are made: errors,
// warnings and notes with file:line:col, the source line, a caret and a hint.
//
// In: positions and words from any pass. Out: a List that a command prints.
package diag

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/gostap/gostap/compiler/source"
)

// Severity orders diagnostics.
type Severity uint8

// The severities.
const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Phase says in whose words an error is reported, as stap users know them.
type Phase uint8

// The phases.
const (
	Parse    Phase = iota // "parse error"
	Semantic              // "semantic error"
	Build                 // the back end
	Load                  // loading and attaching
	Usage                 // the command line
)

// Code names a kind of diagnostic. It never changes its meaning once published;
// codes.go lists them all with an example each.
type Code string

// Note is a second place or sentence that belongs to a diagnostic.
type Note struct {
	Span source.Span // may be empty
	Text string
}

// Diagnostic is one message.
type Diagnostic struct {
	Severity Severity
	Phase    Phase
	Code     Code
	Span     source.Span // may be empty: then no source line is shown
	Message  string      // lower case, no full stop
	Notes    []Note
	Hint     string // what to do about it

	shared string // the reason, if it is one of many places
	more   int    // so many others have it, too
}

// Shared is an error about more than the place where it came up, such as what a kernel lacks: of the diagnostics that
// wrap it the first is kept, which counts the others. Shared is the same for those that are one.
type Shared interface {
	error
	Shared() string
}

// SharedOf gives the last one among the arguments of a message, or what one of them wraps; nil if there is none.
func SharedOf(args []any) (found Shared) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			if s, ok := errors.AsType[Shared](err); ok {
				found = s
			}
		}
	}
	return found
}

// Note adds a note unless d has it, and returns d.
func (d *Diagnostic) Note(sp source.Span, format string, args ...any) *Diagnostic {
	if n := (Note{sp, fmt.Sprintf(format, args...)}); !slices.Contains(d.Notes, n) {
		d.Notes = append(d.Notes, n)
	}
	return d
}

// WithinText is what a message says of the place in the library that it is about.
const WithinText = "in the library, it is this"

// Within notes that what d is about is at inner, in the library, and gives d. It does nothing without a place,
// and where d has one already.
func (d *Diagnostic) Within(inner source.Pos) *Diagnostic {
	if !inner.IsValid() || slices.ContainsFunc(d.Notes, func(n Note) bool { return n.Text == WithinText }) {
		return d
	}
	return d.Note(source.At(inner), WithinText)
}

// Hintf sets the hint and returns d.
func (d *Diagnostic) Hintf(format string, args ...any) *Diagnostic {
	d.Hint = fmt.Sprintf(format, args...)
	return d
}

// Error makes a Diagnostic usable where a Go error is wanted.
func (d *Diagnostic) Error() string { return d.Message }

// List collects diagnostics.
type List []*Diagnostic

// Errorf adds an error and returns it, for notes and a hint.
func (l *List) Errorf(ph Phase, code Code, sp source.Span, format string, args ...any) *Diagnostic {
	d := &Diagnostic{Severity: Error, Phase: ph, Code: code, Span: sp, Message: fmt.Sprintf(format, args...)}
	if s := SharedOf(args); s != nil {
		d.shared = s.Shared()
	}
	return l.Add(d)
}

// Warnf adds a warning and returns it.
func (l *List) Warnf(ph Phase, code Code, sp source.Span, format string, args ...any) *Diagnostic {
	return l.Add(&Diagnostic{Severity: Warning, Phase: ph, Code: code, Span: sp, Message: fmt.Sprintf(format, args...)})
}

// lookBack is how many messages Add compares with: those of one place come one soon after the other, and
// a list can be long.
const lookBack = 200

// Add appends d unless the same text at the same place is there already, and gives the one that is; one for a reason
// that others share is counted by the first of them.
func (l *List) Add(d *Diagnostic) *Diagnostic {
	if d.shared != "" {
		for _, o := range *l {
			if o.shared == d.shared {
				o.more += d.more + 1
				return d
			}
		}
	}
	for _, o := range (*l)[max(0, len(*l)-lookBack):] {
		if o.Span == d.Span && o.Message == d.Message && o.Severity == d.Severity {
			return o
		}
	}
	*l = append(*l, d)
	return d
}

// AddAll adds each of more with Add.
func (l *List) AddAll(more List) {
	for _, d := range more {
		l.Add(d)
	}
}

// Errors counts the errors.
func (l List) Errors() int {
	n := 0
	for _, d := range l {
		if d.Severity == Error {
			n++
		}
	}
	return n
}

// HasErrors reports whether any error is in l.
func (l List) HasErrors() bool { return l.Errors() > 0 }

// Sort orders by position, errors and warnings mixed; what has no place comes first.
func (l List) Sort() {
	sort.SliceStable(l, func(i, j int) bool { return l[i].Span.From < l[j].Span.From })
}
