package ftrace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
)

// begin looks at a begin probe, which may print constants.
func (w *writer) begin(p *elab.Probe) {
	for _, b := range p.Bodies {
		for _, s := range b.Stmts {
			text, ok := constant(s)
			if !ok {
				w.no(s, "runs nothing when it begins").Hintf("a begin probe may print constant text")
				return
			}
			w.begins = append(w.begins, text)
		}
	}
}

// constant is the text of a statement that prints such.
func constant(s ast.Stmt) (string, bool) {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return "", false
	}
	c, ok := ast.Unparen(x.X).(*ast.Call)
	if !ok || !sema.IsPrint(c.Fun.Name) || c.Fun.Name == "printd" || strings.HasPrefix(c.Fun.Name, "s") {
		return "", false
	}
	var b strings.Builder
	for _, a := range c.Args {
		l, ok := ast.Unparen(a).(*ast.Literal)
		if !ok {
			return "", false
		}
		if c.Fun.Name == "printf" {
			f, err := ir.ParseFormat(l.Str)
			if err != nil || len(f.Pieces) > 1 || len(f.Pieces) == 1 && f.Pieces[0].Conv != 0 {
				return "", false
			}
			for _, p := range f.Pieces {
				b.WriteString(p.Lit)
			}
			continue
		}
		if l.IsString {
			b.WriteString(l.Str)
		} else {
			b.WriteString(ast.LiteralText(l))
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}

// stacks checks that either all events that are shown want the program's stack, or none: it is one option.
func (w *writer) stacks() {
	for _, e := range w.events {
		if e.shown && e.ustack != w.userStacks() {
			w.no(pointOf(e.probe), "shows the stack of the program for all events or for none").
				Hintf("print_ubacktrace() in all probes that print")
		}
	}
}

func (w *writer) userStacks() bool {
	return slices.ContainsFunc(w.events, func(e *event) bool { return e.shown && e.ustack })
}

// quote writes s as one word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// part writes lines between two marks, for a function of the shell script to read.
func part(b *strings.Builder, function string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\t%s <<'END'\n%s\nEND\n", function, strings.Join(lines, "\n"))
}

// script is the shell script that does it all.
func (w *writer) script() string {
	var kernel, user, defs, filters, triggers, enable, remove, names []string
	for _, e := range w.events {
		switch {
		case e.kind == 'e':
		case e.kind == 't':
			defs = append(defs, e.definition())
		case e.site.Kind.InKernel():
			kernel = append(kernel, e.definition())
		default:
			user = append(user, e.definition())
		}
		if e.kind != 'e' {
			remove = append(remove, "-:"+e.path())
			names = append(names, e.name)
		}
		if e.when != "" && e.shown {
			filters = append(filters, fmt.Sprintf("events/%s/filter %s", e.path(), e.when))
		}
		for _, t := range e.triggers {
			triggers = append(triggers, fmt.Sprintf("events/%s/trigger %s", e.path(), t))
		}
		if e.shown {
			enable = append(enable, fmt.Sprintf("events/%s/enable 1", e.path()))
		}
	}
	var b strings.Builder
	b.WriteString(head)
	for _, n := range w.notes {
		b.WriteString("# " + n + "\n")
	}
	fmt.Fprintf(&b, functions, group, strings.Join(names, "|"))
	b.WriteString("start() {\n\t[ ! -d $I ] || { echo \"$I is there: stop it first\" >&2; exit 1; }\n")
	part(&b, "define kprobe_events", kernel)
	part(&b, "define uprobe_events", user)
	part(&b, "define dynamic_events", defs)
	b.WriteString("\tmkdir $I || fail\n")
	if w.PID != 0 {
		fmt.Fprintf(&b, "\tls /proc/%d/task | tr '\\n' ' ' >$I/set_event_pid || fail\n", w.PID)
	}
	if w.userStacks() {
		b.WriteString("\techo 1 >$I/options/userstacktrace\n\techo 1 >$I/options/sym-userobj\n")
	}
	part(&b, "put", filters)
	part(&b, "put", triggers)
	part(&b, "put", enable)
	for _, t := range w.begins {
		fmt.Fprintf(&b, "\tprintf '%%s\\n' %s\n", quote(t))
	}
	b.WriteString("}\nstop() {\n\tif [ -d $I ]; then\n\t\techo 0 >$I/events/enable\n\t\tprofile\n")
	var clear []string
	for i := len(w.events) - 1; i >= 0; i-- { // a trigger is taken away by its own words
		e := w.events[i]
		for _, t := range e.triggers {
			clear = append(clear, fmt.Sprintf("events/%s/trigger !%s", e.path(), t))
		}
	}
	part(&b, "drop $I", clear)
	b.WriteString("\t\trmdir $I\n\tfi\n")
	for i, r := range remove {
		remove[i] = "dynamic_events " + r
	}
	part(&b, "drop $T", remove)
	b.WriteString("}\n" + tail)
	return b.String()
}

const head = `#!/bin/sh
# Written by gostap --emit=ftrace. As root: start it, read the trace, stop it.
`

// functions are the shell functions of the script: %[1]s is the name of the tracer's instance, %[2]s the
// names of events.
const functions = `T=/sys/kernel/tracing
[ -e $T/trace ] || T=/sys/kernel/debug/tracing
[ -e $T/trace ] || { echo "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing" >&2; exit 1; }
I=$T/instances/%[1]s
fail() { # takes away what is there already
	[ -z "$1" ] || echo "the kernel refuses: $1" >&2
	tail -n 4 $T/error_log >&2
	stop >/dev/null
	exit 1
}
define() { # writes lines to a file that defines events
	while IFS= read -r line; do
		printf '%%s\n' "$line" >>$T/$1 || fail "$line"
	done
}
put() { # writes lines "FILE TEXT" to files of the instance
	while IFS=' ' read -r file text; do
		printf '%%s\n' "$text" >>$I/$file || fail "$text"
	done
}
drop() { # the same below a folder, whether it works or not
	while IFS=' ' read -r file text; do
		printf '%%s\n' "$text" >>$1/$file
	done 2>/dev/null
}
show() {
	cat $I/trace
	for h in $I/events/*/*/hist; do
		[ ! -e $h ] || ! grep -q '^{' $h || cat $h
	done
	profile
}
profile() { # hits, and misses where the kernel counts them
	cat $T/kprobe_profile $T/uprobe_profile 2>/dev/null | grep -E ' (%[2]s) +[0-9]' || :
}
`

const tail = `case $1 in
start | show | stop) $1 ;;
*)
	echo "usage: sh $0 start|show|stop" >&2
	exit 1
	;;
esac
`
