// Package structs is the command "gostap types": how the structures of the kernel and of programs lie in memory.
//
// In: arguments and streams. Out: an exit status, and declarations with offsets, sizes and holes (write.go, gaps.go),
// or a table of structures (table.go). Types come of BTF or of DWARF (source.go).
package structs

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/foreign"
)

const usage = `gostap types - how structures lie in memory

usage: gostap types [options]            a table: name, size, number of holes
       gostap types [options] NAME ...   declarations with offsets, sizes and holes

of what:
      --file FILE      a program, a library, a vmlinux, or a file of BTF; without it the running kernel
      --module NAME    a module of the kernel

what:
  -I, --declared       with the place in the source, where debug information has it
  -E, --expand         structures in structures too, with offsets in the outermost
      --contains TYPE  those that have a member of TYPE, also in arrays and unnamed structures
      --points-to TYPE those that have a pointer to TYPE
      --holes N        those with N holes and more

the table:
      --sort KEY       by name, size, holes or members; the last three with the greatest first
      --top N          the first N only

NAME and TYPE are written as the program's language has them: task_struct, "struct list_head", wait_queue_head_t,
main.Server, ns::Class. A NAME with * or ? is a pattern.
`

// options are the command line.
type options struct {
	file, module       string
	declared, expand   bool
	contains, pointsTo string
	holes              int
	sort               string
	top                int
	names              []string
}

// Run runs the command and gives its exit status.
func Run(args []string, out, errs io.Writer) int {
	o, err := parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(out, usage)
		return 0
	}
	if err == nil {
		err = show(o, out)
	}
	if err == nil {
		return 0
	}
	return slip.Failed(errs, err)
}

// parse reads the arguments.
func parse(args []string) (*options, error) {
	o := &options{}
	f := pflag.NewFlagSet("types", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.StringVar(&o.file, "file", "", "")
	f.StringVar(&o.module, "module", "", "")
	f.BoolVarP(&o.declared, "declared", "I", false, "")
	f.BoolVarP(&o.expand, "expand", "E", false, "")
	f.StringVar(&o.contains, "contains", "", "")
	f.StringVar(&o.pointsTo, "points-to", "", "")
	f.IntVar(&o.holes, "holes", 0, "")
	f.StringVar(&o.sort, "sort", "name", "")
	f.IntVar(&o.top, "top", 0, "")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil, err
		}
		return nil, slip.New(err.Error(), "gostap types --help lists the options")
	}
	o.names = f.Args()
	switch {
	case o.file != "" && o.module != "":
		return nil, slip.New("--file and --module are two places to look in", "give one of them")
	case o.order() == nil:
		return nil, slip.New(fmt.Sprintf("--sort does not know %q", o.sort), "it knows name, size, holes and members")
	case o.top < 0 || o.holes < 0:
		return nil, slip.New("--top and --holes take a number from 0 on", "")
	case (o.expand || o.declared) && len(o.names) == 0:
		return nil, slip.New("--expand and --declared belong to declarations, and no type is named",
			"gostap types -E task_struct")
	}
	return o, nil
}

// show prints what is asked for.
func show(o *options, out io.Writer) (err error) {
	defer foreign.Guard(&err)()
	src, err := opened(o)
	if err != nil {
		return err
	}
	defer src.close()
	if len(o.names) == 0 {
		return table(o, src, out)
	}
	for i, name := range o.names {
		list, err := src.named(name)
		if err != nil {
			return err
		}
		for k, s := range list {
			if i+k > 0 {
				io.WriteString(out, "\n")
			}
			if err := layout(out, s, o.expand, o.declared); err != nil {
				return err
			}
		}
	}
	return nil
}

// bare is a type's name without its keyword. Go's "struct {...}" is a whole name.
func bare(name string) string {
	if strings.HasPrefix(name, "struct {") {
		return name
	}
	for _, word := range []string{"struct ", "union ", "class "} {
		if rest, ok := strings.CutPrefix(name, word); ok {
			return rest
		}
	}
	return name
}
