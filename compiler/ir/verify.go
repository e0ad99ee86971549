package ir

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/metric"
	"github.com/gostap/gostap/compiler/types"
)

// MaxIters is how many iterators a function may use; their numbers are below it.
const MaxIters = 64

// MaxBuckets is the most buckets that a histogram may have.
const MaxBuckets = 1 << 16

// Verify checks what every executor takes for granted, and gives the first thing that is wrong:
//
//   - operands are of the kinds and types that each operation wants, keys fit their arrays,
//     formats their arguments, calls their functions and intrinsics;
//   - branches and error exits lead to blocks of the function; handlers end, functions return;
//   - registers, iterators and the pending error are set on every path that leads to their use;
//   - locks are taken by handlers only, one at a time, and are given back on every path out,
//     those of errors included (Budget excepted: executors release what they hold there);
//   - constant strings fit MAXSTRINGLEN and hold no NUL byte; Recursive marks what can reach itself.
func Verify(p *Program) error {
	v := &verifier{p: p, funcs: map[string]*Func{}}
	return v.program()
}

type verifier struct {
	p     *Program
	funcs map[string]*Func
	f     *Func
	// handler: f is one.
	handler bool
	iters   [MaxIters]int // 1 + global of each iterator, 0 while unknown
}

func (v *verifier) program() error {
	names := map[string]bool{}
	for i, g := range v.p.Globals {
		if g == nil {
			return fmt.Errorf("global %d is nil", i)
		}
		if names[g.Name] || g.Name == "" {
			return fmt.Errorf("global %q: no name or not the only one with it", g.Name)
		}
		names[g.Name] = true
		if err := v.global(g); err != nil {
			return fmt.Errorf("global %s: %w", g.Name, err)
		}
	}
	for i, f := range v.p.Formats {
		if f == nil {
			return fmt.Errorf("format %d is nil", i)
		}
		for _, p := range f.Pieces {
			if p.Conv != 0 && !validConv(p.Conv) {
				return fmt.Errorf("format %d: unknown conversion %q", i, p.Conv)
			}
		}
	}
	for i, c := range v.p.Codes {
		if err := v.code(c); err != nil {
			return fmt.Errorf("code %d: %w", i, err)
		}
	}
	for _, f := range v.p.Funcs {
		if f == nil || f.Name == "" || v.funcs[f.Name] != nil {
			return fmt.Errorf("a function has no name or not the only one with it")
		}
		v.funcs[f.Name] = f
	}
	rec := v.p.recursive()
	for _, f := range v.p.Funcs {
		if err := v.fn(f, false); err != nil {
			return fmt.Errorf("func %s: %w", f.Name, err)
		}
		if rec[f.Name] && !f.Recursive {
			return fmt.Errorf("func %s: can reach itself but is not marked recursive", f.Name)
		}
	}
	for _, pr := range v.p.Probes {
		if err := v.probe(pr); err != nil {
			return fmt.Errorf("probe %s: %w", pr.Name, err)
		}
	}
	return nil
}

func (v *verifier) global(g *Global) error {
	switch g.Type {
	case types.Long, types.Stats:
	case types.String:
		if err := v.cap(g.Cap); err != nil {
			return err
		}
	default:
		return fmt.Errorf("type %s", g.Type)
	}
	for i, k := range g.Keys {
		switch k.Type {
		case types.Long:
		case types.String:
			if err := v.cap(k.Cap); err != nil {
				return fmt.Errorf("key %d: %w", i, err)
			}
		default:
			return fmt.Errorf("key %d: type %s", i, k.Type)
		}
	}
	if g.IsArray() && g.Size < 1 {
		return fmt.Errorf("an array of %d entries", g.Size)
	}
	if g.Wrap && !g.IsArray() {
		return fmt.Errorf("a scalar cannot wrap")
	}
	if len(g.InitStr) > g.Cap || strings.IndexByte(g.InitStr, 0) >= 0 || (g.InitStr != "" || g.InitInt != 0) &&
		(g.IsArray() || g.Type == types.Stats) {
		return fmt.Errorf("first value does not fit")
	}
	if g.Metric != "" {
		if d, err := metric.Parse(g.Metric); err != nil || len(d.Labels) != len(g.Keys) {
			return fmt.Errorf("%d keys, metric %q: %v", len(g.Keys), g.Metric, err)
		}
	}
	if (g.Stat.Variance || len(g.Stat.Hists) > 0) && g.Type != types.Stats {
		return fmt.Errorf("not an aggregate but keeps statistics")
	}
	for _, h := range g.Stat.Hists {
		if h.Linear && (h.Width < 1 || h.High < h.Low || h.High-h.Low < 0 || (h.High-h.Low)/h.Width > MaxBuckets-3) {
			return fmt.Errorf("histogram %d to %d by %d", h.Low, h.High, h.Width)
		}
	}
	if g.Class < -1 || g.Class >= v.p.Locks && g.Class != -1 {
		return fmt.Errorf("lock class %d", g.Class)
	}
	return nil
}

func (v *verifier) cap(n int) error {
	if n < 0 || n >= v.p.Limits.MaxString {
		return fmt.Errorf("%d bytes of string with MAXSTRINGLEN %d", n, v.p.Limits.MaxString)
	}
	return nil
}

func (v *verifier) probe(pr *Probe) error {
	if pr.Cond != -1 {
		if g := v.glob(pr.Cond); g == nil || g.IsArray() || g.Type != types.Long {
			return fmt.Errorf("condition on global %d, which is not a long scalar", pr.Cond)
		}
	}
	for _, s := range pr.Sites {
		if s == nil {
			return fmt.Errorf("a site is nil")
		}
	}
	if pr.Handler == nil || pr.Handler.Name != "" || len(pr.Handler.Params) > 0 || pr.Handler.Result != types.Unknown {
		return fmt.Errorf("its handler is missing, or has a name, parameters or a result")
	}
	return v.fn(pr.Handler, true)
}

func (v *verifier) fn(f *Func, handler bool) error {
	v.f, v.handler, v.iters = f, handler, [MaxIters]int{}
	for i, r := range f.Regs {
		if r.Type != types.Long && r.Type != types.String {
			return fmt.Errorf("r%d: type %s", i, r.Type)
		}
		if r.Type == types.String {
			if err := v.cap(r.Cap); err != nil {
				return fmt.Errorf("r%d: %w", i, err)
			}
		}
	}
	for i, r := range f.Params {
		if !v.isReg(r) {
			return fmt.Errorf("parameter %d: no register r%d", i, r)
		}
		for _, o := range f.Params[:i] {
			if o == r {
				return fmt.Errorf("r%d is two parameters", r)
			}
		}
	}
	switch f.Result {
	case types.Unknown, types.Long:
	case types.String:
		if err := v.cap(f.ResultCap); err != nil {
			return fmt.Errorf("result: %w", err)
		}
	default:
		return fmt.Errorf("result of type %s", f.Result)
	}
	if len(f.Blocks) == 0 {
		return fmt.Errorf("no blocks")
	}
	for i, b := range f.Blocks {
		for j := range b.Instrs {
			if err := v.instr(&b.Instrs[j]); err != nil {
				return fmt.Errorf("b%d, %s: %w", i, v.show(&b.Instrs[j]), err)
			}
		}
		if err := v.term(&b.Term); err != nil {
			return fmt.Errorf("b%d, end: %w", i, err)
		}
	}
	if err := v.defined(); err != nil {
		return err
	}
	return v.locks()
}

func (v *verifier) show(in *Instr) string {
	w := &printer{p: v.p}
	w.instr(in)
	return w.b.String()
}

func (v *verifier) isReg(r Reg) bool { return r >= 0 && int(r) < len(v.f.Regs) }

func (v *verifier) isBlock(b BlockID) bool { return b >= 0 && int(b) < len(v.f.Blocks) }

func (v *verifier) glob(g int) *Global {
	if g < 0 || g >= len(v.p.Globals) {
		return nil
	}
	return v.p.Globals[g]
}

// typeOf gives the type of an operand, Unknown with an error for what is none.
func (v *verifier) typeOf(a Val) (types.Type, error) {
	switch a.Kind {
	case ValReg:
		if !v.isReg(a.Reg) {
			return 0, fmt.Errorf("no register r%d", a.Reg)
		}
		return v.f.Regs[a.Reg].Type, nil
	case ValInt:
		return types.Long, nil
	case ValStr:
		if len(a.Str) >= max(v.p.Limits.MaxString, 1) || strings.IndexByte(a.Str, 0) >= 0 {
			return 0, fmt.Errorf("a constant string of %d bytes is longer than MAXSTRINGLEN-1 or has a NUL", len(a.Str))
		}
		return types.String, nil
	}
	return 0, fmt.Errorf("%s is no value", a)
}

func (v *verifier) wantType(a Val, t types.Type) error {
	got, err := v.typeOf(a)
	if err != nil {
		return err
	}
	if got != t {
		return fmt.Errorf("%s is %s, not %s", a, got, t)
	}
	return nil
}

// args checks values against types, one by one.
func (v *verifier) args(vs []Val, ts ...types.Type) error {
	if len(vs) != len(ts) {
		return fmt.Errorf("%d operands where %d belong", len(vs), len(ts))
	}
	for i, a := range vs {
		if err := v.wantType(a, ts[i]); err != nil {
			return err
		}
	}
	return nil
}

// keys checks that the first values are keys of g and gives the others.
func (v *verifier) keys(g *Global, vs []Val, stars bool) ([]Val, error) {
	if len(vs) < len(g.Keys) {
		return nil, fmt.Errorf("%d operands for %d keys", len(vs), len(g.Keys))
	}
	for i, k := range g.Keys {
		if stars && vs[i].Kind == ValStar {
			continue
		}
		if err := v.wantType(vs[i], k.Type); err != nil {
			return nil, fmt.Errorf("key %d: %w", i, err)
		}
	}
	return vs[len(g.Keys):], nil
}

// dst checks the result register. Unknown: there must be none.
func (v *verifier) dst(in *Instr, t types.Type, optional bool) error {
	if in.Dst == NoReg && (optional || t == types.Unknown) {
		return nil
	}
	if t == types.Unknown {
		return fmt.Errorf("has no result")
	}
	if !v.isReg(in.Dst) {
		return fmt.Errorf("no register r%d", in.Dst)
	}
	if got := v.f.Regs[in.Dst].Type; got != t {
		return fmt.Errorf("r%d is %s, the result %s", in.Dst, got, t)
	}
	return nil
}

func (v *verifier) instr(in *Instr) error {
	if in.Op.CanFail() && in.OnErr != NoBlock && !v.isBlock(in.OnErr) {
		return fmt.Errorf("no block b%d", in.OnErr)
	}
	if in.Op == OpNone || in.Op >= numOps {
		return fmt.Errorf("no operation %d", in.Op)
	}
	switch in.Op {
	case OpMov:
		if !v.isReg(in.Dst) {
			return fmt.Errorf("no register r%d", in.Dst)
		}
		return v.args(in.Args, v.f.Regs[in.Dst].Type)
	case OpSite:
		return v.site(in)
	case OpLoad, OpStore:
		if in.N != 1 && in.N != 2 && in.N != 4 && in.N != 8 {
			return fmt.Errorf("%d bytes", in.N)
		}
	case OpReg:
		if in.N < 0 || in.N > 1<<16 {
			return fmt.Errorf("register %d", in.N)
		}
	case OpTraceArg:
		if in.N < 0 || in.N >= MaxTraceArgs {
			return fmt.Errorf("event argument %d", in.N)
		}
	case OpSetReg:
		if !v.p.On().CanSet(in.N) {
			return fmt.Errorf("register %d", in.N)
		}
	case OpBudget:
		if in.N < 0 || in.N > 1<<31 {
			return fmt.Errorf("%d statements", in.N)
		}
	case OpLock, OpUnlock:
		if !v.handler || in.N < 0 || in.N >= int64(v.p.Locks) {
			return fmt.Errorf("lock %d of %d, in handlers only", in.N, v.p.Locks)
		}
	case OpValue, OpReply:
		if !v.handler || in.N < 0 || in.N > 1 {
			return fmt.Errorf("in handlers only")
		}
	case OpReport:
		if !v.handler {
			return fmt.Errorf("in a function")
		}
	case OpGGet, OpGSet, OpGAdd, OpMGet, OpMSet, OpMAdd, OpMHas, OpMDel, OpMClear, OpSAdd, OpSGet,
		OpIterOpen, OpIterNext, OpIterKey, OpIterVal, OpPrintHist, OpSprintHist:
		g := v.glob(in.Glob)
		if g == nil {
			return fmt.Errorf("no global %d", in.Glob)
		}
		return v.onGlobal(in, g)
	case OpMatch:
		if in.N < 0 || in.N >= int64(len(v.p.Regexes)) || v.p.Regexes[in.N] == nil {
			return fmt.Errorf("no pattern %d", in.N)
		}
	case OpPrint, OpSprint:
		return v.print(in)
	case OpCall:
		return v.call(in)
	case OpIntr:
		return v.intr(in)
	case OpEmbed:
		return v.embed(in)
	}
	return v.plain(in)
}

// plain checks what the signature in the table says in full.
func (v *verifier) plain(in *Instr) error {
	res, ops, _ := strings.Cut(opTable[in.Op].sig, ":")
	var want []types.Type
	for _, c := range ops {
		want = append(want, letter(c))
	}
	if err := v.args(in.Args, want...); err != nil {
		return err
	}
	return v.dst(in, letter(rune(res[0])), false)
}

func letter(c rune) types.Type {
	switch c {
	case 'l':
		return types.Long
	case 's':
		return types.String
	}
	return types.Unknown
}

// SiteAttr gives the type of an attribute of OpSite, Unknown if there is none of that name.
func SiteAttr(name string) types.Type {
	switch name {
	case "pp", "ppfunc", "probefunc", "pn":
		return types.String
	case "pc", "id":
		return types.Long
	}
	return types.Unknown
}

func (v *verifier) site(in *Instr) error {
	t := SiteAttr(in.Name)
	if t == types.Unknown || len(in.Args) > 0 {
		return fmt.Errorf("no such attribute of a site")
	}
	return v.dst(in, t, false)
}

// CodeArgs gives the types of the arguments that come with an error, and whether TermFail may raise it.
func CodeArgs(c Code) ([]types.Type, bool) {
	switch c {
	case ErrUser, ErrArgument:
		return []types.Type{types.String}, true
	case ErrMapFull, ErrMemory, ErrWrite:
		return []types.Type{types.Long}, true
	case ErrIndexRange:
		return []types.Type{types.Long, types.Long}, true
	}
	return nil, c > ErrNone && c < NumCodes && c != ErrMaxAction
}

func (v *verifier) term(t *Term) error {
	block := func(b BlockID) error {
		if !v.isBlock(b) {
			return fmt.Errorf("no block b%d", b)
		}
		return nil
	}
	switch t.Kind {
	case TermJump:
		return block(t.Then)
	case TermBranch:
		if err := v.wantType(t.Cond, types.Long); err != nil {
			return err
		}
		if err := block(t.Then); err != nil {
			return err
		}
		return block(t.Else)
	case TermReturn:
		if v.handler {
			return fmt.Errorf("a handler does not return")
		}
		if v.f.Result == types.Unknown {
			if t.Cond.Kind != ValNone {
				return fmt.Errorf("a result where there is none")
			}
			return nil
		}
		return v.wantType(t.Cond, v.f.Result)
	case TermEnd, TermSkip:
		if !v.handler {
			return fmt.Errorf("a function ends by return or fail")
		}
		if t.Kind == TermSkip && (t.Cause < 0 || t.Cause >= NumCauses) {
			return fmt.Errorf("cause %d", t.Cause)
		}
		return nil
	case TermFail:
		ts, ok := CodeArgs(t.Code)
		if !ok {
			return fmt.Errorf("error %d cannot be raised", t.Code)
		}
		if t.OnErr != NoBlock {
			if err := block(t.OnErr); err != nil {
				return err
			}
		}
		return v.args(t.Args, ts...)
	}
	return fmt.Errorf("no kind of end %d", t.Kind)
}
