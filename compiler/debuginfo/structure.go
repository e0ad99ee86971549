package debuginfo

import "github.com/gostap/gostap/compiler/types"

// Structure is a structure, class or union that has a name.
type Structure struct {
	Type *types.Ctype
	// Declared says where it stands in the source, "" if that is not known.
	Declared func() (file string, line int)
}

// Structures is what images have that can list the structures of a program or the kernel.
type Structures interface {
	// Structures calls each with all of them until it says false. The same one may come several times.
	Structures(each func(Structure) bool) error
}
