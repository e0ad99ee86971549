// Package syscalls is the table of Linux's system calls on x86-64: numbers, names, arguments.
//
// In: a name or a number. Out: a Call. The table is generated (gen/main.go).
package syscalls

//go:generate go run ./gen

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

// All are all calls, by number.
func All() []Call { return table[:] }

// ByNumber finds a call, nil if there is none with that number.
func ByNumber(nr int) *Call {
	i := sort.Search(len(table), func(i int) bool { return table[i].Nr >= nr })
	if i < len(table) && table[i].Nr == nr {
		return &table[i]
	}
	return nil
}

// ByName finds a call by either of its names, nil if there is none.
func ByName(name string) *Call {
	for i := range table {
		if table[i].Name == name || table[i].Traced == name {
			return &table[i]
		}
	}
	return nil
}
