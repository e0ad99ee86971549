package ir

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/types"
)

// handler puts a body into a program with one global of each kind.
func handler(body string) string {
	return `locks 2
global n long
global s string 9
global a long [long, string 15] size 10
global st stats variance hist_log
global sa stats [long] size 10
func f(r0) long {
  long r0
b0:
  return r0
}
func g() {
b0:
  return
}
probe "p" {
  long r0, r1
  string r2 9, r3 9
` + body + "}\n"
}

func TestVerify(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		// what is right
		{"b0:\n r0 = mov 1\n r1 = add r0, 2\n end\n", ""},
		{"b0:\n r0 = load4 0 !b1\n end\nb1:\n r2 = errmsg\n end\n", ""},
		{"b0:\n lock 0\n madd @a[1, \"x\"], 1 !b1\n unlock 0\n end\nb1:\n unlock 0\n report\n end\n", ""},
		{"b0:\n lock 0\n budget 1\n gset @n, 1\n unlock 0\n end\n", ""},
		{"b0:\n iteropen i0 @a \"k1-\" limit 3\n jump b1\nb1:\n r0 = iternext i0 @a\n branch r0, b2, b3\nb2:\n r2 = " +
			"iterkey i0 @a 1\n jump b1\nb3:\n end\n", ""},
		{"b0:\n branch 1, b1, b2\nb1:\n r0 = mov 1\n jump b3\nb2:\n r0 = mov 2\n jump b3\nb3:\n gset @n, r0\n end\n",
			""},
		{"b0:\n end\nb1:\n gset @n, r0\n end\n", ""}, // cannot be reached
		// types and operands
		{"b0:\n r0 = mov \"x\"\n end\n", "not long"},
		{"b0:\n r2 = add 1, 2\n end\n", "r2 is string"},
		{"b0:\n r0 = add 1\n end\n", "1 operands where 2"},
		{"b0:\n r0 = add 1, \"x\"\n end\n", "is string, not long"},
		{"b0:\n r0 = add 1, *\n end\n", "* is no value"},
		{"b0:\n r9 = mov 1\n end\n", "no register r9"},
		{"b0:\n r0 = add r9, 1\n end\n", "no register r9"},
		{"b0:\n r0 = load3 1\n end\n", "3 bytes"},
		{"b0:\n store4 0, 1 !b1\n setreg 15, 1\n end\nb1:\n r2 = errmsg\n end\n", ""},
		{"b0:\n store3 1, 2\n end\n", "3 bytes"},
		{"b0:\n store4 1\n end\n", "1 operands where 2"},
		{"b0:\n r0 = store4 1, 2\n end\n", "has no result"},
		{"b0:\n setreg 7, 1\n end\n", "register 7"},
		{"b0:\n setreg 16, 1\n end\n", "register 16"},
		{"b0:\n setreg 0\n end\n", "0 operands where 1"},
		{"b0:\n r0 = site pp\n end\n", "r0 is long"},
		{"b0:\n r0 = site colour\n end\n", "no such attribute"},
		{"b0:\n r2 = mov \"" + strings.Repeat("x", 512) + "\"\n end\n", "longer than MAXSTRINGLEN-1"},
		// globals
		{"b0:\n gset @a, 1\n end\n", "not for a global like a"},
		{"b0:\n r0 = mget @n\n end\n", "not for a global like n"},
		{"b0:\n r0 = mget @a[1]\n end\n", "1 operands for 2 keys"},
		{"b0:\n r0 = mget @a[1, 2]\n end\n", "key 1: 2 is long"},
		{"b0:\n r0 = mget @a[1, *]\n end\n", "key 1: * is no value"},
		{"b0:\n mset @a[1, \"x\"], \"y\"\n end\n", "is string, not long"},
		{"b0:\n gadd @s, 1\n end\n", "not for a global like s"},
		{"b0:\n sadd @n, 1\n end\n", "not for a global like n"},
		{"b0:\n r0 = sget.variance @sa[1], 0\n end\n", "not for a global like sa"},
		{"b0:\n r0 = sget.bucket 1 @st, 0\n end\n", "not for a global like st"},
		{"b0:\n r0 = sget.count @st, 1\n end\n", "1 operands where 0"},
		{"b0:\n printhist 0 @sa[1]\n end\n", "not for a global like sa"},
		{"b0:\n iteropen i0 @a \"k2+\"\n end\n", "order \"k2+\""},
		{"b0:\n iteropen i0 @a \"@sum+\"\n end\n", "order"},
		{"b0:\n iteropen i0 @a[1]\n end\n", "key 1: -1 is long"},
		{"b0:\n iteropen i0 @n\n end\n", "iterator 0 over global n"},
		{"b0:\n iteropen i0 @a\n r0 = iternext i0 @sa\n end\n", "over two arrays"},
		{"b0:\n iteropen i0 @sa\n r0 = iterval i0 @sa\n end\n", "no value"},
		// calls and prints
		{"b0:\n r0 = call nosuch()\n end\n", "no function"},
		{"b0:\n r0 = call f()\n end\n", "0 operands where 1"},
		{"b0:\n r0 = call g()\n end\n", "has no result"},
		{"b0:\n r0 = intr nosuch()\n end\n", "no intrinsic"},
		{"b0:\n r2 = intr pp()\n end\n", "for the compiler only"},
		{"b0:\n r0 = intr strlen(1)\n end\n", "is long, not string"},
		{"b0:\n print \"%d %s\"(1)\n end\n", "1 operands where 2"},
		{"b0:\n print \"%d\"(\"x\")\n end\n", "is string, not long"},
		{"b0:\n print \"%s\"(1)\n end\n", "is long, not string"},
		// flow
		{"b0:\n jump b5\n", "no block b5"},
		{"b0:\n branch \"x\", b0, b0\n", "is string"},
		{"b0:\n r0 = load4 1 !b7\n end\n", "no block b7"},
		{"b0:\n return\n", "a handler does not return"},
		{"b0:\n fail user()\n", "0 operands where 1"},
		{"b0:\n fail maxaction()\n", "cannot be raised"},
		{"b0:\n gset @n, r0\n end\n", "r0 is not set on every path"},
		{"b0:\n branch 1, b1, b2\nb1:\n r0 = mov 1\n jump b2\nb2:\n gset @n, r0\n end\n",
			"b2, gset @n, r0: r0 is not set"},
		{"b0:\n r0 = load4 1 !b1\n jump b1\nb1:\n gset @n, r0\n end\n", "r0 is not set"},
		{"b0:\n branch r1, b0, b0\n", "r1 is not set"},
		{"b0:\n r2 = errmsg\n end\n", "no error is pending"},
		{"b0:\n r0 = load4 1 !b1\n jump b1\nb1:\n report\n end\n", "no error is pending"},
		{"b0:\n r0 = iternext i0 @a\n end\n", "iterator 0 is not open"},
		// locks
		{"b0:\n lock 2\n end\n", "lock 2 of 2"},
		{"b0:\n lock 0\n end\n", "ends with lock 0 held"},
		{"b0:\n unlock 0\n end\n", "unlock 0 while -1 is held"},
		{"b0:\n lock 0\n lock 1\n unlock 1\n unlock 0\n end\n", "lock 1 while 0 is held"},
		{"b0:\n lock 0\n madd @a[1, \"x\"], 1\n unlock 0\n end\n", "an error leaves the handler with lock 0"},
		{"b0:\n branch 1, b1, b2\nb1:\n lock 0\n jump b2\nb2:\n end\n", "held, from elsewhere"},
		{"b0:\n lock 1\n fail divzero()\n", "the handler fails with lock 1"},
	} {
		p, err := ParseText(handler(c.body))
		if err != nil {
			t.Errorf("%q: %v", c.body, err)
			continue
		}
		err = Verify(p)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: got %v, want %q", c.body, err, c.want)
		}
	}
}

func TestVerifyProgram(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"global g string 512", "512 bytes of string"},
		{"global g long [string 600] size 5", "key 0: 600 bytes"},
		{"global g long [long]", "an array of 0 entries"},
		{"global g long wrap", "a scalar cannot wrap"},
		{"global g string 2 init \"abc\"", "does not fit"},
		{"global g long hist_log", "keeps statistics"},
		{"global g stats hist_linear(5, 1, 1)", "histogram 5 to 1"},
		{"global g stats hist_linear(0, 9, 0)", "histogram 0 to 9 by 0"},
		{"global g stats hist_linear(-9223372036854775808, 9223372036854775807, 1)", "histogram"},
		{"global g long class 3", "lock class 3"},
		{"func f() {\nb0:\n call f()\n return\n}", "not marked recursive"},
		{"func f() {\nb0:\n call g()\n return\n}\nfunc g() {\nb0:\n call h()\n return\n}\nfunc h() recursive " +
			"{\nb0:\n call g()\n return\n}", "func g: can reach itself"},
		{"func f() {\nb0:\n end\n}", "a function ends by return"},
		{"func f() long {\nb0:\n return\n}", "is no value"},
		{"func f() {\nb0:\n return 1\n}", "a result where there is none"},
		{"locks 1\nfunc f() {\nb0:\n lock 0\n unlock 0\n return\n}", "in handlers only"},
		{"func f(r0, r0) {\n long r0\nb0:\n return\n}", "two parameters"},
		{"func f() {\n string r0 600\nb0:\n return\n}", "r0: 600 bytes"},
		{"func f() {\n}", "no blocks"},
		{"global a long [long] size 1\nprobe \"p\" if @a {\nb0:\n end\n}", "not a long scalar"},
	} {
		p, err := ParseText(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if err = Verify(p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}

// TestVerifyBroken: values that the text form cannot even say.
func TestVerifyBroken(t *testing.T) {
	good := func() *Program {
		b := NewBuilder("")
		b.Mov(b.Long("x"), I(1))
		b.End()
		p := &Program{}
		p.Limits.MaxString = 64
		p.Probes = []*Probe{{Name: "p", Handler: b.Finish(), Cond: -1}}
		return p
	}
	if err := Verify(good()); err != nil {
		t.Fatal(err)
	}
	for name, break1 := range map[string]func(*Program){
		"op":        func(p *Program) { p.Probes[0].Handler.Blocks[0].Instrs[0].Op = 200 },
		"no op":     func(p *Program) { p.Probes[0].Handler.Blocks[0].Instrs[0].Op = OpNone },
		"term":      func(p *Program) { p.Probes[0].Handler.Blocks[0].Term.Kind = 77 },
		"glob":      func(p *Program) { i := &p.Probes[0].Handler.Blocks[0].Instrs[0]; i.Op, i.Glob = OpGSet, 7 },
		"format":    func(p *Program) { i := &p.Probes[0].Handler.Blocks[0].Instrs[0]; i.Op, i.N = OpPrint, -1 },
		"reg type":  func(p *Program) { p.Probes[0].Handler.Regs[0].Type = types.Stats },
		"nil glob":  func(p *Program) { p.Globals = []*Global{nil} },
		"nil hand":  func(p *Program) { p.Probes[0].Handler = nil },
		"nil site":  func(p *Program) { p.Probes[0].Sites = append(p.Probes[0].Sites, nil) },
		"nil fmt":   func(p *Program) { p.Formats = []*Format{nil} },
		"nil func":  func(p *Program) { p.Funcs = []*Func{nil} },
		"cond":      func(p *Program) { p.Probes[0].Cond = 3 },
		"bad conv":  func(p *Program) { p.Formats = []*Format{{Pieces: []Piece{Conv('q')}}} },
		"dst range": func(p *Program) { p.Probes[0].Handler.Blocks[0].Instrs[0].Dst = -7 },
	} {
		p := good()
		break1(p)
		if err := Verify(p); err == nil {
			t.Errorf("%s: no error", name)
		}
		if !strings.HasPrefix(name, "nil") {
			_ = p.Dump() // does not panic
		}
	}
}

func TestBuilder(t *testing.T) {
	p := &Program{Limits: layout.Default()}
	n := p.AddGlobal(&Global{Name: "n", Type: types.Long})
	b := NewBuilder("")
	i := b.Long("i")
	b.Mov(i, I(0))
	head, body, out := b.Block(), b.Block(), b.Block()
	b.Jump(head)
	b.SetBlock(head)
	b.Branch(b.Bin(OpLt, R(i), I(3)), body, out)
	b.SetBlock(body)
	b.OnGlobal(OpGAdd, n, NoReg, R(i))
	b.Op(OpAdd, i, R(i), I(1))
	b.Jump(head)
	b.Print(0) // dropped: the block has ended
	b.SetBlock(out)
	f := b.Finish()
	p.Probes = []*Probe{{Name: "begin", Handler: f, Cond: -1}}
	if err := Verify(p); err != nil {
		t.Fatal(err)
	}
	const want = `global n long

probe "begin" {
  long r0 i, r1
b0:
  r0 = mov 0
  jump b1
b1:
  r1 = lt r0, 3
  branch r1, b2, b3
b2:
  gadd @n, r0
  r0 = add r0, 1
  jump b1
b3:
  end
}
`
	if got := p.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}
