package cgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// binaryOps are the operations that are one of C's. Numbers wrap: the kernel is built so.
var binaryOps = map[ir.Op]string{
	ir.OpAnd: "%s & %s", ir.OpOr: "%s | %s", ir.OpXor: "%s ^ %s",
	ir.OpAdd: "(s64)((u64)%s + (u64)%s)", ir.OpSub: "(s64)((u64)%s - (u64)%s)", ir.OpMul: "(s64)((u64)%s * (u64)%s)",
	ir.OpDiv: "gs_div(%s, %s)", ir.OpMod: "gs_mod(%s, %s)",
	ir.OpShl: "(s64)((u64)%s << (%s & 63))", ir.OpShr: "(s64)((u64)%s >> (%s & 63))", ir.OpSar: "%s >> (%s & 63)",
	ir.OpEq: "%s == %s", ir.OpNe: "%s != %s", ir.OpLt: "%s < %s", ir.OpLe: "%s <= %s", ir.OpGt: "%s > %s",
	ir.OpGe:  "%s >= %s",
	ir.OpULt: "(u64)%s < (u64)%s",
}

// field names the member of struct pt_regs that holds a register.
func (g *gen) field(n int) string { return g.p.On().Field(n) }

// ip is the instruction pointer.
func (g *gen) ip() string { return g.field(g.p.On().IP) }

func (g *gen) set(in *ir.Instr, format string, args ...any) {
	if in.Dst != ir.NoReg {
		g.emit("%s = %s;", g.name(in.Dst), fmt.Sprintf(format, args...))
	}
}

func (g *gen) instr(in *ir.Instr) {
	a := in.Args
	if f := binaryOps[in.Op]; f != "" {
		g.set(in, f, g.long(a[0]), g.long(a[1]))
		return
	}
	switch in.Op {
	case ir.OpMov:
		switch {
		case g.f.Regs[in.Dst].Type != types.String:
			g.set(in, "%s", g.long(a[0]))
		case a[0].Kind == ir.ValReg && g.lazy[a[0].Reg] != nil:
			g.refuse(in.Pos, "the text is made on the host: in a module it can only be printed")
		default:
			g.emit("gs_copy(%s, %s);", g.dst(in.Dst), g.str(a[0]))
		}
	case ir.OpNeg:
		g.set(in, "(s64)(0 - (u64)%s)", g.long(a[0]))
	case ir.OpNot:
		g.set(in, "~%s", g.long(a[0]))
	case ir.OpCat:
		g.emit("gs_cat(%s, %s, %s);", g.dst(in.Dst), g.str(a[0]), g.str(a[1]))
	case ir.OpSCmp:
		g.set(in, "gs_scmp(%s, %s)", g.str(a[0]), g.str(a[1]))
	case ir.OpMatch:
		g.match(in)
	case ir.OpValue:
		g.emit("gs_copy(%s, hit->value->text);", g.dst(in.Dst))
	case ir.OpReply:
		g.emit("gs_reply(hit->value, %s, %v);", g.str(a[0]), in.N == 1)
	case ir.OpReg, ir.OpTLS, ir.OpBias, ir.OpSite, ir.OpTraceArg:
		g.probed(in)
	case ir.OpLoad:
		g.or(in, "gs_load(c, %d, %s, %s, %d, %v, %v)", in.Pos, g.ref(in.Dst), g.long(a[0]), in.N, in.Signed, in.Kernel)
	case ir.OpStore:
		g.or(in, "gs_store(c, %d, %s, %s, %d, %v)", in.Pos, g.long(a[0]), g.long(a[1]), in.N, in.Kernel)
	case ir.OpSetReg:
		if g.probe >= 0 && g.noRegs() {
			g.refuse(in.Pos, "there are no registers of a program at this kind of probe")
			return
		}
		g.emit("hit->regs->%s = %s;", g.field(int(in.N)), g.long(a[0]))
	case ir.OpGGet, ir.OpGSet, ir.OpGAdd:
		g.scalar(in)
	case ir.OpMGet, ir.OpMSet, ir.OpMAdd, ir.OpMHas, ir.OpMDel, ir.OpMClear:
		g.array(in)
	case ir.OpSAdd, ir.OpSGet:
		g.stat(in)
	case ir.OpIterOpen, ir.OpIterNext, ir.OpIterKey, ir.OpIterVal:
		g.iter(in)
	case ir.OpPrint:
		g.print(in)
	case ir.OpSprint:
		g.sprint(in)
	case ir.OpPrintHist, ir.OpSprintHist:
		g.refuse(in.Pos, "the text of a histogram is made on the host: print it from a begin, end or timer probe")
	case ir.OpCall:
		g.call(in)
	case ir.OpIntr:
		g.intrinsic(in)
	case ir.OpEmbed:
		g.embed(in)
	case ir.OpBudget:
		g.emit("c->left -= %d;", in.N)
		g.emit("if (unlikely(c->left < 0)) {")
		g.emit("\tgs_raise(c, %d, GS_ERR_MAXACTION, 0, 0);", in.Pos)
		g.emit("\tgs_report(c, &c->err, %d);", max(g.probe, 0))
		g.emit("\tgoto %s;\n\t}", g.end())
	case ir.OpLock:
		g.emit("if (unlikely(!gs_lock(c, %d)))\n\t\tgoto %s;", in.N, g.end())
	case ir.OpUnlock:
		g.emit("gs_unlock(c);")
	case ir.OpErrMsg:
		g.emit("gs_message(c, %s, &L->err);", g.dst(in.Dst))
	case ir.OpReport:
		g.emit("gs_report(c, &L->err, %d);", max(g.probe, 0))
	default:
		g.refuse(in.Pos, "the operation %s is not known to the module back end", in.Op)
	}
}

// noRegs reports whether any site of the handler comes without registers that can be set.
func (g *gen) noRegs() bool {
	for _, s := range g.probes.Sites {
		if s.Kind.Class() != probe.Instruction {
			return !g.o.All
		}
	}
	return false
}

// siteTable writes a table with an entry for each site and gives the entry of the one that fired.
func (g *gen) siteTable(typ string, rows []string) string {
	same := true
	for _, r := range rows {
		same = same && r == rows[0]
	}
	if same {
		return rows[0]
	}
	g.ntab++
	name := fmt.Sprintf("%s_table_%d", g.fn.name, g.ntab)
	if !strings.HasSuffix(typ, "*") {
		typ += " "
	}
	fmt.Fprintf(&g.fmts, "static const %sconst %s[] = {\n\t%s,\n};\n\n", typ, name, strings.Join(rows, ",\n\t"))
	return name + "[hit->site]"
}

func (g *gen) probed(in *ir.Instr) {
	if g.probe < 0 {
		// The function may be called from several probes: lowering hands such things over as arguments.
		if in.Op == ir.OpSite && !slices.Contains(siteNames[:], in.Name) || in.Op == ir.OpBias {
			g.refuse(in.Pos, "%s inside of a function", in.Op)
			return
		}
	}
	var sites []*probe.Site
	if g.probe >= 0 {
		sites = g.probes.Sites
	}
	kprobe, trace := false, false
	for _, s := range sites {
		kprobe = kprobe || s.Kind.InKernel() && !s.Kind.Returns()
		trace = trace || s.Kind.Words() != probe.NoWords || s.Kind.Class() == probe.Lifetime
	}
	switch in.Op {
	case ir.OpReg:
		switch {
		case g.p.On().IsVector(in.N):
			if g.probe < 0 || slices.ContainsFunc(sites, func(s *probe.Site) bool { return !s.Kind.InUser() }) {
				g.refuse(in.Pos, "vector registers can be read at places of programs only")
				return
			}
			g.set(in, "gs_vector(%d)", in.N-int64(g.p.On().Vector))
		case !g.p.On().General(in.N):
			g.refuse(in.Pos, "register %d cannot be read in a module", in.N)
		case trace:
			g.refuse(in.Pos, "there are no registers of a program at this kind of probe")
		case in.N == int64(g.p.On().IP) && kprobe:
			g.set(in, "hit->func")
		default:
			g.set(in, "hit->regs->%s", g.field(int(in.N)))
		}
	case ir.OpTraceArg:
		if !eventful(sites) && g.probe >= 0 {
			g.refuse(in.Pos, "there are no arguments of an event at this kind of probe")
			return
		}
		g.set(in, "hit->args[%d]", in.N)
	case ir.OpTLS:
		g.set(in, "gs_thread_pointer()")
	case ir.OpBias:
		var rows []string
		ret := false
		for _, s := range sites {
			pc := s.At.PC
			if s.Kind.InUser() && s.Kind.Trampoline() {
				ret = true
				if s.At.Func != nil {
					pc = s.At.Func.Entry
				}
			}
			rows = append(rows, fmt.Sprintf("0x%xUL", pc))
		}
		if trace {
			g.refuse(in.Pos, "there is no instruction at this kind of probe")
			return
		}
		pc := g.siteTable("unsigned long", rows)
		if ret {
			g.set(in, "hit->func - %s", pc)
		} else {
			g.set(in, "hit->regs->%s - %s", g.ip(), pc)
		}
	case ir.OpSite:
		g.site(in, sites, kprobe, trace)
	}
}

// siteNames are the names of a site that functions get by way of struct gs_hit.
var siteNames = [...]string{"pp", "pn", "ppfunc"}

// functionAsks reports whether a function of the script, which several probes may call, asks for a name of the site.
func (u *unit) functionAsks(name string) bool {
	for _, f := range u.p.Funcs {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if in := &b.Instrs[i]; in.Op == ir.OpSite && in.Name == name {
					return true
				}
			}
		}
	}
	return false
}

// siteTexts are the names of the sites, by one of siteNames.
func siteTexts(name string, sites []*probe.Site) []string {
	var rows []string
	for _, s := range sites {
		t := s.Func
		switch {
		case name == "pp", name == "pn" && s.Alias == "":
			t = s.Point
		case name == "pn":
			t = s.Alias
		}
		rows = append(rows, text(cutNUL(t)))
	}
	if len(rows) == 0 {
		rows = []string{`""`}
	}
	return rows
}

func (g *gen) site(in *ir.Instr, sites []*probe.Site, kprobe, trace bool) {
	switch in.Name {
	case "id":
		if len(sites) == 1 {
			g.set(in, "0")
		} else {
			g.set(in, "hit->site")
		}
		return
	case "pc":
		if trace {
			g.set(in, "0")
		} else if kprobe {
			g.set(in, "hit->func")
		} else {
			g.set(in, "hit->regs->%s", g.ip())
		}
		return
	}
	if i := slices.Index(siteNames[:], in.Name); g.probe < 0 && i >= 0 {
		g.emit("gs_copy(%s, hit->name[%d]);", g.dst(in.Dst), i)
		return
	}
	g.emit("gs_copy(%s, %s);", g.dst(in.Dst), g.siteTable("char *", siteTexts(in.Name, sites)))
}

func (g *gen) scalar(in *ir.Instr) {
	gl, c := g.p.Globals[in.Glob], g.glob[in.Glob]
	switch {
	case in.Op == ir.OpGAdd && in.Dst == ir.NoReg:
		g.emit("atomic64_add(%s, &%s);", g.long(in.Args[0]), c)
	case in.Op == ir.OpGAdd:
		g.set(in, "atomic64_fetch_add(%s, &%s)", g.long(in.Args[0]), c)
	case gl.Type == types.String && in.Op == ir.OpGGet:
		g.busy("gs_scalar_get(&%s, %s)", c, g.dst(in.Dst))
	case gl.Type == types.String:
		g.busy("gs_scalar_set(&%s, %s)", c, g.str(in.Args[0]))
	case in.Op == ir.OpGGet:
		g.set(in, "atomic64_read(&%s)", c)
	default:
		g.emit("atomic64_set(&%s, %s);", c, g.long(in.Args[0]))
	}
}

// key writes the first operands of in as the key of its array and gives those behind them, and which are stars.
func (g *gen) key(in *ir.Instr, args []ir.Val) (rest []ir.Val, stars uint32) {
	gl := g.p.Globals[in.Glob]
	lay := layoutOf(gl)
	for i, k := range gl.Keys {
		switch v := args[i]; {
		case v.Kind == ir.ValStar:
			stars |= 1 << i
		case k.Type == types.String:
			g.emit("gs_key_text(c->key, %d, %d, %d, %s);", lay.Off[i], lay.Size[i], k.Cap, g.str(v))
		default:
			g.emit("gs_key_long(c->key, %d, %s);", lay.Off[i], g.long(v))
		}
	}
	return args[len(gl.Keys):], stars
}

func (g *gen) array(in *ir.Instr) {
	gl, c := g.p.Globals[in.Glob], g.glob[in.Glob]
	if in.Op == ir.OpMClear {
		switch {
		case gl.IsArray():
			g.busy("gs_map_clear(&%s)", c)
		case gl.Type == types.Stats:
			g.emit("gs_pcpu_clear(&%s);", c)
		case gl.Type == types.String:
			g.busy("gs_scalar_set(&%s, \"\")", c)
		default:
			g.emit("atomic64_set(&%s, 0);", c)
		}
		return
	}
	rest, stars := g.key(in, in.Args)
	switch in.Op {
	case ir.OpMGet:
		if gl.Type == types.String {
			g.busy("gs_map_get_text(&%s, c->key, %s)", c, g.dst(in.Dst))
		} else {
			g.busy("gs_map_get_long(&%s, c->key, %s)", c, g.ref(in.Dst))
		}
	case ir.OpMSet:
		if gl.Type == types.String {
			g.full(in, "gs_map_set_text(&%s, c->key, %s, %d)", c, g.str(rest[0]), gl.Cap)
		} else {
			g.full(in, "gs_map_set_long(&%s, c->key, %s)", c, g.long(rest[0]))
		}
	case ir.OpMAdd:
		g.full(in, "gs_map_add(&%s, c->key, %s, %s)", c, g.long(rest[0]), g.ref(in.Dst))
	case ir.OpMHas:
		g.busy("gs_map_has(&%s, c->key, %d, %s)", c, stars, g.ref(in.Dst))
	case ir.OpMDel:
		g.busy("gs_map_del(&%s, c->key, %d)", c, stars)
	}
}

func (g *gen) stat(in *ir.Instr) {
	gl, c := g.p.Globals[in.Glob], g.glob[in.Glob]
	rest, stars := g.key(in, in.Args)
	if in.Op == ir.OpSAdd {
		if gl.IsArray() {
			g.full(in, "gs_map_stat(&%s, c->key, %s)", c, g.long(rest[0]))
		} else {
			g.emit("gs_pcpu_add(&%s, %s);", c, g.long(rest[0]))
		}
		return
	}
	words := 0
	if ir.Stat(in.N) == ir.StatBucket {
		words = layoutOf(gl).HistWords
	}
	g.maxAgg = max(g.maxAgg, AggHead+8*words)
	if gl.IsArray() {
		g.busy("gs_map_agg(&%s, c->key, %d, (struct gs_agg *)c->agg, %d)", c, stars, words)
	} else {
		g.emit("gs_pcpu_merge(&%s, (struct gs_agg *)c->agg, %d);", c, words)
	}
	if s := ir.Stat(in.N); s != ir.StatCount && s != ir.StatSum && s != ir.StatBucket {
		g.emit("if (unlikely(((struct gs_agg *)c->agg)->count == 0)) {")
		g.set(in, "0")
		g.emit("\tgs_raise(c, %d, GS_ERR_EMPTYSTAT, 0, 0);\n\t\tgoto %s;\n\t}", in.Pos, g.onErr(in.OnErr))
	}
	if ir.Stat(in.N) != ir.StatBucket {
		g.set(in, "gs_agg_stat((struct gs_agg *)c->agg, %d)", in.N)
		return
	}
	n, off := gl.Stat.Hists[in.Iter].Buckets(), 0
	for _, h := range gl.Stat.Hists[:in.Iter] {
		off += h.Buckets()
	}
	i := g.long(rest[0])
	g.emit("if (unlikely((u64)%s >= %d)) {", i, n)
	g.emit("\tgs_raise(c, %d, GS_ERR_INDEXRANGE, %s, %d);", in.Pos, i, n)
	g.set(in, "0")
	g.emit("\tgoto %s;\n\t}", g.onErr(in.OnErr))
	g.set(in, "((struct gs_agg *)c->agg)->hist[%d + %s]", off, i)
}

func (g *gen) iter(in *ir.Instr) {
	gl := g.p.Globals[in.Glob]
	lay := layoutOf(gl)
	it := g.iterVar[in.Iter]
	if it == "" {
		it = g.unique(fmt.Sprintf("loop_%s_%d", g.fn.name, in.Iter))
		g.iterVar[in.Iter] = it
		g.iters = append(g.iters, iterator{it, g.glob[in.Glob]})
	}
	switch in.Op {
	case ir.OpIterOpen:
		if g.f.Recursive {
			g.refuse(in.Pos, "foreach inside of a recursive function: a module has room for one copy of the array only")
		}
		n := len(in.Args) - 1
		stars := uint32(1)<<len(gl.Keys) - 1
		if n > 0 {
			_, stars = g.key(in, in.Args[:n])
		}
		limit := "0x7fffffffffffffffLL"
		if in.Args[n] != ir.I(-1) {
			limit = g.long(in.Args[n])
		}
		o, _ := ir.ParseOrder(in.Name)
		txt := false
		by := o.By
		switch {
		case by == 'k':
			txt = gl.Keys[o.Col].Type == types.String
		case by == 'v' && gl.Type == types.Stats:
			by = '@' // by the count
		case by == 'v':
			txt = gl.Type == types.String
		}
		order := "{ .by = 0 }"
		if by != 0 {
			order = fmt.Sprintf("{ .by = '%c', .desc = %v, .text = %v, .col = %d, .stat = %d }", by, o.Desc, txt, o.Col,
				o.Stat)
		}
		g.emit("{\n\t\tstatic const struct gs_order order = %s;\n", order)
		g.emit("\tif (unlikely(gs_iter_open(&%s, &open_%d, &order, c->key, %d, %s)))\n\t\t\tgoto %s;\n\t}", it, in.Iter,
			stars, limit, g.end())
	case ir.OpIterNext:
		g.set(in, "gs_iter_next(&%s)", it)
	case ir.OpIterKey:
		if gl.Keys[in.N].Type == types.String {
			g.emit("gs_copy(%s, gs_iter_text(&%s, %d));", g.dst(in.Dst), it, lay.Off[in.N])
		} else {
			g.set(in, "gs_iter_long(&%s, %d)", it, lay.Off[in.N])
		}
	case ir.OpIterVal:
		if gl.Type == types.String {
			g.emit("gs_copy(%s, gs_iter_text(&%s, %d));", g.dst(in.Dst), it, lay.KeySize)
		} else {
			g.set(in, "gs_iter_long(&%s, %d)", it, lay.KeySize)
		}
	}
}

func (g *gen) call(in *ir.Instr) {
	f := g.unit.fn[in.Name]
	if g.deep() {
		g.emit("if (unlikely(c->depth >= GS_MAXNESTING)) {")
		g.emit("\tgs_raise(c, %d, GS_ERR_MAXNESTING, 0, 0);\n\t\tgoto %s;\n\t}", in.Pos, g.onErr(in.OnErr))
		g.emit("c->depth++;")
	}
	args := "c, hit"
	switch f.f.Result {
	case types.Long:
		args += ", " + g.ref(in.Dst)
	case types.String:
		if in.Dst == ir.NoReg {
			args += ", NULL, 0"
		} else {
			args += ", " + g.dst(in.Dst)
		}
	}
	for _, v := range in.Args {
		if g.isString(v) {
			args += ", " + g.str(v)
		} else {
			args += ", " + g.long(v)
		}
	}
	g.vars["rc"] = "int"
	g.emit("rc = %s(%s);", f.name, args)
	if g.deep() {
		g.emit("c->depth--;")
	}
	g.emit("if (unlikely(rc == GS_END))\n\t\tgoto %s;", g.end())
	g.emit("if (unlikely(rc))\n\t\tgoto %s;", g.onErr(in.OnErr))
}

// deep reports whether calls may nest deeper than is allowed.
func (u *unit) deep() bool {
	if u.p.Limits.MaxNesting > 0 {
		return true
	}
	for _, f := range u.order {
		if f.f.Recursive {
			return true
		}
	}
	return false
}
