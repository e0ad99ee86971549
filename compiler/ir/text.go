package ir

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/machine"
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
//	        | "hist_linear" "(" INT "," INT "," INT ")" | "scale" INT | "internal" | "float" | "shown"
//	        | "constant" | "quiet" | "private" | "class" INT
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
//	offset                        INT STRING
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
	w.machine()
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
		{"MAXBACKTRACE", &l.MaxBacktrace}, {"MAXVALUEDEPTH", &l.ValueDepth}, {"MAXVALUEELEMS", &l.ValueElems},
		{"STP_OVERLOAD_INTERVAL", &l.OverloadTime},
		{"STP_OVERLOAD_THRESHOLD", &l.OverloadMost},
	}
}

// machine is left out for the default one.
func (w *printer) machine() {
	if m := w.p.On(); m != machine.Default {
		w.printf("machine %s\n", m.Arch)
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
	if g.Stat.Scale != 0 {
		w.printf(" scale %d", g.Stat.Scale)
	}
	if g.Internal {
		w.b.WriteString(" internal")
	}
	if g.Float {
		w.b.WriteString(" float")
	}
	if g.Shown {
		w.b.WriteString(" shown")
	}
	if g.Metric != "" {
		w.printf(" metric %q", g.Metric)
	}
	if g.Unread {
		w.b.WriteString(" unread")
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
	num("period", int64(s.Timer.Period))
	num("jitter", int64(s.Timer.Jitter))
	str("path", s.Program.Path)
	num("pid", int64(s.Program.PID))
	if s.Program.Target {
		num("target", 1)
	}
	str("exe", s.Program.Exe)
	hex("offset", s.Offset())
	hex("refctr", s.Program.RefCtr)
	num("syscall", int64(s.Syscall.Nr))
	str("event", s.Event)
	str("symbol", s.Kernel.Symbol)
	num("maxactive", int64(s.Kernel.MaxActive))
	num("type", int64(s.Perf.Type))
	hex("config", s.Perf.Config)
	num("every", int64(s.Perf.Period))
	num("hz", int64(s.Perf.Hz))
	num("access", int64(s.Perf.Access))
	hex("addr", s.Perf.Addr)
	num("len", int64(s.Perf.Len))
	if s.Kernel.Wild {
		num("wild", 1)
	}
	if s.Optional {
		num("optional", 1)
	}
	hex("pc", s.At.PC)
	if s.At.Kind != debuginfo.AtEntry {
		str("at", siteKinds[s.At.Kind])
	}
	if s.LSM.Decides {
		num("decides", 1)
	}
	hex("mode", uint64(s.Procfs.Mode))
	num("maxsize", int64(s.Procfs.MaxSize))
	str("point", s.Point)
	str("func", s.Func)
	str("alias", s.Alias)
	return out
}

var siteKinds = [...]string{"entry", "return", "tail", "line", "inline", "after"}
