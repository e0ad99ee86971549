package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/interactive"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/cmd/internal/tty"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/foreign"
)

// notInteractive are the options that do not go with -i and cannot be set there, with the reason.
var notInteractive = map[string]string{
	"interactive":     "it is on",
	"execute":         "lines of a script are typed as they are",
	"add":             "lines of a script are typed as they are",
	"list":            "points POINT lists probe points",
	"list-vars":       "points POINT lists probe points",
	"flight-recorder": "a run has the terminal until it ends",
	"remote":          "scripts are run on this machine",
	"remote-prefix":   "scripts are run on this machine",
	"dump":            "-p 1 to -p 3 print what passes make",
	"emit":            "save writes the script, and gostap --emit writes it for others",
	"help":            "help lists the commands", "version": "it does something else than to trace",
	"info": "it does something else than to trace", "clean-cache": "it does something else than to trace",
	"cleanup":            "it does something else than to trace",
	"dump-functions":     "apropos WORD finds functions and points",
	"dump-probe-types":   "apropos WORD finds functions and points",
	"dump-probe-aliases": "apropos WORD finds functions and points",
}

// checkInteractive looks at what is given with -i, and takes FILE and the arguments.
func (o *options) checkInteractive(fs *pflag.FlagSet) error {
	var err error
	fs.Visit(func(f *pflag.Flag) {
		why, bad := notInteractive[f.Name]
		if bad && err == nil && f.Name != "interactive" && f.Name != "execute" {
			err = slip.New(fmt.Sprintf("%s does not go with -i: %s", flagName(f), why), "")
		}
	})
	if err != nil {
		return err
	}
	o.args = fs.Args()
	if !o.hasText && len(o.args) > 0 {
		o.file, o.args = o.args[0], o.args[1:]
		if o.file == "run" && !exists("run") {
			return slip.New("-i builds scripts, and run runs a module that was built before", "")
		}
		if o.file == "-" {
			return slip.New("with -i, commands come from standard input, so that no script can",
				"load FILE is such a command")
		}
	}
	return nil
}

// interactive is "gostap -i".
func (c *command) interactive() (status int, err error) {
	var set []string
	argv, file, script := c.argv, c.file, c.script
	if c.tool != nil {
		argv, file, script = c.tool.args, "", c.tool.text
	} else if file != "" && !exists(file) {
		if _, err := readScript(file, c.env); err != nil {
			return 0, err
		}
	}
	err = flagSet(new(options), new(values)).ParseAll(slices.Concat(c.rc, argv), func(f *pflag.Flag, v string) error {
		if f.Name != "interactive" && f.Name != "execute" {
			set = append(set, written(f, v))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	b := &bench{c}
	if err := b.Try(set); err != nil {
		return 0, err
	}
	return interactive.Run(interactive.Config{Command: b, In: c.In, Out: c.Out, Err: c.Err, Env: c.env, Options: set,
		Script: script, File: file}), nil
}

// written is an option with its value in one word.
func written(f *pflag.Flag, value string) string {
	switch {
	case value == noValue, f.NoOptDefVal == value && f.Value.Type() == "bool":
		return "--" + f.Name
	}
	return "--" + f.Name + "=" + value
}

// bench is what an interactive session has its scripts compiled and run by.
type bench struct{ c *command }

// Option implements interactive.Command.
func (b *bench) Option(name string) (long string, many bool, err error) {
	fs := flagSet(new(options), new(values))
	name = strings.TrimLeft(name, "-")
	f := fs.Lookup(name)
	if len(name) == 1 {
		f = fs.ShorthandLookup(name)
	}
	switch {
	case f == nil:
		return "", false, slip.New(fmt.Sprintf("there is no option %s", name), slip.Meant(name, b.Options()))
	case notInteractive[f.Name] != "":
		return "", false, slip.New(fmt.Sprintf("%s cannot be set: %s", f.Name, notInteractive[f.Name]), "")
	}
	_, many = f.Value.(pflag.SliceValue)
	return f.Name, many, nil
}

// Options implements interactive.Command.
func (b *bench) Options() (names []string) {
	flagSet(new(options), new(values)).VisitAll(func(f *pflag.Flag) {
		if _, stap := f.Value.(stapValue); !stap && notInteractive[f.Name] == "" {
			names = append(names, f.Name)
		}
	})
	slices.Sort(names)
	return names
}

// with is the command that has these options too.
func (b *bench) with(set []string, more ...string) (*command, error) {
	args := append(slices.Concat(set, more, []string{"--"}), b.c.args...)
	o, err := parseFlags(args)
	if err != nil {
		return nil, err
	}
	c := &command{options: o, Streams: b.c.Streams, argv: args, env: b.c.env}
	if !tty.Is(b.c.Out) {
		c.In = nil // the commands come from there
	}
	return c, nil
}

// asks are what the compiler is told for a command line that only asks what there is.
func (b *bench) asks(set []string, more ...string) (gostap.Options, error) {
	c, err := b.with(set, more...)
	if err != nil {
		return gostap.Options{}, err
	}
	_, o, err := c.compileOptions()
	return o, err
}

// Try implements interactive.Command.
func (b *bench) Try(set []string) error {
	_, err := b.with(set, "-e", "")
	return err
}

// Check implements interactive.Command.
func (b *bench) Check(set []string, script string, to compiler.Phase) ([]gostap.Diagnostic, error) {
	c, err := b.with(set, "-e", script)
	if err != nil {
		return nil, err
	}
	c.verbose, c.perPass, c.coverage = 0, [5]int{}, false
	text, o, err := c.compileOptions()
	if err != nil {
		return nil, err
	}
	o.Tool.Stop, o.Tool.Soon = to, false
	ctx, _, done := untilSignal()
	defer done()
	p, err := gostap.Compile(ctx, text, o)
	var e *gostap.Error
	if errors.As(err, &e) && ctx.Err() == nil {
		return e.Diagnostics, nil
	}
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Warnings(), nil
}

// Run implements interactive.Command.
func (b *bench) Run(set []string, script string) bool {
	defer foreign.Goroutine()()
	c, err := b.with(set, "-e", script)
	if err != nil {
		return slip.Failed(b.c.Err, err) == 0
	}
	return c.tell(c.run()) == 0
}

// Points implements interactive.Command.
func (b *bench) Points(set []string, script, pattern string, vars bool) ([]string, error) {
	if pattern == "" || strings.HasPrefix(pattern, "-") {
		return nil, slip.New("that is no probe point", "points syscall.op*")
	}
	o, err := b.asks(set, "-E", script, "-l", pattern)
	if err != nil {
		return nil, err
	}
	ctx, _, done := untilSignal()
	defer done()
	lines, _, err := gostap.List(ctx, pattern, o, gostap.ListOptions{Vars: vars})
	return lines, err
}

// Library implements interactive.Command.
func (b *bench) Library(set []string, what compiler.Listing) ([]string, error) {
	o, err := b.asks(set, "-e", "")
	if err != nil {
		return nil, err
	}
	ctx, _, done := untilSignal()
	defer done()
	lines, _, err := gostap.Library(ctx, what, o)
	return lines, err
}

// Show implements interactive.Command: warnings come when the script is run.
func (b *bench) Show(l []gostap.Diagnostic) {
	b.c.show(slices.DeleteFunc(slices.Clone(l), func(d gostap.Diagnostic) bool { return d.Warning }))
}

// Failed implements interactive.Command.
func (b *bench) Failed(err error) { b.c.tell(b.c.shown(plain(err))) }
