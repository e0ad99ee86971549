package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/outfile"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/runtime/cgroup"
)

// once is the text of an option that can stand on the command line once: of two scripts or two commands one would be
// dropped. Of other options the last one counts, so that the command line can say other than the file of options.
type once struct {
	to  *string
	set bool
}

type givenTwice struct{}

func (givenTwice) Error() string { return "given twice" }

func (v *once) Set(s string) error {
	if v.set {
		return givenTwice{}
	}
	*v.to, v.set = s, true
	return nil
}
func (v *once) Type() string   { return "" }
func (v *once) String() string { return "" }

// onceNumber is the same of a number.
type onceNumber struct {
	to  *int
	set bool
}

func (v *onceNumber) Set(s string) error {
	if v.set {
		return givenTwice{}
	}
	n, err := strconv.Atoi(s)
	*v.to, v.set = n, true
	return err
}
func (v *onceNumber) Type() string   { return "int" }
func (v *onceNumber) String() string { return "" }

// values are the texts of options that are taken apart after all are known.
type values struct {
	perPass, rotate, timeout, privilege, monitor, every, listNames, listVars, maxHits string
	bpf, unprivileged, noTimeLimits                                                   bool
	defines                                                                           []string
	listings                                                                          []listing
}

// listing is an option that lists what the library has.
type listing struct {
	name string
	what compiler.Listing
	on   bool
}

// notEmpty are the options whose value is the name of something.
var notEmpty = []string{"output", "module", "include", "tmpdir", "release", "kernel-btf", "kernel-map", "runtime",
	"privilege", "dump", "command", "file", "digest", "tls", "exe"}

// check looks at the values of all options, whatever is to be done: listing, running a module or a script.
func (o *options) check(fs *pflag.FlagSet, raw *values) error {
	for _, name := range notEmpty {
		f := fs.Lookup(name)
		empty := f.Changed && strings.TrimSpace(f.Value.String()) == ""
		if l, ok := f.Value.(pflag.SliceValue); ok {
			empty = false
			for _, s := range l.GetSlice() {
				empty = empty || s == ""
			}
		}
		if name == "command" {
			empty = f.Changed && strings.TrimSpace(o.command) == ""
		}
		if empty {
			return slip.New(flagName(f)+" needs "+
				map[string]string{"command": "a command", "include": "a directory", "tmpdir": "a directory",
					"tls": "a directory", "output": "a file", "file": "a file",
					"exe":    "a file",
					"digest": "64 digits of a sha-256", "kernel-btf": "a file", "kernel-map": "a file",
					"runtime": "bpf, kernel or host", "privilege": "stapusr, stapsys or stapdev", "module": "a name",
					"release": "a release or directory", "dump": "a pass"}[name], "")
		}
	}
	if fs.Changed("vp") {
		if err := o.setPerPass(raw.perPass); err != nil {
			return err
		}
	}
	if fs.Changed("pod") {
		if err := cgroup.ArePods(o.pods); err != nil {
			return slip.New("--pod: "+err.Error(), "kubectl get pod NAME -o jsonpath={.metadata.uid} says it")
		}
	}
	if fs.Changed("max-hits") {
		n, err := strconv.ParseUint(raw.maxHits, 10, 63)
		if err != nil || n == 0 {
			return slip.New(fmt.Sprintf("--max-hits takes a number of hits a second, not %q", raw.maxHits), "")
		}
		o.maxHits = n
	}
	if fs.Changed("max-cpu") && !(o.maxCPU >= 0.1 && o.maxCPU <= 100) {
		return slip.New(fmt.Sprintf("--max-cpu takes percent of a CPU, 0.1 to 100, not %v", o.maxCPU), "")
	}
	o.every = 10 * time.Second
	if fs.Changed("every") {
		var err error
		if o.every, err = parseTime("--every", raw.every); err != nil {
			return err
		}
		if o.every < 10*time.Millisecond {
			return slip.New("--every is 0.01 seconds at least", "")
		}
	}
	if fs.Changed("monitor") {
		if err := o.setMonitor(raw.monitor); err != nil {
			return err
		}
	}
	if fs.Changed("http") && o.http == "" {
		return slip.New("--http needs PORT or HOST:PORT", "--http 0 takes a free port of the loopback address")
	}
	if fs.Changed("compatible") {
		if err := checkLanguage(o.language); err != nil {
			return err
		}
	}
	if err := o.setPrivilege(raw.privilege, raw.unprivileged); err != nil {
		return err
	}
	if o.pass < 1 || o.pass > 5 {
		return slip.New(fmt.Sprintf("-p takes 1 to 5, not %d", o.pass),
			"1 parse, 2 elaborate, 3 translate, 4 compile, 5 run")
	}
	if o.command != "" && fs.Changed("pid") {
		return slip.New("-c and -x exclude each other", "")
	}
	if o.program != "" && (o.command != "" || fs.Changed("pid") || len(o.pods) > 0) {
		return slip.New("--exe does not go with -c, -x and --pod, which say what runs", "")
	}
	if fs.Changed("pid") && o.pid <= 0 {
		return slip.New(fmt.Sprintf("-x needs the number of a process, not %d", o.pid), "")
	}
	if o.bufferMB < 0 || fs.Changed("buffer") && o.bufferMB == 0 || o.bufferMB > 1024 {
		return slip.New(fmt.Sprintf("-s takes 1 to 1024 megabytes, not %d", o.bufferMB), "")
	}
	if fs.Changed("rotate") {
		var err error
		if o.rotate, err = outfile.ParseRotation(raw.rotate); err != nil {
			return err
		}
		if o.output == "" {
			return slip.New("-S turns the files of -o, and there is no -o FILE", "")
		}
	}
	switch o.emit {
	case "ftrace", "perf":
		if o.pass < 5 || o.runtime != "" && o.runtime != "bpf" {
			return slip.New("--emit writes a script for another tracer: it goes with no -p and no --runtime", "")
		}
		if o.command != "" {
			return slip.New("--emit only writes, so that -c starts nothing",
				`name the program in the script, process("./app"), and start it when the events are there`)
		}
	case "":
		if fs.Changed("emit") {
			return slip.New("--emit needs ftrace or perf", "")
		}
	default:
		return slip.New(fmt.Sprintf("--emit takes ftrace or perf, not %q", o.emit), "")
	}
	if err := o.checkModule(); err != nil {
		return err
	}
	if err := o.checkSummary(); err != nil {
		return err
	}
	if o.timing && o.runtime == "kernel" {
		return slip.New("-t: handlers of modules are not timed", "--runtime=bpf times them")
	}
	if o.behind && o.output == "" {
		return slip.New("-F runs in the background, and there is no -o FILE that it could write to",
			"-S keeps the last files only")
	}
	switch o.color {
	case "auto", "always", "never":
	default:
		return slip.New(fmt.Sprintf("--color takes auto, always or never, not %q", o.color), "")
	}
	switch o.runtime {
	case "", "bpf", "host", "kernel":
	case "dyninst":
		return slip.New("there is no dyninst runtime", "--runtime=bpf traces user programs")
	default:
		return slip.New(fmt.Sprintf("unknown runtime %q", o.runtime), "bpf, kernel or host")
	}
	if len(o.name) > 60 || strings.Trim(o.name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return slip.New(fmt.Sprintf("-m takes up to 60 letters, digits and underscores, not %q", o.name), "")
	}
	if st, err := os.Stat(o.tmpdir); err == nil && !st.IsDir() {
		return slip.New(fmt.Sprintf("--tmpdir: %s is not a directory", o.tmpdir), "")
	}
	if fs.Changed("timeout") {
		d, err := parseTimeout(raw.timeout)
		if err != nil {
			return err
		}
		o.timeout = d
	}
	interruptible := false
	for _, d := range raw.defines {
		if err := o.define(d); err != nil {
			return err
		}
		interruptible = interruptible || strings.HasPrefix(d, "MAXACTION_INTERRUPTIBLE=")
	}
	if !interruptible { // ten times the other, unless it is set itself
		o.limits.MaxActionInt = 10 * o.limits.MaxAction
	}
	if err := o.suppress(raw.noTimeLimits); err != nil {
		return err
	}
	for _, g := range o.globals {
		if n, _, ok := strings.Cut(g, "="); !ok || n == "" {
			return slip.New(fmt.Sprintf("-G takes name=value, not %q", g), "")
		}
	}
	return nil
}

// checkModule looks at what is said of modules.
func (o *options) checkModule() error {
	for name, list := range map[string][]string{"-B": o.makeModule, "--modinfo": o.moduleInfo} {
		for _, s := range list {
			key, _, ok := strings.Cut(s, "=")
			if !ok || key == "" || key[0] >= '0' && key[0] <= '9' || strings.Trim(key,
				"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
				return slip.New(fmt.Sprintf("%s takes NAME=VALUE, not %q", name, s), "")
			}
			if o.runtime != "kernel" {
				return slip.New(name+" is about modules, and none is built", "--runtime=kernel builds one")
			}
		}
	}
	return nil
}

// refuses gives the first option that was given and does not go with another one, by those that do not, with the
// reasons.
func refuses(fs *pflag.FlagSet, not map[string]string, with string) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		if why, bad := not[f.Name]; bad && err == nil {
			err = slip.New(fmt.Sprintf("%s does not go with %s: %s", flagName(f), with, why), "")
		}
	})
	return err
}

// checkSession looks at what goes together when a script is to run.
func (o *options) checkSession() error {
	if err := o.checkServe(); err != nil {
		return err
	}
	if slices.Contains(o.cgroups, "") {
		return slip.New("--cgroup needs the folder of a control group, below /sys/fs/cgroup", "")
	}
	if o.pass < 5 {
		if len(o.cgroups) > 0 {
			return slip.New("--cgroup is about running, and nothing is run with -p or --dump",
				"gostap run FILE.plan takes it")
		}
		return nil
	}
	switch {
	case o.release != "" && o.runtime != "kernel":
		return slip.New("-r names another kernel, and only this one can be traced",
			"-p4 translates for it; with --runtime=kernel a module is built for it")
	case o.kernelBTF != "" || o.kernelMap != "":
		return slip.New("--kernel-btf and --kernel-map describe another kernel, and only this one can be traced",
			"-p4 translates for it")
	}
	return nil
}
