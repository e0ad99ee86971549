package ir

import (
	"fmt"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// ParseText reads the text form that Program.String writes. Errors name the line. What it gives is
// well formed as text; whether it makes sense is for Verify to say.
func ParseText(text string) (p *Program, err error) {
	ps := &textParser{p: &Program{Limits: layout.Default()}, lines: strings.Split(text, "\n"), globs: map[string]int{}}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case textError:
			p, err = nil, fmt.Errorf("line %d: %s", ps.line, string(e))
		default:
			panic(e)
		}
	}()
	for ps.next() {
		ps.item()
	}
	return ps.p, nil
}

func (ps *textParser) item() {
	switch w := ps.word(); w {
	case "machine":
		if name := ps.word(); ps.p.Machine == nil {
			if ps.p.Machine = machine.ByArch(name); ps.p.Machine == nil {
				ps.fail("no machine is called %s", name)
			}
		}
	case "limits":
		ps.limits()
	case "locks":
		ps.p.Locks = ps.small()
	case "global":
		ps.global()
	case "prelude":
		ps.p.Prelude = append(ps.p.Prelude, Prelude{Text: ps.string()})
	case "code":
		ps.code()
	case "func":
		ps.function()
		return
	case "probe":
		ps.probe()
		return
	default:
		ps.fail("expected limits, locks, global, prelude, code, func or probe, found %q", w)
	}
	ps.done()
}

func (ps *textParser) limits() {
	for len(ps.toks) > 0 {
		w := ps.word()
		ps.want("=")
		if !ps.p.Limits.Set(w, ps.small()) {
			ps.fail("no limit is called %s", w)
		}
	}
}

func (ps *textParser) typ() (types.Type, int) {
	switch w := ps.word(); w {
	case "long":
		return types.Long, 0
	case "stats":
		return types.Stats, 0
	case "string":
		return types.String, ps.small()
	default:
		ps.fail("expected a type, found %q", w)
	}
	return 0, 0
}

func (ps *textParser) global() {
	g := &Global{Name: ps.name(), Pos: ps.pos}
	if _, dup := ps.globs[g.Name]; dup {
		ps.fail("global %s is there already", g.Name)
	}
	g.Type, g.Cap = ps.typ()
	if ps.accept("[") {
		for {
			t, cap := ps.typ()
			g.Keys = append(g.Keys, Key{t, cap})
			if !ps.accept(",") {
				break
			}
		}
		ps.want("]")
	}
	ps.globs[g.Name] = ps.p.AddGlobal(g)
	for len(ps.toks) > 0 {
		switch w := ps.word(); w {
		case "size":
			g.Size = ps.small()
		case "wrap":
			g.Wrap = true
		case "init":
			if g.Type == types.String {
				g.InitStr = ps.string()
			} else {
				g.InitInt = ps.int()
			}
		case "variance":
			g.Stat.Variance = true
		case "hist_log":
			g.Stat.Hists = append(g.Stat.Hists, Hist{})
		case "hist_linear":
			h := Hist{Linear: true}
			ps.want("(")
			h.Low = ps.int()
			ps.want(",")
			h.High = ps.int()
			ps.want(",")
			h.Width = ps.int()
			ps.want(")")
			g.Stat.Hists = append(g.Stat.Hists, h)
		case "scale":
			g.Stat.Scale = ps.int()
			for i := range g.Stat.Hists {
				g.Stat.Hists[i].Scale = g.Stat.Scale
			}
		case "float":
			g.Float = true
		case "shown":
			g.Shown = true
		case "metric":
			g.Metric = ps.string()
		case "unread":
			g.Unread = true
		case "internal":
			g.Internal = true
		case "constant":
			g.Sharing = Constant
		case "quiet":
			g.Sharing = Quiet
		case "private":
			g.Sharing = Private
		case "class":
			g.Class = ps.small()
		default:
			ps.fail("unknown attribute %q", w)
		}
	}
}

func (ps *textParser) function() {
	f := &Func{Name: ps.name(), Pos: ps.pos}
	ps.want("(")
	for !ps.accept(")") {
		if len(f.Params) > 0 {
			ps.want(",")
		}
		f.Params = append(f.Params, ps.reg())
	}
	if t := ps.peek(); t.kind == 'w' && t.text != "recursive" {
		f.Result, f.ResultCap = ps.typ()
	}
	f.Recursive = ps.accept("recursive")
	ps.want("{")
	ps.done()
	ps.body(f)
	ps.p.Funcs = append(ps.p.Funcs, f)
}

func (ps *textParser) probe() {
	pr := &Probe{Name: ps.string(), Cond: -1, Handler: &Func{Pos: ps.pos}, Pos: ps.pos}
	if ps.accept("if") {
		pr.Cond = ps.glob()
	}
	ps.want("{")
	ps.done()
	for ps.line < len(ps.lines) {
		save := ps.line
		if !ps.next() || !ps.accept("site") {
			ps.line, ps.toks = save, nil
			break
		}
		pr.Sites = append(pr.Sites, ps.site())
		ps.done()
	}
	ps.body(pr.Handler)
	ps.p.Probes = append(ps.p.Probes, pr)
}

func (ps *textParser) site() *probe.Site {
	s := &probe.Site{}
	kind := ps.name()
	for s.Kind = 0; s.Kind.String() != kind; s.Kind++ {
		if s.Kind == probe.NumKinds-1 {
			ps.fail("unknown kind of site %q", kind)
		}
	}
	for len(ps.toks) > 0 {
		attr := ps.word()
		ps.want("=")
		switch attr {
		case "priority":
			s.Priority = ps.int()
		case "period":
			s.Timer.Period = time.Duration(ps.int())
		case "jitter":
			s.Timer.Jitter = time.Duration(ps.int())
		case "path":
			s.Program.Path = ps.string()
		case "mode":
			s.Procfs.Mode = uint32(ps.int())
		case "maxsize":
			s.Procfs.MaxSize = ps.small()
		case "pid":
			s.Program.PID = int(ps.int())
		case "target":
			s.Program.Target = ps.int() != 0
		case "exe":
			s.Program.Exe = ps.string()
		case "offset":
			if at := uint64(ps.int()); s.Kind.InKernel() {
				s.Kernel.Offset = at
			} else {
				s.Program.Offset = at
			}
		case "refctr":
			s.Program.RefCtr = uint64(ps.int())
		case "syscall":
			s.Syscall.Nr = int(ps.int())
		case "event":
			s.Event = ps.string()
		case "symbol":
			s.Kernel.Symbol = ps.string()
		case "maxactive":
			s.Kernel.MaxActive = int(ps.int())
		case "type":
			s.Perf.Type = uint32(ps.int())
		case "config":
			s.Perf.Config = uint64(ps.int())
		case "every":
			s.Perf.Period = uint64(ps.int())
		case "hz":
			s.Perf.Hz = uint64(ps.int())
		case "access":
			s.Perf.Access = uint32(ps.int())
		case "addr":
			s.Perf.Addr = uint64(ps.int())
		case "len":
			s.Perf.Len = uint64(ps.int())
		case "wild":
			s.Kernel.Wild = ps.int() != 0
		case "decides":
			s.LSM.Decides = ps.int() != 0
		case "optional":
			s.Optional = ps.int() != 0
		case "pc":
			s.At.PC = uint64(ps.int())
		case "at":
			at := ps.string()
			for s.At.Kind = 0; siteKinds[s.At.Kind] != at; s.At.Kind++ {
				if s.At.Kind == debuginfo.AfterRet {
					ps.fail("unknown place %q", at)
				}
			}
		case "point":
			s.Point = ps.string()
		case "func":
			s.Func = ps.string()
		case "alias":
			s.Alias = ps.string()
		default:
			ps.fail("unknown attribute %q", attr)
		}
	}
	return s
}
