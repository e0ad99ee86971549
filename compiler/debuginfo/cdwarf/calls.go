package cdwarf

import (
	"cmp"
	"debug/dwarf"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// Entries of debug information about calls: DWARF 5, 3.4, and what gcc writes with older versions.
const (
	tagCallSite      = dwarf.Tag(0x48)
	tagGNUCallSite   = dwarf.Tag(0x4109)
	attrCallReturnPC = dwarf.Attr(0x7d)
	attrCallOrigin   = dwarf.Attr(0x7f)
)

// Calls implements debuginfo.Calls. Direct calls are read from the code, so that they are found without debug
// information and without optimisation too, where compilers describe no calls. For calls through a register it is
// DW_AT_call_origin that tells.
func (im *Image) Calls(f *debuginfo.Func) (out []debuginfo.Call, err error) {
	defer foreign.Guard(&err)()
	fn, err := im.of(f)
	if err != nil || fn == nil {
		return nil, err
	}
	ranges := [][2]uint64{{fn.Entry, fn.End}}
	origins := map[uint64]*godwarf.Tree{}
	if fn.tree != nil {
		if len(fn.tree.Ranges) > 0 {
			ranges = fn.tree.Ranges
		}
		callSites(fn.tree, origins)
	}
	inside := func(pc uint64) bool {
		return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return r[0] <= pc && pc < r[1] })
	}
	for _, r := range ranges {
		if r[1]-r[0] > maxCode || !im.f.InText(r[0]) {
			continue
		}
		code, err := im.f.Bytes(r[0], int(r[1]-r[0]))
		if err != nil {
			return nil, err
		}
		err = insn.Walk(im.m.Code, code, r[0], func(pc uint64, in insn.Inst) bool {
			c := debuginfo.Call{PC: pc, Ret: pc + uint64(in.Len)}
			switch in.Kind {
			case insn.Call:
				c.Target = in.Target(pc)
			case insn.IndirectCall:
				if slot, ok := im.m.Code.CallSlot(code[pc-r[0]:], in, pc); ok {
					c.Name = im.f.SlotName(slot)
				}
				if t := origins[c.Ret]; t != nil && c.Name == "" {
					c.Target, c.Name = im.traced().origin(t)
				}
			case insn.Jump, insn.CondJump:
				if c.Target, c.Jump = in.Target(pc), true; inside(c.Target) {
					return true
				}
			default:
				return true
			}
			im.traced().throughTable(&c)
			out = append(out, c)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b debuginfo.Call) int { return cmp.Compare(a.PC, b.PC) })
	return out, nil
}

// throughTable finds the function behind a stub of the procedure linkage table. A function that the file has itself is
// taken for the one that is called: if another file's takes its place, the probe in this one is not hit.
func (im tracer) throughTable(c *debuginfo.Call) {
	if c.Target != 0 {
		if name := im.f.StubAt(c.Target); name != "" {
			c.Name, c.Target = name, 0
		}
	}
	if c.Target != 0 || c.Name == "" {
		return
	}
	for _, s := range im.f.SymbolsNamed(c.Name) {
		if s.Func() && im.f.InText(s.Addr) {
			c.Target = s.Addr
		}
	}
}

// callSites collects the entries about calls in a function by the address behind the call.
func callSites(t *godwarf.Tree, to map[uint64]*godwarf.Tree) {
	for _, c := range t.Children {
		switch c.Tag {
		case tagCallSite:
			if pc, ok := c.Val(attrCallReturnPC).(uint64); ok {
				to[pc] = c
			}
		case tagGNUCallSite:
			if pc := lowPC(c); pc != 0 {
				to[pc] = c
			}
		}
		callSites(c, to)
	}
}

// origin is the function that a call site says is called: where it begins, or its name.
func (im tracer) origin(t *godwarf.Tree) (pc uint64, name string) {
	off, ok := t.Val(attrCallOrigin).(dwarf.Offset)
	if !ok {
		if off, ok = t.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); !ok {
			return 0, ""
		}
	}
	e, err := im.d.Entry(off)
	if err != nil || e.Tag != dwarf.TagSubprogram {
		return 0, ""
	}
	if low, ok := dw.EntryPC(e); ok {
		return low, ""
	}
	name, _ = e.Val(dwarf.AttrLinkageName).(string)
	return 0, cmp.Or(name, dw.Name(e))
}

// Copies implements debuginfo.Calls.
func (im *Image) Copies(f *debuginfo.Func) (out []debuginfo.Copy, err error) {
	defer foreign.Guard(&err)()
	fn, err := im.of(f)
	if err != nil || fn == nil || fn.tree == nil {
		return nil, err
	}
	var walk func(t *godwarf.Tree, into []string) error
	walk = func(t *godwarf.Tree, into []string) error {
		for _, c := range t.Children {
			around := into
			switch c.Tag {
			case dwarf.TagInlinedSubroutine:
				in, err := im.traced().copyAt(fn, c)
				if err != nil {
					return err
				}
				if in != nil {
					out = append(out, debuginfo.Copy{InlineSite: in, Into: into})
				}
				around = append([]string{dw.Name(c)}, into...)
			case dwarf.TagLexDwarfBlock:
			default:
				continue
			}
			if err := walk(c, around); err != nil {
				return err
			}
		}
		return nil
	}
	err = walk(fn.tree, nil)
	slices.SortStableFunc(out, func(a, b debuginfo.Copy) int { return cmp.Compare(a.Site.PC, b.Site.PC) })
	return out, err
}

// FramePointer implements debuginfo.Calls.
func (im *Image) FramePointer(pc uint64) (p loc.Prog, err error) {
	defer foreign.Guard(&err)()
	fn, err := im.at(pc)
	if err != nil || fn == nil {
		return p, err
	}
	fr, err := im.frame(fn, pc)
	return fr.FP, err
}

// Address implements debuginfo.Calls.
func (im *Image) Address(pc uint64) loc.Prog { return loc.Static(pc, im.f.Relocated()) }
