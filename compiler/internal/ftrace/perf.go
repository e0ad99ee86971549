package ftrace

import (
	"fmt"
	"strings"
)

// perf is a shell script that defines the events by perf probe, and shows how they are recorded.
func (w *writer) perf() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Written by gostap --emit=perf. As root: start it, record COMMAND, stop it.\n")
	b.WriteString("case $1 in\nstart)\n")
	var record, remove []string
	for _, e := range w.events {
		name := e.group + ":" + e.name
		if e.kind != 'e' {
			at, of := e.perfPlace()
			words := []string{"perf probe -q"}
			if of != "" {
				words = append(words, "-x", quote(of))
			}
			def := name + "=" + at
			if e.kind == 'r' {
				def += "%return"
				name += "__return" // as perf calls it
			}
			for _, a := range e.args {
				def += " " + a.name + "=" + a.fetch
				if a.typ != "" {
					def += ":" + a.typ
				}
			}
			words = append(words, quote(def))
			fmt.Fprintf(&b, "\t%s || exit\n", strings.Join(words, " "))
			remove = append(remove, fmt.Sprintf("\tperf probe -q -d %s\n", quote(name)))
		}
		r := "-e " + quote(name)
		if e.when != "" {
			r += " --filter " + quote(e.when)
		}
		record = append(record, r)
	}
	for _, t := range w.begins {
		fmt.Fprintf(&b, "\tprintf '%%s\\n' %s\n", quote(t))
	}
	who := "-a"
	if w.PID != 0 {
		who = fmt.Sprintf("-p %d", w.PID)
	}
	fmt.Fprintf(&b, "\t;;\nrecord)\n\tshift\n\texec perf record %s %s \"$@\"\n\t;;\nstop)\n%s\t;;\n", who,
		strings.Join(record, " "), strings.Join(remove, ""))
	b.WriteString("*)\n\techo \"usage: sh $0 start|record COMMAND|stop\" >&2\n\texit 1\nesac\n")
	return b.String()
}

// perfPlace is where e is, as perf probe reads it: a symbol with an offset, or an address in a file.
func (e *event) perfPlace() (at, file string) {
	if e.site.Kind.InUser() {
		return fmt.Sprintf("%#x", e.site.At.PC), e.site.Program.Path
	}
	return e.place, ""
}
