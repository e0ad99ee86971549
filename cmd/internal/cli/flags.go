package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/outfile"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/grammar"
)

// options are the command line, taken apart.
type options struct {
	script      string           // -e text, valid if hasText
	hasText     bool             // -e was given
	file        string           // script file, "-" for standard input
	extra       []string         // -E texts
	args        []string         // script arguments
	command     string           // -c
	pid         int              // -x
	include     []string         // -I
	list        string           // -l or -L probe point
	listVars    bool             // -L
	hasList     bool             // -l or -L was given
	keep        bool             // -k
	verbose     int              // -v
	output      string           // -o
	interactive bool             // -i
	rotate      outfile.Rotation // -S, none if its size is 0
	behind      bool             // -F: in the background
	timing      bool             // -t
	guru        bool             // -g
	globals     []string         // -G name=value
	limits      layout.Limits
	// allCallers is -D STAP_CALLEE_MATCHALL: callees count whoever calls them.
	allCallers bool
	timeout    time.Duration // -T
	name       string        // -m
	noWarn     bool          // -w
	warnErr    bool          // -W
	unopt      bool          // -u
	pass       int           // -p, 1..5
	runtime    string        // --runtime
	release    string        // -r: kernel release or directory
	kernelBTF  string        // --kernel-btf
	kernelMap  string        // --kernel-map
	dump       []string      // --dump
	dumpOnly   bool          // --dump without -p: nothing else is made
	bufferMB   int           // -s
	color      string        // --color
	quietEnd   bool          // --no-global-var-display
	emit       string        // --emit: ftrace or perf
	coverage   bool          // -q
	makeModule []string      // -B NAME=VALUE
	moduleInfo []string      // --modinfo NAME=VALUE
	summary    bool          // -C: a table of system calls
	inScript   bool          // what makes it is the script itself
	follow     bool          // -f: with those of the target's children
	folded     bool          // --folded
	badVars    bool          // --skip-badvars
	language   string        // --compatible
	perPass    [5]int        // --vp: verbosity of each pass beyond -v
	listing    compiler.Listing
	lists      bool     // --dump-functions and its kin: print listing
	info       bool     // --info
	module     string   // of "run NAME.ko"
	plan       string   // of "run FILE.plan"
	files      []string // --file
	program    string   // --exe
	digest     string   // --digest
	planSent   bool     // a plan came from another machine
	version    bool
	help       bool
	serve      []string      // --serve
	cgroups    []string      // --cgroup
	pods       []string      // --pod
	http       string        // --http
	format     string        // --format, "" for text
	exports    []string      // --export
	printed    bool          // lines of format become text here
	every      time.Duration // --every: how often metrics are written
	maxHits    uint64        // --max-hits a second, 0 for any
	maxCPU     float64       // --max-cpu in percent, 0 for the limits of the script
	monitor    time.Duration // --monitor: how often the window is drawn, 0 for none
	stapFlags
	remoteFlags
}

// flagSet declares all options; their values go to o and raw.
func flagSet(o *options, raw *values) *pflag.FlagSet {
	fs := pflag.NewFlagSet("gostap", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.SortFlags = false
	fs.VarP(&once{to: &o.script}, "execute", "e", "")
	fs.StringArrayVarP(&o.extra, "add", "E", nil, "")
	fs.VarP(&once{to: &o.command}, "command", "c", "")
	fs.VarP(&onceNumber{to: &o.pid}, "pid", "x", "")
	fs.StringVar(&o.program, "exe", "", "")
	fs.StringArrayVarP(&o.include, "include", "I", nil, "")
	fs.VarP(&once{to: &raw.listNames}, "list", "l", "")
	fs.VarP(&once{to: &raw.listVars}, "list-vars", "L", "")
	fs.BoolVarP(&o.keep, "keep", "k", false, "")
	fs.CountVarP(&o.verbose, "verbose", "v", "")
	fs.StringVarP(&o.output, "output", "o", "", "")
	fs.BoolVarP(&o.interactive, "interactive", "i", false, "")
	fs.StringVarP(&raw.rotate, "rotate", "S", "", "")
	fs.BoolVarP(&o.behind, "flight-recorder", "F", false, "")
	fs.BoolVarP(&o.timing, "timing", "t", false, "")
	fs.BoolVarP(&o.guru, "guru", "g", false, "")
	fs.StringArrayVarP(&o.globals, "global", "G", nil, "")
	fs.StringArrayVar(&o.serve, "serve", nil, "")
	fs.StringArrayVar(&o.cgroups, "cgroup", nil, "")
	fs.StringArrayVar(&o.pods, "pod", nil, "")
	fs.VarP(&once{to: &o.http}, "http", "", "")
	fs.StringVar(&o.format, "format", "", "")
	fs.StringArrayVar(&o.exports, "export", nil, "")
	fs.StringVar(&raw.every, "every", "", "")
	fs.StringVar(&raw.maxHits, "max-hits", "", "")
	fs.Float64Var(&o.maxCPU, "max-cpu", 0, "")
	fs.StringVar(&raw.monitor, "monitor", "", "")
	fs.Lookup("monitor").NoOptDefVal = "1"
	fs.StringArrayVarP(&raw.defines, "define", "D", nil, "")
	fs.StringVarP(&raw.timeout, "timeout", "T", "", "")
	fs.StringVarP(&o.name, "module", "m", "", "")
	fs.BoolVarP(&o.noWarn, "no-warnings", "w", false, "")
	fs.BoolVarP(&o.warnErr, "warnings-are-errors", "W", false, "")
	fs.BoolVarP(&o.unopt, "unoptimized", "u", false, "")
	fs.IntVarP(&o.pass, "pass", "p", 5, "")
	fs.IntVarP(&o.bufferMB, "buffer", "s", 0, "")
	fs.StringVar(&o.runtime, "runtime", "", "")
	fs.StringVarP(&o.release, "release", "r", "", "")
	fs.StringVar(&o.kernelBTF, "kernel-btf", "", "")
	fs.StringVar(&o.kernelMap, "kernel-map", "", "")
	fs.BoolVar(&raw.bpf, "bpf", false, "")
	fs.StringArrayVar(&o.dump, "dump", nil, "")
	fs.StringVar(&o.color, "color", "auto", "")
	fs.Lookup("color").NoOptDefVal = "always"
	fs.BoolVar(&o.quietEnd, "no-global-var-display", false, "")
	fs.BoolVar(&o.folded, "folded", false, "")
	fs.StringVar(&o.emit, "emit", "", "")
	fs.BoolVarP(&o.coverage, "coverage", "q", false, "")
	fs.StringArrayVarP(&o.makeModule, "kbuild", "B", nil, "")
	fs.StringArrayVar(&o.moduleInfo, "modinfo", nil, "")
	fs.BoolVarP(&o.summary, "summary", "C", false, "")
	fs.BoolVarP(&o.follow, "follow", "f", false, "")
	fs.BoolVar(&o.badVars, "skip-badvars", false, "")
	fs.StringVar(&o.language, "compatible", "", "")
	fs.StringVar(&raw.perPass, "vp", "", "")
	raw.listings = []listing{{"dump-functions", compiler.Functions, false},
		{"dump-probe-types", compiler.ProbeTypes, false}, {"dump-probe-aliases", compiler.ProbeAliases, false}}
	for i := range raw.listings {
		fs.BoolVar(&raw.listings[i].on, raw.listings[i].name, false, "")
	}
	fs.BoolVar(&o.info, "info", false, "")
	fs.BoolVarP(&o.version, "version", "V", false, "")
	fs.BoolVarP(&o.help, "help", "h", false, "")
	fs.StringArrayVar(&o.remotes, "remote", nil, "")
	fs.StringVar(&o.tls, "tls", "", "")
	fs.BoolVar(&o.prefix, "remote-prefix", false, "")
	fs.BoolVar(&o.here, "remote-plan", false, "")
	fs.BoolVar(&o.merge, "merge", false, "")
	fs.IntVar(&o.elements, "elements", 0, "")
	fs.DurationVar(&o.inOrder, "in-order", 0, "")
	fs.Lookup("in-order").NoOptDefVal = "1s"
	addStapOptions(fs)
	o.rlimits.Add(fs)
	fs.StringArrayVar(&o.files, "file", nil, "")
	fs.StringVar(&o.digest, "digest", "", "")
	fs.StringVar(&raw.privilege, "privilege", "", "")
	fs.BoolVar(&raw.unprivileged, "unprivileged", false, "")
	fs.BoolVar(&o.quietErrors, "suppress-handler-errors", false, "")
	fs.BoolVar(&raw.noTimeLimits, "suppress-time-limits", false, "")
	fs.BoolVar(&o.noCache, "disable-cache", false, "")
	fs.BoolVar(&o.newCache, "poison-cache", false, "")
	fs.BoolVar(&o.cleanCache, "clean-cache", false, "")
	fs.BoolVar(&o.cleanup, "cleanup", false, "")
	fs.StringVar(&o.tmpdir, "tmpdir", "", "")
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "colour" {
			name = "color"
		}
		return pflag.NormalizedName(name)
	})
	return fs
}

func parseFlags(args []string) (*options, error) { return parseSent(args, false) }

// parseSent is parseFlags for a command line that came from another machine, with a plan or without.
func parseSent(args []string, plan bool) (*options, error) {
	o := &options{limits: layout.Default(), pass: 5, planSent: plan}
	var raw values
	fs := flagSet(o, &raw)
	if err := fs.Parse(colours(args)); err != nil {
		return nil, flagError(fs, err)
	}
	// --dump without -p shows what passes made, and traces nothing. With --emit a script is written besides.
	if len(o.dump) > 0 && !fs.Changed("pass") && o.emit == "" {
		o.pass, o.dumpOnly = 3, true
	}
	if err := o.checkRemote(fs); err != nil {
		return nil, err
	}
	if err := o.checkMerge(fs); err != nil {
		return nil, err
	}
	if err := o.checkFormat(fs); err != nil {
		return nil, err
	}
	if alone := o.alone(); alone != "" {
		if o.help || o.version || fs.NArg() == 0 {
			return o, nil
		}
		return nil, slip.New(fmt.Sprintf("%s takes no words, and there is %s", alone, fs.Arg(0)), "")
	}
	if raw.bpf {
		o.runtime = "bpf"
	}
	if err := o.check(fs, &raw); err != nil {
		return nil, err
	}
	if o.interactive {
		o.hasText = fs.Changed("execute")
		return o, o.checkInteractive(fs)
	}
	for _, l := range raw.listings {
		if l.on {
			if fs.NArg() > 0 {
				return nil, slip.New(fmt.Sprintf("lists of the library take no words, and there is %s", fs.Arg(0)),
					"")
			}
			o.listing, o.lists = l.what, true
			return o, nil
		}
	}
	o.hasText = fs.Changed("execute")
	o.args = fs.Args()
	if fs.Changed("list") || fs.Changed("list-vars") {
		o.hasList = true
		o.list, o.listVars = raw.listNames, false
		if fs.Changed("list-vars") {
			o.list, o.listVars = raw.listVars, true
		}
		switch {
		case strings.HasPrefix(o.list, "-"):
			name := "-l"
			if o.listVars {
				name = "-L"
			}
			return nil, slip.New(fmt.Sprintf(
				"%s lists the probe points of a pattern that follows it, and what follows is %s", name, o.list),
				fmt.Sprintf("other options come first: gostap %s %s 'POINT'", withValue(fs, o.list), name))
		case o.hasText:
			return nil, slip.New("-l and -L take no script", "-E adds one to what is listed")
		case fs.Changed("list") && fs.Changed("list-vars"):
			return nil, slip.New("-l and -L exclude each other", "-L lists the points too")
		}
		return o, nil
	}
	if o.summary && !o.hasText && len(o.args) == 0 {
		o.hasText, o.script = true, o.summaryOf().Text
		o.inScript = true
	}
	if !o.hasText && !slices.Contains(o.dump, "help") {
		if len(o.args) == 0 {
			return nil, slip.New("no script given", o.wanted())
		}
		if o.args[0] == "help" && len(o.args) == 1 && !exists("help") {
			o.help = true
			return o, nil
		}
		o.file, o.args = o.args[0], o.args[1:]
		if o.file == "run" && len(o.hosts) > 0 && !(len(o.args) > 0 && isPlan(o.args[0])) {
			return nil, slip.New("run does not go with --remote: each host translates the script for its own kernel",
				"name the script or a plan instead of the module")
		}
		if o.file == "run" && len(o.args) > 0 && (o.planSent || !exists("run")) {
			if err := o.setModule(fs, o.args); err != nil {
				return o, err
			}
			return o, o.checkPlan()
		}
	}
	if err := o.checkPlan(); err != nil {
		return nil, err
	}
	return o, o.checkSession()
}

// alone is the option that makes the command do something else than tracing, "" if there is none.
func (o *options) alone() string {
	switch {
	case o.help:
		return "--help"
	case o.version:
		return "--version"
	case o.info:
		return "--info"
	case o.cleanCache:
		return "--clean-cache"
	case o.cleanup:
		return "--cleanup"
	case o.format == formatSchema:
		return "--format=" + formatSchema
	}
	return ""
}

// setPerPass reads --vp: a digit for each of the passes 1 to 5.
func (o *options) setPerPass(s string) error {
	if len(s) > len(o.perPass) || s == "" || strings.Trim(s, "0123456789") != "" {
		return slip.New(fmt.Sprintf("--vp takes a digit for each pass, up to 5, not %q", s),
			"--vp 00020 says more about pass 4")
	}
	for i, c := range s {
		o.perPass[i] = int(c - '0')
	}
	return nil
}

// checkLanguage refuses versions of the language that are no versions or newer than the one spoken.
func checkLanguage(v string) error {
	parts := strings.Split(v, ".")
	ok := v != ""
	for _, p := range parts {
		_, err := strconv.ParseUint(p, 10, 16)
		ok = ok && err == nil
	}
	if !ok {
		return slip.New(fmt.Sprintf("--compatible takes a version such as 4.0, not %q", v), "")
	}
	if grammar.CompareVersions(v, LanguageVersion) > 0 {
		return slip.New(fmt.Sprintf("--compatible=%s: the script language here is that of version %s", v,
			LanguageVersion), "")
	}
	return nil
}

func parseTimeout(s string) (time.Duration, error) { return parseTime("-T", s) }

// parseTime reads a time of an option: seconds, or with a unit.
func parseTime(option, s string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(s, 64); err == nil && n > 0 && n < 1e9 {
		return time.Duration(n * float64(time.Second)), nil
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, slip.New(fmt.Sprintf("%s takes seconds, not %q", option, s), "")
}

// define handles -D NAME=VALUE for the limits; stap's names without a meaning here are errors too,
// since a limit that is silently not kept would surprise.
func (o *options) define(d string) error {
	name, val, ok := strings.Cut(d, "=")
	if !ok {
		val = "1"
	}
	if name == "STAP_CALLEE_MATCHALL" {
		o.allCallers = true
		return nil
	}
	switch {
	case name == "MAPHASHBIAS":
		// How stap's tables trade memory for speed, which nothing that a script prints depends on.
		if _, err := strconv.Atoi(val); err != nil {
			return slip.New(fmt.Sprintf("-D %s: the value must be a number", d), "")
		}
		return nil
	case strings.HasPrefix(name, "STP_NO_OVERLOAD"):
		o.limits.OverloadTime = 0
		return nil
	case name == "STP_OVERLOAD":
		return nil // it is on
	case strings.HasPrefix(name, "STP_OVERLOAD_"):
		val = strings.TrimRight(val, "uUlL")
	}
	n, err := strconv.Atoi(val)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return slip.New(fmt.Sprintf("-D %s: the value must be a number", d), "")
	}
	most := 1 << 30
	if strings.HasPrefix(name, "STP_OVERLOAD_") {
		most = math.MaxInt32 // a second of some processors
	}
	if err != nil || n < 0 || n > most {
		return slip.New(fmt.Sprintf("-D %s: the value is 0 to %d", d, most), "")
	}
	if name == "MAXSTRINGLEN" && (n < 16 || n > 4096) {
		return slip.New(fmt.Sprintf("-D %s: MAXSTRINGLEN is 16 to 4096", d), "")
	}
	if name == "MAXVALUEDEPTH" && (n < 1 || n > 16) || name == "MAXVALUEELEMS" && (n < 1 || n > 1000) {
		return slip.New(fmt.Sprintf("-D %s: MAXVALUEDEPTH is 1 to 16, MAXVALUEELEMS 1 to 1000", d), "")
	}
	if name == "MAXMAPENTRIES" && n == 0 {
		return slip.New(fmt.Sprintf("-D %s: MAXMAPENTRIES is at least 1", d), "")
	}
	if why := stapMacros[name]; why != "" {
		return slip.New(fmt.Sprintf("-D %s: %s", name, why), "")
	}
	if !o.limits.Set(name, n) {
		return slip.New(fmt.Sprintf("-D %s: no limit has this name", name),
			"MAXACTION MAXACTION_INTERRUPTIBLE MAXSTRINGLEN MAXMAPENTRIES MAXNESTING MAXERRORS MAXSKIPPED MAXTRYLOCK "+
				"TRYLOCKDELAY MAXBACKTRACE MAXVALUEDEPTH MAXVALUEELEMS "+
				"STP_OVERLOAD_INTERVAL STP_OVERLOAD_THRESHOLD STP_NO_OVERLOAD")
	}
	return nil
}

// withValue writes an option as it is typed, with a word for its value: "-x PID", "-v".
func withValue(fs *pflag.FlagSet, option string) string {
	var f *pflag.Flag
	if long, ok := strings.CutPrefix(option, "--"); ok {
		f = fs.Lookup(long)
	} else if len(option) == 2 {
		f = fs.ShorthandLookup(option[1:])
	}
	switch {
	case f == nil || f.NoOptDefVal != "":
		return option
	case f.Shorthand == "x":
		return option + " PID"
	}
	return option + " VALUE"
}
