package dw

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// ErrCorrupt is the cause of errors about bytes that contradict their format.
var ErrCorrupt = errors.New("corrupt debug information")

// ErrChanged says that the file was cut short or replaced in place while it was read.
var ErrChanged = errors.New("the file changed while it was read")

// Guard makes the calling function return panics of readers, and faults on mapped file
// bytes, as *err. Use it as the first statement:
//
//	defer dw.Guard(&err)()
//
// Errors of the Go runtime other than those (a nil map, say) come from foreign bytes as
// well as from our own mistakes, so they are errors too; the tests look for them.
func Guard(err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		r := recover()
		if r == nil {
			return
		}
		if onPanic != nil {
			onPanic(r)
		}
		var re runtime.Error
		if e, ok := r.(error); ok && errors.As(e, &re) {
			if _, fault := r.(interface{ Addr() uintptr }); fault {
				*err = ErrChanged
				return
			}
		}
		*err = fmt.Errorf("%w: %v", ErrCorrupt, r)
	}
}

// onPanic lets tests see what Guard caught.
var onPanic func(any)
