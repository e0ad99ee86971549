package sel_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/regex"
	"github.com/gostap/gostap/compiler/types"
)

var (
	seeds = flag.Int("seeds", 25, "random programs to compare")
	seed  = flag.Uint64("seed", 0, "the only random program to compare")
)

// author writes random programs: everything that both executors do the same way, in any order and nesting.
type author struct {
	*rand.Rand
	p     *ir.Program
	b     *ir.Builder
	longs []ir.Reg
	strs  []ir.Reg
	depth int
	left  int
}

func (a *author) pick(n int) bool { return a.IntN(n) == 0 }

func (a *author) int() int64 {
	switch a.IntN(6) {
	case 0:
		return []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 31, -1 << 31, 1<<32 - 1, 63, 64}[a.IntN(10)]
	case 1:
		return int64(a.Uint64())
	}
	return int64(a.IntN(40)) - 10
}

func (a *author) text() string {
	const letters = "abcAB01 -x.\t\"\\\xff\xc3"
	n := a.IntN(8)
	if a.pick(6) {
		n = a.IntN(90)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[a.IntN(len(letters))]
	}
	return string(b)
}

func (a *author) long() ir.Val {
	if a.pick(3) {
		return ir.I(a.int())
	}
	return ir.R(a.longs[a.IntN(len(a.longs))])
}

func (a *author) str() ir.Val {
	if a.pick(4) {
		return ir.S(a.text())
	}
	return ir.R(a.strs[a.IntN(len(a.strs))])
}

func (a *author) ldst() ir.Reg { return a.longs[a.IntN(len(a.longs))] }
func (a *author) sdst() ir.Reg { return a.strs[a.IntN(len(a.strs))] }

// small is a Long from 0 to 15, so that keys meet.
func (a *author) small() ir.Val {
	if a.pick(2) {
		return ir.I(int64(a.IntN(16)))
	}
	return a.b.Bin(ir.OpAnd, ir.R(a.ldst()), ir.I(15))
}

const (
	gLong = iota
	gStr
	gArr
	gNames
	gTexts
	gStat
	gStats
	gTiny
)

func (a *author) program() *ir.Program {
	p := &ir.Program{Limits: layout.Default()}
	p.Limits.MaxErrors, p.Limits.MaxAction = 1000, 2000
	long := ir.Key{Type: types.Long}
	str := func(n int) ir.Key { return ir.Key{Type: types.String, Cap: n} }
	for _, g := range []*ir.Global{
		{Name: "n", Type: types.Long, InitInt: a.int()},
		{Name: "s", Type: types.String, Cap: 1 + a.IntN(120), InitStr: ""},
		{Name: "arr", Type: types.Long, Keys: []ir.Key{long}, Size: 100},
		{Name: "names", Type: types.Long, Keys: []ir.Key{str(1 + a.IntN(100)), long}, Size: 100},
		{Name: "texts", Type: types.String, Cap: 1 + a.IntN(100), Keys: []ir.Key{long}, Size: 100},
		{Name: "st", Type: types.Stats,
			Stat: ir.StatNeeds{Hists: []ir.Hist{{}, {Linear: true, Low: -5, High: 20, Width: 3}}}},
		{Name: "sts", Type: types.Stats, Keys: []ir.Key{str(20)}, Size: 100},
		{Name: "tiny", Type: types.Long, Keys: []ir.Key{long}, Size: 5},
	} {
		p.AddGlobal(g)
	}
	for range 4 {
		p.Regexes = append(p.Regexes, a.pattern())
	}
	a.p = p
	for i := range 2 {
		b := ir.NewBuilder("")
		a.b, a.longs, a.strs, a.left = b, nil, nil, 40
		for i := range 6 {
			r := b.Long(fmt.Sprintf("v%d", i))
			b.Mov(r, ir.I(a.int()))
			a.longs = append(a.longs, r)
		}
		for i := range 5 {
			r := b.Str(fmt.Sprintf("t%d", i), []int{a.IntN(10), 15, a.IntN(80), 100, 511}[i])
			b.Mov(r, ir.S(""))
			a.strs = append(a.strs, r)
		}
		a.block()
		for _, r := range a.longs {
			a.print("%d", ir.R(r))
		}
		for _, r := range a.strs {
			a.print("<%s>", ir.R(r))
		}
		b.End()
		p.Probes = append(p.Probes, &ir.Probe{Name: fmt.Sprintf("random%d", i), Handler: b.Finish(), Cond: -1,
			Sites: []*probe.Site{{Kind: probe.Uprobe}}})
	}
	return p
}

func (a *author) print(format string, args ...ir.Val) {
	f, err := ir.ParseFormat(format + "\n")
	if err != nil {
		panic(err)
	}
	a.b.Print(a.p.AddFormat(f), args...)
}

func (a *author) block() {
	for n := 2 + a.IntN(6); n > 0 && a.left > 0; n-- {
		a.left--
		a.statement()
	}
}

func (a *author) statement() {
	b := a.b
	switch a.IntN(32) {
	case 0, 1, 2:
		ops := []ir.Op{ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpShl, ir.OpShr, ir.OpSar, ir.OpEq,
			ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe, ir.OpULt}
		b.Op(ops[a.IntN(len(ops))], a.ldst(), a.long(), a.long())
	case 3:
		d := b.Bin(ir.OpOr, a.long(), ir.I(1))
		if a.pick(2) {
			d = ir.I(a.int() | 1)
		}
		b.Op([]ir.Op{ir.OpDiv, ir.OpMod}[a.IntN(2)], a.ldst(), a.long(), d)
	case 4:
		b.Op([]ir.Op{ir.OpNeg, ir.OpNot}[a.IntN(2)], a.ldst(), a.long())
	case 5:
		b.Mov(a.sdst(), a.str())
	case 6, 7:
		b.Op(ir.OpCat, a.sdst(), a.str(), a.str())
	case 8:
		b.Op(ir.OpSCmp, a.ldst(), a.str(), a.str())
	case 9:
		b.Intr("strlen", a.ldst(), a.str())
	case 10:
		b.Intr("substr", a.sdst(), a.str(), a.small(), a.small())
	case 11:
		b.Intr([]string{"strpos", "isinstr"}[a.IntN(2)], a.ldst(), a.str(), a.str())
	case 12:
		b.Intr([]string{"tolower", "toupper", "text_str", "string_quoted"}[a.IntN(4)], a.sdst(), a.str())
	case 13:
		b.Intr("strtol", a.ldst(), a.str(), ir.I([]int64{0, 8, 10, 16, 36}[a.IntN(5)]))
	case 14:
		b.Intr("str_replace", a.sdst(), a.str(), a.str(), a.str())
	case 15:
		f, _ := ir.ParseFormat([]string{"%d:%s", "%5d|%-9s|", "%#x %.3s", "%+d%10s", "%c %s", "%-7o%20s!"}[a.IntN(6)])
		b.Sprint(a.p.AddFormat(f), a.sdst(), a.long(), a.str())
	case 16:
		b.OnGlobal(ir.OpGAdd, gLong, a.ldst(), a.long())
	case 17:
		if a.pick(2) {
			b.OnGlobal(ir.OpGSet, gStr, ir.NoReg, a.str())
		} else {
			b.OnGlobal(ir.OpGGet, gStr, a.sdst())
		}
	case 18:
		dst := ir.NoReg
		if a.pick(2) {
			dst = a.ldst()
		}
		b.OnGlobal(ir.OpMAdd, gArr, dst, a.small(), a.long())
	case 19:
		b.OnGlobal(ir.OpMGet, gArr, a.ldst(), a.small())
	case 20:
		b.OnGlobal([]ir.Op{ir.OpMSet, ir.OpMAdd}[a.IntN(2)], gNames, ir.NoReg, a.str(), a.small(), a.long())
	case 21:
		b.OnGlobal(ir.OpMSet, gTexts, ir.NoReg, a.small(), a.str())
	case 22:
		b.OnGlobal(ir.OpMGet, gTexts, a.sdst(), a.small())
	case 23:
		switch a.IntN(6) {
		case 0:
			b.OnGlobal(ir.OpMDel, gArr, ir.NoReg, a.small())
		case 1:
			b.OnGlobal(ir.OpMDel, gNames, ir.NoReg, ir.Star(), a.small())
		case 2:
			b.OnGlobal(ir.OpMDel, gNames, ir.NoReg, a.str(), ir.Star())
		case 3:
			b.OnGlobal(ir.OpMHas, gNames, a.ldst(), a.str(), a.small())
		case 4:
			b.OnGlobal(ir.OpMHas, gNames, a.ldst(), a.str(), ir.Star())
		case 5:
			b.OnGlobal(ir.OpMClear, []int{gLong, gStr, gArr, gTexts, gStat, gStats, gTiny}[a.IntN(7)], ir.NoReg)
		}
	case 24:
		b.OnGlobal(ir.OpSAdd, gStat, ir.NoReg, a.long())
		b.OnGlobal(ir.OpSAdd, gStats, ir.NoReg, a.str(), a.long())
	case 25:
		// What a register holds behind an error is left open, so these write to ones of their own.
		a.attempt(func() {
			x, y, z := b.Long(""), b.Long(""), b.Long("")
			b.Stat(gStat, ir.Stat(a.IntN(5)), x)
			b.Stat(gStats, ir.Stat(a.IntN(5)), y, a.str())
			b.Bucket(gStat, a.IntN(2), z, a.long())
			a.print("%d %d %d", ir.R(x), ir.R(y), ir.R(z))
			b.OnGlobal(ir.OpMSet, gTiny, ir.NoReg, a.small(), a.long())
			b.Intr("stringat", a.ldst(), a.str(), a.small())
		})
	case 26:
		a.print([]string{"%d %s", "%x|%10s", "%5d,%.4s"}[a.IntN(3)], a.long(), a.str())
	case 27:
		then, els, join := b.Block(), b.Block(), b.Block()
		if a.pick(2) {
			c := b.Bin([]ir.Op{ir.OpEq, ir.OpNe}[a.IntN(2)], b.Bin(ir.OpSCmp, a.str(), a.str()), ir.I(0))
			b.Branch(c, then, els)
		} else {
			b.Branch(b.Bin([]ir.Op{ir.OpLt, ir.OpEq, ir.OpULt, ir.OpGe}[a.IntN(4)], a.long(), a.long()), then, els)
		}
		b.SetBlock(then)
		a.nested()
		b.Jump(join)
		b.SetBlock(els)
		a.nested()
		b.Jump(join)
		b.SetBlock(join)
	case 28:
		if a.depth > 1 {
			return
		}
		i := b.Long("i")
		head, body, out := b.Block(), b.Block(), b.Block()
		b.Mov(i, ir.I(0))
		b.Jump(head)
		b.SetBlock(head)
		b.Budget(1)
		b.Branch(b.Bin(ir.OpLt, ir.R(i), ir.I(int64(1+a.IntN(6)))), body, out)
		b.SetBlock(body)
		a.nested()
		b.Op(ir.OpAdd, i, ir.R(i), ir.I(1))
		b.Jump(head)
		b.SetBlock(out)
	case 30, 31:
		b.Mov(a.ldst(), b.Match(a.IntN(len(a.p.Regexes)), a.str()))
	case 29:
		a.attempt(func() {
			a.nested()
			f := b.Block()
			on := b.Block()
			b.Branch(b.Bin(ir.OpLt, a.long(), a.long()), f, on)
			b.SetBlock(f)
			if a.pick(2) {
				b.Fail(ir.ErrUser, a.str())
			} else {
				b.Fail(ir.ErrIndexRange, a.long(), a.long())
			}
			b.SetBlock(on)
		})
	}
}

func (a *author) nested() {
	a.depth++
	a.block()
	a.depth--
}

// attempt is try { body } catch (msg) { print(msg) }.
func (a *author) attempt(body func()) {
	b := a.b
	outer := b.OnErr
	catch, join := b.Block(), b.Block()
	b.OnErr = catch
	body()
	b.OnErr = outer
	b.Jump(join)
	b.SetBlock(catch)
	m := b.Str("msg", 200)
	b.Op(ir.OpErrMsg, m)
	a.print("caught %s", ir.R(m))
	b.Jump(join)
	b.SetBlock(join)
}

// pattern makes a regular expression over the letters of text.
func (a *author) pattern() *regex.Regex {
	var part func(d int) string
	part = func(d int) string {
		if d == 0 || a.pick(4) {
			return []string{"a", "b", "c", "[ab]", "[^a]", ".", "0|1", "A", "[[:alpha:]]", "[[:digit:]]+", "x", " ",
				"\\.", "^", "$", "\"", "\xff"}[a.IntN(17)]
		}
		x := part(d - 1)
		switch a.IntN(6) {
		case 0:
			return "(" + x + ")" + []string{"*", "+", "?", "{2}", "{1,3}"}[a.IntN(5)]
		case 1:
			return "(" + x + "|" + part(d-1) + ")"
		}
		return x + part(d-1)
	}
	for {
		if re, err := regex.Compile(part(4)); err == nil {
			return re
		}
	}
}

// TestRandom compares random programs in the kernel with the interpreter.
func TestRandom(t *testing.T) {
	needRoot(t)
	from, to := uint64(1), uint64(*seeds)
	if *seed != 0 {
		from, to = *seed, *seed
	}
	for s := from; s <= to; s++ {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			a := &author{Rand: rand.New(rand.NewPCG(s, 7))}
			p := a.program()
			if err := ir.Verify(p); err != nil {
				t.Fatalf("%v\n%s", err, p)
			}
			if *seed != 0 && *listing {
				t.Logf("%s", p)
			}
			for _, may := range forms() {
				for _, far := range []bool{false, true} {
					sel.LastLevel(far)
					same(t, p, 2, sel.Features{MayGoto: may})
					sel.LastLevel(false)
					if t.Failed() {
						t.Fatalf("may_goto %v, numbers off the stack %v\n%s", may, far, p)
					}
				}
			}
		})
	}
}
