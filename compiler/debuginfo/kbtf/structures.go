package kbtf

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/btf"
)

// Structures calls each with the structures and unions of the kernel, or of the module alone, that have a name, until
// each says false. BTF does not know where they stand in the source.
func (s *Scope) Structures(each func(debuginfo.Structure) bool) error {
	nowhere := func() (string, int) { return "", 0 }
	s.b.Each(func(r btf.Record) bool {
		if k := r.Kind(); k != btf.KindStruct && k != btf.KindUnion || !r.Named() {
			return true
		}
		return each(debuginfo.Structure{Type: s.ctype(r.ID()), Declared: nowhere})
	})
	return nil
}

// Structures implements debuginfo.Structures.
func (im *Image) Structures(each func(debuginfo.Structure) bool) error {
	if im.scope == nil {
		return im.err
	}
	return im.scope.Structures(each)
}
