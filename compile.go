package gostap

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	bpf "github.com/gostap/gostap/backend-bpf"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/environ"
	"github.com/gostap/gostap/compiler/facts"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/manifest"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/trusted"
)

// Compile compiles a script. Errors in it are an *Error. The Program is to be closed.
func Compile(ctx context.Context, script string, o Options) (_ *Program, err error) {
	defer guard(&err, nil)()
	co, warnings, err := o.compiler()
	if err != nil {
		return nil, err
	}
	name := o.Name
	if name == "" {
		name = "<script>"
	}
	co.Scripts = append([]compiler.Script{{Name: name, Text: []byte(script)}}, co.Scripts...)
	p := &Program{o: o}
	co.Asked = func(test string, holds bool, at source.Pos) {
		p.asked = append(p.asked, manifest.Fact{Kind: facts.Condition, Name: test, Text: fmt.Sprint(holds), Pos: at})
	}
	if o.Tool.Soon && probesPrograms(o, co.Scripts) {
		p.cool = bpf.Warm()
	}
	res, ds := compiler.Compile(ctx, co)
	p.ir, p.files, p.close, p.dumps = res.Program, res.Files, res.Close, res.Dumps
	for _, t := range res.Timings {
		o.logPass(int(t.Phase), t.Pass, t.Took)
	}
	p.warnings = append(warnings, diagnosed(ds, res.Files, o.here())...)
	if err := failed(ctx, p.warnings); err != nil {
		p.Close()
		err.(*Error).Dumps = p.dumps
		return nil, err
	}
	if o.Tool.Watched && !o.Merge && p.ir != nil { // what is hit elsewhere is not switched here
		switches(p.ir)
	}
	return p, nil
}

// ListOptions say what List tells.
type ListOptions struct {
	// Vars names the variables that each point has; Details says more of their types.
	Vars, Details bool
}

// List gives the probe points that a pattern means, one a line. No match is an *Error.
func List(ctx context.Context, pattern string, o Options, l ListOptions) (_ []string, warnings []Diagnostic,
	err error) {
	defer guard(&err, nil)()
	co, warnings, err := o.compiler()
	if err != nil {
		return nil, nil, err
	}
	co.Lacks = nil
	lines, res, ds := compiler.List(ctx, pattern, co, compiler.ListOptions{Vars: l.Vars, Details: l.Details})
	defer res.Close()
	warnings = append(warnings, diagnosed(ds, res.Files, o.here())...)
	return lines, warnings, failed(ctx, warnings)
}

// Library lists the functions, kinds of probes or aliases that scripts have.
func Library(ctx context.Context, what compiler.Listing, o Options) (_ []string, warnings []Diagnostic, err error) {
	defer guard(&err, nil)()
	co, warnings, err := o.compiler()
	if err != nil {
		return nil, nil, err
	}
	co.Lacks = nil
	lines, res, ds := compiler.DumpLibrary(ctx, what, co)
	defer res.Close()
	warnings = append(warnings, diagnosed(ds, res.Files, o.here())...)
	return lines, warnings, failed(ctx, warnings)
}

// here reports whether the script is for the kernel that runs.
func (o *Options) here() bool { return o.Kernel.Release == "" }

// environment gives Env.
func (o *Options) environment() []string {
	if o.Env == nil {
		return os.Environ()
	}
	return o.Env
}

// logf tells something of a pass, if anybody wants to know.
func (o *Options) logf(pass int, format string, args ...any) {
	if o.Tool.Log != nil && o.Tool.Verbose[pass-1] > 0 {
		o.Tool.Log(format, args...)
	}
}

func (o *Options) logPass(pass int, name string, took time.Duration) {
	o.logf(pass, "pass %d %-8s %8.2f ms", pass, name, float64(took.Microseconds())/1000)
}

// compiler gives the compiler's options, without the script itself.
func (o *Options) compiler() (compiler.Options, []Diagnostic, error) {
	switch o.Runtime {
	case Auto, BPF, Module, Host:
	default:
		return compiler.Options{}, nil, fmt.Errorf("there is no runtime %q", string(o.Runtime))
	}
	if o.Limits == (layout.Limits{}) {
		o.Limits = layout.Default()
	}
	env := o.environment()
	c := compiler.Options{
		Args: o.Args, Limits: o.Limits, Guru: o.Guru, Include: o.Include, Globals: o.Globals,
		System:    systemTapsets(env),
		TargetPID: o.PID, SearchPath: environ.Get(env, "PATH"), LibraryPath: environ.Get(env, "LD_LIBRARY_PATH"),
		Unoptimised: o.Unoptimised, NoAutoPrint: !o.PrintGlobals, Inspected: !o.Text || o.Tool.Watched, Bare: o.Bare,
		Merged: o.Merge, Dump: o.Tool.Dump, Stop: o.Tool.Stop, Apart: o.Tool.Apart, Folded: o.Folded,
		SkipBadVars: o.SkipBadVars, AllCallers: o.AllCallers, Privilege: o.Privilege, Language: o.Language,
		Config:  kernelConfig(),
		Runtime: string(o.Runtime), Verify: o.Tool.Verify,
	}
	cache, warnings := o.cache()
	c.Open = open.Keeping(cache)
	if o.Tool.KeepIndexes {
		c.CacheDir, c.CacheAnew = cache, o.Tool.NewIndexes
	}
	var err error
	c.Kernel, _ = uname()
	if c.KernelFiles, err = o.Kernel.files("", c.Kernel); err != nil {
		return c, warnings, err
	}
	if !c.KernelFiles.Foreign() {
		c.KernelFiles.Cache = cache
	}
	c.KernelFiles.Portable = o.Portable
	if !o.Elsewhere && (o.Runtime == Auto || o.Runtime == BPF) {
		c.Lacks = bpf.Lacks
	}
	for _, s := range o.More {
		c.Scripts = append(c.Scripts, compiler.Script{Name: s.Name, Text: []byte(s.Text)})
	}
	for _, dir := range o.Include {
		if st, err := os.Stat(dir); err != nil {
			return c, warnings, plain(err)
		} else if !st.IsDir() {
			return c, warnings, fmt.Errorf("%s is not a directory", dir)
		}
	}
	c.TargetWord, c.Program = o.commandWord(), o.Program
	c.TargetPath, err = o.targetPath()
	return c, warnings, err
}

// systemTapsets is where other packages install tapsets, unless SYSTEMTAP_TAPSET names another directory.
func systemTapsets(env []string) string {
	if dir := environ.Get(env, "SYSTEMTAP_TAPSET"); dir != "" {
		return dir
	}
	return "/usr/share/systemtap/tapset"
}

// probesPrograms reports whether it looks as if the session will attach probes to programs with eBPF: then the kernel
// is told while the script is compiled, which saves most of the first probe's wait. A wrong guess costs some
// milliseconds of another thread.
func probesPrograms(o Options, scripts []compiler.Script) bool {
	if o.Runtime != Auto && o.Runtime != BPF || os.Geteuid() != 0 {
		return false
	}
	return slices.ContainsFunc(scripts, func(s compiler.Script) bool {
		return bytes.Contains(s.Text, []byte("process"))
	})
}

// cache is the folder for what is kept between runs, "" if there is none. One that others may write to is not used,
// with a warning when there is something in it.
func (o *Options) cache() (string, []Diagnostic) {
	if o.kept == nil {
		dir, warnings := o.findCache()
		o.kept = &dir
		return dir, warnings
	}
	return *o.kept, nil
}

func (o *Options) findCache() (string, []Diagnostic) {
	dir := o.Tool.Cache
	if dir == "" {
		dir = CacheDir(o.environment())
	}
	if dir == NoCache || dir == "" {
		return "", nil
	}
	err := trusted.Dir(dir)
	if err == nil {
		return dir, nil
	}
	if _, serr := os.Stat(dir); serr != nil {
		return "", nil
	}
	why := fmt.Sprintf("what earlier runs have kept in %s is not used: %v", dir, plain(err))
	if o.Tool.Warn != nil {
		o.Tool.Warn(why)
		return "", nil
	}
	return "", []Diagnostic{remark("%s", why)}
}

// CacheDir is the folder where indexes of library directories and the kernel's symbols are kept between runs, for an
// environment: $XDG_CACHE_HOME/gostap or ~/.cache/gostap, "" if neither is known.
func CacheDir(env []string) string {
	if d := environ.Get(env, "XDG_CACHE_HOME"); strings.HasPrefix(d, "/") {
		return d + "/gostap"
	}
	if d := environ.Get(env, "HOME"); strings.HasPrefix(d, "/") {
		return d + "/.cache/gostap"
	}
	return ""
}
