package gostap

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/source"
)

// Diagnostic is a message about a script.
type Diagnostic struct {
	// Warning: the script can be run all the same.
	Warning bool
	// Code names the kind of message; docs/errors.md lists them.
	Code string
	// File, Line and Column (from 1, in characters) are its place, "" and 0 for none.
	File         string
	Line, Column int
	// Message is a sentence without its full stop, Hint what to do about it, which may be empty.
	Message, Hint string

	d     *diag.Diagnostic
	files *source.FileSet
}

// String is the whole message: place, line of the script with a mark, notes and hint.
func (d Diagnostic) String() string {
	return d.Render(Style{})
}

// Style is how a Diagnostic is written.
type Style struct {
	// Color writes for a terminal that knows colours. Codes puts the code behind the message.
	Color, Codes bool
	// Width is the columns of the screen, 0 if that is not known.
	Width int
}

// Render is String in a style.
func (d Diagnostic) Render(s Style) string {
	var b strings.Builder
	p := diag.Printer{W: &b, Files: d.files, Color: s.Color, Codes: s.Codes, Width: s.Width}
	shown := *d.d
	shown.Hint = d.Hint
	p.One(&shown)
	return b.String()
}

// Error is what is wrong with a script, or with running it on this machine.
type Error struct {
	// Diagnostics are the messages in the order of the script, the warnings among them.
	Diagnostics []Diagnostic
	// Dumps are the products of ToolOptions.Dump, as far as the compiler came.
	Dumps map[string]string

	cause error
}

// Error is the first error with its place, and how many more there are.
func (e *Error) Error() string {
	text, n := "", 0
	for _, d := range e.Diagnostics {
		if d.Warning {
			continue
		}
		if n++; n > 1 {
			continue
		}
		if d.File != "" {
			text = fmt.Sprintf("%s:%d:%d: ", d.File, d.Line, d.Column)
		}
		text += d.Message
	}
	if n > 1 {
		text += fmt.Sprintf(" (and %d more)", n-1)
	}
	return diag.Visible(text)
}

// Unwrap gives the end of the context if that was the reason.
func (e *Error) Unwrap() error { return e.cause }

// Failure is the error of a session that came to its end, but not well: what was seen is all told.
type Failure struct {
	// Errors counts the run-time errors of the script that nobody caught. Stopped: there were more than
	// Limits.MaxErrors.
	Errors  int
	Stopped bool
	// Child says how Command ended, if it did not end well: "exited with status 3".
	Child string
}

func (f *Failure) Error() string {
	var parts []string
	switch {
	case f.Errors == 1:
		parts = append(parts, "the script had an error")
	case f.Errors > 1:
		parts = append(parts, fmt.Sprintf("the script had %d errors", f.Errors))
	case f.Stopped:
		parts = append(parts, "the script had too many errors")
	}
	if f.Child != "" {
		parts = append(parts, "the traced command "+f.Child)
	}
	return strings.Join(parts, ", ")
}

// InternalError is a broken invariant of this package: a bug.
type InternalError struct {
	Value any
	Stack []byte
}

func (e *InternalError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// diagnosed makes Diagnostics of a list.
func diagnosed(l diag.List, files *source.FileSet, here bool) []Diagnostic {
	var out []Diagnostic
	for _, d := range l {
		x := Diagnostic{Warning: d.Severity == diag.Warning, Code: string(d.Code), Message: d.Message, Hint: d.Hint,
			d: d, files: files}
		if here {
			x.Hint = possible(d.Hint, traced.ModulesForbidden)
		}
		if files != nil && d.Span.From.IsValid() {
			if at := files.Position(diag.Own(files, d.Span).From); at.File != nil {
				x.File, x.Line, x.Column = at.File.Name, at.Line, at.Col
			}
		}
		out = append(out, x)
	}
	return out
}

// possible adds to a hint at modules why this kernel takes none.
func possible(hint string, forbidden func() string) string {
	if strings.Contains(hint, "--runtime=kernel") {
		if why := forbidden(); why != "" {
			return hint + "; but " + why
		}
	}
	return hint
}

// failed makes an *Error of a list with errors, nil if there are none.
func failed(ctx context.Context, ds []Diagnostic) error {
	for _, d := range ds {
		if !d.Warning {
			return &Error{Diagnostics: ds, cause: ctx.Err()}
		}
	}
	return nil
}

// placed makes an *Error of one that knows its place in the script, or has a hint.
func placed(err error, files *source.FileSet, here bool) error {
	if d, ok := errors.AsType[*diag.Diagnostic](err); ok {
		return &Error{Diagnostics: diagnosed(diag.List{d}, files, here)}
	}
	return err
}

// guard is deferred by what reads files of others: a file that is cut short meanwhile, and a bug of ours, are errors of
// the function. mine is what must go on as a panic, if not nil: a function that belongs to the caller is at work.
func guard(err *error, mine *bool) func() {
	done := foreign.Goroutine()
	return func() {
		done()
		if mine != nil && *mine {
			return
		}
		r := recover()
		if r == nil {
			return
		}
		if *err = foreign.Explain(r); *err == nil {
			*err = &InternalError{Value: r, Stack: debug.Stack()}
		}
	}
}
