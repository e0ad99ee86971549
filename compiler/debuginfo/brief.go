package debuginfo

// Brief is what images have that can tell with less work and memory whether functions can be probed than what there is
// to know at each place.
type Brief interface {
	// EachCopy calls f with each copy that Inlined lists, in about the same order (by address). Of the copy only Func
	// and, of Site, PC, Kind and Insn are set, and it is f's for the call only. It says nothing about there being none.
	EachCopy(pattern string, f func(*InlineSite)) error
	// Enters is EntrySite with only PC, Kind, Func and Insn set. For code that the compiler has put a function into it
	// may be another place where that can be probed as well.
	Enters(f *Func) (Site, error)
}

// EachCopy calls f with each inlined copy of the functions that a pattern means: by Brief where brief and the image has
// that.
func EachCopy(img Image, brief bool, pattern string, f func(*InlineSite)) error {
	if b, ok := img.(Brief); ok && brief {
		return b.EachCopy(pattern, f)
	}
	copies, err := img.Inlined(pattern)
	for _, in := range copies {
		f(in)
	}
	return err
}

// Enters is where a function is entered, by Brief likewise.
func Enters(img Image, brief bool, f *Func) (Site, error) {
	if b, ok := img.(Brief); ok && brief {
		return b.Enters(f)
	}
	return img.EntrySite(f)
}
