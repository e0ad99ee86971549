package compiler

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/load"
	"github.com/gostap/gostap/compiler/internal/near"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/tests/pages"
)

// theirs is the library of Debian's package systemtap-common, whose names are counted.
const theirs = "/usr/share/systemtap/tapset"

// compatPage is where the table stands, between two lines that compatMark and compatEnd begin.
const (
	compatPage = "../docs/compat.md"
	compatMark = "<!-- library: made by go test ./compiler -run TestCompat -update -->\n"
	compatEnd  = "<!-- end of library -->\n"
)

// names are what a library declares. Functions are NAME/PARAMETERS; aliases lead to the variables that a probe of
// them has, with those of the aliases that they stand for.
type names struct {
	functions, macros map[string]string // to the file
	aliases           map[string]string
	vars              map[string]map[string]bool
}

func declared(t *testing.T, o load.Options) *names {
	t.Helper()
	// What stands in conditions for other kernels, machines and releases is no name.
	o.Cond = grammar.Conditions{Kernel: "6.1.0-1-amd64", Arch: "x86_64", Runtime: "kernel"}
	l, ds := load.New(o)
	if ds.HasErrors() {
		t.Fatal(ds[0].Message)
	}
	n := &names{map[string]string{}, map[string]string{}, map[string]string{}, map[string]map[string]bool{}}
	file := func(f *load.File) string { return strings.TrimSuffix(filepath.Base(f.Name), filepath.Ext(f.Name)) }
	for _, f := range l.AllFunctions() {
		if name := f.Decl.Name.Name; !f.Decl.Private && name[0] != '_' {
			n.functions[fmt.Sprintf("%s/%d", name, len(f.Decl.Params))] = file(f.File)
		}
	}
	for _, m := range l.Macros().Lazy.Names() {
		if m[0] != '_' {
			n.macros[m] = "macros"
		}
	}
	own, below := map[string][]string{}, map[string][]string{}
	for _, a := range l.Aliases("*") {
		d, ds := a.Decl()
		if d == nil {
			t.Errorf("%s: %s", a.Dotted(), ds[0].Message)
			continue
		}
		name := a.Dotted()
		n.aliases[name] = file(a.File)
		for _, b := range []*ast.Block{d.Prologue, d.Epilogue} {
			if b == nil {
				continue
			}
			ast.Inspect(b, func(x ast.Node) bool {
				if as, ok := x.(*ast.Assign); ok {
					if v, ok := as.X.(*ast.Name); ok && v.Name[0] != '_' &&
						v.Name != strings.ToUpper(v.Name) { // not what an alias keeps to itself, or calls a constant
						own[name] = append(own[name], v.Name)
					}
				}
				return true
			})
		}
		for _, p := range d.Points {
			var s []string
			for _, c := range p.Comps {
				s = append(s, c.Name)
			}
			below[name] = append(below[name], strings.Join(s, "."))
		}
	}
	var visit func(into map[string]bool, name string, depth int)
	visit = func(into map[string]bool, name string, depth int) {
		for _, v := range own[name] {
			into[v] = true
		}
		if depth < 8 {
			for _, b := range below[name] {
				visit(into, b, depth+1)
			}
		}
	}
	for a := range n.aliases {
		n.vars[a] = map[string]bool{}
		visit(n.vars[a], a, 0)
	}
	return n
}

// answer is what a script is told that uses something: "" nothing, or why it is refused by name; ok is false when the
// name is not known.
func answer(script, name string) (why string, ok bool) {
	stop := Elaborate
	if name[0] == '@' {
		stop = Parse
	}
	r, ds := Compile(context.Background(), Options{Scripts: []Script{{Name: "t.stp", Text: []byte(script)}},
		Limits: layout.Default(), Stop: stop})
	defer r.Close()
	for _, d := range ds {
		if d.Severity != diag.Error {
			continue
		}
		m := d.Message
		switch {
		case strings.Contains(m, " of stap is not available"):
			_, why, _ = strings.Cut(m, " of stap is not available")
			why = strings.TrimPrefix(why, ": ")
		case strings.Contains(m, "the library has no alias of this name"):
			return "", false
		case d.Code == "probe-refused":
			why = strings.TrimPrefix(m, name+": ")
		case d.Code == "probe-form", d.Code == diag.UnresolvedFunction, strings.HasPrefix(m, "no macro"):
			return "", false
		}
		if d.Hint != "" && why != "" && !strings.Contains(why, d.Hint) {
			why += "; " + d.Hint
		}
		break
	}
	return why, true
}

// tally counts one kind of names.
type tally struct {
	all, have        int
	refused, missing map[string]string // name to reason
}

func (y *tally) add(name, script string, have bool) {
	y.all++
	if have {
		y.have++
		return
	}
	why, ok := answer(script, name)
	switch {
	case !ok:
		y.missing[name] = ""
	case why != "":
		y.refused[name] = why
	default:
		y.have++
	}
}

func (y *tally) row(what string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %.1f %% |\n", what, y.all, y.have, len(y.refused), len(y.missing),
		100*float64(y.all-len(y.missing))/float64(max(y.all, 1)))
}

func newTally() *tally { return &tally{refused: map[string]string{}, missing: map[string]string{}} }

// TestCompat: what the library of Debian's SystemTap has is here, or refused by name with the reason; docs/compat.md
// has the table of it.
func TestCompat(t *testing.T) {
	if _, err := os.Stat(theirs); err != nil {
		t.Skip("not installed: systemtap-common")
	}
	if out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", "systemtap-common").Output(); err != nil ||
		!strings.HasPrefix(string(out), "4.8") {
		t.Skipf("the page is about release 4.8 of SystemTap, not about %s", out)
	}
	their := declared(t, load.Options{Dirs: []string{theirs}, NoEmbedded: true})
	our := declared(t, load.Options{})
	functions, macros := newTally(), newTally()
	for f := range their.functions {
		name, n, _ := strings.Cut(f, "/")
		args := "()"
		if n != "0" {
			args = "(" + strings.TrimSuffix(strings.Repeat("1, ", int(n[0]-'0')), ", ") + ")"
		}
		functions.add(name, "probe begin { "+name+args+" }", our.functions[f] != "")
	}
	for m := range their.macros {
		macros.add("@"+m, "probe begin { @"+m+" }", our.macros[m] != "")
	}
	groups := map[string]*tally{}
	aliases, compat, vars := newTally(), newTally(), newTally()
	for a := range their.aliases {
		first, rest, _ := strings.Cut(a, ".")
		switch {
		case a[0] == '_' || strings.HasPrefix(rest, "_"), first == "nd1_syscall", first == "nd2_syscall":
			continue // the inside of others
		case first == "dw_syscall":
			first, a = "syscall", "syscall."+rest
			if their.aliases[a] != "" {
				continue // the same call by another name
			}
		case strings.HasPrefix(rest, "compat_"):
			if why, ok := answer("probe "+a+" { }", a); len(compat.refused) > 0 || ok && why != "" {
				compat.refused[a] = why // all by the same line
			} else {
				compat.missing[a] = ""
			}
			compat.all++
			continue
		}
		if groups[first] == nil {
			groups[first] = newTally()
		}
		for _, y := range []*tally{groups[first], aliases} {
			y.add(a, "probe "+a+" { }", our.aliases[a] != "")
		}
		if our.aliases[a] == "" || first == "nd_syscall" || first == "tp_syscall" {
			continue
		}
		for v := range their.vars[a] {
			vars.all++
			if our.vars[a][v] {
				vars.have++
			} else if why := near.Absent(a, v); why != "" {
				vars.refused[a+" "+v] = why
			} else {
				vars.missing[a+" "+v] = ""
			}
		}
	}
	var b bytes.Buffer
	b.WriteString("| | of stap | here | refused by name | missing | answered |\n|---|---|---|---|---|---|\n")
	b.WriteString(functions.row("functions") + macros.row("macros") + aliases.row("aliases") +
		compat.row("aliases of calls of 32-bit programs") + vars.row("variables of aliases that are here"))
	b.WriteString("\nAliases by their first word:\n\n| | of stap | here | refused by name | missing | answered |\n" +
		"|---|---|---|---|---|---|\n")
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		b.WriteString(groups[g].row("`" + g + "`"))
	}
	b.WriteString("\nRefused, with what is said:\n\n| | |\n|---|---|\n")
	writeReasons(&b, functions.refused, macros.refused, aliases.refused)
	if len(functions.missing)+len(macros.missing)+len(aliases.missing) > 0 {
		b.WriteString("\nMissing:\n\n")
	}
	for _, y := range []*tally{functions, macros, aliases} {
		for _, n := range slices.Sorted(maps.Keys(y.missing)) {
			fmt.Fprintf(&b, "- `%s`\n", n)
		}
	}
	b.WriteString("\nVariables that are refused, by alias, with what is said when one is used that nothing " +
		"assigns:\n\n| | |\n|---|---|\n")
	for _, n := range slices.Sorted(maps.Keys(vars.refused)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", n, vars.refused[n])
	}
	if len(vars.missing) > 0 {
		b.WriteString("\nVariables that are missing, by alias:\n\n")
		writeMissing(&b, vars.missing)
	}
	want, err := pages.Table(compatPage, compatMark, compatEnd)
	if err == nil && *update {
		err = pages.Write(compatPage, compatMark, compatEnd, b.String())
	}
	switch {
	case err != nil:
		t.Fatal(err)
	case *update:
	case want != b.String():
		t.Errorf("docs/compat.md is not what the libraries say; run with -update\n%.2000s",
			firstDifference(want, b.String()))
	}
	if n := len(functions.missing) + len(macros.missing) + len(vars.missing); n > 0 {
		t.Errorf("%d functions and macros are neither here nor refused", n)
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "page: " + w[i] + "\nnow:  " + g[i]
		}
	}
	return fmt.Sprintf("%d lines, now %d", len(w), len(g))
}

// writeReasons writes the names that are refused, those with the same reason in one row.
func writeReasons(b *bytes.Buffer, lists ...map[string]string) {
	by := map[string][]string{}
	var order []string
	for _, l := range lists {
		for _, n := range slices.Sorted(maps.Keys(l)) {
			if by[l[n]] == nil {
				order = append(order, l[n])
			}
			by[l[n]] = append(by[l[n]], "`"+n+"`")
		}
	}
	for _, why := range order {
		fmt.Fprintf(b, "| %s | %s |\n", strings.Join(by[why], ", "), why)
	}
}

// writeMissing writes "ALIAS VARIABLE" by the alias.
func writeMissing(b *bytes.Buffer, missing map[string]string) {
	by := map[string][]string{}
	for m := range missing {
		a, v, _ := strings.Cut(m, " ")
		by[a] = append(by[a], v)
	}
	for _, a := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[a])
		line := "- `" + a + "`:"
		for i, v := range by[a] {
			if i > 0 {
				line += ","
			}
			if len(line)+len(v) > 115 {
				fmt.Fprintf(b, "%s\n", line)
				line = " "
			}
			line += " " + v
		}
		fmt.Fprintf(b, "%s\n", line)
	}
}
