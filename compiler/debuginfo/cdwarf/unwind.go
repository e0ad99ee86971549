package cdwarf

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cfi"
)

var _ debuginfo.Unwinder = (*Image)(nil)

// Unwind implements debuginfo.Unwinder.
func (im *Image) Unwind(pc uint64) (*cfi.Rules, error) { return im.f.Unwind(pc) }
