package host

import (
	"fmt"

	"github.com/gostap/gostap/runtime/host/symbols"
)

// keptText is the text of a stack that the kernel keeps, a line a frame; "" for number 0, which is no stack.
func (o *output) keptText(number int64) string {
	if number == 0 {
		return ""
	}
	if text, ok := o.kept[number]; ok {
		return text
	}
	if o.keeper == nil {
		return ""
	}
	s, ok, err := o.keeper.Stack(number)
	if err == nil && !ok {
		err = fmt.Errorf("the kernel does not keep it")
	}
	if err != nil {
		if o.failed == nil {
			o.failed = fmt.Errorf("read stack %d: %w", number, err)
		}
		return ""
	}
	var text string
	switch {
	case s.Walked:
		text = o.syms.Backtrace(s.Tgid, o.syms.Filled(s.Tgid, symbols.Trace{PCs: s.PCs, Exact: s.Exact, Cut: s.Cut}))
	case s.User:
		text = o.syms.Backtrace(s.Tgid, o.syms.Walked(s.Tgid, s.PCs))
	default:
		text = o.syms.KernelBacktrace(s.PCs)
	}
	if s.Created != 0 {
		text += " created by the go statement at\n" + o.syms.Name(s.Tgid, s.Created, true).Lines()
		s.PCs = append(s.PCs, s.Created)
	}
	if o.kept == nil {
		o.kept, o.keptPCs = map[int64]string{}, map[string][]uint64{}
	}
	o.kept[number], o.keptPCs[text] = text, s.PCs
	return text
}
