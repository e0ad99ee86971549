package symbols

import (
	"bytes"
	"errors"
	"os"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/machine"
)

// Raw is what a handler sends of a stack of a program: registers, the top of the stack, and what frame pointers
// lead to.
type Raw struct {
	Regs cfi.Regs
	Mem  cfi.Memory
	// Chain is the pc and, from the frame pointer on, the return addresses behind saved frame pointers. It may begin
	// with what lies on top of the stack as well.
	Chain []uint64
	// Called says that the program is in a system call: it goes on behind the instruction, which may be a function's
	// last one.
	Called bool
}

// NewRaw takes a stack as records have it. ok is false where there is no program.
func NewRaw(chain []uint64, regs *[21]uint64, stack []byte) (r Raw, ok bool) {
	m := machine.Host
	if mode := int64(regs[m.Mode.Offset/8]); mode&m.Mode.Mask != m.Mode.User {
		return r, false
	}
	for n := range m.Registers {
		r.Regs.Set(n, regs[m.Offset(n)/8])
	}
	r.Called = int64(regs[m.Syscall.Number/8]) >= 0
	r.Mem = cfi.Memory{Base: r.Regs.Val[m.SP] &^ 7, Bytes: stack}
	r.Chain = chain
	return r, true
}

// Trace is a stack, innermost first.
type Trace struct {
	PCs []uint64
	// Exact are the indexes, other than 0, of places that were interrupted: no call returns there.
	Exact []int
	// Cut says that it goes on and nothing is known of that.
	Cut bool
}

func (t *Trace) exact(i int) bool {
	for _, n := range t.Exact {
		if n == i {
			return true
		}
	}
	return i == 0
}

// Unwind finds the callers, at most most frames: by call frame information and Go's frame sizes, and where the
// memory that was sent ends by frame pointers, as long as the code is known to have them. A frame that is not sure
// ends the stack.
func (t *Table) Unwind(pid uint32, raw *Raw, most int) (out Trace) {
	m, regs := machine.Host, raw.Regs
	var caller cfi.Regs
	c := t.chain(raw)
	at := c.find(&regs, -1)
	exact := !raw.Called
	p := t.process(pid)
	out.PCs = make([]uint64, 0, most)
	for {
		pc := regs.Val[m.IP]
		rules, interrupted := t.rules(p, pid, pc, exact)
		if len(out.PCs) > 0 && (interrupted || exact) {
			out.Exact = append(out.Exact, len(out.PCs))
		}
		out.PCs = append(out.PCs, pc)
		switch {
		case rules == nil:
			out.Cut = true
			return out
		case rules.Outermost:
			return out
		case len(out.PCs) >= most:
			out.Cut = true
			return out
		case rules.Switch:
			ra, next := c.ret(at)
			from := uint64(0)
			if next >= 0 {
				from = t.through(pid, pc, ra)
			}
			if from == 0 {
				out.Cut = true
				return out
			}
			fp := regs.Val[m.FP]
			regs, exact = cfi.Regs{}, false
			regs.Set(m.IP, from)
			regs.Set(m.FP, fp)
			continue
		}
		if err := rules.Caller(&regs, &raw.Mem, &caller); err != nil {
			// The frame lies behind what was sent. The frame pointer leads to the caller's address if this frame is
			// told by it.
			ra, next := c.ret(at)
			if !byFP(rules) && (exact || !rules.Framed) || next < 0 {
				out.Cut = true
				return out
			}
			regs, at = cfi.Regs{}, next
			regs.Set(m.IP, ra)
			if v, ok := c.value(at); ok {
				regs.Set(m.FP, v)
			}
		} else {
			sp, err := regs.Get(m.SP)
			if above, err2 := caller.Get(m.SP); err == nil && err2 == nil && above <= sp && !rules.Signal {
				out.Cut = true // stacks grow down: callers lie above
				return out
			}
			regs = caller
			at = c.find(&regs, at)
		}
		exact = rules.Signal
		if regs.Val[m.IP] == 0 {
			return out
		}
	}
}

// byFP reports whether the frame is told by the frame pointer, which points to where the caller's is saved.
func byFP(r *cfi.Rules) bool {
	return r.CFA.Kind == cfi.Register && int(r.CFA.Reg) == r.Machine.FP && r.CFA.Off == 16
}

// chain is the list of saved frame pointers: the first is in the register, each other one lies at the address that is
// the one before.
type chain struct {
	fps  []uint64 // as far as memory was sent
	rets []uint64 // rets[i] lies behind fps[i], also where that itself is not known
}

func (t *Table) chain(raw *Raw) (c chain) {
	fp := raw.Regs.Val[machine.Host.FP]
	c.fps = t.fps[:0]
	defer func() { t.fps = c.fps[:0] }()
	for range raw.Chain {
		c.fps = append(c.fps, fp)
		next, err := raw.Mem.Read(fp, 8)
		if err != nil {
			break
		}
		fp = next
	}
	if len(raw.Chain) < 2 {
		return chain{fps: c.fps[:0]}
	}
	c.rets = raw.Chain[1:]
	top, err := raw.Mem.Read(raw.Regs.Val[machine.Host.SP], 8)
	if first, err2 := raw.Mem.Read(c.fps[0]+8, 8); err2 == nil {
		switch {
		case c.rets[0] == first:
		case len(c.rets) > 1 && c.rets[1] == first:
			c.rets = c.rets[1:] // the kernel has put what is on top of the stack in, at a function's entry
		default:
			return chain{fps: c.fps[:0]}
		}
	} else if err == nil && c.rets[0] == top {
		c.rets = c.rets[1:] // likewise: nothing else leads from a frame that is not at hand to this address
	}
	return c
}

// find gives the place in the chain of the frame pointer of a frame, -1 if it is none; at is that of the frame before.
func (c *chain) find(regs *cfi.Regs, at int) int {
	fp, err := regs.Get(machine.Host.FP)
	if err != nil {
		return -1
	}
	for i := max(at, 0); i < len(c.fps); i++ {
		if c.fps[i] == fp {
			return i
		}
	}
	return -1
}

// ret gives the return address of the frame at a place in the chain, and the place of the caller, -1 where it ends.
func (c *chain) ret(at int) (uint64, int) {
	if at < 0 || at >= len(c.rets) {
		return 0, -1
	}
	return c.rets[at], at + 1
}

func (c *chain) value(at int) (uint64, bool) {
	if at < len(c.fps) {
		return c.fps[at], true
	}
	return 0, false
}

// Walked is the trace of a list of addresses that frame pointers led to from code of Go: it holds as long as all of
// it is Go's.
func (t *Table) Walked(pid uint32, list []uint64) (out Trace) {
	p := t.process(pid)
	for i, pc := range list {
		rules, interrupted := t.rules(p, pid, pc, i == 0)
		if interrupted && i > 0 { // what was interrupted has no place in the list
			out.Cut = true
			return out
		}
		out.PCs = append(out.PCs, pc)
		if rules != nil && rules.Switch && i+1 < len(list) {
			if from := t.through(pid, pc, list[i+1]); from != 0 {
				out.PCs = append(out.PCs, from)
				continue
			}
		}
		switch {
		case rules == nil, rules.Switch, i > 0 && !rules.Outermost && !rules.Framed && !byFP(rules), rules.Signal:
			out.Cut = true
			return out
		case rules.Outermost:
			return out
		}
	}
	out.Cut = true
	return out
}

// Filled puts the callers into a stack that the kernel has walked by tables which those did not tell: of functions that
// go on on another stack. Where they cannot be told the stack ends.
func (t *Table) Filled(pid uint32, in Trace) (out Trace) {
	p := t.process(pid)
	out = Trace{PCs: make([]uint64, 0, len(in.PCs)), Cut: in.Cut}
	for i, pc := range in.PCs {
		if i > 0 && in.exact(i) {
			out.Exact = append(out.Exact, len(out.PCs))
		}
		out.PCs = append(out.PCs, pc)
		rules, _ := t.rules(p, pid, pc, in.exact(i))
		if rules == nil || !rules.Switch {
			continue
		}
		from := uint64(0)
		if i+1 < len(in.PCs) {
			from = t.through(pid, pc, in.PCs[i+1])
		}
		if from == 0 {
			out.Cut = true
			return out
		}
		out.PCs = append(out.PCs, from)
	}
	return out
}

// through gives the address to which a function of Go's runtime that changes stacks returns: pc is in it, and its
// caller, which has the frame on the other stack, returns to ra. So the caller is what is called in front of ra,
// and if that calls the function at one place, it is there. It is 0 where that is not so.
func (t *Table) through(pid uint32, pc, ra uint64) uint64 {
	img, va, _ := t.code(pid, pc-1)
	other, callerRet, _ := t.code(pid, ra-1)
	calls, ok := img.(debuginfo.Calls)
	if !ok || img != other {
		return 0
	}
	change, outer := img.FuncAt(va), img.FuncAt(callerRet)
	if change == nil || outer == nil {
		return 0
	}
	key := switchKey{img, change.Entry, callerRet}
	if found, ok := t.switches[key]; ok {
		if found == 0 {
			return 0
		}
		return found + (pc - 1 - va)
	}
	if t.switches == nil || len(t.switches) >= maxNames {
		t.switches = map[switchKey]uint64{}
	}
	t.switches[key] = 0
	list, err := calls.Calls(outer)
	if err != nil {
		return 0
	}
	var by *debuginfo.Func
	for _, c := range list {
		if c.Ret == callerRet+1 && c.Target != 0 && !c.Jump {
			by = img.FuncAt(c.Target)
		}
	}
	if by == nil {
		return 0
	}
	if list, err = calls.Calls(by); err != nil {
		return 0
	}
	found := uint64(0)
	for _, c := range list {
		if c.Target < change.Entry || c.Target >= change.End {
			continue
		}
		if found != 0 {
			return 0
		}
		found = c.Ret
	}
	t.switches[key] = found
	if found == 0 {
		return 0
	}
	return found + (pc - 1 - va)
}

type switchKey struct {
	img        debuginfo.Image
	entry, ret uint64
}

// rules finds the rules for code at pc; exact is false where a call returns there. interrupted says that pc is where a
// signal's handler returns to, which is not called.
func (t *Table) rules(p *process, pid uint32, pc uint64, exact bool) (r *cfi.Rules, interrupted bool) {
	key := namedAddr{pc, either}
	if !exact {
		key.as = ret
	}
	if found, ok := p.rules[key]; ok {
		return found.Rules, found.interrupted
	}
	keep := true
	if !exact {
		// Such a place is entered by a return to its first byte.
		if r, keep = t.look(pid, pc); r != nil && r.Trampoline {
			interrupted = true
		} else {
			r, keep = t.look(pid, pc-1)
		}
	} else {
		r, keep = t.look(pid, pc)
	}
	if keep {
		if p.rules == nil || len(p.rules) >= maxNames {
			p.rules = map[namedAddr]ruleSet{}
		}
		p.rules[key] = ruleSet{r, interrupted}
	}
	return r, interrupted
}

// ruleSet is what rules found; the Rules are nil where there are none.
type ruleSet struct {
	*cfi.Rules
	interrupted bool
}

func (t *Table) look(pid uint32, pc uint64) (r *cfi.Rules, keep bool) {
	img, va, keep := t.code(pid, pc)
	u, ok := img.(debuginfo.Unwinder)
	if !ok {
		return nil, keep
	}
	r, err := u.Unwind(va)
	if err != nil {
		return nil, keep
	}
	return r, keep
}

// code finds the image that the code at pc is from, and its address there. keep says that the answer holds as long
// as the mappings do.
func (t *Table) code(pid uint32, pc uint64) (img debuginfo.Image, va uint64, keep bool) {
	p := t.process(pid)
	m := t.locate(p, pid, pc)
	if m == nil {
		for _, img := range t.Known {
			if img.LoadBase() != 0 && img.Lookup(pc) != nil {
				if part, ok := img.(interface{ Whole() debuginfo.Image }); ok {
					img = part.Whole()
				}
				return img, pc, false
			}
		}
		return nil, 0, false
	}
	if img = t.imageOf(pid, m); img == nil {
		return nil, 0, true
	}
	va, ok := vaddr(img, m, pc)
	if !ok {
		return nil, 0, true
	}
	return img, va, true
}

// vdso is the image of the code that the kernel maps into all processes; nil if it cannot be read. It is the same
// one in the tracer.
func (t *Table) vdso() debuginfo.Image {
	if t.lookedVDSO {
		return t.vdsoImage
	}
	t.lookedVDSO = true
	path, err := CopyVDSO()
	if err != nil {
		return nil
	}
	defer os.Remove(path)
	if img, err := t.Open(path); err == nil {
		t.vdsoImage = img
	}
	return t.vdsoImage
}

// CopyVDSO writes the code that the kernel maps into all processes into a file, which the caller removes.
func CopyVDSO() (path string, err error) {
	data, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return "", err
	}
	for _, m := range parseMaps(data) {
		if m.path != vdsoName || m.hi-m.lo > 1<<20 {
			continue
		}
		code := make([]byte, m.hi-m.lo)
		mem, err := os.Open("/proc/self/mem")
		if err != nil {
			return "", err
		}
		_, err = mem.ReadAt(code, int64(m.lo))
		mem.Close()
		if err != nil {
			return "", err
		}
		if !bytes.HasPrefix(code, []byte("\x7fELF")) {
			break
		}
		f, err := os.CreateTemp("", "gostap-vdso")
		if err != nil {
			return "", err
		}
		_, err = f.Write(code)
		if err2 := f.Close(); err == nil {
			err = err2
		}
		if err != nil {
			os.Remove(f.Name())
			return "", err
		}
		return f.Name(), nil
	}
	return "", errors.New("this process has no vdso")
}

const vdsoName = "[vdso]"
