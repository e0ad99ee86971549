package gosource

import (
	"fmt"
	"strings"
	"testing"
)

// TestReaching asks which assignments a variable may have its value from. Each line with a note names the variable, the
// line that declares it, and the lines of those assignments, with what they call; "?" stands for not known.
func TestReaching(t *testing.T) {
	src := `package p

func f(n int) (r int) {
	a, err := get(n) // n 3: 3 once
	use(a) // err 4: 4=get/1 | a 4: 4=get/0 once | r 3: 3 once
	if a > 0 {
		b, err := s.next(a) // err 4: 4=get/1
		use(b) // err 7: 7=next/1 once | b 7: 7=next/0 once
	}
	if n > 1 {
		err = nil
	} else if n > 2 {
		_, err = m.n.get(n)
		use(n) // err 4: 13=get/1
	}
	use(err) // err 4: 4=get/1 11 13=get/1
	c, err := T[int](n)
	if err != nil { // err 4: 17=T/1 | c 17: 17=T/0 once
		err = wrap(err)
		return 1 // err 4: 19=wrap/0
	}
	use(c) // err 4: 17=T/1
	for i := 0; i < n; i++ { // err 4: 17=T/1 25=get/1 32=get/1
		if i > 3 { // err 4: 17=T/1 25=get/1 32=get/1 | i 23: 23 23
			_, err = get(2)
			continue
		}
		if i > 4 {
			break
		}
		use(i) // err 4: 17=T/1 25=get/1 32=get/1
		_, err = get(1)
		use(i) // err 4: 32=get/1
	}
	use(c) // err 4: 17=T/1 25=get/1 32=get/1
outer:
	for _, x := range list {
		for {
			y := get(x) // x 37: 37
			if y > 1 { // y 39: 39=get/0
				err = nil
				break outer
			}
		}
	}
	use(c) // err 4: 17=T/1 25=get/1 32=get/1 41
	switch err = get(3); n {
	case 1:
		err = get(4)
		fallthrough
	case 2:
		use(n) // err 4: 47=get/0 49=get/0
	default:
		return
	}
	select {
	case err = <-ch:
		use(n) // err 4: 57
	case d := <-ch:
		err = d
	}
	use(n) // err 4: 57 60
	err = get(
		n, // err 4: ?
		get(2),
	)
	use(n) // err 4: 63
	var e, g = 1, get(2)
	use(n) // e 68: 68 once | g 68: 68 once
	var h = get(2)
	use(h.n) // h 70: 70=get/0 once selected
	z := get(3)
	use(&z) // z 72: ?
	k := get(3)
	func() { k = 1 }() // k 74: ?
	q := get(4)
	q.n = 2
	use(q) // q 76: 76=get/0 once selected part
	return 2
}

func back() {
	x := get(1)
again:
	use(x) // x 83: ?
	goto again
}
`
	f, err := Parse("x.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, l := range strings.Split(src, "\n") {
		_, notes, ok := strings.Cut(l, "// ")
		if !ok {
			continue
		}
		for note := range strings.SplitSeq(notes, " | ") {
			n++
			var name string
			var decl int
			head, want, _ := strings.Cut(note, ": ")
			if _, err := fmt.Sscanf(head, "%s %d", &name, &decl); err != nil {
				t.Fatal(note, err)
			}
			got := "?"
			if r, ok := f.Reaching(name, decl, i+1); ok {
				got = ""
				for _, g := range r.From {
					got += fmt.Sprint(" ", g.Line)
					if g.Callee != "" {
						got += fmt.Sprintf("=%s/%d", g.Callee, g.Result)
					}
				}
				for _, w := range []struct {
					is   bool
					word string
				}{{r.Once, " once"}, {r.Selected, " selected"}, {r.Part, " part"}} {
					if w.is {
						got += w.word
					}
				}
				got = strings.TrimSpace(got)
			}
			if got != want {
				t.Errorf("line %d: %s of line %d: %s, want %s", i+1, name, decl, got, want)
			}
		}
	}
	if n < 30 {
		t.Errorf("%d notes", n)
	}
}
