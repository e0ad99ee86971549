// Package patch is the command "gostap patch": a description of what functions of programs do from now on is held
// against the programs, put in place, and taken back at the end.
//
// In: arguments and streams; a description (describe.go). Out: an exit status, and what was changed where. It compares
// programs with what the description expects of them (verify.go), makes a script of it (script.go), runs that by
// package gostap, and looks into the memory of the process whether it is in place and gone again (process.go). New
// descriptions are written by fresh.go.
package patch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
)

const usage = `gostap patch - functions do something else, until it ends

usage: gostap patch FILE [options]
       gostap patch --new PROGRAM FUNCTION...     write a description to begin with

FILE describes what is changed in which program, and what has to be there for it:

  program /srv/shop
  build-id 5e1c0a...
  function main.charge
    size 212
    sha256 9f86d0...               or: bytes 49 3b 66 10 ..., the first ones
    entry {
      if ($cents > 100) skip_function(0, @var("main.errDeclined"))
    }
    return {
      $return[0] = 0
    }

Between the braces are statements of the language, as in probes of .call and .return; globals are declared outside.
A program or function that is not as described is refused, and nothing is changed.

  --dry-run            say what would be changed and where, and change nothing
  --print              print the script that does it, and do nothing
  -c CMD, -x PID       only in this process; as long as it runs. Otherwise in all that run the program, until Ctrl-C
  -T TIME              as long as that (10s, 2m)
  --runtime=kernel     by a kernel module, where eBPF cannot do it

At the end it tells how often each was hit. docs/guru.md tells what guards there are.
`

// Streams are where the command reads and writes. The program of -c gets them too.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// options are the command line.
type options struct {
	command, runtime string
	pid              int
	length           time.Duration
	fresh, dry       bool
	print            bool
	args             []string
}

// errShown ends the command after its errors were printed.
var errShown = errors.New("failed")

// Run runs the command and gives its exit status. ctx ends the patch.
func Run(ctx context.Context, args []string, s Streams, env []string) int {
	o, err := parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(s.Out, usage)
		return 0
	}
	switch {
	case err != nil:
	case o.fresh:
		err = fresh(ctx, s.Out, o.args[0], o.args[1:])
	default:
		err = do(ctx, o, s, env)
	}
	var e *gostap.Error
	var ended *gostap.Failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		show(s.Err, e.Diagnostics)
	case errors.Is(err, errShown), errors.As(err, &ended):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(s.Err, "error: stopped by a signal before anything was changed")
	default:
		slip.Failed(s.Err, err)
	}
	return 1
}

// parse reads the arguments.
func parse(args []string) (*options, error) {
	o := &options{}
	f := pflag.NewFlagSet("patch", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.StringVarP(&o.command, "command", "c", "", "")
	f.IntVarP(&o.pid, "pid", "x", 0, "")
	f.DurationVarP(&o.length, "timeout", "T", 0, "")
	f.StringVar(&o.runtime, "runtime", "", "")
	f.BoolVar(&o.fresh, "new", false, "")
	f.BoolVar(&o.dry, "dry-run", false, "")
	f.BoolVar(&o.print, "print", false, "")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil, err
		}
		return nil, slip.New(err.Error(), "gostap patch --help lists the options")
	}
	o.args = f.Args()
	rt := gostap.Runtime(o.runtime)
	switch {
	case o.fresh && f.NFlag() > 1:
		return nil, slip.New("--new changes nothing and takes no other options", "")
	case o.fresh && len(o.args) < 2:
		return nil, slip.New("patch: --new takes a program and functions of it",
			"gostap patch --new ./shop main.charge")
	case o.fresh:
	case len(o.args) == 0:
		return nil, slip.New("patch: the description is missing", "gostap patch --new PROGRAM FUNCTION writes one")
	case len(o.args) > 1:
		return nil, slip.New(fmt.Sprintf("patch: %q is one argument too many", o.args[1]),
			"quote a command of several words: -c 'CMD ARGS'")
	case f.Changed("command") && f.Changed("pid"):
		return nil, slip.New("one of -c and -x says in which process", "")
	case f.Changed("command") && o.command == "":
		return nil, slip.New("-c takes a command", "")
	case f.Changed("pid") && o.pid <= 0:
		return nil, slip.New(fmt.Sprintf("%d is no process", o.pid), "")
	case f.Changed("timeout") && o.length <= 0:
		return nil, slip.New("-T takes a time like 10s", "")
	case rt != gostap.Auto && rt != gostap.BPF && rt != gostap.Module:
		return nil, slip.New(fmt.Sprintf("--runtime=%s: programs are changed by bpf or kernel", o.runtime), "")
	}
	return o, nil
}

// do puts in place what the description says, or tells what it would do.
func do(ctx context.Context, o *options, s Streams, env []string) error {
	text, err := os.ReadFile(o.args[0])
	if err != nil {
		return err
	}
	d, err := describe(o.args[0], string(text))
	if err != nil {
		return failed(s.Err, err)
	}
	script := d.script(o.command != "" || o.pid != 0)
	if o.print {
		fmt.Fprint(s.Out, script)
		return nil
	}
	defer d.close()
	if err := d.verify(); err != nil {
		return failed(s.Err, err)
	}
	if o.pid != 0 {
		if err := d.runs(o.pid); err != nil {
			return failed(s.Err, err)
		}
	}
	prog, err := gostap.Compile(ctx, script, gostap.Options{Name: o.args[0], Guru: true, Text: true,
		Runtime: gostap.Runtime(o.runtime), Command: o.command, PID: o.pid, Timeout: o.length, PrintGlobals: true,
		Stdin: s.In, Stdout: s.Out, Stderr: s.Err, Env: env})
	if err != nil {
		return err
	}
	defer prog.Close()
	show(s.Err, prog.Warnings())
	if err := d.place(prog.Places()); err != nil {
		return failed(s.Err, err)
	}
	if o.pid != 0 {
		if err := d.patched(o.pid, before); err != nil {
			return err
		}
	}
	if o.dry {
		d.tell(s.Out)
		if _, err := prog.Files(ctx); err != nil { // a module is built for that
			return err
		}
		fmt.Fprintln(s.Out, "nothing was changed")
		return nil
	}
	session, err := prog.Prepare(ctx)
	if err != nil {
		return err
	}
	begun := false
	err = session.Print(ctx, s.Out, s.Err, func() error {
		// The kernel put probes into the files that were compiled for. Whether these are the ones that were looked at
		// shows now, before a command begins to run.
		if err := d.same(); err != nil {
			return err
		}
		if o.pid != 0 {
			if err := d.patched(o.pid, during); err != nil {
				return err
			}
		}
		begun = true
		d.inPlace(s.Err)
		return nil
	})
	if begun {
		if o.pid != 0 {
			if e := d.patched(o.pid, after); e != nil {
				return errors.Join(err, e)
			}
		}
		fmt.Fprintln(s.Err, "all is as it was")
	}
	return err
}

// show prints what the compiler has to say.
func show(w io.Writer, l []gostap.Diagnostic) {
	for _, d := range l {
		io.WriteString(w, d.Render(gostap.Style{}))
	}
}

// failed prints an error that has a place in the description.
func failed(w io.Writer, err error) error {
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	fmt.Fprintf(w, "%s:%d:%d: error: %s\n", f.file, f.line, f.col, diag.Visible(f.text))
	fmt.Fprintf(w, "  %s\n  %*s\n", diag.Visible(f.source), f.col, "^")
	if f.hint != "" {
		fmt.Fprintf(w, "  hint: %s\n", diag.Visible(f.hint))
	}
	return errShown
}
