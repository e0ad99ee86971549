package gosource

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const source = `package p

const five = 5

func f(a int, s []int, t struct{ x int }) (r int, err error) {
	b := a
	b = g(a)             // call
	b, c := g(b), 1      // declares c only
	b++                  // increment
	b = a                // copy
	b = (five)           // constant
	if a > 0 {
		b = a + c        // inner
	}                    // inner ends
	if true {
		b = 3            // always
	}
	for i := 0; i < 3; i++ { // loop
		b += i
		d := 1           // in the loop
		d = 2            // again
		_ = d
	}
	for _, v := range s { // range
		t.x = v          // part
		s[0] = v         // element
	}
	func() { b = 4 }()   // literal
	r, err = g(c), nil   // results
	switch {
	case a > 1:
		c = 1            // clause
	}
	return
}

func h(n int) {
again:
	n--                  // jump
	goto again
}

func g(n int) int { return n }
`

func TestAssignments(t *testing.T) {
	f, err := Parse("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	line := func(text string) int {
		at := strings.Index(source, text)
		if at < 0 {
			t.Fatal(text)
		}
		return 1 + strings.Count(source[:at], "\n")
	}
	end := line("return\n}") + 1
	for _, c := range []struct{ name, decl, want string }{
		{"b", "b := a", fmt.Sprint(
			as(line("// call"), end, "from 5"), as(line("// declares"), end, "from", line("b := a"),
				line("// call"), line("// declares"), line("// increment"), line("// copy"), line("// constant"),
				line("// inner\n"), line("// always"), line("b += i"), line("// literal")),
			as(line("// increment"), end, ""), as(line("// copy"), end, "copy from 5"),
			as(line("// constant"), end, "constant"),
			as(line("// inner\n"), line("// inner ends"), "from 5", line("// declares"), line("// clause")),
			as(line("// always"), end, "constant"),
			as(line("b += i"), line("// range")-1, "from", line("// loop"), line("// loop")),
			as(line("// literal"), line("// literal"), "constant"))},
		{"d", "// in the loop", fmt.Sprint(as(line("// again"), line("// range")-1, "constant"))},
		{"i", "// loop", fmt.Sprint(as(line("// loop"), end, "post"))},
		{"v", "// range", fmt.Sprint(as(line("// range"), end, ""))},
		{"t", "func f", fmt.Sprint(as(line("// part"), line("// literal")-1,
			"part copy from "+fmt.Sprint(line("// range")), line("// range")))},
		{"s", "func f", fmt.Sprint(as(line("// element"), line("// literal")-1,
			"part copy from "+fmt.Sprint(line("// range")), line("// range")))},
		{"r", "func f", fmt.Sprint(as(line("// results"), end, "from "+fmt.Sprint(line("// declares")),
			line("// clause")))},
		{"err", "func f", fmt.Sprint(as(line("// results"), end, "constant from "+fmt.Sprint(line("// declares")),
			line("// clause")))},
		{"c", "// declares", fmt.Sprint(as(line("// clause"), line("// clause"), "constant"))},
		{"a", "func f", ""},
		{"n", "func h", fmt.Sprint(as(line("// jump"), line("func g")-2, ""))},
	} {
		got, _, ok := f.Assignments(c.name, line(c.decl))
		text := ""
		for _, a := range got {
			what := ""
			for name, yes := range map[string]bool{"part ": a.Part, "post ": a.Post} {
				if yes {
					what += name
				}
			}
			if a.Copy {
				what += "copy "
			}
			if a.Constant {
				what += "constant "
			}
			var from []string
			for _, s := range a.Sources {
				from = append(from, fmt.Sprint(s))
			}
			if from != nil {
				what += "from " + strings.Join(from, " ")
			}
			text += fmt.Sprintf("%d until %d %s\n", a.Line, a.Until, strings.TrimSpace(what))
		}
		if !ok || text != c.want {
			t.Errorf("%s: %v\n%swant\n%s", c.name, ok, text, c.want)
		}
	}
	if _, _, ok := f.Assignments("b", 1); ok {
		t.Error("a variable that is not declared in the line")
	}
}

// as is an assignment as the test writes it.
func as(line, until int, what string, from ...int) string {
	for _, f := range from {
		what += fmt.Sprint(" ", f)
	}
	return fmt.Sprintf("%d until %d %s\n", line, until, what)
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.go")
	if err := os.WriteFile(bad, []byte("package p\nfunc {"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{bad, dir, filepath.Join(dir, "none.go"), "/dev/zero"} {
		if _, err := Read(path); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(source)
	f.Fuzz(func(t *testing.T, src string) {
		if file, err := Parse("p.go", []byte(src)); err == nil {
			file.Assignments("b", 6)
		}
	})
}

// TestVisible asks what names stand for.
func TestVisible(t *testing.T) {
	src := `package p

func f(x, y int) (z int) {
	x, w := y, x
	if x := g(); x > 0 {
		use(x)
		var y = x
		use(y)
	} else if x < 1 {
		use(x)
	}
	use(x)
	for x := range y {
		use(x)
	}
	func() {
		use(x)
		x := 1
		use(x)
	}()
	switch x := any(w).(type) {
	case int:
		w := x
		use(w)
	default:
		use(w)
	}
	return x
}
`
	f, err := Parse("x.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		line, decl int
	}{
		{"x", 4, 3}, {"w", 5, 4}, {"x", 6, 5}, {"y", 6, 3}, {"y", 8, 7}, {"x", 10, 5}, {"y", 10, 3}, {"x", 12, 3},
		{"x", 13, 3}, {"x", 14, 13}, {"x", 17, 3}, {"x", 19, 18}, {"w", 24, 23}, {"w", 26, 4}, {"x", 28, 3},
		{"z", 28, 3}, {"y", 28, 3}, {"nothing", 28, 0}, {"w", 4, 0}, {"x", 11, 0},
	} {
		if decl, _ := f.Visible(c.name, c.line); decl != c.decl {
			t.Errorf("%s in line %d is that of line %d, want %d", c.name, c.line, decl, c.decl)
		}
	}
}
