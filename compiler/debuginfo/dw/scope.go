package dw

import (
	"debug/dwarf"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
)

// ScopeVar is a parameter or variable that has a name at a pc.
type ScopeVar struct {
	*godwarf.Tree
	// Depth counts the blocks around it from the function or inlined copy that it belongs to.
	Depth int
	// Block is the innermost block around it.
	Block *godwarf.Tree
	// In is the function or the inlined copy that it belongs to.
	In *godwarf.Tree
}

// Scope lists the parameters and variables of t (from FuncTree) with a name at pc, outermost
// function first and in order of declaration. Lexical blocks that do not cover pc are left out, and so
// are inlined copies.
func Scope(t *godwarf.Tree, pc uint64) []ScopeVar {
	var out []ScopeVar
	var walk func(n, in *godwarf.Tree, depth int)
	walk = func(n, in *godwarf.Tree, depth int) {
		for _, c := range n.Children {
			switch c.Tag {
			case dwarf.TagFormalParameter, dwarf.TagVariable:
				out = append(out, ScopeVar{Tree: c, Depth: depth, Block: n, In: in})
			case dwarf.TagLexDwarfBlock:
				if c.ContainsPC(pc) {
					walk(c, in, depth+1)
				}
			case dwarf.TagInlinedSubroutine:
				if c.ContainsPC(pc) {
					walk(c, c, 0)
				}
			}
		}
	}
	walk(t, t, 0)
	return out
}

// AllVars lists the parameters and variables of t and of all blocks and inlined copies in it.
func AllVars(t *godwarf.Tree) []ScopeVar {
	var out []ScopeVar
	var walk func(n, in *godwarf.Tree, depth int)
	walk = func(n, in *godwarf.Tree, depth int) {
		for _, c := range n.Children {
			switch c.Tag {
			case dwarf.TagFormalParameter, dwarf.TagVariable:
				out = append(out, ScopeVar{Tree: c, Depth: depth, Block: n, In: in})
			case dwarf.TagLexDwarfBlock:
				walk(c, in, depth+1)
			case dwarf.TagInlinedSubroutine:
				walk(c, c, 0)
			}
		}
	}
	walk(t, t, 0)
	return out
}

// InlineStack lists the inlined copies that cover pc, innermost first. Unlike Delve's it also looks into
// blocks that claim no code.
func InlineStack(t *godwarf.Tree, pc uint64) []*godwarf.Tree {
	var out []*godwarf.Tree
	for n := t; n != nil; {
		n = inlinedAt(n, pc)
		if n != nil {
			out = append(out, n)
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// inlinedAt is the outermost inlined copy below n that covers pc.
func inlinedAt(n *godwarf.Tree, pc uint64) *godwarf.Tree {
	for _, c := range n.Children {
		switch c.Tag {
		case dwarf.TagInlinedSubroutine:
			if c.ContainsPC(pc) {
				return c
			}
		case dwarf.TagLexDwarfBlock:
			if len(c.Ranges) == 0 || c.ContainsPC(pc) {
				if x := inlinedAt(c, pc); x != nil {
					return x
				}
			}
		}
	}
	return nil
}

// Inlined lists all inlined copies below t, also those in lexical blocks and in other copies
// (Delve's BinaryInfo stops at blocks, where gcc and clang put many).
func Inlined(t *godwarf.Tree) []*godwarf.Tree { return appendInlined(nil, t) }

func appendInlined(out []*godwarf.Tree, t *godwarf.Tree) []*godwarf.Tree {
	for _, c := range t.Children {
		switch c.Tag {
		case dwarf.TagInlinedSubroutine:
			out = appendInlined(append(out, c), c)
		case dwarf.TagLexDwarfBlock:
			out = appendInlined(out, c)
		}
	}
	return out
}

// Name is DW_AT_name, of the entry or of what it is a copy of.
func Name(t *godwarf.Tree) string {
	s, _ := t.Val(dwarf.AttrName).(string)
	return s
}

// Flag is a boolean attribute.
func Flag(t *godwarf.Tree, a dwarf.Attr) bool {
	b, _ := t.Val(a).(bool)
	return b
}

// Int is an integer attribute, 0 if absent.
func Int(t *godwarf.Tree, a dwarf.Attr) int64 {
	n, _ := t.Val(a).(int64)
	return n
}

// EntryPC is where an inlined copy or function is entered: DW_AT_entry_pc, else its base address
// (DW_AT_low_pc or the start of the first range).
func EntryPC(t *godwarf.Tree) (uint64, bool) {
	e, ok := t.Entry.(*entry)
	if !ok {
		return 0, false
	}
	switch v := e.first.Val(dwarf.AttrEntrypc).(type) {
	case uint64:
		return v, true
	case int64: // an offset from the base address (DWARF 5, 2.18)
		if e.hasBase {
			return e.base + uint64(v), true
		}
	}
	return e.base, e.hasBase
}

// Marked reports whether the compiler says itself where t is entered. gcc marks the place in the code where the call
// was and moves instructions to both sides of it: it can lie outside of what is left of the copy, and be all that is.
func Marked(t *godwarf.Tree) bool {
	e, ok := t.Entry.(*entry)
	return ok && e.first.Val(dwarf.AttrEntrypc) != nil
}

// SplitOff reports whether t is the rest of a function that gcc has split in two (-fpartial-inlining): a copy that the
// function's first part "calls" from where the function is declared, which no call in a source can be.
func SplitOff(root, t *godwarf.Tree) bool {
	for _, at := range [][2]dwarf.Attr{{dwarf.AttrCallLine, dwarf.AttrDeclLine},
		{dwarf.AttrCallColumn, dwarf.AttrDeclColumn}} {
		if n := Int(t, at[0]); n == 0 || n != Int(t, at[1]) {
			return false
		}
	}
	return within(root, t, Origin(t), Origin(root) == Origin(t))
}

// within reports whether t lies in a copy of the function at origin below n; in says that n itself does.
func within(n, t *godwarf.Tree, origin dwarf.Offset, in bool) bool {
	for _, c := range n.Children {
		switch {
		case c == t:
			return in
		case c.Tag == dwarf.TagInlinedSubroutine && within(c, t, origin, in || Origin(c) == origin),
			c.Tag == dwarf.TagLexDwarfBlock && within(c, t, origin, in):
			return true
		}
	}
	return false
}
