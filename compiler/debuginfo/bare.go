package debuginfo

// Bared is what images of Go programs have: without DWARF arguments are told by position, as far as Go's own tables go.
type Bared interface {
	// Bare reports whether there is no DWARF.
	Bare() bool
}

// Tells reports whether anything is known of variables of img.
func Tells(img Image) bool {
	if img.HasTypes() {
		return true
	}
	b, ok := img.(Bared)
	return ok && b.Bare()
}

// BareError says that something is not known of a program without DWARF, although other things are.
type BareError struct{ Reason string }

func (e *BareError) Error() string { return e.Reason }

// Unwrap gives ErrNoTypes.
func (e *BareError) Unwrap() error { return ErrNoTypes }
