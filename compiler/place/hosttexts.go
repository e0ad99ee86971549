package place

import (
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/wire"
)

// HostTexts are the intrinsics whose text the host makes, by name: what a record carries of it. Which names there are for
// value_text (wire.Decoded) stands in the call.
var HostTexts = map[string]wire.Arg{
	"usymname":          {Kind: wire.Sym, Lazy: wire.SymName},
	"usymdata":          {Kind: wire.Sym, Lazy: wire.SymData},
	"usymfileline":      {Kind: wire.Sym, Lazy: wire.SymLine},
	"usymfile":          {Kind: wire.Sym, Lazy: wire.SymFile},
	"usymline":          {Kind: wire.Sym, Lazy: wire.SymLineNo},
	"umodname":          {Kind: wire.Sym, Lazy: wire.SymModule},
	"modname":           {Kind: wire.Sym, Lazy: wire.KSymModule},
	"usym_frame":        {Kind: wire.Sym, Lazy: wire.SymFrame},
	"usym_caller":       {Kind: wire.Sym, Lazy: wire.SymCaller},
	"usym_brief":        {Kind: wire.Sym, Lazy: wire.SymBrief},
	"usym_caller_brief": {Kind: wire.Sym, Lazy: wire.SymCallerBrief},
	"usym_caller_name":  {Kind: wire.Sym, Lazy: wire.SymCallerName},
	"sym_caller":        {Kind: wire.Sym, Lazy: wire.KSymCaller},
	"sym_caller_name":   {Kind: wire.Sym, Lazy: wire.KSymCallerName},
	"symname":           {Kind: wire.Sym, Lazy: wire.KSymName},
	"symdata":           {Kind: wire.Sym, Lazy: wire.KSymData},
	"ubacktrace":        {Kind: wire.Stack, Lazy: wire.StackHex},
	"sprint_ubacktrace": {Kind: wire.Stack, Lazy: wire.StackNames},
	"backtrace":         {Kind: wire.Stack, Lazy: wire.KStackHex},
	"sprint_backtrace":  {Kind: wire.Stack, Lazy: wire.KStackNames},
	"ctime":             {Kind: wire.Int, Lazy: wire.CTime},
	"value_text":        {Kind: wire.Int, Lazy: wire.Decoded},
}

// FramePointers reports whether frame pointers lead from all sites to their callers: they are in code of Go, whose functions keep them,
// and where the function has no frame yet, or none any more, the return address is on top of the stack (ReturnOnTop). The stacks of
// all other places are sent to the host, which unwinds them by call frame information.
func FramePointers(sites []*probe.Site) bool {
	if len(sites) == 0 {
		return false
	}
	for _, s := range sites {
		if !s.Kind.InUser() || s.Image == nil || s.Image.Lang() != debuginfo.Go || s.At.Func == nil {
			return false
		}
		if s.At.Func.ABI != debuginfo.GoABIInternal && s.At.Kind != debuginfo.AtEntry { // assembly
			return false
		}
	}
	top := 0
	for _, s := range sites {
		if returnOnTop(s) {
			top++
		}
	}
	return top == 0 || top == len(sites)
}

// ReturnOnTop reports whether the return address is on top of the stack at all sites.
func ReturnOnTop(sites []*probe.Site) bool {
	for _, s := range sites {
		if !returnOnTop(s) {
			return false
		}
	}
	return len(sites) > 0
}

// onTop computes the return address at a function's first instruction.
var onTop = loc.Register(7).Load(8, false, false)

func returnOnTop(s *probe.Site) bool {
	return s.Kind.InUser() && !s.Kind.Returns() && s.Image != nil && (s.At.Kind == debuginfo.AtEntry || slices.Equal(s.At.Return.Steps, onTop.Steps))
}
