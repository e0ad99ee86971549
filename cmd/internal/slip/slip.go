// Package slip is how the commands tell of mistakes: in their arguments, and of names that are not there.
//
// In: an error, perhaps one of New with a hint. Out: its words, and exit status 1.
package slip

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
)

// Error is a mistake that a hint may help out of.
type Error struct{ Text, Hint string }

func (e *Error) Error() string { return e.Text }

// New makes an Error. hint is what to type instead, "" for none.
func New(text, hint string) *Error { return &Error{text, hint} }

// Failed tells of an error and gives the exit status for it.
func Failed(w io.Writer, err error) int {
	fmt.Fprintf(w, "error: %s\n", diag.Visible(err.Error()))
	Hint(w, err)
	return 1
}

// Plain says what went wrong with a file without Go's name of the call.
func Plain(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// Hint writes the hint of an error, if it has one.
func Hint(w io.Writer, err error) {
	var e *Error
	if errors.As(err, &e) && e.Hint != "" {
		fmt.Fprintf(w, "  hint: %s\n", diag.Visible(e.Hint))
	}
}

// Meant is a hint with those of names that come close to one that is not there, "" if none does.
func Meant(name string, names []string) string { return Offer(diag.Nearest(name, names, 3)) }

// Offer is a hint with names that may be meant, "" for none.
func Offer(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}
