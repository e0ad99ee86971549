package godwarf

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/machine/insn"
)

var _ debuginfo.RegUser = (*Image)(nil)

// RegDead implements debuginfo.RegUser.
func (im *Image) RegDead(s debuginfo.Site, reg int) (name string, dead bool) {
	var err error
	defer foreign.Guard(&err)()
	i := im.tab.Find(s.PC)
	if i < 0 {
		return "", false
	}
	code, err := im.code(i)
	if err != nil {
		return "", false
	}
	return im.m.RegName(uint64(reg)), insn.Dead(im.m.Code, code, im.tab.Entry(i), s.PC, reg, false)
}
