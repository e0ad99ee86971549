// Package syscalls has the tables of Linux's system calls: numbers, names, arguments. Each machine has numbers of its
// own.
//
// In: a name or a number. Out: a Call. The tables are generated (gen/main.go).
package syscalls

//go:generate go run ./gen amd64

import (
	"sort"
	"strings"
)

// Call is one system call.
type Call struct {
	Nr int
	// Name is the usual one ("fstat"), Traced what the kernel's trace events call it where that differs ("newfstat").
	Name, Traced string
	args         string
}

// Arg is an argument of a call: its name in the kernel's source, and its type in C.
type Arg struct{ Name, Type string }

// Args are the call's arguments in order, at most six; none for calls that the kernel has dropped.
func (c *Call) Args() []Arg {
	if c.args == "" {
		return nil
	}
	var out []Arg
	for _, a := range strings.Split(c.args, ", ") {
		i := strings.LastIndexByte(a, ' ')
		out = append(out, Arg{a[i+1:], a[:i]})
	}
	return out
}

// Table has the calls of one machine, by number.
type Table []Call

// ByNumber finds a call, nil if there is none with that number.
func (t Table) ByNumber(nr int) *Call {
	i := sort.Search(len(t), func(i int) bool { return t[i].Nr >= nr })
	if i < len(t) && t[i].Nr == nr {
		return &t[i]
	}
	return nil
}

// ByName finds a call by either of its names, nil if there is none.
func (t Table) ByName(name string) *Call {
	for i := range t {
		if t[i].Name == name || t[i].Traced == name {
			return &t[i]
		}
	}
	return nil
}
