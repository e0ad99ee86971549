package foreign

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrCorrupt is the cause of errors about bytes that contradict their format.
var ErrCorrupt = errors.New("corrupt debug information")

// ErrChanged says that a file was cut short or written to while it was read.
var ErrChanged = errors.New("the file changed while it was read")

// ChangedError is ErrChanged of the file at Path.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string { return e.Path + ": " + ErrChanged.Error() }

// Unwrap is ErrChanged.
func (e *ChangedError) Unwrap() error { return ErrChanged }

// Mapping is a file in memory, read-only.
type Mapping struct {
	// Bytes are the file's own: look at them under Guard, or in a Goroutine.
	Bytes []byte
	path  string
	// cut: a look at it has failed
	cut bool
}

// mappings are those that are open, so that a fault can be told by its address. There are a few dozen at most.
var mappings struct {
	sync.Mutex
	all []*Mapping
}

// Map maps the first size bytes of f, which lies at path. flags are those of mmap(2): MAP_SHARED or MAP_PRIVATE,
// and more.
func Map(f *os.File, path string, size int64, flags int) (*Mapping, error) {
	if size <= 0 || int64(int(size)) != size {
		return nil, &os.PathError{Op: "mmap", Path: path, Err: unix.EINVAL}
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, flags)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: path, Err: err}
	}
	m := &Mapping{Bytes: b, path: path}
	mappings.Lock()
	mappings.all = append(mappings.all, m)
	mappings.Unlock()
	return m, nil
}

// Close takes the mapping away. Nothing of its bytes may be looked at afterwards.
func (m *Mapping) Close() error {
	mappings.Lock()
	if i := slices.Index(mappings.all, m); i >= 0 {
		mappings.all = slices.Delete(mappings.all, i, i+1)
	}
	mappings.Unlock()
	b := m.Bytes
	m.Bytes = nil
	if b == nil {
		return nil
	}
	return unix.Munmap(b)
}

// Trim gives back the memory that holds what was looked at; it is read again when it is looked at again.
func (m *Mapping) Trim() {
	if len(m.Bytes) > 0 {
		unix.Madvise(m.Bytes, unix.MADV_DONTNEED)
	}
}

// Cut reports whether a look at the bytes has failed because the file is shorter now.
func (m *Mapping) Cut() bool {
	mappings.Lock()
	defer mappings.Unlock()
	return m.cut
}

// faulted finds the mapping that a fault was in, nil if it was in none.
func faulted(addr uintptr) *Mapping {
	mappings.Lock()
	defer mappings.Unlock()
	for _, m := range mappings.all {
		if len(m.Bytes) == 0 {
			continue
		}
		from := uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes)))
		// Mappings end with a page.
		if addr >= from && addr-from < uintptr(len(m.Bytes)+os.Getpagesize()-1)&^uintptr(os.Getpagesize()-1) {
			m.cut = true
			return m
		}
	}
	return nil
}

// Explain gives the error that a recovered panic stands for: a ChangedError for a fault on mapped bytes, nil for
// all else.
func Explain(r any) error {
	if f, ok := r.(interface {
		error
		Addr() uintptr
	}); ok {
		if m := faulted(f.Addr()); m != nil {
			return &ChangedError{m.path}
		}
	}
	return nil
}

// Goroutine has faults of the calling goroutine become panics until done is called.
func Goroutine() (done func()) {
	old := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(old) }
}

// Guard makes the calling function return panics of readers, and faults on mapped bytes, as *err. Use it as the
// first statement:
//
//	defer foreign.Guard(&err)()
//
// Errors of the Go runtime other than those (a nil map, say) come from foreign bytes as well as from our own
// mistakes, so they are errors too; the tests look for them.
func Guard(err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		r := recover()
		if r == nil {
			return
		}
		if e := Explain(r); e != nil {
			*err = e
			return
		}
		if OnPanic != nil {
			OnPanic(r)
		}
		if e, ok := r.(runtime.Error); ok {
			if _, fault := e.(interface{ Addr() uintptr }); fault {
				*err = ErrChanged
				return
			}
		}
		*err = fmt.Errorf("%w: %v", ErrCorrupt, r)
	}
}

// OnPanic lets tests see the panics that Guard caught, other than faults on mapped bytes.
var OnPanic func(any)
