package host

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/runtime/host/symbols"
	"github.com/gostap/gostap/runtime/wire"
)

// keptStack are the texts of a stack that the kernel keeps: a line a frame, the addresses, and the functions.
type keptStack struct{ lines, addrs, folded string }

// keptText is one of the texts; "" for number 0, which is no stack.
func (o *output) keptText(number int64, as wire.Lazy) string {
	if number == 0 {
		return ""
	}
	k, ok := o.kept[number]
	if !ok && o.keeper != nil {
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
		k = o.keptTexts(s)
		if o.kept == nil {
			o.kept, o.keptPCs = map[int64]keptStack{}, map[string][]uint64{}
		}
		if s.Created != 0 {
			s.PCs = append(s.PCs, s.Created)
		}
		o.kept[number], o.keptPCs[k.lines] = k, s.PCs
	}
	switch as {
	case wire.KeptHex:
		return k.addrs
	case wire.KeptFolded:
		return k.folded
	}
	return k.lines
}

// keptTexts makes the texts of a stack. The addresses are a string to the script, and no longer than that can be.
func (o *output) keptTexts(s backend.KeptStack) (k keptStack) {
	if s.Folded != "" {
		return keptStack{lines: symbols.Unfolded(s.Folded), folded: s.Folded}
	}
	if !s.User {
		return keptStack{o.syms.KernelBacktrace(s.PCs), o.cut(symbols.Hex(s.PCs), " ", " ..."),
			o.syms.KernelFolded(s.PCs)}
	}
	var t symbols.Trace
	if s.Walked {
		t = o.syms.Filled(s.Tgid, symbols.Trace{PCs: s.PCs, Exact: s.Exact, Cut: s.Cut})
	} else {
		t = o.syms.Walked(s.Tgid, s.PCs)
	}
	k.lines, k.folded = o.syms.Backtrace(s.Tgid, t), o.syms.Folded(s.Tgid, t)
	o.syms.Saw(s.Tgid, t)
	k.addrs = t.Hex()
	if s.Created != 0 {
		below := symbols.Trace{PCs: []uint64{0, s.Created}} // a call, as all but the first are
		o.syms.Saw(s.Tgid, below)
		k.lines += " created by the go statement at\n" + o.syms.Name(s.Tgid, s.Created, true).Lines()
		k.addrs = strings.TrimPrefix(k.addrs+" "+symbols.Hex(below.PCs[1:]), " ")
	}
	k.addrs = o.cut(k.addrs, " ", " ...")
	return k
}
