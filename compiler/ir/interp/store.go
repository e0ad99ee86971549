// Package interp runs ir programs: it is the meaning of the language. Tests compare
// the back ends with it, and with the eBPF back end it runs the handlers that belong
// on the host, over the same maps.
//
// In: an ir.Program, a Store for its globals, a Context for what the probed place
// gives. Out: output through an Output, changes of the Store.
package interp

import (
	"errors"

	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// Val is a value of the language at run time.
type Val = textfmt.Val

// Key is the key of an array element: one Val a column. Columns of type Long use Int.
type Key []Val

// Agg is the state of one aggregate, merged over all CPUs.
type Agg struct {
	Count, Sum, Min, Max int64
	// SqHi, SqLo are the 128-bit sum of squares, kept when StatNeeds.Variance.
	SqHi, SqLo uint64
	// Hists holds the counters of each histogram of StatNeeds.Hists.
	Hists [][]int64
}

// ErrFull is returned by Set, Add and AddStat when an array has no room for a new element.
var ErrFull = errors.New("array is full")

// Store holds the globals of a program. g is an index into Program.Globals. Scalars
// have a nil key. A Key that is passed in is valid during the call only. Every method is atomic by itself; an error
// other than ErrFull means that the store is broken and ends the session.
type Store interface {
	// Get gives the value of a scalar or element, and whether the element exists (scalars always do).
	Get(g int, k Key) (Val, bool, error)
	Set(g int, k Key, v Val) error
	// Add adds to a Long and gives its value before.
	Add(g int, k Key, n int64) (int64, error)
	// Delete removes an element; a scalar is reset to 0, "" or empty.
	Delete(g int, k Key) error
	// Clear removes all elements, or resets a scalar.
	Clear(g int) error
	AddStat(g int, k Key, v int64) error
	// Stat gives the aggregate, and whether it exists. Missing ones have Count 0.
	Stat(g int, k Key) (Agg, bool, error)
	// Elems lists the elements in the order of insertion where the store knows it.
	Elems(g int) ([]Elem, error)
	// Lock and Unlock take a lock class against handlers that run at the same time.
	Lock(class int) error
	Unlock(class int)
}

// Elem is one element of an array.
type Elem struct {
	Key Key
	Val Val
	Agg *Agg // for arrays of aggregates
}
