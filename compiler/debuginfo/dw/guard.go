package dw

import "github.com/gostap/gostap/compiler/foreign"

// Causes of errors about the bytes of files.
var (
	// ErrCorrupt: bytes contradict their format.
	ErrCorrupt = foreign.ErrCorrupt
	// ErrChanged: the file was cut short or written to while it was read.
	ErrChanged = foreign.ErrChanged
)

// Guard is foreign.Guard.
func Guard(err *error) func() { return foreign.Guard(err) }
