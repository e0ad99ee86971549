package grammar

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/source"
)

// dump writes an expression with every operation in its own brackets.
func dump(x ast.Expr) string {
	list := func(xs []ast.Expr) string {
		var ss []string
		for _, x := range xs {
			ss = append(ss, dump(x))
		}
		return strings.Join(ss, " ")
	}
	switch x := x.(type) {
	case nil:
		return "*"
	case *ast.Unary:
		return "(" + x.Op + " " + dump(x.X) + ")"
	case *ast.Postfix:
		return "(" + dump(x.X) + " " + x.Op + ")"
	case *ast.Binary:
		return "(" + dump(x.X) + " " + x.Op + " " + dump(x.Y) + ")"
	case *ast.Assign:
		return "{" + dump(x.X) + " " + x.Op + " " + dump(x.Y) + "}"
	case *ast.Ternary:
		return "(" + dump(x.Cond) + " ? " + dump(x.Then) + " : " + dump(x.Else) + ")"
	case *ast.Paren:
		return "paren" + dump(x.X)
	case *ast.In:
		to := ""
		if x.Hist != nil {
			to = dump(x.Hist)
		} else {
			to = x.Array.Name
		}
		return "([" + list(x.Keys) + "] in " + to + ")"
	case *ast.Index:
		return x.Array.Name + "[" + list(x.Keys) + "]"
	case *ast.HistIndex:
		return "hist(" + dump(x.Hist) + ")[" + dump(x.I) + "]"
	case *ast.Target:
		s := x.Name
		if x.Base != nil {
			s = "base(" + dump(x.Base) + ")"
		}
		for _, st := range x.Path {
			if st.Index != nil {
				s += " [" + dump(st.Index) + "]"
			} else {
				s += " ->" + st.Member
			}
		}
		return "<" + s + strings.Repeat(" $", x.Pretty) + ">"
	case *ast.Call:
		return x.Fun.Name + "(" + list(x.Args) + ")"
	case *ast.AtOp:
		return x.Name + "(" + list(x.Args) + ")"
	}
	return ast.String(x)
}

// TestTree looks at how operators bind.
func TestTree(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a + b * c", "(a + (b * c))"},
		{"a * b + c", "((a * b) + c)"},
		{"a - b - c", "((a - b) - c)"},
		{"a . b + c . d", "((a . (b + c)) . d)"},
		{"a << b . c", "(a << (b . c))"},
		{"a >> b << c >>> d", "(((a >> b) << c) >>> d)"},
		{"a < b << c", "(a < (b << c))"},
		{"a < b == c", "((a < b) == c)"},
		{"a =~ \"x\" . \"y\"", ""},
		{"a == b in c", "([(a == b)] in c)"},
		{"a & b in c", "(a & ([b] in c))"},
		{"a & b == c", "(a & (b == c))"},
		{"a | b ^ c & d", "(a | (b ^ (c & d)))"},
		{"a && b | c", "(a && (b | c))"},
		{"a || b && c || d", "((a || (b && c)) || d)"},
		{"a || b ? c : d", "((a || b) ? c : d)"},
		{"a ? b : c ? d : e", "(a ? b : (c ? d : e))"},
		{"a ? b ? c : d : e", "(a ? (b ? c : d) : e)"},
		{"a ? b = c : d", "(a ? {b = c} : d)"},
		{"a = b = c", "{a = {b = c}}"},
		{"a = b ? c : d", "{a = (b ? c : d)}"},
		{"a ? b : c = d", "{(a ? b : c) = d}"},
		{"a <<< b + 1", "{a <<< (b + 1)}"},
		{"a += b -= c || d", "{a += {b -= (c || d)}}"},
		{"a || b = c", "{(a || b) = c}"},
		{"-a + b", "((- a) + b)"},
		{"-a * -b", "((- a) * (- b))"},
		{"!a in b", "([(! a)] in b)"},
		{"!a == b", "((! a) == b)"},
		{"-a++", "(- (a ++))"},
		{"- --a", "(- (-- a))"},
		{"a - - b", "(a - (- b))"},
		{"a+++b", "((a ++) + b)"},
		{"~a[1]++", "(~ (a[1] ++))"},
		{"(a + b) * c", "(paren(a + b) * c)"},
		{"[a, *, b + 1] in c", "([a * (b + 1)] in c)"},
		{"[a] in b", "([a] in b)"},
		{"a in @hist_log(b)", "([a] in @hist_log(b))"},
		{"@hist_log(a)[b]", "hist(@hist_log(a))[b]"},
		{"a[1, *]", "a[1 *]"},
		{"a[1]->b", "<base(a[1]) ->b>"},
		{"a->b[1]", "<base(a) ->b [1]>"},
		{"$a->b[c + 1]->d$$", "<$a ->b [(c + 1)] ->d $ $>"},
		{"$a$", "<$a $>"},
		{"$$vars$", "<$$vars $>"},
		{"&$a->b", "(& <$a ->b>)"},
		{"-&$a[1]", "(- (& <$a [1]>))"},
		{"*&$a", ""},
		{"@cast(a, \"b\")->c", "<base(@cast(a \"b\")) ->c>"},
		{"@var(\"a\")$", "<base(@var(\"a\")) $>"},
		{"f(a)[1]", "<base(f(a)) [1]>"},
		{"(a)->b", "<base(parena) ->b>"},
		{"f(a, g(b) + 1)", "f(a (g(b) + 1))"},
	} {
		fs := new(source.FileSet)
		f, l := Parse(fs.Add("x.stp", []byte("probe x { "+c.text+" }")), Options{Files: fs})
		got := ""
		if !l.HasErrors() {
			b := f.Decls[0].(*ast.Probe).Body.Stmts
			if len(b) != 1 {
				t.Errorf("%s gives %d statements", c.text, len(b))
				continue
			}
			got = dump(b[0].(*ast.ExprStmt).X)
		}
		if got != c.want {
			t.Errorf("%s gives %s, want %s", c.text, got, c.want)
		}
	}
}

// TestSpans compares the text of each node's place with the printed node.
func TestSpans(t *testing.T) {
	const text = `global a%[10], b = -1
private function f:long(x:long, y) { if (x) return y; else return f(x - 1, y + 1) }
probe process("é").function("g*").return ? if (b > 1), {p, q}.r { é = 1 }
probe alias = begin { s = "ü"
  while (i < 10) { a[i, "k"] <<< i++ ; if (c) d; else if (e) g; else h }
  foreach ([k, l-] in a limit 5) printf("%d\n", @count(a[k, l]))
  for (i = 0; i < 3; ++i) try { delete a } catch (m) { x = $p->q[1]$$ + @cast(x, "t")->u }
  z = [k, *] in a ? (1 + -2) * 3 : @hist_log(s)[2]  + f("ü") n = -$x . &$y->z }`
	squeeze := func(s string) string {
		return strings.NewReplacer(" ", "", "\n", "", "\t", "", ";", "", `""`, "").Replace(s)
	}
	fs := new(source.FileSet)
	src := fs.Add("x.stp", []byte(strings.ReplaceAll(text, "é = 1", "e = 1")))
	f, l := Parse(src, Options{Files: fs})
	if l.HasErrors() {
		t.Fatal(report(fs, l))
	}
	n := 0
	for _, d := range f.Decls {
		ast.Inspect(d, func(x ast.Node) bool {
			sp := x.Range()
			got := string(src.Text[src.Offset(sp.From):src.Offset(sp.To)])
			if want := ast.String(x); squeeze(got) != squeeze(want) {
				t.Errorf("%T: the place has %q, the node is %q", x, got, want)
			}
			n++
			return true
		})
	}
	if n < 90 {
		t.Errorf("only %d nodes were looked at", n)
	}
}
