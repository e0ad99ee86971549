package godwarf

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/x86"
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
	return x86.RegName(reg), x86.Unread(code, im.tab.Entry(i), s.PC, reg, false)
}
