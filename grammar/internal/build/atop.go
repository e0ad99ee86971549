package build

import (
	"fmt"
	"math"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/pp"
)

// atForms says what each operator takes: e an expression, s a literal string that
// is not empty, n a literal number, v a variable's name; what follows | may be left out.
var atForms = map[string]string{
	"@count": "e", "@sum": "e", "@min": "e", "@max": "e", "@avg": "e", "@variance": "e|n",
	"@hist_log": "e", "@hist_linear": "efff", "@scaled": "en",
	"@defined": "e", "@entry": "e", "@cast": "es|s", "@var": "s|s", "@perf": "s", "@const": "s",
	"@kregister": "n", "@uregister": "n", "@kderef": "ne", "@uderef": "ne",
	"@probewrite": "v", "@enum": "s", "@enumname": "e|ss", "@is": "es", "@typeof": "e",
}

var atNeeds = map[byte]string{
	's': "a literal string that is not empty",
	'n': "a literal whole number",
	'f': "a literal number",
	'v': "a variable",
}

func (b *Builder) checkAtOp(a *ast.AtOp, name source.Span) {
	form, ok := atForms[a.Name]
	if !ok {
		b.errorf(code.UnknownMacro, name, "no macro or operator is named %s", a.Name)
		return
	}
	need, more, _ := strings.Cut(form, "|")
	kinds := need + more
	if len(a.Args) < len(need) || len(a.Args) > len(kinds) {
		want := fmt.Sprint(len(need))
		if more != "" {
			want += fmt.Sprintf(" to %d", len(kinds))
		}
		noun := "arguments"
		if want == "1" {
			noun = "argument"
		}
		b.errorf(code.BadAtOp, a.Span, "%s takes %s %s, not %d", a.Name, want, noun,
			len(a.Args)).Hintf("it is written %s", atUsage[a.Name])
		return
	}
	for i, x := range a.Args {
		k := kinds[i]
		ok := true
		switch k {
		case 's':
			l, is := x.(*ast.Literal)
			ok = is && l.IsString && l.Str != ""
		case 'n', 'f':
			if u, is := x.(*ast.Unary); is && u.Op == "-" {
				if l, is := u.X.(*ast.Literal); is && !l.IsString && (k == 'f' || !l.IsFloat) {
					if n, _ := pp.Number(l.Text); l.IsFloat || n <= 1<<63 {
						neg := &ast.Literal{Place: u.Place, IsFloat: l.IsFloat, Num: -l.Num, Text: "-" + l.Text}
						if l.IsFloat {
							neg.Num = l.Num ^ math.MinInt64
						}
						x, a.Args[i] = neg, neg
					}
				}
			}
			l, is := x.(*ast.Literal)
			ok = is && !l.IsString && (k == 'f' || !l.IsFloat)
		case 'v':
			switch x.(type) {
			case *ast.Target, *ast.Name:
			default:
				ok = false
			}
		}
		if !ok {
			b.errorf(code.BadAtOp, x.Range(), "argument %d of %s must be %s", i+1, a.Name,
				atNeeds[k]).Hintf("it is written %s", atUsage[a.Name])
		}
	}
}

// atUsage shows how each operator is written.
var atUsage = map[string]string{
	"@count": "@count(s)", "@sum": "@sum(s)", "@min": "@min(s)", "@max": "@max(s)", "@avg": "@avg(s)",
	"@variance": "@variance(s, shift)", "@scaled": "@scaled(x, 1000)",
	"@hist_log": "@hist_log(s)", "@hist_linear": "@hist_linear(s, low, high, width)",
	"@defined": "@defined($x)", "@entry": "@entry($x)", "@cast": `@cast(pointer, "type", "module")`,
	"@var": `@var("name@file", "module")`, "@perf": `@perf("counter")`, "@const": `@const("C expression")`,
	"@kregister": "@kregister(n)", "@uregister": "@uregister(n)", "@kderef": "@kderef(size, address)",
	"@uderef": "@uderef(size, address)",
	"@is":     `@is($x, "type")`, "@typeof": "@typeof($x)", "@probewrite": "@probewrite(x)", "@enum": `@enum("NAME")`, "@enumname": `@enumname(value, "type", "module")`,
}
