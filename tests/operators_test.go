package tests

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The values of operators are computed here, by Go, and nowhere else in this file: they are what all executors are
// held to. Each operator stands between constants and variables in all four ways, since those come about in
// different places: in the syntax tree, in the optimiser, in the back ends.

var operators = []string{"&&", "||", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&", "|", "^", "<<",
	">>", ">>>"}

var operands = []int64{0, 1, -1, 2, 7, -8, 63, math.MaxInt64, math.MinInt64, 1 << 32}

// binary is what x op y has to be; false for divisions by zero.
func binary(op string, x, y int64) (int64, bool) {
	is := func(b bool) (int64, bool) {
		if b {
			return 1, true
		}
		return 0, true
	}
	switch op {
	case "&&":
		return is(x != 0 && y != 0)
	case "||":
		return is(x != 0 || y != 0)
	case "==":
		return is(x == y)
	case "!=":
		return is(x != y)
	case "<":
		return is(x < y)
	case "<=":
		return is(x <= y)
	case ">":
		return is(x > y)
	case ">=":
		return is(x >= y)
	case "+":
		return x + y, true
	case "-":
		return x - y, true
	case "*":
		return x * y, true
	case "/", "%":
		if y == 0 {
			return 0, false
		}
		if op == "/" {
			return x / y, true
		}
		return x % y, true
	case "&":
		return x & y, true
	case "|":
		return x | y, true
	case "^":
		return x ^ y, true
	case "<<":
		return x << (y & 63), true
	case ">>":
		return x >> (y & 63), true
	case ">>>":
		return int64(uint64(x) >> (y & 63)), true
	}
	panic(op)
}

// pairs are the operands that op is tried with: few where there are many operators, so that a handler stays small.
func pairs(op string) [][2]int64 {
	var out [][2]int64
	for i, x := range operands {
		for j, y := range operands {
			if _, ok := binary(op, x, y); ok && ((op == "&&" || op == "||") && i < 4 && j < 3 || (i*3+j*7+i*j)%9 == 0) {
				out = append(out, [2]int64{x, y})
			}
		}
	}
	return out
}

// sheet is a script with what it has to print.
type sheet struct{ script, want strings.Builder }

func (s *sheet) line(want any, format string, args ...any) {
	fmt.Fprintf(&s.script, "  "+format+"\n", args...)
	fmt.Fprintln(&s.want, want)
}

// number is n as a script writes it.
func number(n int64) string {
	if n == math.MinInt64 {
		return "0x8000000000000000"
	}
	return strconv.FormatInt(n, 10)
}

// variable is a global that has the value n.
func variable(n int64) string {
	if n < 0 {
		return "m" + strconv.FormatUint(uint64(-n), 10)
	}
	return "p" + strconv.FormatInt(n, 10)
}

// newSheet begins a script whose variables are not known before it runs.
func newSheet(about string) *sheet {
	s := new(sheet)
	fmt.Fprintf(&s.script, "# %s\nglobal t0 = \"\", ta = \"a\", tb = \"b\", a", about)
	for _, n := range operands {
		fmt.Fprintf(&s.script, ", %s = %s", variable(n), number(n))
	}
	s.script.WriteString("\n@define same(x) %( @x %)\n@define one %( 1 %)\n@define none %( 0 %)\nprobe test {\n  if " +
		"(gettimeofday_s() < 0) { t0 .= \"x\" ta .= \"x\" tb .= \"x\"")
	for _, n := range operands {
		fmt.Fprintf(&s.script, " %s++", variable(n))
	}
	s.script.WriteString(" }\n")
	return s
}

func (s *sheet) String() string { return s.script.String() + "}\n### output\n" + s.want.String() }

// forms are x op y with constants and variables.
func forms(op string, x, y int64) [4]string {
	c, d, v, w := number(x), number(y), variable(x), variable(y)
	return [4]string{c + " " + op + " " + d, c + " " + op + " " + w, v + " " + op + " " + d, v + " " + op + " " + w}
}

// table gives the operators as values.
func table(about string, ops ...string) *sheet {
	s := newSheet(about)
	for _, op := range ops {
		for _, p := range pairs(op) {
			f := forms(op, p[0], p[1])
			n, _ := binary(op, p[0], p[1])
			s.line(fmt.Sprintf("%s %d %d %d %d", strings.ReplaceAll(f[0], "0x8000000000000000", "min"), n, n, n, n),
				`printf("%s %%d %%d %%d %%d\n", %s, %s, %s, %s)`,
				strings.ReplaceAll(strings.ReplaceAll(f[0], "%", "%%"), "0x8000000000000000", "min"), f[0], f[1], f[2],
				f[3])
		}
	}
	return s
}

// decisions has the operators in if, ?:, while, !, in macros and within each other.
func decisions() *sheet {
	s := newSheet("Operators that decide something.")
	for _, op := range []string{"&&", "||", "==", "<", ">=", "-", "&"} {
		for _, p := range [][2]int64{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 7}, {-1, 1}} {
			n, _ := binary(op, p[0], p[1])
			f := forms(op, p[0], p[1])
			all, text := 0, ""
			for i := range f {
				if n != 0 {
					all |= 1 << i
				}
			}
			for i, e := range f {
				switch i + len(op) {
				case 1, 5:
					text += fmt.Sprintf(" if (%s) n |= %d", e, 1<<i)
				case 2:
					text += fmt.Sprintf(" n |= (%s) ? %d : 0", e, 1<<i)
				case 3:
					text += fmt.Sprintf(" if (!(%s)) n |= 0 else n |= %d", e, 1<<i)
				default:
					text += fmt.Sprintf(" while ((%s) && !(n & %d)) n |= %d", e, 1<<i, 1<<i)
				}
			}
			s.line(all, "n = 0%s println(n)", text)
		}
	}
	for i, e := range []string{"1||0", "0&&1", "@one || @none", "@none && @one", "@same(1 || 0)",
		"@same(0) && @same(1)", "!(1 || 0)", "(1 || 0) && (0 || 1)", "1 ? 1 || 0 : 0 && 1", "@defined($nothing) || 1",
		"1 || @defined($nothing)", "!@defined($nothing) && 1", "@defined($nothing) && 1",
		"1 && !@defined($nothing)", "0 || @defined($nothing)", "(@defined($nothing) ? 0 : 3) || 0",
		"@defined($nothing) ? $nothing : 1 || 0"} {
		n := []int{1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1}[i]
		s.line(fmt.Sprint(n, n), `println(%s, " ", %s ? 1 : 0)`, e, e)
	}
	return s
}

// assignments has what takes one operand, and assignments.
func assignments() *sheet {
	s := newSheet("Operators with one operand, and assignments.")
	for _, n := range operands {
		not, _ := binary("==", n, 0)
		c, v := number(n), variable(n)
		want := fmt.Sprint(-n, ^n, not, n)
		s.line(want+" "+want, `printf("%%d %%d %%d %%d %%d %%d %%d %%d\n", - %s, ~%s, !%s, + %s, - %s, ~%s, !%s, + %s)`,
			c, c, c, c, v, v, v, v)
	}
	for _, op := range operators[8:18] { // there is no >>>=
		for _, p := range [][2]int64{{7, 2}, {-8, 63}, {math.MaxInt64, -1}} {
			n, _ := binary(op, p[0], p[1])
			s.line(fmt.Sprint(n, n), `x = %s x %s= %s y = %s y %s= %s println(x, " ", y)`, number(p[0]), op,
				number(p[1]), variable(p[0]), op, variable(p[1]))
		}
	}
	s.line("ab ab", `x1 = "a" x1 .= "b" y1 = ta y1 .= tb println(x1, " ", y1)`)
	s.line("4 5 5 4 4", `z = 5 println(--z, " ", ++z, " ", z--, " ", z++ - 0, " ", z - 1)`)
	return s
}

// strs has the operators of strings, in and =~.
func strs() *sheet {
	s := newSheet("Operators of strings between constants and variables.")
	texts := map[string]string{"": "t0", "a": "ta", "b": "tb"}
	for _, x := range []string{"", "a", "b"} {
		for _, y := range []string{"", "a"} {
			for _, op := range []string{"==", "!=", "<", "<=", ">", ">="} {
				n, _ := binary(op, int64(strings.Compare(x, y)), 0)
				c, d := strconv.Quote(x), strconv.Quote(y)
				s.line(fmt.Sprint(n, n, n, n), `printf("%%d %%d %%d %%d\n", %s %s %s, %s %s %s, %s %s %s, %s %s %s)`, c,
					op, d, c, op, texts[y], texts[x], op, d, texts[x], op, texts[y])
			}
			c, d := strconv.Quote(x), strconv.Quote(y)
			s.line(strings.Repeat(x+y+" ", 4), `println(%s . %s, " ", %s . %s, " ", %s . %s, " ", %s . %s, " ")`, c, d,
				c, texts[y], texts[x], d, texts[x], texts[y])
		}
	}
	s.line("1010", `a[1, "a"] = 1 println([1, "a"] in a, [1, "b"] in a, [p1, ta] in a, [p2, ta] in a)`)
	s.line("1001", `println("a" =~ "[a-c]", "x" =~ "^[a-c]", ta !~ "a", tb !~ "a")`)
	return s
}

// node is a random expression with its value.
func node(r *rand.Rand, depth int) (string, int64) {
	if depth == 0 {
		n := operands[r.IntN(len(operands))]
		if r.IntN(2) == 0 {
			return number(n), n
		}
		return variable(n), n
	}
	x, n := node(r, depth-1-r.IntN(depth))
	switch r.IntN(8) {
	case 0:
		op := []string{"!", "~", "- "}[r.IntN(3)]
		switch op {
		case "!":
			v, _ := binary("==", n, 0)
			return "!(" + x + ")", v
		case "~":
			return "~(" + x + ")", ^n
		}
		return "- (" + x + ")", -n
	case 1:
		y, m := node(r, depth-1)
		z, k := node(r, depth-1)
		if n != 0 {
			k = m
		}
		return "((" + x + ") ? " + y + " : " + z + ")", k
	}
	y, m := node(r, depth-1)
	for {
		op := operators[r.IntN(len(operators))]
		if r.IntN(2) == 0 {
			op = operators[r.IntN(2)]
		}
		if v, ok := binary(op, n, m); ok {
			return "(" + x + " " + op + " " + y + ")", v
		}
	}
}

func nested() *sheet {
	s := newSheet("Random expressions of constants and variables.")
	r := rand.New(rand.NewPCG(8, 8))
	for range 60 {
		e, n := node(r, 4)
		cond, _ := binary("!=", n, 0)
		s.line(fmt.Sprint(n, cond), `println(%s, " ", %s ? 1 : 0)`, e, e)
	}
	return s
}

// TestOperatorScripts holds language/operators-*.stp, which TestLanguage and TestParity run in all executors, to the
// table; -update writes them.
func TestOperatorScripts(t *testing.T) {
	for name, s := range map[string]*sheet{
		"logic":      table("The operators of logic between constants and variables.", operators[:2]...),
		"compare":    table("Each comparison between constants and variables.", operators[2:8]...),
		"arithmetic": table("Each operator of arithmetic between constants and variables.", operators[8:13]...),
		"bits":       table("Each operator of bits between constants and variables.", operators[13:]...),
		"decisions":  decisions(), "assign": assignments(), "strings": strs(), "nested": nested(),
	} {
		file := "language/operators-" + name + ".stp"
		if *update {
			if err := os.WriteFile(file, []byte(s.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != s.String() {
			t.Errorf("%s is not what the table gives (%v): go test ./tests -run TestOperatorScripts -update", file, err)
		}
	}
}

// TestOperatorsOfArguments has the operators between arguments of the command line, in the script and in conditions of
// the preprocessor.
func TestOperatorsOfArguments(t *testing.T) {
	gostap := bin(t, "gostap")
	for _, p := range [][2]int64{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 7}, {7, 2}, {3, 3}} {
		args := []string{number(p[0]), number(p[1])}
		script, want := "probe begin {\n", ""
		for _, op := range operators {
			n, ok := binary(op, p[0], p[1])
			if !ok {
				continue
			}
			script += fmt.Sprintf("println(\"%s \", $1 %s $2, \" \", $1 %s $2 ? 1 : 0)\n", op, op, op)
			cond, _ := binary("!=", n, 0)
			want += fmt.Sprintf("%s %d %d\n", op, n, cond)
			if is := strings.Index("== != < <= > >=", op); is >= 0 && op != "=" {
				script += fmt.Sprintf("println(\"number \", %%( $1 %s $2 %%? 1 %%: 0 %%), \" text \", @1 %s @2, \" "+
					"\", %%( @1 %s @2 %%? 1 %%: 0 %%))\n", op, op, op)
				text, _ := binary(op, int64(strings.Compare(args[0], args[1])), 0)
				want += fmt.Sprintf("number %d text %d %d\n", n, text, text)
			}
			if op == "&&" || op == "||" {
				script += fmt.Sprintf("println(%%( $1 != 0 %s $2 != 0 %%? 1 %%: 0 %%), $1 == 1 %s $2 == 1, $1 > 1 %s "+
					"$2 < 1)\n", op, op, op)
				a, _ := binary(op, eq(p[0] == 1), eq(p[1] == 1))
				b, _ := binary(op, eq(p[0] > 1), eq(p[1] < 1))
				want += fmt.Sprintf("%d%d%d\n", n, a, b)
			}
		}
		cmd := exec.Command(gostap, append([]string{"-w", "--runtime=host", "-e", script + "exit() }"}, args...)...)
		if got, err := cmd.CombinedOutput(); err != nil || string(got) != want {
			t.Errorf("%v: %v\n--- got\n%s--- want\n%s", p, err, got, want)
		}
	}
}

func eq(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
