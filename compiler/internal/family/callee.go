package family

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
)

// Functions that another one calls: function("f").callee("g"), .callees, .callees(N).
//
// A callee is probed where it is entered, and a hit counts if the return address is one behind a call of it in f
// (probe.Site.Callers). An inlined copy in f is a place of its own that says it all. Of deeper levels, the return
// addresses of the calls above have to be on the stack as well; where they are, call frame information says.

const (
	maxDepth = 16      // of .callees(N)
	maxLinks = 100_000 // calls that are looked at
	maxCode  = 20_000  // functions whose code is
	maxWays  = 256     // to one callee
	// fewCallers are looked at as a whole, for the sake of messages.
	fewCallers = 64
)

// caller is code that makes calls: a function's own, in its out-of-line code or in a copy inlined elsewhere.
type caller struct {
	fn *debuginfo.Func // whose frame is on the stack
	// path is the function and what it is inlined into, innermost first; whole says that it goes up to fn.
	path  []string
	whole bool
	root  *debuginfo.Func // the function that the probe point names
	names []string        // of the callees on the way here, as texts have them
	// up are the calls by which fn must have been entered, if only says that there is such a condition.
	up   []link
	only bool
}

// link is a call that c makes.
type link struct {
	call debuginfo.Call
	from *caller
}

// callee is something that is called.
type callee struct {
	fn    *debuginfo.Func
	copy  *debuginfo.InlineSite // an inlined copy, nil for a call
	links []link                // the calls
	// in are, for a copy, the code that it is in, by the ways that lead there.
	in    []*caller
	root  *debuginfo.Func
	names []string // of the callees up to this one
}

// owns reports whether code with these frames around it, innermost first, is c's own.
func (c *caller) owns(around []string) bool {
	if c.whole {
		return slices.Equal(around, c.path[:len(c.path)-1])
	}
	return len(around) >= len(c.path) && slices.Equal(around[:len(c.path)], c.path)
}

// inlinedInto gives the names of the inlined copies around pc, innermost first.
func inlinedInto(img debuginfo.Image, pc uint64) (names []string) {
	for _, fr := range img.Lookup(pc) {
		if !fr.Inline {
			break
		}
		names = append(names, fr.Func)
	}
	return names
}

// chain finds callees.
type chain struct {
	*match
	img   debuginfo.Image
	calls debuginfo.Calls
	// kernel: in the kernel, return probes may come first. It runs slide bytes behind the file's addresses, if known
	// says so.
	kernel, known bool
	slide         uint64
	found         []*callee
	index         map[calleeID]*callee // of found
	// What is seen on the way, for messages.
	names    []string // of all that is called
	pointers int      // calls through pointers
	outside  []string // functions of other files that the pattern means
	jumps    []string // functions that the pattern means and that are jumped to

	made   map[*debuginfo.Func][]debuginfo.Call
	copied map[*debuginfo.Func][]debuginfo.Copy
	seen   int
}

// calleeID tells callees of one function apart.
type calleeID struct {
	root string
	fn   *debuginfo.Func // of a call
	copy uint64          // where an inlined copy is
	name string          // of the inlined function
}

// add notes a callee, which may have been found on another level already.
func (ch *chain) add(g *callee) {
	id := calleeID{root: place(g.root.Name, g.root.File, g.root.Line), fn: g.fn}
	if g.copy != nil {
		id.fn, id.copy, id.name = nil, g.copy.Site.PC, g.fn.Name
	}
	if old := ch.index[id]; old != nil {
		old.links, old.in = append(old.links, g.links...), append(old.in, g.in...)
		return
	}
	all := *g
	all.links = slices.Clone(g.links)
	ch.index[id] = &all
	ch.found = append(ch.found, &all)
}

// calleesOf finds what the request means in img, which what names in messages. in is nil for programs; for the kernel,
// whose file img is, it is the running one. Nothing comes with an error reported.
func (m *match) calleesOf(img debuginfo.Image, what string, in *kbtf.Image) *chain {
	c := m.at("function")
	calls, ok := img.(debuginfo.Calls)
	if !ok {
		m.errorf(c, "what a function calls is not known for %s", what)
		return nil
	}
	ch := &chain{match: m, img: img, calls: calls, made: map[*debuginfo.Func][]debuginfo.Call{},
		copied: map[*debuginfo.Func][]debuginfo.Copy{}, index: map[calleeID]*callee{}}
	if in != nil {
		ch.kernel = true
		ch.slide, ch.known = in.Slide()
	}
	depth, want, ok := ch.depth()
	if !ok {
		return nil
	}
	level := ch.roots(c, what)
	if level == nil {
		return nil
	}
	for n := 1; n <= depth && len(level) > 0; n++ {
		next, err := ch.level(level, want)
		if err != nil {
			m.errorf(c, "%v", err)
			return nil
		}
		level = next
	}
	if len(ch.found) == 0 {
		ch.nothing(what, want)
		return nil
	}
	if len(ch.jumps) > 0 {
		m.warnf("%s: %s also reached by a jump, behind which the caller cannot be told: such calls are left out", m.req,
			diag.Few(distinct(ch.jumps))).
			Hintf("-fno-optimize-sibling-calls builds programs without them")
	}
	return ch
}

// depth reads .callee("...") or .callees(N).
func (ch *chain) depth() (n int, want pattern, ok bool) {
	if c := ch.at("callee"); c != nil {
		want, err := parsePattern(c.Arg.Str)
		if err != nil {
			ch.errorf(c, "%v", err)
			return 0, want, false
		}
		if want.all || want.to != 0 || want.rel {
			ch.errorf(c, "a function is named by one line of it")
			return 0, want, false
		}
		return 1, want, true
	}
	c := ch.at("callees")
	if c.Arg == nil {
		return 1, pattern{fn: "*"}, true
	}
	if c.Arg.Num < 1 || c.Arg.Num > maxDepth {
		ch.errorf(c, "the depth is 1 to %d", maxDepth)
		return 0, want, false
	}
	return int(c.Arg.Num), pattern{fn: "*"}, true
}

// roots finds the function that the probe point names, in its own code and inlined.
func (ch *chain) roots(c *probe.Comp, what string) (out []*caller) {
	var pat pattern
	var funcs []*debuginfo.Func
	var err error
	if !c.Arg.IsString {
		if ch.kernel && !ch.known {
			ch.errorf(c, "where the kernel is in memory is not known")
			return nil
		}
		fn := ch.img.FuncAt(uint64(c.Arg.Num) - ch.slide)
		if fn == nil {
			ch.errorf(c, "no function of %s covers address 0x%x", what, uint64(c.Arg.Num))
			return nil
		}
		return []*caller{{fn: fn, path: []string{fn.Name}, whole: true, root: fn}}
	}
	pat, ok := ch.functionPattern(c)
	if !ok {
		return nil
	}
	if funcs, err = ch.img.Funcs(pat.fn); err != nil && !missing(err) {
		ch.errorf(c, "%v", err)
		return nil
	}
	if pat.file != "" || pat.hasLine {
		funcs = pat.among(funcs, ch.img)
	}
	for _, fn := range funcs {
		out = append(out, &caller{fn: fn, path: []string{fn.Name}, whole: true, root: fn})
	}
	if len(out) > maxCode {
		return out // too many as they are
	}
	type copied struct {
		in   *debuginfo.Func
		name string
	}
	seen := map[copied]bool{}
	inl, _ := ch.img.Inlined(pat.fn) // without DWARF there are none
	for _, in := range inl {
		if in.Func == nil || in.In == nil || !pat.means(in.Func) || seen[copied{in.In, in.Func.Name}] {
			continue
		}
		seen[copied{in.In, in.Func.Name}] = true
		out = append(out, &caller{fn: in.In, path: []string{in.Func.Name}, root: in.Func})
	}
	if len(out) == 0 {
		d := ch.errorf(c, "no function %q in %s", c.Arg.Str, what)
		if near := ch.img.NearNames(pat.fn); len(near) > 0 {
			d.Hintf("did you mean %s?", strings.Join(near, ", "))
		}
	}
	return out
}

// level finds what callers call, as far as it is wanted, and gives it as the callers of the next level.
func (ch *chain) level(callers []*caller, want pattern) (next []*caller, err error) {
	if len(callers) > maxCode {
		return nil, fmt.Errorf("the code of %d functions is to be read: name less, or a smaller depth", len(callers))
	}
	only := ch.addresses(want)
	type id struct {
		root string
		fn   *debuginfo.Func
	}
	called := map[id]*callee{}
	var order []*callee
	for _, c := range callers {
		calls, copies, err := ch.code(c.fn)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.fn.Name, err)
		}
		for _, call := range calls {
			if only != nil && call.Target != 0 && !only[call.Target] && len(callers) > fewCallers ||
				!c.owns(inlinedInto(ch.img, call.PC)) {
				continue
			}
			if ch.seen++; ch.seen > maxLinks {
				return nil, fmt.Errorf("more than %d calls are to be looked at: name less, or a smaller depth",
					maxLinks)
			}
			fn := ch.target(&call, want)
			if fn == nil {
				continue
			}
			k := id{place(c.root.Name, c.root.File, c.root.Line), fn}
			if called[k] == nil {
				called[k] = &callee{fn: fn, root: c.root,
					names: append(slices.Clone(c.names), place(fn.Name, fn.File, fn.Line))}
				order = append(order, called[k])
			}
			called[k].links = append(called[k].links, link{call, c})
		}
		for _, in := range copies {
			if in.Func == nil || !c.owns(in.Into) {
				continue
			}
			ch.names = append(ch.names, in.Func.Name)
			if want.matches(in.Func) {
				order = append(order, &callee{fn: in.Func, copy: in.InlineSite, in: []*caller{c}, root: c.root,
					names: append(slices.Clone(c.names), place(in.Func.Name, in.Func.File, in.Func.Line))})
			}
		}
	}
	for _, g := range order {
		ch.add(g)
		n := &caller{fn: g.fn, path: []string{g.fn.Name}, whole: true, root: g.root, names: g.names, up: g.links,
			only: true}
		if g.copy != nil {
			in := g.in[0]
			n.fn, n.path, n.whole, n.up, n.only = in.fn, append([]string{g.fn.Name}, in.path...), in.whole, in.up,
				in.only
		}
		next = append(next, n)
	}
	return next, nil
}

// addresses are the entries of the functions that want names, nil for a pattern.
func (ch *chain) addresses(want pattern) map[uint64]bool {
	if want.isGlob() {
		return nil
	}
	out := map[uint64]bool{}
	funcs, _ := ch.img.Funcs(want.fn)
	for _, fn := range funcs {
		out[fn.Entry] = true
	}
	return out
}

// code gives the calls and the inlined copies in a function.
func (ch *chain) code(fn *debuginfo.Func) ([]debuginfo.Call, []debuginfo.Copy, error) {
	if calls, ok := ch.made[fn]; ok {
		return calls, ch.copied[fn], nil
	}
	calls, err := ch.calls.Calls(fn)
	if err != nil {
		return nil, nil, err
	}
	copies, err := ch.calls.Copies(fn)
	if err != nil {
		return nil, nil, err
	}
	ch.made[fn], ch.copied[fn] = calls, copies
	return calls, copies, nil
}

// matches reports whether p means fn.
func (p *pattern) matches(fn *debuginfo.Func) bool { return glob(p.fn, fn.Name) && p.means(fn) }

// target is the function that a call enters, nil if it cannot be probed as a callee, or is not wanted.
func (ch *chain) target(call *debuginfo.Call, want pattern) *debuginfo.Func {
	var fn *debuginfo.Func
	if call.Target != 0 {
		if fn = ch.img.FuncAt(call.Target); fn != nil && fn.Entry != call.Target {
			fn = nil
		}
	}
	switch {
	case fn != nil && ch.thunk(fn.Name):
		ch.pointers++
		return nil
	case fn == nil && call.Name != "":
		ch.names = append(ch.names, call.Name)
		if glob(want.fn, call.Name) {
			ch.outside = append(ch.outside, call.Name)
		}
		return nil
	case fn == nil:
		if !call.Jump {
			ch.pointers++
		}
		return nil
	}
	if !call.Jump {
		ch.names = append(ch.names, fn.Name)
	}
	if !want.matches(fn) || want.isGlob() && fn.Name == "__stack_chk_fail" { // the compiler's own
		return nil
	}
	if call.Jump {
		ch.jumps = append(ch.jumps, fn.Name)
		return nil
	}
	return fn
}

// thunk reports whether a function is one of those by which the kernel calls through registers, or that of ftrace,
// whose call is no call until it is switched on.
func (ch *chain) thunk(name string) bool {
	return name == "__fentry__" || slices.ContainsFunc(ch.img.Machine().Thunks, func(beginning string) bool {
		return strings.HasPrefix(name, beginning)
	})
}

// nothing says why there is no callee.
func (ch *chain) nothing(what string, want pattern) {
	root := ch.at("function").Arg
	name := root.Str
	if !root.IsString {
		name = fmt.Sprintf("the function at 0x%x", uint64(root.Num))
	}
	c := ch.at("callee")
	switch {
	case c == nil:
		c = ch.at("callees")
		d := ch.errorf(c, "%s calls nothing in %s", name, what)
		if len(ch.outside) > 0 {
			d.Hintf("it calls functions of other files: %s; name those in their own file, or where they are called: ."+
				"plt", diag.Few(distinct(ch.outside)))
		}
		return
	case len(ch.jumps) > 0:
		ch.errorf(c, "%s goes to %s by a jump only, behind which the caller cannot be told", name,
			diag.Few(distinct(ch.jumps))).
			Hintf("build the program with -fno-optimize-sibling-calls")
		return
	case len(ch.outside) > 0:
		ch.errorf(c, "%s is a function of another file than %s", diag.Few(distinct(ch.outside)), what).
			Hintf("name it in its own file, or where it is called: .plt")
		return
	}
	d := ch.errorf(c, "%s does not call %q", name, want.fn)
	names := distinct(slices.Clone(ch.names))
	if near := diag.Nearest(want.fn, names, 3); len(near) > 0 {
		d.Hintf("did you mean %s?", strings.Join(near, ", "))
	} else if len(names) > 0 {
		d.Hintf("it calls %s", diag.Few(names))
	} else if ch.pointers > 0 {
		d.Hintf("it calls through pointers, and where those lead is known only when it runs")
	}
}
