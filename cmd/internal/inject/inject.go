// Package inject is the command "gostap inject": calls of a function fail, of those that are chosen, while it runs.
//
// In: the command's arguments. Out: arguments of gostap, with the script that does it.
package inject

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/slip"
)

const usage = `gostap inject - calls fail, until it ends

usage: gostap inject WHAT ['CALLER() => CALLER()'] [options]

WHAT is
  kmalloc              the kernel's allocations of memory, with ENOMEM
  page                 its allocations of pages
  bio                  its requests to disks, with EIO
  FUNCTION             a function of the kernel whose callers take any error: __x64_sys_openat
  PROGRAM:FUNCTION     a function of a program: ./shop:main.charge

Of the kernel's functions only calls made inside of the CALLERs fail, the nearest one first, as in bcc's inject. Of a
program's, those that CALLER makes itself.

  --error NAME         what a kernel function fails with: EIO, or the number that it returns
  --return LIST        what a program's function returns, without having run: '0, io.EOF' (numbers, nil, variables of the
                       program, and what scripts have: $x, @var("x")); zeros if nothing is said
  --one-in N           one call in N fails, the first of them to begin with; 1 if nothing is said
  --times N            so many calls fail, and it ends
  --name NAME          only in processes of this name, as ps has it
  --everybody          in all processes; something has to say in which
  --print              print the script and do nothing
  -c CMD, -x PID       only in this process; as long as it runs
  -T TIME              as long as that (10s, 2m)
  -v, -p, -m, -r, --runtime, --kernel-btf, --kernel-map
                       as gostap has them: -p4 -m NAME --runtime=kernel builds a module for gostap run

It ends at Ctrl-C, too. Then calls go on as ever: all that was there is probes. docs/guru.md tells what guards there are.
`

// place is a function of the kernel that is there to fail, and how it does.
type place struct {
	function string
	value    int
}

var places = map[string]place{
	"kmalloc": {"should_failslab", -int(unix.ENOMEM)},
	"page":    {"should_fail_alloc_page", 1},
	"bio":     {"should_fail_bio", -int(unix.EIO)},
}

// request is what is asked for.
type request struct {
	program, function string // program "": of the kernel
	callers           []string
	value             int      // of kernel functions
	results           []string // of those of programs, as scripts have them; nil: zeros
	oneIn, times      int
	name              string
	target            bool // in the process of -c or -x
}

// Args makes arguments of gostap out of those of the command. text is what is to be printed instead, if not "".
func Args(args []string) (gostap []string, text string, err error) {
	f := pflag.NewFlagSet("inject", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	r := &request{}
	fault, values := f.String("error", "", ""), f.String("return", "", "")
	f.IntVar(&r.oneIn, "one-in", 1, "")
	f.IntVar(&r.times, "times", 0, "")
	f.StringVar(&r.name, "name", "", "")
	everybody, print := f.Bool("everybody", false, ""), f.Bool("print", false, "")
	var on []string // what gostap gets
	for long, short := range map[string]string{"command": "c", "pid": "x", "timeout": "T", "pass": "p", "module": "m",
		"release": "r", "runtime": "", "kernel-btf": "", "kernel-map": ""} {
		f.VarP(&through{name: long, to: &on}, long, short, "")
	}
	verbose := f.CountP("verbose", "v", "")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil, usage, nil
		}
		return nil, "", slip.New(err.Error(), "gostap inject --help lists the options")
	}
	r.target = f.Changed("command") || f.Changed("pid")
	switch n := f.NArg(); {
	case n == 0:
		return nil, "", slip.New("inject: what is to fail is missing", "gostap inject kmalloc '__x64_sys_mount()'")
	case n > 2:
		return nil, "", slip.New(fmt.Sprintf("inject: %q is one argument too many", f.Arg(2)),
			"quote the callers: 'a() => b()'")
	}
	if err := r.what(f.Arg(0), f.Arg(1), *fault, *values, f.Changed("return")); err != nil {
		return nil, "", err
	}
	switch {
	case r.oneIn < 1:
		return nil, "", slip.New(fmt.Sprintf("--one-in takes a number from 1 on, not %d", r.oneIn), "")
	case r.times < 0:
		return nil, "", slip.New(fmt.Sprintf("--times takes a number from 1 on, not %d", r.times), "")
	case r.program == "" && !r.target && r.name == "" && !*everybody && len(r.callers) == 0:
		return nil, "", slip.New("inject: "+r.function+" would fail in all processes of the machine",
			"say in which: -c CMD, -x PID, --name NAME, inside of callers; or --everybody")
	}
	script := r.script()
	if *print {
		return nil, script, nil
	}
	for range *verbose {
		on = append(on, "--verbose")
	}
	return append([]string{"--guru", "--execute", script}, on...), "", nil
}

// through hands an option on.
type through struct {
	name string
	to   *[]string
}

func (t *through) String() string { return "" }
func (t *through) Type() string   { return "string" }
func (t *through) Set(s string) error {
	*t.to = append(*t.to, "--"+t.name+"="+s)
	return nil
}

var (
	caller = regexp.MustCompile(`^([^\s"\\()]+)\(\)$`)
	plain  = regexp.MustCompile(`^[^\s"\\]+$`)
	number = regexp.MustCompile(`^-?(0x[0-9a-fA-F]+|\d+)$`)
)

// what reads the arguments that say which calls fail, and how.
func (r *request) what(what, chain, fault, values string, returns bool) error {
	r.function = what
	if program, function, ok := strings.Cut(what, ":"); ok {
		r.program, r.function = program, function
	}
	if !plain.MatchString(r.function) || r.program != "" && strings.ContainsAny(r.program, "\"\\\n") {
		return slip.New(fmt.Sprintf("inject: %q is no name of a function", what), "")
	}
	for i, c := range strings.Split(chain, "=>") {
		if strings.TrimSpace(chain) == "" {
			break
		}
		m := caller.FindStringSubmatch(strings.TrimSpace(c))
		if m == nil {
			return slip.New(fmt.Sprintf("inject: %q is no caller", strings.TrimSpace(c)),
				"callers are written 'a() => b()', the nearest one first")
		}
		if r.program != "" && i > 0 {
			return slip.New("inject: of a program's function one caller can be named, that which makes the call", "")
		}
		r.callers = append(r.callers, m[1])
	}
	if r.program != "" {
		if fault != "" {
			return slip.New("--error is for functions of the kernel",
				"--return '0, io.EOF' says what "+r.function+" returns")
		}
		for _, v := range strings.Split(values, ",") {
			if !returns {
				break
			}
			e, ok := value(strings.TrimSpace(v))
			if !ok {
				return slip.New(fmt.Sprintf("--return: %q is no value", v), "numbers, nil, io.EOF, $x, @var(\"x\")")
			}
			r.results = append(r.results, e)
		}
		return nil
	}
	if returns {
		return slip.New("--return is for functions of programs", "--error EIO says what "+r.function+" fails with")
	}
	known, ok := places[what]
	if ok {
		r.function, r.value = known.function, known.value
	}
	switch n, err := strconv.Atoi(fault); {
	case fault != "" && err == nil:
		r.value = n
	case fault != "":
		if r.value = -errno(fault); r.value == 0 {
			return slip.New("--error: "+fault+" is the name of no error",
				"--error ENOMEM, or the number that is returned")
		}
	case !ok:
		return slip.New("inject: what "+r.function+" is to fail with is missing", "--error EIO")
	}
	return nil
}

// value is a result as scripts have it.
func value(s string) (string, bool) {
	switch {
	case s == "nil":
		return "0", true
	case number.MatchString(s), strings.HasPrefix(s, "$"), strings.HasPrefix(s, "@"):
		return s, true
	case plain.MatchString(s):
		return fmt.Sprintf("@var(%q)", s), true
	}
	return "", false
}

func errno(name string) int {
	for n := 1; n < 4096; n++ {
		if unix.ErrnoName(syscall.Errno(n)) == name {
			return n
		}
	}
	return 0
}
