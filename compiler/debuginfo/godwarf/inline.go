package godwarf

import (
	"cmp"
	"debug/dwarf"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/funcname"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/types"
)

// Inlined lists the inlined copies of the functions that a name or glob means, by address. The
// error is a *debuginfo.NotFoundError when there is none.
func (im *Image) Inlined(text string) (sites []*debuginfo.InlineSite, err error) {
	defer foreign.Guard(&err)()
	p := funcname.Parse(text)
	sites, err = im.inlines().inlined(p)
	if err != nil {
		return nil, err
	}
	if len(sites) > 0 {
		if im.HasTypes() {
			for _, s := range sites {
				im.inlines().betterEntry(s)
			}
		}
		return sites, nil
	}
	e := &debuginfo.NotFoundError{What: "inlined function", Name: text}
	if len(im.registry().indexes(p)) > 0 {
		e.Detail = "it is inlined nowhere; leave .inline out"
	} else if !p.Glob {
		e.Near = im.registry().near(text)
	}
	return nil, e
}

func (im inliner) inlined(p *funcname.Pattern) ([]*debuginfo.InlineSite, error) {
	match := func(name []byte) bool { return p.Match(name) && !wrapperSuffix(name) }
	var sites []*debuginfo.InlineSite
	for _, host := range im.tab.SelectInlined(match) {
		calls, ok := im.tab.Inlined(host)
		if !ok {
			continue
		}
		st := im.wrappers().standOf(host) // what is its own code is not inlined
		for n, c := range calls {
			if len(c.Ranges) > 0 && match([]byte(c.Name)) && (st == nil || st.call != n) {
				sites = append(sites, im.inlineSite(host, calls, n))
			}
		}
	}
	slices.SortFunc(sites, func(a, b *debuginfo.InlineSite) int { return cmp.Compare(a.Site.PC, b.Site.PC) })
	return sites, nil
}

// copyID is one inlined call: its index among those of the function host.
type copyID struct{ host, call int }

// inlineSite describes call n of those inlined into function host.
func (im inliner) inlineSite(host int, calls []pclntab.Inlined, n int) *debuginfo.InlineSite {
	c := &calls[n]
	in := &debuginfo.InlineSite{Func: im.inlinedFunc(host, calls, n), In: im.funcOf(host)}
	// The call is where its mark stands, in the function around it.
	in.CallFile, in.CallLine, _ = im.tab.Place(host, c.CallPC, c.Parent)
	pc := im.inlineEntry(host, c)
	in.Site = im.site(host, pc, debuginfo.AtInline)
	in.Site.Inline = in
	if im.HasTypes() {
		im.copies[in] = copyID{host, n}
	}
	return in
}

// inlineEntry chooses where an inlined copy is entered. The compiler marks the place by a NOP, unless it
// found another instruction of the call's line to carry the mark (cmd/compile/internal/ssagen,
// inlMarks); that one need not run when the call does. Then it is the first instruction of the body.
func (im inliner) inlineEntry(host int, c *pclntab.Inlined) uint64 {
	if b, err := im.f.Bytes(c.CallPC, 15); err == nil {
		if in, err := insn.Decode(im.m.Code, b); err == nil && in.Kind == insn.Nop {
			return c.CallPC
		}
	}
	return c.Ranges[0][0]
}

// betterEntry looks for a pc that is executed exactly when the entry of the copy is, and at
// which more of its arguments have values: the scheduler may begin with the body before the last argument
// is computed. It is on the way from the entry to the next jump.
func (im inliner) betterEntry(in *debuginfo.InlineSite) {
	id := im.copies[in]
	v, err := im.view(in.Site)
	if err != nil || v.copy == nil {
		return
	}
	type param struct {
		e *godwarf.Tree
		t *types.Ctype
	}
	var params []param
	for _, c := range v.copy.Children {
		if c.Tag == dwarf.TagFormalParameter {
			if t, err := v.im.types.TypeOf(c); err == nil {
				params = append(params, param{c, t})
			}
		}
	}
	live := func(pc uint64) (n int) {
		env := im.env(v.i, v.sig, pc)
		for _, p := range params {
			if _, err := v.sig.unit.VarPlace(p.e, p.t, env, pc); err == nil {
				n++
			}
		}
		return n
	}
	pc, most := in.Site.PC, live(in.Site.PC)
	if most == len(params) {
		return
	}
	for _, at := range im.straightLine(id.host, pc) {
		if most == len(params) {
			break
		}
		if n := live(at); n > most {
			pc, most = at, n
		}
	}
	if pc != in.Site.PC {
		in.Site = im.site(id.host, pc, debuginfo.AtInline)
		in.Site.Inline = in
	}
}

// straightLine lists the instructions of function i that are executed whenever the one at pc is:
// those behind it up to a jump or the target of one.
func (im inliner) straightLine(i int, pc uint64) (pcs []uint64) {
	code, err := im.code(i)
	if err != nil {
		return nil
	}
	entry := im.tab.Entry(i)
	j := im.jumpsOf(i, code)
	if j.unknown || pc < entry || pc-entry >= uint64(len(code)) {
		return nil
	}
	insn.Walk(im.m.Code, code[pc-entry:], pc, func(at uint64, in insn.Inst) bool {
		if at != pc && j.targets[at] {
			return false
		}
		pcs = append(pcs, at)
		return goesOn(in)
	})
	return pcs
}

// jumps are where the jumps of a function lead to.
type jumps struct {
	of      int // function of - 1
	targets map[uint64]bool
	unknown bool // it has some whose targets are not known, or does not decode
}

// jumpsOf finds the jumps of function i, whose code it is given. It keeps those of the last one.
func (im inliner) jumpsOf(i int, code []byte) *jumps {
	j := &im.jumps
	if j.of == i+1 {
		return j
	}
	*j = jumps{targets: map[uint64]bool{}}
	err := insn.Walk(im.m.Code, code, im.tab.Entry(i), func(at uint64, in insn.Inst) bool {
		switch in.Kind {
		case insn.Jump, insn.CondJump:
			j.targets[in.Target(at)] = true
		case insn.IndirectJump:
			j.unknown = true
		}
		return true
	})
	j.unknown = j.unknown || err != nil
	j.of = i + 1
	return j
}

// copiesIn gives the entries of inlined copies in a function's tree by where their code begins. It keeps those of
// the last one.
func (im inliner) copiesIn(tree *godwarf.Tree) map[uint64][]*godwarf.Tree {
	if im.copiesOf != tree {
		im.copiesOf, im.copiesAt = tree, map[uint64][]*godwarf.Tree{}
		for _, t := range dw.Inlined(tree) {
			if len(t.Ranges) > 0 {
				im.copiesAt[t.Ranges[0][0]] = append(im.copiesAt[t.Ranges[0][0]], t)
			}
		}
	}
	return im.copiesAt
}

// manyLookups are as many names as are looked for one by one.
const manyLookups = 8

// namedFunc finds the function with exactly this name that the user wrote, -1 if there is none.
// A few names are looked for in the table; for more of them all names are indexed once.
func (im inliner) namedFunc(name string) int {
	if im.lookups < manyLookups {
		im.lookups++
		for _, i := range im.tab.Named(name) {
			if !im.registry().wrapper(i) {
				return i
			}
		}
		return -1
	}
	if im.byName == nil {
		im.byName = make(map[string]int32, im.tab.Len())
		for i := range im.tab.Len() {
			n := im.tab.NameBytes(i)
			if _, ok := im.byName[string(n)]; !ok && !im.registry().wrapper(i) {
				im.byName[string(n)] = int32(i)
			}
		}
	}
	if i, ok := im.byName[name]; ok {
		return int(i)
	}
	return -1
}

// inlinedFunc is the Func of call n: that of its code if it has any, else one without an address.
func (im inliner) inlinedFunc(host int, calls []pclntab.Inlined, n int) *debuginfo.Func {
	c := &calls[n]
	i, ok := im.byNameAt[c.NameAt]
	if !ok {
		if im.byNameAt == nil {
			im.byNameAt = map[uint32]int32{}
		}
		i = int32(im.namedFunc(c.Name))
		im.byNameAt[c.NameAt] = i
	}
	if i >= 0 {
		return im.funcOf(int(i))
	}
	f := &debuginfo.Func{Name: string(pclntab.Unescape([]byte(c.Name))), Line: c.StartLine, ABI: im.funcOf(host).ABI}
	if f.Name != c.Name {
		f.Symbol = c.Name
	}
	f.External = exported(f.Name)
	// Its file is that of code that is its own, or of the calls that it makes.
	f.File = im.ownFile(host, n)
	for m := range calls {
		if f.File == "" && calls[m].Parent == n {
			f.File, _ = im.tab.Line(host, calls[m].CallPC)
		}
	}
	if g := im.spread[f.Name]; g != nil && *g == *f {
		return g // the copies of a function share what is said about it
	}
	if im.spread == nil {
		im.spread = map[string]*debuginfo.Func{}
	}
	im.spread[f.Name] = f
	return f
}

// ownFile is the file of the first code of inlined call n in function host that is its own, "" if it has none.
func (im inliner) ownFile(host, n int) string {
	if im.hostOf != host+1 {
		calls, _ := im.tab.Inlined(host)
		im.hostOf, im.firsts = host+1, append(im.firsts[:0], make([]string, len(calls))...)
		im.tab.EachRow(host, func(r *pclntab.Row) {
			if r.Inline >= 0 && r.Inline < len(calls) && im.firsts[r.Inline] == "" {
				im.firsts[r.Inline] = r.File
			}
		})
	}
	if n < 0 || n >= len(im.firsts) {
		return ""
	}
	return im.firsts[n]
}

// inlineAt describes the innermost inlined copy that pc belongs to, nil if none does.
func (im inliner) inlineAt(host int, pc uint64) *debuginfo.InlineSite {
	fr := im.tab.Frames(host, pc)
	if len(fr) < 2 {
		return nil
	}
	calls, ok := im.tab.Inlined(host)
	if !ok || fr[0].Inline >= len(calls) {
		return nil
	}
	return im.inlineSite(host, calls, fr[0].Inline)
}
