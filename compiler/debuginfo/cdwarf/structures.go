package cdwarf

import "github.com/gostap/gostap/compiler/debuginfo"

// Structures implements debuginfo.Structures.
func (im *Image) Structures(each func(debuginfo.Structure) bool) error {
	if im.d == nil {
		return im.noTypes()
	}
	return im.types.Structures(each)
}
