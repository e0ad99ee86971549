// Package marks is the commands "gostap tplist" and "gostap info probes": the static marks (USDT) of programs and
// processes with what their notes say of arguments and semaphores, and the kernel's tracepoints.
//
// In: arguments and streams. Out: an exit status, and lists in the forms of bcc's tplist and of GDB's info probes.
package marks

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
)

const usage = `gostap tplist - static marks of programs, tracepoints of the kernel

usage: gostap tplist [-v] -l FILE [FILTER]   the marks of a program or a library
       gostap tplist [-v] -p PID [FILTER]    the marks of all files that a process has mapped
       gostap tplist [-v] [FILTER]           the kernel's tracepoints
       gostap info probes FILE               the marks of a program, as GDB's "info probes" has them

  -v   with addresses, semaphores and where arguments are; of tracepoints their fields

FILTER is a pattern for PROVIDER:NAME, or for the name alone: 'libpthread:*', '*entry'.
`

// Tplist runs "gostap tplist" and gives its exit status.
func Tplist(args []string, out, errs io.Writer) int {
	var file string
	var pid int
	var verbose bool
	f := pflag.NewFlagSet("tplist", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.StringVarP(&file, "lib", "l", "", "")
	f.IntVarP(&pid, "pid", "p", 0, "")
	f.BoolVarP(&verbose, "verbose", "v", false, "")
	err := f.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(out, usage)
		return 0
	}
	filter := "*"
	switch {
	case err != nil:
		err = slip.New(err.Error(), "gostap tplist --help tells the options")
	case f.NArg() > 1:
		err = slip.New(fmt.Sprintf("%q is not an option", f.Arg(1)), "quote a pattern: 'python:*'")
	case file != "" && pid != 0:
		err = slip.New("-l and -p are two places to look in", "give one of them")
	case pid < 0:
		err = slip.New(fmt.Sprintf("%d is no process", pid), "")
	case f.NArg() == 1:
		filter = f.Arg(0)
		if _, bad := path.Match(filter, ""); bad != nil {
			err = slip.New(fmt.Sprintf("%s is no pattern", filter), "")
		}
	}
	w := bufio.NewWriter(out)
	if err == nil {
		switch {
		case file != "":
			err = ofFile(w, file, filter, verbose)
		case pid != 0:
			err = ofProcess(w, pid, filter, verbose)
		default:
			err = tracepoints(w, filter, verbose)
		}
	}
	return done(w, errs, err)
}

func done(w *bufio.Writer, errs io.Writer, err error) int {
	if failed := w.Flush(); err == nil {
		err = failed
	}
	if err == nil {
		return 0
	}
	return slip.Failed(errs, err)
}

// fits reports whether PROVIDER:NAME is meant by a filter.
func fits(filter, provider, name string) bool {
	what := provider + ":" + name
	if !strings.Contains(filter, ":") {
		what = name
	}
	ok, _ := path.Match(strings.ReplaceAll(filter, "/", "\x00"), strings.ReplaceAll(what, "/", "\x00"))
	return ok
}

// read gives the marks of a file.
func read(file string) (marks []debuginfo.Mark, err error) {
	defer foreign.Guard(&err)()
	im, err := open.Open(file)
	if err != nil {
		return nil, err
	}
	defer im.Close()
	m, ok := im.(debuginfo.Marks)
	if !ok {
		return nil, nil
	}
	return m.Marks()
}

// located finds a program that is named without its folder as the shell does.
func located(file string) string {
	if strings.Contains(file, "/") {
		return file
	}
	if _, err := os.Stat(file); err == nil {
		return file
	}
	if p, err := exec.LookPath(file); err == nil {
		return p
	}
	return file
}

func ofFile(w io.Writer, file, filter string, verbose bool) error {
	file = located(file)
	marks, err := read(file)
	if err != nil {
		return err
	}
	if n := list(w, file, marks, filter, verbose); n == 0 {
		if len(marks) == 0 {
			return slip.New(fmt.Sprintf("%s has no static marks", file), "gostap -l "+
				"'process(\"FILE\").function(\"*\")' lists functions")
		}
		var names []string
		for _, m := range marks {
			names = append(names, m.Name)
		}
		return slip.New(fmt.Sprintf("%s has no mark that fits %s", file, filter), meant(filter, names))
	}
	return nil
}

// meant is a hint with names that come close to that of a filter.
func meant(filter string, names []string) string {
	return slip.Meant(filter[strings.IndexByte(filter, ':')+1:], names)
}

// ofProcess lists the marks of all files that a process has mapped to run.
func ofProcess(w io.Writer, pid int, filter string, verbose bool) error {
	dir := "/proc/" + strconv.Itoa(pid)
	maps, err := os.ReadFile(dir + "/maps")
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return slip.New(fmt.Sprintf("there is no process %d", pid), "")
		}
		return err
	}
	seen := map[string]bool{}
	n := 0
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if len(f) < 6 || !strings.Contains(f[1], "x") || !strings.HasPrefix(f[5], "/") || seen[f[5]] {
			continue
		}
		seen[f[5]] = true
		marks, err := read(dir + "/root" + f[5])
		if err != nil {
			fmt.Fprintf(w, "%s: not read: %s\n", f[5], diag.Visible(err.Error()))
			continue
		}
		n += list(w, f[5], marks, filter, verbose)
	}
	if n == 0 {
		return slip.New(fmt.Sprintf("the files of process %d have no static mark that fits %s", pid, filter), "")
	}
	return nil
}

// list writes marks in the form of tplist and counts them. Those of one name are one entry.
func list(w io.Writer, file string, marks []debuginfo.Mark, filter string, verbose bool) (n int) {
	type key struct{ provider, name string }
	byName := map[key][]debuginfo.Mark{}
	var order []key
	for _, m := range marks {
		k := key{m.Provider, m.Name}
		if !fits(filter, m.Provider, m.Name) {
			continue
		}
		if byName[k] == nil {
			order = append(order, k)
		}
		byName[k] = append(byName[k], m)
	}
	slices.SortStableFunc(order, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.name, b.name))
	})
	for _, k := range order {
		all := byName[k]
		fmt.Fprintf(w, "%s %s:%s", file, diag.Visible(k.provider), diag.Visible(k.name))
		if !verbose {
			fmt.Fprintln(w)
			continue
		}
		fmt.Fprintf(w, " [sema %#x]\n", all[0].Semaphore)
		for _, m := range all {
			fmt.Fprintf(w, "  location %#x raw args: %s\n", m.PC, diag.Visible(m.Text))
			for _, a := range strings.Fields(m.Text) {
				fmt.Fprintf(w, "    %s\n", diag.Visible(argument(a)))
			}
		}
	}
	return len(order)
}

// argument tells of an argument "SIZE@OPERAND" what it is: bytes, sign, place.
func argument(text string) string {
	size, operand, ok := strings.Cut(text, "@")
	if !ok {
		return text + " (its size is not told)"
	}
	n, err := strconv.Atoi(size)
	switch {
	case strings.HasSuffix(size, "f"):
		return fmt.Sprintf("%s bytes, a floating point number, @ %s", strings.TrimSuffix(size, "f"), operand)
	case err != nil:
		return text
	}
	sign := "unsigned"
	if n < 0 {
		n, sign = -n, "  signed"
	}
	where := operand
	if strings.HasPrefix(operand, "%") {
		where = "register " + operand
	} else if c, ok := strings.CutPrefix(operand, "$"); ok {
		where = "constant " + c
	}
	return fmt.Sprintf("%d %s bytes @ %s", n, sign, where)
}

// Info runs "gostap info probes FILE" and gives its exit status: the same columns as GDB's, sorted as GDB does.
func Info(args []string, out, errs io.Writer) int {
	w := bufio.NewWriter(out)
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
		w.WriteString(usage)
		return done(w, errs, nil)
	}
	if len(args) != 2 || args[0] != "probes" {
		return done(w, errs, slip.New("info takes the word probes and a file", "gostap info probes ./app; "+
			"gostap --info tells what the kernel allows"))
	}
	file := located(args[1])
	marks, err := read(file)
	if err == nil {
		table(w, file, marks)
	}
	return done(w, errs, err)
}

// table writes marks in the form of GDB.
func table(w io.Writer, file string, marks []debuginfo.Mark) {
	if len(marks) == 0 {
		fmt.Fprintln(w, "No probes matched.")
		return
	}
	if real, err := absolute(file); err == nil {
		file = real
	}
	marks = slices.Clone(marks)
	slices.SortStableFunc(marks, func(a, b debuginfo.Mark) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name))
	})
	rows := [][]string{{"Type", "Provider", "Name", "Where", "Semaphore", "Object"}}
	for _, m := range marks {
		sema := ""
		if m.Semaphore != 0 {
			sema = fmt.Sprintf("0x%016x", m.Semaphore)
		}
		rows = append(rows, []string{"stap", diag.Visible(m.Provider), diag.Visible(m.Name),
			fmt.Sprintf("0x%016x", m.PC), sema, file})
	}
	var wide [6]int
	for _, r := range rows {
		for i, c := range r {
			wide[i] = max(wide[i], len(c))
		}
	}
	for _, r := range rows {
		for i, c := range r {
			fmt.Fprintf(w, "%-*s ", wide[i], c)
		}
		fmt.Fprintln(w)
	}
}
