package gosource

import (
	"fmt"
	"strings"
	"testing"
)

// reachSource notes in front of which lines which assignments to x may have been the last one, by the letters behind
// them; "d" is the declaration. A line without a note is not asked about.
const reachSource = `package p

func straight(n int) {
	x := n     // : d
	use(x)     // d
	x = get()  // d: a
	use(x)     // a
	x++        // a: b
	use(x)     // b
}

func branches(n int) {
	var x int       // : d
	if n > 0 {      // d
		x = 1   // d: a
		return  // a
	} else if n < 0 { // d
		x = 2   // d: b
	}
	use(x)          // db
	if x = 3; n > 1 { // dbc: c, by its condition
		use(x)  // c
		x = 4   // c: e
	} else {
		use(x)  // c
	}
	use(x)          // ce
}

func loops(n int, s []int) {
	x := 0                  // : d
	for i := 0; i < n; i++ {
		use(x)          // dab
		if i == 3 {
			x = 1   // dab: a
			continue // a
		}
		if i == 4 {
			x = 2   // dab: c
			break   // c
		}
		x = 3           // dab: b
		use(x)          // b
	}
	use(x)                  // dabc
	for {
		x = 4           // dabce: e
		if n > x {      // e
			break   // e
		}
	}
	use(x)                  // e
	for _, x = range s {    // ef: f
		use(x)          // f
	}
	use(x)                  // ef
outer:
	for {
		for {
			x = 5   // efg: g
			continue outer // g
		}
	}
	use(x) //
}

func jumps(n int) {
	x := n              // : d
	if n > 0 {
		goto end    // d
	}
	x = 1               // d: a
again:
	use(x)              // ab
	x = 2               // ab: b
	if n > 1 {
		goto again  // b
	}
end:
	use(x)              // db
}

func cases(n int, c chan int) {
	var x int           // : d
	switch n {          // d
	case 1:
		x = 1       // d: a
	case 2:
		x = 2       // d: b
		fallthrough // b
	case 3:
		use(x)      // db
		return      // db
	case 4:
		break       // d
	}
	use(x)              // da
	switch {
	case n > 0:
		x = 3       // da: c
	default:
		x = 4       // da: e
	}
	use(x)              // ce
	select {
	case x = <-c:       // ce: f
		use(x)      // f
	case <-c:
		use(x)      // ce
	}
	use(x)              // cef
	var y any = x
	switch y.(type) {   // cef
	case int:
		x = 5       // cef: g
	}
	use(x)              // cefg
}

func parts(x struct{ a int }) { // : d
	use(x.a)            // d
	x.a = 1             // d: a
	use(x.a)            // da
}

func literals(n int) {
	x := n              // : d
	f := func() {
		x = 1       // dab: a
		use(x)      // dab
	}
	f()
	use(x)              // da
	x = 2               // da: b
	use(x)              // ab
}

func inside() {
	func(x int) {       // : d
		use(x)      // d
		x = 1       // d: a
		use(x)      // a
	}(1)
}

func use(n int) {}
func get() int  { return 1 }
`

// TestReaches follows each function for x.
func TestReaches(t *testing.T) {
	f, err := Parse("p.go", []byte(reachSource))
	if err != nil {
		t.Fatal(err)
	}
	decl, letters, fn := 0, map[int]string{}, ""
	asked := map[string][][2]any{}
	lines := strings.Split(reachSource, "\n")
	for k, l := range lines {
		if name, ok := strings.CutPrefix(l, "func "); ok {
			fn, _, _ = strings.Cut(name, "(")
		}
		_, note, ok := strings.Cut(l, "//")
		if !ok {
			continue
		}
		before, letter, assigns := strings.Cut(note, ":")
		letter, _, _ = strings.Cut(strings.TrimSpace(letter), ",")
		if letter == "d" {
			decl = k + 1
		} else if assigns {
			letters[k+1] = letter
		}
		key := fmt.Sprint(fn, " ", decl)
		if before = strings.TrimSpace(before); letter != "d" {
			asked[key] = append(asked[key], [2]any{k + 1, before})
		}
	}
	n := 0
	for key, all := range asked {
		fmt.Sscan(key, &fn, &decl)
		as, reaches, ok := f.Assignments("x", decl)
		if !ok {
			t.Fatal(key)
		}
		for _, q := range all {
			line, want := q[0].(int), q[1].(string)
			got := ""
			if reaches(line) {
				got = "d"
			}
			for _, a := range as {
				if a.Reaches(line) {
					got += letters[a.Line]
				}
			}
			if want == "" { // nothing leads there: anything may
				continue
			}
			if n++; sorted(got) != sorted(want) {
				t.Errorf("%s, line %d (%s): %s, want %s", fn, line, strings.TrimSpace(lines[line-1]), got, want)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d lines", n)
	}
}

func sorted(s string) string {
	out := ""
	for c := 'a'; c <= 'z'; c++ {
		if strings.ContainsRune(s, c) {
			out += string(c)
		}
	}
	return out
}
