package cdwarf

import (
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/machine/insn"
)

var _ debuginfo.RegUser = (*Image)(nil)

// RegDead implements debuginfo.RegUser.
func (im *Image) RegDead(s debuginfo.Site, reg int) (name string, dead bool) {
	var err error
	defer foreign.Guard(&err)()
	fn, err := im.at(s.PC)
	if err != nil || fn == nil {
		return "", false
	}
	low, code, err := im.code(fn, s.PC)
	if err != nil {
		return "", false
	}
	return im.m.RegName(uint64(reg)), insn.Dead(im.m.Code, code, low, s.PC, reg, slices.Contains(im.m.Scratch, reg))
}
