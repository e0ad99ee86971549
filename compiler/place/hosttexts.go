package place

import "github.com/gostap/gostap/runtime/wire"

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
