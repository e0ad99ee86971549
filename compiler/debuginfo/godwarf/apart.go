package godwarf

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/assigned"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/types"
)

// apart says why p, where the location list of e has an argument, does not follow what is assigned to it, "" if nothing
// shows that. An argument whose address is taken is moved from its registers to its own room above the frame, and
// changed there. Its list knows of the registers only, and of where the frame keeps those.
func (v *view) apart(e *godwarf.Tree, p loc.Place) string {
	n := slices.IndexFunc(v.sig.params, func(q sigVar) bool { return q.entry == e })
	if v.copy != nil || n < 0 || e.Tag != dwarf.TagFormalParameter || v.sig.paramsErr != nil {
		return ""
	}
	slot := v.sig.layout.Params[n]
	own := assigned.Held{Reg: -1, Slot: insn.Store{Off: slot.Off, Size: slot.Type.Size}}
	if slot.OnStack() || !slices.ContainsFunc(v.held(p), func(h assigned.Held) bool {
		return !h.In([]assigned.Held{own})
	}) {
		return ""
	}
	x := v.im.effectsOf(v.i)
	if x == nil || !x.Takes(own.Slot) && !v.changes(e, slot.Type, x, own.Slot) {
		return ""
	}
	return "its address is taken, and the debug information may have a copy of it from before"
}

// changes reports whether the source takes the address of e, or may do so in a function that has been inlined: then
// there is only a store in its room.
func (v *view) changes(e *godwarf.Tree, t *types.Ctype, x *insn.Effects, room insn.Store) bool {
	src := v.source()
	if src == nil {
		return false
	}
	taken, byMethods := src.Taken(dw.Name(e), int(dw.Int(e, dwarf.AttrDeclLine)))
	return taken || byMethods && hasMethods(t) && slices.ContainsFunc(x.Stores, room.Meets)
}

// hasMethods reports whether a variable of a type may have methods that want its address, or be sliced by that.
func hasMethods(t *types.Ctype) bool {
	switch t.Kind {
	case types.Pointer, types.GoInterface:
		return false
	case types.Array:
		return true
	}
	return !strings.HasPrefix(t.Name, "[]") && strings.Contains(t.Name, ".") // package.Name
}
