package cgo

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
)

// Structures implements debuginfo.Structures: those of Go, and those of the C code that is in the same file.
func (im *Image) Structures(each func(debuginfo.Structure) bool) error {
	d, err := im.DWARF()
	if err != nil {
		return err
	}
	return dwtype.Of(d).Structures(each)
}
