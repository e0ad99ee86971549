// Package compiler turns scripts into an ir.Program: it runs the passes in the order
// of the table in passes.go, with a time for each and a dump of any pass's product.
//
// In: script texts with their arguments and options. Out: a Result with the program,
// the files that positions belong to, and the opened binaries; or diagnostics. List
// answers -l and -L over the same passes.
package compiler

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/load"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// Script is one text of the user's.
type Script struct {
	// Name is what messages call it: a path, "<input>" for -e, "<stdin>".
	Name string
	Text []byte
}

// Options say what to compile and for what.
type Options struct {
	// Scripts: the main script, then the texts of -E.
	Scripts []Script
	// Args are the script's arguments, $1 and @1.
	Args   []string
	Limits layout.Limits
	Guru   bool
	// Include are the library directories of -I, in order.
	Include []string
	// System is the directory with the tapsets of other packages, which are looked at last; "" for none.
	System string
	// CacheDir is where indexes of big library directories are kept between runs, "" to keep nothing; CacheAnew
	// writes them without looking at what is there.
	CacheDir  string
	CacheAnew bool
	// Globals are the values of -G, by name.
	Globals map[string]string
	// TargetPath is the program of -c or -x, which a bare "process" means; "" if there is none.
	TargetPath string
	// TargetWord is the word of -c that names the program, "" without -c.
	TargetWord string
	// Program gives the file that a bare "process" means where there is no target; nil if there is none.
	Program func() (string, error)
	// TargetPID is the process of -x, 0 if there is none.
	TargetPID int
	// SearchPath is $PATH, Dir where relative paths begin ("" for the current directory).
	SearchPath, Dir string
	// AllCallers makes hits of .callee and .callees count whoever calls (-D STAP_CALLEE_MATCHALL).
	AllCallers bool
	// LibraryPath is $LD_LIBRARY_PATH, by which process("p").library("lib") looks for libraries.
	LibraryPath string
	// Machine is the one that the program is for, nil for machine.Default.
	Machine *machine.Machine
	// Kernel and Runtime answer %( %) conditions, as Machine does: uname -r, "bpf" or "kernel".
	Kernel, Runtime string
	// KernelFiles are the BTF and symbols of another kernel than the running one; the zero value is that.
	KernelFiles kbtf.Config
	// Language is the version of the script language that systemtap_v answers; "" for the one spoken.
	Language string
	// Config looks up an option of the kernel's configuration for %( %) conditions; nil: none is known.
	Config func(name string) (value string, ok bool)
	// Asked takes note of what %( %) conditions asked of the kernel (grammar.Conditions).
	Asked func(test string, holds bool, at source.Pos)
	// Privilege is that of the user whom the script is checked for: "stapusr", "stapsys" or "stapdev"; "" checks
	// nothing.
	Privilege string
	// Unoptimised leaves out the optimiser (-u).
	Unoptimised bool
	// Apart has handlers that are not atomic: others may change globals between two accesses, each of which is.
	Apart bool
	// NoAutoPrint turns off the printing of unread globals at the end.
	NoAutoPrint bool
	// Folded prints those of them that have stacks as keys as folded stacks, and no others.
	Folded bool
	// Inspected is for a program whose globals and prints are read as values (see ir.Format.Headed and
	// ir.Global.Shown).
	Inspected bool
	// Merged is for a program that is divided (package spread): what prints one global at the end prints no other.
	Merged bool
	// Bare leaves the heads of such prints empty.
	Bare bool
	// SkipBadVars reads 0 where a target variable does not resolve.
	SkipBadVars bool
	// Stop ends after the last pass of a phase: Parse, Elaborate or Translate; 0 runs all.
	Stop Phase
	// Dump names passes whose product is wanted in Result.Dumps.
	Dump []string
	// Lacks says why the kernel that the program is to run in has no probes of a kind, nil if it has; points with ? and
	// ! and what wildcards find are left out then. nil: it has all.
	Lacks func(k probe.Kind) *diag.Diagnostic
	// Open reads the debug information of a binary; nil takes debuginfo/open.
	Open func(path string) (debuginfo.Image, error)
	// Verify checks the program after the passes that make or change it.
	Verify bool
}

// ClearCache removes what earlier runs have kept in a CacheDir.
func ClearCache(dir string) error { return load.ClearCache(dir) }

// Phase is a group of passes, numbered as for -p.
type Phase int

// The phases.
const (
	Parse     Phase = 1
	Elaborate Phase = 2
	Translate Phase = 3
)

// Timing is how long a pass took.
type Timing struct {
	Pass  string
	Phase Phase
	Took  time.Duration
}

// Result is what compiling made.
type Result struct {
	// Program is nil after an error and when Stop came before it was made.
	Program *ir.Program
	// Files resolves positions; set also after errors.
	Files *source.FileSet
	// Images are the binaries that probes lie in. They stay open until Close.
	Images  []debuginfo.Image
	Timings []Timing
	// Dumps holds the text of the passes in Options.Dump, by name.
	Dumps map[string]string

	close func()
}

// Close closes the images.
func (r *Result) Close() {
	if r.close != nil {
		r.close()
		r.close = nil
	}
}

// codeCancelled stands for a context that ended between two passes.
const codeCancelled diag.Code = "cancelled"

// Compile runs the passes. The Result is never nil; its Files are needed to print the list.
func Compile(ctx context.Context, o Options) (*Result, diag.List) {
	s := newState(ctx, o)
	res := &Result{Files: s.files, Dumps: map[string]string{}, close: s.close}
	var all diag.List
	if bad := unknownPasses(o.Dump); bad != nil {
		all.Add(bad)
		return res, all
	}
	s.unchanged(&all, func() { s.run(res, &all) })
	res.Images = s.env.Images()
	if !all.HasErrors() {
		res.Program = s.out
	}
	return res, all
}

// run runs the passes up to the first that has errors.
func (s *state) run(res *Result, all *diag.List) {
	for i := range passes {
		p := &passes[i]
		if s.o.Stop != 0 && p.phase > s.o.Stop || p.asked && !wants(s.o.Dump, p.name) {
			continue
		}
		if err := s.ctx.Err(); err != nil {
			why := "its caller has cancelled it"
			switch cause := context.Cause(s.ctx); {
			case errors.Is(err, context.DeadlineExceeded):
				why = "its time was over"
			case cause != err:
				why = cause.Error()
			}
			all.Errorf(diag.Usage, codeCancelled, source.Span{}, "stopped before pass %q: %s; nothing was traced",
				p.name, why)
			break
		}
		start := time.Now()
		ds := p.run(s)
		res.Timings = append(res.Timings, Timing{p.name, p.phase, time.Since(start)})
		if s.prog != nil {
			sema.Blame(s.prog, ds)
		}
		s.hintArguments(ds)
		all.AddAll(ds)
		if p.dump != nil && wants(s.o.Dump, p.name) {
			res.Dumps[p.name] = p.dump(s)
		}
		if ds.HasErrors() {
			break
		}
	}
}

// hintArguments adds a hint to errors in an argument of the command line that the script takes as a piece of itself
// ($1) where it may mean the text (@1).
func (s *state) hintArguments(ds diag.List) {
	for _, d := range ds {
		f := s.files.File(d.Span.From)
		if f == nil || d.Severity != diag.Error {
			continue
		}
		if d.Hint != "" && (d.Phase == diag.Semantic || strings.HasPrefix(d.Hint, "@ ")) {
			continue // it knows more, or says this
		}
		if n, ok := strings.CutPrefix(f.Name, "<argument "); ok {
			n = strings.TrimSuffix(n, ">")
			d.Hintf("$%s is the argument as a piece of the script; @%s is its text", n, n)
		}
	}
}

func wants(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// PassNames lists the passes that can be dumped, with what each makes.
func PassNames() []string {
	var out []string
	for _, p := range passes {
		if p.dump != nil {
			out = append(out, fmt.Sprintf("%-8s %s", p.name, p.about))
		}
	}
	return out
}

func unknownPasses(names []string) *diag.Diagnostic {
	var have []string
	for _, p := range passes {
		if p.dump != nil {
			have = append(have, p.name)
		}
	}
	for _, n := range names {
		if !wants(have, n) {
			d := &diag.Diagnostic{Phase: diag.Usage, Code: "no-pass",
				Message: fmt.Sprintf("there is no pass %q to dump", n)}
			sort.Strings(have)
			return d.Hintf("the passes are %s", strings.Join(have, ", "))
		}
	}
	return nil
}
