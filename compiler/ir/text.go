package ir

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// The text form. One item a line; "#" begins a comment that runs to the line's end. NAME is a
// word of letters, digits and _ $ . that does not begin with a digit, or a quoted string; STRING
// is quoted as in Go. What the text leaves out (positions, images of sites) is lost.
//
//	program = { limits | locks | global | prelude | code | func | probe }
//	limits  = "limits" { NAME "=" INT }              those that are not the default
//	locks   = "locks" INT
//	global  = "global" NAME type [ "[" type { "," type } "]" ] { attr }
//	type    = "long" | "string" CAP | "stats"
//	attr    = "size" INT | "wrap" | "init" ( INT | STRING ) | "variance" | "hist_log"
//	        | "hist_linear" "(" INT "," INT "," INT ")" | "internal" | "constant" | "quiet" | "private" | "class" INT
//	prelude = "prelude" STRING
//	code    = "code" STRING STRING "(" [ ctype NAME { "," ctype NAME } ] ")" [ ctype ] [ "expr" ] [ "pure" ] [ "old" ]
//	          { "uses" NAME STRING "@" NAME }       its name and its C; the STRING of uses is "r", "w" or "rw"
//	ctype   = "long" | "string"
//	func    = "func" NAME "(" [ reg { "," reg } ] ")" [ type ] [ "recursive" ] "{" body "}"
//	probe   = "probe" STRING [ "if" "@" NAME ] "{" { site } body "}"
//	site    = "site" KIND { ATTRIBUTE "=" value }
//	body    = { regs } { BLOCK ":" { instr } term }
//	regs    = "long" reg [ NAME ] { "," reg [ NAME ] }
//	        | "string" reg CAP [ NAME ] { "," reg CAP [ NAME ] }
//	instr   = [ reg "=" ] OP operands [ "!" BLOCK ]   "!": where to go on an error; none: out of the function
//	term    = "jump" BLOCK | "branch" val "," BLOCK "," BLOCK | "return" [ val ] | "end"
//	        | "fail" CODE "(" [ val { "," val } ] ")" [ "!" BLOCK ] | "skip" CAUSE
//	pos     = "~" INT        behind an instruction or term, and behind the first line of a global, func or probe:
//	                       its place as a source.Pos; only Portable writes it
//	val     = reg | INT | STRING | "*"
//	reg     = "r0", "r1", ...          BLOCK = "b0", "b1", ... in this order
//
// The operands by operation (elem is "@" NAME, for arrays followed by "[" val { "," val } "]"):
//
//	mov add ... scmp              val { "," val }
//	reg, budget, lock, unlock     INT
//	reply                         INT "," val
//	load                          the bytes and then s (signed) and k (kernel) are part of OP: load4s
//	site                          NAME
//	gget gset gadd mget mset madd mhas mdel mclear sadd     elem { "," val }; mclear has no keys
//	sget                          the statistic is part of OP: sget.sum elem; sget.variance elem "," val;
//	                              sget.bucket INT elem "," val, INT being the histogram
//	iteropen                      "i" INT elem [ STRING ] [ "limit" val ]
//	iternext, iterval, iterkey    "i" INT "@" NAME; iterkey has the key's INT behind it
//	match                         STRING "(" val ")", STRING being the pattern
//	print, sprint                 STRING "(" [ val { "," val } ] ")", STRING being the format
//	printhist, sprinthist         INT elem, INT being the histogram
//	call, intr                    NAME "(" [ val { "," val } ] ")"
//	embed                         INT "(" [ val { "," val } ] ")", INT being the code
//	tls, bias, value, errmsg, report  nothing

// String is the text form of p. ParseText reads it back, and then String gives the same text.
func (p *Program) String() string { return p.text(false) }

// Dump is String with the script's positions as comments.
func (p *Program) Dump() string { return p.text(p.Files != nil) }

// Portable is the text form with positions, for a program that is read back on another machine. Keep lists the
// positions in it.
func (p *Program) Portable() (text string, keep []source.Pos) {
	w := &printer{p: p, marks: true}
	w.program()
	return w.b.String(), w.keep
}

func (p *Program) text(pos bool) string {
	w := &printer{p: p, pos: pos}
	w.program()
	return w.b.String()
}

// String is the text form of f without the program around it; globals appear by number.
func (f *Func) String() string {
	w := &printer{p: &Program{}}
	w.fn(f)
	return w.b.String()
}

type printer struct {
	b   strings.Builder
	p   *Program
	pos bool
	// marks: positions are written as numbers, and collected.
	marks bool
	keep  []source.Pos
}

func (w *printer) printf(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

func (w *printer) program() {
	w.limits()
	if w.p.Locks != 0 {
		w.printf("locks %d\n", w.p.Locks)
	}
	for _, g := range w.p.Globals {
		w.global(g)
	}
	w.codes()
	for _, f := range w.p.Funcs {
		w.b.WriteByte('\n')
		w.fn(f)
	}
	for _, pr := range w.p.Probes {
		w.b.WriteByte('\n')
		w.probe(pr)
	}
}

// limitNames gives the fields of l by macro name, in the order they are printed.
func limitNames(l *layout.Limits) []struct {
	Name string
	V    *int
} {
	return []struct {
		Name string
		V    *int
	}{
		{"MAXACTION", &l.MaxAction}, {"MAXACTION_INTERRUPTIBLE", &l.MaxActionInt}, {"MAXSTRINGLEN", &l.MaxString},
		{"MAXMAPENTRIES", &l.MaxEntries}, {"MAXNESTING", &l.MaxNesting}, {"MAXERRORS", &l.MaxErrors},
		{"MAXSKIPPED", &l.MaxSkipped}, {"MAXTRYLOCK", &l.MaxTryLock}, {"TRYLOCKDELAY", &l.TryLockDelay},
		{"MAXBACKTRACE", &l.MaxBacktrace},
	}
}

func (w *printer) limits() {
	def, has := layout.Default(), w.p.Limits
	d := limitNames(&def)
	s := ""
	for i, l := range limitNames(&has) {
		if *l.V != *d[i].V {
			s += fmt.Sprintf(" %s=%d", l.Name, *l.V)
		}
	}
	if s != "" {
		w.printf("limits%s\n", s)
	}
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		if !nameByte(s[i]) || i == 0 && s[i] >= '0' && s[i] <= '9' {
			return false
		}
	}
	return s != ""
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '.'
}

func name(s string) string {
	if isName(s) {
		return s
	}
	return strconv.Quote(s)
}

func typeText(t types.Type, cap int) string {
	if t == types.String {
		return fmt.Sprintf("string %d", cap)
	}
	return t.String()
}

func (w *printer) global(g *Global) {
	w.printf("global %s %s", name(g.Name), typeText(g.Type, g.Cap))
	for i, k := range g.Keys {
		w.b.WriteString(map[bool]string{true: " [", false: ", "}[i == 0])
		w.b.WriteString(typeText(k.Type, k.Cap))
	}
	if g.IsArray() {
		w.printf("] size %d", g.Size)
	}
	if g.Wrap {
		w.b.WriteString(" wrap")
	}
	if g.InitInt != 0 {
		w.printf(" init %d", g.InitInt)
	} else if g.InitStr != "" {
		w.printf(" init %q", g.InitStr)
	}
	if g.Stat.Variance {
		w.b.WriteString(" variance")
	}
	for _, h := range g.Stat.Hists {
		if h.Linear {
			w.printf(" hist_linear(%d, %d, %d)", h.Low, h.High, h.Width)
		} else {
			w.b.WriteString(" hist_log")
		}
	}
	if g.Internal {
		w.b.WriteString(" internal")
	}
	switch g.Sharing {
	case Constant:
		w.b.WriteString(" constant")
	case Quiet:
		w.b.WriteString(" quiet")
	case Private:
		w.b.WriteString(" private")
	}
	if g.Class >= 0 {
		w.printf(" class %d", g.Class)
	}
	w.mark(g.Pos)
	w.b.WriteByte('\n')
}

func (w *printer) fn(f *Func) {
	w.printf("func %s(", name(f.Name))
	for i, r := range f.Params {
		if i > 0 {
			w.b.WriteString(", ")
		}
		w.printf("r%d", r)
	}
	w.b.WriteByte(')')
	if f.Result != types.Unknown {
		w.printf(" %s", typeText(f.Result, f.ResultCap))
	}
	if f.Recursive {
		w.b.WriteString(" recursive")
	}
	w.b.WriteString(" {")
	w.mark(f.Pos)
	w.b.WriteByte('\n')
	w.body(f)
	w.b.WriteString("}\n")
}

func (w *printer) mark(pos source.Pos) {
	if w.marks && pos.IsValid() {
		w.printf(" ~%d", pos)
		w.keep = append(w.keep, pos)
	}
}

func (w *printer) probe(pr *Probe) {
	w.printf("probe %q", pr.Name)
	if pr.Cond >= 0 {
		w.printf(" if %s", w.glob(pr.Cond))
	}
	w.b.WriteString(" {")
	w.mark(pr.Pos)
	w.b.WriteByte('\n')
	for _, s := range pr.Sites {
		w.printf("  site %s\n", siteText(s))
	}
	if pr.Handler != nil {
		w.body(pr.Handler)
	}
	w.b.WriteString("}\n")
}

// siteText writes the parts of a site that the text form keeps, each as ATTRIBUTE=value.
func siteText(s *probe.Site) string {
	out := s.Kind.String()
	num := func(name string, v int64) {
		if v != 0 {
			out += fmt.Sprintf(" %s=%d", name, v)
		}
	}
	hex := func(name string, v uint64) {
		if v != 0 {
			out += fmt.Sprintf(" %s=0x%x", name, v)
		}
	}
	str := func(name, v string) {
		if v != "" {
			out += fmt.Sprintf(" %s=%q", name, v)
		}
	}
	num("priority", s.Priority)
	num("period", int64(s.Period))
	num("jitter", int64(s.Jitter))
	str("path", s.Path)
	num("pid", int64(s.PID))
	if s.Target {
		num("target", 1)
	}
	hex("offset", s.Offset)
	hex("refctr", s.RefCtr)
	num("syscall", int64(s.Syscall))
	str("event", s.Event)
	str("symbol", s.Symbol)
	num("maxactive", int64(s.MaxActive))
	num("type", int64(s.Perf.Type))
	hex("config", s.Perf.Config)
	num("every", int64(s.Perf.Period))
	num("hz", int64(s.Perf.Hz))
	num("access", int64(s.Perf.Access))
	hex("addr", s.Perf.Addr)
	num("len", int64(s.Perf.Len))
	if s.Wild {
		num("wild", 1)
	}
	hex("pc", s.At.PC)
	if s.At.Kind != debuginfo.AtEntry {
		str("at", siteKinds[s.At.Kind])
	}
	hex("mode", uint64(s.Mode))
	num("maxsize", int64(s.MaxSize))
	str("point", s.Point)
	str("func", s.Func)
	str("alias", s.Alias)
	return out
}

var siteKinds = [...]string{"entry", "return", "tail", "line", "inline", "after"}

func (w *printer) body(f *Func) {
	for _, t := range []types.Type{types.Long, types.String} {
		n := 0
		for i, r := range f.Regs {
			if r.Type != t {
				continue
			}
			if n%8 == 0 {
				w.b.WriteString(map[bool]string{true: "  ", false: "\n  "}[n == 0] + t.String() + " ")
			} else {
				w.b.WriteString(", ")
			}
			n++
			w.printf("r%d", i)
			if t == types.String {
				w.printf(" %d", r.Cap)
			}
			if r.Name != "" {
				w.b.WriteString(" " + name(r.Name))
			}
		}
		if n > 0 {
			w.b.WriteByte('\n')
		}
	}
	for i, b := range f.Blocks {
		w.printf("b%d:\n", i)
		for j := range b.Instrs {
			w.b.WriteString("  ")
			w.instr(&b.Instrs[j])
			w.mark(b.Instrs[j].Pos)
			w.at(b.Instrs[j].Pos.IsValid(), func() string { return w.p.Files.Position(b.Instrs[j].Pos).String() })
		}
		w.b.WriteString("  ")
		w.term(&b.Term)
		w.mark(b.Term.Pos)
		w.at(b.Term.Pos.IsValid(), func() string { return w.p.Files.Position(b.Term.Pos).String() })
	}
}

func (w *printer) at(valid bool, pos func() string) {
	if w.pos && valid {
		w.b.WriteString("  # " + pos())
	}
	w.b.WriteByte('\n')
}

func (v Val) String() string {
	switch v.Kind {
	case ValReg:
		return "r" + strconv.Itoa(int(v.Reg))
	case ValInt:
		return strconv.FormatInt(v.Int, 10)
	case ValStr:
		return strconv.Quote(v.Str)
	case ValStar:
		return "*"
	}
	return "none"
}

func (w *printer) vals(vs []Val) {
	for i, v := range vs {
		if i > 0 {
			w.b.WriteString(", ")
		}
		w.b.WriteString(v.String())
	}
}

func (w *printer) glob(g int) string {
	if g < 0 || g >= len(w.p.Globals) {
		return fmt.Sprintf("@?%d", g)
	}
	return "@" + name(w.p.Globals[g].Name)
}

// elem writes a global with as many keys as it has, and gives the arguments behind them.
func (w *printer) elem(g int, args []Val) []Val {
	w.b.WriteString(w.glob(g))
	n := 0
	if g >= 0 && g < len(w.p.Globals) {
		n = min(len(w.p.Globals[g].Keys), len(args))
	}
	if n > 0 {
		w.b.WriteByte('[')
		w.vals(args[:n])
		w.b.WriteByte(']')
	}
	return args[n:]
}

func (w *printer) rest(args []Val) {
	for _, v := range args {
		w.b.WriteString(", " + v.String())
	}
}

func (w *printer) call(args []Val) {
	w.b.WriteByte('(')
	w.vals(args)
	w.b.WriteByte(')')
}

func (w *printer) instr(in *Instr) {
	if in.Dst >= 0 {
		w.printf("r%d = ", in.Dst)
	}
	w.b.WriteString(in.Op.String())
	switch in.Op {
	case OpReply:
		w.printf(" %d", in.N)
		w.rest(in.Args)
	case OpReg, OpTraceArg, OpBudget, OpLock, OpUnlock:
		w.printf(" %d", in.N)
	case OpSetReg:
		w.printf(" %d", in.N)
		w.rest(in.Args)
	case OpLoad, OpStore:
		w.printf("%d", in.N)
		if in.Signed {
			w.b.WriteByte('s')
		}
		if in.Kernel {
			w.b.WriteByte('k')
		}
		w.b.WriteByte(' ')
		w.vals(in.Args)
	case OpSite:
		w.b.WriteString(" " + name(in.Name))
	case OpGGet, OpGSet, OpGAdd, OpMGet, OpMSet, OpMAdd, OpMHas, OpMDel, OpSAdd:
		w.b.WriteByte(' ')
		w.rest(w.elem(in.Glob, in.Args))
	case OpMClear:
		w.b.WriteString(" " + w.glob(in.Glob))
		w.rest(in.Args)
	case OpSGet:
		w.b.WriteByte('.')
		if s := Stat(in.N); s >= 0 && int(s) < len(statNames) {
			w.b.WriteString(s.String())
		} else {
			w.printf("stat?%d", in.N)
		}
		if Stat(in.N) == StatBucket {
			w.printf(" %d", in.Iter)
		}
		w.b.WriteByte(' ')
		w.rest(w.elem(in.Glob, in.Args))
	case OpIterOpen:
		w.printf(" i%d ", in.Iter)
		limit, slice := Val{}, in.Args
		if n := len(in.Args); n > 0 {
			limit, slice = in.Args[n-1], in.Args[:n-1]
		}
		rest := w.elem(in.Glob, slice)
		w.rest(rest)
		if in.Name != "" {
			w.printf(" %q", in.Name)
		}
		if limit != I(-1) {
			w.b.WriteString(" limit " + limit.String())
		}
	case OpIterNext, OpIterVal:
		w.printf(" i%d %s", in.Iter, w.glob(in.Glob))
	case OpIterKey:
		w.printf(" i%d %s %d", in.Iter, w.glob(in.Glob), in.N)
	case OpMatch:
		if in.N >= 0 && in.N < int64(len(w.p.Regexes)) {
			w.b.WriteString(" " + strconv.Quote(w.p.Regexes[in.N].Pattern))
		} else {
			w.printf(" x?%d", in.N)
		}
		w.call(in.Args)
	case OpPrint, OpSprint:
		if in.N >= 0 && in.N < int64(len(w.p.Formats)) {
			w.b.WriteString(" " + strconv.Quote(w.p.Formats[in.N].String()))
		} else {
			w.printf(" f?%d", in.N)
		}
		w.call(in.Args)
	case OpPrintHist, OpSprintHist:
		w.printf(" %d ", in.N)
		w.rest(w.elem(in.Glob, in.Args))
	case OpEmbed:
		w.printf(" %d", in.N)
		w.call(in.Args)
	case OpCall, OpIntr:
		w.b.WriteString(" " + name(in.Name))
		w.call(in.Args)
	default:
		if len(in.Args) > 0 {
			w.b.WriteByte(' ')
			w.vals(in.Args)
		}
	}
	if in.Op.CanFail() && in.OnErr != NoBlock {
		w.printf(" !b%d", in.OnErr)
	}
}

func (w *printer) term(t *Term) {
	switch t.Kind {
	case TermJump:
		w.printf("jump b%d", t.Then)
	case TermBranch:
		w.printf("branch %s, b%d, b%d", t.Cond, t.Then, t.Else)
	case TermReturn:
		w.b.WriteString("return")
		if t.Cond.Kind != ValNone {
			w.b.WriteString(" " + t.Cond.String())
		}
	case TermEnd:
		w.b.WriteString("end")
	case TermFail:
		w.b.WriteString("fail " + t.Code.String())
		w.call(t.Args)
		if t.OnErr != NoBlock {
			w.printf(" !b%d", t.OnErr)
		}
	case TermSkip:
		w.b.WriteString("skip " + t.Cause.String())
	default:
		w.printf("term?%d", t.Kind)
	}
}
