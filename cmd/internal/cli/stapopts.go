package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/rlimits"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/machine"
)

// stapFlags are options that stap has and that came late to gostap.
type stapFlags struct {
	rlimits   rlimits.Limits
	privilege string // --privilege, "" if none is asked for
	// quietErrors is --suppress-handler-errors.
	quietErrors bool
	tmpdir      string // --tmpdir: where -k keeps files
	// --disable-cache, --poison-cache (write only), --clean-cache
	noCache, newCache, cleanCache bool
	// --cleanup
	cleanup bool
}

// stapOption is an option that stap documents and that is not one of gostap's own: it is either
// accepted, since what it asks for holds anyway, or refused with the reason.
type stapOption struct {
	long, short string
	arg         argKind
	// why says why it is refused, or what accepting it comes to.
	why string
	// hint says what to do instead of a refused option.
	hint string
	// accept tells which values are taken; nil refuses all.
	accept func(value string) bool
}

type argKind uint8

const (
	noArg argKind = iota
	needsArg
	mayHaveArg
)

func anyValue(v string) bool { return v != "" }

func oneOf(values ...string) func(string) bool {
	return func(v string) bool { return slices.Contains(values, v) }
}

// The reasons that several options share.
const (
	whyServer = "scripts are compiled on this machine, there are no compile servers"
	whyNames  = "addresses are given names when they are printed, by the files that lie there"
)

// stapOptions are stap's documented options that need no code of their own.
var stapOptions = []stapOption{
	{"stap-bulk", "b", noArg, "records of all processors come in one file, in order, so that nothing is to be merged",
		"-s sets the size of the buffer", anyValue},
	{"stap-unwind", "d", needsArg, whyNames, "", anyValue},
	{"ldd", "", noArg, whyNames, "", anyValue},
	{"all-modules", "", noArg, whyNames, "", anyValue},
	{"stap-arch", "a", needsArg, "programs are translated for " + machine.Default.Arch + " only", "",
		oneOf(machine.Default.Arch)},
	{"stap-runtime-dir", "R", needsArg,
		"the runtime is a part of gostap, there is no directory to take another one from", "", nil},
	{"stap-prologue", "P", noArg, "places of parameters are always taken from where they are valid", "", anyValue},
	{"prologue-searching", "", mayHaveArg,
		"it takes never, always or auto; places of parameters are always taken from where they are valid", "",
		oneOf(noValue, "never", "always", "auto")},
	{"check-version", "", noArg, "nothing in the language depends on the version asked for", "", anyValue},
	{"save-uprobes", "", noArg, "no module for user probes is ever built", "", anyValue},
	{"download-debuginfo", "", mayHaveArg, "debug information is not downloaded",
		"install the package with the debug information, or name a file that has it", oneOf("no")},
	{"use-server", "", mayHaveArg, whyServer, "", nil},
	{"use-server-on-error", "", mayHaveArg, whyServer, "", oneOf("no")},
	{"list-servers", "", mayHaveArg, whyServer, "", nil},
	{"trust-servers", "", mayHaveArg, whyServer, "", nil},
	{"sysroot", "", needsArg, "files are looked for in the running system only",
		`name them by their whole path: process("/the/root/usr/bin/app")`, nil},
	{"sysenv", "", needsArg, "files are looked for in the running system only",
		"set the variable in front of the command", nil},
	{"sign-module", "", mayHaveArg, "modules are not signed",
		"build with -p4 -m NAME and sign NAME.ko with the kernel's sign-file", nil},
	{"target-namespaces", "", needsArg, "functions about namespaces look at those of the current process only", "",
		nil},
	{"target-namespace", "", needsArg, "functions about namespaces look at those of the current process only", "", nil},
	{"example", "", noArg, "no example scripts are installed", "name the script by its path", nil},
	{"dyninst", "", noArg, "there is no dyninst runtime", "--runtime=bpf traces user programs", nil},
}

// stapValue is the value of such an option.
type stapValue struct{ o *stapOption }

// refusedOption is an option that is known and not taken.
type refusedOption struct{ o *stapOption }

func (e *refusedOption) Error() string { return e.o.why }

func (v stapValue) Set(s string) error {
	switch {
	case v.o.arg == noArg && s != "true":
		return errors.New("it takes no value")
	case v.o.arg == needsArg && s == "":
		return errors.New("it needs a value")
	}
	if v.o.accept == nil || !v.o.accept(s) {
		return &refusedOption{v.o}
	}
	return nil
}
func (v stapValue) Type() string   { return "" }
func (v stapValue) String() string { return "" }

// noValue stands for an option whose argument was left out; no user writes a NUL byte.
const noValue = "\x00"

// addStapOptions teaches fs the options of stap.
func addStapOptions(fs *pflag.FlagSet) {
	for i := range stapOptions {
		o := &stapOptions[i]
		fs.VarP(stapValue{o}, o.long, o.short, "")
		switch o.arg {
		case noArg:
			fs.Lookup(o.long).NoOptDefVal = "true"
		case mayHaveArg:
			fs.Lookup(o.long).NoOptDefVal = noValue
		}
	}
}

// flagName is how a flag is written: -x, or --long if it has no letter.
func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

// lacking has an example for options that people leave without a value.
var lacking = map[string]string{
	"execute": "a script in the command line stands in quotes: gostap -e 'probe begin { println(\"hello\") exit() }'",
	"command": "the command with its arguments is one word: -c './app ARG'",
	"pid":     "the number of a running process, or of the newest of a name: -x $(pgrep -n NAME)",
	"output":  "a file to print to: -o FILE", "timeout": "a number of seconds: -T 10",
}

// flagError puts what the flag package found wrong into our words.
func flagError(fs *pflag.FlagSet, err error) error {
	const list = "gostap --help lists the options"
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	var refused *refusedOption
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &missing) && (missing.GetFlag().Name == "list" || missing.GetFlag().Name == "list-vars"):
		return slip.New("-"+missing.GetFlag().Shorthand+
			" lists the probe points of a pattern that follows it, and none does",
			`gostap -l 'process("./app").function("main.*")'; --dump-probe-types lists the kinds of points`)
	case errors.As(err, &missing):
		f := missing.GetFlag()
		return slip.New(flagName(f)+" takes a value, and none follows", cmp.Or(lacking[f.Name], list))
	case errors.As(err, &invalid) && invalid.GetFlag().Name == "help":
		return slip.New("--help takes no topic",
			"gostap --help lists the options, --dump-probe-types the kinds of probes, --dump-functions the functions")
	case errors.As(err, &invalid) && errors.As(err, &givenTwice{}):
		hint := ""
		if invalid.GetFlag().Name == "execute" {
			hint = "-E adds further script text, any number of times"
		}
		return slip.New(flagName(invalid.GetFlag())+" is given twice", hint)
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "bool":
		return slip.New(fmt.Sprintf("%s takes no value", flagName(invalid.GetFlag())), list)
	case errors.As(err, &refused):
		return slip.New(fmt.Sprintf("%s: %s", flagName(fs.Lookup(refused.o.long)), refused.o.why),
			cmp.Or(refused.o.hint, list))
	case errors.As(err, &invalid) && invalid.GetFlag().Name == "pid":
		return slip.New(fmt.Sprintf("-x takes the number of a process, not %q", invalid.GetValue()),
			"pgrep finds numbers by names: -x $(pgrep -n "+quoted(filepath.Base(invalid.GetValue()))+")")
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "int":
		return slip.New(fmt.Sprintf("%s takes a number, not %q", flagName(invalid.GetFlag()), invalid.GetValue()),
			list)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var names []string
		fs.VisitAll(func(f *pflag.Flag) {
			if !strings.HasPrefix(f.Name, "stap-") {
				names = append(names, f.Name)
			}
		})
		name := unknown.GetSpecifiedName()
		if near := diag.Nearest(name, names, 2); len(near) > 0 {
			return slip.New(fmt.Sprintf("there is no option --%s", name), "did you mean --"+
				strings.Join(near, ", --")+"?")
		}
		return slip.New(fmt.Sprintf("there is no option --%s", name), list)
	case errors.As(err, &unknown) && unknown.GetSpecifiedName() == "?":
		return slip.New("there is no option -?", "gostap -h or --help lists the options")
	case errors.As(err, &unknown):
		return slip.New(fmt.Sprintf("there is no option -%s", unknown.GetSpecifiedName()), list)
	}
	if errors.As(err, &invalid) {
		return slip.New(fmt.Sprintf("%s: %v", flagName(invalid.GetFlag()), errors.Unwrap(invalid)), list)
	}
	return slip.New(err.Error(), list)
}

// stapMacros are the macros of stap's runtime that -D can set there and that mean nothing here,
// with the reason. A limit that is silently not kept would surprise.
var stapMacros = map[string]string{
	"MINSTACKSPACE":      "handlers do not run on the kernel's stack",
	"INTERRUPTIBLE":      "which handlers can be interrupted is decided by the kernel",
	"KRETACTIVE":         "the number of functions that are entered at the same time is not limited",
	"MAXUPROBES":         "the number of probes is not limited",
	"STP_PROCFS_BUFSIZE": ".maxsize(n) in the probe point sets the size of a procfs buffer",
	"STP_ALIBI":          "probes without handlers are not made",
	"STP_TIMING":         "timing of handlers is not in this version",
	"STP_BUFFER_SIZE":    "-s sets the size of the buffer",
	"STP_NUM_BUFFERS":    "-s sets the size of the buffer",
	"HIST_LOG_BUCKETS":   "@hist_log always has 128 buckets",
	"HIST_WIDTH":         "histograms are always 50 columns wide",
	"HIST_ELISION":       "histograms always keep 2 lines of zeros",
}

// unlimited is more statements, tries or errors than any session comes to.
const unlimited = math.MaxInt32

// suppress handles --suppress-time-limits and --suppress-handler-errors.
func (o *options) suppress(timeLimits bool) error {
	if timeLimits {
		if !o.guru {
			return slip.New("--suppress-time-limits needs guru mode", "add -g")
		}
		o.limits.MaxAction, o.limits.MaxActionInt = unlimited, unlimited
		o.limits.OverloadTime = 0
		o.limits.MaxTryLock = max(o.limits.MaxTryLock, 100_000)
	}
	if o.quietErrors {
		o.limits.MaxErrors, o.limits.MaxSkipped = unlimited, 0
	}
	return nil
}

// privileges are the values of --privilege, most restricted first.
var privileges = []string{"stapusr", "stapsys", "stapdev"}

func (o *options) setPrivilege(value string, unprivileged bool) error {
	if unprivileged {
		value = "stapusr"
	}
	if value == "" {
		return nil
	}
	if !slices.Contains(privileges, value) {
		return slip.New(fmt.Sprintf("--privilege takes stapusr, stapsys or stapdev, not %q", value), "")
	}
	if o.guru && value != "stapdev" {
		return slip.New(fmt.Sprintf("-g and --privilege=%s exclude each other", value),
			"guru mode allows everything")
	}
	o.privilege = value
	return nil
}
