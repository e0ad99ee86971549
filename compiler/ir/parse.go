package ir

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/layout"
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

// textError leaves the parser from any depth.
type textError string

// textParser holds one line at a time as tokens.
type textParser struct {
	p     *Program
	lines []string
	line  int // number of the current line, from 1
	toks  []tok
	globs map[string]int
}

// tok is a token: kind 'w' word, 'i' integer, 's' string, or a punctuation byte. Words and strings have their
// text, integers their value.
type tok struct {
	kind byte
	text string
	n    int64
	glue bool // no space before it
}

func (ps *textParser) fail(format string, args ...any) {
	panic(textError(fmt.Sprintf(format, args...)))
}

// next goes to the next line that has tokens.
func (ps *textParser) next() bool {
	for ps.line < len(ps.lines) {
		ps.line++
		ps.toks = ps.scan(ps.lines[ps.line-1])
		if len(ps.toks) > 0 {
			return true
		}
	}
	return false
}

func (ps *textParser) scan(s string) []tok {
	var toks []tok
	glue := false
	for i := 0; i < len(s); {
		c := s[i]
		j := i + 1
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			glue = false
			i++
			continue
		case c == '#':
			return toks
		case c == '"':
			for j < len(s) && s[j] != '"' {
				if s[j] == '\\' {
					j++
				}
				j++
			}
			if j >= len(s) {
				ps.fail("unfinished string")
			}
			j++
			text, err := strconv.Unquote(s[i:j])
			if err != nil {
				ps.fail("bad string %s", s[i:j])
			}
			toks = append(toks, tok{'s', text, 0, glue})
		case c >= '0' && c <= '9' || c == '-' && j < len(s) && s[j] >= '0' && s[j] <= '9':
			for j < len(s) && nameByte(s[j]) {
				j++
			}
			n, err := strconv.ParseInt(s[i:j], 0, 64)
			if err != nil {
				u, err := strconv.ParseUint(s[i:j], 0, 64)
				if err != nil {
					ps.fail("bad number %s", s[i:j])
				}
				n = int64(u)
			}
			toks = append(toks, tok{'i', s[i:j], n, glue})
		case nameByte(c):
			for j < len(s) && nameByte(s[j]) {
				j++
			}
			toks = append(toks, tok{'w', s[i:j], 0, glue})
		default:
			toks = append(toks, tok{c, s[i:j], 0, glue})
		}
		i, glue = j, true
	}
	return toks
}

func (ps *textParser) peek() tok {
	if len(ps.toks) == 0 {
		return tok{}
	}
	return ps.toks[0]
}

func (ps *textParser) take() tok {
	t := ps.peek()
	if t.kind == 0 {
		ps.fail("the line ends too early")
	}
	ps.toks = ps.toks[1:]
	return t
}

// accept takes punctuation or the word s if it comes next.
func (ps *textParser) accept(s string) bool {
	if t := ps.peek(); t.kind != 0 && t.kind != 's' && t.kind != 'i' && t.text == s {
		ps.toks = ps.toks[1:]
		return true
	}
	return false
}

func (ps *textParser) want(s string) {
	if !ps.accept(s) {
		ps.fail("expected %q, found %q", s, ps.peek().text)
	}
}

func (ps *textParser) done() {
	if len(ps.toks) > 0 {
		ps.fail("unexpected %q", ps.toks[0].text)
	}
}

func (ps *textParser) int() int64 {
	t := ps.take()
	if t.kind != 'i' {
		ps.fail("expected a number, found %q", t.text)
	}
	return t.n
}

// small reads a number that counts something.
func (ps *textParser) small() int {
	n := ps.int()
	if n < 0 || n > math.MaxInt32 {
		ps.fail("%d is out of range", n)
	}
	return int(n)
}

func (ps *textParser) word() string {
	t := ps.take()
	if t.kind != 'w' {
		ps.fail("expected a word, found %q", t.text)
	}
	return t.text
}

func (ps *textParser) string() string {
	t := ps.take()
	if t.kind != 's' {
		ps.fail("expected a string, found %q", t.text)
	}
	return t.text
}

func (ps *textParser) name() string {
	t := ps.take()
	if t.kind != 'w' && t.kind != 's' {
		ps.fail("expected a name, found %q", t.text)
	}
	return t.text
}

// numbered reads a word made of prefix and a number: r3, b0.
func (ps *textParser) numbered(prefix string) int {
	w := ps.word()
	n, ok := number(w, prefix)
	if !ok {
		ps.fail("expected %s and a number, found %q", prefix, w)
	}
	return n
}

func number(w, prefix string) (int, bool) {
	d, ok := strings.CutPrefix(w, prefix)
	if !ok || len(d) == 0 || len(d) > 1 && d[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(d, 10, 24)
	return int(n), err == nil
}

func (ps *textParser) item() {
	switch w := ps.word(); w {
	case "limits":
		ps.limits()
	case "locks":
		ps.p.Locks = ps.small()
	case "global":
		ps.global()
	case "func":
		ps.function()
		return
	case "probe":
		ps.probe()
		return
	default:
		ps.fail("expected limits, locks, global, func or probe, found %q", w)
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
	g := &Global{Name: ps.name()}
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
	f := &Func{Name: ps.name()}
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
	pr := &Probe{Name: ps.string(), Cond: -1, Handler: &Func{}}
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
		if s.Kind == probe.Perf {
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
			s.Period = time.Duration(ps.int())
		case "jitter":
			s.Jitter = time.Duration(ps.int())
		case "path":
			s.Path = ps.string()
		case "pid":
			s.PID = int(ps.int())
		case "target":
			s.Target = ps.int() != 0
		case "offset":
			s.Offset = uint64(ps.int())
		case "refctr":
			s.RefCtr = uint64(ps.int())
		case "event":
			s.Event = ps.string()
		case "symbol":
			s.Symbol = ps.string()
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

func (ps *textParser) reg() Reg { return Reg(ps.numbered("r")) }

func (ps *textParser) block() BlockID { return BlockID(ps.numbered("b")) }

// body reads registers and blocks to the closing brace.
func (ps *textParser) body(f *Func) {
	regs := map[Reg]RegInfo{}
	var cur *Block
	ended := true
	for {
		if !ps.next() {
			ps.fail("} is missing")
		}
		if ps.accept("}") {
			break
		}
		t := ps.peek()
		if t.kind == 'w' && len(ps.toks) == 2 && ps.toks[1].kind == ':' {
			if !ended {
				ps.fail("the block before does not end")
			}
			if b := ps.block(); int(b) != len(f.Blocks) {
				ps.fail("expected b%d, found b%d", len(f.Blocks), b)
			}
			ps.want(":")
			cur, ended = &Block{}, false
			f.Blocks = append(f.Blocks, cur)
			continue
		}
		if cur == nil {
			ps.regs(regs)
			ps.done()
			continue
		}
		if ended {
			ps.fail("the block has ended")
		}
		if term, ok := ps.term(); ok {
			cur.Term, ended = term, true
		} else {
			cur.Instrs = append(cur.Instrs, ps.instr())
		}
		ps.done()
	}
	ps.done()
	if !ended {
		ps.fail("the last block does not end")
	}
	f.Regs = make([]RegInfo, len(regs))
	for r, info := range regs {
		if int(r) >= len(f.Regs) {
			ps.fail("register r%d is declared but one below it is not", r)
		}
		f.Regs[r] = info
	}
}

func (ps *textParser) regs(regs map[Reg]RegInfo) {
	t, w := types.Long, ps.word()
	switch w {
	case "long":
	case "string":
		t = types.String
	default:
		ps.fail("expected long, string or a block, found %q", w)
	}
	for {
		r := ps.reg()
		if _, dup := regs[r]; dup {
			ps.fail("register r%d is declared twice", r)
		}
		info := RegInfo{Type: t}
		if t == types.String {
			info.Cap = ps.small()
		}
		if k := ps.peek().kind; k == 'w' || k == 's' {
			info.Name = ps.name()
		}
		regs[r] = info
		if !ps.accept(",") {
			return
		}
	}
}

func (ps *textParser) val() Val {
	switch t := ps.take(); {
	case t.kind == 'i':
		return I(t.n)
	case t.kind == 's':
		return S(t.text)
	case t.kind == '*':
		return Star()
	case t.kind == 'w':
		if n, ok := number(t.text, "r"); ok {
			return R(Reg(n))
		}
		fallthrough
	default:
		ps.fail("expected a value, found %q", t.text)
	}
	return Val{}
}

// vals reads values up to the closing token.
func (ps *textParser) vals(end string) []Val {
	var vs []Val
	for !ps.accept(end) {
		if len(vs) > 0 {
			ps.want(",")
		}
		vs = append(vs, ps.val())
	}
	return vs
}

// more reads the values that follow, each behind a comma.
func (ps *textParser) more(vs []Val) []Val {
	for ps.accept(",") {
		vs = append(vs, ps.val())
	}
	return vs
}

func (ps *textParser) call() []Val {
	ps.want("(")
	return ps.vals(")")
}

func (ps *textParser) glob() int {
	ps.want("@")
	n := ps.name()
	g, ok := ps.globs[n]
	if !ok {
		ps.fail("no global is called %s", n)
	}
	return g
}

func (ps *textParser) elem() (int, []Val) {
	g := ps.glob()
	if ps.accept("[") {
		return g, ps.vals("]")
	}
	return g, nil
}

func (ps *textParser) iter() int { return ps.numbered("i") }

func (ps *textParser) onErr() BlockID {
	if ps.accept("!") {
		return ps.block()
	}
	return NoBlock
}

func (ps *textParser) term() (Term, bool) {
	t := Term{OnErr: NoBlock}
	switch {
	case ps.accept("jump"):
		t.Kind, t.Then = TermJump, ps.block()
	case ps.accept("branch"):
		t.Kind, t.Cond = TermBranch, ps.val()
		ps.want(",")
		t.Then = ps.block()
		ps.want(",")
		t.Else = ps.block()
	case ps.accept("return"):
		t.Kind = TermReturn
		if len(ps.toks) > 0 {
			t.Cond = ps.val()
		}
	case ps.accept("end"):
		t.Kind = TermEnd
	case ps.accept("fail"):
		t.Kind = TermFail
		w := ps.word()
		for t.Code = 0; t.Code.String() != w; t.Code++ {
			if t.Code >= NumCodes {
				ps.fail("unknown error %q", w)
			}
		}
		t.Args = ps.call()
		t.OnErr = ps.onErr()
	case ps.accept("skip"):
		t.Kind = TermSkip
		w := ps.word()
		for t.Cause = 0; t.Cause.String() != w; t.Cause++ {
			if t.Cause >= NumCauses {
				ps.fail("unknown cause %q", w)
			}
		}
	default:
		return t, false
	}
	return t, true
}

// opcode splits a word into the operation and what is written behind its name.
func opcode(w string) (Op, string) {
	if op, ok := opByName()[w]; ok {
		return op, ""
	}
	if s, ok := strings.CutPrefix(w, "sget."); ok {
		return OpSGet, s
	}
	if s, ok := strings.CutPrefix(w, "load"); ok {
		return OpLoad, s
	}
	return OpNone, ""
}

func (ps *textParser) instr() Instr {
	in := Instr{Dst: NoReg, Glob: -1, OnErr: NoBlock}
	if len(ps.toks) > 1 && ps.toks[1].kind == '=' {
		in.Dst = ps.reg()
		ps.want("=")
	}
	w := ps.word()
	suffix := ""
	in.Op, suffix = opcode(w)
	switch in.Op {
	case OpNone:
		ps.fail("unknown operation %q", w)
	case OpReg, OpBudget, OpLock, OpUnlock:
		in.N = ps.int()
	case OpLoad:
		suffix, in.Kernel = strings.CutSuffix(suffix, "k")
		suffix, in.Signed = strings.CutSuffix(suffix, "s")
		n, err := strconv.ParseUint(suffix, 10, 8)
		if err != nil || suffix != strconv.FormatUint(n, 10) {
			ps.fail("unknown operation %q", w)
		}
		in.N = int64(n)
		in.Args = []Val{ps.val()}
	case OpSite:
		in.Name = ps.name()
	case OpGGet, OpGSet, OpGAdd, OpMGet, OpMSet, OpMAdd, OpMHas, OpMDel, OpSAdd, OpMClear:
		in.Glob, in.Args = ps.elem()
		in.Args = ps.more(in.Args)
	case OpSGet:
		for in.N = 0; Stat(in.N).String() != suffix; in.N++ {
			if Stat(in.N) == StatBucket {
				ps.fail("unknown statistic %q", suffix)
			}
		}
		if Stat(in.N) == StatBucket {
			in.Iter = ps.small()
		}
		in.Glob, in.Args = ps.elem()
		in.Args = ps.more(in.Args)
	case OpIterOpen:
		in.Iter = ps.iter()
		in.Glob, in.Args = ps.elem()
		if ps.peek().kind == 's' {
			in.Name = ps.string()
		}
		limit := I(-1)
		if ps.accept("limit") {
			limit = ps.val()
		}
		in.Args = append(in.Args, limit)
	case OpIterNext, OpIterVal, OpIterKey:
		in.Iter = ps.iter()
		in.Glob = ps.glob()
		if in.Op == OpIterKey {
			in.N = int64(ps.small())
		}
	case OpPrint, OpSprint:
		f, err := ParseFormat(ps.string())
		if err != nil {
			ps.fail("%v", err)
		}
		in.N = int64(ps.p.AddFormat(f))
		in.Args = ps.call()
	case OpPrintHist, OpSprintHist:
		in.N = int64(ps.small())
		in.Glob, in.Args = ps.elem()
		in.Args = ps.more(in.Args)
	case OpCall, OpIntr:
		in.Name = ps.name()
		in.Args = ps.call()
	default:
		if len(ps.toks) > 0 {
			in.Args = ps.more([]Val{ps.val()})
		}
	}
	if in.Op.CanFail() {
		in.OnErr = ps.onErr()
	}
	return in
}
