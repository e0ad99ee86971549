// Package spread divides a program for many machines: the part that runs on each of them, and the part that runs once,
// over what all of them have counted.
//
// In: an ir.Program. Out: the two programs, and which globals are of all machines; or a message at the place of the
// script that asks for both at once.
//
// A global is of all machines if handlers of a machine only add to it (++, +=, <<<): sums of sums are sums. Handlers of
// a machine are those that are hit, and those of begin, end, error and timer probes and of the script's files that use
// what is of each machine, or ask it, and read nothing that is of all. The others run once. Every other global is of
// each machine.
package spread

import (
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// Code is the kind of message of what cannot be divided.
const Code diag.Code = "merge"

// Parts are what a program was divided into. Both have all globals, formats and functions, by the same numbers.
type Parts struct {
	Each, Once *ir.Program
	// Shared are the globals of all machines.
	Shared []int
	// Touched are those that handlers which run once change before all machines have ended.
	Touched map[int]bool
	// Seen are those that they read before.
	Seen map[int]bool
}

// owner says whose a global or a handler is.
type owner uint8

const (
	nobody owner = iota
	all
	each
)

type spreader struct {
	p   *ir.Program
	ds  diag.List
	use []map[int]*use // by probe: of each global
	// of are the globals, why each of those that are of each machine is, with the place.
	of  []owner
	why []reason
	at  []owner // of probes
	// soft are those of all that could be of each: no handler that is hit adds to them.
	soft []bool
	// changed are the globals that handlers change: the others are the same everywhere.
	changed []bool
	// words are the end probes that only add, and ask the machine: they put what it has counted into other words.
	words []bool
	// local is, for probes that could run once, the first thing in them that is of one machine.
	local []reason
}

type reason struct {
	pos, via source.Pos
	probe    *ir.Probe
	text     string
}

// use is how a handler uses a global: whether it does anything but adding, and the first place where it does.
type use struct {
	other bool
	in    *ir.Instr
}

// Divide divides p.
func Divide(p *ir.Program) (*Parts, diag.List) {
	s := &spreader{p: p, of: make([]owner, len(p.Globals)), why: make([]reason, len(p.Globals)),
		at: make([]owner, len(p.Probes)), changed: make([]bool, len(p.Globals)), soft: make([]bool, len(p.Globals))}
	for _, pr := range p.Probes {
		s.use = append(s.use, s.uses(pr))
		s.local = append(s.local, s.localTo(pr))
		s.words = append(s.words, s.local[len(s.local)-1].text != "" && last(pr) && s.onlyAdds(pr))
	}
	s.hit()
	s.translate()
	s.settle()
	s.judge()
	if !slices.Contains(s.at, each) {
		s.ds.Errorf(diag.Build, Code, source.Span{},
			"no probe is hit on a machine, so that there is nothing to add up").Hintf("leave --merge out")
	}
	if s.ds.HasErrors() {
		s.ds.Sort()
		return nil, s.ds
	}
	return s.parts(), s.ds
}

// once reports whether a probe can run away from the machines: it is not hit there.
func once(pr *ir.Probe) bool {
	return !slices.ContainsFunc(pr.Sites, func(s *probe.Site) bool { return !s.Kind.OnHost() && !s.Kind.Served() })
}

// each calls f for all instructions that a probe's handler can come to.
func (s *spreader) each(pr *ir.Probe, f func(*ir.Func, *ir.Instr)) {
	for fn := range s.p.Reached(pr.Handler) {
		for _, b := range fn.Blocks {
			for i := range b.Instrs {
				f(fn, &b.Instrs[i])
			}
		}
	}
}

func (s *spreader) uses(pr *ir.Probe) map[int]*use {
	out := map[int]*use{}
	add := func(g int, in *ir.Instr, other bool) {
		u := out[g]
		if u == nil {
			u = &use{in: in}
			out[g] = u
		}
		if other && !u.other {
			u.other, u.in = true, in
		}
	}
	s.each(pr, func(_ *ir.Func, in *ir.Instr) {
		of := map[int]partition.Use{}
		partition.UsesOf(in, of)
		for g, u := range of {
			add(g, in, u.Reads || u.Sets)
			s.changed[g] = s.changed[g] || u.Adds || u.Sets
		}
	})
	if pr.Cond >= 0 {
		add(pr.Cond, &ir.Instr{Pos: pr.Pos}, true)
	}
	return out
}

// localTo finds the first thing in a handler that only means something on a traced machine.
func (s *spreader) localTo(pr *ir.Probe) (r reason) {
	if !once(pr) {
		return r
	}
	head := map[*ir.Func]map[ir.Reg]bool{}
	s.each(pr, func(fn *ir.Func, in *ir.Instr) {
		text := ""
		switch in.Op {
		case ir.OpIntr:
			if head[fn] == nil {
				head[fn] = heads(s.p, fn)
			}
			if f := in.Builtin(); (f == nil || f.OfMachine()) && !(in.Dst != ir.NoReg && head[fn][in.Dst]) {
				text = in.Name + "() asks the machine where it runs"
			}
		case ir.OpLoad, ir.OpStore, ir.OpReg, ir.OpTLS, ir.OpBias, ir.OpEmbed, ir.OpSetReg:
			text = "memory is of one machine"
		}
		if text != "" && r.text == "" {
			r = reason{in.Pos, in.Via, pr, text}
		}
	})
	return r
}

// hit finds the globals that handlers which are hit do more to than adding.
func (s *spreader) hit() {
	for i, pr := range s.p.Probes {
		if once(pr) {
			continue
		}
		s.at[i] = each
		for g, u := range s.use[i] {
			gl := s.p.Globals[g]
			text := ""
			switch {
			case gl.Internal:
				text = "is the compiler's"
			case gl.Wrap:
				text = "forgets elements"
			case u.other:
				text = fmt.Sprintf("is not only added to by %s", pr.Name)
			case gl.Float:
				text = "has fractions"
			default:
				if s.of[g] == nobody {
					s.of[g] = all
				}
				continue
			}
			s.local1(g, reason{u.in.Pos, u.in.Via, pr, text})
		}
	}
}

// local1 says that a global is of each machine.
func (s *spreader) local1(g int, why reason) {
	if s.of[g] != each {
		s.of[g], s.why[g] = each, why
	}
}

// translate has end probes that put what a machine has counted into other words run on each machine, with what they
// read, if nobody reads that but them.
func (s *spreader) translate() {
	for i, pr := range s.p.Probes {
		if !s.words[i] {
			continue
		}
		alone, adds := true, false
		for g, u := range s.use[i] {
			adds = adds || !u.other
			alone = alone && (!u.other || s.of[g] != all || s.ofHits(g, i))
		}
		if !alone || !adds {
			continue
		}
		for g, u := range s.use[i] {
			if s.of[g] == all && u.other {
				s.local1(g, reason{u.in.Pos, u.in.Via, pr, fmt.Sprintf("is put into other words by %s", pr.Name)})
			}
		}
	}
}

// ofHits reports whether all that a global has comes from handlers that are hit, and nobody but end probes like one
// reads it: what begin probes, timers and first values add is there once, and would be there on each machine.
func (s *spreader) ofHits(g, like int) bool {
	if gl := s.p.Globals[g]; gl.InitInt != 0 {
		return false
	}
	for j, pr := range s.p.Probes {
		if j == like || s.use[j][g] == nil || !once(pr) {
			continue
		}
		if !s.words[j] || !s.use[j][g].other {
			return false
		}
	}
	return true
}

// onlyAdds reports whether all that a handler does is adding to globals.
func (s *spreader) onlyAdds(pr *ir.Probe) bool {
	ok := true
	s.each(pr, func(_ *ir.Func, in *ir.Instr) {
		switch in.Op {
		case ir.OpPrint, ir.OpPrintHist, ir.OpReply, ir.OpStore, ir.OpSetReg, ir.OpEmbed, ir.OpGSet, ir.OpMSet,
			ir.OpMDel, ir.OpMClear:
			ok = false
		case ir.OpIntr:
			f := in.Builtin()
			ok = ok && f != nil && f.Does >= intrinsic.Asks
		}
	})
	return ok
}

// settle finds who runs the other handlers: one that uses something of each machine runs on each, and with it goes what
// else it uses, as far as that is not of all; what end probes only add to can be.
func (s *spreader) settle() {
	for changed := true; changed; {
		changed = false
		for i, pr := range s.p.Probes {
			if s.at[i] == each {
				continue
			}
			where := all
			why := s.local[i]
			if why.text != "" && !s.tied(i) {
				where = each
			}
			for g, u := range s.use[i] {
				if s.of[g] == each && s.changed[g] {
					where, why = each, reason{u.in.Pos, u.in.Via, pr,
						fmt.Sprintf("is used by %s, which runs on each machine", pr.Name)}
				}
			}
			if where != each || s.tied(i) && !s.harden(i, why) {
				continue
			}
			s.at[i], changed = each, true
			for g, u := range s.use[i] {
				if gl := s.p.Globals[g]; s.binds(pr, u) || gl.Internal || gl.Wrap || gl.Float {
					s.local1(g, why)
				} else if s.of[g] == nobody {
					s.of[g], s.soft[g] = all, true
				}
			}
		}
	}
}

// binds reports whether a handler has to be where a global is that it uses so: end probes can add from elsewhere.
func (s *spreader) binds(pr *ir.Probe, u *use) bool { return u.other || !last(pr) }

// harden has what ties a handler be of each, if all of that could be either.
func (s *spreader) harden(i int, why reason) bool {
	var tied []int
	for g, u := range s.use[i] {
		if s.of[g] == all && s.binds(s.p.Probes[i], u) {
			if !s.soft[g] {
				return false
			}
			tied = append(tied, g)
		}
	}
	for _, g := range tied {
		s.local1(g, why)
	}
	return true
}

// tied reports whether globals that are of all machines have a handler run once.
func (s *spreader) tied(i int) bool {
	for g, u := range s.use[i] {
		if s.of[g] == all && s.binds(s.p.Probes[i], u) {
			return true
		}
	}
	return false
}

// judge refuses handlers that would have to run in both places, and what cannot be known of all machines.
func (s *spreader) judge() {
	for i, pr := range s.p.Probes {
		if s.at[i] == each {
			continue
		}
		s.at[i] = all
		shared := -1
		for g := range s.p.Globals { // in their order
			if s.use[i][g] != nil && s.of[g] == all {
				shared = g
				break
			}
		}
		for g, gl := range s.p.Globals {
			u := s.use[i][g]
			if u == nil || s.of[g] != each || !s.changed[g] {
				continue
			}
			at, inner := s.p.Blame(pr, u.in.Pos, u.in.Via)
			d := s.ds.Errorf(diag.Build, Code, source.At(at), "%s is of each machine, and %s is of all: this %s probe "+
				"can use one of them", gl.Name, s.p.Globals[shared].Name, pr.Name).Within(inner)
			d.Hintf("%s %s", gl.Name, s.why[g].text)
			break
		}
		if why := s.local[i]; why.text != "" {
			at, inner := s.p.Blame(pr, why.pos, why.via)
			s.ds.Errorf(diag.Build, Code, source.At(at), "%s, and this %s probe is about all of them", why.text,
				pr.Name).Within(inner).Hintf("let probes that are hit put it into what they count, or an end probe " +
				"that only adds: probe end(-1)")
		}
	}
	s.extremes()
}

// last reports whether a probe is met when all machines have ended.
func last(pr *ir.Probe) bool {
	return !slices.ContainsFunc(pr.Sites, func(s *probe.Site) bool { return !s.Kind.AtEnd() })
}

// extremes refuses @min and @max of aggregates that are emptied meanwhile: what a machine tells is of all its time.
func (s *spreader) extremes() {
	type seen struct {
		pr       *ir.Probe
		in       *ir.Instr
		extreme  string
		emptied  bool
		emptying string
	}
	found := map[int]*seen{}
	for i, pr := range s.p.Probes {
		if s.at[i] != all {
			continue
		}
		s.each(pr, func(_ *ir.Func, in *ir.Instr) {
			if !in.Op.OnGlobal() || s.of[in.Glob] != all || s.p.Globals[in.Glob].Type != types.Stats {
				return
			}
			f := found[in.Glob]
			if f == nil {
				f = &seen{}
				found[in.Glob] = f
			}
			switch {
			case (in.Op == ir.OpMDel || in.Op == ir.OpMClear) && !last(pr):
				f.emptied, f.emptying = true, pr.Name
			case extreme(in) != "" && f.extreme == "":
				f.extreme, f.pr, f.in = extreme(in), pr, in
			}
		})
	}
	for g := range s.p.Globals {
		f := found[g]
		if f == nil || f.extreme == "" || !f.emptied {
			continue
		}
		at, inner := s.p.Blame(f.pr, f.in.Pos, f.in.Via)
		s.ds.Errorf(diag.Build, Code, source.At(at), "@%s of %s is not known of all machines, since %s empties it: "+
			"each machine knows that of the whole session", f.extreme, s.p.Globals[g].Name, f.emptying).
			Within(inner).Hintf("leave the delete out, or use @avg, @count or a histogram")
	}
}

// extreme says which of @min and @max an instruction reads or sorts by, "" for neither.
func extreme(in *ir.Instr) string {
	var st ir.Stat
	switch in.Op {
	case ir.OpSGet:
		st = ir.Stat(in.N)
	case ir.OpIterOpen:
		if o, _ := ir.ParseOrder(in.Name); o.By == '@' {
			st = o.Stat
		}
	}
	if st != ir.StatMin && st != ir.StatMax {
		return ""
	}
	return st.String()
}

// changes reports whether a handler changes a global.
func (s *spreader) changes(pr *ir.Probe, g int) (yes bool) {
	s.each(pr, func(_ *ir.Func, in *ir.Instr) {
		of := map[int]partition.Use{}
		partition.UsesOf(in, of)
		yes = yes || of[g].Adds || of[g].Sets
	})
	return yes
}

// parts makes the two programs.
func (s *spreader) parts() *Parts {
	eachOne, once := *s.p, *s.p
	out := &Parts{Each: &eachOne, Once: &once, Touched: map[int]bool{}, Seen: map[int]bool{}}
	eachOne.Probes, once.Probes = nil, nil
	for i, pr := range s.p.Probes {
		if s.at[i] == each {
			eachOne.Probes = append(eachOne.Probes, pr)
			continue
		}
		once.Probes = append(once.Probes, pr)
		if last(pr) {
			continue
		}
		for g, u := range s.use[i] {
			out.Touched[g] = out.Touched[g] || s.of[g] == all && s.changes(pr, g)
			out.Seen[g] = out.Seen[g] || s.of[g] == all && u.other
		}
	}
	eachOne.Globals, once.Globals = slices.Clone(s.p.Globals), slices.Clone(s.p.Globals)
	for g, of := range s.of {
		// Where a global is not counted to its end, it is neither printed nor a metric.
		part, elsewhere := &eachOne, *s.p.Globals[g]
		elsewhere.Unread, elsewhere.Metric = false, ""
		switch of {
		case all:
			out.Shared = append(out.Shared, g)
			elsewhere.Shown = true
		case each:
			part = &once
		}
		part.Globals[g] = &elsewhere
	}
	return out
}
