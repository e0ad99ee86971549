package interp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irtest"
)

// busyStore is a store whose globals others change whenever the lock is free.
type busyStore struct {
	*MemStore
	held  bool
	turns int
}

func (s *busyStore) Lock(c int) error { s.held = true; return s.MemStore.Lock(c) }
func (s *busyStore) Unlock(c int)     { s.held = false; s.MemStore.Unlock(c) }

// Print is the visible thing that a handler does in its loop: the time for others to come.
func (s *busyStore) change(t *testing.T) {
	s.turns++
	if s.held {
		t.Error("the lock is held while something is printed")
	}
	s.MemStore.Add(0, Key{{Int: 7}}, 1)
}

const viewed = `
limits MAXERRORS=9
locks 1
global a long [long] size 10 class 0
global s stats [long] size 10 class 0
global n long class 0

probe "t" {
  site timer period=1
  long r0, r1, r2, r3
b0:
  lock 0
  r3 = gget @n
  iteropen i0 @a "k0+"
  jump b1
b1:
  r0 = iternext i0 @a
  branch r0, b2, b3
b2:
  r1 = iterkey i0 @a 0
  r2 = mget @a[r1]
  print "%d=%d "(r1, r2)
  r0 = mget @a[7]
  r0 = gt r0, $LIMIT
  branch r0, b4, b1
b3:
  mclear @a
  r1 = mget @a[7]
  r2 = sget.count @s[1]
  print "n %d left %d count %d "(r3, r1, r2)
  unlock 0
  end
b4:
  unlock 0
  fail user("enough")
}
`

// viewOutput lets others come whenever a handler prints.
type viewOutput struct {
	said
	on func()
}

func (o *viewOutput) Print(b []byte) {
	o.said.Print(b)
	o.on()
}

// TestView: a handler that loops, prints and empties sees one moment, holds no lock while it prints, and what
// others add meanwhile is there for the next time; ended by an error it has emptied nothing.
func TestView(t *testing.T) {
	for _, c := range []struct{ limit, said, after string }{
		{"1000", "7=70 8=80 n 5 left 0 count 1 ", "7=3"},
		{"69", "7=70 E:enough", "7=71 8=80"},
	} {
		p := irtest.Parse(t, strings.Replace(viewed, "$LIMIT", c.limit, 1))
		s := &busyStore{MemStore: NewMemStore(p)}
		for _, err := range []error{s.Set(0, Key{{Int: 7}}, Val{Int: 70}), s.Set(0, Key{{Int: 8}}, Val{Int: 80}),
			s.AddStat(1, Key{{Int: 1}}, 3), s.Set(2, nil, Val{Int: 5})} {
			if err != nil {
				t.Fatal(err)
			}
		}
		out := &viewOutput{on: func() { s.change(t) }}
		m, err := New(p, s, out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(0, &HostContext{}); err != nil {
			t.Fatal(err)
		}
		if got := out.said.String(); !strings.HasPrefix(got, c.said) {
			t.Errorf("said %q, want %q", got, c.said)
		}
		elems, err := s.MemStore.Elems(0)
		if err != nil {
			t.Fatal(err)
		}
		var after []string
		for _, e := range elems {
			after = append(after, fmt.Sprintf("%d=%d", e.Key[0].Int, e.Val.Int))
		}
		slices.Sort(after)
		if got := strings.Join(after, " "); got != c.after {
			t.Errorf("after %d prints there is %s, want %s", s.turns, got, c.after)
		}
	}
}

// TestNoView: handlers that change what they read, call functions that do, or empty an array on some ways only.
func TestNoView(t *testing.T) {
	for name, body := range map[string]string{
		"writes": "b0:\n lock 0\n iteropen i0 @a \"k0+\"\n mset @a[1], 2\n mclear @a\n unlock 0\n end",
		"on some": "b0:\n lock 0\n iteropen i0 @a \"k0+\"\n r0 = mget @a[1]\n branch r0, b1, b2\nb1:\n mclear " +
			"@a\n jump b2\nb2:\n unlock 0\n end",
		"no loop":     "b0:\n lock 0\n r0 = mget @a[1]\n mclear @a\n unlock 0\n end",
		"by function": "b0:\n lock 0\n iteropen i0 @a \"k0+\"\n call touch()\n unlock 0\n end",
	} {
		p, err := ir.ParseText("locks 1\nglobal a long [long] size 10 class 0\nfunc touch() {\nb0:\n mset @a[1], 1\n " +
			"return\n}\nprobe \"t\" {\n site timer period=1\n long r0\n" + body + "\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		if planView(p, p.Probes[0].Handler) != nil {
			t.Errorf("%s: a copy would do?", name)
		}
	}
}
