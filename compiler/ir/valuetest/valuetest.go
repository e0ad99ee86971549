// Package valuetest makes programs that compare how executors write numbers as text, by the tables of value_text().
//
// In: the tables of the library, and others. Out: an ir.Program as back ends get it, and the values that it writes.
package valuetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/internal/opt"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/tapsets"
)

var (
	valueText = regexp.MustCompile(`value_text\([^"]*((?:"[^"\n]*"\s*)+)\)`)
	quoted    = regexp.MustCompile(`"[^"\n]*"`)
)

// Tables are the tables of value_text() in the library, and some that are not in it: overlapping and empty ones.
func Tables(t testing.TB) []string {
	t.Helper()
	tables := []string{"", "d", "|", "=", "|;", "|none;", "=%x;", "=none;1 one",
		"=<%#o>;0 zero,-1 minus,0x7fffffffffffffff most,-0x8000000000000000 least", "?", "?%u%", "?%", "?, %#x.", "x",
		"o", "|0;7 seven,1 one,2 two,4 four",
		"|none;3/0 a,3/1 b,3/2 c,0xc/4 d,6/2 e,0/0 f,1/2 g,0x8000000000000000 top",
		"=%d;1 one,1 again,5 five,100 hundred,101 next"}
	seen := map[string]bool{}
	files, err := tapsets.FS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := tapsets.FS.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range valueText.FindAllSubmatch(text, -1) {
			table := ""
			for _, part := range quoted.FindAll(call[1], -1) {
				s, err := strconv.Unquote(string(part))
				if err != nil {
					t.Fatal(err)
				}
				table += s
			}
			if !seen[table] {
				seen[table] = true
				tables = append(tables, table)
			}
		}
	}
	if len(seen) < 50 {
		t.Fatalf("%d tables in the library", len(seen))
	}
	return tables
}

// Values are the numbers that a table names, those beside them, and others; of flags also some sets.
func Values(table string) []int64 {
	vs := []int64{0, 1, -1, 2, 255, 4096, -4095, -4096, math.MaxInt64, math.MinInt64}
	if table != "" && (table[0] == '|' || table[0] == '=') {
		rows := textfmt.TableOf(table).Rows
		for _, r := range rows {
			vs = append(vs, int64(r.Value), int64(r.Value)+1, int64(r.Value)-1, int64(r.Mask))
		}
		for range 2 * len(rows) {
			v := uint64(0)
			for _, r := range rows {
				if rand.IntN(3) == 0 {
					v |= r.Value
				}
			}
			vs = append(vs, int64(v))
		}
	} else {
		for n := range int64(140) {
			vs = append(vs, -n)
		}
		for n := range int64(30) {
			vs = append(vs, -505-n)
		}
	}
	for range 10 {
		vs = append(vs, rand.Int64()>>rand.IntN(64), -rand.Int64N(1000))
	}
	return vs
}

// Program is a program with a handler for each table, which puts the text of each value into an array. most is the
// longest text.
func Program(tables []string, most int) (p *ir.Program, values [][]int64) {
	p = &ir.Program{Limits: layout.Default()}
	p.Limits.MaxString = max(most, 20) + 1
	p.Limits.MaxActionInt, p.Limits.MaxAction = 1<<20, 1<<20
	for i, table := range tables {
		vs := Values(table)
		values = append(values, vs)
		var list strings.Builder
		for _, v := range vs {
			fmt.Fprintln(&list, v)
		}
		out := p.AddGlobal(&ir.Global{Name: fmt.Sprintf("out%d", i), Type: types.String, Cap: most,
			Keys: []ir.Key{{Type: types.Long}}, Size: len(vs)})
		b := ir.NewBuilder("")
		n, v := b.Long("n"), b.Long("v")
		digits, text := b.Str("", 20), b.Str("", most)
		b.Mov(n, ir.I(0))
		head, body, end := b.Block(), b.Block(), b.Block()
		b.Jump(head)
		b.SetBlock(head)
		b.Branch(b.Bin(ir.OpLt, ir.R(n), ir.I(int64(len(vs)))), body, end)
		b.SetBlock(body)
		b.Budget(1)
		b.Intr("table_text", digits, ir.R(n), ir.S(list.String()))
		b.Intr("strtol", v, ir.R(digits), ir.I(10))
		b.Intr("value_text", text, ir.R(v), ir.S(table))
		b.OnGlobal(ir.OpMSet, out, ir.NoReg, ir.R(v), ir.R(text))
		b.Op(ir.OpAdd, n, ir.R(n), ir.I(1))
		b.Jump(head)
		b.SetBlock(end)
		b.End()
		p.Probes = append(p.Probes, &ir.Probe{Name: fmt.Sprintf("table %d", i), Handler: b.Finish(), Cond: -1,
			Sites: []*probe.Site{{Kind: probe.Uprobe, Func: "f", Point: "p",
				Program: probe.ProgramPart{Offset: uint64(16 * i)}}}})
	}
	opt.SpellTexts(p)
	return p, values
}
