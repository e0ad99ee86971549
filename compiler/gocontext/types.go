package gocontext

import (
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// Is reports whether values of t are contexts: of the interface, or pointers to what package context makes.
func Is(t *types.Ctype) bool {
	switch {
	case t == nil || !t.Go:
	case t.Kind == types.GoInterface:
		return t.Name == "context.Context"
	case t.Kind == types.Pointer && t.Elem() != nil:
		switch t.Elem().Name {
		case "context.valueCtx", "context.cancelCtx", "context.timerCtx", "context.afterFuncCtx":
			return true
		}
	}
	return false
}

// FormOf says how keys of type t lie; false for those that cannot be looked up. direct: an interface's second word is
// such a value itself.
func FormOf(t *types.Ctype, direct bool) (loc.KeyForm, bool) {
	if t.Size == 0 {
		return loc.OneKey, true
	}
	switch t.Kind {
	case types.Pointer, types.GoMap, types.GoChan, types.GoFunc:
		return loc.WordKey, direct || t.NoRunTime
	case types.GoString:
		return loc.TextKey, true
	case types.Int, types.Bool, types.Char, types.Enum:
		switch t.Size {
		case 1, 2, 4, 8:
			return loc.NumberKey, !direct
		}
	}
	return 0, false
}
