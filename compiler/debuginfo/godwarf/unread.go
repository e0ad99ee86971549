package godwarf

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/machine/insn"
)

var _ debuginfo.RegUser = (*Image)(nil)

// RegUnread implements debuginfo.RegUser.
func (im *Image) RegUnread(s debuginfo.Site, reg int) (name string, unread bool) {
	var err error
	defer dw.Guard(&err)()
	i := im.tab.Find(s.PC)
	if i < 0 {
		return "", false
	}
	code, err := im.code(i)
	if err != nil {
		return "", false
	}
	return im.m.RegName(uint64(reg)), insn.Unread(im.m.Code, code, im.tab.Entry(i), s.PC, reg, false)
}
